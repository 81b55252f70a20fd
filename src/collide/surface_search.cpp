#include "collide/surface_search.h"

#include <algorithm>
#include <limits>

namespace pliant {
namespace {

using Part = SurfaceContacts::Part;
using Found = SurfaceContacts::Found;

/// Distances below this (m) are made of rounding: they have no direction.
constexpr float kTouching = 1e-6f;

bool has(const SurfaceElement& e, std::uint32_t node) {
  return e.nodes[0] == node || e.nodes[1] == node || e.nodes[2] == node;
}

Vec3 lower_of(const PairPoints& x, std::size_t begin, std::size_t end) {
  Vec3 lower = x[begin];
  for (std::size_t i = begin + 1; i < end; ++i) lower = min_each(lower, x[i]);
  return lower;
}
Vec3 upper_of(const PairPoints& x, std::size_t begin, std::size_t end) {
  Vec3 upper = x[begin];
  for (std::size_t i = begin + 1; i < end; ++i) upper = max_each(upper, x[i]);
  return upper;
}

/// The direction from which the first feature comes, against the normal.
float side_by_motion(const SurfacePair& pair, const Separation& at, Vec3 normal) {
  return dot(combine(at.weights, pair.motion), normal) > 0 ? -1.0f : 1.0f;
}

}  // namespace

SurfaceSearch::SurfaceSearch(const SurfaceTree& a, const SurfaceTree& b, const SurfaceSides& sides)
    : a_(a),
      b_(b),
      sides_(sides),
      is_self_(&a == &b),
      drift_(a.drift() - b.drift()),
      drift_length_(length(drift_)),
      thickness_(a.topology().radius + b.topology().radius),
      margin_(0.5f * (a.margin() + b.margin())) {}

bool SurfaceSearch::overlap(std::uint32_t node_a, std::uint32_t node_b) const {
  const SurfaceTree::Node &a = a_.nodes()[node_a], &b = b_.nodes()[node_b];
  const Vec3 lower = a.lower + min_each(drift_, {}), upper = a.upper + max_each(drift_, {});
  return (lower.x <= b.upper.x) & (b.lower.x <= upper.x) & (lower.y <= b.upper.y) & (b.lower.y <= upper.y) &
         (lower.z <= b.upper.z) & (b.lower.z <= upper.z);
}

void SurfaceSearch::expand(Part part, std::vector<Part>& next) const {
  const auto add_overlapping = [&](std::uint32_t a, std::uint32_t b) {
    if (overlap(a, b) && !(is_self_ && a_.is_flat(a, b))) next.push_back({a, b});
  };
  const auto add_bent = [&](std::uint32_t a) {
    if (!a_.is_flat(a)) next.push_back({a, a});
  };
  const std::uint32_t a = 2 * part.a + 1, b = 2 * part.b + 1;
  if (is_leaf(part)) {
    next.push_back(part);
  } else if (is_self_ && part.a == part.b) {
    add_bent(a);
    add_bent(a + 1);
    add_overlapping(a, a + 1);
  } else if (a_.is_leaf(part.a)) {
    for (const std::uint32_t child : {b, b + 1}) add_overlapping(part.a, child);
  } else if (b_.is_leaf(part.b)) {
    for (const std::uint32_t child : {a, a + 1}) add_overlapping(child, part.b);
  } else {
    for (const std::uint32_t child_a : {a, a + 1}) {
      for (const std::uint32_t child_b : {b, b + 1}) add_overlapping(child_a, child_b);
    }
  }
}

void SurfaceSearch::run(Part part, std::size_t max_tests, Found& found) const {
  found.contacts.clear();
  found.notes.clear();
  found.tests = 0;
  found.is_cut = false;
  std::vector<Part>& stack = found.stack;
  stack.assign(1, part);
  while (!stack.empty()) {
    const Part next = stack.back();
    stack.pop_back();
    if (found.tests > max_tests) {
      found.is_cut = true;
      return;
    }
    if (is_leaf(next)) {
      search_leaves(next, found);
    } else {
      expand(next, stack);
    }
  }
}

void SurfaceSearch::search_leaves(Part part, Found& found) const {
  const Leaf &a = a_.leaf(part.a), &b = b_.leaf(part.b);
  const bool is_same = is_self_ && part.a == part.b;
  const Vec3 back = min_each(drift_, {}), forth = max_each(drift_, {});
  Masks masks{}, transposed{};
  const SurfaceTree::Node& box_b = b_.nodes()[part.b];
  std::uint32_t near = overlap_mask(a.boxes, box_b.lower - forth, box_b.upper - back), any = 0;
  for (; near != 0; near &= near - 1) {
    const std::uint32_t i = lowest_bit(near);
    std::uint32_t mask = overlap_mask(b.boxes, a.boxes.lower_at(i) + back, a.boxes.upper_at(i) + forth);
    if (is_same) mask &= ~((2u << i) - 1);
    masks[i] = std::uint8_t(mask);
    any |= mask;
    for (; mask != 0; mask &= mask - 1) transposed[lowest_bit(mask)] |= std::uint8_t(1u << i);
  }
  if (any == 0) return;
  test_nodes(a_, a, b_, part.b, masks, drift_, found);
  test_nodes(b_, b, a_, part.a, transposed, -drift_, found);
  test_edges(a, b, masks, found);
}

/// The nodes that the elements of one leaf own against the faces of another.
void SurfaceSearch::test_nodes(const SurfaceTree& first, const Leaf& a, const SurfaceTree& second, std::uint32_t node_b,
                               const Masks& masks, Vec3 drift, Found& found) const {
  const Leaf& b = second.leaf(node_b);
  const float motion = a.motion + b.motion + drift_length_;
  const float reach = 1.0001f * (thickness_ + std::max(margin_, motion)) + kTouching;
  // What moves further than the margin may come near another face than the one it is over now.
  const float settled = motion <= margin_ ? motion + kTouching : std::numeric_limits<float>::max();
  const SurfaceTree::Node& box = second.nodes()[node_b];
  const float growth = first.topology().radius + 0.5f * first.margin() + a.motion + drift_length_;
  const Aabb near_box = Aabb{box.lower, box.upper}.expanded(1.0001f * growth + kTouching);
  for (std::uint32_t i = 0; i < a.count; ++i) {
    if (masks[i] == 0) continue;
    for (std::uint32_t owned = a.faces.owned_nodes[i]; owned != 0; owned &= owned - 1) {
      const std::uint32_t k = lowest_bit(owned);
      const Vec3 p = a.faces.corner_at(k, i);
      if (!near_box.contains(p)) continue;
      std::uint32_t mask = masks[i] & near_faces(b.faces, p, reach, settled);
      for (; mask != 0; mask &= mask - 1) {
        const std::uint32_t node = first.topology().elements[a.elements[i]].nodes[k];
        test_node(first, node, second, b.elements[lowest_bit(mask)], drift, found);
      }
    }
  }
}

void SurfaceSearch::test_node(const SurfaceTree& first, std::uint32_t node, const SurfaceTree& second,
                              std::uint32_t face, Vec3 drift, Found& found) const {
  const SurfaceElement& f = second.topology().elements[face];
  if (!f.is_face || (is_self_ && has(f, node))) return;
  SurfacePair pair{FeaturePair::NodeFace, &first, &second, {node, f.nodes[0], f.nodes[1], f.nodes[2]},
                   {node, face},          {},     {},      drift};
  pair.x[0] = first.positions()[node].xyz();
  pair.motion[0] = first.motions()[node].xyz() + drift;
  for (std::size_t j = 0; j < 3; ++j) {
    pair.x[j + 1] = second.positions()[f.nodes[j]].xyz();
    pair.motion[j + 1] = second.motions()[f.nodes[j]].xyz();
  }
  test(pair, found);
}

/// Edges in flat surroundings are looked at only if their elements may meet in this substep.
void SurfaceSearch::test_edges(const Leaf& a, const Leaf& b, const Masks& masks, Found& found) const {
  const float motion = a.motion + b.motion + drift_length_ + kTouching;
  const bool are_faces = a.is_all_faces && b.is_all_faces;
  const bool is_parted = are_faces && are_parted(a.faces, b.faces, a.faces.normal_at(0), motion);
  if (is_parted && !(a.has_ridges && b.has_ridges)) return;
  const float nearness = thickness_ + margin_;
  for (std::uint32_t i = 0; i < a.count; ++i) {
    if (masks[i] == 0) continue;
    const std::uint32_t crossing = is_parted ? 0 : are_faces ? unparted_faces(b.faces, a.faces, i, motion) : 0xffu;
    const SurfaceElement& element_a = a_.topology().elements[a.elements[i]];
    for (std::uint32_t mask = masks[i]; mask != 0; mask &= mask - 1) {
      const std::uint32_t j = lowest_bit(mask);
      const SurfaceElement& element_b = b_.topology().elements[b.elements[j]];
      const unsigned ridges_a = a.ridges[i], ridges_b = b.ridges[j];
      test_edges(element_a, ridges_a, element_b, ridges_b, nearness, found);
      if (!(crossing >> j & 1)) continue;
      test_edges(element_a, element_a.owned_edges & ~ridges_a, element_b, element_b.owned_edges, 0, found);
      test_edges(element_a, ridges_a, element_b, element_b.owned_edges & ~ridges_b, 0, found);
    }
  }
}

/// Some edges of two elements. `nearness` is how close they must be, 0 where only those count that may meet.
void SurfaceSearch::test_edges(const SurfaceElement& a, unsigned edges_a, const SurfaceElement& b, unsigned edges_b,
                               float nearness, Found& found) const {
  for (unsigned rest_a = edges_a; rest_a != 0; rest_a &= rest_a - 1) {
    for (unsigned rest_b = edges_b; rest_b != 0; rest_b &= rest_b - 1) {
      std::uint32_t edge_a = a.edges[lowest_bit(rest_a)], edge_b = b.edges[lowest_bit(rest_b)];
      if (is_self_ && edge_a > edge_b) std::swap(edge_a, edge_b);
      const NodePair p = a_.topology().edges[edge_a].nodes, q = b_.topology().edges[edge_b].nodes;
      if (is_self_ && (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1])) continue;
      SurfacePair pair{FeaturePair::EdgeEdge, &a_, &b_, {p[0], p[1], q[0], q[1]}, {edge_a, edge_b}, {}, {}, drift_};
      for (std::size_t k = 0; k < 2; ++k) {
        pair.x[k] = a_.positions()[p[k]].xyz();
        pair.motion[k] = a_.motions()[p[k]].xyz() + drift_;
        pair.x[k + 2] = b_.positions()[q[k]].xyz();
        pair.motion[k + 2] = b_.motions()[q[k]].xyz();
      }
      if (!is_far(pair, nearness)) test(pair, found);
    }
  }
}

