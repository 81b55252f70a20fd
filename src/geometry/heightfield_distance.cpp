#include "geometry/heightfield_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/triangle_feature.h"

namespace pliant {
namespace {

/// Where the vertical line through (x, z) meets the plane of a triangle.
double height_of_plane(const std::array<Vec3, 3>& triangle, double x, double z) {
  const Vec3d a(triangle[0]), n = cross(Vec3d(triangle[1]) - a, Vec3d(triangle[2]) - a);
  return a.y - (n.x * (x - a.x) + n.z * (z - a.z)) / n.y;
}

}  // namespace

HeightfieldDistance::HeightfieldDistance(const Heightfield& field) : field_(field) {
  std::vector<Aabb> boxes;
  boxes.reserve(std::size_t(column_cells()) * std::size_t(row_cells()));
  for (int row = 0; row < row_cells(); ++row) {
    for (int column = 0; column < column_cells(); ++column) {
      Aabb& box = boxes.emplace_back();
      for (const int r : {row, row + 1}) {
        for (const int c : {column, column + 1}) box.include(corner(c, r));
      }
    }
  }
  cells_.build(boxes);
}

Vec3 HeightfieldDistance::corner(int column, int row) const {
  const double cell = field_.cell;
  return {float(cell * (column - 0.5 * column_cells())), field_.heights[std::size_t(row) * field_.columns + column],
          float(cell * (row - 0.5 * row_cells()))};
}

std::array<HeightfieldDistance::Triangle, 2> HeightfieldDistance::triangles(int column, int row) const {
  const Vec3 a = corner(column, row), b = corner(column, row + 1), c = corner(column + 1, row + 1),
             d = corner(column + 1, row);
  return {{{b, c, d}, {b, d, a}}};
}

std::array<HeightfieldDistance::Triangle, 2> HeightfieldDistance::triangles(std::uint32_t cell) const {
  const auto across = std::uint32_t(column_cells());
  return triangles(int(cell % across), int(cell / across));
}

std::optional<double> HeightfieldDistance::height_at(double x, double z) const {
  const double u = x / double(field_.cell) + 0.5 * column_cells(), v = z / double(field_.cell) + 0.5 * row_cells();
  if (!(u >= 0 && u <= column_cells() && v >= 0 && v <= row_cells())) return std::nullopt;
  const int column = std::min(int(u), column_cells() - 1), row = std::min(int(v), row_cells() - 1);
  const double s = u - column, t = v - row;
  return height_of_plane(triangles(column, row)[s + t >= 1 ? 0 : 1], x, z);
}

Aabb HeightfieldDistance::bounds() const {
  Aabb box = cells_.bounds();
  box.lower.y = std::numeric_limits<float>::lowest();
  return box;
}

std::optional<ShapeDistance> HeightfieldDistance::nearest(Vec3 point, float max_distance) const {
  const Vec3d p(point);
  const std::optional<double> ground = height_at(p.x, p.z);
  const double above = ground ? p.y - *ground : std::numeric_limits<double>::infinity(), sign = above < 0 ? -1 : 1;
  if (sign > 0 && !(max_distance > 0)) return std::nullopt;
  // Straight up or down there is ground in any case, which bounds the search. A little more, so that it is found.
  double reach = 1.00001 * std::abs(above) + 1e-6 * double(field_.cell);
  if (sign > 0) reach = std::min(reach, double(max_distance));

  Triangle nearest_triangle{};
  bool found = false;
  NearestPoint best{float(reach * reach)};
  cells_.find_closest(point, best.squared_distance, [&](std::uint32_t cell, float) {
    for (const Triangle& triangle : triangles(cell)) {
      if (best.takes(closest_on_triangle(point, triangle[0], triangle[1], triangle[2]))) {
        nearest_triangle = triangle, found = true;
      }
    }
    return best.squared_distance;
  });
  if (!found) return std::nullopt;

  const std::array<Vec3d, 3> corners{Vec3d(nearest_triangle[0]), Vec3d(nearest_triangle[1]),
                                     Vec3d(nearest_triangle[2])};
  const Vec3d offset = offset_from(corners, feature_of(best.weights), p);
  const double distance = sign * length(offset);
  if (!(distance < double(max_distance))) return std::nullopt;
  const Vec3d upward = normalized(cross(corners[1] - corners[0], corners[2] - corners[0]));
  return ShapeDistance{float(distance), normalized(sign * offset, upward).to_float(), (p - offset).to_float()};
}

}  // namespace pliant
