#include "solid/aggregates.h"

#include <algorithm>
#include <numeric>

namespace pliant {
namespace {

constexpr std::size_t kSmallest = 4;  ///< fewer nodes hold no six independent rigid modes
constexpr std::uint32_t kNone = 0xffffffff;

}  // namespace

/// Leaves the nodes of each group side by side, and notes how many they are.
void AggregateMaker::bisect(std::span<const Vec3> nodes, std::span<std::uint32_t> part, std::size_t leaves) {
  if (leaves <= 1 || part.size() <= 1) {
    group_sizes_.push_back(static_cast<std::uint32_t>(part.size()));
    return;
  }
  Aabb bounds;
  for (const std::uint32_t node : part) bounds.include(nodes[node]);
  const Vec3 size = bounds.size();
  const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const std::size_t left = leaves / 2, middle = part.size() * left / leaves;
  // Nodes in a plane are told apart by their number, so that the order is the same everywhere.
  std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(middle), part.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return nodes[a][axis] != nodes[b][axis] ? nodes[a][axis] < nodes[b][axis] : a < b;
                   });
  bisect(nodes, part.first(middle), left);
  bisect(nodes, part.subspan(middle), leaves - left);
}

void AggregateMaker::list_neighbours(std::size_t nodes, std::span<const Edge> edges) {
  starts_.assign(nodes + 1, 0);
  for (const auto& [a, b] : edges) ++starts_[a + 1], ++starts_[b + 1];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  neighbours_.resize(2 * edges.size());
  next_neighbour_.assign(starts_.begin(), starts_.end() - 1);
  for (const auto& [a, b] : edges) neighbours_[next_neighbour_[a]++] = b, neighbours_[next_neighbour_[b]++] = a;
}

/// Splits each group into the parts that hang together.
void AggregateMaker::split_unconnected(std::vector<std::uint32_t>& group_of) {
  parts_.clear();
  is_seen_.assign(group_of.size(), 0);
  after_.assign(group_of.size(), kNone);
  for (const std::uint32_t seed : order_) {
    if (is_seen_[seed]) continue;
    is_seen_[seed] = 1;
    Part part{seed, seed, 1};
    for (std::uint32_t node = seed; node != kNone; node = after_[node]) {
      for (const std::uint32_t next : neighbours(node)) {
        if (is_seen_[next] || group_of[next] != group_of[seed]) continue;
        is_seen_[next] = 1;
        after_[part.last] = next;
        part.last = next, ++part.size;
      }
    }
    parts_.push_back(part);
  }
  for (std::uint32_t p = 0; p < parts_.size(); ++p) {
    for (std::uint32_t node = parts_[p].first; node != kNone; node = after_[node]) group_of[node] = p;
  }
}

/// The group most edges lead to, or the part itself where there is none.
std::uint32_t AggregateMaker::closest_group(std::uint32_t part, const std::vector<std::uint32_t>& group_of) {
  links_.clear();
  for (std::uint32_t node = parts_[part].first; node != kNone; node = after_[node]) {
    for (const std::uint32_t next : neighbours(node)) {
      const std::uint32_t group = group_of[next];
      if (group == part) continue;
      const auto known = std::find_if(links_.begin(), links_.end(), [&](const auto& l) { return l.first == group; });
      if (known == links_.end()) {
        links_.emplace_back(group, 1);
      } else {
        ++known->second;
      }
    }
  }
  const auto is_less = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  };
  const auto most = std::max_element(links_.begin(), links_.end(), is_less);
  return most == links_.end() ? part : most->first;
}

void AggregateMaker::join_small(std::vector<std::uint32_t>& group_of) {
  for (std::uint32_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].size >= kSmallest) continue;
    const std::uint32_t into = closest_group(p, group_of);
    if (into == p) continue;
    for (std::uint32_t node = parts_[p].first; node != kNone; node = after_[node]) group_of[node] = into;
    after_[parts_[into].last] = parts_[p].first;
    parts_[into].last = parts_[p].last, parts_[into].size += parts_[p].size;
    parts_[p].size = 0;
  }
}

void AggregateMaker::make(std::span<const Vec3> nodes, std::span<const Edge> edges, std::uint32_t wanted_size,
                          Aggregates& out) {
  order_.resize(nodes.size());
  std::iota(order_.begin(), order_.end(), 0u);
  group_sizes_.clear();
  if (!nodes.empty()) bisect(nodes, order_, (nodes.size() + wanted_size - 1) / wanted_size);
  out.group_of.resize(nodes.size());
  auto node = order_.begin();
  for (std::uint32_t g = 0; g < group_sizes_.size(); ++g) {
    for (std::uint32_t i = 0; i < group_sizes_[g]; ++i) out.group_of[*node++] = g;
  }
  list_neighbours(nodes.size(), edges);
  split_unconnected(out.group_of);
  join_small(out.group_of);
  renamed_.resize(parts_.size());
  out.count = 0;
  for (std::uint32_t p = 0; p < parts_.size(); ++p) {
    renamed_[p] = out.count;
    if (parts_[p].size > 0) ++out.count;
  }
  for (std::uint32_t& group : out.group_of) group = renamed_[group];
}

Aggregates make_aggregates(const std::vector<Vec3>& nodes, const std::vector<AggregateMaker::Edge>& edges,
                           std::uint32_t wanted_size) {
  Aggregates out;
  AggregateMaker().make(nodes, edges, wanted_size, out);
  return out;
}

}  // namespace pliant
