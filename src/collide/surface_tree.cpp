#include "collide/surface_tree.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pliant {
namespace {

constexpr std::size_t kLeafSize = 8;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kFarthest = 1e15f;  ///< m; squares of it are still finite
constexpr std::size_t kNodesPerChunk = 4096;
/// Two faces are level with each other if their normals are within 11°. A node that is beyond their edge by a quarter
/// of its height is then nearer to the neighbour.
constexpr float kLevel = 0.98f, kBeyond = 0.25f * 0.25f;
constexpr std::size_t kLeavesPerChunk = 512;
constexpr std::size_t kMaxSubtrees = 64;  ///< how many parts a refit is cut into, whatever the number of threads

bool is_near(Vec3 p) {
  return std::abs(p.x) < kFarthest && std::abs(p.y) < kFarthest && std::abs(p.z) < kFarthest;  // false for NaN
}

/// The mean of the velocities that are sane.
Vec3 mean_velocity(std::span<const std::uint32_t> nodes, std::span<const Vec4> v) {
  double x = 0, y = 0, z = 0;
  std::size_t count = 0;
  for (const std::uint32_t n : nodes) {
    if (!is_near(v[n].xyz())) continue;
    x += double(v[n].x), y += double(v[n].y), z += double(v[n].z);
    ++count;
  }
  const double scale = count > 0 ? 1 / double(count) : 0;
  return {float(x * scale), float(y * scale), float(z * scale)};
}

std::size_t longest_axis(const Aabb& box) {
  const Vec3 s = box.size();
  return s.x >= s.y && s.x >= s.z ? 0 : s.y >= s.z ? 1 : 2;
}

}  // namespace

SurfaceTree::SurfaceTree(SurfaceTopology topology) : topology_(std::move(topology)) {
  positions_.resize(topology_.nodes.size());
  motions_.resize(topology_.nodes.size());
  if (!topology_.elements.empty()) build();
}

void SurfaceTree::build() {
  std::size_t leaves = 1;
  while (leaves * kLeafSize < topology_.elements.size()) leaves *= 2;
  leaves_.resize(leaves);
  nodes_.resize(2 * leaves - 1);
  std::vector<std::uint32_t> order(topology_.elements.size());
  std::iota(order.begin(), order.end(), 0u);
  fill_leaves(order, 0);

  std::vector<std::uint32_t> leaf_of(topology_.elements.size());
  for (std::uint32_t l = 0; l < leaves; ++l) {
    for (std::uint32_t i = 0; i < leaves_[l].count; ++i) leaf_of[leaves_[l].elements[i]] = l;
  }
  std::uint32_t levels = 1;
  while ((std::size_t{1} << levels) <= leaves) ++levels;
  patches_ = SurfacePatches(topology_, leaf_of, levels);
  normal_boxes_.resize(nodes_.size());
  normals_.resize(topology_.elements.size());
  edge_states_.resize(topology_.edges.size());
}

/// Halves the elements along the longest side of their box at rest until they fit into a leaf.
void SurfaceTree::fill_leaves(std::span<std::uint32_t> order, std::uint32_t node) {
  if (is_leaf(node)) {
    Leaf& leaf = leaves_[node + 1 - leaves_.size()];
    leaf.count = std::uint32_t(order.size());
    for (std::uint32_t i = 0; i < kLeafSize; ++i) {
      leaf.elements[i] = i < order.size() ? order[i] : 0;
      leaf.faces.owned_nodes[i] = topology_.elements[leaf.elements[i]].owned_nodes;
      leaf.boxes.set(i, {kNan, kNan, kNan}, {kNan, kNan, kNan});
    }
    return;
  }
  const auto center = [&](std::uint32_t e) {
    const auto& n = topology_.elements[e].nodes;
    return topology_.rest[n[0]] + topology_.rest[n[1]] + topology_.rest[n[2]];
  };
  Aabb box;
  for (const std::uint32_t e : order) box.include(center(e));
  const std::size_t axis = longest_axis(box), half = order.size() / 2;
  std::nth_element(order.begin(), order.begin() + std::ptrdiff_t(half), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     const float ca = center(a)[axis], cb = center(b)[axis];
                     return ca != cb ? ca < cb : a < b;
                   });
  fill_leaves(order.first(half), 2 * node + 1);
  fill_leaves(order.subspan(half), 2 * node + 2);
}