/// A cheap test that the features are not nearer than `nearness` and cannot meet: by their boxes, then by the plane of
/// the face or the two planes that hold the edges.
bool SurfaceSearch::is_far(const SurfacePair& pair, float nearness) const {
  const std::size_t split = pair.kind == FeaturePair::NodeFace ? 1 : 2;
  const float motion = relative_motion(pair.kind, pair.motion);
  const float reach = 1.0001f * std::max(nearness, nearness > 0 ? thickness_ + motion : motion) + kTouching;
  const Vec3 lower_a = lower_of(pair.x, 0, split), upper_a = upper_of(pair.x, 0, split);
  const Vec3 lower_b = lower_of(pair.x, split, 4), upper_b = upper_of(pair.x, split, 4);
  const Vec3 apart = max_each(lower_a - upper_b, lower_b - upper_a);
  if (!(apart.x <= reach && apart.y <= reach && apart.z <= reach)) return true;  // NaN is far too
  const PairPoints& x = pair.x;
  const Vec3 d = split == 1 ? x[2] - x[1] : x[1] - x[0], e = split == 1 ? x[3] - x[1] : x[3] - x[2];
  const Vec3 n = cross(d, e), r = x[0] - x[3];
  const float nn = dot(n, n), height = dot(r, n);
  if (nn < 1e-6f * dot(d, d) * dot(e, e)) return false;  // too thin for a plane
  const float slack = reach + 1e-4f * (std::abs(r.x) + std::abs(r.y) + std::abs(r.z));
  return height * height > slack * slack * nn;
}

