#include "collide/surface_tree.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

namespace pliant {
namespace {

constexpr std::size_t kLeafSize = 8;
constexpr std::uint32_t kNoLeaf = 0xffffffffu;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kFarthest = 1e15f;  ///< m; squares of it are still finite
constexpr std::size_t kNodesPerChunk = 4096;
constexpr std::size_t kLeavesPerChunk = 512;
/// How far nodes may stray from what was foretold, as a share of the mean length of the edges at rest. So little bends
/// no flat patch (see surface_patches.h) so far that it could touch itself.
constexpr float kSlack = 0.05f;
/// Motion within a closed surface, over the slack, beyond which what was foretold would not last.
constexpr float kBrisk = 1;
constexpr std::size_t kMaxSubtrees = 64;  ///< how many parts a refit is cut into, whatever the number of threads

bool is_near(Vec3 p) {
  return std::abs(p.x) < kFarthest && std::abs(p.y) < kFarthest && std::abs(p.z) < kFarthest;  // false for NaN
}

Vec3 xyz(const Vec4& p) { return p.xyz(); }
Vec3 xyz(Vec3 p) { return p; }

/// The mean of the velocities that are sane.
template <typename Vector>
Vec3 mean_velocity(std::span<const std::uint32_t> nodes, std::span<const Vector> v) {
  double x = 0, y = 0, z = 0;
  std::size_t count = 0;
  for (const std::uint32_t n : nodes) {
    if (!is_near(xyz(v[n]))) continue;
    x += double(v[n].x), y += double(v[n].y), z += double(v[n].z);
    ++count;
  }
  const double scale = count > 0 ? 1 / double(count) : 0;
  return {float(x * scale), float(y * scale), float(z * scale)};
}

Vec3 mean_of(std::span<const Vec4> x) {
  double sum[3] = {};
  std::size_t count = 0;
  for (const Vec4& p : x) {
    if (!is_near(p.xyz())) continue;
    sum[0] += double(p.x), sum[1] += double(p.y), sum[2] += double(p.z);
    ++count;
  }
  const double scale = count > 0 ? 1 / double(count) : 0;
  return {float(scale * sum[0]), float(scale * sum[1]), float(scale * sum[2])};
}

/// Only to be compared: it does not decide what happens.
std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::size_t longest_axis(const Aabb& box) {
  const Vec3 s = box.size();
  return s.x >= s.y && s.x >= s.z ? 0 : s.y >= s.z ? 1 : 2;
}

}  // namespace

SurfaceTree::SurfaceTree(SurfaceTopology topology, bool meets_itself)
    : topology_(std::move(topology)), meets_itself_(meets_itself) {
  positions_.resize(topology_.nodes.size());
  motions_.resize(topology_.nodes.size());
  strayed_.resize(topology_.nodes.size());
  if (!topology_.elements.empty()) build();
}

void SurfaceTree::build() {
  std::size_t leaves = 1;
  while (leaves * kLeafSize < topology_.elements.size()) leaves *= 2;
  leaves_.resize(leaves);
  nodes_.resize(2 * leaves - 1);
  std::vector<std::uint32_t> order(topology_.elements.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<Vec3> centers;
  centers.reserve(order.size());
  for (const SurfaceElement& e : topology_.elements) {
    centers.push_back(topology_.rest[e.nodes[0]] + topology_.rest[e.nodes[1]] + topology_.rest[e.nodes[2]]);
  }
  fill_leaves(order, centers, 0);

  if (meets_itself_) find_patches();
  normal_boxes_.resize(nodes_.size());
  normals_.resize(topology_.elements.size());
  double lengths = 0;
  for (const SurfaceEdge& e : topology_.edges) {
    lengths += double(length(topology_.rest[e.nodes[1]] - topology_.rest[e.nodes[0]]));
  }
  slack_ = topology_.slack > 0 ? topology_.slack : kSlack * float(lengths / double(topology_.edges.size()));
  list_leaves_of_nodes();
}

void SurfaceTree::find_patches() {
  std::vector<std::uint32_t> leaf_of(topology_.elements.size());
  for (std::uint32_t l = 0; l < leaves_.size(); ++l) {
    for (std::uint32_t i = 0; i < leaves_[l].count; ++i) leaf_of[leaves_[l].elements[i]] = l;
  }
  std::uint32_t levels = 1;
  while ((std::size_t{1} << levels) <= leaves_.size()) ++levels;
  patches_ = SurfacePatches(topology_, leaf_of, levels);
}

void SurfaceTree::list_leaves_of_nodes() {
  // Each leaf once for each of its nodes: a node remembers the leaf that it was met in last.
  std::vector<std::uint32_t> last(topology_.nodes.size(), kNoLeaf);
  const auto for_each_node = [&](auto&& visit) {
    std::fill(last.begin(), last.end(), kNoLeaf);
    for (std::uint32_t l = 0; l < leaves_.size(); ++l) {
      for (std::uint32_t i = 0; i < leaves_[l].count; ++i) {
        for (const std::uint32_t n : topology_.elements[leaves_[l].elements[i]].nodes) {
          if (last[n] != l) visit(n, l);
          last[n] = l;
        }
      }
    }
  };
  std::vector<std::uint32_t>& offsets = leaves_of_node_.offsets;
  offsets.assign(topology_.nodes.size() + 1, 0);
  for_each_node([&](std::uint32_t node, std::uint32_t) { ++offsets[node + 1]; });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  leaves_of_node_.items.resize(offsets.back());
  std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
  for_each_node([&](std::uint32_t node, std::uint32_t leaf) { leaves_of_node_.items[next[node]++] = leaf; });
}

/// Halves the elements along the longest side of their box at rest until they fit into a leaf.
void SurfaceTree::fill_leaves(std::span<std::uint32_t> order, std::span<const Vec3> centers, std::uint32_t node) {
  if (is_leaf(node)) {
    Leaf& leaf = leaves_[node + 1 - leaves_.size()];
    leaf.count = std::uint32_t(order.size());
    for (std::uint32_t i = 0; i < kLeafSize; ++i) {
      leaf.elements[i] = i < order.size() ? order[i] : 0;
      leaf.owned_nodes[i] = i < order.size() ? topology_.elements[order[i]].owned_nodes : std::uint8_t{0};
      leaf.boxes.set(i, {kNan, kNan, kNan}, {kNan, kNan, kNan});
      for (EdgeLanes& lanes : leaf.edges) lanes.boxes.set(i, {kNan, kNan, kNan}, {kNan, kNan, kNan});
    }
    leaf.edge_count = 0;
    for (const std::uint32_t e : order) {
      const SurfaceElement& element = topology_.elements[e];
      for (std::size_t k = 0; k < element.edge_count(); ++k) {
        if (!(element.owned_edges >> k & 1)) continue;
        leaf.edges[leaf.edge_count / 8].edges[leaf.edge_count % 8] = element.edges[k];
        ++leaf.edge_count;
      }
    }
    return;
  }
  Aabb box;
  for (const std::uint32_t e : order) box.include(centers[e]);
  const std::size_t axis = longest_axis(box), half = order.size() / 2;
  std::nth_element(order.begin(), order.begin() + std::ptrdiff_t(half), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     const float ca = centers[a][axis], cb = centers[b][axis];
                     return ca != cb ? ca < cb : a < b;
                   });
  fill_leaves(order.first(half), centers, 2 * node + 1);
  fill_leaves(order.subspan(half), centers, 2 * node + 2);
}

Aabb SurfaceTree::bounds() const {
  Aabb box;
  if (nodes_.empty() || !(nodes_[0].lower.x <= nodes_[0].upper.x)) return box;
  const Vec3 zero{}, way = max_each(nodes_[0].most_way, -nodes_[0].least_way);
  const Vec3 drift = fit_.is_brisk ? zero : drift_;
  return {nodes_[0].lower - way + displacement_ + min_each(drift, zero),
          nodes_[0].upper + way + displacement_ + max_each(drift, zero)};
}

bool SurfaceTree::is_crossed(Vec3 from, Vec3 to) const {
  if (nodes_.empty()) return false;
  constexpr float kEnds = 0.01f;
  const Vec3 start = from - displacement_, end = to - displacement_;
  const Vec3 low = min_each(start, end), high = max_each(start, end);
  const Vec3 way = to - from;
  std::uint32_t stack[64];
  int top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const std::uint32_t n = stack[--top];
    const Node& node = nodes_[n];
    // The substep begins half of their ways before the boxes of a brisk surface.
    const Vec3 least = low + node.least_way, most = high + node.most_way;
    if (!node.overlaps(least, most)) continue;
    if (!is_leaf(n)) {
      stack[top++] = 2 * n + 2, stack[top++] = 2 * n + 1;
      continue;
    }
    const Leaf& l = leaf(n);
    for (std::uint32_t m = overlap_mask(l.boxes, least, most); m != 0; m &= m - 1) {
      const SurfaceElement& e = topology_.elements[l.elements[lowest_bit(m)]];
      if (!e.is_face) continue;
      // Möller and Trumbore 1997.
      const Vec3 a = positions_[e.nodes[0]].xyz(), ab = positions_[e.nodes[1]].xyz() - a,
                 ac = positions_[e.nodes[2]].xyz() - a, p = cross(way, ac), q = cross(from - a, ab);
      const float det = dot(ab, p);
      if (det == 0) continue;
      const float u = dot(from - a, p) / det, v = dot(way, q) / det, t = dot(ac, q) / det;
      if (u >= 0 && v >= 0 && u + v <= 1 && t > kEnds && t < 1 - kEnds) return true;
    }
  }
  return false;
}

