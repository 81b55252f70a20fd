#include "geometry/chart_pack.h"

#include <algorithm>
#include <cmath>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define STB_RECT_PACK_IMPLEMENTATION
#define STBRP_STATIC
#include <stb/stb_rect_pack.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace pliant {
namespace {

/// Places for rectangles of whole texels; false if they do not all fit.
bool try_pack(std::vector<stbrp_rect>& rectangles, int resolution) {
  std::vector<stbrp_node> nodes(static_cast<std::size_t>(resolution));
  stbrp_context context;
  stbrp_init_target(&context, resolution, resolution, nodes.data(), resolution);
  return stbrp_pack_rects(&context, rectangles.data(), static_cast<int>(rectangles.size())) != 0;
}

std::vector<stbrp_rect> scaled(const std::vector<Vec2d>& sizes, double scale, int resolution, int margin) {
  std::vector<stbrp_rect> out(sizes.size());
  const auto texels = [&](double length) {
    return int(std::min(std::ceil(length * scale), double(resolution) + 1)) + 2 * margin;
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    out[i].id = int(i);
    out[i].w = stbrp_coord(texels(sizes[i].x)), out[i].h = stbrp_coord(texels(sizes[i].y));
  }
  return out;
}

}  // namespace

PackedRectangles pack_rectangles(const std::vector<Vec2d>& sizes, int resolution, int margin) {
  double area = 0;
  for (const Vec2d s : sizes) area += s.x * s.y;
  PackedRectangles best;
  if (!(area > 0)) return best;
  // More than all of the square cannot be filled. Down in steps, then between the last two.
  double high = resolution / std::sqrt(area), low = high;
  std::vector<stbrp_rect> found;
  const auto fits = [&](double scale) {
    std::vector<stbrp_rect> rectangles = scaled(sizes, scale, resolution, margin);
    if (!try_pack(rectangles, resolution)) return false;
    found = std::move(rectangles), best.scale = scale;
    return true;
  };
  int steps = 0;
  while (!fits(low)) {
    if (++steps > 60) return {};
    high = low, low *= 0.9;
  }
  for (int i = 0; i < 8 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  best.places.resize(sizes.size());
  for (const stbrp_rect& r : found) best.places[std::size_t(r.id)] = {double(r.x + margin), double(r.y + margin)};
  return best;
}

PackedGrids pack_grids(const std::vector<std::array<int, 2>>& sizes, int margin) {
  std::vector<stbrp_rect> rectangles(sizes.size());
  double area = 0;
  int longest = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int w = sizes[i][0] + 2 * margin, h = sizes[i][1] + 2 * margin;
    rectangles[i].id = int(i), rectangles[i].w = stbrp_coord(w), rectangles[i].h = stbrp_coord(h);
    area += double(w) * double(h), longest = std::max({longest, w, h});
  }
  PackedGrids out;
  out.resolution = std::max(longest, int(std::ceil(std::sqrt(area))));
  while (!try_pack(rectangles, out.resolution)) out.resolution += out.resolution / 32 + 1;
  out.places.resize(sizes.size());
  for (const stbrp_rect& r : rectangles) out.places[std::size_t(r.id)] = {int(r.x) + margin, int(r.y) + margin};
  return out;
}

}  // namespace pliant
