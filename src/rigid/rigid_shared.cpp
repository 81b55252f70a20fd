// Islands that another engine solves: handing their rigid bodies and contacts over, and taking them back.
#include <algorithm>

#include "rigid/rigid_impl.h"
#include "rigid/tangents.h"

namespace pliant {
namespace {

/// m/s; slower than this nothing bounces.
constexpr float kLeastBounce = 0.2f;

RigidBodyMotion free_motion(const btRigidBody& body, float dt) {
  RigidBodyMotion motion;
  motion.velocity = from_bullet(body.getLinearVelocity() + body.getTotalForce() * (body.getInvMass() * dt));
  motion.angular_velocity =
      from_bullet(body.getAngularVelocity() + body.getInvInertiaTensorWorld() * body.getTotalTorque() * dt);
  motion.center = from_bullet(body.getCenterOfMassPosition());
  motion.inverse_mass = body.getInvMass();
  for (int row = 0; row < 3; ++row) {
    motion.inverse_inertia.rows[row] = from_bullet(body.getInvInertiaTensorWorld()[row]);
  }
  return motion;
}

}  // namespace

void RigidEngine::share(std::span<const std::uint8_t> is_shared, float dt, std::vector<SharedRigid>& bodies,
                        std::vector<SharedPoint>& points) const {
  bodies.clear(), points.clear();
  for (const std::uint32_t slot : impl_->dynamic_slots) {
    if (!is_shared[slot]) continue;
    const RigidBody& body = impl_->body(slot);
    bodies.push_back({.slot = slot,
                      .motion = free_motion(*body.bullet, dt),
                      .velocity_before = from_bullet(body.velocity_t0),
                      .angular_velocity_before = from_bullet(body.angular_velocity_t0)});
  }
  if (bodies.empty()) return;
  for (std::uint32_t m = 0; m < impl_->touching.size(); ++m) {
    const btPersistentManifold& manifold = *impl_->touching[m];
    const auto& a = static_cast<const btRigidBody&>(*manifold.getBody0());
    const auto& b = static_cast<const btRigidBody&>(*manifold.getBody1());
    SharedPoint shared{.a = slot_of(&a), .b = slot_of(&b), .manifold = m};
    shared.a_moves = !a.isStaticOrKinematicObject(), shared.b_moves = !b.isStaticOrKinematicObject();
    if (!is_shared[shared.a] && !is_shared[shared.b]) continue;
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
      shared.surface_velocity = from_bullet(!shared.b_moves   ? velocity_b
                                            : !shared.a_moves ? -velocity_a
                                                              : btVector3(0, 0, 0));
      shared.gap = point.getDistance();
      shared.friction = point.m_combinedFriction;
      shared.bounce = approach > kLeastBounce ? point.m_combinedRestitution * approach : 0;
      shared.impulse = from_bullet(normal * point.m_appliedImpulse + tangents.first * point.m_appliedImpulseLateral1 +
                                   tangents.second * point.m_appliedImpulseLateral2);
      shared.point = static_cast<std::uint32_t>(i);
      points.push_back(shared);
    }
  }
}

void RigidEngine::take_back(std::span<const SharedRigid> bodies, std::span<const SharedPoint> points) {
  for (const SharedRigid& shared : bodies) {
    RigidBody& body = impl_->body(shared.slot);
    body.bullet->setLinearVelocity(to_bullet(shared.motion.velocity));
    body.bullet->setAngularVelocity(to_bullet(shared.motion.angular_velocity));
    body.touched = true;
  }
  for (const SharedPoint& shared : points) {
    btPersistentManifold& manifold = *impl_->touching[shared.manifold];
    btManifoldPoint& point = manifold.getContactPoint(static_cast<int>(shared.point));
    const Tangents tangents(point.m_normalWorldOnB);
    const btVector3 impulse = to_bullet(shared.impulse);
    point.m_lateralFrictionDir1 = tangents.first, point.m_lateralFrictionDir2 = tangents.second;
    point.m_appliedImpulse = impulse.dot(point.m_normalWorldOnB);
    point.m_appliedImpulseLateral1 = impulse.dot(tangents.first);
    point.m_appliedImpulseLateral2 = impulse.dot(tangents.second);
    impl_->note_contact(manifold, point);
  }
}

}  // namespace pliant
