// Edits of solids and of the nodes of all bodies that have some: checking, queueing and carrying them out.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "world/world_impl.h"

namespace pliant {

/// What is done to nodes of a solid that broke is done in all its pieces, where the selection means places or names.
/// False if none of them has such nodes.
bool World::Impl::queue_in_family(BodyId id, const char* call, const NodeSelection& nodes, bool numbers_are_finite,
                                  const edit::Nodes& edit) {
  if (std::holds_alternative<NodeList>(nodes) || std::holds_alternative<NearestNodes>(nodes)) return false;
  bool found = false;
  for (const BodyId member : family(id)) {
    const auto selected = pliant::select_nodes(state.bodies[member.index].solid_def->mesh, nodes);
    if (!selected) continue;
    edit::Nodes own = edit;
    own.slot = member.index;
    own.nodes = *selected;
    found |= queue(member, call, numbers_are_finite, std::move(own)).ok();
  }
  return found;
}

Result<BodyId> World::Impl::add_solid(const SolidDef& def) {
  if (Status status = check_def(def); !status) {
    Error error = status.error();
    error.field = error.field.empty() ? "add" : "add: " + error.field;
    return refuse(std::move(error));
  }
  SolidDef own = def;
  own.solver = solver_of(def.solver, def.material, def.region_materials);
  auto shared_def = std::make_shared<const SolidDef>(std::move(own));
  const BodyId id = make_body({.solid_def = shared_def, .allow_sleep = def.allow_sleep});
  edits.push_back(edit::AddSolid{id, std::make_unique<SolidBody>(std::move(shared_def))});
  return id;
}

Status World::Impl::check_solid(BodyId id, const char* call) {
  if (Status status = check(id, call); !status) return status;
  const BodyRecord& record = state.bodies[id.index];
  if (record.solid_def) return {};
  return refuse({.message = fmt::format("{} is not a solid", record.label()), .field = call});
}

Status World::Impl::check_nodes(BodyId id, const char* call) {
  if (Status status = check(id, call); !status) return status;
  const BodyRecord& record = state.bodies[id.index];
  if (!record.def) return {};
  return refuse({.message = fmt::format("{} is rigid: it has no nodes", record.label()), .field = call});
}

std::span<const Vec3> World::Impl::rest_nodes(const BodyRecord& record) const {
  if (record.solid_def) return record.solid_def->mesh.nodes;
  if (record.layered_def) return record.layered_def->atlas.surface.vertices;
  // Tearing adds nodes.
  return record.is_committed ? particle.model(record.id.index).rest : record.particle_model->rest;
}

Result<std::vector<std::uint32_t>> World::Impl::selected_nodes(BodyId id, const NodeSelection& nodes,
                                                               const char* call) {
  if (Status status = check_nodes(id, call); !status) return status.error();
  const BodyRecord& record = state.bodies[id.index];
  Result<std::vector<std::uint32_t>> selected = record.solid_def ? pliant::select_nodes(record.solid_def->mesh, nodes)
                                                                 : pliant::select_nodes(rest_nodes(record), nodes);
  if (selected) return selected;
  Error error = selected.error();
  error.field = call;
  return refuse(std::move(error));
}

Status World::Impl::queue_nodes(BodyId id, const char* call, const NodeSelection& nodes, bool numbers_are_finite,
                                edit::Nodes edit) {
  if (Status status = check_nodes(id, call); !status) return status;
  if (state.bodies[id.index].origin && queue_in_family(id, call, nodes, numbers_are_finite, edit)) return {};
  Result<std::vector<std::uint32_t>> selected = selected_nodes(id, nodes, call);
  if (!selected) return selected.error();
  if (state.bodies[id.index].layered_def && edit.what != edit::Nodes::What::Force) return refuse(not_held(id, call));
  const bool drives = edit.what == edit::Nodes::What::DriveTo || edit.what == edit::Nodes::What::DriveAt;
  if (drives && !can_be_driven(id, *selected)) {
    return refuse({.message = fmt::format("none of the nodes of {} that are selected is held, and only held ones can "
                                          "be driven; `hold` them first",
                                          state.bodies[id.index].label()),
                   .field = call});
  }
  edit.slot = id.index;
  edit.nodes = std::move(*selected);
  return queue(id, call, numbers_are_finite, std::move(edit));
}

bool World::Impl::can_be_driven(BodyId id, std::span<const std::uint32_t> nodes) {
  const BodyRecord& record = state.bodies[id.index];
  // What a crack let go is driven in vain by nobody's fault.
  if (record.solid_def && record.solid_def->fracture.lets_go) return true;
  commit_edits();
  return with_held_engine(id.index, [&](auto& engine) {
    return std::any_of(nodes.begin(), nodes.end(), [&](std::uint32_t node) { return engine.is_held(id.index, node); });
  });
}

std::span<const Face> World::Impl::surface_faces(BodyId id) {
  const BodyRecord& record = state.bodies[id.index];
  // Tearing changes them, as it does the nodes.
  if (record.particle_model) return record.is_committed ? particle.faces(id.index) : record.particle_model->faces;
  if (record.layered_def) return record.layered_def->atlas.surface.faces;
  commit_edits();  // a solid's surface is found when it comes into the engine
  return solid.faces(id.index);
}

Status World::Impl::queue_surface_load(BodyId id, const char* call, float pressure, Vec3 traction,
                                       const NodeSelection& nodes) {
  if (Status status = check_nodes(id, call); !status) return status;
  edit::Nodes load{.slot = id.index, .what = edit::Nodes::What::SurfaceLoad, .vector = traction, .number = pressure};
  const bool is_good = std::isfinite(pressure) && is_finite(traction);
  if (state.bodies[id.index].origin && queue_in_family(id, call, nodes, is_good, load)) return {};
  Result<std::vector<std::uint32_t>> selected = selected_nodes(id, nodes, call);
  if (!selected) return selected.error();
  if (const auto loaded = select_faces(surface_faces(id), *selected); !loaded) {
    Error error = loaded.error();
    error.field = call;
    return refuse(std::move(error));
  }
  load.nodes = std::move(*selected);
  return queue(id, call, is_good, std::move(load));
}

void World::Impl::apply(const edit::AddSolid& edit) {
  solid.add_body(edit.id, std::move(edit.body));
  if (state.bodies[edit.id.index].id == edit.id) state.bodies[edit.id.index].is_committed = true;
}

void World::Impl::apply(const edit::Nodes& edit) {
  using What = edit::Nodes::What;
  wake(edit.slot);
  if (layered.has(edit.slot)) {
    if (edit.what == What::Force) layered.add_node_force(edit.slot, edit.nodes, edit.vector);
    if (edit.what == What::SurfaceLoad) layered.add_surface_load(edit.slot, edit.nodes, edit.number, edit.vector);
    return;
  }
  if (edit.what == What::Strength) return solid.set_strength_factor(edit.slot, edit.nodes, edit.number);
  with_held_engine(edit.slot, [&](auto& engine) {
    switch (edit.what) {
      case What::Hold:
        return engine.hold(edit.slot, edit.nodes, true);
      case What::Release:
        return engine.hold(edit.slot, edit.nodes, false);
      case What::DriveTo:
        return engine.drive(edit.slot, edit.nodes, edit.transform);
      case What::DriveAt:
        return engine.drive(edit.slot, edit.nodes, edit.vector);
      case What::Force:
        return engine.add_node_force(edit.slot, edit.nodes, edit.vector);
      case What::SurfaceLoad:
        return engine.add_surface_load(edit.slot, edit.nodes, edit.number, edit.vector);
      case What::Strength:
        return;  // of solids alone, above
    }
  });
}

void World::Impl::apply(const edit::SetNodes& edit) {
  wake(edit.slot);
  with_node_engine(edit.slot, [&](auto& engine) { engine.set_nodes(edit.slot, edit.positions, edit.velocities); });
}

template <typename Engine>
void World::Impl::push_nodes(Engine& engine, const edit::Push& edit) {
  if (engine.is_frozen(edit.slot)) return;
  wake(edit.slot);
  if (edit.point) {
    edit.is_impulse ? engine.add_impulse_at(edit.slot, edit.linear, *edit.point)
                    : engine.add_force_at(edit.slot, edit.linear, *edit.point);
  } else {
    edit.is_impulse ? engine.add_impulse(edit.slot, edit.linear, edit.angular)
                    : engine.add_force(edit.slot, edit.linear, edit.angular);
  }
}
template void World::Impl::push_nodes(SolidEngine&, const edit::Push&);
template void World::Impl::push_nodes(ParticleEngine&, const edit::Push&);
template void World::Impl::push_nodes(LayeredEngine&, const edit::Push&);

Result<BodyId> World::add(const SolidDef& def) { return impl_->add_solid(def); }

Result<const SolidDef*> World::solid_def(BodyId body) const {
  if (Status status = impl_->check(body, "solid_def"); !status) return status.error();
  const BodyRecord& record = impl_->state.bodies[body.index];
  if (record.solid_def) return record.solid_def.get();
  return Error{.message = "the body is not a solid", .field = "solid_def"};
}

Error World::Impl::not_held(BodyId id, const char* call) const {
  return {.code = Error::Code::Unsupported,
          .message = fmt::format("{} is layered: its nodes cannot be held; fix its core, or hold it by springs",
                                 state.bodies[id.index].label()),
          .field = call};
}

Result<std::span<const Vec3>> World::node_positions(BodyId body) const {
  if (Status status = impl_->check_nodes(body, "node_positions"); !status) return status.error();
  impl_->commit_edits();
  return impl_->with_node_engine(body.index, [&](auto& engine) { return engine.node_positions(body.index); });
}

Result<std::span<const Vec3>> World::node_velocities(BodyId body) const {
  if (Status status = impl_->check_nodes(body, "node_velocities"); !status) return status.error();
  impl_->commit_edits();
  return impl_->with_node_engine(body.index, [&](auto& engine) { return engine.node_velocities(body.index); });
}

Result<std::span<const Face>> World::surface_faces(BodyId body) const {
  if (Status status = impl_->check_nodes(body, "surface_faces"); !status) return status.error();
  return impl_->surface_faces(body);
}

Result<std::vector<std::uint32_t>> World::select_nodes(BodyId body, const NodeSelection& nodes) const {
  return impl_->selected_nodes(body, nodes, "select_nodes");
}

Result<std::span<const std::array<std::uint32_t, 2>>> World::rope_segments(BodyId body) const {
  if (Status status = impl_->check_nodes(body, "rope_segments"); !status) return status.error();
  impl_->commit_edits();
  using Segments = std::span<const std::array<std::uint32_t, 2>>;
  return impl_->particle.has(body.index) ? impl_->particle.segments(body.index) : Segments{};
}

Result<GasState> World::gas(BodyId body) const {
  if (Status status = impl_->check_nodes(body, "gas"); !status) return status.error();
  impl_->commit_edits();
  if (impl_->particle.has(body.index)) {
    if (const std::optional<GasState> state = impl_->particle.gas(body.index)) return *state;
  }
  return Error{.message = fmt::format("{} holds no gas", impl_->state.bodies[body.index].label()), .field = "gas"};
}

Result<std::vector<float>> World::tet_values(BodyId body, TetValue value) const {
  if (Status status = impl_->check_solid(body, "tet_values"); !status) return status.error();
  impl_->commit_edits();
  return impl_->solid.tet_values(body.index, value);
}

Result<Vec3> World::held_force(BodyId body, const NodeSelection& nodes) const {
  const Result<std::vector<std::uint32_t>> selected = impl_->selected_nodes(body, nodes, "held_force");
  if (!selected) return selected.error();
  if (impl_->state.bodies[body.index].layered_def) return impl_->refuse(impl_->not_held(body, "held_force"));
  impl_->commit_edits();
  return impl_->with_held_engine(body.index, [&](auto& engine) { return engine.held_force(body.index, *selected); });
}

Status World::hold(BodyId body, const NodeSelection& nodes) {
  return impl_->queue_nodes(body, "hold", nodes, true, {.slot = 0, .what = edit::Nodes::What::Hold});
}
Status World::release(BodyId body, const NodeSelection& nodes) {
  return impl_->queue_nodes(body, "release", nodes, true, {.slot = 0, .what = edit::Nodes::What::Release});
}
Status World::drive(BodyId body, const NodeSelection& nodes, const Transform& world_from_mesh) {
  return impl_->queue_nodes(body, "drive", nodes, is_finite(world_from_mesh),
                            {.slot = 0, .what = edit::Nodes::What::DriveTo, .transform = world_from_mesh});
}
Status World::drive(BodyId body, const NodeSelection& nodes, Vec3 velocity) {
  return impl_->queue_nodes(body, "drive", nodes, is_finite(velocity),
                            {.slot = 0, .what = edit::Nodes::What::DriveAt, .vector = velocity});
}
Status World::apply_node_force(BodyId body, const NodeSelection& nodes, Vec3 force) {
  return impl_->queue_nodes(body, "apply_node_force", nodes, is_finite(force),
                            {.slot = 0, .what = edit::Nodes::What::Force, .vector = force});
}
Status World::apply_pressure(BodyId body, float pressure, const NodeSelection& nodes) {
  return impl_->queue_surface_load(body, "apply_pressure", pressure, {}, nodes);
}
Status World::apply_traction(BodyId body, Vec3 traction, const NodeSelection& nodes) {
  return impl_->queue_surface_load(body, "apply_traction", 0, traction, nodes);
}

Status World::set_strength_factor(BodyId body, const NodeSelection& nodes, float factor) {
  constexpr const char* kCall = "set_strength_factor";
  if (Status status = impl_->check_solid(body, kCall); !status) return status;
  if (!(factor > 0)) return impl_->refuse({.message = "the factor must be greater than 0", .field = kCall});
  return impl_->queue_nodes(body, kCall, nodes, std::isfinite(factor),
                            {.slot = 0, .what = edit::Nodes::What::Strength, .number = factor});
}

Result<std::vector<float>> World::strength_factors(BodyId body) const {
  if (Status status = impl_->check_solid(body, "strength_factors"); !status) return status.error();
  impl_->commit_edits();
  return impl_->solid.strength_factors(body.index);
}

Status World::set_nodes(BodyId body, std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  if (Status status = impl_->check_nodes(body, "set_nodes"); !status) return status;
  const std::size_t count = impl_->rest_nodes(impl_->state.bodies[body.index]).size();
  if (positions.size() != count || (!velocities.empty() && velocities.size() != count)) {
    return impl_->refuse({.message = fmt::format("{} positions and {} velocities were given for {} nodes",
                                                 positions.size(), velocities.size(), count),
                          .field = "set_nodes"});
  }
  const auto all_finite = [](std::span<const Vec3> list) {
    return std::all_of(list.begin(), list.end(), [](Vec3 v) { return is_finite(v); });
  };
  return impl_->queue(
      body, "set_nodes", all_finite(positions) && all_finite(velocities),
      edit::SetNodes{body.index, {positions.begin(), positions.end()}, {velocities.begin(), velocities.end()}});
}

}  // namespace pliant