void SurfaceTree::refit(std::span<const Vec4> x, std::span<const Vec4> v, float h, float margin, Workers& workers) {
  margin_ = margin;
  substep_ = h;
  move_nodes(x, v, {}, h, workers);
  fit_moved(workers);
}

void SurfaceTree::refit(std::span<const Vec3> x, std::span<const Vec3> v, Vec3 boost, float h, float margin,
                        Workers& workers) {
  margin_ = margin;
  substep_ = h;
  move_nodes(x, v, boost, h, workers);
  fit_moved(workers);
}

void SurfaceTree::find_outward() {
  face_normals_.resize(topology_.face_count);
  node_normals_.assign(positions_.size(), {});
  for (std::size_t f = 0; f < topology_.face_count; ++f) {
    const auto& n = topology_.elements[f].nodes;
    const Vec3 start = positions_[n[0]].xyz();
    const Vec3 area = cross(positions_[n[1]].xyz() - start, positions_[n[2]].xyz() - start);
    face_normals_[f] = normalized(area);
    for (const std::uint32_t node : n) node_normals_[node] += area;
  }
  for (Vec3& n : node_normals_) n = normalized(n);
}

void SurfaceTree::find_creases() {
  constexpr float kHollow = 0.05f;  // the sine of what still counts as flat
  at_crease_.assign(positions_.size(), 0);
  for (const SurfaceEdge& edge : topology_.edges) {
    const Vec3 wing = edge.is_border() ? Vec3{} : wing_from_edge(edge);
    const bool is_hollow = edge.is_border() || !(dot(normals_[edge.faces[0]], wing) < kHollow * length(wing));
    if (is_hollow) at_crease_[edge.nodes[0]] = at_crease_[edge.nodes[1]] = 1;
  }
  has_creases_.resize(topology_.face_count);
  for (std::size_t f = 0; f < topology_.face_count; ++f) {
    const auto& n = topology_.elements[f].nodes;
    has_creases_[f] = at_crease_[n[0]] | at_crease_[n[1]] | at_crease_[n[2]];
  }
}

