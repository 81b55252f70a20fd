// The stages of a substep before and after the solve.
#include <algorithm>
#include <array>
#include <cmath>

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <LinearMath/btTransformUtil.h>

#include "base/world_limits.h"
#include "math/free_rotation.h"
#include "rigid/rigid_impl.h"

namespace pliant {
namespace {

bool is_within(const btVector3& v, float limit) {
  // Written so that NaN is outside.
  return std::abs(v.x()) <= limit && std::abs(v.y()) <= limit && std::abs(v.z()) <= limit;
}

/// The two bodies of a pair in the form Bullet's algorithms ask for.
struct PairWrappers {
  explicit PairWrappers(const btBroadphasePair& pair) : a(wrap(pair.m_pProxy0)), b(wrap(pair.m_pProxy1)) {}
  btCollisionObjectWrapper a, b;

 private:
  static btCollisionObjectWrapper wrap(const btBroadphaseProxy* proxy) {
    auto* object = static_cast<btCollisionObject*>(proxy->m_clientObject);
    return {nullptr, object->getCollisionShape(), object, object->getWorldTransform(), -1, -1};
  }
};

bool is_moving(const btRigidBody& body) {
  return !body.getLinearVelocity().isZero() || !body.getAngularVelocity().isZero();
}

Vec3d to_double(const btVector3& v) { return Vec3d(from_bullet(v)); }

/// Of a body with these principal axes and moments, row by row.
std::array<double, 9> world_inertia(const btMatrix3x3& axes, const btVector3& moments) {
  std::array<double, 9> inertia{};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      double& entry = inertia[static_cast<std::size_t>(3 * r + c)];
      for (int k = 0; k < 3; ++k) entry += double(axes[r][k]) * double(axes[c][k]) * double(moments[k]);
    }
  }
  return inertia;
}

Vec3d times(const std::array<double, 9>& m, Vec3d v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
          m[6] * v.x + m[7] * v.y + m[8] * v.z};
}

}  // namespace

void RigidEngine::begin_step(float dt) {
  impl_->update_slot_lists();
  impl_->contacts.clear();
  impl_->rows = 0;
  impl_->seconds_left = dt;
  for (const std::uint32_t slot : impl_->live_slots) {
    RigidBody& body = impl_->body(slot);
    body.transform_t0 = body.bullet->getCenterOfMassTransform();
    if (body.properties.motion != Motion::Kinematic) continue;
    btVector3 velocity(0, 0, 0), angular_velocity(0, 0, 0);
    if (body.target) {
      btTransformUtil::calculateVelocity(body.transform_t0, *body.target, dt, velocity, angular_velocity);
    } else if (!body.had_target) {
      velocity = body.bullet->getLinearVelocity();
      angular_velocity = body.bullet->getAngularVelocity();
    }
    body.had_target = body.target.has_value();
    body.bullet->setLinearVelocity(velocity);
    body.bullet->setAngularVelocity(angular_velocity);
    body.bullet->forceActivationState(is_moving(*body.bullet) ? ACTIVE_TAG : ISLAND_SLEEPING);
  }
}

void RigidEngine::predict(float dt) {
  impl_->update_slot_lists();
  for (const std::uint32_t slot : impl_->dynamic_slots) {
    if (impl_->body(slot).is_awake()) predict(slot, dt);
  }
}

void RigidEngine::predict(std::uint32_t slot, float dt) {
  RigidBody& body = impl_->body(slot);
  btRigidBody& bullet = *body.bullet;
  // Exact for a velocity that decays at a constant rate, whatever the substep.
  const RigidProperties& p = body.properties;
  if (p.linear_damping > 0) bullet.setLinearVelocity(bullet.getLinearVelocity() * std::exp(-p.linear_damping * dt));
  if (p.angular_damping > 0) {
    bullet.setAngularVelocity(bullet.getAngularVelocity() * std::exp(-p.angular_damping * dt));
  }
  bullet.clearForces();
  bullet.applyCentralForce(impl_->gravity * (body.shape->mass * p.gravity_scale) + body.force);
  bullet.applyTorque(body.torque);
  body.velocity_t0 = bullet.getLinearVelocity();
  body.angular_velocity_t0 = bullet.getAngularVelocity();
  body.touched = false;
  btTransform predicted;
  bullet.predictIntegratedTransform(dt, predicted);
  bullet.setInterpolationWorldTransform(predicted);
}

void RigidEngine::find_runaways(std::vector<std::uint32_t>& slots) const {
  for (const std::uint32_t slot : impl_->dynamic_slots) {
    const btRigidBody& bullet = *impl_->body(slot).bullet;
    const btVector3 acceleration = bullet.getTotalForce() * bullet.getInvMass();
    const btVector3 angular = bullet.getInvInertiaTensorWorld() * bullet.getTotalTorque();
    if (!is_within(bullet.getLinearVelocity(), kMaxSpeed) || !is_within(acceleration, 60 * kMaxSpeed) ||
        !is_within(bullet.getAngularVelocity(), kMaxAngularSpeed) || !is_within(angular, 60 * kMaxAngularSpeed)) {
      slots.push_back(slot);
    }
  }
}