Aabb SurfaceTree::bounds() const {
  Aabb box;
  if (nodes_.empty() || !(nodes_[0].lower.x <= nodes_[0].upper.x)) return box;
  const Vec3 zero{};
  return {nodes_[0].lower + min_each(drift_, zero), nodes_[0].upper + max_each(drift_, zero)};
}

void SurfaceTree::refit(std::span<const Vec4> x, std::span<const Vec4> v, float h, float margin, Workers& workers) {
  margin_ = margin;
  move_nodes(x, v, h, workers);
  if (nodes_.empty()) return;
  // Subtrees in parallel, then the few nodes above them.
  const std::uint32_t subtrees = std::uint32_t(std::min(kMaxSubtrees, leaves_.size()));
  const float growth = topology_.radius + 0.5f * margin;
  parallel_for(workers, subtrees, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) fit_below(subtrees - 1 + std::uint32_t(s), growth);
  });
  for (std::uint32_t n = subtrees - 1; n-- > 0;) fit_inner(n);
  parallel_for(workers, edge_states_.size(), kNodesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) edge_states_[e] = state_of(topology_.edges[e]);
  });
  parallel_for(workers, leaves_.size(), kLeavesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t l = begin; l < end; ++l) note_edges(leaves_[l]);
  });
}

void SurfaceTree::move_nodes(std::span<const Vec4> x, std::span<const Vec4> v, float h, Workers& workers) {
  const Vec3 mean = mean_velocity(topology_.nodes, v);
  drift_ = h * mean;
  parallel_for(workers, topology_.nodes.size(), kNodesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec4& p = x[topology_.nodes[i]];
      const Vec3 m = h * (v[topology_.nodes[i]].xyz() - mean);
      const bool is_sane = is_near(p.xyz()) && is_near(m);
      positions_[i] = is_sane ? Vec4{p.x, p.y, p.z, 0} : Vec4{kNan, kNan, kNan, 0};
      motions_[i] = {m.x, m.y, m.z, length(m)};
    }
  });
}

/// From the leaves up, level by level.
void SurfaceTree::fit_below(std::uint32_t root, float growth) {
  std::uint32_t first = root, count = 1;
  while (!is_leaf(first)) first = 2 * first + 1, count *= 2;
  for (std::uint32_t n = first; n < first + count; ++n) fit_leaf(n, growth);
  while (first != root) {
    first = (first - 1) / 2, count /= 2;
    for (std::uint32_t n = first; n < first + count; ++n) fit_inner(n);
  }
}

void SurfaceTree::fit_inner(std::uint32_t node) {
  const Node &a = nodes_[2 * node + 1], &b = nodes_[2 * node + 2];
  nodes_[node] = {min_each(a.lower, b.lower), max_each(a.upper, b.upper)};
  normal_boxes_[node] = NormalBox::join(normal_boxes_[2 * node + 1], normal_boxes_[2 * node + 2]);
}

/// The normals that the element has in the course of the substep. With edges d, e and their motions u, w that is the
/// direction of d×e + t (u×e + d×w) + t² u×w: a Bézier curve, which stays within the cone of its three control points
/// (Tang et al., continuous normal cones, 2009).
NormalBox SurfaceTree::fit_normal(std::uint32_t element) {
  const auto& nodes = topology_.elements[element].nodes;
  const Vec3 start = positions_[nodes[0]].xyz(), from = motions_[nodes[0]].xyz();
  const Vec3 d = positions_[nodes[1]].xyz() - start, e = positions_[nodes[2]].xyz() - start;
  const Vec3 u = motions_[nodes[1]].xyz() - from, w = motions_[nodes[2]].xyz() - from;
  const Vec3 first = cross(d, e), middle = first + 0.5f * (cross(u, e) + cross(d, w)), last = cross(d + u, e + w);
  const Vec3 normal = normalized(first);
  const float motion = std::max({motions_[nodes[0]].w, motions_[nodes[1]].w, motions_[nodes[2]].w});
  normals_[element] = {normal.x, normal.y, normal.z, motion};
  const float squares[3] = {dot(first, first), dot(middle, middle), dot(last, last)};
  const bool has_normals = std::min({squares[0], squares[1], squares[2]}) > std::numeric_limits<float>::min() &&
                           is_finite(normal) && topology_.elements[element].is_face;
  if (!has_normals) return NormalBox::all();
  const Vec3 n = middle * (1 / std::sqrt(squares[1])), m = last * (1 / std::sqrt(squares[2]));
  return {min_each(normal, min_each(n, m)), max_each(normal, max_each(n, m))};
}

