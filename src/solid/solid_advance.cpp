#include "solid/solid_advance.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "math/eigen_convert.h"
#include "math/free_rotation.h"
#include "math/vec3d.h"
#include "solid/solid_momentum.h"

namespace pliant {
namespace {

constexpr double kTurns = 3e-6;  ///< rad; a body that turns less moves straight, to the last digit

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

/// A body as a whole, as it stands.
struct Whole {
  Whole(const std::vector<float>& masses, const LaneVectors& positions, const LaneVectors& velocities)
      : totals(total_momentum(masses, positions, velocities)),
        center(totals.center),
        spin(totals.spin[0], totals.spin[1], totals.spin[2]),
        inertia(inertia_about(masses, positions, center.exact())),
        turn(turn_of(inertia, spin)) {}

  SolidTotals totals;
  Center center;
  Eigen::Vector3d spin;
  Eigen::Matrix3d inertia;
  Eigen::Vector3d turn;  ///< rad/s
};

std::array<double, 9> rows_of(const Eigen::Matrix3d& m) {
  return {m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), m(2, 0), m(2, 1), m(2, 2)};
}

}  // namespace

void advance_turning(const std::vector<float>& masses, LaneVectors& positions, LaneVectors& velocities, float dt,
                     LaneVectors& moved) {
  const Whole whole(masses, positions, velocities);
  const SolidTotals& before = whole.totals;
  const Center& start = whole.center;
  if (whole.turn.norm() * static_cast<double>(dt) < kTurns) {
    for (std::size_t g = 0; g < masses.size() / 8; ++g) {
      positions.set_group(g, positions.group(g) + velocities.group(g) * broadcast(dt));
    }
    return;
  }
  const Vec3d spin{whole.spin.x(), whole.spin.y(), whole.spin.z()};
  const Quat rotation = free_rotation(rows_of(whole.inertia), spin, static_cast<double>(dt));
  const Vec3 w0 = from_eigen(whole.turn);
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
  const Quat back = rotation.conjugate();
  Eigen::Vector3d left = whole.spin;  // of the spin, for turning as a whole
  for (std::uint32_t slot = 0; slot < masses.size(); ++slot) {
    if (masses[slot] <= 0) continue;
    const Vec3 rest = back.rotate(deformation(start.to(positions.get(slot)), velocities.get(slot)));
    left -= static_cast<double>(masses[slot]) * to_eigen(end.to(moved.get(slot))).cross(to_eigen(rest));
  }
  const Vec3 w1 = from_eigen(turn_of(inertia_about(masses, moved, end.exact()), left));
  const auto change = [&](std::uint32_t slot) {
    const Vec3 r = start.to(positions.get(slot)), rest = deformation(r, velocities.get(slot));
    return Vec3d(cross(w1, end.to(moved.get(slot))) - cross(w0, r)) + Vec3d(back.rotate(rest) - rest);
  };
  Vec3d gained{};  // N s, from rounding
  for (std::uint32_t slot = 0; slot < masses.size(); ++slot) {
    if (masses[slot] > 0) gained += change(slot) * static_cast<double>(masses[slot]);
  }
  // What rounding takes from one node the next one gets: nodes in rows are rounded alike, and momentum would drift.
  Vec3d owed{};
  for (std::uint32_t slot = 0; slot < masses.size(); ++slot) {
    if (masses[slot] <= 0) continue;
    const double mass = static_cast<double>(masses[slot]);
    const Vec3d wanted = Vec3d(velocities.get(slot)) + (change(slot) - gained * (1 / before.mass)) + owed * (1 / mass);
    const Vec3 given = wanted.to_float();
    owed = (wanted - Vec3d(given)) * mass;
    velocities.set(slot, given);
  }
  positions = moved;
}

float add_centrifugal(const std::vector<float>& masses, const LaneVectors& positions, const LaneVectors& velocities,
                      LaneVectors& forces) {
  const Whole whole(masses, positions, velocities);
  if (whole.turn == Eigen::Vector3d::Zero()) return 0;
  const Eigen::Vector3d slowing = -whole.turn.cross(whole.inertia * whole.turn);
  const Vec3 w = from_eigen(whole.turn), change = from_eigen(turn_of(whole.inertia, slowing));
  for (std::uint32_t slot = 0; slot < masses.size(); ++slot) {
    if (masses[slot] <= 0) continue;
    const Vec3 r = whole.center.to(positions.get(slot));
    forces.add(slot, (cross(w, cross(w, r)) + cross(change, r)) * -masses[slot]);
  }
  return length(w);
}

}  // namespace pliant
