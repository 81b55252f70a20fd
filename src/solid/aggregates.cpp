#include "solid/aggregates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace pliant {
namespace {

constexpr std::size_t kSmallest = 4;  ///< fewer nodes hold no six independent rigid modes

using Groups = std::vector<std::vector<std::uint32_t>>;

void bisect(const std::vector<Vec3>& nodes, std::span<std::uint32_t> part, std::size_t leaves, Groups& groups) {
  if (leaves <= 1 || part.size() <= 1) {
    groups.emplace_back(part.begin(), part.end());
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
  bisect(nodes, part.first(middle), left, groups);
  bisect(nodes, part.subspan(middle), leaves - left, groups);
}

class Neighbours {
 public:
  Neighbours(std::size_t nodes, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges)
      : starts_(nodes + 1) {
    for (const auto& [a, b] : edges) ++starts_[a + 1], ++starts_[b + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    list_.resize(2 * edges.size());
    std::vector<std::size_t> at(starts_.begin(), starts_.end() - 1);
    for (const auto& [a, b] : edges) list_[at[a]++] = b, list_[at[b]++] = a;
  }
  std::span<const std::uint32_t> of(std::uint32_t node) const {
    return {list_.data() + starts_[node], starts_[node + 1] - starts_[node]};
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<std::uint32_t> list_;
};

/// Splits each group into the parts that hang together.
Groups split_unconnected(const Groups& groups, const Neighbours& neighbours, std::vector<std::uint32_t>& group_of) {
  Groups parts;
  std::vector<bool> seen(group_of.size(), false);
  for (const auto& group : groups) {
    for (const std::uint32_t seed : group) {
      if (seen[seed]) continue;
      seen[seed] = true;
      std::vector<std::uint32_t> part{seed};
      for (std::size_t i = 0; i < part.size(); ++i) {
        for (const std::uint32_t next : neighbours.of(part[i])) {
          if (!seen[next] && group_of[next] == group_of[seed]) seen[next] = true, part.push_back(next);
        }
      }
      parts.push_back(std::move(part));
    }
  }
  for (std::uint32_t g = 0; g < parts.size(); ++g) {
    for (const std::uint32_t node : parts[g]) group_of[node] = g;
  }
  return parts;
}

/// The group most edges lead to, or `self` where there is none.
std::uint32_t closest_group(const std::vector<std::uint32_t>& part, const Neighbours& neighbours,
                            const std::vector<std::uint32_t>& group_of, std::uint32_t self) {
  std::map<std::uint32_t, std::size_t> links;
  for (const std::uint32_t node : part) {
    for (const std::uint32_t next : neighbours.of(node)) {
      if (group_of[next] != self) ++links[group_of[next]];
    }
  }
  const auto most =
      std::max_element(links.begin(), links.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == links.end() ? self : most->first;
}

}  // namespace

Aggregates make_aggregates(const std::vector<Vec3>& nodes,
                           const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges,
                           std::uint32_t wanted_size) {
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  Groups groups;
  if (!nodes.empty()) bisect(nodes, order, (nodes.size() + wanted_size - 1) / wanted_size, groups);

  Aggregates result;
  result.group_of.resize(nodes.size());
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    for (const std::uint32_t node : groups[g]) result.group_of[node] = g;
  }
  const Neighbours neighbours(nodes.size(), edges);
  Groups parts = split_unconnected(groups, neighbours, result.group_of);
  for (std::uint32_t g = 0; g < parts.size(); ++g) {
    if (parts[g].size() >= kSmallest) continue;
    const std::uint32_t into = closest_group(parts[g], neighbours, result.group_of, g);
    if (into == g) continue;
    for (const std::uint32_t node : parts[g]) result.group_of[node] = into, parts[into].push_back(node);
    parts[g].clear();
  }
  std::vector<std::uint32_t> renamed(parts.size());
  for (std::uint32_t g = 0; g < parts.size(); ++g) {
    renamed[g] = result.count;
    if (!parts[g].empty()) ++result.count;
  }
  for (std::uint32_t& group : result.group_of) group = renamed[group];
  return result;
}

}  // namespace pliant