void SurfaceTree::fit_moved(Workers& workers) {
  if (nodes_.empty()) return;
  if (topology_.is_closed()) find_outward();
  // A solid that has slowed down has boxes that are larger than they need be.
  const bool is_loose = topology_.is_closed() && 2 * margin_ < fit_.margin;
  const bool is_brisk = topology_.is_closed() && fastest() > kBrisk * slack_;
  const bool is_known =
      fit_.centers.size() == positions_.size() && margin_ <= fit_.margin && !is_loose && !is_brisk && !fit_.is_brisk;
  if (is_known) find_frame();
  if (!is_known || !is_near(displacement_)) {
    fit_.start = mean_of(positions_);
    fit_.margin = margin_;
    fit_.is_brisk = is_brisk;
    fit_.centers.resize(positions_.size());
    fit_.ways.resize(positions_.size());
    fit_.foretold.resize(positions_.size());
    fit_.renewed.resize(leaves_.size());
    displacement_ = {};
    id_ = next_id();
    fit_.now = 1;
    return foretell_all(workers);
  }
  ++fit_.now;
  const std::size_t strays = find_strays(workers);
  if (strays > positions_.size() / 8) {
    foretell_all(workers);
  } else if (strays > 0) {
    fit_strays(workers);
    last_renewed_ = fit_.now;
    if (topology_.is_closed()) find_creases();
  }
}

