// Convex cells and polygons, cut by planes: what bodies are cut into splinters with. All in double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "math/vec3d.h"

namespace pliant {

/// The points x with normal·x ≤ offset.
struct HalfSpace {
  Vec3d normal;  ///< unit
  double offset;

  double distance(Vec3d p) const { return dot(normal, p) - offset; }
};

using Polygon = std::vector<Vec3d>;

/// What of a convex polygon lies in the half space; corners outside by no more than `slack` count as inside. Fewer than
/// three corners: nothing.
void clip(Polygon& polygon, const HalfSpace& half_space, double slack, Polygon& scratch);
/// Twice its area times its unit normal.
Vec3d double_area(std::span<const Vec3d> polygon);

/// A convex body: planes with their faces, counter-clockwise from outside.
struct ConvexCell {
  struct Side {
    HalfSpace plane;
    Polygon corners;
  };
  std::vector<Side> sides;
  std::uint8_t part = 0;  ///< which of the stuffs that a pattern is made of

  /// Between two corners, axes being those of space.
  static ConvexCell box(Vec3d lower, Vec3d upper);

  /// Keeps what lies in the half space and closes the cut. What is left may be nothing.
  void clip(const HalfSpace& half_space);
  bool empty() const { return sides.size() < 4; }
  bool contains(Vec3d p) const;
  void bounds(Vec3d& lower, Vec3d& upper) const;
};

}  // namespace pliant
