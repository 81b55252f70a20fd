// Lines of nodes, eight side by side, in colours: lines of a colour share no node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "base/simd.h"
#include "solve/coloring.h"

namespace pliant {

struct LineBatches {
  /// Eight lines, or fewer at the end of a colour. Longer lines come first, so that at every place along them the lanes
  /// in use are the first ones.
  struct Batch {
    std::uint32_t first = 0;   ///< its first place among all
    std::uint32_t places = 0;  ///< of the longest line
    std::uint32_t kind = 0;    ///< of all its lines
  };

  LineBatches() = default;
  /// `kinds` are of the lines, or none: lines of different kinds are not batched together. Lines of fewer than
  /// `fewest_nodes` are left out.
  LineBatches(const RowNodes& lines, std::span<const std::uint8_t> kinds, std::size_t node_count,
              std::size_t fewest_nodes);

  std::size_t place_count() const { return lanes_in_use.size(); }
  /// A batch of one line, after those of all colours: `for_each` leaves it out.
  void add_apart(std::uint32_t line, std::span<const std::uint32_t> line_nodes);
  std::span<const Batch> apart() const {
    return std::span(batches).subspan(color_starts.empty() ? 0 : color_starts.back());
  }
  /// Calls `visit(line, lane's first index)` for every line; its next index is eight further on.
  template <typename Visit>
  void for_each_line(Visit&& visit) const {
    for (std::size_t b = 0; b < batches.size(); ++b) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t line = line_of[kLanes * b + lane];
        if (line != kNoLine) visit(line, kLanes * batches[b].first + lane);
      }
    }
  }
  /// Calls `body(batch, range)` for all batches of colours, a colour after the other; ranges of a colour run side by
  /// side, and their numbers stay below `range_count`.
  template <typename Body>
  void for_each(Workers& workers, Body&& body) const {
    for (std::size_t color = 0; color + 1 < color_starts.size(); ++color) for_color(workers, color, body);
  }
  /// The same from the last colour to the first.
  template <typename Body>
  void for_each_back(Workers& workers, Body&& body) const {
    for (std::size_t color = color_starts.size(); color-- > 1;) for_color(workers, color - 1, body);
  }

  static constexpr std::uint32_t kNoLine = 0xffffffff;
  std::vector<std::uint32_t> nodes;        ///< eight lanes for each place; without a line, some node of the batch
  std::vector<std::uint8_t> lanes_in_use;  ///< per place: how many lanes have a node there
  std::vector<Batch> batches;
  std::vector<std::uint32_t> line_of;       ///< eight for each batch
  std::vector<std::uint32_t> color_starts;  ///< in batches, and the end of the last
  std::uint32_t longest = 0;                ///< places
  std::size_t range_count = 1;

 private:
  template <typename Body>
  void for_color(Workers& workers, std::size_t color, Body& body) const {
    const std::size_t first = color_starts[color], count = color_starts[color + 1] - first, chunk = grain(color);
    parallel_for(workers, count, chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) body(batches[first + i], begin / chunk);
    });
  }
  void add(const RowNodes& lines, std::span<const std::uint32_t> chosen, std::uint32_t kind);
  /// Batches that one thread takes at a time.
  std::size_t grain(std::size_t color) const;
};

}  // namespace pliant