void SurfaceTree::foretell_all(Workers& workers) {
  for (std::uint32_t n = 0; n < positions_.size(); ++n) foretell(n);
  std::fill(fit_.renewed.begin(), fit_.renewed.end(), fit_.now);
  last_renewed_ = fit_.now;
  fit_all(workers);
}

void SurfaceTree::restore(const Fit& fit, Workers& workers) {
  fit_ = fit;
  id_ = next_id();
  if (!nodes_.empty() && fit.centers.size() == positions_.size()) fit_all(workers);
  last_renewed_ = fit.renewed.empty() ? 0 : *std::max_element(fit.renewed.begin(), fit.renewed.end());
}

void SurfaceTree::fit_all(Workers& workers) {
  // Subtrees in parallel, then the few nodes above them.
  const std::uint32_t subtrees = std::uint32_t(std::min(kMaxSubtrees, leaves_.size()));
  parallel_for(workers, subtrees, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) fit_below(subtrees - 1 + std::uint32_t(s));
  });
  for (std::uint32_t n = subtrees - 1; n-- > 0;) fit_inner(n);
  parallel_for(workers, leaves_.size(), kLeavesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t l = begin; l < end; ++l) fit_edges(leaves_[l]);
  });
  if (topology_.is_closed()) find_creases();
}

/// Foretells the paths of the strayed nodes anew, and fits the leaves that have them.
void SurfaceTree::fit_strays(Workers& workers) {
  strays_.clear();
  for (std::uint32_t n = 0; n < strayed_.size(); ++n) {
    if (!strayed_[n]) continue;
    foretell(n);
    for (const std::uint32_t leaf : leaves_of_node_[n]) {
      if (fit_.renewed[leaf] == fit_.now) continue;
      fit_.renewed[leaf] = fit_.now;
      strays_.push_back(leaf);
    }
  }
  std::sort(strays_.begin(), strays_.end());
  const std::uint32_t first = std::uint32_t(leaves_.size()) - 1;
  parallel_for(workers, strays_.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) fit_leaf(first + strays_[i]);
  });
  for (const std::uint32_t leaf : strays_) fit_edges(leaves_[leaf]);
  // Ancestors level by level, each once.
  parents_.assign(strays_.begin(), strays_.end());
  for (std::uint32_t& n : parents_) n += first;
  while (parents_[0] != 0) {
    for (std::uint32_t& n : parents_) n = (n - 1) / 2;
    parents_.erase(std::unique(parents_.begin(), parents_.end()), parents_.end());
    for (const std::uint32_t n : parents_) fit_inner(n);
  }
}

/// The frame moves with the mean of all nodes.
void SurfaceTree::find_frame() { displacement_ = mean_of(positions_) - fit_.start; }

/// How many nodes are not, or will not be after this substep, within the slack of where they were expected.
std::size_t SurfaceTree::find_strays(Workers& workers) {
  std::atomic<std::size_t> strays{0};
  parallel_for(workers, positions_.size(), kNodesPerChunk, [&](std::size_t begin, std::size_t end) {
    const float squared_slack = slack_ * slack_;
    std::size_t count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3 from = positions_[i].xyz() - displacement_ - fit_.centers[i].xyz(), to = from + motions_[i].xyz();
      const Vec3 way = fit_.ways[i].xyz();
      const float age = float(fit_.now - fit_.foretold[i]) * (2 / kForesight) - 1;
      const float s = std::min(age, 1.0f), t = std::min(age + 2 / kForesight, 1.0f);
      const bool is_kept =
          length_squared(from - s * way) <= squared_slack && length_squared(to - t * way) <= squared_slack;
      strayed_[i] = !is_kept;
      count += !is_kept;
    }
    strays += count;
  });
  return strays;
}

float SurfaceTree::fastest() const {
  float most = 0;
  for (const Vec4& m : motions_) most = m.w > most ? m.w : most;  // NaN is not
  return most;
}

void SurfaceTree::foretell(std::uint32_t node) {
  const Vec3 motion = motions_[node].xyz();
  const Vec3 way = fit_.is_brisk ? 0.5f * (motion + drift_) : 0.5f * kForesight * motion;
  const Vec3 center = positions_[node].xyz() - displacement_ + way;
  fit_.ways[node] = {way.x, way.y, way.z, 0};
  fit_.centers[node] = {center.x, center.y, center.z, length(way)};
  fit_.foretold[node] = fit_.now;
}

