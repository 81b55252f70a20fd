#include "rigid/joint_forest.h"

#include <BulletDynamics/Dynamics/btRigidBody.h>

namespace pliant {
namespace {

/// What `row` measures of the motion of one of its bodies: velocity first, then angular velocity.
Vector6 jacobian(const btSolverConstraint& row, bool of_a) {
  const btVector3& linear = of_a ? row.m_contactNormal1 : row.m_contactNormal2;
  const btVector3& angular = of_a ? row.m_relpos1CrossNormal : row.m_relpos2CrossNormal;
  return {linear.x(), linear.y(), linear.z(), angular.x(), angular.y(), angular.z()};
}

double dot(const Vector6& a, const Vector6& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) sum += a[i] * b[i];
  return sum;
}
void add(Vector6& to, const Vector6& v, double factor) {
  for (std::size_t i = 0; i < 6; ++i) to[i] += factor * v[i];
}

/// M about its centre of mass, world axes.
void set_inertia(const btRigidBody& body, Cholesky6& out) {
  out.clear();
  for (std::size_t i = 0; i < 3; ++i) out.at(i, i) = 1 / double(body.getInvMass());
  const btMatrix3x3& axes = body.getCenterOfMassTransform().getBasis();
  const btVector3& inverse = body.getInvInertiaDiagLocal();
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      double& entry = out.at(static_cast<std::size_t>(3 + r), static_cast<std::size_t>(3 + c));
      for (int k = 0; k < 3; ++k) entry += double(axes[r][k]) * double(axes[c][k]) / double(inverse[k]);
    }
  }
}

/// How far the row's speed is from its target.
double residual(const btSolverConstraint& row, const btSolverBody& a, const btSolverBody& b) {
  const btScalar speed =
      row.m_contactNormal1.dot(a.m_deltaLinearVelocity) + row.m_relpos1CrossNormal.dot(a.m_deltaAngularVelocity) +
      row.m_contactNormal2.dot(b.m_deltaLinearVelocity) + row.m_relpos2CrossNormal.dot(b.m_deltaAngularVelocity);
  return double(row.m_rhs) / double(row.m_jacDiagABInv) - double(speed);
}

void push(btConstraintArray& rows, btAlignedObjectArray<btSolverBody>& bodies, JointForest::Joint joint,
          const Vector6& impulse) {
  for (int i = 0; i < joint.count; ++i) {
    btSolverConstraint& row = rows[joint.first + i];
    btSolverBody &a = bodies[row.m_solverBodyIdA], &b = bodies[row.m_solverBodyIdB];
    const auto size = static_cast<btScalar>(impulse[std::size_t(i)]);
    row.m_appliedImpulse = static_cast<btScalar>(row.m_appliedImpulse) + size;
    a.internalApplyImpulse(row.m_contactNormal1 * a.internalGetInvMass(), row.m_angularComponentA, size);
    b.internalApplyImpulse(row.m_contactNormal2 * b.internalGetInvMass(), row.m_angularComponentB, size);
  }
}

}  // namespace

void JointForest::reserve(std::size_t bodies, std::size_t joints) {
  bodies_.reserve(bodies + 1);
  is_dynamic_.reserve(bodies);
  is_used_.reserve(joints);
  joints_of_.reserve(2 * joints);
  edges_.reserve(joints);
  roots_.reserve(bodies);
  loops_.reserve(joints);
}

void JointForest::factor(const std::vector<Joint>& joints, const btConstraintArray& rows,
                         const btAlignedObjectArray<btSolverBody>& bodies) {
  edges_.clear(), roots_.clear(), loops_.clear();
  if (joints.empty()) return;
  list_joints(joints, rows, bodies);
  grow_trees(joints, rows);
  factor_trees(bodies);
  for (Edge& loop : loops_) factor_loop(loop, rows, bodies);
}

void JointForest::list_joints(const std::vector<Joint>& joints, const btConstraintArray& rows,
                              const btAlignedObjectArray<btSolverBody>& bodies) {
  const auto count = static_cast<std::size_t>(bodies.size());
  bodies_.resize(count + 1);
  is_dynamic_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    is_dynamic_[i] = bodies[static_cast<int>(i)].internalGetInvMass().x() > 0;
    bodies_[i].first_joint = 0;
    bodies_[i].is_placed = false;
  }
  bodies_[count].first_joint = 0;
  // Count, sum, fill: each body's joints in the order of `joints`.
  const auto for_each_end = [&](auto&& visit) {
    for (std::size_t j = 0; j < joints.size(); ++j) {
      const btSolverConstraint& row = rows[joints[j].first];
      for (const int body : {body_of(row.m_solverBodyIdA), body_of(row.m_solverBodyIdB)}) {
        if (body != kNone) visit(static_cast<int>(j), static_cast<std::size_t>(body));
      }
    }
  };
  for_each_end([&](int, std::size_t body) { ++bodies_[body].first_joint; });
  int sum = 0;
  for (Body& body : bodies_) sum += body.first_joint, body.first_joint = sum;
  joints_of_.resize(static_cast<std::size_t>(sum));
  for (std::size_t j = joints.size(); j-- > 0;) {
    const btSolverConstraint& row = rows[joints[j].first];
    for (const int body : {body_of(row.m_solverBodyIdA), body_of(row.m_solverBodyIdB)}) {
      if (body == kNone) continue;
      joints_of_[static_cast<std::size_t>(--bodies_[static_cast<std::size_t>(body)].first_joint)] = static_cast<int>(j);
    }
  }
}

