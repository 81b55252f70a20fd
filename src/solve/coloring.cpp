#include "solve/coloring.h"

#include <numeric>

namespace pliant {
namespace {

/// The colours that a node has met, 64 to a word.
class ColorSets {
 public:
  explicit ColorSets(std::size_t nodes) : sets_(nodes) {}

  bool has(std::uint32_t node, std::uint32_t color) const {
    const std::vector<std::uint64_t>& set = sets_[node];
    return color / 64 < set.size() && (set[color / 64] >> (color % 64) & 1) != 0;
  }
  void add(std::uint32_t node, std::uint32_t color) {
    std::vector<std::uint64_t>& set = sets_[node];
    if (set.size() <= color / 64) set.resize(color / 64 + 1, 0);
    set[color / 64] |= std::uint64_t{1} << (color % 64);
  }

 private:
  std::vector<std::vector<std::uint64_t>> sets_;
};

}  // namespace

Coloring color_rows(const RowNodes& rows, std::size_t node_count) {
  ColorSets met(node_count);
  std::vector<std::uint32_t> color_of(rows.count());
  std::uint32_t colors = 0;
  for (std::size_t row = 0; row < rows.count(); ++row) {
    const std::span<const std::uint32_t> nodes = rows.of(row);
    const auto is_free = [&](std::uint32_t color) {
      for (const std::uint32_t node : nodes) {
        if (met.has(node, color)) return false;
      }
      return true;
    };
    std::uint32_t color = 0;
    while (!is_free(color)) ++color;
    for (const std::uint32_t node : nodes) met.add(node, color);
    color_of[row] = color;
    colors = std::max(colors, color + 1);
  }

  Coloring coloring;
  coloring.starts.assign(colors + 1, 0);
  for (const std::uint32_t color : color_of) ++coloring.starts[color + 1];
  std::partial_sum(coloring.starts.begin(), coloring.starts.end(), coloring.starts.begin());
  coloring.order.resize(rows.count());
  std::vector<std::uint32_t> next(coloring.starts.begin(), coloring.starts.end() - 1);
  for (std::uint32_t row = 0; row < rows.count(); ++row) coloring.order[next[color_of[row]]++] = row;
  return coloring;
}

}  // namespace pliant
