// Rays against cloth, rope and jelly as they are now.
#include <algorithm>
#include <cmath>
#include <optional>

#include "geometry/primitives.h"
#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Where a ray comes into a ball.
std::optional<float> enter_ball(Vec3 from, Vec3 along, Vec3 center, float radius) {
  const Vec3 out = from - center;
  const float nearest = -dot(out, along), inside = radius * radius - length_squared(out + along * nearest);
  if (inside < 0) return {};
  return nearest - std::sqrt(inside);
}

/// Where a ray comes into the round piece of rope between a and b; below 0 where it begins in it.
std::optional<float> enter_segment(Vec3 from, Vec3 along, Vec3 a, Vec3 b, float radius) {
  // Seen from beside the segment, so that far rays lose no precision.
  const float ahead = dot(a - from, along);
  from += along * ahead;
  std::optional<float> first;
  const auto take = [&](float way) {
    if (!first || way < *first) first = way;
  };
  for (const Vec3 end : {a, b}) {
    if (const auto way = enter_ball(from, along, end, radius)) take(*way);
  }
  // The side, seen along the segment: the ray's part across it enters a circle.
  const Vec3 axis = normalized(b - a);
  const Vec3 across = along - axis * dot(along, axis), out = (from - a) - axis * dot(from - a, axis);
  const float speed = length(across);
  if (speed > 1e-6f) {
    if (const auto way = enter_ball(out, across / speed, {}, radius)) {
      const float place = dot(from + along * (*way / speed) - a, axis);
      if (place > 0 && place < length(b - a)) take(*way / speed);
    }
  }
  if (first) *first += ahead;
  return first;
}

}  // namespace

void ParticleEngine::ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter,
                              std::vector<RayHit>& hits) const {
  const Vec3 along = normalized(direction);
  for (const std::uint32_t slot : slots_) {
    const Body& b = body(slot);
    if (b.id == filter.ignore || (b.settings.filter.category & filter.mask) == 0) continue;
    const bool has_two_sides = !std::holds_alternative<JellyDef>(*b.def);
    const auto place = [&](std::uint32_t node) { return x_[b.first + node].xyz(); };
    RayHit nearest{.body = b.id, .distance = max_distance};
    bool found = false;
    for (const Face& face : b.model->faces) {
      const Vec3 p = place(face[0]), q = place(face[1]), r = place(face[2]);
      const auto hit = intersect_ray_triangle(from, along, nearest.distance, p, q, r);
      if (!hit) continue;
      found = true;
      nearest.distance = hit->t;
      nearest.normal = normalized(cross(q - p, r - p), -along);
      if (has_two_sides && !hit->from_front) nearest.normal = -nearest.normal;
    }
    for (const auto& [i, k] : b.model->segments) {
      const auto way = enter_segment(from, along, place(i), place(k), b.model->radius);
      // A ray that begins in the rope hits it at once; what lies behind it, never.
      if (!way || *way >= nearest.distance) continue;
      const SegmentPoints near = closest_of_segments(from, from, place(i), place(k));
      if (*way < 0 && near.squared_distance > b.model->radius * b.model->radius) continue;
      found = true;
      nearest.distance = std::max(*way, 0.0f);
      const Vec3 hit = from + along * nearest.distance;
      nearest.normal = normalized(hit - closest_of_segments(hit, hit, place(i), place(k)).on_second, -along);
    }
    nearest.position = from + along * nearest.distance;
    if (found) hits.push_back(nearest);
  }
}

}  // namespace pliant
