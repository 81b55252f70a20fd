// A tree of boxes over boxes: what overlaps what, what a ray meets, what is near.
//
// The tree holds item numbers and copies of their boxes, nothing else. It is built once, refitted while things move,
// and built again when it has become bad. Items whose box is empty or holds a NaN are never found. The answer to a
// query is a set that depends on the boxes alone; the order of visits depends on the tree.
//
// Queries take a function that is called for each item found. They need no memory: the tree is at most kMaxDepth deep.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "geometry/box_kernel.h"
#include "pliant/math.h"

namespace pliant {

class Bvh {
 public:
  /// Item i has `boxes[i]`. Binned surface-area heuristic (Wald 2007), O(n log n). Reuses the memory of a build before.
  void build(std::span<const Aabb> boxes);
  /// New boxes for the same items, O(n), no allocation.
  void refit(std::span<const Aabb> boxes);

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Of all items; empty if there are none.
  Aabb bounds() const;

  /// visit(item) for all items whose box overlaps `box` (touching counts).
  template <typename Visit>
  void for_each_overlap(const Aabb& box, Visit&& visit) const;

  /// visit(i, j) with i < j for all pairs of items whose boxes overlap, each once. Returns how many pairs of nodes were
  /// looked at, a measure of how good the tree still is.
  template <typename Visit>
  std::size_t for_each_self_pair(Visit&& visit) const;

  /// visit(item of this, item of other) for all pairs whose boxes overlap. Returns as above.
  template <typename Visit>
  std::size_t for_each_pair(const Bvh& other, Visit&& visit) const;

  /// t = visit(item, t) for items whose box meets the ray origin + s direction, 0 ≤ s ≤ t, near ones first as far as
  /// the tree knows. What visit returns is the new end of the ray: the hit found, or the t it was given.
  template <typename Visit>
  void cast_ray(Vec3 origin, Vec3 direction, float t, Visit&& visit) const;

  /// d = visit(item, d) for items whose box is nearer to the point than √d, near ones first as far as the tree knows.
  /// What visit returns is the new squared distance to beat.
  template <typename Visit>
  void find_closest(Vec3 point, float squared_distance, Visit&& visit) const;

  /// Whether the ray origin + s direction, 0 ≤ s ≤ t, meets a box, judged as `cast_ray` does.
  static bool ray_meets(const Aabb& box, Vec3 origin, Vec3 direction, float t);

  static constexpr int kMaxDepth = 64;

 private:
  /// Children follow their parent: the first is the next node, the second is `link`. A leaf holds the first `count`
  /// lanes of block `link`.
  struct Node {
    Vec3 lower;
    std::uint32_t link;
    Vec3 upper;
    std::uint32_t count;  ///< 0 for an inner node

    bool is_leaf() const { return count > 0; }
  };
  struct ItemBox {
    Vec3 lower, upper;
  };
  /// The items of one leaf.
  struct Block {
    Box8 boxes;
    std::uint32_t items[8];

    ItemBox box(std::uint32_t lane) const { return {boxes.lower_at(lane), boxes.upper_at(lane)}; }
  };
  struct BuildItem {
    ItemBox box;
    Vec3 center;
    std::uint32_t item;
  };

  template <typename A, typename B>
  static bool overlap(const A& a, const B& b) {
    // No early exits: six comparisons cost less than one branch that is guessed wrong.
    return (a.lower.x <= b.upper.x) & (b.lower.x <= a.upper.x) & (a.lower.y <= b.upper.y) & (b.lower.y <= a.upper.y) &
           (a.lower.z <= b.upper.z) & (b.lower.z <= a.upper.z);
  }
  /// NaN, which beats nothing, for a box that is nowhere.
  template <typename A>
  static float squared_distance_to(const A& box, Vec3 p) {
    if (!(box.lower.x <= box.upper.x)) return std::numeric_limits<float>::quiet_NaN();
    const Vec3 outside = max_each(max_each(box.lower - p, p - box.upper), {0, 0, 0});
    return dot(outside, outside);
  }
  static float half_area(const Node& node) {
    const Vec3 s = node.upper - node.lower;
    return s.x * s.y + s.y * s.z + s.z * s.x;
  }

  struct Ray;
  template <typename A>
  static bool meets(const Ray& ray, const A& box, float t, float& entry);

  template <typename Visit>
  void pairs_within(const Node& leaf, Visit& visit) const;
  template <typename Visit>
  void pairs_between(const Node& a, const Bvh& other, const Node& b, Visit& visit) const;
  template <typename Visit>
  std::size_t pairs_below(std::uint32_t root, const Bvh& other, std::uint32_t other_root, Visit& visit) const;
  static bool descend_first(const Node& a, const Node& b);

