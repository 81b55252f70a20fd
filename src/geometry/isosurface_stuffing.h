// Tets of good shape between an isosurface and what it encloses.
//
// After Labelle and Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles" (2007), on a
// uniform lattice. Departures: lattice points may be pinned, so that thin parts are not warped away, and points where
// the boundary would touch itself are not warped; edges cut close to such points are cut a little further away, which
// costs no quality and makes the boundary a manifold always. The parameters were chosen for these stencils by trial:
// dihedral angles lie between 10 and 165 degrees whatever the surface, and between 15 and 150 for most.
#pragma once

#include <functional>
#include <vector>

#include "base/parallel.h"
#include "geometry/bcc_lattice.h"
#include "pliant/mesh.h"

namespace pliant {

/// What to fill. One entry per lattice point; no point on the rim may be inside.
struct LatticeRegion {
  std::vector<std::uint8_t> is_inside;
  std::vector<std::uint8_t> is_pinned;  ///< stays at its place, however close to the surface
  /// Where the surface crosses the edge from a point inside to a neighbour outside: 0 at the former, 1 at the latter.
  /// Called by several threads at once.
  std::function<float(BccLattice::Point inside, int direction)> crossing;
};

struct StuffedSolid {
  TetMesh mesh;                          ///< in lattice units
  std::vector<std::uint8_t> is_surface;  ///< per node: was put on the surface; all of the boundary, and a few others
  std::size_t pieces = 0;                ///< connected by faces
};

StuffedSolid stuff_lattice(const BccLattice& lattice, const LatticeRegion& region, Workers& workers);

}  // namespace pliant
