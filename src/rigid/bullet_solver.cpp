#include "rigid/bullet_solver.h"

#include <algorithm>
#include <cmath>

#include <BulletCollision/NarrowPhaseCollision/btManifoldPoint.h>

#include "rigid/bullet_joint.h"

namespace pliant {
namespace {

void apply(btSolverBody& a, btSolverBody& b, const btSolverConstraint& row, btScalar impulse) {
  a.internalApplyImpulse(row.m_contactNormal1 * a.internalGetInvMass(), row.m_angularComponentA, impulse);
  b.internalApplyImpulse(row.m_contactNormal2 * b.internalGetInvMass(), row.m_angularComponentB, impulse);
}

/// Calls `visit(joint, row, index of the row within its joint)` for the rows of all joints.
template <typename Visit>
void for_each_joint_row(btConstraintArray& rows, Visit&& visit) {
  const void* last = nullptr;
  int index = 0;
  for (int i = 0; i < rows.size(); ++i) {
    index = rows[i].m_originalContactPoint == last ? index + 1 : 0;
    last = rows[i].m_originalContactPoint;
    // The engine makes no other kind of constraint.
    auto& joint = *static_cast<BulletJoint*>(static_cast<btTypedConstraint*>(rows[i].m_originalContactPoint));
    visit(joint, rows[i], index);
  }
}

}  // namespace

void BulletSolver::convertJoints(btTypedConstraint** joints, int joint_count, const btContactSolverInfo& info) {
  btSequentialImpulseConstraintSolver::convertJoints(joints, joint_count, info);
  for_each_joint_row(m_tmpSolverNonContactConstraintPool, [&](BulletJoint& joint, btSolverConstraint& row, int index) {
    row.m_appliedImpulse = std::clamp(joint.impulses[static_cast<std::size_t>(index)] * info.m_warmstartingFactor,
                                      row.m_lowerLimit, row.m_upperLimit);
    apply(m_tmpSolverBodyPool[row.m_solverBodyIdA], m_tmpSolverBodyPool[row.m_solverBodyIdB], row,
          row.m_appliedImpulse);
  });
}

btScalar BulletSolver::solveGroupCacheFriendlyFinish(btCollisionObject** bodies, int body_count,
                                                     const btContactSolverInfo& info) {
  for_each_joint_row(m_tmpSolverNonContactConstraintPool, [&](BulletJoint& joint, btSolverConstraint& row, int index) {
    joint.impulses[static_cast<std::size_t>(index)] = row.m_appliedImpulse;
  });
  return btSequentialImpulseConstraintSolver::solveGroupCacheFriendlyFinish(bodies, body_count, info);
}

void BulletSolver::convertContacts(btPersistentManifold** manifolds, int manifold_count,
                                   const btContactSolverInfo& info) {
  btSequentialImpulseConstraintSolver::convertContacts(manifolds, manifold_count, info);
  for (int i = 0; i < m_tmpSolverContactConstraintPool.size(); ++i) {
    const btSolverConstraint& contact = m_tmpSolverContactConstraintPool[i];
    const auto* point = static_cast<const btManifoldPoint*>(contact.m_originalContactPoint);
    btSolverConstraint* rows = &m_tmpSolverContactFrictionConstraintPool[contact.m_frictionIndex];
    rows[0].m_appliedImpulse = point->m_appliedImpulseLateral1 * info.m_warmstartingFactor;
    rows[1].m_appliedImpulse = point->m_appliedImpulseLateral2 * info.m_warmstartingFactor;
    for (int k = 0; k < 2; ++k) {
      apply(m_tmpSolverBodyPool[rows[k].m_solverBodyIdA], m_tmpSolverBodyPool[rows[k].m_solverBodyIdB], rows[k],
            rows[k].m_appliedImpulse);
    }
  }
  row_count_ = m_tmpSolverNonContactConstraintPool.size() + m_tmpSolverContactConstraintPool.size() +
               m_tmpSolverContactFrictionConstraintPool.size() + m_tmpSolverContactRollingFrictionConstraintPool.size();
}

btScalar BulletSolver::solveSingleIteration(int iteration, btCollisionObject**, int, btPersistentManifold**, int,
                                            btTypedConstraint**, int, const btContactSolverInfo&, btIDebugDraw*) {
  btScalar residual = sweep_joints(iteration);
  residual = std::max(residual, sweep_contacts());
  residual = std::max(residual, sweep_friction());
  return std::max(residual, sweep_rolling_friction());
}

btScalar BulletSolver::sweep_joints(int iteration) {
  btScalar largest = 0;
  for (int i = 0; i < m_tmpSolverNonContactConstraintPool.size(); ++i) {
    btSolverConstraint& row = m_tmpSolverNonContactConstraintPool[i];
    if (iteration >= row.m_overrideNumSolverIterations) continue;
    const btScalar change = resolveSingleConstraintRowGeneric(m_tmpSolverBodyPool[row.m_solverBodyIdA],
                                                              m_tmpSolverBodyPool[row.m_solverBodyIdB], row);
    largest = std::max(largest, change * change);
  }
  return largest;
}

btScalar BulletSolver::sweep_contacts() {
  btScalar largest = 0;
  for (int i = 0; i < m_tmpSolverContactConstraintPool.size(); ++i) {
    const btSolverConstraint& row = m_tmpSolverContactConstraintPool[i];
    const btScalar change = resolveSingleConstraintRowLowerLimit(m_tmpSolverBodyPool[row.m_solverBodyIdA],
                                                                 m_tmpSolverBodyPool[row.m_solverBodyIdB], row);
    largest = std::max(largest, change * change);
  }
  return largest;
}

btScalar BulletSolver::solve_friction_row(btSolverConstraint& row, btScalar bound_squared, btScalar other_impulse) {
  // What the other direction leaves of the cone. Since the first direction is the one of sliding, the second carries
  // little, and the pair comes to lie on the cone opposite to the motion.
  const btScalar bound = std::sqrt(std::max(btScalar(0), bound_squared - other_impulse * other_impulse));
  row.m_lowerLimit = -bound;
  row.m_upperLimit = bound;
  const btScalar change = resolveSingleConstraintRowGeneric(m_tmpSolverBodyPool[row.m_solverBodyIdA],
                                                            m_tmpSolverBodyPool[row.m_solverBodyIdB], row);
  return change * change;
}

btScalar BulletSolver::sweep_friction() {
  btScalar largest = 0;
  for (int i = 0; i < m_tmpSolverContactConstraintPool.size(); ++i) {
    const btSolverConstraint& contact = m_tmpSolverContactConstraintPool[i];
    btSolverConstraint* rows = &m_tmpSolverContactFrictionConstraintPool[contact.m_frictionIndex];
    const btScalar bound = rows[0].m_friction * contact.m_appliedImpulse;
    const btScalar first = rows[0].m_appliedImpulse, second = rows[1].m_appliedImpulse;
    if (bound <= 0 && first == 0 && second == 0) continue;
    largest = std::max(largest, solve_friction_row(rows[0], bound * bound, second));
    largest = std::max(largest, solve_friction_row(rows[1], bound * bound, rows[0].m_appliedImpulse));
  }
  return largest;
}

btScalar BulletSolver::sweep_rolling_friction() {
  btScalar largest = 0;
  for (int i = 0; i < m_tmpSolverContactRollingFrictionConstraintPool.size(); ++i) {
    btSolverConstraint& row = m_tmpSolverContactRollingFrictionConstraintPool[i];
    // Bullet's friction coefficient of these rows is a length: moment per normal force.
    const btScalar bound = row.m_friction * m_tmpSolverContactConstraintPool[row.m_frictionIndex].m_appliedImpulse;
    row.m_lowerLimit = -bound;
    row.m_upperLimit = bound;
    const btScalar change = resolveSingleConstraintRowGeneric(m_tmpSolverBodyPool[row.m_solverBodyIdA],
                                                              m_tmpSolverBodyPool[row.m_solverBodyIdB], row);
    largest = std::max(largest, change * change);
  }
  return largest;
}

}  // namespace pliant
