// Islands with solids: who is solved with whom, their rows, and what became of them.
#include <algorithm>

#include "solid/solid_engine_entry.h"

namespace pliant {
namespace {

/// Nodes; below that threads wait for each other more than they work.
constexpr std::uint32_t kLarge = 600;

/// What names a meeting from substep to substep. A node that slides from face to face stays the same.
std::uint64_t memory_key(const SolidMeeting& meeting) {
  constexpr std::uint64_t kNodeOfA = std::uint64_t{1} << 62, kNodeOfB = std::uint64_t{1} << 61;
  constexpr std::uint64_t kCoreOfA = std::uint64_t{1} << 60, kCoreOfB = std::uint64_t{1} << 59;
  const std::uint64_t cores = (meeting.a.is_core ? kCoreOfA : 0) | (meeting.b.is_core ? kCoreOfB : 0);
  if (meeting.a.count == 1) return kNodeOfA | cores | meeting.a.nodes[0];
  if (meeting.b.count == 1) return kNodeOfB | cores | meeting.b.nodes[0];
  return cores | (meeting.key & (kCoreOfB - 1));
}

bool is_before(const MeetingMemory& x, const MeetingMemory& y) {
  if (x.a != y.a) return x.a < y.a;
  return x.b != y.b ? x.b < y.b : x.key < y.key;
}

}  // namespace

void SolidEngine::solve(const SharedIslands& islands, Vec3 gravity, float dt) {
  listed_ = islands;
  shared_ = islands.shared ? islands.shared : &nothing_shared_;
  nodes_ = islands.nodes ? islands.nodes : &no_nodes_;
  guests_ = islands.guests ? islands.guests : &no_guests_;
  gather_islands(gravity, dt);
  // Large islands are solved by all threads together, one after another; small ones each by one thread, side by side
  // (Parker and O'Brien 2009, section 4).
  std::uint32_t all_nodes = 0;
  for (const Job& job : jobs_) all_nodes += job.nodes;
  std::size_t next = 0;
  for (Job& job : jobs_) {
    if (job.nodes >= kLarge && 4 * job.nodes > all_nodes) {
      run(workers_, job, gravity, dt);
    } else {
      jobs_[next++] = job;
    }
  }
  jobs_.resize(next);
  parallel_for(workers_, jobs_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) run(alone_, jobs_[i], gravity, dt);
  });
  finish_islands(dt);
}

void SolidEngine::run(Workers& workers, const Job& job, Vec3 gravity, float dt) {
  if (job.island) {
    job.island->result = job.island->solver.solve(workers, dt);
    return;
  }
  Entry& solid = *job.lone;
  solid.result = solid.body->solve(workers, gravity * solid.settings.gravity_scale, dt, solid.touches);
}

/// Makes a job of each island, the largest first.
void SolidEngine::gather_islands(Vec3 gravity, float dt) {
  jobs_.clear();
  used_islands_ = 0;
  std::size_t slots = entries_.size();
  for (const std::uint32_t slot : listed_.bodies) slots = std::max<std::size_t>(slots, slot + 1);
  for (const BodySurface& surface : surfaces_) slots = std::max<std::size_t>(slots, surface.id.index + 1);
  for (const SharedRigid& rigid : shared_->bodies) slots = std::max<std::size_t>(slots, rigid.slot + 1);
  place_of_.assign(slots, {});
  guest_of_.assign(place_of_.size(), kNoRigid);
  for (std::uint32_t i = 0; i < guests_->count; ++i) guest_of_[guests_->bodies[i].id.index] = i;
  nodes_of_.assign(place_of_.size(), kNoRigid);
  for (std::uint32_t i = 0; i < nodes_->count; ++i) nodes_of_[nodes_->bodies[i].id.index] = i;
  rigid_of_.assign(place_of_.size(), kNoRigid);
  for (std::uint32_t i = 0; i < shared_->bodies.size(); ++i) rigid_of_[shared_->bodies[i].slot] = i;
  for (const SolidMeeting& meeting : meetings_.meetings()) place_of_[meeting.a.body.index].meets = true;
  for (const SolidOverlap& overlap : overlaps_.overlaps()) {
    place_of_[overlap.a.body.index].meets = place_of_[overlap.b.body.index].meets = true;
  }
  for (std::size_t i = 0; i + 1 < listed_.starts.size(); ++i) {
    const auto bodies = listed_.bodies.subspan(listed_.starts[i], listed_.starts[i + 1] - listed_.starts[i]);
    add_job(bodies, gravity);
  }
  add_rows(gravity, dt);
  std::sort(jobs_.begin(), jobs_.end(),
            [](const Job& a, const Job& b) { return a.nodes != b.nodes ? a.nodes > b.nodes : a.first < b.first; });
}

