#include "collide/surface_touch.h"

#include <algorithm>

namespace pliant {
namespace {

using Found = SurfaceContacts::Found;

constexpr float kTouching = SurfaceTouch::kTouching;
/// Deeper than this part of the depth it is checked that a node is inside: it may be outside on the other side of
/// something thin.
constexpr float kShallow = 0.2f;
/// Faces whose normals have at least this cosine have their front on the same side.
constexpr float kAlike = 0.5f;

bool has(const SurfaceElement& e, std::uint32_t node) {
  return e.nodes[0] == node || e.nodes[1] == node || e.nodes[2] == node;
}

/// The direction from which the first feature comes, against the normal.
float side_by_motion(const SurfacePair& pair, const Separation& at, Vec3 normal) {
  return dot(combine(at.weights, pair.motion), normal) > 0 ? -1.0f : 1.0f;
}

}  // namespace

SurfaceTouch::SurfaceTouch(const SurfaceTree& a, const SurfaceTree& b, const SurfaceSides& sides,
                           SurfaceContacts::Reach reach, Vec3 axis)
    : a_(a),
      b_(b),
      sides_(sides),
      is_self_(&a == &b),
      axis_(axis),
      drift_(a.drift() - b.drift()),
      drift_length_(length(drift_)),
      thickness_(a.topology().radius + b.topology().radius),
      margin_(0.5f * (a.margin() + b.margin())),
      surprise_(reach.surprise),
      depth_(reach.depth),
      shallow_(kShallow * 0.5f * (a.topology().depth + b.topology().depth)) {
  // Cloth turns aside at once: all that is near counts.
  if (!a.topology().is_closed() || !b.topology().is_closed()) margin_ += surprise_, surprise_ = 0;
}

void SurfaceTouch::run(std::span<const SurfaceCandidate> candidates, Found& found) const {
  for (const SurfaceCandidate& candidate : candidates) {
    if (is_parted(candidate)) continue;
    const Vec3 drift = candidate.kind == SurfaceCandidate::NodeOfB ? -drift_ : drift_;
    const SurfaceTree& of_face = candidate.kind == SurfaceCandidate::NodeOfB ? a_ : b_;
    if (candidate.kind != SurfaceCandidate::Edges && !is_self_ && of_face.topology().is_closed()) {
      run_closed(candidate, drift, found);
      continue;
    }
    // Edges of brisk surfaces have been told apart by their own motions in this substep.
    const bool is_near = candidate.kind == SurfaceCandidate::Edges && (a_.is_brisk() || b_.is_brisk());
    if (!is_near && is_far(candidate)) continue;
    SurfacePair pair = candidate.pair(a_, b_);
    pair.place(drift);
    if (candidate.kind == SurfaceCandidate::Edges && has_inside(pair)) {
      if (!look_at_each_other(pair)) continue;
      test_edges(pair, find_separation(pair.kind, pair.x), found);
    } else {
      test(pair, found);
    }
  }
}

/// Whether the features are far from each other along the axis that tells the surfaces apart, and stay so: the gap
/// between points along one direction is linear in time, so the two ends of the substep tell.
bool SurfaceTouch::is_parted(const SurfaceCandidate& candidate) const {
  if (axis_ == Vec3{}) return false;
  float high = -1e30f, high_end = -1e30f, low = 1e30f, low_end = 1e30f;
  const auto add_a = [&](std::uint32_t node) {
    const float at = dot(a_.positions()[node].xyz(), axis_), way = dot(a_.motions()[node].xyz(), axis_);
    high = std::max(high, at), high_end = std::max(high_end, at + way);
  };
  const auto add_b = [&](std::uint32_t node) {
    const float at = dot(b_.positions()[node].xyz(), axis_), way = dot(b_.motions()[node].xyz(), axis_);
    low = std::min(low, at), low_end = std::min(low_end, at + way);
  };
  switch (candidate.kind) {
    case SurfaceCandidate::NodeOfA:
      add_a(candidate.first);
      for (const std::uint32_t n : b_.topology().elements[candidate.second].nodes) add_b(n);
      break;
    case SurfaceCandidate::NodeOfB:
      add_b(candidate.first);
      for (const std::uint32_t n : a_.topology().elements[candidate.second].nodes) add_a(n);
      break;
    case SurfaceCandidate::Edges:
      for (const std::uint32_t n : a_.topology().edges[candidate.first].nodes) add_a(n);
      for (const std::uint32_t n : b_.topology().edges[candidate.second].nodes) add_b(n);
  }
  const float rounding = kTouching + 1e-6f * (std::abs(high) + std::abs(low));
  const float near = thickness_ + std::max(margin_ + surprise_, depth_) + rounding;
  return low - high > near && low_end - high_end - dot(drift_, axis_) > thickness_ + rounding;
}

/// Most candidates are: this is what a substep costs.
bool SurfaceTouch::is_far(const SurfaceCandidate& candidate) const {
  const bool is_edges = candidate.kind == SurfaceCandidate::Edges;
  const SurfaceTree &first = candidate.kind == SurfaceCandidate::NodeOfB ? b_ : a_,
                    &second = candidate.kind == SurfaceCandidate::NodeOfB ? a_ : b_;
  std::array<std::uint32_t, 4> n;
  if (is_edges) {
    const NodePair p = first.topology().edges[candidate.first].nodes,
                   q = second.topology().edges[candidate.second].nodes;
    n = {p[0], p[1], q[0], q[1]};
  } else {
    const auto& f = second.topology().elements[candidate.second].nodes;
    n = {candidate.first, f[0], f[1], f[2]};
  }
  const Vec4 *x = first.positions().data(), *y = second.positions().data(), *m = first.motions().data(),
             *o = second.motions().data();
  const FeaturePair kind = is_edges ? FeaturePair::EdgeEdge : FeaturePair::NodeFace;
  const PairPoints points{x[n[0]].xyz(), (is_edges ? x : y)[n[1]].xyz(), y[n[2]].xyz(), y[n[3]].xyz()};
  const auto are_apart = [&](float motion) {
    const float reach = 1.0001f * (thickness_ + std::max({margin_ + surprise_, motion, depth_})) + kTouching;
    return are_farther(kind, points, reach);
  };
  const float others = std::max(o[n[2]].w, o[n[3]].w);
  const float motion =
      drift_length_ + (is_edges ? std::max(m[n[0]].w, m[n[1]].w) + others : m[n[0]].w + std::max(o[n[1]].w, others));
  if (are_apart(motion)) return true;
  if (motion <= std::max(margin_ + surprise_, depth_)) return false;
  // What flies on side by side is fast, but not in relation to the other.
  const Vec3 drift = candidate.kind == SurfaceCandidate::NodeOfB ? -drift_ : drift_;
  return are_apart(relative_motion(
      kind, {m[n[0]].xyz() + drift, is_edges ? m[n[1]].xyz() + drift : o[n[1]].xyz(), o[n[2]].xyz(), o[n[3]].xyz()}));
}

void SurfaceTouch::test(const SurfacePair& pair, Found& found) const {
  const Separation now = find_separation(pair.kind, pair.x);
  float margin = margin_;
  if (is_self_) {
    const std::vector<std::uint32_t>& component = a_.topology().component;
    const float rest = pair.rest_distance(now.weights) - thickness_;
    const bool is_one_piece = component[pair.nodes[0]] == component[pair.nodes[3]];
    if (is_one_piece && rest <= 0) return;
    if (is_one_piece) margin = std::min(margin, 0.5f * rest);
  }
  const bool is_near = now.distance < thickness_ + margin;
  if (is_near && !pair.is_redundant(now, 0)) {
    add_now(pair, now, found);
  } else {
    test_path(pair, now, is_near, found);
  }
}

/// Features that are far now, or whose contact others speak for, count only if they meet. What others speak for must
/// still not pass through: it counts if the features themselves, without thickness, meet.
void SurfaceTouch::test_path(const SurfacePair& pair, const Separation& now, bool is_near, Found& found) const {
  const float motion = 1.0001f * relative_motion(pair.kind, pair.motion);
  if (!is_near) {
    if (now.distance - thickness_ > motion) return;
    const std::optional<float> t = find_impact(pair.kind, pair.x, pair.motion, thickness_);
    if (!t) return;
    const Separation at = find_separation(pair.kind, moved(pair.x, pair.motion, *t));
    if (!pair.is_redundant(at, *t)) return add_meeting(pair, now, *t, found);
  }
  if (now.distance > motion + kTouching) return;
  if (const std::optional<float> t = find_impact(pair.kind, pair.x, pair.motion, 0)) add_meeting(pair, now, *t, found);
}

/// What was noted of this pair in the last substep or, for a node that has slid on to this face, of a neighbour.
const SideNote* SurfaceTouch::note_of(const SurfacePair& pair, std::uint64_t key) const {
  if (pair.kind == FeaturePair::EdgeEdge) {
    const std::span<const SideNote> notes = sides_.between(key, key);
    return notes.empty() ? nullptr : &notes[0];
  }
  const std::uint64_t node = key >> 32 << 32;
  const SurfaceTopology& topology = pair.second->topology();
  const SideNote* neighbor = nullptr;
  for (const SideNote& note : sides_.between(node, node | 0xffffffffu)) {
    if (note.key == key) return &note;
    const std::uint64_t face = (note.key & 0xffffffffu) - topology.first_feature;
    if (neighbor || face >= topology.face_count) continue;  // a face of another surface
    const SurfaceElement& other = topology.elements[face];
    // Where the surface is folded, what is in front of the one is behind the other.
    const Vec4* x = pair.second->positions().data();
    const Vec3 start = x[other.nodes[0]].xyz();
    const Vec3 normal = normalized(cross(x[other.nodes[1]].xyz() - start, x[other.nodes[2]].xyz() - start));
    if (dot(normal, pair.common_normal(0)) < kAlike) continue;
    if (std::any_of(pair.nodes.begin() + 1, pair.nodes.end(), [&](std::uint32_t n) { return has(other, n); })) {
      neighbor = &note;
    }
  }
  return neighbor;
}

bool SurfaceTouch::has_slipped(const SurfacePair& pair, const SideNote& note, float side, Vec3 normal) const {
  if (pair.kind == FeaturePair::NodeFace) return note.side * side < 0;
  return dot(note.normal, normal) < -0.7f;  // edges turn slowly, but swap places at once
}

void SurfaceTouch::add_now(const SurfacePair& pair, const Separation& now, Found& found) const {
  const std::uint64_t key = pair.key();
  const SideNote* note = note_of(pair, key);
  const bool is_closed = pair.second->topology().is_closed();
  float side = pair.kind == FeaturePair::NodeFace ? pair.side_of_node(now) : 0, distance = now.distance;
  if (is_closed && pair.kind == FeaturePair::NodeFace) {
    side = dot(now.offset, pair.normal_of_face(now, 0)) < 0 ? -1.0f : 1.0f;
  }
  // What is behind a face of its own closed surface, and was not before it, is on the other side of the body.
  if (!note && is_closed) {
    if (side < 0 || (pair.kind == FeaturePair::EdgeEdge && !leads_out(pair, now.offset, 0))) return;
  }
  Vec3 normal = normalized(now.offset);
  if (distance < kTouching) {
    const Vec3 across = pair.common_normal(0);
    float sign = side_by_motion(pair, now, across);
    if (note) sign = note->side != 0 ? note->side : dot(note->normal, across) < 0 ? -1.0f : 1.0f;
    normal = length_squared(across) > 0 ? sign * across : normalized(now.offset, {0, 1, 0});
    distance = dot(now.offset, normal);
    if (pair.kind == FeaturePair::NodeFace && side != 0) side = sign;
  } else if (note && has_slipped(pair, *note, side, normal)) {
    normal = -normal, distance = -distance, side = -side;
  }
  add(pair, key, now.weights, normal, distance - thickness_, found);
  const float motion = relative_motion(pair.kind, pair.motion);
  if (distance < 0.5f * thickness_ + 0.25f * margin_ + 2 * motion) found.notes.push_back({key, normal, side});
}

/// With the weights and the normal of the moment when they meet, and the gap as it is now. Where things turn so fast
/// that this gap means nothing, as they are now.
void SurfaceTouch::add_meeting(const SurfacePair& pair, const Separation& now, float t, Found& found) const {
  const Separation at = find_separation(pair.kind, moved(pair.x, pair.motion, t));
  const Vec3 normal = normalized(at.offset);
  const float gap = dot(combine(at.weights, around_first(pair.x)), normal) - thickness_;
  if (at.distance < 1e-12f || gap < std::min(0.0f, now.distance - thickness_)) return add_now(pair, now, found);
  const std::uint64_t key = pair.key();
  add(pair, key, at.weights, normal, gap, found);
  const bool is_inside = at.weights[1] != 0 && at.weights[2] != 0 && at.weights[3] != 0;
  const bool has_side = pair.kind == FeaturePair::NodeFace && is_inside;
  const float side = !has_side ? 0.0f : dot(normal, pair.common_normal(t)) < 0 ? -1.0f : 1.0f;
  found.notes.push_back({key, normal, side});
}

void SurfaceTouch::add(const SurfacePair& pair, std::uint64_t key, const std::array<float, 4>& weights, Vec3 normal,
                       float gap, Found& found) const {
  const std::vector<std::uint32_t>&a = pair.first->topology().nodes, &b = pair.second->topology().nodes;
  const bool is_face = pair.kind == FeaturePair::NodeFace;
  const std::array<std::uint32_t, 4> nodes{a[pair.nodes[0]], (is_face ? b : a)[pair.nodes[1]], b[pair.nodes[2]],
                                           b[pair.nodes[3]]};
  found.contacts.push_back({nodes, weights, normal, gap, key, is_face && pair.first != &a_});
}

}  // namespace pliant
