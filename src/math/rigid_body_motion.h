// A rigid body as rows see it: how it moves, and how it answers an impulse.
#pragma once

#include "pliant/math.h"

namespace pliant {

struct RigidBodyMotion {
  Vec3 velocity{}, angular_velocity{};
  Vec3 center{};  ///< of mass, world
  float inverse_mass = 0;
  Mat3 inverse_inertia{};  ///< world

  Vec3 velocity_at(Vec3 arm) const { return velocity + cross(angular_velocity, arm); }
  void push(Vec3 impulse, Vec3 arm) {
    velocity += impulse * inverse_mass;
    angular_velocity += inverse_inertia * cross(arm, impulse);
  }
  /// How fast a point moves along `direction` for a unit impulse along it.
  float response(Vec3 arm, Vec3 direction) const {
    const Vec3 turn = cross(arm, direction);
    return inverse_mass + dot(turn, inverse_inertia * turn);
  }
};

}  // namespace pliant
