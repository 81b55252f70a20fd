// How good the shapes of tets are, and how far two surfaces lie apart.
#pragma once

#include <array>
#include <span>

#include "base/parallel.h"
#include "geometry/triangle_tree.h"
#include "math/vec3d.h"
#include "pliant/tetrahedralize.h"

namespace pliant {

/// Cosines of the smallest and the largest dihedral angle of a tet (the first is the larger number).
std::array<double, 2> dihedral_cosines(const std::array<Vec3d, 4>& corners);

/// The smallest and the largest dihedral angle of a mesh, degrees.
std::array<double, 2> dihedral_range_degrees(const TetMesh& mesh);

/// From points all over `surface`, at most `spacing` apart, to `other`.
SurfaceDistance surface_distance(const TriMesh& surface, const TriangleTree& other, double spacing, Workers& workers);

}  // namespace pliant
