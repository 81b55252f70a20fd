// Bending of yarns and ropes: rows of three nodes in a row, swept along their lines.
//
// Rows that follow each other share two nodes, so a sweep along a line loads and stores every node once where rows in
// colours would do it three times; eight lines go side by side.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "math/vec4.h"
#include "solve/line_batches.h"
#include "solve/soft_rows.h"

namespace pliant {

class BendLines {
 public:
  BendLines() = default;
  /// Of each row the first three nodes count, and no rest. Rows of a line are to come in its order, else they are swept
  /// as several lines.
  BendLines(std::span<const Bend> bends, std::size_t node_count);

  std::size_t row_count() const { return rows_; }
  /// A sweep there and back of backward Euler's steps for each row: symmetric Gauss-Seidel. One sweep alone fed a
  /// motion in the folds of a cloth of 200 x 200 cells that never ended, as what it does is not the gradient of any
  /// energy.
  void sweep(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h);

 private:
  template <bool kIsBack>
  void sweep(const LineBatches::Batch& batch, const Vec4* x, Vec4* v, float h);

  LineBatches lines_;
  // By place and lane: the row that begins there. One that does not exist gives way to anything.
  std::array<std::vector<float>, 3> weights_;
  std::vector<float> compliance_;
  std::vector<float> bent_speeds_;  ///< m/s, how bent each row is in a substep: three for each row
  std::size_t rows_ = 0;
};

}  // namespace pliant