template <typename Vector>
void SurfaceTree::move_nodes(std::span<const Vector> x, std::span<const Vector> v, Vec3 boost, float h,
                             Workers& workers) {
  const Vec3 mean = mean_velocity<Vector>(topology_.nodes, v);
  drift_ = h * (mean + boost);
  parallel_for(workers, topology_.nodes.size(), kNodesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3 p = xyz(x[topology_.nodes[i]]);
      const Vec3 m = h * (xyz(v[topology_.nodes[i]]) - mean);
      const bool is_sane = is_near(p) && is_near(m);
      positions_[i] = is_sane ? Vec4{p.x, p.y, p.z, 0} : Vec4{kNan, kNan, kNan, 0};
      motions_[i] = {m.x, m.y, m.z, length(m)};
    }
  });
}

/// From the leaves up, level by level.
void SurfaceTree::fit_below(std::uint32_t root) {
  std::uint32_t first = root, count = 1;
  while (!is_leaf(first)) first = 2 * first + 1, count *= 2;
  for (std::uint32_t n = first; n < first + count; ++n) fit_leaf(n);
  while (first != root) {
    first = (first - 1) / 2, count /= 2;
    for (std::uint32_t n = first; n < first + count; ++n) fit_inner(n);
  }
}

void SurfaceTree::fit_inner(std::uint32_t node) {
  const Node &a = nodes_[2 * node + 1], &b = nodes_[2 * node + 2];
  nodes_[node] = {min_each(a.lower, b.lower), max_each(a.upper, b.upper), min_each(a.least_way, b.least_way),
                  max_each(a.most_way, b.most_way)};
  normal_boxes_[node] = NormalBox::join(normal_boxes_[2 * node + 1], normal_boxes_[2 * node + 2]);
}

/// The normals that the element has in the course of its foretold motion. With edges d, e and their motions u, w that
/// is the direction of d×e + t (u×e + d×w) + t² u×w: a Bézier curve, which stays within the cone of its three control
/// points (Tang et al., continuous normal cones, 2009).
NormalBox SurfaceTree::fit_normal(std::uint32_t element) {
  const auto& nodes = topology_.elements[element].nodes;
  const Vec3 way = fit_.ways[nodes[0]].xyz(), start = fit_.centers[nodes[0]].xyz();
  const Vec3 half_u = fit_.ways[nodes[1]].xyz() - way, half_w = fit_.ways[nodes[2]].xyz() - way;
  const Vec3 d = fit_.centers[nodes[1]].xyz() - start - half_u, e = fit_.centers[nodes[2]].xyz() - start - half_w;
  const Vec3 u = 2 * half_u, w = 2 * half_w;
  const Vec3 normal = normalized(cross(d + half_u, e + half_w));
  normals_[element] = normal;
  if (!meets_itself_) return NormalBox::all();
  const bool is_face = is_finite(normal) && topology_.elements[element].is_face;
  // What moves by less than a hundredth of its size hardly turns.
  const float motion = std::max(length_squared(half_u), length_squared(half_w));
  if (is_face && motion < 1e-4f * std::min(length_squared(d), length_squared(e)) && length_squared(normal) > 0.5f) {
    return {normal, normal};
  }
  const Vec3 first = cross(d, e), middle = first + 0.5f * (cross(u, e) + cross(d, w)), last = cross(d + u, e + w);
  const float squares[3] = {dot(first, first), dot(middle, middle), dot(last, last)};
  const bool has_normals =
      std::min({squares[0], squares[1], squares[2]}) > std::numeric_limits<float>::min() && is_face;
  if (!has_normals) return NormalBox::all();
  const Vec3 l = first * (1 / std::sqrt(squares[0])), n = middle * (1 / std::sqrt(squares[1])),
             m = last * (1 / std::sqrt(squares[2]));
  return {min_each(l, min_each(n, m)), max_each(l, max_each(n, m))};
}

