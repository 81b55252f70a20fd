#include "solid/solid_advance.h"

#include <Eigen/Dense>

#include "math/eigen_convert.h"
#include "solid/solid_momentum.h"

namespace pliant {
namespace {

/// A point to more digits than a float has: a body far from the origin would spin about a point beside its centre.
class Center {
 public:
  explicit Center(const double (&c)[3]) : exact_(c[0], c[1], c[2]), rounded_(from_eigen(exact_)) {
    rest_ = from_eigen(exact_ - to_eigen(rounded_));
  }
  const Eigen::Vector3d& exact() const { return exact_; }
  Vec3 to(Vec3 x) const { return (x - rounded_) - rest_; }

 private:
  Eigen::Vector3d exact_;
  Vec3 rounded_, rest_;
};

Eigen::Matrix3d inertia_about(const std::vector<float>& masses, const LaneVectors& positions,
                              const Eigen::Vector3d& center) {
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
  for (std::uint32_t slot = 0; slot < masses.size(); ++slot) {
    if (masses[slot] <= 0) continue;
    const Eigen::Vector3d r = to_eigen(positions.get(slot)) - center;
    inertia += static_cast<double>(masses[slot]) * (r.squaredNorm() * Eigen::Matrix3d::Identity() - r * r.transpose());
  }
  return inertia;
}

/// The angular velocity at which a body of this inertia has this spin. A needle does not turn about itself, and a point
/// not at all.
Eigen::Vector3d turn_of(const Eigen::Matrix3d& inertia, const Eigen::Vector3d& spin) {
  const double size = inertia.trace() / 3;
  const bool is_solid = size > 0 && inertia.allFinite() && inertia.determinant() > 1e-6 * size * size * size;
  return is_solid ? Eigen::Vector3d(inertia.ldlt().solve(spin)) : Eigen::Vector3d::Zero();
}

Eigen::Matrix3d rotation_by(const Eigen::Vector3d& turn) {
  const double angle = turn.norm();
  if (!(angle > 0)) return Eigen::Matrix3d::Identity();
  return Eigen::AngleAxisd(angle, turn / angle).toRotationMatrix();
}

/// The turn of the body over the step, from its spin, which stays as it is: by the angular velocity in the middle of
/// the step, so that a tumbling body keeps its energy.
Eigen::Vector3d turn_over(const Eigen::Matrix3d& inertia, const Eigen::Vector3d& spin, double dt) {
  const Eigen::Matrix3d half = rotation_by(turn_of(inertia, spin) * (dt / 2));
  return turn_of(half * inertia * half.transpose(), spin) * dt;
}

}  // namespace

void advance_turning(const std::vector<float>& masses, LaneVectors& positions, LaneVectors& velocities, float dt,
                     LaneVectors& moved) {
  const SolidTotals before = total_momentum(masses, positions, velocities);
  const Center start(before.center);
  const Eigen::Vector3d spin(before.spin[0], before.spin[1], before.spin[2]);
  const Eigen::Matrix3d inertia = inertia_about(masses, positions, start.exact());
  const Eigen::Vector3d turn = turn_of(inertia, spin), over = turn_over(inertia, spin, static_cast<double>(dt));
  const Quat rotation = Quat::axis_angle(from_eigen(over), static_cast<float>(over.norm()));
  const Vec3 w0 = from_eigen(turn);
  const Vec3 drift{static_cast<float>(before.momentum[0] / before.mass),
                   static_cast<float>(before.momentum[1] / before.mass),
                   static_cast<float>(before.momentum[2] / before.mass)};
  // Everything is added to what is there: numbers common to all nodes would all be rounded the same way, and add up.
  const auto deformation = [&](Vec3 r, Vec3 v) { return v - drift - cross(w0, r); };
  moved = positions;
  for (std::uint32_t slot = 0; slot < masses.size(); ++slot) {
    if (masses[slot] <= 0) continue;
    const Vec3 x = positions.get(slot), r = start.to(x);
    const Vec3 straight = r + deformation(r, velocities.get(slot)) * dt;
    moved.set(slot, x + ((rotation.rotate(straight) - r) + drift * dt));
  }
  const Center end(total_momentum(masses, moved, velocities).center);
  const Vec3 w1 = from_eigen(turn_of(inertia_about(masses, moved, end.exact()), spin));
  for (std::uint32_t slot = 0; slot < masses.size(); ++slot) {
    if (masses[slot] <= 0) continue;
    const Vec3 r = start.to(positions.get(slot)), v = velocities.get(slot), rest = deformation(r, v);
    const Vec3 spun = cross(w1, end.to(moved.get(slot))) - cross(w0, r);
    velocities.set(slot, v + (spun + (rotation.rotate(rest) - rest)));
  }
  positions = moved;
}

}  // namespace pliant
