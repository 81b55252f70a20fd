// Adding, removing and setting bodies and joints.
#include <algorithm>

#include "rigid/bullet_contact.h"
#include "rigid/rigid_impl.h"

namespace pliant {
namespace {

btRigidBody::btRigidBodyConstructionInfo anchor_info() { return {0, nullptr, nullptr, btVector3(0, 0, 0)}; }

btDefaultCollisionConstructionInfo pool_sizes() {
  btDefaultCollisionConstructionInfo info;
  info.m_defaultMaxPersistentManifoldPoolSize = 8192;
  info.m_defaultMaxCollisionAlgorithmPoolSize = 8192;
  return info;
}

void set_up_solver(btContactSolverInfo& info, const WorldDef& def) {
  info.m_numIterations = def.iterations;
  info.m_solverMode = SOLVER_USE_WARMSTARTING | SOLVER_SIMD | SOLVER_USE_2_FRICTION_DIRECTIONS |
                      SOLVER_ENABLE_FRICTION_DIRECTION_CACHING;
  info.m_restitutionVelocityThreshold = def.bounce_threshold;
  // The solver pushes overlap out in its own way (see bullet_solver.h); these make Bullet keep it out of the rows and
  // add to the positions what the solver asks for.
  info.m_splitImpulse = true;
  info.m_splitImpulsePenetrationThreshold = 0;
  info.m_splitImpulseTurnErp = 1;
  info.m_warmstartingFactor = 1;
  info.m_jointFeedbackInWorldSpace = true;
}

}  // namespace

RigidEngine::Impl::Impl(const WorldDef& def, Workers& workers_)
    : workers(workers_),
      configuration(pool_sizes()),
      dispatcher(&configuration),
      world_body(anchor_info()),
      gravity(to_bullet(def.gravity)) {
  register_contact_algorithms(dispatcher);
  // The nested plain algorithm names its manifolds by part, which Bullet's own for two compounds does not.
  dispatcher.registerCollisionCreateFunc(
      COMPOUND_SHAPE_PROXYTYPE, COMPOUND_SHAPE_PROXYTYPE,
      configuration.getCollisionAlgorithmCreateFunc(COMPOUND_SHAPE_PROXYTYPE, BOX_SHAPE_PROXYTYPE));
  for (int i = 0; i < workers.threads(); ++i) solvers.push_back(std::make_unique<BulletSolver>());
  world = std::make_unique<BulletWorld>(&dispatcher, &broadphase, solvers.front().get(), &configuration);
  world->setGravity(btVector3(0, 0, 0));  // forces are applied by the engine
  set_up_solver(world->getSolverInfo(), def);
}

RigidEngine::Impl::~Impl() { remove_everything(); }

void RigidEngine::Impl::remove_everything() {
  world->releasePredictiveContacts();
  for (RigidJoint& joint : joints) {
    if (joint.bullet) destroy_bullet_joint(joint);
  }
  for (RigidBody& body : bodies) {
    if (body.bullet) world->removeRigidBody(body.bullet.get());
  }
  joints.clear();
  bodies.clear();
  contacts.clear();
  manifolds_stale = true;
  slot_lists_stale = true;
}

void RigidEngine::Impl::update_slot_lists() {
  if (!slot_lists_stale) return;
  slot_lists_stale = false;
  live_slots.clear(), dynamic_slots.clear(), live_joints.clear();
  for (std::uint32_t slot = 0; slot < bodies.size(); ++slot) {
    if (!bodies[slot].bullet) continue;
    live_slots.push_back(slot);
    if (bodies[slot].is_dynamic()) dynamic_slots.push_back(slot);
  }
  for (std::uint32_t slot = 0; slot < joints.size(); ++slot) {
    if (joints[slot].bullet) live_joints.push_back(slot);
  }
}

void RigidEngine::Impl::create_bullet_body(RigidBody& body, const btTransform& world_from_mass) {
  // Bullet's shapes are not const, but the engine never changes one after it was built.
  btRigidBody::btRigidBodyConstructionInfo info(body.shape->mass, nullptr, body.shape->collision, body.shape->inertia);
  info.m_startWorldTransform = world_from_mass;
  body.bullet = std::make_unique<btRigidBody>(info);
  btRigidBody& bullet = *body.bullet;
  bullet.setUserIndex(static_cast<int>(body.id.index));
  bullet.setUserPointer(const_cast<RigidShape*>(body.shape.get()));  // Bullet hands it back as it is
  bullet.setDamping(0, 0);
  if (body.properties.continuous && body.shape->collision->isConvex()) {
    bullet.setCcdMotionThreshold(body.shape->smallest_half_extent);
    bullet.setCcdSweptSphereRadius(0.8f * body.shape->smallest_half_extent);
  }
  apply_motion_flags(body);
  world->addRigidBody(&bullet, body.properties.filter.category, body.properties.filter.mask);
  body.transform_t0 = world_from_mass;
  slot_lists_stale = true;
}

void RigidEngine::Impl::apply_motion_flags(RigidBody& body) {
  btRigidBody& bullet = *body.bullet;
  const bool kinematic = body.properties.motion == Motion::Kinematic && !body.properties.frozen;
  int flags =
      bullet.getCollisionFlags() & ~(btCollisionObject::CF_STATIC_OBJECT | btCollisionObject::CF_KINEMATIC_OBJECT);
  if (kinematic) {
    flags |= btCollisionObject::CF_KINEMATIC_OBJECT;
  } else if (!body.is_dynamic()) {
    flags |= btCollisionObject::CF_STATIC_OBJECT;
  }
  // Setting the mass changes the flags, so the flags come last.
  if (body.is_dynamic()) {
    bullet.setMassProps(body.shape->mass, body.shape->inertia);
  } else {
    bullet.setMassProps(0, btVector3(0, 0, 0));
  }
  bullet.updateInertiaTensor();
  bullet.setCollisionFlags(flags);
  if (bullet.getBroadphaseProxy()) broadphase.set_static(body.id.index, !body.is_dynamic());
  slot_lists_stale = true;
}

btRigidBody& RigidEngine::Impl::bullet_of(BodyId id) { return id.is_null() ? world_body : *bodies[id.index].bullet; }

void RigidEngine::Impl::create_bullet_joint(RigidJoint& joint) {
  joint.bullet = std::make_unique<BulletJoint>(joint.def, bullet_of(joint.def.a), bullet_of(joint.def.b),
                                               joint.a_from_joint, joint.b_from_joint);
  world->addConstraint(joint.bullet.get(), !joint.def.bodies_collide);
  slot_lists_stale = true;
}

void RigidEngine::Impl::destroy_bullet_joint(RigidJoint& joint) {
  world->removeConstraint(joint.bullet.get());
  joint.bullet.reset();
  slot_lists_stale = true;
}

RigidEngine::RigidEngine(const WorldDef& def, Workers& workers) : impl_(std::make_unique<Impl>(def, workers)) {}
RigidEngine::~RigidEngine() = default;

void RigidEngine::add_body(BodyId id, const RigidDef& def, std::shared_ptr<const RigidShape> shape) {
  if (impl_->bodies.size() <= id.index) impl_->bodies.resize(id.index + 1);
  RigidBody& body = impl_->bodies[id.index];
  body = RigidBody{};
  body.id = id;
  body.properties = {.motion = def.motion,
                     .friction = def.friction,
                     .rolling_friction = def.rolling_friction,
                     .restitution = def.restitution,
                     .linear_damping = def.linear_damping,
                     .angular_damping = def.angular_damping,
                     .gravity_scale = def.gravity_scale,
                     .filter = def.filter,
                     .continuous = def.continuous};
  body.shape = std::move(shape);
  const btTransform world_from_body = to_bullet(Transform{def.position, def.rotation.normalized()});
  impl_->create_bullet_body(body, world_from_body * body.shape->body_from_mass);
  if (def.motion != Motion::Static) set_velocity(id.index, def.velocity, def.angular_velocity);
}

void RigidEngine::remove_body(std::uint32_t slot) {
  RigidBody& body = impl_->body(slot);
  impl_->world->releasePredictiveContacts();  // they may name the body
  impl_->world->removeRigidBody(body.bullet.get());
  body = RigidBody{};
  impl_->manifolds_stale = true;
  impl_->slot_lists_stale = true;
}

void RigidEngine::add_joint(JointId id, const JointDef& def) {
  if (impl_->joints.size() <= id.index) impl_->joints.resize(id.index + 1);
  RigidJoint& joint = impl_->joints[id.index];
  joint.id = id;
  joint.def = def;
  const btRigidBody& a = impl_->bullet_of(def.a);
  const btRigidBody& b = impl_->bullet_of(def.b);
  const Vec3 anchor = def.kind == JointKind::Fixed ? from_bullet(b.getCenterOfMassPosition()) : def.anchor;
  const btTransform world_from_joint = to_bullet(Transform{anchor, Quat::between({0, 0, 1}, def.axis)});
  joint.a_from_joint = a.getCenterOfMassTransform().inverse() * world_from_joint;
  joint.b_from_joint = b.getCenterOfMassTransform().inverse() * world_from_joint;
  impl_->create_bullet_joint(joint);
}

void RigidEngine::remove_joint(std::uint32_t slot) {
  impl_->destroy_bullet_joint(impl_->joints[slot]);
  impl_->joints[slot].id = {};
}

void RigidEngine::set_transform(std::uint32_t slot, const Transform& world_from_body) {
  RigidBody& body = impl_->body(slot);
  const btTransform world_from_mass =
      to_bullet(Transform{world_from_body.position, world_from_body.rotation.normalized()}) *
      body.shape->body_from_mass;
  body.bullet->setCenterOfMassTransform(world_from_mass);
  body.bullet->setInterpolationWorldTransform(world_from_mass);
  body.target.reset();
}

void RigidEngine::set_velocity(std::uint32_t slot, Vec3 velocity, Vec3 angular_velocity) {
  RigidBody& body = impl_->body(slot);
  body.bullet->setLinearVelocity(to_bullet(velocity));
  body.bullet->setAngularVelocity(to_bullet(angular_velocity));
  body.target.reset();
  body.had_target = false;
}

void RigidEngine::move_to(std::uint32_t slot, const Transform& world_from_body) {
  RigidBody& body = impl_->body(slot);
  body.target = to_bullet(Transform{world_from_body.position, world_from_body.rotation.normalized()}) *
                body.shape->body_from_mass;
}

void RigidEngine::add_force(std::uint32_t slot, Vec3 force, Vec3 torque) {
  impl_->body(slot).force += to_bullet(force);
  impl_->body(slot).torque += to_bullet(torque);
}

void RigidEngine::add_impulse(std::uint32_t slot, Vec3 impulse, Vec3 angular_impulse) {
  impl_->body(slot).bullet->applyCentralImpulse(to_bullet(impulse));
  impl_->body(slot).bullet->applyTorqueImpulse(to_bullet(angular_impulse));
}

void RigidEngine::set_motor(std::uint32_t joint_slot, const Motor& motor) {
  impl_->joints[joint_slot].def.motor = motor;
  impl_->joints[joint_slot].bullet->set_motor(motor);
}

void RigidEngine::set_friction(std::uint32_t slot, float friction) { impl_->body(slot).properties.friction = friction; }
void RigidEngine::set_restitution(std::uint32_t slot, float restitution) {
  impl_->body(slot).properties.restitution = restitution;
}
void RigidEngine::set_gravity_scale(std::uint32_t slot, float scale) {
  impl_->body(slot).properties.gravity_scale = scale;
}
void RigidEngine::set_filter(std::uint32_t slot, CollisionFilter filter) {
  impl_->body(slot).properties.filter = filter;
  impl_->broadphase.set_filter(slot, filter.category, filter.mask);
}
void RigidEngine::set_gravity(Vec3 gravity) { impl_->gravity = to_bullet(gravity); }

void RigidEngine::freeze(std::uint32_t slot) {
  RigidBody& body = impl_->body(slot);
  body.properties.frozen = true;
  impl_->apply_motion_flags(body);
  body.bullet->setCenterOfMassTransform(body.transform_t0);
  body.bullet->setInterpolationWorldTransform(body.transform_t0);
  body.bullet->setLinearVelocity(btVector3(0, 0, 0));
  body.bullet->setAngularVelocity(btVector3(0, 0, 0));
  body.bullet->forceActivationState(ISLAND_SLEEPING);
  body.force = body.torque = btVector3(0, 0, 0);
  // Its contacts may hold the numbers that went bad.
  impl_->broadphase.pairs().cleanProxyFromPairs(body.bullet->getBroadphaseProxy(), &impl_->dispatcher);
  impl_->manifolds_stale = true;
}

void RigidEngine::thaw(std::uint32_t slot) {
  impl_->body(slot).properties.frozen = false;
  impl_->apply_motion_flags(impl_->body(slot));
  impl_->body(slot).bullet->forceActivationState(ACTIVE_TAG);
}

void RigidEngine::set_awake(std::uint32_t slot, bool awake) {
  btRigidBody& bullet = *impl_->body(slot).bullet;
  bullet.forceActivationState(awake ? ACTIVE_TAG : ISLAND_SLEEPING);
  if (awake) return;
  bullet.setLinearVelocity(btVector3(0, 0, 0));
  bullet.setAngularVelocity(btVector3(0, 0, 0));
}

}  // namespace pliant