void SolidEngine::add_job(std::span<const std::uint32_t> bodies, Vec3 gravity) {
  Job job{.first = bodies.front()};
  std::size_t solids = 0, rigids = 0;
  bool meets = false;
  for (const std::uint32_t slot : bodies) {
    if (guest_of_[slot] != kNoRigid) {
      meets = true;
      job.nodes += guests_->bodies[guest_of_[slot]].nodes;
    } else if (has(slot)) {
      job.lone = &entry(slot);
      job.nodes += job.lone->body->node_count();
      meets |= place_of_[slot].meets;
      ++solids;
    } else if (rigid_of_[slot] != kNoRigid) {
      ++rigids;
    }
  }
  if (solids > 1 || rigids > 0 || meets) {
    if (used_islands_ == islands_.size()) islands_.push_back(std::make_unique<Island>());
    Island& island = *islands_[used_islands_++];
    island.solver.clear();
    island.solids.clear(), island.rigids.clear(), island.sources.clear(), island.joints.clear();
    for (const std::uint32_t slot : bodies) {
      if (!has(slot)) continue;
      const Vec3 pull = gravity * entry(slot).settings.gravity_scale;
      place_of_[slot] = {.island = &island, .member = island.solver.add_solid(*entry(slot).body, pull), .meets = true};
      island.solids.push_back(slot);
    }
    for (const std::uint32_t slot : bodies) {
      if (rigid_of_[slot] == kNoRigid) continue;
      const SharedRigid& rigid = shared_->bodies[rigid_of_[slot]];
      place_of_[slot] = {
          .island = &island,
          .member = island.solver.add_rigid({rigid.motion, rigid.velocity_before, rigid.angular_velocity_before}),
          .meets = true};
      island.rigids.push_back(rigid_of_[slot]);
    }
    for (const std::uint32_t slot : bodies) {
      if (nodes_of_[slot] == kNoRigid) continue;
      SharedNodes& nodes = nodes_->bodies[nodes_of_[slot]];
      place_of_[slot] = {.island = &island, .member = island.solver.add_nodes(nodes), .meets = true};
      job.nodes += static_cast<std::uint32_t>(nodes.nodes.size());
    }
    for (const std::uint32_t slot : bodies) {
      if (guest_of_[slot] == kNoRigid) continue;
      IslandGuest& guest = *guests_->bodies[guest_of_[slot]].guest;
      place_of_[slot] = {.island = &island, .member = island.solver.add_guest(guest), .meets = true};
    }
    job.island = &island;
    job.lone = nullptr;
  }
  jobs_.push_back(job);
}

// --- Rows ------------------------------------------------------------------------------------------------------------

void SolidEngine::add_rows(Vec3 gravity, float dt) {
  for (const std::uint32_t slot : slots_) {
    if (slot < place_of_.size() && place_of_[slot].island) add_touch_rows(slot, dt);
  }
  std::size_t open = 0;
  for (std::uint32_t i = 0; i < meetings_.meetings().size(); ++i) {
    const bool is_open = meetings_.meetings()[i].b_is_open && open < nodes_->impulses.size();
    add_meeting_row(meetings_.meetings()[i], {RowSource::Meeting, 0, i}, is_open ? nodes_->impulses[open++] : Vec3{},
                    dt);
  }
  for (std::uint32_t i = 0; i < listed_.floors.size(); ++i) {
    add_meeting_row(listed_.floors[i], {RowSource::Floor, 0, i}, {}, dt);
  }
  for (std::uint32_t i = 0; i < nodes_->count; ++i) {
    for (std::uint32_t k = 0; k < nodes_->bodies[i].rows.size(); ++k) add_node_row(i, k, dt);
  }
  for (std::uint32_t i = 0; i < guests_->count; ++i) {
    for (std::uint32_t k = 0; k < guests_->bodies[i].rows.size(); ++k) add_guest_row(i, k, dt);
    for (std::uint32_t k = 0; k < guests_->bodies[i].ties.size(); ++k) add_guest_tie(i, k);
  }
  add_overlap_rows(gravity, dt);
  for (std::uint32_t i = 0; i < shared_->points.size(); ++i) add_point_row(i, dt);
  for (std::uint32_t i = 0; i < shared_->joints.size(); ++i) add_joint_row(i);
}

