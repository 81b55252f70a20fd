// A sliced matrix once more, with two bytes for each number: half of what a product reads.
//
// Where the matrices of an island do not fit the cache, products cost what it takes to read them. Here a number is a
// whole multiple of its row's step, a power of two: wrong by 3e-5 of the row's largest number at most. It is also a
// multiple of the step of its column's row, so block (i, j) stays that of (j, i) to the bit; and in difference form
// what moves alike is not resisted, whatever the numbers. What turns as a whole is, by rounding, and what stands on the
// diagonal is symmetric up to it: so this is for bodies whose steps are small beside their masses (`largest_step`).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "math/short_lanes.h"
#include "math/sliced_matrix.h"

namespace pliant {

class RoundedMatrix {
 public:
  /// Takes over the numbers of a matrix; no allocation once it had one as large.
  void assign(Workers& workers, const SlicedMatrix& matrix);

  /// The most that a row's step is of its weight, over rows that have one.
  float largest_step(std::span<const float> weights) const;

  /// Σ_j K_ij (x_j − x_i) for the eight rows of a slice, of which `own` are the x_i. `matrix` is that which it came
  /// from.
  LaneVec3<Float8> differences(const SlicedMatrix& matrix, std::size_t slice, const LaneVec3<Float8>& own,
                               const Vec4* x) const {
    LaneVec3<Float8> y;
    const std::int16_t* block = shorts_.data() + matrix.start(slice) * SlicedMatrix::kBlockFloats;
    const std::uint32_t* column = matrix.columns() + matrix.start(slice) * kLanes;
    for (std::size_t k = matrix.start(slice); k < matrix.start(slice + 1); ++k) {
      const LaneVec3<Float8> d = load_nodes(x, column).xyz - own;
      y.x += load_shorts8(block) * d.x + load_shorts8(block + 8) * d.y + load_shorts8(block + 16) * d.z;
      y.y += load_shorts8(block + 24) * d.x + load_shorts8(block + 32) * d.y + load_shorts8(block + 40) * d.z;
      y.z += load_shorts8(block + 48) * d.x + load_shorts8(block + 56) * d.y + load_shorts8(block + 64) * d.z;
      block += SlicedMatrix::kBlockFloats, column += kLanes;
    }
    return y * load8(steps_.data() + kLanes * slice);
  }

  std::size_t bytes() const { return shorts_.capacity() * sizeof(std::int16_t) + steps_.capacity() * sizeof(float); }

 private:
  std::vector<std::int16_t> shorts_;  ///< as the values of the matrix
  std::vector<float> steps_;          ///< per row
};

}  // namespace pliant
