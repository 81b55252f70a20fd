// Sums over the nodes of a solid: mass, momentum, spin and inertia.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "base/parallel.h"
#include "math/lane_vectors.h"

namespace pliant {

/// For those who look on: in double, node by node.
struct SolidTotals {
  double mass = 0, kinetic = 0;
  double center[3] = {}, momentum[3] = {};
  double spin[3] = {};  ///< about the centre of mass
};
SolidTotals total_momentum(const std::vector<float>& masses, const LaneVectors& positions,
                           const LaneVectors& velocities);

/// For the step itself: in lanes, on both cores.
class SolidMomentSums {
 public:
  /// The velocity of the centre of mass.
  Vec3 mean_velocity(Workers& workers, const std::vector<float>& masses, const LaneVectors& velocities);
  /// Σ impulse(group) over all groups of eight slots, and Σ (x − from) × impulse(group).
  template <typename Impulse>
  std::array<double, 6> impulses(Workers& workers, const LaneVectors& positions, Vec3 from, Impulse&& impulse) {
    const LaneVec3<Float8> base = broadcast_vec8(from);
    const Part total = sum_parts(workers, positions.groups(), 6, [&](std::size_t g, Float8* to) {
      const LaneVec3<Float8> push = impulse(g), turn = cross(positions.group(g) - base, push);
      to[0] += push.x, to[1] += push.y, to[2] += push.z, to[3] += turn.x, to[4] += turn.y, to[5] += turn.z;
    });
    std::array<double, 6> sums;
    std::copy_n(total.values, 6, sums.begin());
    return sums;
  }
  std::size_t bytes() const { return parts_.capacity() * sizeof(parts_[0]); }

 private:
  static constexpr std::size_t kGrain = 32;  ///< groups of eight slots in one piece of work
  struct Part {
    double values[7] = {};
  };
  /// Sums `count` values over all groups: `of_group(group, lanes)` adds to its lanes.
  template <typename OfGroup>
  Part sum_parts(Workers& workers, std::size_t groups, std::size_t count, OfGroup&& of_group) {
    parts_.assign((groups + kGrain - 1) / kGrain, {});
    parallel_for(workers, groups, kGrain, [&](std::size_t begin, std::size_t end) {
      Float8 lanes[7] = {};
      for (std::size_t g = begin; g < end; ++g) of_group(g, lanes);
      for (std::size_t k = 0; k < count; ++k) parts_[begin / kGrain].values[k] = static_cast<double>(sum(lanes[k]));
    });
    Part total;
    for (const Part& part : parts_) {
      for (std::size_t k = 0; k < count; ++k) total.values[k] += part.values[k];
    }
    return total;
  }
  std::vector<Part> parts_;  ///< per chunk
};

}  // namespace pliant
