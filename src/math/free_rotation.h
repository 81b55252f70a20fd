// How a body that nothing touches turns within a step.
//
// The spin L stays, the inertia turns with the body: ω = I⁻¹ L changes all the time. The turn of a piece of the step is
// exp(τ Ω) with Ω = I⁻¹ (Π + Π') / 2, where Π and Π' are L as seen from the body before and after it. That is the
// implicit midpoint rule of Euler's equations Π̇ = Π × I⁻¹Π, with the length of its rotation made exact: L stays, and
// Π'·I⁻¹Π' = Π·I⁻¹Π, so that energy stays too, however long the step. (With ω of the beginning, or half a step of
// Euler's equations more, a ring at 30 rad/s goes over to its axis of least inertia within seconds, and doubles its
// energy on the way.)
#pragma once

#include <array>

#include "math/vec3d.h"
#include "pliant/math.h"

namespace pliant {

/// I⁻¹ L of a symmetric 3x3 matrix, row by row; none for bodies without inertia.
Vec3d angular_velocity_of(const std::array<double, 9>& inertia, Vec3d spin);
/// The rotation of a body with `spin` within `dt` seconds, all of it in the axes that it begins with.
Quat free_rotation(const std::array<double, 9>& inertia, Vec3d spin, double dt);

}  // namespace pliant
