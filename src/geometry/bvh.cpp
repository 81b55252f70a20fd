#include "geometry/bvh.h"

#include <algorithm>
#include <array>
#include <limits>

namespace pliant {
namespace {

constexpr std::size_t kLeafSize = 8;  // the lanes of a block
/// No leaf holds less than this (but the only one of a small tree): it bounds how much memory any build can need.
constexpr std::size_t kMinLeafSize = kLeafSize / 2;
constexpr int kBins = 16;
/// So deep the heuristic may cut off thin slices; below, ranges are halved, which 32 bits of items bound to 32 more.
constexpr int kHeuristicDepth = Bvh::kMaxDepth - 33;
constexpr float kMaxFloat = std::numeric_limits<float>::max();

// Unlike Aabb::include these keep `a` where `b` is NaN.
Vec3 lower_of(Vec3 a, Vec3 b) { return {b.x < a.x ? b.x : a.x, b.y < a.y ? b.y : a.y, b.z < a.z ? b.z : a.z}; }
Vec3 upper_of(Vec3 a, Vec3 b) { return {b.x > a.x ? b.x : a.x, b.y > a.y ? b.y : a.y, b.z > a.z ? b.z : a.z}; }

struct Bounds {
  Vec3 lower{kMaxFloat, kMaxFloat, kMaxFloat}, upper{-kMaxFloat, -kMaxFloat, -kMaxFloat};