void JointForest::grow_trees(const std::vector<Joint>& joints, const btConstraintArray& rows) {
  is_used_.assign(joints.size(), false);
  // Trees that hang on something fixed first: the first such joint is where they do.
  for (std::size_t j = 0; j < joints.size(); ++j) {
    const btSolverConstraint& row = rows[joints[j].first];
    const int a = body_of(row.m_solverBodyIdA), b = body_of(row.m_solverBodyIdB);
    const int child = a == kNone ? b : a;
    if (child == kNone || (a != kNone && b != kNone) || bodies_[std::size_t(child)].is_placed) continue;
    const std::size_t first_edge = edges_.size();
    add_edge(joints, rows, static_cast<int>(j), child);
    grow_tree(joints, rows, first_edge, kNone);
  }
  for (const Joint& joint : joints) {
    const int root = body_of(rows[joint.first].m_solverBodyIdA);
    if (root == kNone || bodies_[std::size_t(root)].is_placed) continue;
    bodies_[std::size_t(root)].is_placed = true;
    roots_.push_back(root);
    grow_tree(joints, rows, edges_.size(), root);
  }
  for (std::size_t j = 0; j < joints.size(); ++j) {
    const btSolverConstraint& row = rows[joints[j].first];
    const int a = body_of(row.m_solverBodyIdA), b = body_of(row.m_solverBodyIdB);
    if (is_used_[j] || (a == kNone && b == kNone)) continue;
    loops_.push_back(a == kNone ? make_edge(joints[j], rows, b, a) : make_edge(joints[j], rows, a, b));
  }
}

void JointForest::add_edge(const std::vector<Joint>& joints, const btConstraintArray& rows, int joint, int child) {
  const Joint& added = joints[std::size_t(joint)];
  const btSolverConstraint& row = rows[added.first];
  const int other = row.m_solverBodyIdA == child ? row.m_solverBodyIdB : row.m_solverBodyIdA;
  edges_.push_back(make_edge(added, rows, child, body_of(other)));
  bodies_[std::size_t(child)].is_placed = true;
  is_used_[std::size_t(joint)] = true;
}

/// Breadth first from `root`, or from the child of the edge added last.
void JointForest::grow_tree(const std::vector<Joint>& joints, const btConstraintArray& rows, std::size_t first_edge,
                            int root) {
  const auto add_children = [&](int body) {
    const std::size_t edges = edges_.size();
    const auto at = static_cast<std::size_t>(body);
    for (int i = bodies_[at].first_joint; i < bodies_[at + 1].first_joint; ++i) {
      const int joint = joints_of_[static_cast<std::size_t>(i)];
      const btSolverConstraint& row = rows[joints[std::size_t(joint)].first];
      const int other = body_of(row.m_solverBodyIdA == body ? row.m_solverBodyIdB : row.m_solverBodyIdA);
      if (other != kNone && !bodies_[std::size_t(other)].is_placed) add_edge(joints, rows, joint, other);
    }
    return edges_.size() > edges;
  };
  if (root != kNone) add_children(root);
  for (std::size_t i = first_edge; i < edges_.size(); ++i) {
    const bool has_children = add_children(edges_[i].child);  // which may move the edges
    edges_[i].child_is_leaf = !has_children;
  }
}

JointForest::Edge JointForest::make_edge(Joint joint, const btConstraintArray& rows, int child, int parent) const {
  Edge edge;
  edge.joint = joint, edge.child = child, edge.parent = parent;
  for (int i = 0; i < joint.count; ++i) {
    const btSolverConstraint& row = rows[joint.first + i];
    const bool child_is_a = row.m_solverBodyIdA == child;
    edge.on_child[std::size_t(i)] = jacobian(row, child_is_a);
    edge.on_parent[std::size_t(i)] = jacobian(row, !child_is_a);
  }
  return edge;
}

