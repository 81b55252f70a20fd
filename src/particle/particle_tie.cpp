// Nodes tied to points of other bodies of nodes.
#include <algorithm>
#include <limits>

#include "geometry/primitives.h"
#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Points that are apart are drawn together no faster than this.
constexpr float kDrawSpeed = 5;  // m/s
/// Turns of tied bodies in each round: what one chain pulls reaches the next only through the light nodes between them,
/// so it takes many; no more than so many rows' worth of them.
constexpr std::size_t kMostTurns = 16, kRowsOfTurns = 2000;

}  // namespace

/// The point of the surface, or of the rope, that is nearest.
TiePoint ParticleEngine::nearest_point(const Body& b, Vec3 point) const {
  float best = std::numeric_limits<float>::max();
  TiePoint nearest;
  const auto place = [&](std::uint32_t node) { return x_[b.first + node].xyz(); };
  const std::vector<Face>& faces = b.model->faces;
  for (std::uint32_t i = 0; i < faces.size(); ++i) {
    const TrianglePoint near = closest_on_triangle(point, place(faces[i][0]), place(faces[i][1]), place(faces[i][2]));
    if (near.squared_distance < best) best = near.squared_distance, nearest = {i, false, near.weights};
  }
  const auto& segments = b.model->segments;
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    const SegmentPoints near = closest_of_segments(point, point, place(segments[i][0]), place(segments[i][1]));
    if (near.squared_distance < best) best = near.squared_distance, nearest = {i, false, {1 - near.t, near.t, 0}};
  }
  return nearest;
}

std::array<std::uint32_t, 3> ParticleEngine::corners(const Body& b, const TiePoint& point) const {
  if (point.is_node) return {b.first + point.index, b.first + point.index, b.first + point.index};
  if (b.model->faces.empty()) {
    const auto& segment = b.model->segments[point.index];
    return {b.first + segment[0], b.first + segment[1], b.first + segment[1]};
  }
  const Face& face = b.model->faces[point.index];
  return {b.first + face[0], b.first + face[1], b.first + face[2]};
}

void ParticleEngine::add_tie(AnchorId id, std::uint32_t slot, std::span<const std::uint32_t> nodes, BodyId to,
                             std::span<const std::uint32_t> to_nodes, float break_force) {
  auto anchor = std::make_unique<Anchor>();
  anchor->id = id, anchor->slot = slot, anchor->to = to, anchor->is_tie = true, anchor->break_force = break_force;
  const Body &b = body(slot), &other = body(to.index);
  for (const std::uint32_t node : nodes) {
    const Vec3 x = x_[b.first + node].xyz();
    AnchorNode tied{node, x};
    if (to_nodes.empty()) {
      tied.point = nearest_point(other, x);
    } else {
      float best = std::numeric_limits<float>::max();
      for (const std::uint32_t candidate : to_nodes) {
        const float distance = length_squared(x_[other.first + candidate].xyz() - x);
        if (distance >= best || (to.index == slot && candidate == node)) continue;
        best = distance, tied.point = {candidate, true, {1, 0, 0}};
      }
      if (!tied.point.is_node) continue;  // nothing but itself to choose from
    }
    anchor->nodes.push_back(tied);
  }
  if (anchors_.size() <= id.index) anchors_.resize(id.index + 1);
  anchors_[id.index] = std::move(anchor);
}

void ParticleEngine::place_tie(std::uint32_t anchor_slot, float h) {
  const Anchor& anchor = *anchors_[anchor_slot];
  const Body &b = body(anchor.slot), &other = body(anchor.to.index);
  if (!b.is_active() && !other.is_active()) return;
  if (b.settings.frozen || other.settings.frozen) return;
  for (std::uint32_t k = 0; k < anchor.nodes.size(); ++k) {
    const AnchorNode& node = anchor.nodes[k];
    const std::uint32_t i = b.first + node.node;
    const std::array<std::uint32_t, 3> at = corners(other, node.point);
    const Vec3 weights = node.point.weights;
    Vec3 place{};
    for (std::size_t c = 0; c < 3; ++c) place += x_[at[c]].xyz() * weights[c];
    Vec3 target = (place - x_[i].xyz()) / h;
    target *= std::min(1.0f, kDrawSpeed / std::max(length(target), 1e-12f));
    tie_rows_.push_back({.nodes = {i, at[0], at[1], at[2]},
                         .slots = {anchor.slot, anchor.to.index},
                         .weights = {1, -weights.x, -weights.y, -weights.z},
                         .anchor = anchor_slot,
                         .index = k,
                         .target = target,
                         .impulse = {}});
    ties_.emplace_back(i, anchor.to);
    for (std::size_t c = 0; c < 3; ++c) {
      if (weights[c] > 0) ties_.emplace_back(at[c], b.id);
    }
  }
}

