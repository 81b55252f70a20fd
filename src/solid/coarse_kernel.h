// The coarse matrix of a solid, made from its edges while they are assembled.
//
// Each aggregate moves with six rigid modes W: w_i = [I, −skew(r_i)], r_i the node's place seen from the aggregate's
// middle, over its radius. An edge (i, j) with block K between aggregates a and b adds
//
//   w_iᵀ K w_j  to E_ab,  −w_iᵀ K w_i  to E_aa,  −w_jᵀ Kᵀ w_j  to E_bb,
//
// the last two since K_ii = −Σ K_ij. The products with skew(r) are cross products of r with rows and columns of K.
#pragma once

#include <algorithm>

#include "math/lane_math.h"

namespace pliant {

/// The crosses of r with the columns of k.
inline LaneMat3<Float8> cross_columns(const LaneVec3<Float8>& r, const LaneMat3<Float8>& k) {
  return {cross(r, k.c0), cross(r, k.c1), cross(r, k.c2)};
}
/// skew(r) k skew(s)ᵀ
inline LaneMat3<Float8> cross_both(const LaneVec3<Float8>& r, const LaneMat3<Float8>& k, const LaneVec3<Float8>& s) {
  return cross_columns(r, cross_columns(s, k.transposed()).transposed());
}

/// Sums over edges between two aggregates, eight lanes side by side: t for the rows of translation, r for rotation.
struct CoarseSums {
  LaneMat3<Float8> tt, rt, tr, rr;  ///< w_iᵀ K w_j
  LaneSym3<Float8> rr_i, rr_j;      ///< w_iᵀ K w_i and w_jᵀ Kᵀ w_j, whose other parts are those above

  void add(const LaneMat3<Float8>& k, const LaneVec3<Float8>& r_i, const LaneVec3<Float8>& r_j, Float8, Float8) {
    const LaneMat3<Float8> jr = cross_columns(r_j, k.transposed()).transposed();
    tt = tt + k;
    rt = rt + cross_columns(r_i, k);
    tr = tr + jr;
    rr = rr + cross_columns(r_i, jr);
    rr_i = rr_i + symmetric_part(cross_both(r_i, k, r_i));
    rr_j = rr_j + symmetric_part(cross_both(r_j, k, r_j));
  }
};

/// Sums over edges inside one aggregate whose nodes are all free: translations cancel, rotations nearly.
struct InnerCoarseSums {
  LaneSym3<Float8> rr;

  void add(const LaneMat3<Float8>& k, const LaneVec3<Float8>& r_i, const LaneVec3<Float8>& r_j, Float8, Float8) {
    const LaneMat3<Float8> kr_j = cross_columns(r_j, k.transposed()).transposed();
    const LaneMat3<Float8> kr_i = cross_columns(r_i, k.transposed()).transposed();
    // 2 w_iᵀ K w_j − w_iᵀ K w_i − w_jᵀ K w_j, of which only the symmetric part counts.
    rr = rr + symmetric_part(cross_columns(r_i, kr_j + kr_j - kr_i) - cross_columns(r_j, kr_j));
  }
};

/// Sums over edges where some node is held; `free_i` is 1 where the node moves freely, 0 where it is held.
struct HeldCoarseSums {
  LaneMat3<Float8> tt, rt, tr, rr;
  LaneMat3<Float8> tt_i, rt_i, tt_j, rt_j;
  LaneSym3<Float8> rr_i, rr_j;

  void add(const LaneMat3<Float8>& k, const LaneVec3<Float8>& r_i, const LaneVec3<Float8>& r_j, Float8 free_i,
           Float8 free_j) {
    const Float8 both = free_i * free_j;
    const LaneMat3<Float8> kt = k.transposed();
    const LaneMat3<Float8> i_columns = cross_columns(r_i, k), j_rows = cross_columns(r_j, kt);
    tt = tt + k * both;
    rt = rt + i_columns * both;
    tr = tr + j_rows.transposed() * both;
    rr = rr + cross_both(r_i, k, r_j) * both;
    tt_i = tt_i + k * free_i;
    rt_i = rt_i + i_columns * free_i;
    rr_i = rr_i + symmetric_part(cross_both(r_i, k, r_i)) * free_i;
    tt_j = tt_j + kt * free_j;
    rt_j = rt_j + j_rows * free_j;
    rr_j = rr_j + symmetric_part(cross_both(r_j, k, r_j)) * free_j;
  }
};

/// The three 6x6 blocks of a pair of aggregates, row-major.
struct CoarseBlocks {
  double ab[36], aa[36], bb[36];
};

inline void set_block(double* to, const LaneMat3<Float8>& m, std::size_t row, std::size_t column) {
  const LaneVec3<Float8>* columns[3] = {&m.c0, &m.c1, &m.c2};
  for (std::size_t c = 0; c < 3; ++c) {
    to[(row + 0) * 6 + column + c] = static_cast<double>(sum(columns[c]->x));
    to[(row + 1) * 6 + column + c] = static_cast<double>(sum(columns[c]->y));
    to[(row + 2) * 6 + column + c] = static_cast<double>(sum(columns[c]->z));
  }
}

/// A symmetric 6x6 block from the sums of one side, with the sign of a diagonal.
inline void set_own_block(double* to, const LaneMat3<Float8>& tt, const LaneMat3<Float8>& rt,
                          const LaneSym3<Float8>& rr) {
  set_block(to, tt, 0, 0);
  set_block(to, rt, 3, 0);
  set_block(to, LaneMat3<Float8>{{rr.xx, rr.xy, rr.xz}, {rr.xy, rr.yy, rr.yz}, {rr.xz, rr.yz, rr.zz}}, 3, 3);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) to[r * 6 + 3 + c] = to[(3 + c) * 6 + r];
  }
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < r; ++c) to[r * 6 + c] = to[c * 6 + r] = 0.5 * (to[r * 6 + c] + to[c * 6 + r]);
  }
  for (std::size_t k = 0; k < 36; ++k) to[k] = -to[k];
}

inline void finish(const HeldCoarseSums& sums, CoarseBlocks& blocks) {
  set_block(blocks.ab, sums.tt, 0, 0);
  set_block(blocks.ab, sums.rt, 3, 0);
  set_block(blocks.ab, sums.tr, 0, 3);
  set_block(blocks.ab, sums.rr, 3, 3);
  set_own_block(blocks.aa, sums.tt_i, sums.rt_i, sums.rr_i);
  set_own_block(blocks.bb, sums.tt_j, sums.rt_j, sums.rr_j);
}

inline void finish(const CoarseSums& sums, CoarseBlocks& blocks) {
  finish(HeldCoarseSums{sums.tt, sums.rt, sums.tr, sums.rr, sums.tt, sums.rt, sums.tt.transposed(),
                        sums.tr.transposed(), sums.rr_i, sums.rr_j},
         blocks);
}

inline void finish(const InnerCoarseSums& sums, CoarseBlocks& blocks) {
  std::fill_n(blocks.ab, 36, 0.0);
  std::fill_n(blocks.bb, 36, 0.0);
  set_own_block(blocks.aa, {}, {}, sums.rr);
  for (double& entry : blocks.aa) entry = -entry;
}

}  // namespace pliant
