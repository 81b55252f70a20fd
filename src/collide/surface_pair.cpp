#include "collide/surface_pair.h"

#include <algorithm>

namespace pliant {
namespace {

constexpr float kSharp = 1;     ///< the square of the sum of the normals where an edge is bent by 120°
constexpr float kRise = 0.05f;  ///< the sine of what counts as no rise beside a ridge
/// The same beside a ridge that falls off steeply on its other side. The face of a soft box that is pressed curls, and
/// where the rims of two of them cross, no node need be over a face of the other: the edges alone keep them apart.
constexpr float kSteep = 0.5f, kRiseAtRim = 0.35f;
constexpr float kSlant = 1e-3f;  ///< the sine of what counts as a right angle

/// The part of w that is at right angles to d.
Vec3 across(Vec3 w, Vec3 d) {
  const float dd = dot(d, d);
  return dd > 0 ? w - (dot(w, d) / dd) * d : w;
}

/// The sine of the angle between u and the plane at right angles to m, or 0 where there is none.
float slant(Vec3 u, Vec3 m) {
  const float squared = dot(u, u) * dot(m, m);
  return squared > 0 ? dot(u, m) / std::sqrt(squared) : 0;
}

/// Whether p, which lies away from the node, is nearer to an edge of the node than to the node itself.
template <typename PointOf>
bool leans_over_edge(const SurfaceTopology& topology, std::uint32_t node, Vec3 away, PointOf&& point_of) {
  const Vec3 x = point_of(node);
  for (const std::uint32_t n : topology.neighbors[node]) {
    if (slant(away, point_of(n) - x) > kSlant) return true;
  }
  return false;
}

/// How far the surface around an edge falls off on both sides as seen from outside, along its length: 0 if it is flat,
/// negative if it rises on one side. An edge that is no ridge of two faces rises for ever.
template <typename PointOf>
float ridge_height(const SurfaceEdge& edge, Vec3 away, PointOf&& point_of) {
  const Vec3 start = point_of(edge.nodes[0]), d = point_of(edge.nodes[1]) - start;
  float lowest = 1;
  const std::uint32_t wings = std::min(edge.face_count, 2u);
  for (std::uint32_t i = 0; i < wings; ++i) {
    lowest = std::min(lowest, -slant(away, across(point_of(edge.wings[i]) - start, d)));
  }
  if (edge.face_count != 2) return lowest < -kSlant ? lowest : std::numeric_limits<float>::infinity();
  return lowest * 0.5f * length(d);
}

/// Whether the surface falls off from the edge as seen from outside: on both sides, or if it is closed on one and does
/// not rise on the other.
template <typename PointOf>
bool is_ridge(const SurfaceTopology& topology, const SurfaceEdge& edge, Vec3 away, float flat, bool is_strict,
              PointOf&& point_of) {
  if (!topology.is_closed() || edge.face_count != 2) return ridge_height(edge, away, point_of) >= flat;
  const Vec3 start = point_of(edge.nodes[0]), d = point_of(edge.nodes[1]) - start;
  float most = 0, least = 1;
  for (const std::uint32_t wing : edge.wings) {
    const float fall = -slant(away, across(point_of(wing) - start, d));
    least = std::min(least, fall), most = std::max(most, fall);
  }
  if (least < (most > kSteep && !is_strict ? -kRiseAtRim : -kRise)) return false;
  return most * 0.5f * length(d) >= flat;
}

template <typename PointOf>
Vec3 normal_of(const SurfaceElement& face, PointOf&& point_of) {
  const Vec3 start = point_of(face.nodes[0]);
  return normalized(cross(point_of(face.nodes[1]) - start, point_of(face.nodes[2]) - start));
}

/// Of the two faces of an edge.
template <typename PointOf>
Vec3 normal_beside(const SurfaceTopology& topology, const SurfaceEdge& edge, PointOf&& point_of) {
  Vec3 sum{};
  for (std::uint32_t i = 0; i < std::min(edge.face_count, 2u); ++i) {
    sum += normal_of(topology.elements[edge.faces[i]], point_of);
  }
  return normalized(sum);
}

/// Of the faces around a node, weighted by their angles there.
template <typename PointOf>
Vec3 normal_around(const SurfaceTopology& topology, std::uint32_t node, PointOf&& point_of) {
  const Vec3 x = point_of(node);
  Vec3 sum{};
  for (const std::uint32_t f : topology.node_faces[node]) {
    const auto& n = topology.elements[f].nodes;
    const std::size_t i = n[0] == node ? 0 : n[1] == node ? 1 : 2;
    const Vec3 d = point_of(n[(i + 1) % 3]) - x, e = point_of(n[(i + 2) % 3]) - x, across = cross(d, e);
    const float area = length(across);
    if (area > 0) sum += (std::atan2(area, dot(d, e)) / area) * across;
  }
  return normalized(sum);
}

}  // namespace

SurfacePair SurfacePair::of(FeaturePair kind, const SurfaceTree& first, std::uint32_t a, const SurfaceTree& second,
                            std::uint32_t b) {
  SurfacePair pair{kind, &first, &second, {}, {a, b}};
  if (kind == FeaturePair::NodeFace) {
    const auto& f = second.topology().elements[b].nodes;
    pair.nodes = {a, f[0], f[1], f[2]};
  } else {
    const NodePair p = first.topology().edges[a].nodes, q = second.topology().edges[b].nodes;
    pair.nodes = {p[0], p[1], q[0], q[1]};
  }
  return pair;
}

void SurfacePair::place(Vec3 drift_of_first) {
  drift = drift_of_first;
  const std::size_t split = kind == FeaturePair::NodeFace ? 1 : 2;
  for (std::size_t i = 0; i < 4; ++i) {
    const SurfaceTree& tree = i < split ? *first : *second;
    x[i] = tree.positions()[nodes[i]].xyz();
    motion[i] = tree.motions()[nodes[i]].xyz();
    if (i < split) motion[i] += drift;
  }
}

std::uint64_t SurfacePair::key() const {
  const SurfaceTopology &a = first->topology(), &b = second->topology();
  if (kind == FeaturePair::NodeFace) {
    return std::uint64_t{a.nodes[feature[0]]} << 32 | (b.first_feature + feature[1]);
  }
  return std::uint64_t{1} << 63 | std::uint64_t{a.first_feature + feature[0]} << 32 | (b.first_feature + feature[1]);
}

bool SurfacePair::is_redundant(const Separation& at, float t) const {
  return kind == FeaturePair::NodeFace ? is_redundant_on_face(at, t) : is_redundant_of_edges(at, t);
}

bool SurfacePair::is_redundant_on_face(const Separation& at, float t) const {
  const SurfaceTopology& topology = second->topology();
  const SurfaceElement& face = topology.elements[feature[1]];
  const auto point_of = [&](std::uint32_t n) { return point_of_second(n, t); };
  const int zeros = (at.weights[1] == 0) + (at.weights[2] == 0) + (at.weights[3] == 0);
  if (zeros == 0) return false;
  if (zeros == 2) {  // at a corner
    const std::size_t i = at.weights[1] != 0 ? 0 : at.weights[2] != 0 ? 1 : 2;
    return !(face.owned_nodes >> i & 1) || leans_over_edge(topology, face.nodes[i], at.offset, point_of);
  }
  const std::size_t i = at.weights[1] == 0 ? 1 : at.weights[2] == 0 ? 2 : 0;  // on the edge opposite to the zero
  if (!(face.owned_edges >> i & 1)) return true;
  const SurfaceEdge& edge = topology.edges[face.edges[i]];
  const Vec3 start = point_of(edge.nodes[0]), d = point_of(edge.nodes[1]) - start;
  for (std::uint32_t w = 0; w < std::min(edge.face_count, 2u); ++w) {
    if (slant(at.offset, across(point_of(edge.wings[w]) - start, d)) > kSlant) return true;
  }
  return false;
}

bool SurfacePair::are_ridges(Vec3 normal, float t, bool is_deep) const {
  const SurfaceTopology &a = first->topology(), &b = second->topology();
  const float flat = a.flatness + b.flatness;
  // Cloth has other edges nearby; around the corners of a pole it would catch.
  const bool is_strict = is_deep || !a.is_closed() || !b.is_closed();
  return is_ridge(a, a.edges[feature[0]], -normal, flat, is_strict,
                  [&](std::uint32_t n) { return point_of_first(n, t); }) &&
         is_ridge(b, b.edges[feature[1]], normal, flat, is_strict,
                  [&](std::uint32_t n) { return point_of_second(n, t); });
}

bool SurfacePair::is_redundant_of_edges(const Separation& at, float t) const {
  const SurfaceTopology &a = first->topology(), &b = second->topology();
  const SurfaceEdge &edge_a = a.edges[feature[0]], &edge_b = b.edges[feature[1]];
  const auto point_a = [&](std::uint32_t n) { return point_of_first(n, t); };
  const auto point_b = [&](std::uint32_t n) { return point_of_second(n, t); };
  const int end_a = at.weights[1] == 0 ? 0 : at.weights[0] == 0 ? 1 : -1;
  const int end_b = at.weights[3] == 0 ? 0 : at.weights[2] == 0 ? 1 : -1;
  const std::uint32_t node_a = end_a < 0 ? 0 : nodes[std::size_t(end_a)];
  const std::uint32_t node_b = end_b < 0 ? 0 : nodes[std::size_t(2 + end_b)];
  if (end_a >= 0 && end_b >= 0 && (a.has_face[node_a] || b.has_face[node_b])) return true;
  if (end_a >= 0 && end_b < 0 && !edge_b.is_free()) return true;
  if (end_b >= 0 && end_a < 0 && !edge_a.is_free()) return true;
  if (end_a >= 0 && is_redundant_at_end(*first, feature[0], node_a, -at.offset, point_a)) return true;
  if (end_b >= 0 && is_redundant_at_end(*second, feature[1], node_b, at.offset, point_b)) return true;
  const float flat = a.flatness + b.flatness;
  return (end_a < 0 && ridge_height(edge_a, -at.offset, point_a) < flat) ||
         (end_b < 0 && ridge_height(edge_b, at.offset, point_b) < flat);
}

/// Of all edges that end in a node one speaks for it, and only if none of them is nearer than the node.
template <typename PointOf>
bool SurfacePair::is_redundant_at_end(const SurfaceTree& tree, std::uint32_t edge, std::uint32_t node, Vec3 away,
                                      PointOf&& point_of) const {
  return tree.topology().first_edge[node] != edge || leans_over_edge(tree.topology(), node, away, point_of);
}

Vec3 SurfacePair::normal_of_face(const Separation& at, float t) const {
  const SurfaceTopology& topology = second->topology();
  const auto point_of = [&](std::uint32_t n) { return point_of_second(n, t); };
  const SurfaceElement& face = topology.elements[feature[1]];
  const int zeros = (at.weights[1] == 0) + (at.weights[2] == 0) + (at.weights[3] == 0);
  if (zeros == 2) {
    const std::size_t i = at.weights[1] != 0 ? 0 : at.weights[2] != 0 ? 1 : 2;
    return normal_around(topology, face.nodes[i], point_of);
  }
  if (zeros == 1) {
    const std::size_t i = at.weights[1] == 0 ? 1 : at.weights[2] == 0 ? 2 : 0;
    const SurfaceEdge& edge = topology.edges[face.edges[i]];
    if (!edge.is_border()) return normal_beside(topology, edge, point_of);
  }
  return t == 0 ? second->outward_of_faces()[feature[1]] : normal_of(face, point_of);
}

Vec3 SurfacePair::normal_of_edge(bool is_first, float t) const {
  const auto point_of = [&](std::uint32_t n) { return is_first ? point_of_first(n, t) : point_of_second(n, t); };
  const SurfaceTopology& topology = (is_first ? first : second)->topology();
  return normal_beside(topology, topology.edges[feature[is_first ? 0 : 1]], point_of);
}

/// By the normal of the face or, on an edge, by the sum of those of its two faces (Bærentzen and Aanæs 2005).
float SurfacePair::side_of_node(const Separation& now) const {
  const SurfaceTopology& topology = second->topology();
  const int zeros = (now.weights[1] == 0) + (now.weights[2] == 0) + (now.weights[3] == 0);
  if (zeros == 2) return 0;
  Vec3 normal = common_normal(0);
  if (zeros == 1) {
    const std::size_t i = now.weights[1] == 0 ? 1 : now.weights[2] == 0 ? 2 : 0;
    const SurfaceElement& face = topology.elements[feature[1]];
    const SurfaceEdge& edge = topology.edges[face.edges[i]];
    if (edge.is_border()) return 0;
    const std::uint32_t across_edge = edge.wings[0] == face.nodes[(i + 2) % 3] ? edge.wings[1] : edge.wings[0];
    const Vec3 start = point_of_second(face.nodes[i], 0), end = point_of_second(face.nodes[(i + 1) % 3], 0);
    normal += normalized(cross(point_of_second(across_edge, 0) - start, end - start));
    if (length_squared(normal) < kSharp) return 0;
  }
  const float height = dot(now.offset, normal);
  return height < 0 ? -1.0f : 1.0f;
}

Vec3 SurfacePair::common_normal(float t) const {
  const PairPoints p = moved(x, motion, t);
  if (kind == FeaturePair::NodeFace) return normalized(cross(p[2] - p[1], p[3] - p[1]));
  return normalized(cross(p[1] - p[0], p[3] - p[2]));
}

float SurfacePair::rest_distance(const std::array<float, 4>& weights) const {
  const std::vector<Vec3>&a = first->topology().rest, &b = second->topology().rest;
  const bool is_face = kind == FeaturePair::NodeFace;
  return length(combine(weights, {a[nodes[0]], (is_face ? b : a)[nodes[1]], b[nodes[2]], b[nodes[3]]}));
}

}  // namespace pliant
