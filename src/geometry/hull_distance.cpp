#include "geometry/hull_distance.h"

#include "geometry/adjacency.h"

namespace pliant {
namespace {

/// How far the hull reaches along a direction: from a corner uphill, which on a convex body ends on its top.
double support(const TriMesh& hull, const Csr& faces_around, Vec3d direction, std::uint32_t corner) {
  double height = dot(Vec3d(hull.vertices[corner]), direction);
  for (bool climbs = true; climbs;) {
    climbs = false;
    for (const std::uint32_t f : faces_around[corner]) {
      for (const std::uint32_t v : hull.faces[f]) {
        const double h = dot(Vec3d(hull.vertices[v]), direction);
        if (h > height) height = h, corner = v, climbs = true;
      }
      if (climbs) break;
    }
  }
  return height;
}

}  // namespace

HullDistance::HullDistance(const TriMesh& hull) : surface_(hull.vertices, hull.faces) {
  const Csr faces_around = vertex_faces(hull.faces, hull.vertices.size());
  for (const Face& f : hull.faces) {
    const Vec3d a(hull.vertices[f[0]]), b(hull.vertices[f[1]]), c(hull.vertices[f[2]]);
    const Vec3d normal = normalized(cross(b - a, c - a));
    // The normal of a needle is made of rounding. Moved out until all of the hull lies behind it, such a plane can cut
    // nothing off, and one among the true ones does no harm.
    if (length_squared(normal) > 0) sides_.push_back({normal, support(hull, faces_around, normal, f[0])});
  }
}

// Inside a convex body the nearest side is the one whose plane is nearest. Outside, no side's plane is farther away
// than the hull, which spares most far points the search for the nearest triangle.
std::optional<ShapeDistance> HullDistance::nearest(Vec3 point, float max_distance) const {
  const Vec3d p(point);
  const Side* front = nullptr;
  double front_distance = 0;
  for (const Side& side : sides_) {
    const double distance = dot(side.normal, p) - side.offset;
    if (front && distance <= front_distance) continue;
    front = &side, front_distance = distance;
    if (distance >= double(max_distance)) return std::nullopt;
  }
  if (!front) return std::nullopt;
  if (front_distance <= 0) {
    return ShapeDistance{float(front_distance), front->normal.to_float(),
                         (p - front_distance * front->normal).to_float()};
  }
  std::optional<ShapeDistance> result = surface_.nearest(point, max_distance);
  if (result && result->distance < 0) result->distance = -result->distance, result->normal = -result->normal;
  return result;
}

}  // namespace pliant
