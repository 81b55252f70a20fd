// Nodes tied to points of other bodies of nodes.
#include <algorithm>
#include <limits>

#include "geometry/primitives.h"
#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Points that are apart are drawn together no faster than this.
constexpr float kDrawSpeed = 5;  // m/s
/// Ties know the chains of their bodies where that takes no more than solving so many of their rows, in each substep.
constexpr std::size_t kMostProbedRows = 20000;
/// How much of a free node's give a tied point has at least.
constexpr float kLeastGive = 1e-4f;

/// Zero for a matrix that has none.
Mat3 inverse_or_zero(const Mat3& m) {
  const Vec3 c0 = cross(m.rows[1], m.rows[2]), c1 = cross(m.rows[2], m.rows[0]), c2 = cross(m.rows[0], m.rows[1]);
  const float determinant = dot(m.rows[0], c0);
  Mat3 out;
  for (std::size_t k = 0; k < 3; ++k) out.rows[k] = Vec3{c0[k], c1[k], c2[k]} / determinant;
  const bool is_good = is_finite(out.rows[0]) && is_finite(out.rows[1]) && is_finite(out.rows[2]);
  if (!is_good) out.rows[0] = out.rows[1] = out.rows[2] = {};
  return out;
}

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
  anchor->id = id, anchor->slot = slot, anchor->to = to, anchor->kind = AnchorKind::Nodes,
  anchor->break_force = break_force;
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
  put_anchor(std::move(anchor));
}

/// What brings points together that are so far apart.
Vec3 ParticleEngine::draw_velocity(Vec3 apart, float h) {
  const Vec3 velocity = apart / h;
  return velocity * std::min(1.0f, kDrawSpeed / std::max(length(velocity), 1e-12f));
}

void ParticleEngine::place_tie(std::uint32_t anchor_slot, float h) {
  const Anchor& anchor = *anchors_[anchor_slot];
  const Body &b = body(anchor.slot), &other = body(anchor.to.index);
  if (!b.is_active() && !other.is_active()) return;
  if (b.settings.frozen || other.settings.frozen) return;
  const std::size_t rows = b.chains.row_count() + other.chains.row_count();
  const bool knows_chains = 4 * rows * anchor.nodes.size() <= kMostProbedRows;
  for (std::uint32_t k = 0; k < anchor.nodes.size(); ++k) {
    const AnchorNode& node = anchor.nodes[k];
    const std::uint32_t i = b.first + node.node;
    const std::array<std::uint32_t, 3> at = corners(other, node.point);
    const Vec3 weights = node.point.weights;
    Vec3 place{};
    for (std::size_t c = 0; c < 3; ++c) place += x_[at[c]].xyz() * weights[c];
    tie_rows_.push_back({.nodes = {i, at[0], at[1], at[2]},
                         .slots = {anchor.slot, anchor.to.index},
                         .weights = {1, -weights.x, -weights.y, -weights.z},
                         .anchor = anchor_slot,
                         .index = k,
                         .target = draw_velocity(place - x_[i].xyz(), h),
                         .impulse = {},
                         .knows_chains = knows_chains});
    ties_.emplace_back(i, anchor.to);
    for (std::size_t c = 0; c < 3; ++c) {
      if (weights[c] > 0) ties_.emplace_back(at[c], b.id);
    }
  }
}

bool ParticleEngine::does_not_meet(std::uint32_t node, BodyId other) const {
  return std::binary_search(unmet_.begin(), unmet_.end(), std::pair(node, other));
}

/// Around a tie the two bodies do not also collide.
void ParticleEngine::drop_tied_contacts() {
  if (tie_rows_.empty()) return;
  meetings_.drop([&](const FeatureContact& row) {
    const Body &a = body(row.slots[0]), &b = body(row.slots[1]);
    return std::any_of(row.nodes.begin(), row.nodes.end(), [&](std::uint32_t node) {
      const bool is_of_a = node >= a.first && node < a.first + a.count;
      return does_not_meet(node, is_of_a ? b.id : a.id);
    });
  });
}

