#include "geometry/triangle_tree.h"

#include <algorithm>

#include "geometry/primitives.h"

namespace pliant {

TriangleTree::TriangleTree(std::span<const Vec3> vertices, std::span<const Face> faces)
    : vertices_(vertices), faces_(faces) {
  std::vector<Aabb> boxes(faces.size());
  for (std::size_t f = 0; f < faces.size(); ++f) {
    for (const std::uint32_t v : faces[f]) boxes[f].include(vertices[v]);
  }
  bvh_.build(boxes);
}

float TriangleTree::distance(Vec3 point, float limit) const {
  Vec3 closest_point;
  return closest(point, limit, closest_point) ? length(closest_point - point) : limit;
}

bool TriangleTree::closest(Vec3 point, float limit, Vec3& on_surface) const {
  bool found = false;
  bvh_.find_closest(point, limit * limit, [&](std::uint32_t f, float best) {
    const TrianglePoint q = closest_on_triangle(point, corner(f, 0), corner(f, 1), corner(f, 2));
    if (!(q.squared_distance < best)) return best;
    found = true;
    on_surface = q.position;
    return q.squared_distance;
  });
  return found;
}

void TriangleTree::crossings(Vec3 from, Vec3 to, std::vector<Crossing>& crossings) const {
  crossings.clear();
  const Vec3 direction = to - from;
  bvh_.cast_ray(from, direction, 1, [&](std::uint32_t f, float t) {
    const auto hit = intersect_ray_triangle(from, direction, 1, corner(f, 0), corner(f, 1), corner(f, 2));
    if (hit) crossings.push_back({hit->t, !hit->from_front});
    return t;
  });
  std::sort(crossings.begin(), crossings.end(),
            [](const Crossing& a, const Crossing& b) { return a.t != b.t ? a.t < b.t : a.is_leaving < b.is_leaving; });
}

bool TriangleTree::is_blocked(Vec3 origin, Vec3 direction) const {
  bool blocked = false;
  constexpr float kFar = 1e9f;
  bvh_.cast_ray(origin, direction, kFar, [&](std::uint32_t f, float t) {
    if (blocked) return -1.0f;
    blocked = intersect_ray_triangle(origin, direction, kFar, corner(f, 0), corner(f, 1), corner(f, 2)).has_value();
    return blocked ? -1.0f : t;
  });
  return blocked;
}

}  // namespace pliant
