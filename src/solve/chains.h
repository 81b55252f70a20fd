// Chains: lines of nodes whose segments keep their length, each line solved as a whole.
//
// A row for one segment says that its ends keep their distance. Solved row by row (projected Gauss-Seidel, XPBD), a
// change travels one node per sweep, so a cloth of n lines needs sweeps in proportion to n, and stretches when it does
// not get them. Along one line the rows form a tridiagonal system, which Thomas's algorithm solves exactly in one pass
// whatever its length; lines that cross (warp and weft) couple weakly, so that two alternations do what hundreds of
// sweeps did. Eight lines are solved at a time, one in each lane.
//
// What one substep asks for, in this order:
//   damp      under a heavy load only: waves across taut lines die out
//   prepare   directions, errors and factors at the positions now; last impulses applied again
//   solve     velocities that bring every segment to its length by the end of the substep; called in each round
//   stiffen   a taut line resists leaving its line: without this, transverse waves on it explode
//   limit     after the positions moved: segments that are still too long are shortened point by point
//
// Nodes are `Vec4`: positions, and velocities with the inverse mass in `w` (0 for a node that rows do not move).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/parallel.h"
#include "math/node_lanes.h"
#include "solve/cyclic_system.h"
#include "solve/line_batches.h"

namespace pliant {

/// A line from node to node. A node may be in many lines, but in each only once; a ring begins and ends with the same.
struct ChainLine {
  std::vector<std::uint32_t> nodes;
  std::vector<float> lengths;       ///< m, one less than nodes
  std::vector<float> compliance{};  ///< m/N, as many as lengths; empty for lines that do not stretch
  std::vector<float> strengths{};   ///< N, as many as lengths: what tears them; empty for lines that do not tear
  bool tension_only = false;        ///< its segments may become shorter; a ring's may not

  bool is_closed() const { return nodes.size() > 3 && nodes.front() == nodes.back(); }
};

class Chains {
 public:
  Chains() = default;
  Chains(std::span<const ChainLine> lines, std::size_t node_count);

  std::size_t row_count() const { return rows_; }

  /// With the impulses of the last substep; see the definition.
  void damp(Workers& workers, std::span<Vec4> v, float h) const;
  /// `is_laden`: lines give way a little, as is needed under a heavy load.
  void prepare(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h, bool is_laden = false);
  void solve(Workers& workers, std::span<Vec4> v);
  void stiffen(Workers& workers, std::span<const Vec4> v_before, std::span<Vec4> v, float h) const;
  void limit(Workers& workers, std::span<Vec4> x, std::span<Vec4> v, float h) const;

  /// The largest share by which a segment that is to keep its length is longer; elastic ones are left out.
  float max_stretch(Workers& workers, std::span<const Vec4> x) const;
  /// Calls `visit(a, b, impulse on b)` for every segment; impulses in N s, as of the last `solve`.
  template <typename Visit>
  void for_each_impulse(Visit&& visit) const;
  void forget_impulses();
  /// N s between the ends of one segment, as of the last `solve`; negative where it pulls.
  float impulse(std::size_t line, std::size_t segment) const { return impulses_[line_starts_[line] + 8 * segment]; }
  void set_impulse(std::size_t line, std::size_t segment, float impulse) {
    impulses_[line_starts_[line] + 8 * segment] = impulse;
  }

  /// What decides the future besides positions and velocities.
  struct Memory {
    std::vector<float> impulses;
  };
  Memory memory() const { return {impulses_}; }
  /// Into memory that is there already.
  void save(Memory& memory) const { memory.impulses = impulses_; }
  void restore(const Memory& memory);
  void add_to_hash(Hasher& hasher) const;

 private:
  using Batch = LineBatches::Batch;
  /// What one thread needs to solve a batch, by place.
  struct Scratch {
    std::vector<NodeLanes> v;
    std::vector<LaneVec3<Float8>> aux, old;
    std::vector<Float8> rhs, gain;
  };

  struct RingScratch {
    CyclicSystem system;
    std::array<std::vector<double>, 3> change;
  };

  template <typename Body>
  void for_each_batch(Workers& workers, Body&& body) const;
  void prepare(const Batch& batch, const Vec4* x, Vec4* v, float h, float softness_of_rows);
  template <bool kTensionOnly>
  void solve(const Batch& batch, Vec4* v, Scratch& scratch);
  void smooth(Workers& workers, const Vec4* v_before, Vec4* v, float strength) const;
  void smooth(const Batch& batch, const Vec4* v_before, Vec4* v, float strength, Scratch& scratch) const;
  void limit(const Batch& batch, Vec4* x, Vec4* v, float h, Scratch& scratch) const;
  float max_stretch(const Batch& batch, const Vec4* x) const;

  /// Segments of the longest line of a batch.
  static std::size_t segments(const Batch& batch) { return batch.places - 1; }

  // Rings, one by one (chains_ring.cpp): batches apart.
  std::span<const Batch> rings() const { return lines_.apart(); }
  void prepare_ring(const Batch& ring, const Vec4* x, Vec4* v, float h, float softness_of_rows);
  void solve_ring(const Batch& ring, Vec4* v);
  void smooth_ring(const Batch& ring, const Vec4* v_before, Vec4* v, float strength) const;
  void limit_ring(const Batch& ring, Vec4* x, Vec4* v, float h) const;

  // Arrays have eight lanes for each place along a batch. Place p of a batch is a node, and the segment that begins
  // there; the segment of the last place is not used.
  LineBatches lines_;
  std::vector<float> lengths_;  ///< m; 0 where there is no segment
  std::vector<float> compliance_;
  std::vector<float> impulses_;
  std::vector<float> direction_x_, direction_y_, direction_z_;
  std::vector<float> error_speed_;   ///< m/s: what brings the segment to its length in one substep, negated
  std::vector<float> off_diagonal_;  ///< between a segment and the next
  std::vector<float> softness_;      ///< speed per impulse
  std::vector<float> inverse_pivot_;

  std::vector<std::uint32_t> line_starts_;  ///< where each line's first place is in these arrays
  mutable std::vector<Scratch> scratch_;    ///< one for each range that a thread takes
  mutable RingScratch ring_scratch_;
  mutable std::vector<float> stretch_parts_;
  std::size_t rows_ = 0;
};

template <typename Visit>
void Chains::for_each_impulse(Visit&& visit) const {
  for (const Batch& batch : lines_.batches) {
    for (std::size_t place = batch.first; place + 1 < batch.first + batch.places; ++place) {
      for (std::size_t lane = 0; lane < lines_.lanes_in_use[place + 1]; ++lane) {
        const std::size_t i = 8 * place + lane;
        if (!(lengths_[i] > 0)) continue;
        visit(lines_.nodes[i], lines_.nodes[i + 8],
              Vec3{direction_x_[i], direction_y_[i], direction_z_[i]} * impulses_[i]);
      }
    }
  }
}

}  // namespace pliant
