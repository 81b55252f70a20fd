#include "geometry/shape_distance.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "geometry/bvh.h"
#include "geometry/convex_hull.h"
#include "geometry/heightfield_distance.h"
#include "geometry/hull_distance.h"
#include "geometry/solid_distance.h"
#include "geometry/surface_distance.h"

namespace pliant {
namespace {

/// A shape that is not made of others, ready to be asked.
using Prepared =
    std::variant<Sphere, Box, Capsule, Plane, TurnedSolid, HullDistance, SurfaceDistance, HeightfieldDistance>;

Prepared prepare(const Sphere& s) { return s; }
Prepared prepare(const Box& s) { return s; }
Prepared prepare(const Capsule& s) { return s; }
Prepared prepare(const Cylinder& s) { return TurnedSolid(s); }
Prepared prepare(const Cone& s) { return TurnedSolid(s); }
Prepared prepare(const Plane& s) { return Plane{normalized(Vec3d(s.normal)).to_float(), s.offset}; }
Prepared prepare(const ConvexHull& s) { return HullDistance(*convex_hull(s.points)); }
Prepared prepare(const TriangleMesh& s) { return SurfaceDistance(s.mesh->vertices, s.mesh->faces); }
Prepared prepare(const Heightfield& s) { return HeightfieldDistance(s); }

struct BoundsOf {
  Aabb operator()(const auto& s) const {
    if constexpr (requires { s.bounds(); }) {
      return s.bounds();
    } else {
      return bounds_of(s);
    }
  }
};

std::optional<ShapeDistance> if_less(const ShapeDistance& found, float max_distance) {
  return found.distance < max_distance ? std::optional(found) : std::nullopt;
}

struct Nearest {
  Vec3 point;
  float max_distance;

  std::optional<ShapeDistance> operator()(const TurnedSolid& s) const {
    return if_less(s.distance(point), max_distance);
  }
  std::optional<ShapeDistance> operator()(const HullDistance& s) const { return s.nearest(point, max_distance); }
  std::optional<ShapeDistance> operator()(const SurfaceDistance& s) const { return s.nearest(point, max_distance); }
  std::optional<ShapeDistance> operator()(const HeightfieldDistance& s) const { return s.nearest(point, max_distance); }
  std::optional<ShapeDistance> operator()(const auto& s) const { return if_less(distance_to(s, point), max_distance); }
};

struct Part {
  Prepared shape;
  Transform shape_from_part, part_from_shape;
  Aabb bounds;  ///< in the shape's frame

  Part(Prepared prepared, const Transform& placement) : shape(std::move(prepared)), shape_from_part(placement) {
    shape_from_part.rotation = placement.rotation.normalized();
    part_from_shape = shape_from_part.inverse();
    const Aabb own = std::visit(BoundsOf{}, shape);
    if (placement == Transform{}) {  // may be endless, which does not bear arithmetic
      bounds = own;
      return;
    }
    for (int i = 0; i < 8; ++i) {
      bounds.include(shape_from_part * Vec3{(i & 1 ? own.upper : own.lower).x, (i & 2 ? own.upper : own.lower).y,
                                            (i & 4 ? own.upper : own.lower).z});
    }
  }

  std::optional<ShapeDistance> nearest(Vec3 point, float max_distance) const {
    std::optional<ShapeDistance> found = std::visit(Nearest{part_from_shape * point, max_distance}, shape);
    if (!found) return found;
    return ShapeDistance{found->distance, shape_from_part.rotation.rotate(found->normal),
                         shape_from_part * found->point};
  }
};

void add_parts(const Shape& shape, const Transform& placement, std::vector<Part>& parts) {
  std::visit(
      [&](const auto& s) {
        if constexpr (std::is_same_v<std::decay_t<decltype(s)>, Compound>) {
          for (const CompoundPart& part : s.parts) add_parts(part.shape, placement * part.body_from_part, parts);
        } else {
          parts.emplace_back(prepare(s), placement);
        }
      },
      shape);
}

/// Whether the point may be nearer to the box than that, or within it.
bool may_be_near(const Aabb& box, Vec3 p, float distance) { return box.expanded(std::max(distance, 0.0f)).contains(p); }

}  // namespace

struct ShapeProbe::Parts {
  std::vector<Part> parts;
  Aabb bounds;
  Bvh bvh;  ///< over the parts, where there are several
};

ShapeProbe::ShapeProbe(const Shape& shape) {
  validate(shape).require();
  auto prepared = std::make_unique<Parts>();
  add_parts(shape, {}, prepared->parts);
  std::vector<Aabb> boxes;
  for (const Part& part : prepared->parts) {
    boxes.push_back(part.bounds);
    prepared->bounds.include(part.bounds);
  }
  if (boxes.size() > 1) prepared->bvh.build(boxes);
  parts_ = std::move(prepared);
}

ShapeProbe::~ShapeProbe() = default;
ShapeProbe::ShapeProbe(ShapeProbe&&) noexcept = default;
ShapeProbe& ShapeProbe::operator=(ShapeProbe&&) noexcept = default;

std::optional<ShapeDistance> ShapeProbe::nearest(Vec3 point, float max_distance) const {
  if (!is_finite(point) || !may_be_near(parts_->bounds, point, max_distance)) return std::nullopt;
  if (parts_->parts.size() == 1) return parts_->parts[0].nearest(point, max_distance);
  std::optional<ShapeDistance> best;
  const float reach = std::max(max_distance, 0.0f);
  parts_->bvh.find_closest(point, reach * reach, [&](std::uint32_t part, float) {
    const float to_beat = best ? best->distance : max_distance;
    const std::optional<ShapeDistance> found = parts_->parts[part].nearest(point, to_beat);
    if (found) best = found;
    // Once within a part, only parts whose box holds the point can hold it deeper.
    const float still = std::max(best ? best->distance : max_distance, 0.0f);
    return still * still;
  });
  return best;
}

Aabb ShapeProbe::bounds() const { return parts_->bounds; }

}  // namespace pliant
