// Which lattice points a surface encloses, and where it crosses the edges between them.
#pragma once

#include "base/parallel.h"
#include "geometry/isosurface_stuffing.h"
#include "geometry/surface_mend.h"
#include "geometry/triangle_tree.h"
#include "geometry/winding_number.h"

namespace pliant {

/// A mended surface in lattice units, ready for questions.
class EnclosingSurface {
 public:
  explicit EnclosingSurface(const MendedSurface& surface)
      : surface_(surface), tree_(surface.vertices, surface.faces), winding_(surface.vertices, surface.faces) {}

  const MendedSurface& surface() const { return surface_; }
  const TriangleTree& tree() const { return tree_; }
  bool encloses(Vec3 point) const { return winding_(point) >= 0.5; }
  double winding(Vec3 point) const { return winding_(point); }

  /// Where the surface is crossed on the way from a point inside to one outside, 0 to 1: at a triangle, or where a hole
  /// has to be closed.
  float crossing(Vec3 inside, Vec3 outside) const;

 private:
  const MendedSurface& surface_;
  TriangleTree tree_;
  WindingNumber winding_;
};

struct EnclosedRegion {
  LatticeRegion region;            ///< its `crossing` refers to the surface and the lattice
  std::size_t inside = 0;          ///< lattice points
  std::size_t thin = 0;            ///< of these, outside the surface but added to keep thin parts together
  std::size_t pieces_dropped = 0;  ///< single points
};

/// `progress` is called by this thread with the share done.
EnclosedRegion enclosed_region(const EnclosingSurface& surface, const BccLattice& lattice, bool keep_thin,
                               Workers& workers, const std::function<void(float)>& progress);

}  // namespace pliant