/// A point of a rigid body that gives way, or of something that does not.
IslandRowEnd SolidEngine::rigid_end(const Island& island, std::uint32_t slot, Vec3 point) const {
  IslandRowEnd end;
  if (slot >= rigid_of_.size() || rigid_of_[slot] == kNoRigid || place_of_[slot].island != &island) return end;
  end.member = place_of_[slot].member;
  end.arm = point - shared_->bodies[rigid_of_[slot]].motion.center;
  return end;
}

void SolidEngine::add_touch_rows(std::uint32_t slot, float dt) {
  Entry& solid = entry(slot);
  Island& island = *place_of_[slot].island;
  for (std::uint32_t i = 0; i < solid.touches.size(); ++i) {
    const NodeTouch& touch = solid.touches[i];
    const Vec3 point = solid.body->position(touch.node) - touch.normal * touch.gap;
    IslandRow row;
    row.a.member = place_of_[slot].member;
    row.a.count = 1;
    row.a.slots[0] = solid.body->layout().slot_of_node[touch.node];
    row.a.weights[0] = 1;
    row.b = rigid_end(island, touch.other.index, point);
    row.normal = touch.normal;
    row.keep_apart(touch.gap, solid.body->slop(), dt);
    if (row.b.member == IslandRowEnd::kFixed) row.follow(touch.surface_velocity);
    row.friction = touch.friction;
    const NodeTouchMemory* before = find_touch(solid.body->state().touches, row.a.slots[0], touch.other);
    if (before) row.multiplier = project_to_cone(before->impulse, row.normal, row.friction);
    island.sources.push_back({RowSource::Touch, slot, i});
    island.solver.add_row(row);
  }
}

IslandRowEnd SolidEngine::meeting_end(const Island& island, const MeetingSide& side, Vec3 point) const {
  if (side.count == 0) return rigid_end(island, side.body.index, point);
  IslandRowEnd end;
  const std::uint32_t slot = side.body.index;
  if (slot >= place_of_.size() || place_of_[slot].island != &island) return end;
  end.member = place_of_[slot].member;
  end.count = side.count;
  if (nodes_of_[slot] != kNoRigid) {
    for (std::size_t k = 0; k < side.count; ++k) {
      end.slots[k] = nodes_->bodies[nodes_of_[slot]].place_of(side.nodes[k]);
      end.weights[k] = side.weights[k];
    }
    return end;
  }
  if (guest_of_[slot] != kNoRigid) {
    const std::uint32_t first = side.is_core ? guests_->bodies[guest_of_[slot]].nodes : 0;
    for (std::size_t k = 0; k < side.count; ++k) end.slots[k] = first + side.nodes[k], end.weights[k] = side.weights[k];
    return end;
  }
  const SolidLayout& layout = entry(side.body.index).body->layout();
  for (std::size_t k = 0; k < side.count; ++k) {
    end.slots[k] = layout.slot_of_node[side.nodes[k]];
    end.weights[k] = side.weights[k];
  }
  return end;
}

const MeetingMemory* SolidEngine::find_meeting(BodyId a, BodyId b, std::uint64_t key) const {
  const MeetingMemory wanted{a, b, key, {}};
  const auto found = std::lower_bound(meeting_memory_.begin(), meeting_memory_.end(), wanted, is_before);
  return found != meeting_memory_.end() && !is_before(wanted, *found) ? &*found : nullptr;
}

/// `felt` is the impulse that a cloth, rope or jelly has felt from it already.
void SolidEngine::add_meeting_row(const SolidMeeting& meeting, RowSource source, Vec3 felt, float dt) {
  // One of the two may have been frozen.
  Island* island = place_of_[meeting.a.body.index].island;
  if (!island) island = place_of_[meeting.b.body.index].island;
  if (!island) return;
  IslandRow row;
  row.a = meeting_end(*island, meeting.a, meeting.point);
  row.b = meeting_end(*island, meeting.b, meeting.point);
  row.normal = meeting.normal;
  row.keep_apart(meeting.gap, meeting.slop, dt);
  if (row.b.member == IslandRowEnd::kFixed) row.follow(meeting.surface_velocity);
  row.friction = meeting.friction;
  if (const MeetingMemory* before = remembered(meeting)) {
    row.multiplier = project_to_cone(before->impulse, row.normal, row.friction);
  }
  if (meeting.b_is_open && row.b.member != IslandRowEnd::kFixed) {
    row.multiplier = project_to_cone(-felt, row.normal, row.friction);
    if (guest_of_[meeting.b.body.index] == kNoRigid) row.given_b = felt;
  }
  island->sources.push_back(source);
  island->solver.add_row(row);
}

