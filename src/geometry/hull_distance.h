// The signed distance to a convex hull.
#pragma once

#include <optional>
#include <vector>

#include "geometry/surface_distance.h"

namespace pliant {

class HullDistance {
 public:
  /// `hull` is what `convex_hull` gives.
  explicit HullDistance(const TriMesh& hull);

  /// As `ShapeProbe::nearest`.
  std::optional<ShapeDistance> nearest(Vec3 point, float max_distance) const;
  Aabb bounds() const { return surface_.bounds(); }

 private:
  struct Side {
    Vec3d normal;   ///< unit, outward
    double offset;  ///< the whole hull lies behind it
  };
  std::vector<Side> sides_;
  SurfaceDistance surface_;
};

}  // namespace pliant
