// Which texels a triangle in the plane covers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/chart_flatten.h"

namespace pliant {

/// visit(x, y, b, c) for all texels of a grid whose middle (x + 0.5, y + 0.5) lies in the triangle, with its weights of
/// the second and third corner. `slack` widens the triangle, in weights. Triangles without an area cover nothing. Two
/// triangles with a common edge may both cover a texel whose middle is on it.
template <typename Visit>
void rasterize(const std::array<Vec2d, 3>& p, int width, int height, double slack, Visit&& visit) {
  const double bx = p[1].x - p[0].x, by = p[1].y - p[0].y, cx = p[2].x - p[0].x, cy = p[2].y - p[0].y;
  const double area = bx * cy - cx * by;
  if (!(std::abs(area) > 1e-12)) return;
  // Coordinates may be anything: clamped before they become integers.
  const auto first = [](double low) { return int(std::clamp(std::floor(low - 0.5), 0.0, 1e9)); };
  const auto last = [](double high, int size) { return int(std::clamp(std::ceil(high - 0.5), -1.0, size - 1.0)); };
  const auto [x0, x1] = std::minmax({p[0].x, p[1].x, p[2].x});
  const auto [y0, y1] = std::minmax({p[0].y, p[1].y, p[2].y});
  for (int y = first(y0); y <= last(y1, height); ++y) {
    for (int x = first(x0); x <= last(x1, width); ++x) {
      const double dx = x + 0.5 - p[0].x, dy = y + 0.5 - p[0].y;
      const double b = (dx * cy - cx * dy) / area, c = (bx * dy - dx * by) / area;
      if (b >= -slack && c >= -slack && b + c <= 1 + slack) visit(x, y, b, c);
    }
  }
}

}  // namespace pliant
