// Sides where at least one surface is closed: its faces look outward, so nothing need be remembered. What is behind a
// face, but not deeper than the surface says, is inside and is pushed out at the front.
#include <algorithm>

#include "collide/surface_touch.h"

namespace pliant {
namespace {

using Found = SurfaceContacts::Found;

/// A node can be pushed only from where it looks to: the cosine between the normal of the contact and its own. A node
/// on the rim of a box that stands on another of the same size is not pushed to the side by that.
constexpr float kFromBehind = 0.25f, kAtRim = -0.8f, kFlat = 0.9f;

bool is_inside_edges(const Separation& at) {
  return at.weights[0] != 0 && at.weights[1] != 0 && at.weights[2] != 0 && at.weights[3] != 0;
}

}  // namespace

bool SurfaceTouch::leads_out(const SurfacePair& pair, Vec3 normal, float t) {
  if (pair.second->topology().is_closed() && dot(normal, pair.normal_of_edge(false, t)) <= 0) return false;
  return !pair.first->topology().is_closed() || dot(normal, pair.normal_of_edge(true, t)) < 0;
}

/// Where a node is, by the height over the face and by how far beside it it is: behind the face no further than it is
/// deep, for else another face is nearer. `now` is found if it is right before the face or right behind it.
SurfaceTouch::Place SurfaceTouch::place_of(std::uint32_t node, const SurfaceTree& first, std::uint32_t face,
                                           const SurfaceTree& second, Vec3 drift, Separation& now) const {
  const auto& f = second.topology().elements[face].nodes;
  const Vec4 *x = second.positions().data(), *m = second.motions().data();
  const Vec3 p = first.positions()[node].xyz(), n = second.outward_of_faces()[face];
  const std::array corners{x[f[0]].xyz(), x[f[1]].xyz(), x[f[2]].xyz()};
  float motion = drift_length_ + first.motions()[node].w + std::max({m[f[0]].w, m[f[1]].w, m[f[2]].w});
  if (motion > std::max(margin_ + surprise_, depth_)) {
    const Vec3 own = first.motions()[node].xyz() + drift;
    motion = relative_motion(FeaturePair::NodeFace, {own, m[f[0]].xyz(), m[f[1]].xyz(), m[f[2]].xyz()});
  }
  const float height = dot(p - corners[0], n);
  const float front = 1.0001f * (thickness_ + std::max(margin_ + surprise_, motion)) + kTouching;
  const float back = thickness_ + std::max(depth_, motion);
  if (!(height <= front && -height <= back)) return Place::Far;  // NaN is far too
  // Behind a face without creases hardly anything is nearest to its rim.
  const bool is_behind = height < -motion && !second.has_creases(face);
  const float beside = is_behind ? std::max(thickness_, motion) - 0.3f * height : front + std::max(-height, 0.0f);
  std::array<float, 3> inside;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3 edge = corners[(i + 1) % 3] - corners[i];
    inside[i] = dot(cross(n, edge), p - corners[i]);
    if (inside[i] < 0 && inside[i] * inside[i] > beside * beside * dot(edge, edge)) return Place::Far;
  }
  const float sum = inside[0] + inside[1] + inside[2];
  const float least = std::min({inside[0], inside[1], inside[2]});
  if (!(least > 1e-4f * sum)) return Place::Beside;
  const float scale = -1 / sum;
  now.weights = {1, scale * inside[1], scale * inside[2], scale * inside[0]};
  now.offset = height * n;
  now.distance = std::abs(height);
  return Place::Before;
}

void SurfaceTouch::run_closed(const SurfaceCandidate& candidate, Vec3 drift, Found& found) const {
  const bool is_of_b = candidate.kind == SurfaceCandidate::NodeOfB;
  Separation now;
  const Place place = place_of(candidate.first, is_of_b ? b_ : a_, candidate.second, is_of_b ? a_ : b_, drift, now);
  if (place == Place::Far) return;
  SurfacePair pair = candidate.pair(a_, b_);
  pair.place(drift);
  test_node(pair, place == Place::Before ? now : find_separation(pair.kind, pair.x), found);
}

bool SurfaceTouch::has_inside(const SurfacePair& pair) const {
  if (is_self_) return false;
  const bool is_second_closed = pair.second->topology().is_closed();
  return is_second_closed || (pair.kind == FeaturePair::EdgeEdge && pair.first->topology().is_closed());
}