void JointForest::factor_trees(const btAlignedObjectArray<btSolverBody>& bodies) {
  for (std::size_t i = 0; i + 1 < bodies_.size(); ++i) {
    if (bodies_[i].is_placed) set_inertia(*bodies[static_cast<int>(i)].m_originalBody, bodies_[i].inertia);
  }
  for (std::size_t e = edges_.size(); e-- > 0;) {
    Edge& edge = edges_[e];
    const auto count = static_cast<std::size_t>(edge.joint.count);
    Body& child = bodies_[std::size_t(edge.child)];
    child.inertia.factor();
    for (std::size_t i = 0; i < count; ++i) edge.answers[i] = child.inertia.solve(edge.on_child[i]);
    edge.factor.clear();
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < count; ++k) edge.factor.at(i, k) = dot(edge.on_child[i], edge.answers[k]);
    }
    edge.factor.factor();
    if (edge.parent == kNone) continue;
    // What the parent feels of the child: it must move it along where the joint is locked.
    Cholesky6& inertia = bodies_[std::size_t(edge.parent)].inertia;
    for (std::size_t column = 0; column < 6; ++column) {
      Vector6 speeds{};
      for (std::size_t i = 0; i < count; ++i) speeds[i] = edge.on_parent[i][column];
      const Vector6 impulses = edge.factor.solve(speeds);
      for (std::size_t row = 0; row < 6; ++row) {
        for (std::size_t i = 0; i < count; ++i) inertia.at(row, column) += edge.on_parent[i][row] * impulses[i];
      }
    }
  }
  for (const int root : roots_) bodies_[std::size_t(root)].inertia.factor();
}

/// With the bodies as they are without their trees: after each of these, the trees are solved again.
void JointForest::factor_loop(Edge& edge, const btConstraintArray& rows,
                              const btAlignedObjectArray<btSolverBody>& bodies) {
  edge.factor.clear();
  for (int i = 0; i < edge.joint.count; ++i) {
    const btSolverConstraint& measured = rows[edge.joint.first + i];
    for (int j = 0; j < edge.joint.count; ++j) {
      const btSolverConstraint& pushed = rows[edge.joint.first + j];
      edge.factor.at(std::size_t(i), std::size_t(j)) =
          measured.m_contactNormal1.dot(pushed.m_contactNormal1 * bodies[pushed.m_solverBodyIdA].internalGetInvMass()) +
          measured.m_relpos1CrossNormal.dot(pushed.m_angularComponentA) +
          measured.m_contactNormal2.dot(pushed.m_contactNormal2 * bodies[pushed.m_solverBodyIdB].internalGetInvMass()) +
          measured.m_relpos2CrossNormal.dot(pushed.m_angularComponentB);
    }
  }
  edge.factor.factor();
}

void JointForest::solve(btConstraintArray& rows, btAlignedObjectArray<btSolverBody>& bodies) {
  for (const Edge& edge : edges_) bodies_[std::size_t(edge.child)].impulse.fill(0);
  for (const int root : roots_) bodies_[std::size_t(root)].impulse.fill(0);
  const auto measure = [&](Edge& edge) {
    for (int i = 0; i < edge.joint.count; ++i) {
      const btSolverConstraint& row = rows[edge.joint.first + i];
      edge.residual[std::size_t(i)] = residual(row, bodies[row.m_solverBodyIdA], bodies[row.m_solverBodyIdB]);
    }
  };
  // From the leaves to the roots: what each joint asks for, as an impulse on what it hangs on.
  for (std::size_t e = edges_.size(); e-- > 0;) {
    Edge& edge = edges_[e];
    const auto count = static_cast<std::size_t>(edge.joint.count);
    measure(edge);
    if (!edge.child_is_leaf) {
      const Vector6& impulse = bodies_[std::size_t(edge.child)].impulse;
      for (std::size_t i = 0; i < count; ++i) edge.residual[i] -= dot(edge.answers[i], impulse);
    }
    if (edge.parent == kNone) continue;
    const Vector6 impulses = edge.factor.solve(edge.residual);
    Vector6& on_parent = bodies_[std::size_t(edge.parent)].impulse;
    for (std::size_t i = 0; i < count; ++i) add(on_parent, edge.on_parent[i], impulses[i]);
  }
  for (const int root : roots_) {
    Body& body = bodies_[std::size_t(root)];
    body.change = body.inertia.solve(body.impulse);
  }
  // And back: with the motion of what it hangs on known, each joint's impulse is.
  for (Edge& edge : edges_) {
    const auto count = static_cast<std::size_t>(edge.joint.count);
    if (edge.parent != kNone) {
      const Vector6& change = bodies_[std::size_t(edge.parent)].change;
      for (std::size_t i = 0; i < count; ++i) edge.residual[i] -= dot(edge.on_parent[i], change);
    }
    const Vector6 impulses = edge.factor.solve(edge.residual);
    push(rows, bodies, edge.joint, impulses);
    if (edge.child_is_leaf) continue;
    Body& child = bodies_[std::size_t(edge.child)];
    child.change = child.inertia.solve(child.impulse);
    for (std::size_t i = 0; i < count; ++i) add(child.change, edge.answers[i], impulses[i]);
  }
  for (Edge& loop : loops_) {
    measure(loop);
    push(rows, bodies, loop.joint, loop.factor.solve(loop.residual));
  }
}

}  // namespace pliant
