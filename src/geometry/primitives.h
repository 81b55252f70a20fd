// Questions about a few points: what is closest, what meets, what overlaps.
//
// All of them take floats and reckon in double. Degenerate input (points that coincide, needles, parallel edges, flat
// tets) gives a right answer for the figure that the points really make, and never a NaN.
#pragma once

#include <array>
#include <optional>

#include "pliant/math.h"

namespace pliant {

/// The point of a triangle that is closest to some other point.
struct TrianglePoint {
  Vec3 position;
  Vec3 weights;                ///< of a, b, c: not negative, with the sum 1
  float squared_distance = 0;  ///< m²
};
TrianglePoint closest_on_triangle(Vec3 p, Vec3 a, Vec3 b, Vec3 c);

/// The points of two segments that are closest to each other; one such pair if there are several.
struct SegmentPoints {
  Vec3 on_first, on_second;
  float s = 0, t = 0;  ///< 0 at the start of the first, second segment, 1 at its end
  float squared_distance = 0;
};
SegmentPoints closest_of_segments(Vec3 start_a, Vec3 end_a, Vec3 start_b, Vec3 end_b);

/// Where the ray origin + t direction, 0 ≤ t ≤ t_max, meets a triangle, from either side. A ray through an edge that
/// two triangles share meets at least one of them. A ray within the triangle's plane meets nothing.
struct RayTriangleHit {
  float t = 0;
  Vec3 weights;            ///< of a, b, c
  bool from_front = true;  ///< the ray comes from the side from which a, b, c run counter-clockwise
};
std::optional<RayTriangleHit> intersect_ray_triangle(Vec3 origin, Vec3 direction, float t_max, Vec3 a, Vec3 b, Vec3 c);

/// Whether two triangles, or two tets of either orientation, have a point in common. Touching counts, up to rounding.
bool triangles_overlap(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b);
bool tets_overlap(const std::array<Vec3, 4>& a, const std::array<Vec3, 4>& b);

/// What two tets have in common, as a collision of solids needs it (Parker and O'Brien 2009, section 6).
struct TetOverlap {
  double volume = 0;  ///< m³; 0 if they do not overlap, and then the rest has no meaning
  Vec3 centroid;
  /// The outward area vectors of that part of the first tet's surface that lies within the second, m²: it points from
  /// the first into the second. The second tet's is its negative.
  Vec3 area_normal;
};
TetOverlap intersect_tets(const std::array<Vec3, 4>& a, const std::array<Vec3, 4>& b);

}  // namespace pliant
