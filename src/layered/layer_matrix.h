// The constant matrix of a layer, in slices of eight rows; and the same with two bytes for each number.
//
// Products of bodies beyond the second-level cache cost what it takes to read the matrix. For the many products of a
// solve, off-diagonal blocks are also kept as multiples, of 16 bits, of a step of their row, a power of two: an error
// of 3e-5 of the row's largest number at most. What a step begins with, and with it what stands still, comes from the
// floats. A number is a multiple of the larger step of both rows, so the matrix stays symmetric to the bit; and the
// diagonal blocks take up what rounding changed of the sum of a row, so that what moves alike is resisted as before.
// Beside rows that are thousands of times larger a row would be lost in their steps, and the matrix no longer positive:
// such a matrix is read as floats. (A skin of 10 kPa and 1 GPa got seven times its energy in free flight.)
#pragma once

#include <cstdint>
#include <vector>

#include "layered/level_hierarchy.h"
#include "math/lane_vectors.h"
#include "math/quad_vectors.h"
#include "math/short_lanes.h"

namespace pliant {

class LayerMatrix {
 public:
  void build(const BlockRows& rows);

  std::size_t blocks() const { return blocks_; }  ///< off the diagonal
  /// The product for the eight rows of a slice.
  LaneVec3<Float8> times(std::size_t slice, const QuadVectors& x) const {
    return sum_blocks(floats_.data(), slice, x) + diagonal(slice) * x.group(slice);
  }
  /// The same with the rounded numbers, if they are good enough.
  LaneVec3<Float8> rounded_times(std::size_t slice, const QuadVectors& x) const {
    if (!can_be_rounded_) return times(slice, x);
    return sum_blocks(shorts_.data(), slice, x) * load8(steps_.data() + kLanes * slice) +
           load_sym8(rounded_diagonals_.data() + 48 * slice) * x.group(slice);
  }
  LaneSym3<Float8> diagonal(std::size_t slice) const { return load_sym8(diagonals_.data() + 48 * slice); }
  std::size_t bytes() const {
    return 2 * shorts_.size() + 8 * starts_.size() +
           4 * (floats_.size() + columns_.size() + steps_.size() + diagonals_.size() + rounded_diagonals_.size());
  }

 private:
  static constexpr std::size_t kBlock = 9 * kLanes;
  static Float8 load(const float* from) { return load8(from); }
  static Float8 load(const std::int16_t* from) { return load_shorts8(from); }
  void set_row(const BlockRows& rows, std::uint32_t i, const std::vector<double>& steps);
  template <typename Value>
  LaneVec3<Float8> sum_blocks(const Value* values, std::size_t slice, const QuadVectors& x) const {
    LaneVec3<Float8> y;
    const Value* block = values + starts_[slice] * kBlock;
    const std::uint32_t* column = columns_.data() + starts_[slice] * kLanes;
    for (std::size_t k = starts_[slice]; k < starts_[slice + 1]; ++k, block += kBlock, column += kLanes) {
      const LaneVec3<Float8> d = x.gather(column);
      y.x += load(block) * d.x + load(block + 8) * d.y + load(block + 16) * d.z;
      y.y += load(block + 24) * d.x + load(block + 32) * d.y + load(block + 40) * d.z;
      y.z += load(block + 48) * d.x + load(block + 56) * d.y + load(block + 64) * d.z;
    }
    return y;
  }

  std::size_t blocks_ = 0;
  bool can_be_rounded_ = true;
  std::vector<std::size_t> starts_{0};  ///< per slice, in groups of eight blocks
  std::vector<std::uint32_t> columns_;  ///< eight for each group
  std::vector<float> floats_;
  std::vector<std::int16_t> shorts_;
  std::vector<float> steps_, diagonals_, rounded_diagonals_;
};

}  // namespace pliant