  static ItemBox sanitized(const Aabb& box);
  std::uint32_t build_range(std::span<BuildItem> items, int depth);
  void make_leaf(Node& node, std::span<const BuildItem> items);
  std::size_t split(std::span<BuildItem> items, int depth) const;
  void fit(std::uint32_t n);

  std::vector<Node> nodes_;  ///< depth first
  std::vector<Block> blocks_;
  std::vector<BuildItem> build_items_;
  std::size_t size_ = 0;
};

// Implementation ------------------------------------------------------------------------------------------------------

template <typename Visit>
void Bvh::for_each_overlap(const Aabb& box, Visit&& visit) const {
  if (nodes_.empty()) return;
  std::uint32_t stack[kMaxDepth + 1];
  int top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const std::uint32_t n = stack[--top];
    const Node& node = nodes_[n];
    if (!overlap(node, box)) continue;
    if (!node.is_leaf()) {
      stack[top++] = node.link;
      stack[top++] = n + 1;
      continue;
    }
    const Block& block = blocks_[node.link];
    for (std::uint32_t m = overlap_mask(block.boxes, box.lower, box.upper); m != 0; m &= m - 1) {
      visit(block.items[lowest_bit(m)]);
    }
  }
}

template <typename Visit>
void Bvh::pairs_within(const Node& leaf, Visit& visit) const {
  const Block& block = blocks_[leaf.link];
  for (std::uint32_t i = 0; i + 1 < leaf.count; ++i) {
    const std::uint32_t behind = ~((2u << i) - 1);
    const std::uint32_t mask = overlap_mask(block.boxes, block.boxes.lower_at(i), block.boxes.upper_at(i));
    for (std::uint32_t m = mask & behind; m != 0; m &= m - 1) visit(block.items[i], block.items[lowest_bit(m)]);
  }
}

template <typename Visit>
void Bvh::pairs_between(const Node& a, const Bvh& other, const Node& b, Visit& visit) const {
  const Block &block_a = blocks_[a.link], &block_b = other.blocks_[b.link];
  for (std::uint32_t near = overlap_mask(block_a.boxes, b.lower, b.upper); near != 0; near &= near - 1) {
    const std::uint32_t i = lowest_bit(near);
    const std::uint32_t mask = overlap_mask(block_b.boxes, block_a.boxes.lower_at(i), block_a.boxes.upper_at(i));
    for (std::uint32_t m = mask; m != 0; m &= m - 1) visit(block_a.items[i], block_b.items[lowest_bit(m)]);
  }
}

/// Which of two overlapping nodes to open: the larger one, a leaf never.
inline bool Bvh::descend_first(const Node& a, const Node& b) {
  return !a.is_leaf() && (b.is_leaf() || half_area(a) > half_area(b));
}

template <typename Visit>
std::size_t Bvh::for_each_self_pair(Visit&& visit) const {
  if (nodes_.empty()) return 0;
  const auto visit_ordered = [&](std::uint32_t i, std::uint32_t j) { i < j ? visit(i, j) : visit(j, i); };
  std::size_t looked_at = 0;
  // All pairs lie within a leaf or between the two halves of some inner node.
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].is_leaf()) {
      pairs_within(nodes_[n], visit_ordered);
    } else {
      looked_at += pairs_below(n + 1, *this, nodes_[n].link, visit_ordered);
    }
  }
  return looked_at;
}

template <typename Visit>
std::size_t Bvh::for_each_pair(const Bvh& other, Visit&& visit) const {
  if (nodes_.empty() || other.nodes_.empty()) return 0;
  return pairs_below(0, other, 0, visit);
}

template <typename Visit>
std::size_t Bvh::pairs_below(std::uint32_t root, const Bvh& other, std::uint32_t other_root, Visit& visit) const {
  struct Pair {
    std::uint32_t a, b;
  };
  // Each step down replaces a pair by at most two, and a pair can go down kMaxDepth levels on each of its sides.
  Pair stack[2 * kMaxDepth + 2];
  int top = 0;
  std::size_t looked_at = 1;
  const auto push_if_overlapping = [&](std::uint32_t a, std::uint32_t b) {
    ++looked_at;
    stack[top] = {a, b};
    top += overlap(nodes_[a], other.nodes_[b]);  // no branch to guess wrong
  };
  push_if_overlapping(root, other_root);
  while (top > 0) {
    const auto [a, b] = stack[--top];
    const Node &node_a = nodes_[a], &node_b = other.nodes_[b];
    if (node_a.is_leaf() && node_b.is_leaf()) {
      pairs_between(node_a, other, node_b, visit);
    } else if (descend_first(node_a, node_b)) {
      push_if_overlapping(a + 1, b);
      push_if_overlapping(node_a.link, b);
    } else {
      push_if_overlapping(a, b + 1);
      push_if_overlapping(a, node_b.link);
    }
  }
  return looked_at;
}

