// Better shapes by moving nodes.
#pragma once

#include "base/parallel.h"
#include "geometry/lattice_region.h"
#include "pliant/mesh.h"

namespace pliant {

/// Moves nodes, those of the boundary along the surface, as long as the worst angles around them get better. The mesh
/// and the surface are in lattice units.
void smooth_tets(TetMesh& mesh, const EnclosingSurface& surface, Workers& workers);

}  // namespace pliant
