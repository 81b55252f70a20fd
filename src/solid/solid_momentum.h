// Sums over the nodes of a solid: mass, momentum, spin and inertia.
#pragma once

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
struct SolidMoments {
  Vec3 center{}, velocity{};  ///< of mass
  double inertia[6] = {};     ///< about the centre: xx, yy, zz, xy, xz, yz

  /// The angular velocity that has this spin; zero where the body is a needle or a point.
  Vec3 turn_for(Vec3 spin) const;
};

class SolidMomentSums {
 public:
  SolidMoments moments(Workers& workers, const std::vector<float>& masses, const LaneVectors& positions,
                       const LaneVectors& velocities);
  /// Σ (x − center) × impulse(group) over all groups of eight slots.
  template <typename Impulse>
  Vec3 angular(Workers& workers, const LaneVectors& positions, Vec3 center, Impulse&& impulse) {
    constexpr std::size_t kGrain = 64;
    const LaneVec3<Float8> from{broadcast(center.x), broadcast(center.y), broadcast(center.z)};
    parts_.assign((positions.groups() + kGrain - 1) / kGrain, {});
    parallel_for(workers, positions.groups(), kGrain, [&](std::size_t begin, std::size_t end) {
      LaneVec3<Float8> total;
      for (std::size_t g = begin; g < end; ++g) total = total + cross(positions.group(g) - from, impulse(g));
      parts_[begin / kGrain].values[0] = static_cast<double>(sum(total.x));
      parts_[begin / kGrain].values[1] = static_cast<double>(sum(total.y));
      parts_[begin / kGrain].values[2] = static_cast<double>(sum(total.z));
    });
    double all[3] = {};
    for (const Part& part : parts_) {
      for (std::size_t k = 0; k < 3; ++k) all[k] += part.values[k];
    }
    return {static_cast<float>(all[0]), static_cast<float>(all[1]), static_cast<float>(all[2])};
  }

 private:
  struct Part {
    double values[7] = {};
  };
  std::vector<Part> parts_;  ///< per chunk
};

}  // namespace pliant