void SurfaceTree::fit_leaf(std::uint32_t node, float growth) {
  Leaf& leaf = leaves_[node + 1 - leaves_.size()];
  leaf.motion = 0;
  leaf.is_all_faces = true;
  Aabb all;
  NormalBox normals;
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    const SurfaceElement& e = topology_.elements[leaf.elements[i]];
    normals = NormalBox::join(normals, fit_normal(leaf.elements[i]));
    const std::array<Vec3, 3> corners{positions_[e.nodes[0]].xyz(), positions_[e.nodes[1]].xyz(),
                                      positions_[e.nodes[2]].xyz()};
    const Vec4& normal = normals_[leaf.elements[i]];
    leaf.faces.set(i, corners, normal.xyz());
    leaf.motion = std::max(leaf.motion, normal.w);
    leaf.is_all_faces &= e.is_face;
    Vec3 lower = corners[0], upper = lower, sum{};
    for (const std::uint32_t n : e.nodes) {
      const Vec3 from = positions_[n].xyz(), to = from + motions_[n].xyz();
      lower = min_each(lower, min_each(from, to));
      upper = max_each(upper, max_each(from, to));
      sum += from;
    }
    if (!is_finite(sum)) {
      leaf.is_all_faces = false;
      leaf.boxes.set(i, {kNan, kNan, kNan}, {kNan, kNan, kNan});
      continue;
    }
    // Rounded outward: the search reckons paths in double.
    const Vec3 size = max_each(-lower, upper);
    const float g = growth + 2e-7f * std::max({size.x, size.y, size.z});
    leaf.boxes.set(i, lower - Vec3{g, g, g}, upper + Vec3{g, g, g});
    all.include(leaf.boxes.lower_at(i));
    all.include(leaf.boxes.upper_at(i));
  }
  for (std::uint32_t i = leaf.count; i < kLeafSize; ++i) {
    leaf.faces.set(i, {leaf.faces.corner_at(0, 0), leaf.faces.corner_at(1, 0), leaf.faces.corner_at(2, 0)},
                   leaf.faces.normal_at(0));
  }
  nodes_[node] = {all.lower, all.upper};
  normal_boxes_[node] = normals;
}

void SurfaceTree::note_edges(Leaf& leaf) const {
  leaf.has_ridges = false;
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    const SurfaceElement& e = topology_.elements[leaf.elements[i]];
    leaf.ridges[i] = 0;
    for (std::size_t k = 0; k < e.edge_count(); ++k) {
      const EdgeState state = edge_states_[e.edges[k]];
      const bool is_ridge = (e.owned_edges >> k & 1) && !state.is_flat;
      leaf.ridges[i] |= std::uint8_t(is_ridge << k);
      leaf.faces.beyond[k][i] = state.is_level ? kBeyond : std::numeric_limits<float>::infinity();
    }
    leaf.has_ridges |= leaf.ridges[i] != 0;
  }
}

SurfaceTree::EdgeState SurfaceTree::state_of(const SurfaceEdge& edge) const {
  if (edge.is_border()) return {};
  const Vec3 d = positions_[edge.nodes[1]].xyz() - positions_[edge.nodes[0]].xyz();
  const float cosine = dot(normals_[edge.faces[0]].xyz(), normals_[edge.faces[1]].xyz());
  // The sine of half the angle between the faces, times half of the length, is how far the edge can stand out.
  const float limit = 2 * kFlatness * topology_.radius;
  return {0.125f * (1 - cosine) * dot(d, d) < limit * limit, cosine >= kLevel};
}

}  // namespace pliant
