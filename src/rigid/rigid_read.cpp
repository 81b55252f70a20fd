// What the world reads from the engine.
#include <algorithm>

#include "rigid/rigid_impl.h"

namespace pliant {
namespace {

/// L = I ω of a body about its centre of mass, world axes, in double.
void spin_momentum(const btRigidBody& body, const btVector3& inertia, double (&spin)[3]) {
  const btMatrix3x3& basis = body.getCenterOfMassTransform().getBasis();
  const btVector3& w = body.getAngularVelocity();
  for (double& s : spin) s = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double along = 0;
    for (int i = 0; i < 3; ++i) along += static_cast<double>(basis[i][axis]) * static_cast<double>(w[i]);
    for (int i = 0; i < 3; ++i)
      spin[i] += static_cast<double>(basis[i][axis]) * static_cast<double>(inertia[axis]) * along;
  }
}

void add_vector(Hasher& hasher, const btVector3& v) { hasher.add_bytes(v.m_floats, 3 * sizeof(btScalar)); }

}  // namespace

std::span<const std::uint32_t> RigidEngine::slots() const {
  impl_->update_slot_lists();
  return impl_->live_slots;
}
std::span<const std::uint32_t> RigidEngine::dynamic_slots() const {
  impl_->update_slot_lists();
  return impl_->dynamic_slots;
}
bool RigidEngine::has(std::uint32_t slot) const { return impl_->has(slot); }
BodyId RigidEngine::id(std::uint32_t slot) const { return impl_->body(slot).id; }
std::array<BodyId, 2> RigidEngine::jointed_bodies(std::uint32_t joint_slot) const {
  return {impl_->joints[joint_slot].def.a, impl_->joints[joint_slot].def.b};
}
bool RigidEngine::is_dynamic(std::uint32_t slot) const { return impl_->body(slot).is_dynamic(); }
bool RigidEngine::is_awake(std::uint32_t slot) const { return impl_->body(slot).is_awake(); }

bool RigidEngine::is_frozen(std::uint32_t slot) const { return impl_->body(slot).properties.frozen; }

bool RigidEngine::is_calm(std::uint32_t slot, float speed, float angular_speed) const {
  const btRigidBody& bullet = *impl_->body(slot).bullet;
  return bullet.getLinearVelocity().length2() < speed * speed &&
         bullet.getAngularVelocity().length2() < angular_speed * angular_speed;
}

float RigidEngine::friction(std::uint32_t slot) const { return impl_->body(slot).properties.friction; }
CollisionFilter RigidEngine::filter(std::uint32_t slot) const { return impl_->body(slot).properties.filter; }

BodyState RigidEngine::state(std::uint32_t slot) const {
  const RigidBody& body = impl_->body(slot);
  const btRigidBody& bullet = *body.bullet;
  const btTransform& world_from_mass = bullet.getCenterOfMassTransform();
  btVector3 lower, upper;
  body.shape->collision->getAabb(world_from_mass, lower, upper);
  return {.world_from_body = from_bullet(world_from_mass * body.shape->mass_from_body),
          .velocity = from_bullet(bullet.getLinearVelocity()),
          .angular_velocity = from_bullet(bullet.getAngularVelocity()),
          .center_of_mass = from_bullet(world_from_mass.getOrigin()),
          .bounds = {from_bullet(lower), from_bullet(upper)},
          .mass = body.shape->mass,
          .awake = body.is_awake(),
          .quarantined = body.properties.frozen};
}

JointState RigidEngine::joint_state(std::uint32_t slot) const {
  const BulletJoint& joint = *impl_->joints[slot].bullet;
  const btVector3& force = joint.feedback().m_appliedForceBodyB;
  const btVector3 arm = joint.anchor_on_b() - joint.getRigidBodyB().getCenterOfMassPosition();
  return {.force = from_bullet(force),
          .torque = from_bullet(joint.feedback().m_appliedTorqueBodyB - arm.cross(force)),
          .position = joint.position(),
          .speed = joint.speed()};
}

void RigidEngine::find_broken_joints(std::vector<JointBreak>& breaks) const {
  for (const std::uint32_t slot : impl_->live_joints) {
    const RigidJoint& joint = impl_->joints[slot];
    const float force = joint.bullet->feedback().m_appliedForceBodyB.length();
    if (force > joint.def.break_force) breaks.push_back({joint.id, force});
  }
}

void RigidEngine::find_touching(std::uint32_t slot, std::vector<std::uint32_t>& slots) const {
  impl_->collect_manifolds_if_stale();
  for (const btPersistentManifold* manifold : impl_->touching) {
    const std::uint32_t a = slot_of(manifold->getBody0()), b = slot_of(manifold->getBody1());
    if (a == slot) slots.push_back(b);
    if (b == slot) slots.push_back(a);
  }
}

Momenta RigidEngine::momenta() const {
  Momenta total;
  for (const std::uint32_t slot : impl_->dynamic_slots) {
    const RigidBody& body = impl_->body(slot);
    const btVector3& x = body.bullet->getCenterOfMassPosition();
    const btVector3& v = body.bullet->getLinearVelocity();
    const btVector3& w = body.bullet->getAngularVelocity();
    const double mass = static_cast<double>(body.shape->mass);
    double spin[3];
    spin_momentum(*body.bullet, body.shape->inertia, spin);
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      const double vi = static_cast<double>(v[i]);
      total.linear[i] += mass * vi;
      total.angular[i] += spin[i] + mass * (static_cast<double>(x[j]) * static_cast<double>(v[k]) -
                                            static_cast<double>(x[k]) * static_cast<double>(v[j]));
      total.kinetic += 0.5 * mass * vi * vi + 0.5 * spin[i] * static_cast<double>(w[i]);
      total.potential -= mass * static_cast<double>(body.properties.gravity_scale) *
                         static_cast<double>(impl_->gravity[i]) * static_cast<double>(x[i]);
    }
  }
  return total;
}

void RigidEngine::add_to_hash(Hasher& hasher) const {
  for (const std::uint32_t slot : impl_->live_slots) {
    const RigidBody& body = impl_->body(slot);
    const btTransform& transform = body.bullet->getCenterOfMassTransform();
    hasher.add(slot);
    hasher.add(static_cast<int>(body.is_awake()) | (body.properties.frozen ? 2 : 0));
    add_vector(hasher, transform.getOrigin());
    for (int i = 0; i < 3; ++i) add_vector(hasher, transform.getBasis()[i]);
    add_vector(hasher, body.bullet->getLinearVelocity());
    add_vector(hasher, body.bullet->getAngularVelocity());
  }
  // The impulses of contacts are left out: a contact that is about to be dropped would make two states differ that go
  // on alike. Where they matter they are in the next step's velocities.
  for (const std::uint32_t slot : impl_->live_joints) {
    for (const float impulse : impl_->joints[slot].bullet->impulses) hasher.add(impulse);
  }
}

}  // namespace pliant
