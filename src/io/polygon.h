// Cuts polygons into triangles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

/// Appends the triangles of a polygon whose corners are `corners` of `points`, with the polygon's own winding. A convex
/// polygon becomes a fan; another one is cut by clipping ears in the plane that fits it best, up to 64 corners (larger
/// ones that are not convex become a fan too). Fewer than three corners give nothing.
void triangulate_polygon(std::span<const Vec3> points, std::span<const std::uint32_t> corners,
                         std::vector<Face>& faces);

}  // namespace pliant
