#include "particle/lane_groups.h"

#include <algorithm>

namespace pliant {

namespace {

/// The colours that the elements around a node have taken, 64 to a word.
using TakenColors = std::vector<std::uint64_t>;

template <std::size_t N>
std::uint32_t first_free_color(const std::array<std::uint32_t, N>& element, const std::vector<TakenColors>& taken) {
  for (std::uint32_t word = 0;; ++word) {
    std::uint64_t used = 0;
    for (const std::uint32_t node : element) {
      if (word < taken[node].size()) used |= taken[node][word];
    }
    if (~used != 0) return word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(~used));
  }
}

void take(TakenColors& taken, std::uint32_t color) {
  if (taken.size() <= color / 64) taken.resize(color / 64 + 1);
  taken[color / 64] |= std::uint64_t{1} << (color % 64);
}

}  // namespace

template <std::size_t N>
LaneGroups<N> LaneGroups<N>::build(std::span<const Element> elements, std::size_t node_count) {
  std::vector<TakenColors> taken(node_count);
  std::vector<std::vector<std::uint32_t>> by_color;
  for (std::uint32_t e = 0; e < elements.size(); ++e) {
    const std::uint32_t color = first_free_color(elements[e], taken);
    for (const std::uint32_t node : elements[e]) take(taken[node], color);
    if (by_color.size() <= color) by_color.resize(color + 1);
    by_color[color].push_back(e);
  }
  LaneGroups result;
  result.slots.resize(elements.size());
  for (const auto& members : by_color) {
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