  template <typename A>
  void include(const A& box) {
    lower = lower_of(lower, box.lower);
    upper = upper_of(upper, box.upper);
  }
  float half_area() const {
    if (!(lower.x <= upper.x)) return 0;
    const Vec3 s = upper - lower;
    return s.x * s.y + s.y * s.z + s.z * s.x;
  }
};

struct Point {
  Vec3 lower, upper;
};

struct Bin {
  Bounds bounds;
  std::size_t count = 0;
};

/// Which bin a coordinate falls into, whatever it is.
int bin_of(float x, float lower, float scale) {
  const float b = (x - lower) * scale;
  return b > 0 ? int(std::min(b, float(kBins - 1))) : 0;
}

/// What a child costs to look through: blocks, not items, so that leaves come out well filled.
float blocks_for(std::size_t count) { return float((count + kLeafSize - 1) / kLeafSize); }

/// The cost of the best cut between two bins, and the first bin after it; 0 if there is none worth the name.
int best_cut(const std::array<Bin, kBins>& bins, float& cost) {
  std::array<float, kBins> cost_above{};
  Bounds above;
  std::size_t count = 0;
  for (int b = kBins - 1; b > 0; --b) {
    above.include(bins[b].bounds);
    count += bins[b].count;
    cost_above[b] = above.half_area() * blocks_for(count);
  }
  int best = 0;
  Bounds below;
  const std::size_t total = count + bins[0].count;
  count = 0;
  for (int b = 1; b < kBins; ++b) {
    below.include(bins[b - 1].bounds);
    count += bins[b - 1].count;
    const float c = below.half_area() * blocks_for(count) + cost_above[b];
    if (count >= kMinLeafSize && total - count >= kMinLeafSize && c < cost) cost = c, best = b;
  }
  return best;
}

}  // namespace

Bvh::ItemBox Bvh::sanitized(const Aabb& box) {
  const bool is_sound = box.lower.x <= box.upper.x && box.lower.y <= box.upper.y && box.lower.z <= box.upper.z;
  if (is_sound) return {box.lower, box.upper};
  // NaN overlaps nothing, not even an endless box, as an "empty" box of infinities would.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return {{nan, nan, nan}, {nan, nan, nan}};
}

Aabb Bvh::bounds() const {
  Aabb box;
  if (!nodes_.empty()) box = {nodes_[0].lower, nodes_[0].upper};
  return box;
}

bool Bvh::ray_meets(const Aabb& box, Vec3 origin, Vec3 direction, float t) {
  float entry;
  return is_finite(origin) && is_finite(direction) && meets(Ray(origin, direction), box, t, entry);
}

void Bvh::build(std::span<const Aabb> boxes) {
  nodes_.clear();
  blocks_.clear();
  size_ = boxes.size();
  build_items_.resize(boxes.size());
  nodes_.reserve(2 * (size_ / kMinLeafSize + 1));
  blocks_.reserve(size_ / kMinLeafSize + 1);
  if (boxes.empty()) return;
  for (std::uint32_t i = 0; i < boxes.size(); ++i) {
    const ItemBox box = sanitized(boxes[i]);
    Vec3 center = 0.5f * box.lower + 0.5f * box.upper;  // the sum itself could overflow
    for (std::size_t a = 0; a < 3; ++a) {
      if (!std::isfinite(center[a])) center[a] = 0;
    }
    build_items_[i] = {box, center, i};
  }
  build_range(build_items_, 0);
  for (std::size_t n = nodes_.size(); n-- > 0;) fit(std::uint32_t(n));
}

void Bvh::refit(std::span<const Aabb> boxes) {
  for (std::size_t n = nodes_.size(); n-- > 0;) {  // children stand behind their parents
    if (nodes_[n].is_leaf()) {
      Block& block = blocks_[nodes_[n].link];
      for (std::uint32_t i = 0; i < nodes_[n].count; ++i) {
        const ItemBox box = sanitized(boxes[block.items[i]]);
        block.boxes.set(i, box.lower, box.upper);
      }
    }
    fit(std::uint32_t(n));
  }
}

void Bvh::fit(std::uint32_t n) {
  Node& node = nodes_[n];
  Bounds bounds;
  if (node.is_leaf()) {
    for (std::uint32_t i = 0; i < node.count; ++i) bounds.include(blocks_[node.link].box(i));
  } else {
    bounds.include(nodes_[n + 1]);
    bounds.include(nodes_[node.link]);
  }
  node.lower = bounds.lower;
  node.upper = bounds.upper;
}

void Bvh::make_leaf(Node& node, std::span<const BuildItem> items) {
  node.link = std::uint32_t(blocks_.size());
  node.count = std::uint32_t(items.size());
  Block& block = blocks_.emplace_back();
  for (std::uint32_t i = 0; i < kLeafSize; ++i) {
    const ItemBox box = i < items.size() ? items[i].box : sanitized(Aabb{});
    block.boxes.set(i, box.lower, box.upper);
    block.items[i] = i < items.size() ? items[i].item : 0;
  }
}

std::uint32_t Bvh::build_range(std::span<BuildItem> items, int depth) {
  const std::uint32_t n = std::uint32_t(nodes_.size());
  nodes_.push_back({});
  if (items.size() <= kLeafSize) {
    make_leaf(nodes_[n], items);
    return n;
  }
  const std::size_t half = split(items, depth);
  build_range(items.first(half), depth + 1);
  const std::uint32_t second = build_range(items.subspan(half), depth + 1);
  nodes_[n].link = second;
  nodes_[n].count = 0;
  return n;
}

/// Orders the items so that those of the first child come first, and returns how many there are.
std::size_t Bvh::split(std::span<BuildItem> items, int depth) const {
  Bounds centers;
  for (const BuildItem& item : items) centers.include(Point{item.center, item.center});
  const Vec3 extent = centers.upper - centers.lower;

  float cost = std::numeric_limits<float>::infinity();
  int cut = 0;
  std::size_t cut_axis = 0;
  for (std::size_t axis = 0; axis < 3 && depth < kHeuristicDepth; ++axis) {
    if (!(extent[axis] > 0)) continue;
    std::array<Bin, kBins> bins;
    const float scale = float(kBins) / extent[axis];
    for (const BuildItem& item : items) {
      Bin& bin = bins[bin_of(item.center[axis], centers.lower[axis], scale)];
      bin.bounds.include(item.box);
      ++bin.count;
    }
    if (const int c = best_cut(bins, cost)) cut = c, cut_axis = axis;
  }
  if (cut > 0) {
    const float scale = float(kBins) / extent[cut_axis];
    const auto middle = std::partition(items.begin(), items.end(), [&](const BuildItem& item) {
      return bin_of(item.center[cut_axis], centers.lower[cut_axis], scale) < cut;
    });
    return std::size_t(middle - items.begin());
  }
  // All in one place, or the tree is as deep as the heuristic may make it: halve along the longest axis.
  const std::size_t axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
  const auto middle = items.begin() + std::ptrdiff_t(items.size() / 2);
  std::nth_element(items.begin(), middle, items.end(), [&](const BuildItem& a, const BuildItem& b) {
    return a.center[axis] != b.center[axis] ? a.center[axis] < b.center[axis] : a.item < b.item;
  });
  return items.size() / 2;
}

}  // namespace pliant
