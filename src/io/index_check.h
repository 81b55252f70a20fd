// Elements that name points which do not exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pliant {

struct BadIndex {
  std::size_t element;
  std::uint32_t point;
};

/// The first element of `cells` (faces or tets) that names a point beyond `points`.
template <typename Cell>
std::optional<BadIndex> find_bad_index(std::span<const Cell> cells, std::size_t points) {
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (const std::uint32_t p : cells[i])
      if (p >= points) return BadIndex{i, p};
  return std::nullopt;
}

}  // namespace pliant
