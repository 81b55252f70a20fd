// Better fit and better shapes by moving nodes.
#pragma once

#include "geometry/lattice_region.h"
#include "pliant/mesh.h"

namespace pliant {

struct SmoothOptions {
  /// Nodes that were put outside the surface for the sake of a thin part, and those of the boundary around them, are
  /// pulled as close to it as can be with no dihedral angle below 14 or above 166 degrees that was not so before.
  bool fit_thin_parts = false;
  /// Nodes move, those of the boundary along the surface, as long as the worst angles around them get better.
  bool improve_angles = true;
};

/// The solid and the surface are in lattice units.
void smooth_tets(StuffedSolid& solid, const EnclosingSurface& surface, const SmoothOptions& options, Workers& workers);

}  // namespace pliant
