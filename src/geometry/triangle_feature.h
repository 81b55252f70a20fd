// Which corner, edge or inside of a triangle a nearest point lies on, and how far a point is from that, exactly.
#pragma once

#include <array>
#include <cstddef>

#include "geometry/primitives.h"
#include "math/vec3d.h"

namespace pliant {

enum class TriangleFeature : std::size_t { Corner0, Corner1, Corner2, Edge01, Edge12, Edge20, Inside };

/// Where the nearest point has these weights (`TrianglePoint::weights`).
inline TriangleFeature feature_of(Vec3 weights) {
  using enum TriangleFeature;
  constexpr TriangleFeature kByZeroWeights[8] = {Inside, Edge12, Edge20, Corner2, Edge01, Corner1, Corner0, Corner0};
  return kByZeroWeights[(weights.x == 0 ? 1 : 0) + (weights.y == 0 ? 2 : 0) + (weights.z == 0 ? 4 : 0)];
}

/// The way to p from the point of the feature that is nearest to it. Not found as the difference of the two points:
/// close to the surface that would be made of rounding only, and so would a normal that is taken from it.
inline Vec3d offset_from(const std::array<Vec3d, 3>& corners, TriangleFeature feature, Vec3d p) {
  const auto number = std::size_t(feature);
  if (number < 3) return p - corners[number];
  if (feature != TriangleFeature::Inside) {
    const std::size_t i = number - 3;
    const Vec3d edge = corners[(i + 1) % 3] - corners[i], from = p - corners[i];
    return from - (dot(from, edge) / dot(edge, edge)) * edge;
  }
  const Vec3d n = cross(corners[1] - corners[0], corners[2] - corners[0]);
  return (dot(p - corners[0], n) / dot(n, n)) * n;
}

/// The nearest point of many triangles, as they are looked at one by one.
struct NearestPoint {
  float squared_distance;  ///< m², the distance to beat
  Vec3 weights{1, 1, 1};

  /// Whether the point is nearer, and then keeps it. Of two distances that a float cannot tell apart the one to the
  /// inside of a triangle is the true one: from the edge of a neighbour the normal would be off by up to 3e-4.
  bool takes(const TrianglePoint& q) {
    using enum TriangleFeature;
    const bool is_nearer =
        q.squared_distance < squared_distance ||
        (q.squared_distance == squared_distance && feature_of(weights) != Inside && feature_of(q.weights) == Inside);
    if (is_nearer) squared_distance = q.squared_distance, weights = q.weights;
    return is_nearer;
  }
};

}  // namespace pliant
