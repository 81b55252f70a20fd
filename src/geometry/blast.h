// What an explosion does to a triangle of a surface.
#pragma once

#include "pliant/defs.h"
#include "pliant/math.h"

namespace pliant {

/// The impulse on the triangle, N s; none on one that looks away from the centre, or lies beyond the radius.
inline Vec3 blast_on_face(const Explosion& explosion, Vec3 a, Vec3 b, Vec3 c) {
  const Vec3 area = 0.5f * cross(b - a, c - a), away = (a + b + c) / 3 - explosion.center;
  const float distance = length(away);
  if (distance >= explosion.radius) return {};
  const Vec3 direction = normalized(away, {0, 1, 0});
  const float shown = -dot(area, direction);  // faces that look at the centre take it all
  if (shown <= 0) return {};
  return direction * (explosion.impulse_per_area * (1 - distance / explosion.radius) * shown);
}

}  // namespace pliant
