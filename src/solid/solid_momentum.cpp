#include "solid/solid_momentum.h"

#include <cmath>

namespace pliant {

SolidTotals total_momentum(const std::vector<float>& masses, const LaneVectors& positions,
                           const LaneVectors& velocities) {
  SolidTotals t;
  for (std::uint32_t slot = 0; slot < masses.size(); ++slot) {
    const double m = static_cast<double>(masses[slot]);
    if (m <= 0) continue;
    const Vec3 at = positions.get(slot), velocity = velocities.get(slot);
    const double x[3] = {static_cast<double>(at.x), static_cast<double>(at.y), static_cast<double>(at.z)};
    const double v[3] = {static_cast<double>(velocity.x), static_cast<double>(velocity.y),
                         static_cast<double>(velocity.z)};
    t.mass += m;
    for (std::size_t k = 0; k < 3; ++k) {
      t.center[k] += m * x[k];
      t.momentum[k] += m * v[k];
      t.kinetic += 0.5 * m * v[k] * v[k];
      t.spin[k] += m * (x[(k + 1) % 3] * v[(k + 2) % 3] - x[(k + 2) % 3] * v[(k + 1) % 3]);
    }
  }
  if (t.mass <= 0) return t;
  for (double& c : t.center) c /= t.mass;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    t.spin[k] -= t.center[i] * t.momentum[j] - t.center[j] * t.momentum[i];
  }
  return t;
}

Vec3 SolidMomentSums::mean_velocity(Workers& workers, const std::vector<float>& masses, const LaneVectors& velocities) {
  const Part sums = sum_parts(workers, velocities.groups(), 4, [&](std::size_t g, Float8* to) {
    const Float8 m = load8(masses.data() + 8 * g);
    const LaneVec3<Float8> v = velocities.group(g);
    to[0] += m, to[1] += m * v.x, to[2] += m * v.y, to[3] += m * v.z;
  });
  const auto mean = [&](std::size_t k) { return static_cast<float>(sums.values[k] / sums.values[0]); };
  return sums.values[0] > 0 ? Vec3{mean(1), mean(2), mean(3)} : Vec3{};
}

}  // namespace pliant
