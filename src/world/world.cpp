// The public face of the world: checks, queues, hands on.
#include "pliant/world.h"

#include <algorithm>
#include <cmath>

#include "world/def_check.h"
#include "world/world_impl.h"

namespace pliant {
namespace {

const WorldDef& require_valid(const WorldDef& def) {
  check_def(def).require();
  return def;
}

/// What is known of a body before its first step.
template <typename Def>
BodyState initial_state(const Def& def) {
  BodyState state;
  state.world_from_body = {def.position, def.rotation.normalized()};
  state.velocity = def.velocity;
  state.angular_velocity = def.angular_velocity;
  if constexpr (std::is_same_v<Def, RigidDef>) state.awake = def.motion == Motion::Dynamic && !def.start_asleep;
  if constexpr (!std::is_same_v<Def, RigidDef>) state.awake = true;
  return state;
}

Error invalid(const char* call, const char* message) {
  Error error;
  error.field = call;
  error.message = message;
  return error;
}

}  // namespace

World::Impl::Impl(const WorldDef& def)
    : workers(require_valid(def).threads), rigid(def, workers), solid(workers), particle(workers), layered(workers) {
  state.def = def;
  solid.set_contact(def.solid_contact, def.contact_damping);
}

World::World(const WorldDef& def) : impl_(std::make_unique<Impl>(def)) {}
World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

Result<BodyId> World::add(const GroundDef& def) {
  if (!std::isfinite(def.height)) return impl_->refuse(invalid("add: height", "the height must be finite"));
  return impl_->add_rigid({.name = def.name,
                           .shape = Plane{},
                           .motion = Motion::Static,
                           .position = {0, def.height, 0},
                           .friction = def.friction,
                           .restitution = def.restitution,
                           .filter = def.filter,
                           .appearance = def.appearance});
}
Result<BodyId> World::add(const RigidDef& def) { return impl_->add_rigid(def); }
Result<JointId> World::add(const JointDef& def) { return impl_->add_joint(def); }

Status World::remove(BodyId body) {
  if (Status status = impl_->check(body, "remove"); !status) return status;
  impl_->forget(body);
  impl_->edits.push_back(edit::RemoveBody{body.index});
  return {};
}

Status World::remove(JointId joint) {
  if (Status status = impl_->check(joint, "remove"); !status) return status;
  impl_->forget(joint);
  impl_->edits.push_back(edit::RemoveJoint{joint.index});
  return {};
}

bool World::contains(BodyId body) const { return impl_->state.body_ids.contains(body); }
bool World::contains(JointId joint) const { return impl_->state.joint_ids.contains(joint); }

BodyId World::find(std::string_view name) const {
  for (const BodyId id : impl_->state.body_order) {
    if (impl_->state.bodies[id.index].name() == name) return id;
  }
  return {};
}

std::optional<BodyKind> World::kind(BodyId body) const {
  if (!contains(body)) return {};
  return impl_->state.bodies[body.index].kind();
}

std::string_view World::name(BodyId body) const {
  return contains(body) ? std::string_view(impl_->state.bodies[body.index].name()) : std::string_view();
}

JointId World::find_joint(std::string_view name) const {
  for (const JointId id : impl_->state.joint_order) {
    if (impl_->state.joints[id.index].def->name == name) return id;
  }
  return {};
}

std::vector<BodyId> World::bodies() const { return impl_->state.body_order; }

Result<const RigidDef*> World::def(BodyId body) const {
  if (Status status = impl_->check(body, "def"); !status) return status.error();
  const BodyRecord& record = impl_->state.bodies[body.index];
  if (record.def) return record.def.get();
  if (record.layered_def) return invalid("def", "the body is layered: ask for its layered_def");
  return invalid("def", record.solid_def ? "the body is a solid: ask for its solid_def"
                                         : "the body is a cloth, rope or jelly: ask for its particle_def");
}

Result<BodyState> World::state(BodyId body) const {
  if (Status status = impl_->check(body, "state"); !status) return status.error();
  const BodyRecord& record = impl_->state.bodies[body.index];
  if (record.is_committed) {
    BodyState state = impl_->with_engine(body.index, [&](const auto& engine) { return engine.state(body.index); });
    state.opacity = impl_->opacity(record);
    return state;
  }
  if (record.def) return initial_state(*record.def);
  if (record.solid_def) return initial_state(*record.solid_def);
  if (record.layered_def) return initial_state(*record.layered_def);
  return std::visit([](const auto& def) { return initial_state(def); }, *record.particle_def);
}

Result<JointState> World::state(JointId joint) const {
  if (Status status = impl_->check(joint, "state"); !status) return status.error();
  return impl_->state.joints[joint.index].is_committed ? impl_->rigid.joint_state(joint.index) : JointState{};
}

std::optional<std::size_t> World::island(BodyId body) const {
  if (!contains(body) || body.index >= impl_->awake_island_of.size()) return {};
  const std::uint32_t island = impl_->awake_island_of[body.index];
  const bool is_known = impl_->state.bodies[body.index].is_committed && island != RigidEngine::kNoIsland;
  return is_known ? std::optional<std::size_t>(island) : std::nullopt;
}

Status World::set_transform(BodyId body, const Transform& world_from_body) {
  return impl_->queue(body, "set_transform", is_finite(world_from_body),
                      edit::SetTransform{body.index, world_from_body});
}

Status World::set_velocity(BodyId body, Vec3 velocity, Vec3 angular_velocity) {
  if (Status status = impl_->check(body, "set_velocity"); !status) return status;
  if (impl_->state.bodies[body.index].motion() == Motion::Static) {
    return impl_->refuse(invalid("set_velocity", "the body is static"));
  }
  return impl_->queue(body, "set_velocity", is_finite(velocity) && is_finite(angular_velocity),
                      edit::SetVelocity{body.index, velocity, angular_velocity});
}

Status World::move_to(BodyId body, const Transform& world_from_body) {
  if (Status status = impl_->check(body, "move_to"); !status) return status;
  if (impl_->state.bodies[body.index].motion() != Motion::Kinematic) {
    return impl_->refuse(invalid("move_to", "the body is not kinematic; use set_transform or forces"));
  }
  return impl_->queue(body, "move_to", is_finite(world_from_body), edit::MoveTo{body.index, world_from_body});
}

Status World::apply_force(BodyId body, Vec3 force) {
  return impl_->queue_push(body, "apply_force", is_finite(force), edit::Push{.slot = body.index, .linear = force});
}

Status World::apply_force(BodyId body, Vec3 force, Vec3 point) {
  return impl_->queue_push(body, "apply_force", is_finite(force) && is_finite(point),
                           edit::Push{.slot = body.index, .linear = force, .point = point});
}

Status World::apply_torque(BodyId body, Vec3 torque) {
  return impl_->queue_push(body, "apply_torque", is_finite(torque), edit::Push{.slot = body.index, .angular = torque});
}

Status World::apply_impulse(BodyId body, Vec3 impulse) {
  return impl_->queue_push(body, "apply_impulse", is_finite(impulse),
                           edit::Push{.slot = body.index, .linear = impulse, .is_impulse = true});
}

Status World::apply_impulse(BodyId body, Vec3 impulse, Vec3 point) {
  return impl_->queue_push(body, "apply_impulse", is_finite(impulse) && is_finite(point),
                           edit::Push{.slot = body.index, .linear = impulse, .point = point, .is_impulse = true});
}

Status World::apply_angular_impulse(BodyId body, Vec3 angular_impulse) {
  return impl_->queue_push(body, "apply_angular_impulse", is_finite(angular_impulse),
                           edit::Push{.slot = body.index, .angular = angular_impulse, .is_impulse = true});
}

Status World::explode(const Explosion& explosion) {
  if (!is_finite(explosion.center) || !std::isfinite(explosion.impulse_per_area) || !(explosion.radius > 0) ||
      !std::isfinite(explosion.radius)) {
    return impl_->refuse(invalid("explode", "centre and strength must be finite, the radius finite and positive"));
  }
  impl_->edits.push_back(edit::Explode{explosion});
  return {};
}

Status World::set_motor(JointId joint, const Motor& motor) {
  if (Status status = impl_->check(joint, "set_motor"); !status) return status;
  const JointDef& def = *impl_->state.joints[joint.index].def;
  if (!def.motor) {
    return impl_->refuse(invalid("set_motor", "the joint was made without a motor; give it one of strength 0"));
  }
  if (!std::isfinite(motor.speed) || !(motor.strength >= 0)) {
    return impl_->refuse(invalid("set_motor", "the speed must be finite and the strength 0 or more"));
  }
  impl_->edits.push_back(edit::SetMotor{joint.index, motor});
  return {};
}

Status World::set_friction(BodyId body, float friction) {
  if (!(friction >= 0)) return impl_->refuse(invalid("set_friction", "the friction must be 0 or more"));
  return impl_->queue(body, "set_friction", std::isfinite(friction),
                      edit::SetNumber{body.index, edit::SetNumber::What::Friction, friction});
}

Status World::set_restitution(BodyId body, float restitution) {
  if (Status status = impl_->check(body, "set_restitution"); !status) return status;
  if (!impl_->state.bodies[body.index].def) {
    return impl_->refuse(invalid("set_restitution", "only rigid bodies have a restitution"));
  }
  if (!(restitution >= 0 && restitution <= 1)) {
    return impl_->refuse(invalid("set_restitution", "the restitution must be from 0 to 1"));
  }
  return impl_->queue(body, "set_restitution", true,
                      edit::SetNumber{body.index, edit::SetNumber::What::Restitution, restitution});
}

Status World::set_gravity_scale(BodyId body, float scale) {
  return impl_->queue(body, "set_gravity_scale", std::isfinite(scale),
                      edit::SetNumber{body.index, edit::SetNumber::What::GravityScale, scale});
}

Status World::set_filter(BodyId body, CollisionFilter filter) {
  return impl_->queue(body, "set_filter", true, edit::SetFilter{body.index, filter});
}

Status World::set_gravity(Vec3 gravity) {
  if (!is_finite(gravity)) return impl_->refuse(invalid("set_gravity", "gravity must be finite"));
  impl_->edits.push_back(edit::SetGravity{gravity});
  return {};
}

Status World::wake(BodyId body) { return impl_->queue(body, "wake", true, edit::SetAwake{body.index, true}); }
Status World::put_to_sleep(BodyId body) {
  return impl_->queue(body, "put_to_sleep", true, edit::SetAwake{body.index, false});
}
Status World::release_from_quarantine(BodyId body) {
  return impl_->queue(body, "release_from_quarantine", true, edit::Release{body.index});
}

const StepReport& World::step() { return step(impl_->state.def.dt); }

const StepReport& World::step(float dt) {
  if (!(dt >= kShortestStep && dt <= kLongestStep)) {
    impl_->report.errors.push_back(invalid("step", "dt must be from 1e-6 to 1 s; nothing was simulated"));
    return impl_->report;
  }
  impl_->step(dt);
  return impl_->report;
}

void World::commit_edits() { impl_->commit_edits(); }

const WorldDef& World::def() const { return impl_->state.def; }
const StepReport& World::report() const { return impl_->report; }
double World::time() const { return impl_->state.time; }
std::uint64_t World::hash() const { return impl_->hash(); }

Events World::events() const {
  return {.contacts = impl_->contacts(),
          .touch_begins = impl_->touch_begins,
          .touch_ends = impl_->touch_ends,
          .joint_breaks = impl_->joint_breaks,
          .anchor_breaks = impl_->anchor_breaks,
          .tears = impl_->tears,
          .cracks = impl_->cracks,
          .break_offs = impl_->break_offs,
          .retirements = impl_->retirements,
          .quarantines = impl_->quarantines,
          .fell_asleep = impl_->fell_asleep,
          .woke_up = impl_->woke_up};
}

Snapshot World::snapshot() {
  impl_->commit_edits();
  auto data = std::make_shared<Snapshot::Data>();
  data->state = impl_->state;
  data->rigid = impl_->rigid.snapshot();
  data->solid = impl_->solid.snapshot();
  data->particle = impl_->particle.snapshot();
  data->layered = impl_->layered.snapshot();
  Snapshot snapshot;
  snapshot.data_ = std::move(data);
  return snapshot;
}

Status World::restore(const Snapshot& snapshot) {
  if (snapshot.is_empty()) return impl_->refuse(invalid("restore", "the snapshot is empty"));
  impl_->edits.clear();
  impl_->state = snapshot.data_->state;
  impl_->rigid.restore(*snapshot.data_->rigid);
  impl_->solid.restore(*snapshot.data_->solid);
  impl_->particle.restore(*snapshot.data_->particle);
  impl_->layered.restore(*snapshot.data_->layered);
  impl_->waking.clear();
  impl_->awake_island_of.clear();  // they are those of a step that now never was
  impl_->queries_stale = true;
  return {};
}

void World::record_trace(bool on) {
  if (on && !impl_->trace) impl_->trace = std::make_unique<Trace>();
  if (!on) impl_->trace.reset();
}

std::string World::trace_json() const { return impl_->trace ? impl_->trace->to_json() : Trace{}.to_json(); }

}  // namespace pliant