/// Contacts of shared nodes with something rigid are solved again: what presses a jelly to the ground must feel it.
void SolidEngine::add_node_row(std::uint32_t body, std::uint32_t index, float dt) {
  const SharedNodes& nodes = nodes_->bodies[body];
  const SharedNodeRow& shared = nodes.rows[index];
  Island* island = place_of_[nodes.id.index].island;
  if (!island) return;
  IslandRow row;
  row.a = {.member = place_of_[nodes.id.index].member, .count = shared.count};
  std::copy_n(shared.nodes.begin(), shared.count, row.a.slots.begin());
  std::copy_n(shared.weights.begin(), shared.count, row.a.weights.begin());
  row.given_a = shared.impulse;
  if (shared.rigid != SharedNodeRow::kFixed) row.b = rigid_end(*island, shared.rigid, shared.point);
  if (row.b.member != IslandRowEnd::kFixed) row.given_b = -shared.impulse;
  row.normal = shared.normal;
  row.target = shared.normal * contact_target(shared.gap, dt);
  if (row.b.member == IslandRowEnd::kFixed) row.follow(shared.surface_velocity);
  row.friction = shared.friction;
  row.multiplier = project_to_cone(shared.impulse, row.normal, row.friction);
  island->sources.push_back({RowSource::Node, body, index});
  island->solver.add_row(row);
}

/// A point of a guest against a rigid body that gives way.
void SolidEngine::add_guest_row(std::uint32_t body, std::uint32_t index, float dt) {
  const SharedGuest& guest = guests_->bodies[body];
  const GuestRow& shared = guest.rows[index];
  Island* island = place_of_[guest.id.index].island;
  if (!island) return;
  IslandRow row;
  row.a = {.member = place_of_[guest.id.index].member, .count = shared.count};
  std::copy_n(shared.nodes.begin(), shared.count, row.a.slots.begin());
  std::copy_n(shared.weights.begin(), shared.count, row.a.weights.begin());
  row.b = rigid_end(*island, shared.rigid, shared.point);
  row.normal = shared.normal;
  row.keep_apart(shared.gap, guest.slop, dt);
  row.friction = shared.friction;
  row.multiplier = shared.multiplier;
  island->sources.push_back({RowSource::Guest, body, index});
  island->solver.add_row(row);
}

void SolidEngine::add_guest_tie(std::uint32_t body, std::uint32_t index) {
  const SharedGuest& guest = guests_->bodies[body];
  const GuestTie& tie = guest.ties[index];
  Island* island = place_of_[guest.id.index].island;
  if (!island) return;
  IslandRow row;
  row.tied = true;
  row.a = {.member = place_of_[guest.id.index].member, .count = 1, .slots = {tie.node}, .weights = {1}};
  const std::uint32_t other = tie.other.index;
  if (tie.count == 0) {
    row.b = rigid_end(*island, other, tie.point);
  } else if (other < place_of_.size() && place_of_[other].island == island) {
    row.b = {.member = place_of_[other].member, .count = tie.count, .slots = tie.nodes, .weights = tie.weights};
    for (std::uint32_t k = 0; k < tie.count && has(other); ++k) {
      row.b.slots[k] = entry(other).body->layout().slot_of_node[tie.nodes[k]];
    }
  }
  row.normal = {0, 1, 0};  // its strength is found along it
  row.target = tie.target;
  row.multiplier = tie.impulse;
  island->sources.push_back({RowSource::Tie, body, index});
  island->solver.add_row(row);
}

const BodySurface* SolidEngine::surface_of(BodyId body) const {
  const auto at = std::lower_bound(surfaces_.begin(), surfaces_.end(), body,
                                   [](const BodySurface& surface, BodyId id) { return surface.id < id; });
  return at != surfaces_.end() && at->id == body ? &*at : nullptr;
}

