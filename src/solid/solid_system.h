// The linear system of a solid's step, A x = r with A = D + Σ K (Parker and O'Brien 2009, eq. 5), and its solution by
// conjugate gradients on both cores.
//
// The preconditioner has two levels: the inverses of the 3x3 diagonal blocks, and the exact inverse of the matrix on
// the rigid motions of the aggregates. With it the number of iterations does not grow with the mesh. A free body has a
// third, its rigid motions as a whole (rigid_level.h).
//
// All sums are made per chunk of aggregates in a fixed order, so that the result does not depend on the threads.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "math/block_cholesky.h"
#include "math/lane_vectors.h"
#include "math/rounded_matrix.h"
#include "solid/coarse_kernel.h"
#include "solid/impulse_size.h"
#include "solid/rigid_level.h"
#include "solid/solid_elements.h"
#include "solid/solid_layout.h"
#include "solve/solve_result.h"

namespace pliant {

class WholeMotion;

class SolidSystem {
 public:
  explicit SolidSystem(const SolidLayout& layout, const TetMesh& mesh);

  // --- The matrix -------------------------------------------------------------------------------------------------
  /// `free` is 1 for slots that move freely and 0 for held ones and padding; `tied` is what ties a slot to the world:
  /// its mass and what damps it, kg.
  void assemble(Workers& workers, SolidLayout& layout, const SolidElements& elements, const LaneVectors& positions,
                const std::vector<float>& free, const std::vector<float>& tied);
  /// Adds a symmetric block to the diagonal of a slot (contact); before `factor`.
  void clear_extras();
  void add_extra(std::uint32_t slot, const LaneSym3<float>& block);
  /// The inverses of the diagonal blocks, then the coarse factors: once the diagonal is as it should be. In an island
  /// the motions of a free body as a whole are left to others.
  void invert_diagonals(Workers& workers, const SolidLayout& layout);
  void factor_coarse(Workers& workers, const SolidLayout& layout, bool is_in_island = false);

  /// From here to the next `assemble` products read half as much, and are a little wrong (rounded_matrix.h), unless the
  /// body is so stiff that it would matter.
  void round(Workers& workers, const SolidLayout& layout);

  // --- Using it ---------------------------------------------------------------------------------------------------
  /// Changes `x` until `r` is within `threshold`; `r` comes with the residual of `x` and keeps it up to date.
  SolveResult solve(Workers& workers, const SolidLayout& layout, LaneVectors& x, LaneVectors& r,
                    const ImpulseSize& threshold, int max_iterations);
  /// The same among the motions of a free body that have no momentum and no spin, `whole` being the others.
  SolveResult solve_shape(Workers& workers, const SolidLayout& layout, const LaneVectors& positions, WholeMotion& whole,
                          LaneVectors& x, LaneVectors& r, double threshold, int max_iterations);
  double norm(Workers& workers, const SolidLayout& layout, const LaneVectors& r) {
    return std::sqrt(dot_product(workers, layout, r, r));
  }
  /// Right after `solve`: takes from the residual what is left of it on the rigid motions of the aggregates.
  void correct_coarse(Workers& workers, const SolidLayout& layout, LaneVectors& x);
  /// The motion that a force and a torque about `reference` give a free body as a whole.
  const RigidLevel& rigid() const { return rigid_; }
  Vec3 reference() const { return reference_; }
  /// The internal part of A x, Σ_j K_ij (x_j − x_i), for the eight slots of a group.
  LaneVec3<Float8> internal(const SolidLayout& layout, std::size_t group, const LaneVectors& x) const {
    return layout.matrix.differences(group, x.data());
  }
  /// D x of a group: mass, damping and contact.
  LaneVec3<Float8> tied_part(std::size_t group, const LaneVec3<Float8>& x) const;
  Float8 free_mask(std::size_t group) const { return load8(free_.data() + 8 * group); }
  /// nᵀ A_ii⁻¹ n, what a unit impulse along n moves a slot with its neighbours held.
  float response(std::uint32_t slot, Vec3 normal) const;
  /// How many times its mass a node weighs with its neighbours held: of the node where that is least.
  float least_stiffness() const;
  std::size_t bytes() const;