void RigidEngine::find_lost(std::vector<std::uint32_t>& slots) const {
  for (const std::uint32_t slot : impl_->live_slots) {
    const RigidBody& body = impl_->body(slot);
    if (body.properties.frozen || body.properties.motion == Motion::Static) continue;
    const btTransform& transform = body.bullet->getCenterOfMassTransform();
    const btMatrix3x3& basis = transform.getBasis();
    if (!is_within(transform.getOrigin(), kMaxDistance) || !is_within(basis[0], 2) || !is_within(basis[1], 2) ||
        !is_within(basis[2], 2) || !is_within(body.bullet->getLinearVelocity(), kMaxSpeed) ||
        !is_within(body.bullet->getAngularVelocity(), kMaxAngularSpeed)) {
      slots.push_back(slot);
    }
  }
}

void RigidEngine::find_contacts(float dt) {
  impl_->update_slot_lists();
  BulletWorld& world = *impl_->world;
  world.getDispatchInfo().m_timeStep = dt;
  world.getSolverInfo().m_timeStep = dt;
  world.releasePredictiveContacts();
  world.updateAabbs();
  impl_->broadphase.calculateOverlappingPairs(&impl_->dispatcher);
  for (const std::uint32_t slot : impl_->dynamic_slots) {
    if (!impl_->body(slot).properties.continuous) continue;
    btRigidBody* bullet = impl_->body(slot).bullet.get();
    world.createPredictiveContactsInternal(&bullet, 1, dt);
  }
  impl_->dispatch_pairs();
  impl_->collect_manifolds();
}

void RigidEngine::Impl::dispatch_pairs() {
  simple_pairs.clear(), compound_pairs.clear();
  for (btBroadphasePair& pair : broadphase.pairs().all()) {
    const PairWrappers objects(pair);
    if (!dispatcher.needsCollision(objects.a.getCollisionObject(), objects.b.getCollisionObject())) continue;
    // Algorithms and their manifolds come from Bullet's pools, which are not for several threads.
    if (!pair.m_algorithm) {
      pair.m_algorithm = dispatcher.findAlgorithm(&objects.a, &objects.b, nullptr, BT_CONTACT_POINT_ALGORITHMS);
    }
    const bool is_compound = objects.a.getCollisionShape()->isCompound() || objects.b.getCollisionShape()->isCompound();
    (is_compound ? compound_pairs : simple_pairs).push_back(&pair);
  }
  const auto process = [&](btBroadphasePair& pair) {
    const PairWrappers objects(pair);
    btManifoldResult result(&objects.a, &objects.b);
    pair.m_algorithm->processCollision(&objects.a, &objects.b, world->getDispatchInfo(), &result);
  };
  // Each pair writes to its own manifold only. Compounds make algorithms for their parts as they go, so they wait.
  parallel_for(workers, simple_pairs.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) process(*simple_pairs[i]);
  });
  for (btBroadphasePair* pair : compound_pairs) process(*pair);
}

void RigidEngine::Impl::collect_manifolds_if_stale() {
  if (manifolds_stale) collect_manifolds();
}

void RigidEngine::Impl::collect_manifolds() {
  manifolds_stale = false;
  pair_manifolds.clear();
  touching.clear();
  for (const btBroadphasePair& pair : broadphase.pairs().all()) {
    const auto* a = static_cast<const btCollisionObject*>(pair.m_pProxy0->m_clientObject);
    const auto* b = static_cast<const btCollisionObject*>(pair.m_pProxy1->m_clientObject);
    // Bodies joined since they last touched still have their old contacts.
    if (a->checkCollideWith(b) && b->checkCollideWith(a)) collector.collect(pair, pair_manifolds);
  }
  for (const PairManifold& entry : pair_manifolds) {
    if (entry.manifold->getNumContacts() > 0) touching.push_back(entry.manifold);
  }
  for (btPersistentManifold* manifold : world->predictive_manifolds()) touching.push_back(manifold);
  for (btPersistentManifold* manifold : touching) set_combined_materials(*manifold);
}

void RigidEngine::Impl::set_combined_materials(btPersistentManifold& manifold) {
  const RigidProperties& a = body(manifold.getBody0()).properties;
  const RigidProperties& b = body(manifold.getBody1()).properties;
  const float friction = std::sqrt(a.friction * b.friction);
  const float rolling = std::max(a.rolling_friction, b.rolling_friction);
  const float restitution = std::max(a.restitution, b.restitution);
  for (int i = 0; i < manifold.getNumContacts(); ++i) {
    btManifoldPoint& point = manifold.getContactPoint(i);
    point.m_combinedFriction = friction;
    point.m_combinedRollingFriction = point.m_combinedSpinningFriction = rolling;
    point.m_combinedRestitution = restitution;
  }
}

