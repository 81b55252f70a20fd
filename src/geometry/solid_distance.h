// Exact distances to the shapes that formulas describe. All of them answer for every finite point.
#pragma once

#include <array>
#include <span>

#include "geometry/shape_distance.h"
#include "math/vec3d.h"

namespace pliant {

ShapeDistance distance_to(const Sphere& sphere, Vec3 point);
ShapeDistance distance_to(const Box& box, Vec3 point);
ShapeDistance distance_to(const Capsule& capsule, Vec3 point);
/// Of unit normal.
ShapeDistance distance_to(const Plane& plane, Vec3 point);

/// A convex solid of revolution about Y: cylinders and cones.
class TurnedSolid {
 public:
  explicit TurnedSolid(const Cylinder& cylinder);
  explicit TurnedSolid(const Cone& cone);

  ShapeDistance distance(Vec3 point) const;
  Aabb bounds() const;

 private:
  /// A place in the half plane that is turned: distance from the axis and height, m.
  struct Place {
    double radius, height;
  };
  /// One side of the profile, from the top end of the axis to its bottom end.
  struct Side {
    Place start, along;  ///< `along` leads to the side's end
    Place normal;        ///< unit, outward
  };
  static Side side(Place start, Place end);
  std::span<const Side> sides() const { return {sides_.data(), side_count_}; }

  std::array<Side, 3> sides_{};
  std::size_t side_count_;
  float radius_, height_;
};

Aabb bounds_of(const Sphere& sphere);
Aabb bounds_of(const Box& box);
Aabb bounds_of(const Capsule& capsule);
Aabb bounds_of(const Plane& plane);

}  // namespace pliant