/// Whether the node looks the same way as the normal: then the contact is none of its own. A node within something flat
/// must look at the rim that it is before: what slides over a floor would stumble over the nodes ahead.
bool SurfaceTouch::faces_away(const SurfacePair& pair, const Separation& at, Vec3 normal) {
  const SurfaceTopology& topology = pair.first->topology();
  if (!topology.is_closed()) return false;
  const Vec3 outward = pair.first->outward_of_nodes()[pair.nodes[0]];
  const float along = dot(normal, outward);
  if (along > kFromBehind) return true;
  const bool is_at_rim = at.weights[1] == 0 || at.weights[2] == 0 || at.weights[3] == 0;
  if (along < kAtRim || !is_at_rim || dot(normal, at.offset) <= 0) return false;
  const auto faces = topology.node_faces[pair.nodes[0]];
  return std::all_of(faces.begin(), faces.end(),
                     [&](std::uint32_t face) { return dot(pair.first->outward_of_faces()[face], outward) > kFlat; });
}

void SurfaceTouch::test_node(const SurfacePair& pair, const Separation& now, Found& found) const {
  if (now.distance >= thickness_ + std::max(margin_, depth_)) return test_node_paths(pair, now, thickness_, found);
  const Vec3 of_face = pair.second->outward_of_faces()[pair.feature[1]];
  const float height = dot(now.offset, of_face);
  float side = height < 0 ? -1.0f : 1.0f, distance = now.distance;
  Vec3 normal = distance < kTouching ? normalized(of_face, {0, 1, 0}) : (1 / distance) * now.offset;
  if (pair.is_redundant(now, 0)) {
    // Just inside, faces speak for themselves even at their rims: the face beside may be one that cannot push.
    const bool is_just_inside = side < 0 && now.distance <= shallow_ &&
                                length_squared(now.offset - height * of_face) <= 0.25f * thickness_ * thickness_;
    if (!is_just_inside) return test_node_paths(pair, now, 0, found);
    normal = -of_face, distance = -height;
  } else if (now.weights[1] == 0 || now.weights[2] == 0 || now.weights[3] == 0) {
    side = dot(now.offset, pair.normal_of_face(now, 0)) < 0 ? -1.0f : 1.0f;
  }
  if (now.distance >= thickness_ + (side < 0 ? depth_ : margin_)) return test_node_paths(pair, now, thickness_, found);
  if (distance >= kTouching) normal = side * normal;
  if (faces_away(pair, now, normal)) return;
  // A segment to the nearest point of the surface passes through no other face.
  const bool is_deep = side < 0 && now.distance > shallow_;
  if (is_deep && pair.second->is_crossed(pair.x[0], pair.x[0] - now.offset)) return;
  add(pair, pair.key(), now.weights, normal, side * distance - thickness_, found);
  if (side < 0) found.contacts.back().way_out = distance / facing_of(pair, normal);
}

/// The cosine between the way out and that from which the node came, as far as its own surface tells. The nearest face
/// may be one that the node only slides along: near the rim of a box that has been hit hard, the side is nearer than
/// the top.
float SurfaceTouch::facing_of(const SurfacePair& pair, Vec3 normal) {
  constexpr float kLeast = 0.35f;
  if (!pair.first->topology().is_closed()) return 1;
  return std::max(-dot(normal, pair.first->outward_of_nodes()[pair.nodes[0]]), kLeast);
}

/// Two that fly on together do not approach, until the first is stopped by what it hits: then the other must not go
/// into it. What it would pass by does not count.
PairPoints SurfaceTouch::stopped(const SurfacePair& pair, bool is_first) {
  const Vec3 drift = pair.second->drift();  // to which the motions of the pair are relative
  const std::size_t split = pair.kind == FeaturePair::NodeFace ? 1 : 2;
  PairPoints motion{};
  for (std::size_t i = is_first ? split : 0; i < (is_first ? 4 : split); ++i) motion[i] = pair.motion[i] + drift;
  return motion;
}

void SurfaceTouch::test_node_paths(const SurfacePair& pair, const Separation& now, float thickness,
                                   Found& found) const {
  if (test_node_path(pair, now, pair.motion, thickness, found)) return;
  if (surprise_ == 0 || thickness == 0 || now.distance - thickness > margin_ + surprise_) return;
  if (test_node_path(pair, now, stopped(pair, true), thickness, found)) return;
  test_node_path(pair, now, stopped(pair, false), thickness, found);
}