void SurfaceTree::fit_leaf(std::uint32_t node) {
  Leaf& leaf = leaves_[node + 1 - leaves_.size()];
  const float growth = topology_.radius + 0.5f * fit_.margin + slack();
  leaf.is_all_faces = true;
  leaf.motion = 0;
  leaf.foretold = leaf.count > 0 ? fit_.foretold[topology_.elements[leaf.elements[0]].nodes[0]] : 0;
  Aabb all, ways;
  NormalBox normals;
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    const SurfaceElement& e = topology_.elements[leaf.elements[i]];
    normals = NormalBox::join(normals, fit_normal(leaf.elements[i]));
    std::array<Vec3, 3> corners;
    Vec3 lower{1e30f, 1e30f, 1e30f}, upper = -lower, sum{};
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec4& c = fit_.centers[e.nodes[k]];
      const Vec3 way = fit_.ways[e.nodes[k]].xyz();
      const Vec3 half = fit_.is_brisk ? Vec3{} : Vec3{std::abs(way.x), std::abs(way.y), std::abs(way.z)};
      corners[k] = c.xyz();
      lower = min_each(lower, corners[k] - half);
      upper = max_each(upper, corners[k] + half);
      sum += corners[k];
      if (!fit_.is_brisk) leaf.motion = std::max(leaf.motion, c.w);
      if (is_near(way)) ways.include(way);
      if (fit_.foretold[e.nodes[k]] != leaf.foretold) leaf.foretold = 0;
    }
    leaf.faces.set(i, corners, normals_[leaf.elements[i]]);
    leaf.is_all_faces &= e.is_face;
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
  leaf.motion += slack();
  leaf.way = ways.is_empty() ? Vec3{} : 0.5f * (ways.lower + ways.upper);
  leaf.spread = slack() + (ways.is_empty() ? 0.0f : 0.5f * length(ways.upper - ways.lower));
  nodes_[node] = {all.lower, all.upper};
  if (fit_.is_brisk && !ways.is_empty()) nodes_[node].least_way = ways.lower, nodes_[node].most_way = ways.upper;
  normal_boxes_[node] = normals;
}

void SurfaceTree::fit_edges(Leaf& leaf) const {
  const float growth = topology_.radius + 0.5f * fit_.margin + slack();
  leaf.has_ridges = false;
  for (std::uint32_t i = 0; i < leaf.edge_count; ++i) {
    EdgeLanes& lanes = leaf.edges[i / 8];
    const std::uint32_t lane = i % 8;
    if (lane == 0) lanes.ridges = 0;
    const SurfaceEdge& edge = topology_.edges[lanes.edges[lane]];
    for (std::size_t k = 0; k < 2; ++k) {
      const Vec3 c = fit_.centers[edge.nodes[k]].xyz();
      for (std::size_t a = 0; a < 3; ++a) lanes.ends[k][a][lane] = c[a];
      lanes.nodes[k][lane] = edge.nodes[k];
    }
    const std::uint32_t is_ridge = is_flat_edge(edge) ? 0 : 1;
    lanes.ridges |= is_ridge << lane;
    leaf.has_ridges |= is_ridge != 0;
    Aabb box;
    for (const std::uint32_t n : edge.nodes) {
      const Vec3 c = fit_.centers[n].xyz(), way = fit_.is_brisk ? Vec3{} : fit_.ways[n].xyz();
      box.include(c - way);
      box.include(c + way);
    }
    const Vec3 size = max_each(-box.lower, box.upper);
    const float g = growth + 2e-7f * std::max({size.x, size.y, size.z});
    lanes.boxes.set(lane, box.lower - Vec3{g, g, g}, box.upper + Vec3{g, g, g});
  }
}

/// From an end of the edge to the corner of its second face that lies opposite.
Vec3 SurfaceTree::wing_from_edge(const SurfaceEdge& edge) const {
  return fit_.centers[edge.wings[1]].xyz() - fit_.centers[edge.nodes[0]].xyz();
}

bool SurfaceTree::is_flat_edge(const SurfaceEdge& edge) const {
  if (edge.is_border()) return false;
  const Vec3 d = fit_.centers[edge.nodes[1]].xyz() - fit_.centers[edge.nodes[0]].xyz();
  const float cosine = dot(normals_[edge.faces[0]], normals_[edge.faces[1]]);
  // The sine of half the angle between the faces, times half of the length, is how far the edge can stand out.
  const float limit = 2 * topology_.flatness;
  // No edge of another touches a crease of a closed surface: it would touch the faces beside it first.
  if (topology_.is_closed() && dot(normals_[edge.faces[0]], wing_from_edge(edge)) > 0) return true;
  return 0.125f * (1 - cosine) * dot(d, d) < limit * limit;
}

}  // namespace pliant