  // --- The parts of an iteration, for solvers that join several systems (solid_island.h) ---------------------------
  struct Chunk {
    std::uint32_t begin, end;  ///< aggregates
  };
  const std::vector<Chunk>& chunks() const { return chunks_; }
  struct Sums {
    double product = 0;
    ImpulseSize size{};  ///< its square
  };
  /// Goes `step` along the direction, unless it is 0; then D⁻¹ r takes the place of A p, and Wᵀ r goes to the coarse
  /// level. The sums are r·D⁻¹r and the size of r.
  Sums precondition(const SolidLayout& layout, const Chunk& chunk, LaneVectors& x, LaneVectors& r, double step);
  /// The coarse level, when all chunks are preconditioned. Returns its part of r·z.
  double solve_coarse(Workers& workers);
  /// p = z + beta p.
  void renew_direction(const SolidLayout& layout, const Chunk& chunk, float beta);
  /// q = D p + K p + more(group, p), where D has no contacts; returns p·q.
  template <typename More>
  double multiply(const SolidLayout& layout, const Chunk& chunk, More&& more) {
    double total = 0;
    for (std::uint32_t a = chunk.begin; a < chunk.end; ++a) {
      Float8 pq{};
      for (std::uint32_t g = layout.aggregate_starts[a]; g < layout.aggregate_starts[a + 1]; ++g) {
        const LaneVec3<Float8> p = p_.group(g);
        const LaneVec3<Float8> stretched = is_rounded_ ? rounded_.differences(layout.matrix, g, p, p_nodes_.data())
                                                       : layout.matrix.differences(g, p, p_nodes_.data());
        const LaneVec3<Float8> own = p * load8(tied_.data() + 8 * g) + stretched;
        const LaneVec3<Float8> q = more(g, p, own) * free_mask(g);
        q_.set_group(g, q);
        pq += dot(p, q);
      }
      total += static_cast<double>(sum(pq));
    }
    return total;
  }
  const LaneVectors& direction() const { return p_; }
  /// Whether no node is held, so that the body as a whole moves by its mass and contacts alone.
  bool is_free() const { return is_free_; }
  /// Whether its only aggregate is the body as a whole: then there is no level between this and the nodes.
  bool is_one() const { return is_free_ && coarse_.size() == 1; }
  /// The residual's force on the body as a whole, after `solve_coarse`; and the motion of the body as a whole that a
  /// solver adds to the coarse solution.
  /// What ties the body as a whole to the world, 6x6 row by row; before `factor_coarse`.
  std::array<double, 36> whole_matrix(const SolidLayout& layout);
  RigidMotion whole_force() const { return rigid_.whole_force(coarse_r_.data()); }
  void add_whole_motion(const RigidMotion& motion) { rigid_.add_motion(motion, coarse_x_.data()); }

 private:
  void measure_aggregates(const SolidLayout& layout, const TetMesh& mesh);
  void find_held(const SolidLayout& layout);
  void locate_aggregates(Workers& workers, const SolidLayout& layout, const LaneVectors& positions);
  template <typename Sums>
  void assemble_pair(SolidLayout& layout, const SolidElements& elements, std::size_t pair);
  LaneSym3<Float8> elastic_diagonal(const SolidLayout& layout, std::size_t group);
  void invert_diagonal(const SolidLayout& layout, std::size_t aggregate);
  void add_tied_modes(const SolidLayout& layout, std::size_t aggregate, double* block) const;
  void apply_preconditioner(Workers& workers, const SolidLayout& layout, const LaneVectors& r, LaneVectors& z);
  double dot_product(Workers& workers, const SolidLayout& layout, const LaneVectors& a, const LaneVectors& b);
  void restrict_to(std::size_t aggregate, const SolidLayout& layout, const LaneVectors& r);
  LaneVec3<Float8> prolong(std::size_t aggregate, std::size_t group) const;

  std::vector<Chunk> chunks_;
  std::vector<float> radii_;         ///< of aggregates, at rest
  std::vector<std::uint8_t> holds_;  ///< whether an aggregate has held nodes
  LaneVectors arms_;                 ///< from the aggregate's middle to the slot, over the radius
  std::vector<Vec4> arm_nodes_;      ///< the same node by node, with `free` beside it
  std::vector<float> free_, tied_;
  std::vector<std::uint32_t> extra_of_group_;  ///< into extras_, or kNone
  std::vector<float> extras_;                  ///< per entry 6 x 8
  std::vector<float> elastic_;                 ///< the matrix's part of the diagonal blocks, per group 6 x 8
  std::vector<std::uint8_t> elastic_is_old_;   ///< per group: the matrix changed since
  std::vector<float> inverse_;                 ///< of the diagonal blocks, per group 6 x 8
  std::vector<std::uint8_t> inverse_is_old_;   ///< per group: the diagonal changed since
  RoundedMatrix rounded_;
  bool is_rounded_ = false;
  std::vector<CoarseBlocks> pair_blocks_;
  BlockCholesky coarse_;
  RigidLevel rigid_;
  Vec3 reference_{};                        ///< a point of the body, from which the rigid level measures
  bool is_free_ = false;                    ///< no node is held: the rigid level is in use
  std::vector<float> coarse_x_, coarse_r_;  ///< eight floats for each aggregate
  LaneVectors p_, q_;
  std::vector<Vec4> p_nodes_;  ///< p once more, node by node: what neighbours read of it
  LaneVectors z_;              ///< of `solve_shape` alone

  std::vector<Sums> sums_;  ///< per chunk
  /// The sum of `body(chunk)` over all chunks, in their order.
  template <typename Body>
  Sums reduce(Workers& workers, Body&& body) {
    parallel_for(workers, chunks_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) sums_[c] = body(chunks_[c]);
    });
    Sums total;
    for (const Sums& part : sums_) total.product += part.product, total.size += part.size;
    return total;
  }
};

}  // namespace pliant