void SolidEngine::list_open_rows(std::vector<PointContact>& rows) const {
  rows.clear();
  for (const SolidMeeting& meeting : meetings_.meetings()) {
    if (!meeting.b_is_open) continue;
    rows.push_back({.count = meeting.b.count,
                    .nodes = meeting.b.nodes,
                    .weights = meeting.b.weights,
                    .slot = meeting.b.body.index,
                    .other = meeting.a.body,
                    .normal = -meeting.normal,
                    .surface_velocity = meeting.velocity_a,
                    .gap = meeting.gap,
                    .friction = meeting.friction,
                    .key = meeting.key});
    const MeetingMemory* before = remembered(meeting);
    if (!before) continue;
    const Vec3 impulse = project_to_cone(-before->impulse, rows.back().normal, meeting.friction);
    rows.back().normal_impulse = dot(impulse, rows.back().normal);
    rows.back().friction_impulse = impulse - rows.back().normal * rows.back().normal_impulse;
  }
}

const MeetingMemory* SolidEngine::remembered(const SolidMeeting& meeting) const {
  return find_meeting(meeting.a.body, meeting.b.body, memory_key(meeting));
}

void SolidEngine::add_point_row(std::uint32_t index, float dt) {
  const SharedPoint& point = shared_->points[index];
  Island* island = point.a_moves ? place_of_[point.a].island : place_of_[point.b].island;
  if (!island) return;
  IslandRow row;
  row.a = rigid_end(*island, point.a, point.position);
  row.b = rigid_end(*island, point.b, point.position);
  constexpr float kRigidSlop = 5e-4f;
  row.normal = point.normal;
  row.keep_apart(point.gap, kRigidSlop, dt);
  if (point.gap <= 0) row.bounce(point.bounce);
  row.follow(point.surface_velocity);
  row.friction = point.friction;
  row.multiplier = project_to_cone(point.impulse, row.normal, row.friction);
  island->sources.push_back({RowSource::Point, 0, index});
  island->solver.add_row(row);
}

void SolidEngine::add_joint_row(std::uint32_t index) {
  const SharedJointRow& joint = shared_->joints[index];
  Island* island = place_of_[joint.a_moves ? joint.a : joint.b].island;
  if (!island) return;
  IslandJointRow row{.linear = joint.linear,
                     .angular_a = joint.angular_a,
                     .angular_b = joint.angular_b,
                     .target = joint.target,
                     .least = joint.least,
                     .most = joint.most,
                     .multiplier = std::clamp(joint.impulse, joint.least, joint.most)};
  if (joint.a_moves) row.a = place_of_[joint.a].member;
  if (joint.b_moves) row.b = place_of_[joint.b].member;
  island->joints.push_back(index);
  island->solver.add_joint_row(row);
}

// --- Afterwards ------------------------------------------------------------------------------------------------------

void SolidEngine::finish_islands(float dt) {
  // Bodies that sleep go on remembering.
  std::erase_if(meeting_memory_, [&](const MeetingMemory& memory) {
    const BodySurface* a = surface_of(memory.a);
    return !a || a->is_active;
  });
  pushes_.clear();
  for (std::size_t i = 0; i < used_islands_; ++i) finish_island(*islands_[i], dt);
  std::sort(pushes_.begin(), pushes_.end(), [](const RigidPush& x, const RigidPush& y) { return x.body < y.body; });
  std::sort(meeting_memory_.begin(), meeting_memory_.end(), is_before);
  for (const std::uint32_t slot : slots_) {
    const Entry& solid = entry(slot);
    if (!solid.is_active() || place_of_[slot].island) continue;
    report_.iterations += static_cast<std::size_t>(solid.result.iterations);
    report_.unconverged += solid.result.converged ? 0 : 1;
    report_.rows += 3 * solid.touches.size();
    note_contacts(solid);
  }
}

