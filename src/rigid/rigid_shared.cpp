// Islands that another engine solves: handing their rigid bodies and contacts over, and taking them back.
#include <algorithm>

#include "rigid/bullet_contact.h"
#include "rigid/rigid_impl.h"
#include "rigid/tangents.h"

namespace pliant {
namespace {

/// As the body will move if forces act on it for `dt` more.
RigidBodyMotion motion_after(const btRigidBody& body, float dt) {
  return motion_of(body, body.getLinearVelocity() + body.getTotalForce() * (body.getInvMass() * dt),
                   body.getAngularVelocity() + body.getInvInertiaTensorWorld() * body.getTotalTorque() * dt);
}

}  // namespace

void RigidEngine::push_in_substep(std::uint32_t slot, Vec3 force, Vec3 torque) {
  impl_->body(slot).bullet->applyCentralForce(to_bullet(force));
  impl_->body(slot).bullet->applyTorque(to_bullet(torque));
}

void RigidEngine::share(std::span<const Sharing> sharing, float dt, SharedRows& rows) {
  rows.bodies.clear(), rows.points.clear(), rows.joints.clear();
  for (const std::uint32_t slot : impl_->dynamic_slots) {
    if (sharing[slot] == Sharing::Own) continue;
    const RigidBody& body = impl_->body(slot);
    rows.bodies.push_back({.slot = slot,
                           .id = body.id,
                           .motion = motion_after(*body.bullet, sharing[slot] == Sharing::InTurn ? 0 : dt),
                           .velocity_before = from_bullet(body.velocity_t0),
                           .angular_velocity_before = from_bullet(body.angular_velocity_t0)});
  }
  if (rows.bodies.empty()) return;
  const auto is_shared = [&](const btCollisionObject& body) {
    return !body.isStaticOrKinematicObject() && sharing[slot_of(&body)] != Sharing::Own;
  };
  for (std::uint32_t m = 0; m < impl_->touching.size(); ++m) {
    if (is_shared(*impl_->touching[m]->getBody0()) || is_shared(*impl_->touching[m]->getBody1())) {
      impl_->share_points(m, rows.points);
    }
  }
  for (const std::uint32_t slot : impl_->live_joints) {
    BulletJoint& joint = *impl_->joints[slot].bullet;
    if (is_shared(joint.getRigidBodyA()) || is_shared(joint.getRigidBodyB())) {
      impl_->share_joint(slot, dt, rows.joints);
    }
  }
}

void RigidEngine::Impl::share_points(std::uint32_t index, std::vector<SharedPoint>& points) const {
  const btPersistentManifold& manifold = *touching[index];
  const auto& a = static_cast<const btRigidBody&>(*manifold.getBody0());
  const auto& b = static_cast<const btRigidBody&>(*manifold.getBody1());
  SharedPoint shared{.a = slot_of(&a), .b = slot_of(&b), .manifold = index};
  shared.a_moves = !a.isStaticOrKinematicObject(), shared.b_moves = !b.isStaticOrKinematicObject();
  for (int i = 0; i < manifold.getNumContacts(); ++i) {
    const btManifoldPoint& point = manifold.getContactPoint(i);
    const btVector3& normal = point.m_normalWorldOnB;
    const btVector3 at = 0.5f * (point.m_positionWorldOnA + point.m_positionWorldOnB);
    const btVector3 velocity_a = a.getVelocityInLocalPoint(at - a.getCenterOfMassPosition());
    const btVector3 velocity_b = b.getVelocityInLocalPoint(at - b.getCenterOfMassPosition());
    const float approach = normal.dot(velocity_b - velocity_a);
    const Tangents tangents(normal);
    shared.position = from_bullet(at);
    shared.normal = from_bullet(normal);
    shared.surface_velocity = !shared.b_moves   ? from_bullet(velocity_b)
                              : !shared.a_moves ? from_bullet(-velocity_a)
                                                : Vec3{};
    shared.gap = point.getDistance();
    shared.friction = point.m_combinedFriction;
    shared.bounce =
        approach > world->getSolverInfo().m_restitutionVelocityThreshold ? point.m_combinedRestitution * approach : 0;
    shared.impulse = from_bullet(normal * point.m_appliedImpulse + tangents.first * point.m_appliedImpulseLateral1 +
                                 tangents.second * point.m_appliedImpulseLateral2);
    shared.point = static_cast<std::uint32_t>(i);
    points.push_back(shared);
  }
}

void RigidEngine::Impl::share_joint(std::uint32_t index, float dt, std::vector<SharedJointRow>& out) {
  BulletJoint& joint = *joints[index].bullet;
  // The arrays that Bullet's solver would give the joint to fill.
  constexpr int kSkip = 4;
  btScalar linear_a[BulletJoint::kMaxRows * kSkip] = {}, angular_a[BulletJoint::kMaxRows * kSkip] = {};
  btScalar linear_b[BulletJoint::kMaxRows * kSkip] = {}, angular_b[BulletJoint::kMaxRows * kSkip] = {};
  btScalar error[BulletJoint::kMaxRows * kSkip] = {}, cfm[BulletJoint::kMaxRows * kSkip] = {};
  btScalar least[BulletJoint::kMaxRows * kSkip] = {}, most[BulletJoint::kMaxRows * kSkip] = {};
  btTypedConstraint::btConstraintInfo1 count{};
  joint.getInfo1(&count);
  btTypedConstraint::btConstraintInfo2 info{};
  info.fps = 1 / dt;
  info.erp = world->getSolverInfo().m_erp;
  info.m_J1linearAxis = linear_a, info.m_J1angularAxis = angular_a;
  info.m_J2linearAxis = linear_b, info.m_J2angularAxis = angular_b;
  info.rowskip = kSkip;
  info.m_constraintError = error, info.cfm = cfm;
  info.m_lowerLimit = least, info.m_upperLimit = most;
  joint.getInfo2(&info);

  const btRigidBody &a = joint.getRigidBodyA(), &b = joint.getRigidBodyB();
  const bool a_moves = !a.isStaticOrKinematicObject(), b_moves = !b.isStaticOrKinematicObject();
  for (int i = 0; i < count.m_numConstraintRows; ++i) {
    const auto axis = [&](const btScalar* of) {
      return btVector3(of[kSkip * i], of[kSkip * i + 1], of[kSkip * i + 2]);
    };
    float fixed = 0;
    if (!a_moves) fixed += axis(linear_a).dot(a.getLinearVelocity()) + axis(angular_a).dot(a.getAngularVelocity());
    if (!b_moves) fixed += axis(linear_b).dot(b.getLinearVelocity()) + axis(angular_b).dot(b.getAngularVelocity());
    out.push_back({.a = a_moves ? slot_of(&a) : 0,
                   .b = b_moves ? slot_of(&b) : 0,
                   .a_moves = a_moves,
                   .b_moves = b_moves,
                   .linear = from_bullet(axis(linear_b)),
                   .angular_a = from_bullet(-axis(angular_a)),
                   .angular_b = from_bullet(axis(angular_b)),
                   .target = error[kSkip * i] - fixed,
                   .least = least[kSkip * i],
                   .most = most[kSkip * i],
                   .impulse = joint.impulses[static_cast<std::size_t>(i)],
                   .joint = index,
                   .index = static_cast<std::uint32_t>(i)});
  }
}

void RigidEngine::take_back(const SharedRows& rows, float dt) {
  for (const SharedRigid& shared : rows.bodies) {
    RigidBody& body = impl_->body(shared.slot);
    body.bullet->setLinearVelocity(to_bullet(shared.motion.velocity));
    body.bullet->setAngularVelocity(to_bullet(shared.motion.angular_velocity));
    body.touched = true;
  }
  for (const SharedPoint& shared : rows.points) {
    btPersistentManifold& manifold = *impl_->touching[shared.manifold];
    btManifoldPoint& point = manifold.getContactPoint(static_cast<int>(shared.point));
    const Tangents tangents(point.m_normalWorldOnB);
    const btVector3 impulse = to_bullet(shared.impulse);
    point.m_lateralFrictionDir1 = tangents.first, point.m_lateralFrictionDir2 = tangents.second;
    point.m_contactPointFlags |= kSolvedElsewhere;
    point.m_appliedImpulse = impulse.dot(point.m_normalWorldOnB);
    point.m_appliedImpulseLateral1 = impulse.dot(tangents.first);
    point.m_appliedImpulseLateral2 = impulse.dot(tangents.second);
    impl_->note_contact(manifold, point);
  }
  for (const SharedJointRow& row : rows.joints) {
    BulletJoint& joint = *impl_->joints[row.joint].bullet;
    if (row.index == 0) joint.clear_feedback();
    joint.impulses[row.index] = row.impulse;
    joint.add_feedback(to_bullet(row.linear), to_bullet(row.angular_a), to_bullet(row.angular_b), row.impulse / dt);
  }
}

}  // namespace pliant
