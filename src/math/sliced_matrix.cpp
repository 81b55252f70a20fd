#include "math/sliced_matrix.h"

#include <algorithm>
#include <numeric>

namespace pliant {

void SlicedMatrix::build(std::size_t rows, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& entries) {
  blocks_ = entries.size();
  // The columns of each row, one row after the other.
  std::vector<std::uint32_t> begins(rows + 1, 0), columns(entries.size());
  for (const auto& [row, column] : entries) ++begins[row + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  for (const auto& [row, column] : entries) columns[begins[row]++] = column;
  // Each row's beginning is now its end, and the beginning of the next.
  const auto begin_of = [&](std::size_t row) { return row == 0 ? 0 : begins[row - 1]; };
  const auto size_of = [&](std::size_t row) { return begins[row] - begin_of(row); };
  for (std::size_t row = 0; row < rows; ++row) {
    std::sort(columns.begin() + begin_of(row), columns.begin() + begins[row]);
  }

  starts_.assign(rows / kLanes + 1, 0);
  for (std::size_t slice = 0; slice < rows / kLanes; ++slice) {
    std::size_t width = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      width = std::max<std::size_t>(width, size_of(slice * kLanes + lane));
    starts_[slice + 1] = starts_[slice] + width;
  }
  columns_.resize(starts_.back() * kLanes);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t slice = row / kLanes, width = starts_[slice + 1] - starts_[slice];
    std::uint32_t* to = columns_.data() + starts_[slice] * kLanes + row % kLanes;
    for (std::size_t k = 0; k < width; ++k) {
      // Padding points at the row itself: a difference of zero.
      to[k * kLanes] = k < size_of(row) ? columns[begin_of(row) + k] : static_cast<std::uint32_t>(row);
    }
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
