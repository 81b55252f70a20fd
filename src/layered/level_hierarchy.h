// Coarser and coarser versions of a layer's matrix, for the preconditioner (layered_levels.h). They never change.
//
// Nodes are gathered into patches that are round in space, whatever the mesh or its charts look like; a node takes part
// in the motion of its own patch and, near the rim, in those beside it (smoothed aggregation after Vanek, Mandel and
// Brezina 1996, with weights from the edges' lengths alone, the same for all three components). So motions that vary
// slowly, which cost conjugate gradients many iterations on a fine mesh, are motions of few unknowns. The matrices of
// the levels are those of Galerkin, PᵀKP. On the coarsest, of some twenty patches, it is kept whole, with what ties the
// patches to the core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "math/lane_vectors.h"
#include "math/quad_vectors.h"

namespace pliant {

/// A sparse matrix of 3x3 blocks, row by row, in doubles.
struct BlockRows {
  std::vector<std::uint32_t> starts{0}, columns;
  std::vector<std::array<double, 9>> blocks;

  std::size_t size() const { return starts.size() - 1; }
};

/// A sparse matrix of scalar weights in slices of eight rows, for vectors of nodes.
class SlicedWeights {
 public:
  using Row = std::vector<std::pair<std::uint32_t, float>>;  ///< columns and weights

  void build(const std::vector<Row>& rows);
  std::size_t slices() const { return starts_.size() - 1; }
  /// Σ_j w_ij x_j for the eight rows of a slice.
  LaneVec3<Float8> products(std::size_t slice, const QuadVectors& x) const {
    LaneVec3<Float8> y;
    for (std::size_t k = starts_[slice]; k < starts_[slice + 1]; ++k) {
      y = y + x.gather(columns_.data() + kLanes * k) * load8(weights_.data() + kLanes * k);
    }
    return y;
  }
  std::size_t bytes() const { return 4 * (columns_.size() + weights_.size()) + sizeof(std::size_t) * starts_.size(); }

 private:
  std::vector<std::size_t> starts_{0};  ///< per slice, in groups of eight weights
  std::vector<std::uint32_t> columns_;
  std::vector<float> weights_;
};

class LevelHierarchy {
 public:
  static constexpr std::size_t kMostParents = 4;  ///< patches that a node takes part in

  struct Level {
    std::size_t count = 0;           ///< of patches
    SlicedWeights up, down;          ///< Pᵀ and P, between this level and the next finer one
    std::vector<float> stiffness{};  ///< diagonal blocks of K, 48 for each group
    std::vector<float> masses{};     ///< kg
    /// The patches that each node of the finer level takes part in.
    std::vector<std::uint32_t> parent_starts{};
    std::vector<std::pair<std::uint32_t, float>> parents{};

    std::span<const std::pair<std::uint32_t, float>> parents_of(std::size_t node) const {
      return {parents.data() + parent_starts[node], parent_starts[node + 1] - parent_starts[node]};
    }
  };

  /// `stiffness` has a row for each node, diagonals included; edges are named once.
  void build(std::vector<Vec3> places, std::vector<std::pair<std::uint32_t, std::uint32_t>> edges,
             std::vector<double> masses, BlockRows stiffness);
  /// Of K times each of the core's six motions: what ties the coarsest patches to the core.
  void set_core_column(std::size_t column, const QuadVectors& forces);

  std::span<const Level> levels() const { return levels_; }  ///< from fine to coarse
  /// K of the coarsest level, row by row; and, by row, −K times the core's six motions.
  const std::vector<double>& coarsest() const { return coarsest_; }
  const std::vector<std::array<double, 6>>& core_columns() const { return core_columns_; }
  std::size_t bytes() const;

 private:
  std::vector<Level> levels_;
  std::vector<double> coarsest_;
  std::vector<std::array<double, 6>> core_columns_;
};

}  // namespace pliant
