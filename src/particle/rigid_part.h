// The rigid part of a body's motion: what internal forces must not change, and damping must not brake.
//
// Every jelly model computes its new velocities with small errors of momentum: truncated iterations, linearisation
// about moved positions, averages over clusters. `keep_rigid_part` gives a free body its linear and angular momentum
// back to rounding, whatever the model did to it. Angular momentum is taken at the positions from which the step
// starts: x + h v has the same with the same v.
//
// Departure from 004: its (1 − γ) of eq. 2 and its γ of eq. 3 act on the whole velocity and brake a falling body. Here
// damping acts on the deviation from the rigid part alone.
#pragma once

#include <span>

#include "math/vec3d.h"
#include "math/vec4.h"

namespace pliant {

/// The rigid motion with the linear and angular momentum of a body's free nodes. `w` of a velocity is the inverse
/// mass, 0 for held nodes, which are left out.
struct RigidPart {
  double mass = 0;                 ///< kg, of free nodes
  Vec3d center;                    ///< m
  Vec3d velocity;                  ///< m/s, of the centre
  Vec3d spin;                      ///< rad/s
  double energy_about_center = 0;  ///< J, kinetic, of all motion but that of the centre
  bool held = false;               ///< some node is held: momentum passes through it

  Vec3d at(Vec3d x) const { return velocity + cross(spin, x - center); }
};
RigidPart rigid_part(std::span<const Vec4> x, std::span<const Vec4> v);

/// The difference between going along an arc and going along its tangent for h seconds.
class RigidTurn {
 public:
  RigidTurn(const RigidPart& rigid, float h);

  /// The velocity to add to a node at x so that h seconds of it end on the arc.
  Vec3 arc_velocity(Vec3 x) const {
    const Vec3 r = x - center_, spun = cross(spin_, r);
    return sine_part_ * spun + cosine_part_ * cross(spin_, spun);
  }

 private:
  Vec3 center_, spin_;
  float sine_part_, cosine_part_;
};

/// Scales what in `v` deviates from its rigid part by `keep` (1: all stays), and gives a body that is held nowhere the
/// linear and angular momentum of `before`. Changes free nodes only. Spin that is missing is given back by turning the
/// shape x + h v in which the body ends, not by adding ω × r: along tangents a stiff body that spins fast would grow,
/// and with it its energy.
void keep_rigid_part(std::span<const Vec4> x, std::span<Vec4> v, const RigidPart& before, float keep, float h);

/// The share of the deviation that is left after h seconds of damping by `rate` (1/s).
inline float kept_share(float rate, float h) { return std::exp(-rate * h); }

}  // namespace pliant
