// The convex hull of a cloud of points.
#pragma once

#include <span>

#include "pliant/mesh.h"
#include "pliant/result.h"

namespace pliant {

/// The hull as a closed surface: its vertices are points of the cloud in their given order, without those that lie
/// inside, within a side or within an edge. Flat sides come as coplanar triangles. Takes O(n log n) for usual clouds.
///
/// The cloud is measured on a grid of some 700,000 steps along each axis of its bounds, on which all decisions are
/// exact: equal, collinear and coplanar points are no special case, and the result never depends on rounding. Points
/// closer together than a step count as one, and a point may stick out of the hull by a few steps. A cloud that is flat
/// to within a few steps, too small or not finite gives an error whose field is `points` or `points[i]`.
Result<TriMesh> convex_hull(std::span<const Vec3> points);

}  // namespace pliant
