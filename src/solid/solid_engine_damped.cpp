// Damped contacts of solids: the rows that overlaps make, and how far fast solids go.
//
// Parker and O'Brien 2009, section 6. The force between two tets that overlap is −φ r̂ (r · v) at the overlap's centre,
// implicit, so that its part of the matrix between nodes i and j is φ r̂ rᵀ b_i b_j. Dynamic friction is damping too:
// F = M G μ |r̂_y| α against the tangential velocity w, where M is the mass of the island, G gravity and α the overlap's
// share of the volume of all overlaps. F over the present |w| is the coefficient, so the matrix stays symmetric.
//
// Static friction, below a speed of kStaticSpeed, is the paper's controller with its proportional part in the matrix,
// an integral of all that it gave so far, bounded by F, and no derivative part: implicit damping needs none. It starts
// anew when contact breaks or the speed rises.
#include <algorithm>
#include <cmath>

#include "solid/solid_engine_entry.h"

namespace pliant {
namespace {

/// m/s. Slower than this bodies stick.
constexpr float kStaticSpeed = 0.02f;

Vec3 across(Vec3 v, Vec3 normal) { return v - normal * dot(v, normal); }

}  // namespace

/// The island that an overlap belongs to; a body in quarantine is in none, and does not give way.
SolidEngine::Island* SolidEngine::island_of(const SolidOverlap& overlap) const {
  Island* of_a = place_of_[overlap.a.body.index].island;
  return of_a ? of_a : place_of_[overlap.b.body.index].island;
}

IslandRowEnd SolidEngine::overlap_end(const Island& island, const OverlapSide& side) const {
  IslandRowEnd end;
  if (place_of_[side.body.index].island != &island) return end;
  end.member = place_of_[side.body.index].member;
  end.count = 4;
  const SolidLayout& layout = entry(side.body.index).body->layout();
  for (std::size_t k = 0; k < 4; ++k) end.slots[k] = layout.slot_of_node[side.nodes[k]];
  end.weights = side.weights;
  return end;
}

Vec3 SolidEngine::velocity_of(const OverlapSide& side) const {
  Vec3 v;
  for (std::size_t k = 0; k < 4; ++k) v += entry(side.body.index).body->velocity(side.nodes[k]) * side.weights[k];
  return v;
}

void SolidEngine::add_overlap_rows(Vec3 gravity, float dt) {
  if (overlaps_.overlaps().empty()) return;
  for (std::size_t i = 0; i < used_islands_; ++i) {
    Island& island = *islands_[i];
    island.mass = island.overlap = 0;
    for (const std::uint32_t slot : island.solids) island.mass += entry(slot).body->mass();
    for (const std::uint32_t rigid : island.rigids) {
      island.mass += 1 / static_cast<double>(shared_->bodies[rigid].motion.inverse_mass);
    }
  }
  for (const SolidOverlap& overlap : overlaps_.overlaps()) {
    Island* island = island_of(overlap);
    if (island) island->overlap += static_cast<double>(overlap.volume);
  }
  for (std::uint32_t i = 0; i < overlaps_.overlaps().size(); ++i) add_overlap_row(i, gravity, dt);
}

void SolidEngine::add_overlap_row(std::uint32_t index, Vec3 gravity, float dt) {
  const SolidOverlap& overlap = overlaps_.overlaps()[index];
  Island* island = island_of(overlap);
  if (!island) return;
  IslandRow row;
  row.a = overlap_end(*island, overlap.a);
  row.b = overlap_end(*island, overlap.b);
  row.damped = true;
  row.normal = overlap.normal;
  row.penalty = dt * contact_damping_ * overlap.area;
  const double share = static_cast<double>(overlap.volume) / island->overlap;
  // Not μ but the most that friction may give, N s.
  row.friction = dt * overlap.friction * std::abs(dot(gravity, overlap.normal)) * float(island->mass * share);
  const float slip = length(across(velocity_of(overlap.a) - velocity_of(overlap.b), overlap.normal));
  row.slide = row.penalty > 0 ? row.friction / std::max(slip, kStaticSpeed) / row.penalty : 0;
  const MeetingMemory* before = find_meeting(overlap.a.body, overlap.b.body, overlap.key);
  if (before && slip < kStaticSpeed) row.held = across(before->impulse, overlap.normal);
  island->sources.push_back({RowSource::Overlap, 0, index});
  island->solver.add_row(row);
}

void SolidEngine::finish_overlap(const Island& island, const SolidOverlap& overlap, const IslandRow& row) {
  const Vec3 impulse = island.solver.impulse(row);
  // Of an overlap so deep that its normals cancel, the size.
  const float depth = std::min(overlap.volume / overlap.area, std::cbrt(overlap.volume));
  note_contact(overlap.a.body, overlap.b.body, overlap.point, overlap.normal, depth, impulse);
  Vec3 held = across(impulse, row.normal);
  const float size = length(held);
  if (size > row.friction) held = held * (row.friction / size);
  // Also those that hold nothing: who sleeps remembers by them with whom.
  meeting_memory_.push_back({overlap.a.body, overlap.b.body, overlap.key, held});
}

void SolidEngine::find_free_shares(float dt) {
  for (const std::uint32_t slot : slots_) {
    if (entry(slot).is_active()) entry(slot).set_stale();
  }
  list_surfaces();
  free_shares_.assign(surfaces_.size(), 1);
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    if (surfaces_[i].is_active) free_shares_[i] = overlaps_.free_share(surfaces_, i, dt);
  }
}

}  // namespace pliant
