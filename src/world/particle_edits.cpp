// Edits of cloth, rope, jelly and their anchors: checking, queueing and carrying them out.
#include <cmath>

#include <fmt/format.h>

#include "world/world_impl.h"

namespace pliant {

Result<BodyId> World::Impl::add_particle(ParticleDef def) {
  if (Status status = check_def(def); !status) {
    Error error = status.error();
    error.field = error.field.empty() ? "add" : "add: " + error.field;
    return refuse(std::move(error));
  }
  auto model = std::make_shared<const ParticleModel>(std::visit([](const auto& d) { return build_model(d); }, def));
  auto shared_def = std::make_shared<const ParticleDef>(std::move(def));
  const BodyId id = make_body(
      {.particle_def = shared_def, .particle_model = model, .allow_sleep = common_of(*shared_def).allow_sleep});
  edits.push_back(edit::AddParticle{id, std::move(shared_def), std::move(model)});
  return id;
}

Result<AnchorId> World::Impl::add_anchor(const AnchorDef& def) {
  if (Status status = check_def(def); !status) return refuse(status.error());
  if (Status status = check(def.body, "add"); !status) return status.error();
  if (!state.bodies[def.body.index].particle_def) {
    return refuse({.message = fmt::format("{} is not a cloth, rope or jelly: only their nodes can be anchored",
                                          state.bodies[def.body.index].label()),
                   .field = "add: body"});
  }
  bool is_tie = false;
  if (!def.to.is_null()) {
    if (Status status = check(def.to, "add"); !status) return status.error();
    const BodyRecord& to = state.bodies[def.to.index];
    is_tie = to.particle_def != nullptr;
    if (to.layered_def) {
      return refuse({.code = Error::Code::Unsupported,
                     .message = fmt::format("{} is layered: nodes are anchored to the world, to rigid bodies, to "
                                            "solids and to cloth, rope and jelly",
                                            to.label()),
                     .field = "add: to"});
    }
  }
  if (def.to_nodes && !is_tie) {
    return refuse({.message = "only a cloth, rope or jelly has nodes to choose from", .field = "add: to_nodes"});
  }
  if (def.to == def.body && !def.to_nodes) {
    return refuse({.message = "the nearest point of a body to its own node is that node: `to_nodes` must say which",
                   .field = "add: to_nodes"});
  }
  Result<std::vector<std::uint32_t>> nodes = selected_nodes(def.body, def.nodes, "add: nodes");
  if (!nodes) return nodes.error();
  std::vector<std::uint32_t> to_nodes;
  if (def.to_nodes) {
    Result<std::vector<std::uint32_t>> selected = selected_nodes(def.to, *def.to_nodes, "add: to_nodes");
    if (!selected) return selected.error();
    to_nodes = std::move(*selected);
    if (to_nodes.empty()) return refuse({.message = "no node is selected", .field = "add: to_nodes"});
  }
  const AnchorId id = state.anchor_ids.acquire();
  if (state.anchors.size() <= id.index) state.anchors.resize(id.index + 1);
  auto shared_def = std::make_shared<const AnchorDef>(def);
  state.anchors[id.index] = {.id = id, .def = shared_def};
  state.anchor_order.push_back(id);
  edits.push_back(edit::AddAnchor{id, std::move(shared_def), std::move(*nodes), std::move(to_nodes)});
  return id;
}

void World::Impl::apply(const edit::AddParticle& edit) {
  particle.add_body(edit.id, edit.def, edit.model);
  if (state.bodies[edit.id.index].id == edit.id) state.bodies[edit.id.index].is_committed = true;
}

void World::Impl::apply(const edit::AddAnchor& edit) {
  const AnchorDef& def = *edit.def;
  if (!def.to.is_null() && solid.has(def.to.index)) {
    std::vector<SolidPoint> points;
    for (const std::uint32_t node : edit.nodes) {
      points.push_back(solid.nearest_point(def.to.index, particle.node_positions(def.body.index)[node]));
    }
    particle.add_solid_tie(edit.id, def.body.index, edit.nodes, def.to, points, def.break_force);
  } else if (!def.to.is_null() && particle.has(def.to.index)) {
    particle.add_tie(edit.id, def.body.index, edit.nodes, def.to, edit.to_nodes, def.break_force);
  } else {
    const Transform world_from_rigid = def.to.is_null() ? Transform{} : rigid.state(def.to.index).world_from_body;
    particle.add_anchor(edit.id, def.body.index, edit.nodes, def.to, world_from_rigid, def.break_force);
  }
  if (state.anchors[edit.id.index].id == edit.id) state.anchors[edit.id.index].is_committed = true;
  wake(def.body.index);
  if (!def.to.is_null()) wake(def.to.index);
}

void World::Impl::apply(const edit::RemoveAnchor& edit) {
  particle.wake_anchored(edit.slot, [&](std::uint32_t slot) { wake(slot); });
  particle.remove_anchor(edit.slot);
}

Result<BodyId> World::add(const ClothDef& def) { return impl_->add_particle(def); }
Result<BodyId> World::add(const RopeDef& def) { return impl_->add_particle(def); }
Result<BodyId> World::add(const JellyDef& def) { return impl_->add_particle(def); }
Result<AnchorId> World::add(const AnchorDef& def) { return impl_->add_anchor(def); }

Status World::remove(AnchorId anchor) {
  if (Status status = impl_->check(anchor, "remove"); !status) return status;
  impl_->forget(anchor);
  impl_->edits.push_back(edit::RemoveAnchor{anchor.index});
  return {};
}

bool World::contains(AnchorId anchor) const { return impl_->state.anchor_ids.contains(anchor); }

AnchorId World::find_anchor(std::string_view name) const {
  for (const AnchorId id : impl_->state.anchor_order) {
    if (impl_->state.anchors[id.index].def->name == name) return id;
  }
  return {};
}

Result<const ParticleDef*> World::particle_def(BodyId body) const {
  if (Status status = impl_->check(body, "particle_def"); !status) return status.error();
  const BodyRecord& record = impl_->state.bodies[body.index];
  if (record.particle_def) return record.particle_def.get();
  return Error{.message = "the body is not a cloth, rope or jelly", .field = "particle_def"};
}

Result<AnchorState> World::state(AnchorId anchor) const {
  if (Status status = impl_->check(anchor, "state"); !status) return status.error();
  const bool is_committed = impl_->state.anchors[anchor.index].is_committed;
  return is_committed ? impl_->particle.anchor_state(anchor.index) : AnchorState{};
}

Status World::set_wind(Vec3 wind) {
  if (!is_finite(wind)) return impl_->refuse({.message = "the wind must be finite", .field = "set_wind"});
  impl_->edits.push_back(edit::SetWind{wind});
  return {};
}

}  // namespace pliant
