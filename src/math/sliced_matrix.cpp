#include "math/sliced_matrix.h"

#include <algorithm>

namespace pliant {

void SlicedMatrix::build(std::size_t rows, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& entries) {
  blocks_ = entries.size();
  std::vector<std::vector<std::uint32_t>> columns_of(rows);
  for (const auto& [row, column] : entries) columns_of[row].push_back(column);
  for (auto& columns : columns_of) std::sort(columns.begin(), columns.end());

  starts_.assign(1, 0);
  columns_.clear();
  for (std::size_t slice = 0; slice < rows / kLanes; ++slice) {
    std::size_t width = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) width = std::max(width, columns_of[slice * kLanes + lane].size());
    for (std::size_t k = 0; k < width; ++k) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto row = static_cast<std::uint32_t>(slice * kLanes + lane);
        // Padding points at the row itself: a difference of zero.
        columns_.push_back(k < columns_of[row].size() ? columns_of[row][k] : row);
      }
    }
    starts_.push_back(starts_.back() + width);
  }
  values_.assign((starts_.back() + 1) * kBlockFloats, 0.0f);
}

std::uint32_t SlicedMatrix::find(std::uint32_t row, std::uint32_t column) const {
  const std::size_t slice = row / kLanes, lane = row % kLanes;
  for (std::size_t k = starts_[slice]; k < starts_[slice + 1]; ++k) {
    if (columns_[k * kLanes + lane] == column && column != row) {
      return static_cast<std::uint32_t>(k * kBlockFloats + lane);
    }
  }
  return kNone;
}

}  // namespace pliant