struct Bvh::Ray {
  Vec3 origin, inverse;
  bool is_level[3];  ///< runs (all but) parallel to the two sides across this axis

  Ray(Vec3 o, Vec3 d) : origin(o), inverse{1 / d.x, 1 / d.y, 1 / d.z} {
    for (std::size_t a = 0; a < 3; ++a) is_level[a] = !std::isfinite(inverse[a]);
  }
};

template <typename A>
bool Bvh::meets(const Ray& ray, const A& box, float t, float& entry) {
  float enter = 0, leave = t;
  for (std::size_t a = 0; a < 3; ++a) {
    if (ray.is_level[a]) {  // within the slab or never; 0 · ∞ would be NaN
      if (!(box.lower[a] <= ray.origin[a] && ray.origin[a] <= box.upper[a])) return false;
      continue;
    }
    const float t0 = (box.lower[a] - ray.origin[a]) * ray.inverse[a];
    const float t1 = (box.upper[a] - ray.origin[a]) * ray.inverse[a];
    const float near = t0 < t1 ? t0 : t1, far = t0 < t1 ? t1 : t0;
    if (near > enter) enter = near;
    // Rounded outward, so that a ray along a side of the box is not lost to rounding (Ize 2013).
    if (!(far * 1.0000004f >= leave)) leave = far * 1.0000004f;
  }
  entry = enter;
  return enter <= leave;
}

template <typename Visit>
void Bvh::cast_ray(Vec3 origin, Vec3 direction, float t, Visit&& visit) const {
  const Ray ray(origin, direction);
  float entry;
  if (nodes_.empty() || !is_finite(origin) || !is_finite(direction) || !meets(ray, nodes_[0], t, entry)) return;
  struct Waiting {
    std::uint32_t node;
    float entry;
  };
  Waiting stack[kMaxDepth + 1];
  int top = 0;
  stack[top++] = {0, entry};
  while (top > 0) {
    const Waiting next = stack[--top];
    if (next.entry > t) continue;
    const Node& node = nodes_[next.node];
    if (node.is_leaf()) {
      const Block& block = blocks_[node.link];
      for (std::uint32_t i = 0; i < node.count; ++i) {
        if (meets(ray, block.box(i), t, entry)) t = visit(block.items[i], t);
      }
      continue;
    }
    float entry_first, entry_second;
    const bool first = meets(ray, nodes_[next.node + 1], t, entry_first);
    const bool second = meets(ray, nodes_[node.link], t, entry_second);
    if (first && second && entry_first <= entry_second) {
      stack[top++] = {node.link, entry_second};
      stack[top++] = {next.node + 1, entry_first};
    } else {
      if (first) stack[top++] = {next.node + 1, entry_first};
      if (second) stack[top++] = {node.link, entry_second};
    }
  }
}

template <typename Visit>
void Bvh::find_closest(Vec3 point, float squared_distance, Visit&& visit) const {
  if (nodes_.empty() || !is_finite(point)) return;
  struct Waiting {
    std::uint32_t node;
    float distance;
  };
  Waiting stack[kMaxDepth + 1];
  int top = 0;
  stack[top++] = {0, squared_distance_to(nodes_[0], point)};
  while (top > 0) {
    const Waiting next = stack[--top];
    if (!(next.distance <= squared_distance)) continue;
    const Node& node = nodes_[next.node];
    if (node.is_leaf()) {
      const Block& block = blocks_[node.link];
      for (std::uint32_t i = 0; i < node.count; ++i) {
        if (squared_distance_to(block.box(i), point) <= squared_distance) {
          squared_distance = visit(block.items[i], squared_distance);
        }
      }
      continue;
    }
    const Waiting first{next.node + 1, squared_distance_to(nodes_[next.node + 1], point)};
    const Waiting second{node.link, squared_distance_to(nodes_[node.link], point)};
    stack[top++] = first.distance <= second.distance ? second : first;
    stack[top++] = first.distance <= second.distance ? first : second;
  }
}

}  // namespace pliant
