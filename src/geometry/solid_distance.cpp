#include "geometry/solid_distance.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

ShapeDistance answer(double distance, Vec3d normal, Vec3d point) {
  return {float(distance), normal.to_float(), point.to_float()};
}

/// Of a ball of some radius around `center`, which is the point of a shape's skeleton that is nearest to p.
ShapeDistance around(Vec3d center, double radius, Vec3d p, Vec3d normal_at_center) {
  const Vec3d offset = p - center;
  const double l = length(offset);
  const Vec3d normal = l > 0 ? offset / l : normal_at_center;
  return answer(l - radius, normal, center + radius * normal);
}

Aabb centered_box(Vec3 size) { return {-0.5f * size, 0.5f * size}; }

}  // namespace

ShapeDistance distance_to(const Sphere& sphere, Vec3 point) {
  return around({}, sphere.radius, Vec3d(point), {0, 1, 0});
}

ShapeDistance distance_to(const Box& box, Vec3 point) {
  const Vec3d p(point), half = 0.5 * Vec3d(box.size);
  Vec3d nearest, depth;
  for (std::size_t a = 0; a < 3; ++a) {
    nearest[a] = std::clamp(p[a], -half[a], half[a]);
    depth[a] = half[a] - std::abs(p[a]);
  }
  if (depth.x < 0 || depth.y < 0 || depth.z < 0) {
    const Vec3d offset = p - nearest;
    const double l = length(offset);
    return answer(l, offset / l, nearest);
  }
  const std::size_t a = depth.x <= depth.y && depth.x <= depth.z ? 0 : depth.y <= depth.z ? 1 : 2;
  Vec3d normal;
  normal[a] = p[a] < 0 ? -1 : 1;
  nearest[a] = normal[a] * half[a];
  return answer(-depth[a], normal, nearest);
}

ShapeDistance distance_to(const Capsule& capsule, Vec3 point) {
  const Vec3d p(point);
  const double half = 0.5 * double(capsule.height);
  return around({0, std::clamp(p.y, -half, half), 0}, capsule.radius, p, {1, 0, 0});
}

ShapeDistance distance_to(const Plane& plane, Vec3 point) {
  const Vec3d p(point), n(plane.normal);
  const double distance = dot(p, n) - double(plane.offset);
  return answer(distance, n, p - distance * n);
}

TurnedSolid::Side TurnedSolid::side(Place start, Place end) {
  const Place along{end.radius - start.radius, end.height - start.height};
  const double l = std::hypot(along.radius, along.height);
  return {start, along, {-along.height / l, along.radius / l}};
}

TurnedSolid::TurnedSolid(const Cylinder& cylinder)
    : side_count_(3), radius_(cylinder.radius), height_(cylinder.height) {
  const double r = radius_, top = 0.5 * double(height_);
  sides_ = {side({0, top}, {r, top}), side({r, top}, {r, -top}), side({r, -top}, {0, -top})};
}

TurnedSolid::TurnedSolid(const Cone& cone) : side_count_(2), radius_(cone.radius), height_(cone.height) {
  const double r = radius_, top = 0.5 * double(height_);
  sides_ = {side({0, top}, {r, -top}), side({r, -top}, {0, -top})};
}

// Within a convex figure the nearest side is the one whose line is nearest, and the foot on that line lies on it.
// Outside, the nearest of the points that are nearest on each side.
ShapeDistance TurnedSolid::distance(Vec3 point) const {
  const Vec3d p(point);
  const double r = std::hypot(p.x, p.z);
  const Vec3d outward = r > 0 ? Vec3d(p.x / r, 0, p.z / r) : Vec3d(1, 0, 0);
  const Side* front = nullptr;
  double front_distance = 0, squared = 0;
  Place offset{};
  for (const Side& s : sides()) {
    const Place from{r - s.start.radius, p.y - s.start.height};
    const double to_line = from.radius * s.normal.radius + from.height * s.normal.height;
    const double t = std::clamp((from.radius * s.along.radius + from.height * s.along.height) /
                                    (s.along.radius * s.along.radius + s.along.height * s.along.height),
                                0.0, 1.0);
    const Place o{from.radius - t * s.along.radius, from.height - t * s.along.height};
    const double oo = o.radius * o.radius + o.height * o.height;
    if (!front || oo < squared) offset = o, squared = oo;
    if (!front || to_line > front_distance) front = &s, front_distance = to_line;
  }
  const bool is_outside = front_distance > 0 && squared > 0;
  const double distance = is_outside ? std::sqrt(squared) : front_distance;
  const Place normal = is_outside ? Place{offset.radius / distance, offset.height / distance} : front->normal;
  const Vec3d n = normal.radius * outward + Vec3d(0, normal.height, 0);
  return answer(distance, n, p - distance * n);
}

Aabb TurnedSolid::bounds() const { return centered_box({2 * radius_, height_, 2 * radius_}); }

Aabb bounds_of(const Sphere& s) { return centered_box(Vec3{2, 2, 2} * s.radius); }
Aabb bounds_of(const Box& s) { return centered_box(s.size); }
Aabb bounds_of(const Capsule& s) { return centered_box({2 * s.radius, s.height + 2 * s.radius, 2 * s.radius}); }
Aabb bounds_of(const Plane&) {
  const Aabb nothing;
  return {nothing.upper, nothing.lower};
}

}  // namespace pliant
