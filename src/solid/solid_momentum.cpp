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

SolidMoments SolidMomentSums::moments(Workers& workers, const std::vector<float>& masses, const LaneVectors& positions,
                                      const LaneVectors& velocities) {
  // Places are measured from a node, so that a body far from the origin loses nothing.
  const Vec3 first = positions.get(0);
  const LaneVec3<Float8> from{broadcast(first.x), broadcast(first.y), broadcast(first.z)};
  const Part sums = sum_parts(workers, positions.groups(), 7, [&](std::size_t g, Float8* to) {
    const Float8 m = load8(masses.data() + 8 * g);
    const LaneVec3<Float8> x = positions.group(g) - from, v = velocities.group(g);
    to[0] += m, to[1] += m * x.x, to[2] += m * x.y, to[3] += m * x.z;
    to[4] += m * v.x, to[5] += m * v.y, to[6] += m * v.z;
  });
  SolidMoments out;
  const double mass = sums.values[0];
  if (!(mass > 0)) return out;
  const auto mean = [&](std::size_t k) { return static_cast<float>(sums.values[k] / mass); };
  out.center = first + Vec3{mean(1), mean(2), mean(3)};
  out.velocity = {mean(4), mean(5), mean(6)};
  const LaneVec3<Float8> center{broadcast(out.center.x), broadcast(out.center.y), broadcast(out.center.z)};
  const Part second = sum_parts(workers, positions.groups(), 6, [&](std::size_t g, Float8* to) {
    const Float8 m = load8(masses.data() + 8 * g);
    const LaneVec3<Float8> r = positions.group(g) - center;
    to[0] += m * (r.y * r.y + r.z * r.z), to[1] += m * (r.x * r.x + r.z * r.z), to[2] += m * (r.x * r.x + r.y * r.y);
    to[3] -= m * r.x * r.y, to[4] -= m * r.x * r.z, to[5] -= m * r.y * r.z;
  });
  std::copy_n(second.values, 6, out.inertia);
  return out;
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

Vec3 SolidMoments::turn_for(Vec3 spin) const {
  const double trace = inertia[0] + inertia[1] + inertia[2];
  if (!(trace > 0) || !std::isfinite(trace)) return {};
  const auto scaled = [&](std::size_t k) { return static_cast<float>(inertia[k] / trace); };
  const LaneSym3<float> m{scaled(0), scaled(1), scaled(2), scaled(3), scaled(4), scaled(5)};
  const float det = determinant(m);
  if (!(det > 1e-6f)) return {};
  const Vec3 turn = from_lane(adjugate(m) * to_lane(spin)) * (1 / (det * static_cast<float>(trace)));
  return is_finite(turn) ? turn : Vec3{};
}

}  // namespace pliant