void RigidEngine::for_each_link(void (*link)(void*, std::uint32_t, std::uint32_t), void* context) const {
  const auto link_if_dynamic = [&](const btCollisionObject& a, const btCollisionObject& b) {
    if (!a.isStaticOrKinematicObject() && !b.isStaticOrKinematicObject()) link(context, slot_of(&a), slot_of(&b));
  };
  for (const btPersistentManifold* manifold : impl_->touching) {
    link_if_dynamic(*manifold->getBody0(), *manifold->getBody1());
  }
  for (const std::uint32_t slot : impl_->live_joints) {
    const BulletJoint& joint = *impl_->joints[slot].bullet;
    link_if_dynamic(joint.getRigidBodyA(), joint.getRigidBodyB());
  }
}

void RigidEngine::find_pushed_sleepers(std::vector<std::uint32_t>& slots) const {
  const auto check = [&](const btCollisionObject& pusher, const btCollisionObject& sleeper) {
    if (!pusher.isKinematicObject() || sleeper.isStaticOrKinematicObject() || sleeper.isActive()) return;
    if (is_moving(static_cast<const btRigidBody&>(pusher))) slots.push_back(slot_of(&sleeper));
  };
  for (const btPersistentManifold* manifold : impl_->touching) {
    check(*manifold->getBody0(), *manifold->getBody1());
    check(*manifold->getBody1(), *manifold->getBody0());
  }
  for (const std::uint32_t slot : impl_->live_joints) {
    const BulletJoint& joint = *impl_->joints[slot].bullet;
    check(joint.getRigidBodyA(), joint.getRigidBodyB());
    check(joint.getRigidBodyB(), joint.getRigidBodyA());
  }
}

void RigidEngine::advance(float dt) {
  const float left = impl_->seconds_left - dt;
  const bool is_last = left < 0.5f * dt;
  impl_->seconds_left = left;
  for (const std::uint32_t slot : impl_->live_slots) {
    RigidBody& body = impl_->body(slot);
    if (body.is_dynamic()) {
      if (body.is_awake()) impl_->advance_dynamic(body, dt);
    } else if (body.properties.motion == Motion::Kinematic && !body.properties.frozen) {
      impl_->advance_kinematic(body, dt, is_last);
    }
  }
}

void RigidEngine::Impl::advance_dynamic(RigidBody& body, float dt) {
  btRigidBody* bullet = body.bullet.get();
  if (!body.touched) return fly(body, dt);
  if (body.properties.continuous) return world->integrateTransformsInternal(&bullet, 1, dt);
  btTransform next;
  bullet->predictIntegratedTransform(dt, next);
  bullet->proceedToTransform(next);
}

// Forces are constant over a substep, so a body that nothing touched can be moved to second order: with the mean of its
// old and new velocity, which is exact, and turned by the momentum in the middle of the step, which keeps the angular
// momentum and the energy of a body without torque, however fast it turns. Where rows were solved the new velocity is
// the one that keeps them; there the step is first order.
void RigidEngine::Impl::fly(RigidBody& body, float dt) {
  btRigidBody& bullet = *body.bullet;
  const btTransform& now = bullet.getCenterOfMassTransform();
  const Vec3d torque = to_double(body.torque);
  std::array<double, 9> inertia = world_inertia(now.getBasis(), body.shape->inertia);
  const Vec3d momentum = times(inertia, to_double(body.angular_velocity_t0));
  const Quat turn = free_rotation(inertia, momentum + torque * (0.5 * dt), dt);

  btTransform next(to_bullet(turn) * now.getRotation(),
                   now.getOrigin() + 0.5f * dt * (body.velocity_t0 + bullet.getLinearVelocity()));
  inertia = world_inertia(next.getBasis(), body.shape->inertia);
  const Vec3d spin = angular_velocity_of(inertia, momentum + torque * double(dt));
  bullet.setAngularVelocity(btVector3(btScalar(spin.x), btScalar(spin.y), btScalar(spin.z)));
  bullet.proceedToTransform(next);
}

void RigidEngine::Impl::advance_kinematic(RigidBody& body, float dt, bool is_last) {
  if (!is_moving(*body.bullet) && !body.target) return;
  btTransform next;
  if (body.target && is_last) {
    next = *body.target;
    body.target.reset();
  } else {
    body.bullet->predictIntegratedTransform(dt, next);
  }
  body.bullet->setCenterOfMassTransform(next);
  body.bullet->setInterpolationWorldTransform(next);
}

void RigidEngine::end_step() {
  for (const std::uint32_t slot : impl_->live_slots) {
    impl_->body(slot).force = impl_->body(slot).torque = btVector3(0, 0, 0);
  }
}

}  // namespace pliant
