// The turning of a free body, against the closed form of a symmetric top and the laws of conservation.
#include "math/free_rotation.h"

#include <cmath>

#include <gtest/gtest.h>

namespace pliant {
namespace {

constexpr double kAcross = 2, kAlong = 0.5;  // kg m², about the axes of a top that stands along z
constexpr std::array<double, 9> kTop{kAcross, 0, 0, 0, kAcross, 0, 0, 0, kAlong};

Quat turn_by(Vec3d turn) {
  const double angle = length(turn);
  return Quat::axis_angle((turn / angle).to_float(), static_cast<float>(angle));
}

/// rad, between two rotations.
double angle_between(Quat a, Quat b) {
  const Quat d = a.conjugate() * b;
  return 2 * std::atan2(static_cast<double>(length(Vec3{d.x, d.y, d.z})), std::abs(static_cast<double>(d.w)));
}

/// Twice the energy of a body that has turned: of its spin as it sees it.
double energy_after(Vec3d spin, Quat turned) {
  const Vec3d seen(turned.conjugate().rotate(spin.to_float()));
  return dot(seen, angular_velocity_of(kTop, seen));
}

TEST(FreeRotation, ATopPrecessesAsInTheClosedForm) {
  // About its spin at L/I, and about its own axis at (1 − I₃/I) ω₃.
  const Vec3d spin{3, 0, 1};
  for (const double dt : {0.02, 0.1, 0.5, 2.0}) {
    const double own = (1 - kAlong / kAcross) * spin.z / kAlong;
    const Quat expected = turn_by(spin * (dt / kAcross)) * turn_by(Vec3d{0, 0, own * dt});
    const double turned = length(angular_velocity_of(kTop, spin)) * dt;
    EXPECT_LT(angle_between(free_rotation(kTop, spin, dt), expected), 1e-3 * turned) << dt;
  }
}

TEST(FreeRotation, KeepsTheEnergyHoweverFastItTurns) {
  const Vec3d axis{0.3, 0.2, 1};
  for (const double size : {1.0, 1e2, 1e4, 1e6, 1e9}) {
    const Vec3d spin = axis * size;
    const double before = dot(spin, angular_velocity_of(kTop, spin));
    EXPECT_NEAR(energy_after(spin, free_rotation(kTop, spin, 1.0 / 60)) / before, 1, 1e-5) << size;
  }
}

TEST(FreeRotation, WhatHasNoInertiaOrNoSpinStays) {
  EXPECT_LT(angle_between(free_rotation({}, {1, 2, 3}, 0.1), Quat{}), 1e-6);
  EXPECT_LT(angle_between(free_rotation(kTop, {}, 0.1), Quat{}), 1e-6);
}

}  // namespace
}  // namespace pliant