void SurfaceSearch::test(const SurfacePair& pair, Found& found) const {
  ++found.tests;
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
void SurfaceSearch::test_path(const SurfacePair& pair, const Separation& now, bool is_near, Found& found) const {
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
const SideNote* SurfaceSearch::note_of(const SurfacePair& pair, std::uint64_t key) const {
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
    if (std::any_of(pair.nodes.begin() + 1, pair.nodes.end(), [&](std::uint32_t n) { return has(other, n); })) {
      neighbor = &note;
    }
  }
  return neighbor;
}

bool SurfaceSearch::has_slipped(const SurfacePair& pair, const SideNote& note, float side, Vec3 normal) const {
  if (pair.kind == FeaturePair::NodeFace) return note.side * side < 0;
  return dot(note.normal, normal) < -0.7f;  // edges turn slowly, but swap places at once
}

void SurfaceSearch::add_now(const SurfacePair& pair, const Separation& now, Found& found) const {
  const std::uint64_t key = pair.key();
  const SideNote* note = note_of(pair, key);
  float side = pair.kind == FeaturePair::NodeFace ? pair.side_of_node(now) : 0, distance = now.distance;
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
void SurfaceSearch::add_meeting(const SurfacePair& pair, const Separation& now, float t, Found& found) const {
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

void SurfaceSearch::add(const SurfacePair& pair, std::uint64_t key, const std::array<float, 4>& weights, Vec3 normal,
                        float gap, Found& found) const {
  const std::vector<std::uint32_t>&a = pair.first->topology().nodes, &b = pair.second->topology().nodes;
  const bool is_face = pair.kind == FeaturePair::NodeFace;
  const std::array<std::uint32_t, 4> nodes{a[pair.nodes[0]], (is_face ? b : a)[pair.nodes[1]], b[pair.nodes[2]],
                                           b[pair.nodes[3]]};
  found.contacts.push_back({nodes, weights, normal, gap, key});
}

}  // namespace pliant
