// Cholesky factors of a sparse symmetric matrix of 6x6 blocks: the coarse problem of a solid, a few hundred blocks
// wide. And of 3x3 blocks: the nodes of a cloth, rope or jelly under a heavy load.
//
// The elimination order and the pattern of the factor are found once; values are factored every step. A large matrix is
// cut in two halves that meet in a few blocks only (a nested dissection of one level): both cores work on a half each,
// then one of them on where they meet. Within each of these three the block with the fewest neighbours goes first.
// A pivot that is nothing but rounding is dropped: its mode, such as the turning of a single node, plays no part.
// In floats for the aggregates of one solid, in doubles for bodies as a whole, whose masses may differ by millions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.h"

namespace pliant {

template <typename Real, std::size_t Size = 6>
class BlockCholeskyOf {
 public:
  static constexpr std::size_t kSize = Size, kStride = Size > 4 ? 8 : 4;  ///< columns, padded to eight or four lanes
  static constexpr std::size_t kReals = kSize * kStride;                  ///< of one block, by columns

  /// `pairs` lists the off-diagonal blocks (a, b), a ≠ b, once each. Costs nothing where they are as they were.
  void analyze(std::size_t blocks, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs);

  /// Sets all values to zero.
  void clear();
  /// Adds to the diagonal block of `a` (row-major, symmetric), or to block (a, b) = transposed (b, a).
  void add_diagonal(std::uint32_t a, const double* block);
  void add(std::uint32_t a, std::uint32_t b, const double* block);
  /// Without workers on the calling thread, with the same result.
  void factor(Workers* workers = nullptr);
  /// Solves in place; `x` holds `kStride` numbers for each block, of which those beyond `kSize` stay zero.
  void solve(Real* x, Workers* workers = nullptr) const;
  /// The same in two halves, for Schur complements. First down, y = L⁻¹ x, in the order of elimination, of several
  /// right-hand sides: `columns` times `kStride` numbers for each block. Then up, x = L⁻ᵀ y, of one; `y` is used up.
  void solve_lower(const Real* x, std::size_t columns, Real* y) const;
  void solve_upper(Real* y, Real* x) const;

  std::size_t size() const { return count_; }
  std::size_t factor_blocks() const { return rows_.size() + count_; }
  std::size_t bytes() const {
    return sizeof(std::uint32_t) * (position_.size() + starts_.size() + rows_.size() + 2 * pairs_.size()) +
           sizeof(Real) * (values_.size() + second_.size() + scratch_.size() + largest_.size() * kSize);
  }

 private:
  Real* below(std::size_t k) { return values_.data() + (count_ + k) * kReals; }
  const Real* below(std::size_t k) const { return values_.data() + (count_ + k) * kReals; }
  Real* pivot(std::size_t column) { return values_.data() + column * kReals; }
  const Real* pivot(std::size_t column) const { return values_.data() + column * kReals; }
  std::size_t find(std::uint32_t row, std::uint32_t column) const;
  void factor_pivot(std::size_t column);
  void scale_below(std::size_t column);
  void update_right_of(std::size_t column, Real* meeting_pivots, Real* meeting_blocks);
  void factor_columns(std::size_t begin, std::size_t end, Real* meeting_pivots, Real* meeting_blocks);
  void solve_forward(std::size_t begin, std::size_t end, std::size_t columns, Real* y, Real* meeting) const;
  void solve_backward(std::size_t begin, std::size_t end, Real* y) const;
  /// Both halves, by `body(begin, end, which)` each.
  template <typename Body>
  void for_halves(Workers* workers, Body&& body) const;

  std::size_t count_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  /// The first half ends at `second_begin_` of the elimination order, the second where they meet.
  std::size_t second_begin_ = 0, meeting_begin_ = 0;
  std::vector<std::uint32_t> position_;           ///< of each block in the elimination order
  std::vector<std::uint32_t> starts_;             ///< per column, into rows_
  std::vector<std::uint32_t> rows_;               ///< below the diagonal, ascending; in elimination order
  std::vector<Real> values_;                      ///< the pivots, then the blocks of rows_
  std::vector<std::array<Real, kSize>> largest_;  ///< the diagonal before elimination, to judge pivots by
  std::vector<Real> second_;                      ///< what the second half adds to the pivots and blocks of the meeting
  mutable std::vector<Real> scratch_;             ///< of `solve`; at its end what the second half adds to the meeting
};

using BlockCholesky = BlockCholeskyOf<float>;
using BlockCholeskyDouble = BlockCholeskyOf<double>;
using BlockCholesky3 = BlockCholeskyOf<double, 3>;

}  // namespace pliant
