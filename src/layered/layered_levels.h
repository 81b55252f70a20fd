// The preconditioner of a layered body beyond the blocks of its nodes: motions of patches of skin, and of the core.
//
//   z = D⁻¹ r + Σ_l P_l D_l⁻¹ P_lᵀ r + P_c E⁻¹ P_cᵀ r
//
// over the levels of level_hierarchy.h, D_l their diagonal blocks (Bramble, Pasciak and Xu 1990), E the whole matrix of
// the coarsest level and the core together. Contacts are blocks of single nodes; on coarser levels they are lumped onto
// the patches, which keeps the matrices of the layer what they are. A cycle between the levels takes fewer iterations
// but two or three more products in each.
//
// All in body axes. The first term is the caller's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "layered/level_hierarchy.h"
#include "math/cholesky6.h"

namespace pliant {

/// What something adds to the diagonal block of a node.
using NodeBlock = std::pair<std::uint32_t, LaneSym3<float>>;

inline void add_to_lane(LaneSym3<Float8>& d, std::size_t lane, const LaneSym3<float>& block) {
  d.xx[lane] += block.xx, d.yy[lane] += block.yy, d.zz[lane] += block.zz;
  d.xy[lane] += block.xy, d.xz[lane] += block.xz, d.yz[lane] += block.yz;
}
/// The inverse of a symmetric matrix; zero where it has none, as for the lanes that no node uses.
inline LaneSym3<Float8> inverse_or_zero(const LaneSym3<Float8>& m) {
  const Float8 det = determinant(m);
  const auto usable = det > broadcast(0);
  return adjugate(m) * select(usable, broadcast(1) / select(usable, det, broadcast(1)), broadcast(0));
}

/// A symmetric positive definite matrix of a hundred rows or so, and its Cholesky factor. A pivot that is nothing but
/// rounding is dropped, with its motion.
class DenseCholesky {
 public:
  void resize(std::size_t size) { size_ = size, u_.assign(size * size, 0.0); }
  std::size_t size() const { return size_; }
  double* row(std::size_t i) { return u_.data() + i * size_; }  ///< only what is on or right of the diagonal counts
  void factor();
  void solve(double* x) const;

 private:
  std::size_t size_ = 0;
  std::vector<double> u_, before_;
};

class LayeredLevels {
 public:
  /// For the matrix stretch K + (1 + drag) m.
  void begin(const LevelHierarchy& hierarchy, float stretch, float drag, bool core_is_fixed);
  /// What contacts add to nodes, and the 6x6 block of the core.
  void set_blocks(std::span<const NodeBlock> blocks, const std::array<double, 36>& core);
  /// All but the first term, of the residual of nodes and core. Returns r·z.
  double precondition(Workers& workers, const QuadVectors& r, const Vector6& core);
  LaneVec3<Float8> correction(std::size_t g) const { return hierarchy_->levels()[0].down.products(g, parts_[0].z); }
  const Vector6& core_motion() const { return core_motion_; }
  std::size_t bytes() const;

 private:
  struct Part {
    QuadVectors r, z;
    std::vector<float> inverses;          ///< 48 for each group
    std::vector<LaneSym3<float>> blocks;  ///< of contacts
    std::vector<std::uint32_t> touched;   ///< patches that have some, ascending
    std::vector<std::uint8_t> is_touched;
  };
  void lump(const LevelHierarchy::Level& level, std::span<const NodeBlock> blocks, Part& part);
  void invert(const LevelHierarchy::Level& level, Part& part) const;
  void factor_coarsest(const std::array<double, 36>& core);
  double restrict_to(Workers& workers, std::size_t level, const QuadVectors& finer);
  double solve_coarsest(const Vector6& core);

  const LevelHierarchy* hierarchy_ = nullptr;
  float stretch_ = 0, drag_ = 0;
  bool core_is_fixed_ = false;
  std::vector<Part> parts_;  ///< by level
  DenseCholesky factor_;
  Vector6 core_motion_{};
  // Scratch.
  std::vector<NodeBlock> lumped_, finer_;
  std::vector<double> coarse_, before_, sums_;
};

}  // namespace pliant
