// How far a point is from a shape, for the contact of deforming bodies with things that do not deform.
//
// A shape is prepared once and then asked for many points. Solids (all shapes but the triangle mesh) have an inside of
// any depth. A triangle mesh is a surface: its inside is the side that its faces turn their backs to, as far as
// `max_distance` reaches.
#pragma once

#include <memory>
#include <optional>

#include "pliant/math.h"
#include "pliant/shapes.h"

namespace pliant {

struct ShapeDistance {
  float distance = 0;  ///< m, negative inside
  Vec3 normal;         ///< unit, outward: the direction in which the distance grows
  Vec3 point;          ///< the nearest point of the surface
};

class ShapeProbe {
 public:
  /// Builds trees over meshes, heightfields, hulls and compounds: O(n log n). Copies what it needs. A shape that
  /// `validate` refuses throws `BadResult`.
  explicit ShapeProbe(const Shape& shape);
  ~ShapeProbe();
  ShapeProbe(ShapeProbe&&) noexcept;
  ShapeProbe& operator=(ShapeProbe&&) noexcept;

  /// The distance of a point of the shape's frame if it is less than `max_distance`, else nothing; also nothing for a
  /// point that is not finite. Exact up to rounding, with these remarks:
  /// - triangle mesh: less than `max_distance` on both sides. The sign is that of the nearest face, edge or vertex
  ///   (pseudonormals, Bærentzen and Aanæs 2005), right at any edge of a closed surface. Past the rim of an open one,
  ///   and around a sheet whose faces come in opposite pairs, all is outside.
  /// - heightfield: solid below at any depth; past its rim all is outside. Its cells are cut as `Heightfield` says.
  /// - compound: the part in which the point lies deepest. Where parts overlap, the union may be deeper than that.
  ///
  /// Allocates nothing; may be called from many threads at once. Some 10 to 50 ns for round shapes and boxes, a
  /// microsecond for large meshes.
  std::optional<ShapeDistance> nearest(Vec3 point, float max_distance) const;

  /// Around all of the solid: endless for a plane, and downward for a heightfield.
  Aabb bounds() const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace pliant