/// What comes to the face from outside.
bool SurfaceTouch::test_node_path(const SurfacePair& pair, const Separation& now, const PairPoints& motion,
                                  float thickness, Found& found) const {
  if (now.distance - thickness > 1.0001f * relative_motion(pair.kind, motion) + kTouching) return false;
  const std::optional<float> t = find_impact(pair.kind, pair.x, motion, thickness);
  if (!t) return false;
  const Separation at = find_separation(pair.kind, moved(pair.x, motion, *t));
  // What others speak for must still not pass through.
  if (thickness > 0 && pair.is_redundant(at, *t)) return test_node_path(pair, now, motion, 0, found);
  const Vec3 outward = pair.normal_of_face(at, *t);
  const Vec3 normal = at.distance < kTouching ? outward : normalized(at.offset);
  const float gap = dot(combine(at.weights, around_first(pair.x)), normal) - thickness_;
  const bool comes_from_outside = dot(normal, outward) > 0 && gap > -thickness_;
  if (!comes_from_outside || faces_away(pair, at, normal)) return false;
  add(pair, pair.key(), at.weights, normal, gap, found);
  return true;
}

/// A quick test that a direction at right angles to two edges may lead out of the one and into the other: of all pairs
/// of ridges of two splinters few do. With some room for how they turn in the substep.
bool SurfaceTouch::look_at_each_other(const SurfacePair& pair) {
  constexpr float kRoom = 0.05f;
  if (!pair.first->topology().is_closed() || !pair.second->topology().is_closed()) return true;
  const Vec3 across = cross(pair.x[1] - pair.x[0], pair.x[3] - pair.x[2]);
  const auto outward_of = [](const SurfaceTree& tree, std::uint32_t edge) {
    const SurfaceEdge& e = tree.topology().edges[edge];
    return e.is_border() ? Vec3{} : tree.outward_of_faces()[e.faces[0]] + tree.outward_of_faces()[e.faces[1]];
  };
  const Vec3 u = outward_of(*pair.first, pair.feature[0]), v = outward_of(*pair.second, pair.feature[1]);
  const float product = dot(across, u) * dot(across, v), size = dot(across, across);
  return !(product > 0 && product * product > kRoom * kRoom * size * size * dot(u, u) * dot(v, v));
}

/// Two edges touch where a direction at right angles to both leads out of the one and into the other.
void SurfaceTouch::test_edges(const SurfacePair& pair, const Separation& now, Found& found) const {
  if (!is_inside_edges(now)) return test_edges_paths(pair, now, found);
  const Vec3 across = pair.common_normal(0);
  if (length_squared(across) == 0) return;
  const float along = dot(now.offset, across);
  Vec3 normal = along < 0 ? -across : across;
  float distance = std::abs(along);
  if (!leads_out(pair, normal, 0)) {
    normal = -normal, distance = -distance;
    if (!leads_out(pair, normal, 0)) return test_edges_paths(pair, now, found);
  }
  if (distance >= thickness_ + margin_) return test_edges_paths(pair, now, found);
  if (distance < -depth_ || !pair.are_ridges(normal, 0, distance < -margin_)) return;
  add(pair, pair.key(), now.weights, normal, distance - thickness_, found);
}

void SurfaceTouch::test_edges_paths(const SurfacePair& pair, const Separation& now, Found& found) const {
  if (test_edges_path(pair, now, pair.motion, found)) return;
  if (surprise_ == 0 || now.distance - thickness_ > margin_ + surprise_) return;
  if (test_edges_path(pair, now, stopped(pair, true), found)) return;
  test_edges_path(pair, now, stopped(pair, false), found);
}

bool SurfaceTouch::test_edges_path(const SurfacePair& pair, const Separation& now, const PairPoints& motion,
                                   Found& found) const {
  if (now.distance - thickness_ > 1.0001f * relative_motion(pair.kind, motion)) return false;
  const std::optional<float> t = find_impact(pair.kind, pair.x, motion, thickness_);
  if (!t) return false;
  const Separation at = find_separation(pair.kind, moved(pair.x, motion, *t));
  if (!is_inside_edges(at) || at.distance < kTouching) return false;
  const Vec3 normal = normalized(at.offset);
  if (!pair.are_ridges(normal, *t, false)) return false;
  const float gap = dot(combine(at.weights, around_first(pair.x)), normal) - thickness_;
  if (!leads_out(pair, normal, *t) || gap <= -thickness_) return false;
  add(pair, pair.key(), at.weights, normal, gap, found);
  return true;
}

}  // namespace pliant
