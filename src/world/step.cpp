// The step: the whole engine on one page. Stages are serial; what is parallel is inside them.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "world/world_impl.h"

namespace pliant {

void World::Impl::step(float dt) {
  const Stopwatch total;
  report = {};
  // Runs a stage and notes how long it took.
  const auto stage = [&](Stage which, auto&& run) {
    const ScopedTimer timer(report.times.ms[static_cast<std::size_t>(which)], trace.get(), stage_name(which));
    run();
  };

  // Bodies, joints, forces and deletions queued since the last step. Ids are born and die only here.
  stage(Stage::CommitEdits, [&] { commit_edits(); });
  // Small pieces whose time has come turn rigid or go; those that came loose in the last step become bodies.
  stage(Stage::AdoptFragments, [&] { retire_small_pieces(), adopt_fragments(), begin_step(dt); });
  const int count = substeps(dt);
  const float h = dt / static_cast<float>(count);
  for (int substep = 0; substep < count; ++substep) {
    // Every awake body alone: where it is heading. One that cannot be simulated is taken out before others meet it.
    stage(Stage::Predict, [&] { predict(h); });
    // Broad phase, then narrow, along the motion just predicted.
    stage(Stage::FindContacts, [&] { find_contacts(h); });
    // Contacts and joints join bodies into islands; a sleeper in one that is awake, or that is pushed, wakes.
    stage(Stage::BuildRows, [&] { build_rows(), wake_touched(h); });
    // The only stage where bodies feel each other.
    stage(Stage::SolveIslands, [&] { solve_islands(h), break_joints(), break_anchors(h); });
    // Constrained velocities become positions.
    stage(Stage::Advance, [&] { advance(h); });
    // Plastic flow; what was pulled too hard tears or cracks. What a crack means for the motion, the next step shows.
    stage(Stage::SettleMaterials, [&] { settle_materials(h); });
  }
  // A non-finite body is rolled back, frozen and reported.
  stage(Stage::Quarantine, [&] { quarantine_lost(); });
  // Islands that were calm for long enough fall asleep whole.
  stage(Stage::RestIslands, [&] { rest_islands(dt); });
  // Events, sums, the state hash.
  state.step += 1;
  state.time += static_cast<double>(dt);
  stage(Stage::Publish, [&] { publish(); });
  report.times.total_ms = total.ms();
}

void World::Impl::begin_step(float dt) {
  touch_begins.clear(), touch_ends.clear(), joint_breaks.clear(), anchor_breaks.clear(), tears.clear();
  cracks.clear(), quarantines.clear(), fell_asleep.clear();
  rigid.begin_step(dt);
  solid.begin_step(dt);
  particle.begin_step(dt);
  layered.begin_step(dt);
}

int World::Impl::substeps(float dt) const {
  // A thousandth less, so that a step of 1/60 s is four of 1/240 s and not five.
  const int needed = static_cast<int>(std::ceil(0.999f * dt / particle.longest_substep()));
  return std::max(state.def.substeps, needed);
}

void World::Impl::predict(float dt) {
  rigid.predict(dt);
  scratch_slots.clear();
  rigid.find_runaways(scratch_slots);
  for (const std::uint32_t slot : scratch_slots) quarantine(slot, "its speed or acceleration is beyond all bounds");
  if (solid.slots().empty() && particle.slots().empty() && layered.slots().empty()) return;
  list_obstacles(dt);
  scratch_slots.clear();
  solid.find_pushed_sleepers(obstacles, scratch_slots);
  particle.find_pushed_sleepers(obstacles, scratch_slots);
  layered.find_pushed_sleepers(obstacles, scratch_slots);
  for (const std::uint32_t slot : scratch_slots) wake(slot);
  solid.predict(state.def.wind, dt);
  particle.predict(state.def.gravity, state.def.wind, dt);
}

/// All rigid bodies, as bodies of nodes see them.
void World::Impl::list_obstacles(float dt) {
  obstacles.clear();
  for (const std::uint32_t slot : rigid.slots()) {
    const BodyState body = rigid.state(slot);
    const std::shared_ptr<const RigidDef>& def = state.bodies[slot].def;
    const bool moves = !(body.velocity == Vec3{} && body.angular_velocity == Vec3{});
    const float reach = dt * (length(body.velocity) + length(body.angular_velocity) * length(body.bounds.size()));
    obstacles.push_back({.id = state.bodies[slot].id,
                         .shape = {def, &def->shape},
                         .world_from_shape = body.world_from_body,
                         .velocity = body.velocity,
                         .angular_velocity = body.angular_velocity,
                         .center_of_mass = body.center_of_mass,
                         .bounds = moves ? body.bounds.expanded(reach) : body.bounds,
                         .friction = rigid.friction(slot),
                         .filter = rigid.filter(slot),
                         .moves = moves,
                         .is_dynamic = rigid.is_dynamic(slot)});
  }
}

void World::Impl::find_contacts(float dt) {
  rigid.find_contacts(dt);
  layered.find_contacts(obstacles, state.def.gravity, dt);
  place_solid_ties(dt);
  solid.find_contacts(obstacles, other_surfaces(), state.def.gravity, dt);
  particle.find_contacts(obstacles, dt);
}

/// Where nodes are tied to solids. They do not also collide with these.
void World::Impl::place_solid_ties(float dt) {
  particle.list_solid_points(solid_points);
  solid.place(solid_points);
  particle.place_solid_ties(solid_points, dt);
  solid.set_tied(particle.tied_to_solids());
}

std::span<const BodySurface> World::Impl::other_surfaces() {
  met_surfaces.clear();
  // Planes have no corners and edges.
  const auto is_plane = [](const Obstacle& obstacle) { return std::holds_alternative<Plane>(*obstacle.shape); };
  const bool is_alone = layered.slots().size() + solid.slots().size() + particle.slots().size() == 1 &&
                        std::all_of(obstacles.begin(), obstacles.end(), is_plane);
  if (!layered.slots().empty() && !is_alone) {
    const std::span<const BodySurface> skins = layered.list_surfaces();
    met_surfaces.assign(skins.begin(), skins.end());
  }
  if (particle.slots().empty() || (solid.slots().empty() && layered.slots().empty())) return met_surfaces;
  const std::span<const BodySurface> open = particle.list_surfaces();
  met_surfaces.insert(met_surfaces.end(), open.begin(), open.end());
  return met_surfaces;
}

void World::Impl::build_rows() {
  islands.reset(state.bodies.size());
  const auto link = [](void* self, std::uint32_t a, std::uint32_t b) { static_cast<Islands*>(self)->link(a, b); };
  rigid.for_each_link(link, &islands);
  particle.for_each_link(link, &islands);
  // What a sleeping solid remembers may be gone, or may have become fixed.
  const auto link_if_dynamic = [](void* self, BodyId a, BodyId b) {
    Impl& world = *static_cast<Impl*>(self);
    if (world.gives_way(a) && world.gives_way(b)) world.islands.link(a.index, b.index);
  };
  solid.for_each_link(link_if_dynamic, this);
  particle.for_each_solid_link(link_if_dynamic, this);
  layered.for_each_link(link_if_dynamic, this);
  dynamic_members.clear();
  for (const std::uint32_t slot : rigid.dynamic_slots()) dynamic_members.push_back(slot);
  for (const std::uint32_t slot : particle.slots()) dynamic_members.push_back(slot);
  for (const std::uint32_t slot : solid.slots()) {
    if (solid.is_dynamic(slot)) dynamic_members.push_back(slot);
  }
  for (const std::uint32_t slot : layered.slots()) {
    if (layered.is_dynamic(slot)) dynamic_members.push_back(slot);
  }
  std::sort(dynamic_members.begin(), dynamic_members.end());
  islands.finish(dynamic_members);
}

bool World::Impl::gives_way(BodyId id) const {
  const bool is_alive = id.index < state.bodies.size() && state.bodies[id.index].id == id;
  return is_alive &&
         with_engine(id.index, [&](const auto& engine) { return engine.has(id.index) && engine.is_dynamic(id.index); });
}

void World::Impl::wake_touched(float dt) {
  scratch_slots.clear();
  rigid.find_pushed_sleepers(scratch_slots);
  bool some_woke = false;
  // A sleeper that wakes now has missed the prediction: without it, it would feel no gravity in this substep.
  const auto wake_and_predict = [&](std::uint32_t slot) {
    if (is_awake(slot)) return;
    wake(slot);
    if (rigid.has(slot)) rigid.predict(slot, dt);
    if (solid.has(slot)) solid.predict(slot, state.def.gravity, dt);
    if (layered.has(slot)) layered.find_contacts(slot, state.def.gravity, dt), some_woke = true;
  };
  for (const std::uint32_t slot : scratch_slots) wake_and_predict(slot);

  awake_bodies.clear();
  awake_starts.assign(1, 0);
  awake_island_of.assign(state.bodies.size(), RigidEngine::kNoIsland);
  for (std::size_t i = 0; i < islands.count(); ++i) {
    const auto bodies = islands.bodies(i);
    if (std::none_of(bodies.begin(), bodies.end(), [&](std::uint32_t slot) { return is_awake(slot); })) continue;
    for (const std::uint32_t slot : bodies) {
      wake_and_predict(slot);
      awake_island_of[slot] = static_cast<std::uint32_t>(awake_starts.size() - 1);
      awake_bodies.push_back(slot);
    }
    awake_starts.push_back(static_cast<std::uint32_t>(awake_bodies.size()));
  }
  solid.find_contacts_of_woken(other_surfaces(), some_woke, state.def.gravity, dt);
}

namespace {

/// The rows of particle bodies, as the rigid solver takes turns with them.
class ParticleTurns : public RowPartner {
 public:
  ParticleTurns(ParticleEngine& engine, float dt) : engine_(engine), dt_(dt) {}
  std::span<const std::uint32_t> slots() const override { return engine_.rigid_slots(); }
  void begin(std::span<RigidBodyMotion> motions) override { engine_.begin_solve(motions, dt_); }
  void round(std::span<RigidBodyMotion> motions) override { engine_.solve_round(motions, dt_); }
  void end(std::span<RigidBodyMotion> motions) override { engine_.end_solve(motions, dt_); }

