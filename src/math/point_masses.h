// Sums over bodies made of point masses: where the body is as a whole, how it moves, and how a push on all of it is
// shared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "math/vec4.h"
#include "pliant/math.h"

namespace pliant {

/// Mass, centre, velocity and spin of a body of nodes, as if it were rigid.
struct RigidFit {
  double mass = 0;
  Vec3 center{};
  Vec3 velocity{}, angular_velocity{};
  double spin[3] = {};     ///< angular momentum about the centre
  double kinetic = 0;      ///< J, of all nodes
  double inertia[6] = {};  ///< about the centre: xx, yy, zz, xy, xz, yz
};

/// Sums over nodes, with places measured from a node of the body.
struct NodeMoments {
  double mass = 0, kinetic = 0;
  double first[3] = {}, momentum[3] = {}, spin[3] = {};
  double second[6] = {};  ///< xx, yy, zz, xy, xz, yz
};

RigidFit fit_rigid(std::span<const Vec4> x, std::span<const Vec4> v, std::span<const float> masses);
/// The same by all threads; `scratch` is kept for its memory.
RigidFit fit_rigid(Workers& workers, std::span<const Vec4> x, std::span<const Vec4> v, std::span<const float> masses,
                   std::vector<NodeMoments>& scratch);

/// The angular velocity that a spin gives; none about axes that the body has no extent across.
Vec3 turn_of_spin(const double (&inertia)[6], const double (&spin)[3]);

/// The rotation that brings the nodes at rest nearest to where they are, weighted by mass (Horn 1987).
Quat fit_rotation(std::span<const Vec3> rest, std::span<const Vec4> x, std::span<const float> masses);

}  // namespace pliant
