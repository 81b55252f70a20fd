// Models from blended solids: an implicit function, negative inside, whose zero surface is meshed on the lattice.
#pragma once

#include <functional>

#include "math/vec3d.h"
#include "pliant/mesh.h"

namespace pliant {

/// About the distance to an ellipsoid around the origin, exact near its surface.
double ellipsoid_distance(Vec3d p, Vec3d radii);
/// The distance to a stick from a to b whose radius changes from one to the other.
double stick_distance(Vec3d p, Vec3d a, Vec3d b, double radius_a, double radius_b);
/// Both together, with the crease between them filled to about the given radius.
double blend(double a, double b, double radius);
/// What is in the first and not in the second, with a rounded edge.
double carve(double a, double b, double radius);

/// A model in units of its own.
struct BlendedModel {
  const char* generator;               ///< for messages
  std::function<double(Vec3d)> value;  ///< negative inside
  Vec3d lower, upper;                  ///< what holds all of it
  std::size_t axis;                    ///< along which its size is measured
  double extent;                       ///< along that, about
  int least_cells;                     ///< along that
};

/// The model's surface, centred on the origin: of even triangles of about `cell`, `size` long. Throws as generators do.
TriMesh mesh_blended(const BlendedModel& model, float size, float cell);

}  // namespace pliant
