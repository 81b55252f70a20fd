// What a load on a surface does to a triangle of it.
#pragma once

#include "pliant/math.h"

namespace pliant {

/// The force on each corner, N, of a pressure (Pa, against the side that the triangle shows) and a traction (N/m²).
inline Vec3 load_on_corner(Vec3 a, Vec3 b, Vec3 c, float pressure, Vec3 traction) {
  const Vec3 area = 0.5f * cross(b - a, c - a);
  return (traction * length(area) - area * pressure) / 3;
}

}  // namespace pliant
