// Checking, queueing and carrying out edits.
#include "world/edits.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "world/world_impl.h"

namespace pliant {
namespace {

Error in_call(const char* call, const Error& cause) {
  Error error = cause;
  error.field = cause.field.empty() ? call : fmt::format("{}: {}", call, cause.field);
  return error;
}

template <typename IdType>
Error stale(const IdPool<IdType>& pool, IdType id, const char* what, const char* call) {
  Error error;
  error.code = Error::Code::StaleId;
  error.field = call;
  if (id.is_null()) {
    error.message = fmt::format("the {} id is null", what);
  } else if (pool.was_released(id)) {
    error.message = fmt::format("{} {} (generation {}) is gone: it was removed", what, id.index, id.generation);
  } else {
    error.message = fmt::format("{} {} (generation {}) never was in this world", what, id.index, id.generation);
  }
  return error;
}

Error invalid(const char* call, std::string message) {
  Error error;
  error.field = call;
  error.message = std::move(message);
  return error;
}

template <typename IdType>
void erase_id(std::vector<IdType>& ids, IdType id) {
  ids.erase(std::find(ids.begin(), ids.end(), id));
}

}  // namespace

std::string BodyRecord::label() const {
  return name().empty() ? fmt::format("body {} (generation {})", id.index, id.generation)
                        : fmt::format("body '{}'", name());
}

Error World::Impl::refuse(Error error) {
  refused.push_back(error);
  return error;
}

Status World::Impl::check(BodyId id, const char* call) {
  if (state.body_ids.contains(id)) return {};
  return refuse(stale(state.body_ids, id, "body", call));
}

Status World::Impl::check(JointId id, const char* call) {
  if (state.joint_ids.contains(id)) return {};
  return refuse(stale(state.joint_ids, id, "joint", call));
}

Status World::Impl::check(AnchorId id, const char* call) {
  if (state.anchor_ids.contains(id)) return {};
  return refuse(stale(state.anchor_ids, id, "anchor", call));
}

Status World::Impl::queue(BodyId id, const char* call, bool numbers_are_finite, Edit edit) {
  if (Status status = check(id, call); !status) return status;
  if (!numbers_are_finite) return refuse(invalid(call, "every number must be finite"));
  edits.push_back(std::move(edit));
  return {};
}

Status World::Impl::queue_push(BodyId id, const char* call, bool numbers_are_finite, Edit edit) {
  if (Status status = check(id, call); !status) return status;
  const BodyRecord& record = state.bodies[id.index];
  if (record.motion() != Motion::Dynamic) {
    return refuse(invalid(call, fmt::format("{} is not dynamic: forces do not move it", record.label())));
  }
  return queue(id, call, numbers_are_finite, std::move(edit));
}

Result<BodyId> World::Impl::add_rigid(const RigidDef& def) {
  if (Status status = check_def(def); !status) return refuse(in_call("add", status.error()));
  Result<std::shared_ptr<const RigidShape>> shape = make_rigid_shape(def);
  if (!shape) return refuse(in_call("add", shape.error()));

  auto shared_def = std::make_shared<const RigidDef>(def);
  const BodyId id = make_body({.def = shared_def, .allow_sleep = def.allow_sleep});
  edits.push_back(edit::AddBody{id, std::move(shared_def), std::move(*shape)});
  return id;
}

BodyId World::Impl::make_body(BodyRecord record) {
  record.id = state.body_ids.acquire();
  if (state.bodies.size() <= record.id.index) state.bodies.resize(record.id.index + 1);
  state.body_order.push_back(record.id);
  const BodyId id = record.id;
  state.bodies[id.index] = std::move(record);
  return id;
}

Result<JointId> World::Impl::add_joint(const JointDef& def) {
  if (Status status = check_def(def); !status) return refuse(in_call("add", status.error()));
  for (const BodyId id : {def.a, def.b}) {
    if (id.is_null()) continue;
    if (Status status = check(id, "add"); !status) return status.error();
    if (!state.bodies[id.index].def) {
      return refuse({.code = Error::Code::Unsupported,
                     .message = fmt::format("{} is not rigid: joints are for rigid bodies; {} instead",
                                            state.bodies[id.index].label(),
                                            state.bodies[id.index].layered_def ? "hold its core by springs"
                                            : state.bodies[id.index].solid_def ? "hold its nodes"
                                                                               : "anchor its nodes"),
                     .field = "add"});
    }
  }
  const JointId id = state.joint_ids.acquire();
  if (state.joints.size() <= id.index) state.joints.resize(id.index + 1);
  auto shared_def = std::make_shared<const JointDef>(def);
  state.joints[id.index] = {.id = id, .def = shared_def};
  state.joint_order.push_back(id);
  edits.push_back(edit::AddJoint{id, std::move(shared_def)});
  return id;
}

void World::Impl::forget(BodyId id) {
  for (std::size_t i = state.joint_order.size(); i-- > 0;) {
    const JointId joint = state.joint_order[i];
    const JointDef& def = *state.joints[joint.index].def;
    if (!(def.a == id) && !(def.b == id)) continue;
    forget(joint);
    edits.push_back(edit::RemoveJoint{joint.index});
  }
  for (std::size_t i = state.anchor_order.size(); i-- > 0;) {
    const AnchorId anchor = state.anchor_order[i];
    const AnchorDef& def = *state.anchors[anchor.index].def;
    if (!(def.body == id) && !(def.to == id)) continue;
    forget(anchor);
    edits.push_back(edit::RemoveAnchor{anchor.index});
  }
  state.body_ids.release(id);
  erase_id(state.body_order, id);
  state.bodies[id.index] = {};
}

void World::Impl::forget(JointId id) {
  state.joint_ids.release(id);
  erase_id(state.joint_order, id);
  state.joints[id.index] = {};
}

void World::Impl::forget(AnchorId id) {
  state.anchor_ids.release(id);
  erase_id(state.anchor_order, id);
  state.anchors[id.index] = {};
}

void World::Impl::commit_edits() {
  // In the order given; an edit may add nothing to the queue, so the list is stable.
  for (const Edit& edit : edits) std::visit([&](const auto& what) { apply(what); }, edit);
  if (!edits.empty()) queries_stale = true;
  edits.clear();
}

// While edits are carried out, a slot's record may already belong to a body that a later edit of the queue adds; what
// the engine has in the slot is what counts.

void World::Impl::wake(std::uint32_t slot) {
  with_engine(slot, [&](auto& engine) {
    if (!engine.is_dynamic(slot)) return;
    state.bodies[slot].calm_time = 0;
    if (engine.is_awake(slot)) return;
    engine.set_awake(slot, true);
    waking.push_back(engine.id(slot));
  });
}

void World::Impl::wake_jointed(std::uint32_t joint_slot) {
  for (const BodyId id : rigid.jointed_bodies(joint_slot)) {
    if (!id.is_null()) wake(id.index);
  }
}

void World::Impl::wake_neighbours(std::uint32_t slot) {
  scratch_slots.clear();
  const BodyId id = with_engine(slot, [&](const auto& engine) { return engine.id(slot); });
  // What a solid remembers of a body may be of one that is gone.
  solid.wake_touching(id, [&](BodyId other) {
    const auto is_there = [&](const auto& engine) {
      return engine.has(other.index) && engine.id(other.index) == other;
    };
    if (with_engine(other.index, is_there)) wake(other.index);
  });
  if (layered.has(slot)) return;
  if (!rigid.has(slot)) return particle.wake_touching(slot, [&](std::uint32_t other) { wake(other); });
  rigid.find_touching(slot, scratch_slots);
  for (const std::uint32_t neighbour : scratch_slots) wake(neighbour);
  for (const std::uint32_t other : solid.slots()) {
    if (solid.touches(other, rigid.id(slot))) wake(other);
  }
  for (const std::uint32_t other : particle.slots()) {
    if (particle.touches(other, rigid.id(slot))) wake(other);
  }
  for (const std::uint32_t other : layered.slots()) {
    if (layered.touches(other, rigid.id(slot))) wake(other);
  }
}

void World::Impl::apply(const edit::AddBody& edit) {
  rigid.add_body(edit.id, *edit.def, edit.shape);
  if (state.bodies[edit.id.index].id == edit.id) state.bodies[edit.id.index].is_committed = true;
  if (edit.def->start_asleep && rigid.is_dynamic(edit.id.index)) rigid.set_awake(edit.id.index, false);
}

void World::Impl::apply(const edit::RemoveBody& edit) {
  wake_neighbours(edit.slot);
  with_engine(edit.slot, [&](auto& engine) { engine.remove_body(edit.slot); });
}

void World::Impl::apply(const edit::AddJoint& edit) {
  rigid.add_joint(edit.id, *edit.def);
  if (state.joints[edit.id.index].id == edit.id) state.joints[edit.id.index].is_committed = true;
  wake_jointed(edit.id.index);
}

void World::Impl::apply(const edit::RemoveJoint& edit) {
  wake_jointed(edit.slot);
  rigid.remove_joint(edit.slot);
}

void World::Impl::apply(const edit::SetTransform& edit) {
  wake_neighbours(edit.slot);
  with_engine(edit.slot, [&](auto& engine) { engine.set_transform(edit.slot, edit.world_from_body); });
  wake(edit.slot);
}

void World::Impl::apply(const edit::SetVelocity& edit) {
  wake(edit.slot);
  with_engine(edit.slot, [&](auto& engine) { engine.set_velocity(edit.slot, edit.velocity, edit.angular_velocity); });
}

void World::Impl::apply(const edit::MoveTo& edit) { rigid.move_to(edit.slot, edit.world_from_body); }

void World::Impl::apply(const edit::Push& edit) {
  if (particle.has(edit.slot)) return push_nodes(particle, edit);
  if (solid.has(edit.slot)) return push_nodes(solid, edit);
  if (layered.has(edit.slot)) return push_nodes(layered, edit);
  if (rigid.is_frozen(edit.slot)) return;
  wake(edit.slot);
  Vec3 angular = edit.angular;
  if (edit.point) angular += cross(*edit.point - rigid.state(edit.slot).center_of_mass, edit.linear);
  if (edit.is_impulse) {
    rigid.add_impulse(edit.slot, edit.linear, angular);
  } else {
    rigid.add_force(edit.slot, edit.linear, angular);
  }
}

void World::Impl::apply(const edit::Explode& edit) {
  const Explosion& explosion = edit.explosion;
  for (const std::uint32_t slot : rigid.dynamic_slots()) {
    const BodyState body = rigid.state(slot);
    const Vec3 away = body.center_of_mass - explosion.center;
    const float distance = length(away);
    if (distance >= explosion.radius) continue;
    const Vec3 direction = normalized(away, {0, 1, 0});
    // The area a box shows in a direction is the sum of its faces', each foreshortened.
    const Vec3 size = body.bounds.size();
    const float area = std::abs(direction.x) * size.y * size.z + std::abs(direction.y) * size.x * size.z +
                       std::abs(direction.z) * size.x * size.y;
    const float strength = explosion.impulse_per_area * (1 - distance / explosion.radius);
    wake(slot);
    rigid.add_impulse(slot, direction * (strength * area), {});
  }
  const auto explode_nodes = [&](auto& engine) {
    for (const std::uint32_t slot : engine.slots()) {
      if (engine.is_frozen(slot)) continue;
      const Aabb box = engine.bounds(slot);
      const Vec3 nearest = max_each(box.lower, min_each(explosion.center, box.upper));
      if (length(nearest - explosion.center) >= explosion.radius) continue;
      wake(slot);
      engine.explode(slot, explosion);
    }
  };
  explode_nodes(solid);
  explode_nodes(particle);
  explode_nodes(layered);
}

void World::Impl::apply(const edit::SetMotor& edit) {
  rigid.set_motor(edit.joint_slot, edit.motor);
  wake_jointed(edit.joint_slot);
}

void World::Impl::apply(const edit::SetNumber& edit) {
  using What = edit::SetNumber::What;
  with_engine(edit.slot, [&](auto& engine) {
    if (edit.what == What::Friction) engine.set_friction(edit.slot, edit.value);
    if (edit.what == What::GravityScale) engine.set_gravity_scale(edit.slot, edit.value);
  });
  if (edit.what == What::Restitution && rigid.has(edit.slot)) rigid.set_restitution(edit.slot, edit.value);
  wake(edit.slot);
  wake_neighbours(edit.slot);
}

void World::Impl::apply(const edit::SetFilter& edit) {
  wake(edit.slot);
  wake_neighbours(edit.slot);
  with_engine(edit.slot, [&](auto& engine) { engine.set_filter(edit.slot, edit.filter); });
}

void World::Impl::apply(const edit::SetGravity& edit) {
  state.def.gravity = edit.gravity;
  rigid.set_gravity(edit.gravity);
  for (const std::uint32_t slot : rigid.dynamic_slots()) wake(slot);
  for (const std::uint32_t slot : solid.slots()) wake(slot);
  for (const std::uint32_t slot : particle.slots()) wake(slot);
  for (const std::uint32_t slot : layered.slots()) wake(slot);
}

void World::Impl::apply(const edit::SetWind& edit) {
  state.def.wind = edit.wind;
  for (const std::uint32_t slot : solid.slots()) wake(slot);
  for (const std::uint32_t slot : particle.slots()) wake(slot);
}

void World::Impl::apply(const edit::SetAwake& edit) {
  if (edit.awake) return wake(edit.slot);
  with_engine(edit.slot, [&](auto& engine) {
    if (engine.is_dynamic(edit.slot)) engine.set_awake(edit.slot, false);
  });
}

void World::Impl::apply(const edit::Release& edit) {
  with_engine(edit.slot, [&](auto& engine) {
    if (engine.is_frozen(edit.slot)) engine.thaw(edit.slot);
  });
}

}  // namespace pliant
