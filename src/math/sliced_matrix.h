// A sparse matrix of 3x3 blocks in slices of eight rows (SELL-8), for products on both cores.
//
// The eight rows of a slice advance together, one block each, so that a product is vertical arithmetic on whole
// registers. The matrix is kept in difference form: off-diagonal blocks K_ij alone are stored, and a row is
//
//   y_i = D_i x_i + Σ_j K_ij (x_j − x_i)
//
// with D what ties the node to the world (mass, damping, contact). What a common motion of all nodes does not stretch
// then cancels exactly, which keeps the momentum of stiff bodies: with the sums folded into a float diagonal a free
// body of 1e8 Pa loses a third of its speed in a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "math/lane_vectors.h"
#include "math/node_lanes.h"

namespace pliant {

class SlicedMatrix {
 public:
  static constexpr std::size_t kBlockFloats = 9 * kLanes;  ///< of eight blocks side by side, row by row

  /// For `rows` rows (a multiple of eight) with blocks at `entries`, each named twice, as (i, j) and (j, i).
  void build(std::size_t rows, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& entries);

  std::size_t slices() const { return starts_.empty() ? 0 : starts_.size() - 1; }
  /// Blocks stored, padding included.
  std::size_t stored_blocks() const { return columns_.size(); }
  std::size_t blocks() const { return blocks_; }

  /// Where block (row, column) begins in `values`; its nine entries follow at distances of `kLanes`. kNone if absent.
  std::uint32_t find(std::uint32_t row, std::uint32_t column) const;
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// A place that may be written to and is never read: the target of padding.
  std::uint32_t nowhere() const { return static_cast<std::uint32_t>(columns_.size() / kLanes * kBlockFloats); }

  /// Where the blocks of a slice begin, in groups of eight, and the columns of all groups, eight for each.
  std::size_t start(std::size_t slice) const { return starts_[slice]; }
  const std::uint32_t* columns() const { return columns_.data(); }

  float* values() { return values_.data(); }
  const float* values() const { return values_.data(); }

  /// Σ_j K_ij (x_j − x_i) for the eight rows of a slice.
  LaneVec3<Float8> differences(std::size_t slice, const float* x) const {
    const LaneVec3<Float8> own = load_vec8(x + 24 * slice);
    LaneVec3<Float8> y;
    const float* block = values_.data() + starts_[slice] * kBlockFloats;
    const std::uint32_t* column = columns_.data() + starts_[slice] * kLanes;
    for (std::size_t k = starts_[slice]; k < starts_[slice + 1]; ++k, block += kBlockFloats, column += kLanes) {
      const LaneVec3<Float8> d = gather_vec8(x, lane_offsets(load_index8(column))) - own;
      y.x += load8(block) * d.x + load8(block + 8) * d.y + load8(block + 16) * d.z;
      y.y += load8(block + 24) * d.x + load8(block + 32) * d.y + load8(block + 40) * d.z;
      y.z += load8(block + 48) * d.x + load8(block + 56) * d.y + load8(block + 64) * d.z;
    }
    return y;
  }

  /// The same from nodes side by side, of which `own` are those of the slice: half the time, as three gathers of single
  /// floats take longer than what is done with them.
  LaneVec3<Float8> differences(std::size_t slice, const LaneVec3<Float8>& own, const Vec4* x) const {
    LaneVec3<Float8> y;
    const float* block = values_.data() + starts_[slice] * kBlockFloats;
    const std::uint32_t* column = columns_.data() + starts_[slice] * kLanes;
    for (std::size_t k = starts_[slice]; k < starts_[slice + 1]; ++k, block += kBlockFloats, column += kLanes) {
      const LaneVec3<Float8> d = load_nodes(x, column).xyz - own;
      y.x += load8(block) * d.x + load8(block + 8) * d.y + load8(block + 16) * d.z;
      y.y += load8(block + 24) * d.x + load8(block + 32) * d.y + load8(block + 40) * d.z;
      y.z += load8(block + 48) * d.x + load8(block + 56) * d.y + load8(block + 64) * d.z;
    }
    return y;
  }

  /// `differences` of two vectors, for one reading of the matrix.
  std::pair<LaneVec3<Float8>, LaneVec3<Float8>> differences(std::size_t slice, const float* x, const float* z) const {
    const LaneVec3<Float8> own_x = load_vec8(x + 24 * slice), own_z = load_vec8(z + 24 * slice);
    LaneVec3<Float8> of_x, of_z;
    const float* block = values_.data() + starts_[slice] * kBlockFloats;
    const std::uint32_t* column = columns_.data() + starts_[slice] * kLanes;
    for (std::size_t k = starts_[slice]; k < starts_[slice + 1]; ++k, block += kBlockFloats, column += kLanes) {
      const Int8 at = lane_offsets(load_index8(column));
      const LaneVec3<Float8> d = gather_vec8(x, at) - own_x, e = gather_vec8(z, at) - own_z;
      const LaneVec3<Float8> rows[3] = {load_vec8(block), load_vec8(block + 24), load_vec8(block + 48)};
      of_x.x += dot(rows[0], d), of_x.y += dot(rows[1], d), of_x.z += dot(rows[2], d);
      of_z.x += dot(rows[0], e), of_z.y += dot(rows[1], e), of_z.z += dot(rows[2], e);
    }
    return {of_x, of_z};
  }

  /// −Σ_j K_ij for the eight rows of a slice: the diagonal blocks that the difference form leaves out.
  LaneSym3<Float8> diagonal(std::size_t slice) const {
    LaneSym3<Float8> d;
    const float* block = values_.data() + starts_[slice] * kBlockFloats;
    for (std::size_t k = starts_[slice]; k < starts_[slice + 1]; ++k, block += kBlockFloats) {
      d.xx -= load8(block), d.yy -= load8(block + 32), d.zz -= load8(block + 64);
      d.xy -= (load8(block + 8) + load8(block + 24)) * 0.5f;
      d.xz -= (load8(block + 16) + load8(block + 48)) * 0.5f;
      d.yz -= (load8(block + 40) + load8(block + 56)) * 0.5f;
    }
    return d;
  }

  std::size_t bytes() const { return values_.size() * 4 + columns_.size() * 4 + starts_.size() * sizeof(std::size_t); }

 private:
  std::size_t blocks_ = 0;
  std::vector<std::size_t> starts_;     ///< per slice, in groups of eight blocks
  std::vector<std::uint32_t> columns_;  ///< eight for each group
  std::vector<float> values_;
};

}  // namespace pliant
