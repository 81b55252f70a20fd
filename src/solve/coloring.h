// Colours for rows: no two rows of a colour share a node, so a colour can be solved in any order and by any number of
// threads with the same result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pliant {

/// Row i names `nodes[starts[i] .. starts[i + 1])`.
struct RowNodes {
  std::span<const std::uint32_t> nodes, starts;

  std::size_t count() const { return starts.empty() ? 0 : starts.size() - 1; }
  std::span<const std::uint32_t> of(std::size_t row) const {
    return nodes.subspan(starts[row], starts[row + 1] - starts[row]);
  }
};

/// Rows sorted by colour, and within a colour as they came: colour c is `order[starts[c] .. starts[c + 1])`.
struct Coloring {
  std::vector<std::uint32_t> order, starts;

  std::size_t count() const { return starts.empty() ? 0 : starts.size() - 1; }
  std::span<const std::uint32_t> rows(std::size_t color) const {
    return std::span(order).subspan(starts[color], starts[color + 1] - starts[color]);
  }
};

/// Gives every row the first colour that none of its nodes has met yet: as many colours as the busiest node has rows,
/// and a few more. Linear in the rows.
Coloring color_rows(const RowNodes& rows, std::size_t node_count);

}  // namespace pliant
