// Rectangles packed into a square, by stb_rect_pack.
#pragma once

#include <array>
#include <vector>

#include "geometry/chart_flatten.h"

namespace pliant {

struct PackedRectangles {
  double scale = 0;           ///< texels a unit of length; 0 if there is no room
  std::vector<Vec2d> places;  ///< texels, of the corners with the least coordinates
};

/// The largest scale at which rectangles of the given sizes fit into a square, with `margin` texels around each.
PackedRectangles pack_rectangles(const std::vector<Vec2d>& sizes, int resolution, int margin);

/// The places of rectangles of whole texels in the smallest square that takes them.
struct PackedGrids {
  int resolution = 0;
  std::vector<std::array<int, 2>> places;
};
PackedGrids pack_grids(const std::vector<std::array<int, 2>>& sizes, int margin);

}  // namespace pliant
