// The signed distance to the ground of a heightfield, which is solid below.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "geometry/bvh.h"
#include "geometry/shape_distance.h"
#include "math/vec3d.h"

namespace pliant {

class HeightfieldDistance {
 public:
  explicit HeightfieldDistance(const Heightfield& field);

  /// As `ShapeProbe::nearest`.
  std::optional<ShapeDistance> nearest(Vec3 point, float max_distance) const;
  /// Reaches down without end.
  Aabb bounds() const;

  /// m above the origin; nothing past the rim.
  std::optional<double> height_at(double x, double z) const;

 private:
  using Triangle = std::array<Vec3, 3>;
  Vec3 corner(int column, int row) const;
  /// Both face up. All cells are cut the same way, as Bullet cuts them for contacts and for rays alike; when told to
  /// alternate, it does so one way for contacts and the other way for rays.
  std::array<Triangle, 2> triangles(int column, int row) const;
  std::array<Triangle, 2> triangles(std::uint32_t cell) const;
  int column_cells() const { return field_.columns - 1; }
  int row_cells() const { return field_.rows - 1; }

  Heightfield field_;
  Bvh cells_;
};

}  // namespace pliant