/// Around a tie the two bodies do not also collide.
void ParticleEngine::drop_tied_contacts() {
  if (tie_rows_.empty()) return;
  meetings_.drop([&](const FeatureContact& row) {
    const Body &a = body(row.slots[0]), &b = body(row.slots[1]);
    return std::any_of(row.nodes.begin(), row.nodes.end(), [&](std::uint32_t node) {
      const bool is_of_a = node >= a.first && node < a.first + a.count;
      return is_tied(node, is_of_a ? b.id : a.id);
    });
  });
}

/// Tied nodes too stand for more than their own mass while the chains are solved; a node that is tied more than once,
/// for all of it.
void ParticleEngine::merge_shares() {
  // What is tied to something held does not move. It must not be so heavy that the change of its velocity is lost.
  constexpr float kHeld = 1e-4f;
  for (const TieRow& row : tie_rows_) {
    if (row.slots[0] == row.slots[1]) continue;  // one chain would see both
    const float w = v_[row.nodes[0]].w;
    float other = 0;
    for (std::size_t k = 1; k < 4; ++k) other += row.weights[k] * row.weights[k] * v_[row.nodes[k]].w;
    const bool is_node = row.weights[1] == -1;
    if (w > 0) anchor_shares_.push_back({row.nodes[0], w, other > 0 ? w * other / (w + other) : kHeld * w, {}});
    if (is_node && other > 0) {
      anchor_shares_.push_back({row.nodes[1], other, w > 0 ? w * other / (w + other) : kHeld * other, {}});
    }
  }
  std::stable_sort(anchor_shares_.begin(), anchor_shares_.end(),
                   [](const Shared& a, const Shared& b) { return a.node < b.node; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < anchor_shares_.size(); ++i) {
    if (kept > 0 && anchor_shares_[kept - 1].node == anchor_shares_[i].node) {
      Shared& same = anchor_shares_[kept - 1];
      same.weight = 1 / (1 / same.weight + 1 / anchor_shares_[i].weight - 1 / same.weight_before);
    } else {
      anchor_shares_[kept++] = anchor_shares_[i];
    }
  }
  anchor_shares_.resize(kept);
}

/// Body after body, with the ties between them: of two chains that pull at one point each would else make up for all
/// that is wrong with it, which is too much by half.
void ParticleEngine::solve_tied_chains(std::span<RigidBodyMotion> rigid) {
  const auto is_tied_body = [&](std::uint32_t slot) {
    return std::any_of(tie_rows_.begin(), tie_rows_.end(),
                       [&](const TieRow& row) { return row.slots[0] == slot || row.slots[1] == slot; });
  };
  std::size_t rows = 1;
  for (const std::uint32_t slot : slots_) {
    if (body(slot).is_active() && is_tied_body(slot)) rows += body(slot).chains.row_count();
  }
  const std::size_t turns = std::clamp<std::size_t>(kRowsOfTurns / rows, 1, kMostTurns);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (const std::uint32_t slot : slots_) {
      Body& b = body(slot);
      const bool is_tied = is_tied_body(slot);
      if (!b.is_active() || (turn > 0 && !is_tied)) continue;
      begin_sharing();
      b.chains.solve(workers_, velocities(b));
      end_sharing();
      if (!is_tied) continue;
      sweep(anchor_rows_, v_, rigid);
      sweep(tie_rows_, v_);
    }
  }
}

}  // namespace pliant