 private:
  ParticleEngine& engine_;
  float dt_;
};

}  // namespace

void World::Impl::solve_islands(float dt) {
  set_solid_islands_apart();
  for (const RigidPush& push : solid.pushes()) {
    if (is_in_turn(push.body)) rigid.push_in_substep(push.body.index, push.impulse / dt, push.moment / dt);
  }
  solid.list_open_rows(open_rows);
  particle.take_solid_rows(open_rows);
  find_guests();
  ParticleTurns turns(particle, dt);
  rigid.solve({.bodies = other_islands.bodies,
               .starts = other_islands.starts,
               .island_of = awake_island_of,
               .sharing = sharing},
              dt, particle.has_awake_bodies() ? &turns : nullptr);
  shared_guests.count = 0;
  if (solid_islands.count() > 0) solve_solid_islands(dt);
  if (particle.has_awake_bodies()) particle.note_solved(dt);
  layered.solve_alone(state.def.gravity, dt);
}

/// Which cloth, rope and jelly the islands of solids solve whole.
void World::Impl::find_guests() {
  masses.assign(state.bodies.size(), 0.0f);
  for (const PointContact& row : open_rows) {
    float& mass = masses[row.other.index];
    if (mass > 0) continue;
    mass = solid.has(row.other.index) ? static_cast<float>(solid.body(row.other.index).mass())
                                      : layered.state(row.other.index).mass;
  }
  scratch_slots.assign(solid_islands.bodies.begin(), solid_islands.bodies.end());
  std::sort(scratch_slots.begin(), scratch_slots.end());
  particle.find_guests(scratch_slots, masses);
}

void World::Impl::solve_solid_islands(float dt) {
  particle.share(shared_nodes, dt);
  rigid.share(sharing, dt, shared_rows);
  for (const RigidPush& push : solid.pushes()) {
    if (!is_in_turn(push.body)) continue;
    const auto is_before = [](const SharedRigid& rigid_body, BodyId id) { return rigid_body.slot < id.index; };
    RigidBodyMotion& motion =
        std::lower_bound(shared_rows.bodies.begin(), shared_rows.bodies.end(), push.body, is_before)->motion;
    motion.velocity -= push.impulse * motion.inverse_mass;
    motion.angular_velocity -= motion.inverse_inertia * push.moment;
  }
  find_pressed();
  scratch_slots.assign(solid_islands.bodies.begin(), solid_islands.bodies.end());
  std::sort(scratch_slots.begin(), scratch_slots.end());
  layered.share(scratch_slots, shared_rows.bodies, pressed_nodes, state.def.gravity, dt, shared_guests);
  find_floors(dt);
  particle.share_guests(shared_guests, dt);
  solid.solve({.bodies = solid_islands.bodies,
               .starts = solid_islands.starts,
               .shared = &shared_rows,
               .nodes = &shared_nodes,
               .guests = &shared_guests,
               .floors = floors},
              state.def.gravity, dt);
  rigid.take_back(shared_rows, dt);
  particle.take_back(shared_nodes);
  particle.take_back_guests(shared_guests);
  layered.take_back(shared_guests, dt);
}

/// Nodes of layered bodies that other surfaces touch.
void World::Impl::find_pressed() {
  pressed_nodes.clear();
  if (layered.slots().empty()) return;
  const auto add = [&](const MeetingSide& side, Vec3 velocity) {
    if (!layered.has(side.body.index)) return;
    for (std::uint32_t k = 0; k < side.count; ++k) pressed_nodes.push_back({side.body, side.nodes[k], velocity});
  };
  for (const SolidMeeting& meeting : solid.meetings()) {
    add(meeting.a, meeting.velocity_b), add(meeting.b, meeting.velocity_a);
  }
  std::stable_sort(pressed_nodes.begin(), pressed_nodes.end(),
                   [](const auto& a, const auto& b) { return a.body != b.body ? a.body < b.body : a.node < b.node; });
}

/// Skins that are pressed flat pass the load on to their cores. That of two skins is the cores' both ways: each against
/// the other's skin, and against the other.
void World::Impl::find_floors(float dt) {
  floors.clear();
  if (layered.slots().empty()) return;
  const auto view = [&](const MeetingSide& side, Vec3 normal) -> std::optional<LayeredBody::CoreView> {
    if (side.count == 0 || !layered.has(side.body.index) || !layered.is_awake(side.body.index)) return std::nullopt;
    return layered.body(side.body.index)
        .view_of_core({side.nodes.data(), side.count}, {side.weights.data(), side.count}, normal);
  };
  for (const SolidMeeting& meeting : solid.meetings()) {
    if (meeting.b_is_open) continue;
    const auto a = view(meeting.a, meeting.normal), b = view(meeting.b, -meeting.normal);
    const auto add = [&](bool of_a, bool of_b) {
      SolidMeeting floor = meeting;
      if (of_a) floor.gap += a->further, floor.velocity_a = a->velocity, floor.a.is_core = true;
      if (of_b) floor.gap += b->further, floor.velocity_b = b->velocity, floor.b.is_core = true;
      const float closing = dot(floor.velocity_b - floor.velocity_a, floor.normal);
      if (floor.gap <= dt * std::max(closing, 0.0f)) floors.push_back(floor);
    };
    if (a) add(true, false);
    if (b) add(false, true);
    if (a && b) add(true, true);
  }
}

bool World::Impl::is_in_turn(BodyId id) const {
  return gives_way(id) && rigid.has(id.index) && sharing[id.index] == Sharing::InTurn;
}

/// Islands with solids are solved by their engine, rigid bodies and all; so are those of layered bodies that touch
/// something that gives way, or whose skins meet with more than nodes. Where these also carry cloth, rope or jelly
/// the two take turns: the rows of particle bodies first, while what the solids did to the rigid bodies in the last
/// substep acts on them as a force; then the solids, without it.
void World::Impl::set_solid_islands_apart() {
  solid_islands.clear(), other_islands.clear();
  scratch_slots.clear();
  for (const SolidMeeting& meeting : solid.meetings()) scratch_slots.push_back(meeting.a.body.index);
  std::sort(scratch_slots.begin(), scratch_slots.end());
  const auto has_met = [&](std::uint32_t slot) {
    return std::binary_search(scratch_slots.begin(), scratch_slots.end(), slot);
  };
  sharing.assign(state.bodies.size(), Sharing::Own);
  for (std::size_t i = 0; i + 1 < awake_starts.size(); ++i) {
    const std::span<const std::uint32_t> bodies(awake_bodies.data() + awake_starts[i],
                                                awake_starts[i + 1] - awake_starts[i]);
    const auto holds = [&](const auto& engine) {
      return std::any_of(bodies.begin(), bodies.end(), [&](std::uint32_t slot) { return engine.has(slot); });
    };
    const bool has_solids = holds(solid) || (holds(layered) && (bodies.size() > 1 || has_met(bodies[0])));
    const bool is_other = !has_solids || holds(particle);
    for (const std::uint32_t slot : bodies) {
      if (has_solids) sharing[slot] = is_other ? Sharing::InTurn : Sharing::Elsewhere;
      awake_island_of[slot] = is_other ? static_cast<std::uint32_t>(other_islands.count()) : RigidEngine::kNoIsland;
    }
    if (is_other) other_islands.add(bodies);
    if (has_solids) solid_islands.add(bodies);
  }
}

void World::Impl::break_joints() {
  const std::size_t before = joint_breaks.size();
  rigid.find_broken_joints(joint_breaks);
  for (std::size_t i = before; i < joint_breaks.size(); ++i) {
    const JointId id = joint_breaks[i].joint;
    forget(id);
    apply(edit::RemoveJoint{id.index});
  }
}

void World::Impl::break_anchors(float dt) { particle.find_broken_anchors(dt, anchor_breaks); }

void World::Impl::advance(float dt) {
  rigid.advance(dt);
  solid.advance(dt);
  particle.advance(dt);
  layered.advance(dt);
}

void World::Impl::settle_materials(float dt) {
  solid.settle(dt);
  solid.fracture(cracks);
  particle.settle(dt, tears);
  layered.settle(dt);
}

void World::Impl::quarantine_lost() {
  scratch_slots.clear();
  rigid.find_lost(scratch_slots);
  solid.find_lost(scratch_slots);
  particle.find_lost(scratch_slots);
  layered.find_lost(scratch_slots);
  for (const std::uint32_t slot : scratch_slots) {
    quarantine(slot, "its position or velocity is not finite or beyond all bounds");
  }
  rigid.end_step();
  solid.end_step();
  particle.end_step();
  layered.end_step();
}

void World::Impl::quarantine(std::uint32_t slot, std::string reason) {
  with_engine(slot, [&](auto& engine) { engine.freeze(slot); });
  state.bodies[slot].calm_time = 0;
  quarantines.push_back({state.bodies[slot].id, std::move(reason)});
}

void World::Impl::rest_islands(float dt) {
  if (!state.def.allow_sleep) return;
  for (const std::uint32_t slot : awake_bodies) {
    BodyRecord& body = state.bodies[slot];
    const bool calm = body.allow_sleep && is_calm(slot);
    body.calm_time = calm ? body.calm_time + dt : 0;
  }
  for (std::size_t i = 0; i + 1 < awake_starts.size(); ++i) {
    const auto begin = awake_bodies.begin() + awake_starts[i], end = awake_bodies.begin() + awake_starts[i + 1];
    const bool rests = std::all_of(
        begin, end, [&](std::uint32_t slot) { return state.bodies[slot].calm_time >= state.def.sleep_delay; });
    if (!rests) continue;
    for (auto slot = begin; slot != end; ++slot) {
      with_engine(*slot, [&](auto& engine) { engine.set_awake(*slot, false); });
      fell_asleep.push_back(state.bodies[*slot].id);
    }
  }
}

bool World::Impl::is_calm(std::uint32_t slot) const {
  if (rigid.has(slot)) return rigid.is_calm(slot, state.def.sleep_speed, state.def.sleep_angular_speed);
  if (layered.has(slot)) return layered.is_calm(slot, state.def.sleep_speed);
  return solid.has(slot) ? solid.is_calm(slot, state.def.sleep_speed) : particle.is_calm(slot, state.def.sleep_speed);
}

}  // namespace pliant
