#include "solve/line_batches.h"

#include <algorithm>

namespace pliant {
namespace {

/// Segments that one thread takes at least.
constexpr std::size_t kSegmentsPerChunk = 1024;

}  // namespace

LineBatches::LineBatches(const RowNodes& lines, std::span<const std::uint8_t> kinds, std::size_t node_count,
                         std::size_t fewest_nodes) {
  const Coloring coloring = color_rows(lines, node_count);
  const auto kind_of = [&](std::uint32_t line) { return kinds.empty() ? std::uint8_t{0} : kinds[line]; };
  for (std::size_t color = 0; color < coloring.count(); ++color) {
    color_starts.push_back(static_cast<std::uint32_t>(batches.size()));
    const auto rows = coloring.rows(color);
    std::vector<std::uint32_t> order(rows.begin(), rows.end());
    std::erase_if(order, [&](std::uint32_t line) { return lines.of(line).size() < fewest_nodes; });
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t l, std::uint32_t r) {
      if (kind_of(l) != kind_of(r)) return kind_of(l) < kind_of(r);
      return lines.of(l).size() > lines.of(r).size();
    });
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      const std::uint8_t kind = kind_of(order[begin]);
      while (end < order.size() && end < begin + kLanes && kind_of(order[end]) == kind) ++end;
      add(lines, std::span(order).subspan(begin, end - begin), kind);
    }
  }
  color_starts.push_back(static_cast<std::uint32_t>(batches.size()));
  for (std::size_t color = 0; color + 1 < color_starts.size(); ++color) {
    const std::size_t count = color_starts[color + 1] - color_starts[color];
    range_count = std::max(range_count, (count + grain(color) - 1) / grain(color));
  }
}

void LineBatches::add(const RowNodes& lines, std::span<const std::uint32_t> chosen, std::uint32_t kind) {
  const std::size_t first = place_count(), places = lines.of(chosen[0]).size();
  batches.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(places), kind});
  longest = std::max(longest, static_cast<std::uint32_t>(places));
  lanes_in_use.resize(first + places, 0);
  // Lanes without a node point at the batch's first one: it is read for nothing, and never written.
  nodes.resize(kLanes * (first + places), lines.of(chosen[0])[0]);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    line_of.push_back(lane < chosen.size() ? chosen[lane] : kNoLine);
    if (lane >= chosen.size()) continue;
    const auto line = lines.of(chosen[lane]);
    for (std::size_t i = 0; i < line.size(); ++i) {
      nodes[kLanes * (first + i) + lane] = line[i];
      ++lanes_in_use[first + i];
    }
  }
}

void LineBatches::add_apart(std::uint32_t line, std::span<const std::uint32_t> line_nodes) {
  const std::uint32_t starts[] = {0, static_cast<std::uint32_t>(line_nodes.size())}, chosen[] = {0};
  add({line_nodes, starts}, chosen, 0);
  line_of[line_of.size() - kLanes] = line;
}

std::size_t LineBatches::grain(std::size_t color) const {
  if (color_starts[color] == batches.size()) return 1;
  const std::size_t segments = kLanes * std::max(batches[color_starts[color]].places, 2u) - kLanes;
  return std::max<std::size_t>(kSegmentsPerChunk / segments, 1);
}

}  // namespace pliant
