#include "geometry/convex_cell.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

/// The cap of a cut: the points where it met edges, in order around their middle.
Polygon cap_of(Polygon points, const HalfSpace& plane, double slack) {
  if (points.size() < 3) return {};
  Vec3d middle;
  for (const Vec3d& p : points) middle += p;
  middle = middle / double(points.size());
  const Vec3d any = std::abs(plane.normal.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d u = normalized(cross(plane.normal, any)), v = cross(plane.normal, u);
  const auto angle = [&](Vec3d p) { return std::atan2(dot(p - middle, v), dot(p - middle, u)); };
  std::sort(points.begin(), points.end(), [&](Vec3d a, Vec3d b) { return angle(a) < angle(b); });
  Polygon cap;
  for (const Vec3d& p : points) {
    if (cap.empty() || length(p - cap.back()) > slack) cap.push_back(p);
  }
  while (cap.size() > 1 && length(cap.back() - cap.front()) <= slack) cap.pop_back();
  return cap;
}

}  // namespace

void clip(Polygon& polygon, const HalfSpace& half_space, double slack, Polygon& scratch) {
  scratch.clear();
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec3d a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    const double da = half_space.distance(a), db = half_space.distance(b);
    if (da <= slack) scratch.push_back(a);
    // An edge is cut in the same point whichever way it is run along.
    if ((da < -slack && db > slack) || (da > slack && db < -slack)) {
      scratch.push_back(da < db ? a + (da / (da - db)) * (b - a) : b + (db / (db - da)) * (a - b));
    }
  }
  if (scratch.size() < 3) scratch.clear();
  polygon.swap(scratch);
}

Vec3d double_area(std::span<const Vec3d> polygon) {
  Vec3d sum;
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    sum += cross(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]);
  }
  return sum;
}

ConvexCell ConvexCell::box(Vec3d lower, Vec3d upper) {
  ConvexCell cell;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (const bool is_upper : {false, true}) {
      Side side;
      side.plane.normal[axis] = is_upper ? 1 : -1;
      side.plane.offset = is_upper ? upper[axis] : -lower[axis];
      for (const auto& [at_u, at_v] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}}) {
        Vec3d p;
        p[axis] = is_upper ? upper[axis] : lower[axis];
        p[u] = at_u ? upper[u] : lower[u], p[v] = at_v ? upper[v] : lower[v];
        side.corners.push_back(p);
      }
      if (!is_upper) std::reverse(side.corners.begin(), side.corners.end());
      cell.sides.push_back(std::move(side));
    }
  }
  return cell;
}

void ConvexCell::clip(const HalfSpace& half_space) {
  Vec3d lower, upper;
  bounds(lower, upper);
  const double slack = 1e-12 * (1 + length(upper - lower));
  Polygon scratch, on_plane;
  bool is_cut = false;
  for (Side& side : sides) {
    for (const Vec3d& p : side.corners) is_cut |= half_space.distance(p) > slack;
    pliant::clip(side.corners, half_space, slack, scratch);
    for (const Vec3d& p : side.corners) {
      if (std::abs(half_space.distance(p)) <= 10 * slack) on_plane.push_back(p);
    }
  }
  if (!is_cut) return;
  std::erase_if(sides, [](const Side& side) { return side.corners.empty(); });
  Polygon cap = cap_of(std::move(on_plane), half_space, 10 * slack);
  if (cap.size() >= 3) sides.push_back({half_space, std::move(cap)});
  if (empty()) sides.clear();
}

bool ConvexCell::contains(Vec3d p) const {
  return std::all_of(sides.begin(), sides.end(), [&](const Side& side) { return side.plane.distance(p) <= 0; });
}

void ConvexCell::bounds(Vec3d& lower, Vec3d& upper) const {
  constexpr double kFar = std::numeric_limits<double>::max();
  lower = {kFar, kFar, kFar}, upper = {-kFar, -kFar, -kFar};
  for (const Side& side : sides) {
    for (const Vec3d& p : side.corners) {
      for (std::size_t i = 0; i < 3; ++i) lower[i] = std::min(lower[i], p[i]), upper[i] = std::max(upper[i], p[i]);
    }
  }
}

}  // namespace pliant
