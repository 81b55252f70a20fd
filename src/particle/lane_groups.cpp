#include "particle/lane_groups.h"

#include <algorithm>

#include "solve/coloring.h"

namespace pliant {

template <std::size_t N>
LaneGroups<N> LaneGroups<N>::build(std::span<const Element> elements, std::size_t node_count) {
  std::vector<std::uint32_t> nodes, starts{0};
  for (const Element& element : elements) {
    nodes.insert(nodes.end(), element.begin(), element.end());
    starts.push_back(static_cast<std::uint32_t>(nodes.size()));
  }
  const Coloring coloring = color_rows({nodes, starts}, node_count);
  LaneGroups result;
  result.slots.resize(elements.size());
  for (std::size_t color = 0; color < coloring.count(); ++color) {
    const std::span<const std::uint32_t> members = coloring.rows(color);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::size_t lane = i % kLanes;
      if (lane == 0) {
        result.groups.emplace_back();
        for (auto& corner : result.groups.back().node) {
          std::fill(std::begin(corner), std::end(corner), static_cast<std::uint32_t>(node_count));
        }
      }
      for (std::size_t c = 0; c < N; ++c) result.groups.back().node[c][lane] = elements[members[i]][c];
      result.slots[members[i]] = static_cast<std::uint32_t>((result.groups.size() - 1) * kLanes + lane);
    }
    result.colors.push_back(static_cast<std::uint32_t>(result.groups.size()));
  }
  return result;
}

template struct LaneGroups<2>;
template struct LaneGroups<4>;

}  // namespace pliant