void SolidEngine::finish_island(Island& island, float dt) {
  report_.iterations += static_cast<std::size_t>(island.result.iterations);
  report_.unconverged += island.result.converged ? 0 : 1;
  report_.rows += 3 * island.solver.rows().size();
  for (const std::uint32_t slot : island.solids) entry(slot).body->state().touches.clear();
  for (std::size_t i = 0; i < island.rigids.size(); ++i) {
    SharedRigid& rigid = shared_->bodies[island.rigids[i]];
    const auto member = static_cast<std::uint32_t>(island.solids.size() + i);
    rigid.motion = island.solver.rigid(member);
    const Vector6 given = island.solver.given(member);
    pushes_.push_back({rigid.id, rounded(given, 0), rounded(given, 3)});
  }
  for (std::size_t i = 0; i < island.joints.size(); ++i) {
    shared_->joints[island.joints[i]].impulse = island.solver.impulse(island.solver.joint_rows()[i]);
  }
  for (std::size_t i = 0; i < island.sources.size(); ++i) {
    const RowSource& source = island.sources[i];
    const IslandRow& row = island.solver.rows()[i];
    const Vec3 impulse = island.solver.impulse(row);
    if (source.kind == RowSource::Guest) {
      GuestRow& shared = guests_->bodies[source.slot].rows[source.index];
      shared.multiplier = row.multiplier, shared.impulse = impulse;
    } else if (source.kind == RowSource::Tie) {
      guests_->bodies[source.slot].ties[source.index].impulse = impulse;
    } else if (source.kind == RowSource::Node) {
      take_node_row(nodes_->bodies[source.slot].rows[source.index], impulse);
    } else if (source.kind == RowSource::Point) {
      shared_->points[source.index].impulse = impulse;
    } else if (source.kind == RowSource::Overlap) {
      finish_overlap(island, overlaps_.overlaps()[source.index], row);
    } else if (source.kind == RowSource::Meeting || source.kind == RowSource::Floor) {
      const bool is_floor = source.kind == RowSource::Floor;
      const SolidMeeting& meeting = is_floor ? listed_.floors[source.index] : meetings_.meetings()[source.index];
      // The depth is that of the skin, which has a row of its own.
      if (!is_floor || row.active) {
        note_contact(meeting.a.body, meeting.b.body, meeting.point, row.normal, is_floor ? 0 : -meeting.gap, impulse);
      }
      if (length_squared(row.multiplier) > 0) {
        meeting_memory_.push_back({meeting.a.body, meeting.b.body, memory_key(meeting), row.multiplier});
      }
    } else {
      Entry& solid = entry(source.slot);
      const NodeTouch& touch = solid.touches[source.index];
      const Vec3 point = solid.body->position(touch.node) - touch.normal * touch.gap;
      note_contact(solid.id, touch.other, point, row.normal, -touch.gap, impulse);
      Vec3 relative = island.solver.relative_velocity(row);
      if (row.b.member == IslandRowEnd::kFixed) relative -= touch.surface_velocity;
      const float gap = touch.gap + dt * dot(relative, touch.normal);
      if (length_squared(row.multiplier) > 0 || gap < 0) {
        solid.body->state().touches.push_back({row.a.slots[0], touch.other, row.multiplier, touch.normal, gap});
      }
    }
  }
  for (const std::uint32_t slot : island.solids) {
    auto& touches = entry(slot).body->state().touches;
    std::sort(touches.begin(), touches.end(), [](const NodeTouchMemory& x, const NodeTouchMemory& y) {
      return x.slot != y.slot ? x.slot < y.slot : x.other < y.other;
    });
  }
}

/// What a row of shared nodes gave a rigid body is no push of the island's: the nodes' own rows begin with it.
void SolidEngine::take_node_row(SharedNodeRow& row, Vec3 impulse) {
  const Vec3 more = impulse - row.impulse;
  row.impulse = impulse;
  if (row.rigid == SharedNodeRow::kFixed || rigid_of_[row.rigid] == kNoRigid) return;
  const SharedRigid& rigid = shared_->bodies[rigid_of_[row.rigid]];
  for (RigidPush& push : pushes_) {
    if (!(push.body == rigid.id)) continue;
    push.impulse += more;
    push.moment += cross(row.point - rigid.motion.center, more);
  }
}

void SolidEngine::for_each_link(void (*link)(void*, BodyId, BodyId), void* context) const {
  for (const std::uint32_t slot : slots_) {
    const Entry& solid = entry(slot);
    if (solid.is_active()) {
      for (const NodeTouch& touch : solid.touches) link(context, solid.id, touch.other);
    } else {
      // Those with whom it fell asleep.
      for (const NodeTouchMemory& touch : solid.body->state().touches) link(context, solid.id, touch.other);
    }
  }
  for (const SolidMeeting& meeting : meetings_.meetings()) link(context, meeting.a.body, meeting.b.body);
  for (const SolidOverlap& overlap : overlaps_.overlaps()) link(context, overlap.a.body, overlap.b.body);
  for (const MeetingMemory& memory : meeting_memory_) link(context, memory.a, memory.b);
}

}  // namespace pliant