/// Tied nodes too stand for more than their own mass while the chains are solved; a node that is tied more than once,
/// for all of it.
void ParticleEngine::merge_shares() {
  // What is tied to something held does not move. It must not be so heavy that the change of its velocity is lost.
  constexpr float kHeld = 1e-4f;
  for (const TieRow& row : tie_rows_) {
    if (row.knows_chains || row.is_apart || row.slots[0] == row.slots[1]) continue;  // one chain would see both
    const float w = v_[row.nodes[0]].w;
    float other = 0;
    for (std::size_t k = 1; k < 4; ++k) other += row.weights[k] * row.weights[k] * v_[row.nodes[k]].w;
    const bool is_node = row.weights[1] == -1;
    if (w > 0) anchor_shares_.push_back({row.nodes[0], w, other > 0 ? w * other / (w + other) : kHeld * w, {}});
    if (is_node && other > 0) {
      anchor_shares_.push_back({row.nodes[1], other, w > 0 ? w * other / (w + other) : kHeld * other, {}});
    }
  }
  std::sort(anchor_shares_.begin(), anchor_shares_.end(),
            [](const Shared& a, const Shared& b) { return a.node != b.node ? a.node < b.node : a.weight < b.weight; });
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

void ParticleEngine::solve_chains_of(const TieRow& row) {
  begin_sharing();
  for (std::size_t k = 0; k < (row.slots[0] == row.slots[1] ? 1 : 2); ++k) {
    Body& b = body(row.slots[k]);
    if (b.is_active() && !b.is_guest) b.chains.solve(workers_, velocities(b));
  }
  end_sharing();
}

/// What one chain pulls reaches the next only through the light nodes between them: solved in turns, two ropes end to
/// end throw a load of ten times their weight about. So it is tried out how the tied points answer a push when both
/// chains are solved with it; these answers are linear.
void ParticleEngine::find_tie_gains() {
  for (TieRow& row : tie_rows_) {
    row.gain.rows[0] = row.gain.rows[1] = row.gain.rows[2] = {};
    if (!row.knows_chains || row.is_apart) continue;
    const std::array<Body*, 2> bodies{&body(row.slots[0]), &body(row.slots[1])};
    for (std::size_t k = 0; k < 2; ++k) {
      const std::span<Vec4> now = velocities(*bodies[k]);
      tie_probes_[k].v.assign(now.begin(), now.end());
      bodies[k]->chains.save(tie_probes_[k].impulses);
    }
    const auto put_back = [&] {
      for (std::size_t k = 0; k < 2; ++k) {
        std::copy(tie_probes_[k].v.begin(), tie_probes_[k].v.end(), velocities(*bodies[k]).begin());
        bodies[k]->chains.restore(tie_probes_[k].impulses);
      }
    };
    // A push that would change the velocity by about 1 m/s if there were no chains.
    float weight = 0;
    for (std::size_t k = 0; k < 4; ++k) weight += row.weights[k] * row.weights[k] * v_[row.nodes[k]].w;
    if (weight <= 0) continue;
    solve_chains_of(row);
    const Vec3 without = relative_velocity(row, v_);
    Mat3 response;
    for (std::size_t column = 0; column < 3; ++column) {
      put_back();
      Vec3 impulse{};
      impulse[column] = 1 / weight;
      push(row, v_, impulse);
      solve_chains_of(row);
      const Vec3 answer = (relative_velocity(row, v_) - without) * weight;
      // No point is held without any give: that keeps the matrix away from singular ones.
      for (std::size_t k = 0; k < 3; ++k) response(k, column) = answer[k] + (k == column ? kLeastGive * weight : 0);
    }
    put_back();
    row.gain = inverse_or_zero(response);
  }
}

void ParticleEngine::solve_tied_chains(std::span<RigidBodyMotion> rigid) {
  begin_sharing();
  for_each_active([&](Body& b) { solve_chains(b); });
  end_sharing();
  sweep(anchor_rows_, v_, rigid);
  for (TieRow& row : tie_rows_) {
    if (!row.knows_chains || row.is_apart) continue;
    const Vec3 impulse = row.gain * (row.target - relative_velocity(row, v_));
    row.impulse += impulse;
    push(row, v_, impulse);
    solve_chains_of(row);
    sweep(anchor_rows_, v_, rigid);
  }
}

}  // namespace pliant
