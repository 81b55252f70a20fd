// How much motion a substep may leave, whatever its solver found.
//
// Backward Euler without restitution finds the v₁ of least ½|v − v_free|² + E(x + dt v) among those that keep the
// contacts, |·| by mass, v_free the velocities that forces alone would give. If standing still keeps the contacts, the
// least is no greater on the way there, and with E convex that is
//
//   ½|v₁|² + E(x + dt v₁) ≤ ½|v_free|² + E(x).
//
// Where contacts ask for a motion w (something that moves, depth that is mended) the same holds as seen from it, if the
// body can follow without being deformed; so not for one that is squeezed or driven, into which others put energy. It
// holds for a body, and for all bodies that touch each other together.
#pragma once

#include <algorithm>
#include <cmath>

#include "pliant/math.h"

namespace pliant {

/// What a substep begins with, of one body or of many.
struct MotionBefore {
  double free = 0;    ///< Σ m |v_free|², J
  double stored = 0;  ///< E(x), J
  double asked = 0;   ///< Σ m |w|², J
};

/// The most that |v₁| may be, by mass.
inline double largest_motion(const MotionBefore& before) {
  const double asked = std::sqrt(before.asked);
  return asked + std::sqrt(std::pow(std::sqrt(before.free) + asked, 2) + 2 * before.stored);
}

/// How fast a contact asks things to move relative to each other. A gap that may close asks for nothing.
inline float asked_speed(Vec3 target, Vec3 normal) {
  return length(target - normal * std::min(dot(target, normal), 0.0f));
}

}  // namespace pliant
