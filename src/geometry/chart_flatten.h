// Charts laid flat: least squares conformal maps (Lévy, Petitjean, Ray and Maillot 2002).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

struct Vec2d {
  double x = 0, y = 0;
};

/// Some faces of a surface in the plane, in its own units of length: of the same area as on the surface.
struct FlatChart {
  std::vector<std::uint32_t> faces;  ///< of the surface
  std::vector<std::uint32_t> nodes;  ///< by point
  std::vector<Vec2d> points;         ///< m
  std::vector<Face> triangles;       ///< of points, in the order of `faces`; counter-clockwise, x right, y up
};

/// Points and triangles of some faces, with all points at 0.
FlatChart chart_of(const TriMesh& surface, std::span<const std::uint32_t> faces);

/// Lays the points flat. Where the conformal map turns triangles over or stretches them much, as for charts that are
/// bent far, the chart is looked at from the mean of its normals instead. False if that turns triangles over too, or
/// stretches them much, or parts of the result lie over each other.
bool flatten(const TriMesh& surface, FlatChart& chart);

/// Whether parts of it lie over each other.
bool lies_over_itself(const FlatChart& chart);

/// Turned to the smallest rectangle that holds it, with its lower left corner in the origin.
void turn_upright(FlatChart& chart);

}  // namespace pliant
