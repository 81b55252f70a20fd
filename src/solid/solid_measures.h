// What can be read from a solid as it stands: stress, strain, energy, and the rigid motion nearest to its own.
#pragma once

#include <vector>

#include "base/parallel.h"
#include "pliant/report.h"
#include "solid/solid_body.h"

namespace pliant {

/// One value for each tet, in the order of the mesh.
std::vector<float> measure_tets(const SolidBody& body, TetValue value);
/// J, of all tets. `scratch` keeps its memory between calls; a single worker does not use it.
double measure_energy(Workers& workers, const SolidBody& body, std::vector<double>& scratch);
/// The angular velocity at which the body, moving as a whole, has this spin; zero for a needle.
Vec3 turn_of_spin(const SolidBody& body, Vec3 spin);
/// kg m², about the centre of mass, as its nodes lie now along the axes of a frame.
Mat3 inertia_in(const SolidBody& body, Quat world_from_frame);
/// Place, rotation and velocities of the rigid body that moves most like this one; its mass and centre of mass.
BodyState rigid_fit(const SolidBody& body);

}  // namespace pliant
