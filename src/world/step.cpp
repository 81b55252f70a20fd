// The step: the whole engine on one page. Stages are serial; what is parallel is inside them.
#include <algorithm>

#include "world/world_impl.h"

namespace pliant {

void World::Impl::step(float dt) {
  const float h = dt / static_cast<float>(state.def.substeps);
  const Stopwatch total;
  report = {};
  // Runs a stage and notes how long it took.
  const auto stage = [&](Stage which, auto&& run) {
    const ScopedTimer timer(report.times.ms[static_cast<std::size_t>(which)], trace.get(), stage_name(which));
    run();
  };

  // Bodies, joints, forces and deletions queued since the last step. Ids are born and die only here.
  stage(Stage::CommitEdits, [&] { commit_edits(), begin_step(dt); });
  for (int substep = 0; substep < state.def.substeps; ++substep) {
    // Every awake body alone: where it is heading. One that cannot be simulated is taken out before others meet it.
    stage(Stage::Predict, [&] { predict(h); });
    // Broad phase, then narrow, along the motion just predicted.
    stage(Stage::FindContacts, [&] { find_contacts(h); });
    // Contacts and joints join bodies into islands; a sleeper in one that is awake, or that is pushed, wakes.
    stage(Stage::BuildRows, [&] { build_rows(), wake_touched(h); });
    // The only stage where bodies feel each other.
    stage(Stage::SolveIslands, [&] { solve_islands(h), break_joints(); });
    // Constrained velocities become positions.
    stage(Stage::Advance, [&] { advance(h); });
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
  touch_begins.clear(), touch_ends.clear(), joint_breaks.clear(), quarantines.clear();
  fell_asleep.clear();
  rigid.begin_step(dt);
}

void World::Impl::predict(float dt) {
  rigid.predict(dt);
  scratch_slots.clear();
  rigid.find_runaways(scratch_slots);
  for (const std::uint32_t slot : scratch_slots) quarantine(slot, "its speed or acceleration is beyond all bounds");
}

void World::Impl::find_contacts(float dt) { rigid.find_contacts(dt); }

void World::Impl::build_rows() {
  islands.reset(state.bodies.size());
  rigid.for_each_link([](void* self, std::uint32_t a, std::uint32_t b) { static_cast<Islands*>(self)->link(a, b); },
                      &islands);
  islands.finish(rigid.dynamic_slots());
}

void World::Impl::wake_touched(float dt) {
  scratch_slots.clear();
  rigid.find_pushed_sleepers(scratch_slots);
  // A sleeper that wakes now has missed the prediction: without it, it would feel no gravity in this substep.
  const auto wake_and_predict = [&](std::uint32_t slot) {
    if (rigid.is_awake(slot)) return;
    wake(slot);
    rigid.predict(slot, dt);
  };
  for (const std::uint32_t slot : scratch_slots) wake_and_predict(slot);

  awake_bodies.clear();
  awake_starts.assign(1, 0);
  awake_island_of.assign(state.bodies.size(), RigidEngine::kNoIsland);
  for (std::size_t i = 0; i < islands.count(); ++i) {
    const auto bodies = islands.bodies(i);
    if (std::none_of(bodies.begin(), bodies.end(), [&](std::uint32_t slot) { return rigid.is_awake(slot); })) continue;
    for (const std::uint32_t slot : bodies) {
      wake_and_predict(slot);
      awake_island_of[slot] = static_cast<std::uint32_t>(awake_starts.size() - 1);
      awake_bodies.push_back(slot);
    }
    awake_starts.push_back(static_cast<std::uint32_t>(awake_bodies.size()));
  }
}

void World::Impl::solve_islands(float dt) {
  rigid.solve({.bodies = awake_bodies, .starts = awake_starts, .island_of = awake_island_of}, dt);
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

void World::Impl::advance(float dt) { rigid.advance(dt); }

void World::Impl::quarantine_lost() {
  scratch_slots.clear();
  rigid.find_lost(scratch_slots);
  for (const std::uint32_t slot : scratch_slots) {
    quarantine(slot, "its position or velocity is not finite or beyond all bounds");
  }
  rigid.end_step();
}

void World::Impl::quarantine(std::uint32_t slot, std::string reason) {
  rigid.freeze(slot);
  state.bodies[slot].calm_time = 0;
  quarantines.push_back({state.bodies[slot].id, std::move(reason)});
}

void World::Impl::rest_islands(float dt) {
  if (!state.def.allow_sleep) return;
  for (const std::uint32_t slot : awake_bodies) {
    BodyRecord& body = state.bodies[slot];
    const bool calm = body.allow_sleep && rigid.is_calm(slot, state.def.sleep_speed, state.def.sleep_angular_speed);
    body.calm_time = calm ? body.calm_time + dt : 0;
  }
  for (std::size_t i = 0; i + 1 < awake_starts.size(); ++i) {
    const auto begin = awake_bodies.begin() + awake_starts[i], end = awake_bodies.begin() + awake_starts[i + 1];
    const bool rests = std::all_of(
        begin, end, [&](std::uint32_t slot) { return state.bodies[slot].calm_time >= state.def.sleep_delay; });
    if (!rests) continue;
    for (auto slot = begin; slot != end; ++slot) {
      rigid.set_awake(*slot, false);
      fell_asleep.push_back(state.bodies[*slot].id);
    }
  }
}

}  // namespace pliant
