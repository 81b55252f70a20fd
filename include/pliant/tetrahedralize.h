// A solid from a surface: tets on a lattice, cut to fit.
//
// The surface may be any model that encloses a volume, more or less: holes, duplicate triangles, triangles that face
// the wrong way, gaps between triangles and parts that run through each other are all taken in. What counts as inside
// is what the surface winds around (by half or more), so holes are closed by the smoothest skin over their rim.
//
// The result is made of nearly regular tets everywhere, with nodes on the surface. Sharp edges come out bevelled, by
// less than a cell; fine detail below the size of a cell is lost. Let the model itself be carried by the solid for the
// eye to see.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

struct TetrahedralizeOptions {
  /// m, the edge of the lattice's cubes: the longest edges inside the solid, the others are 13 % shorter. A volume V
  /// takes about 12 V / cell³ tets. 0 stands for a 20th of the longest side of the surface's bounds.
  float cell = 0;
  /// Parts that are thinner than a cell become as thick as the lattice can make them (about half a cell), so that they
  /// do not come apart or vanish. Otherwise they are lost.
  bool keep_thin = true;
  /// Nodes are moved, those on the surface along it, until the angles between the faces of a tet are between 30 and 150
  /// degrees (15 and 165 in thin parts) or no better ones are found. Otherwise they are 15 to 155, and 10 to 165 at
  /// worst, in about two thirds of the time.
  bool optimize = true;
  /// More are refused, before much memory is asked for.
  std::size_t max_tets = 20'000'000;
  /// 0 for as many as the machine has. The result is the same for any number.
  int threads = 0;
  /// Called now and then, by the calling thread only, with the share that is done, 0 to 1.
  std::function<void(float share)> progress{};
};

/// How far the points of one surface lie from another, m: measured at points spread over it, at most half a cell apart.
struct SurfaceDistance {
  double rms = 0, max = 0;
};

/// What was found in the surface, and how well the solid fits it.
struct TetrahedralizeReport {
  float cell = 0;  ///< m, as used

  // The surface
  std::size_t triangles_dropped = 0;  ///< duplicates, and those without area
  std::size_t triangles_flipped = 0;  ///< that faced the wrong way
  std::size_t holes_closed = 0;       ///< loops of edges with one triangle only
  double surface_volume = 0;          ///< m³ enclosed by the mended surface; a guess where it has holes or overlaps

  // The solid
  std::size_t nodes = 0, tets = 0, surface_faces = 0;
  std::size_t pieces = 0;          ///< connected by faces
  std::size_t pieces_dropped = 0;  ///< specks of less than a cell
  std::size_t thin_nodes = 0;      ///< lattice points outside the surface that keep a thin part together
  double volume = 0;               ///< m³
  double volume_error = 0;         ///< volume / surface_volume − 1
  double min_dihedral_degrees = 0, max_dihedral_degrees = 0;
  SurfaceDistance to_surface;    ///< from the solid's boundary to the given surface: large over holes
  SurfaceDistance from_surface;  ///< from the given surface to the solid's boundary: large where parts were lost

  std::vector<std::string> notes;  ///< what the user should know, one sentence each; empty if all went well
};

/// The solid, which passes `validate` with `require_closed`; its boundary is a closed manifold.
///
/// Errors: a surface without triangles, with a coordinate that is not finite or with an index out of range; one that
/// encloses no volume, such as an open sheet; a cell that is negative, not finite, larger than the surface, or so small
/// that there would be more than `max_tets` (the message tells how small it may be).
///
/// Deterministic, and the same for a surface that is moved or scaled with its cell (up to rounding). 100,000 tets take
/// about half a second.
Result<TetMesh> tetrahedralize(const TriMesh& surface, const TetrahedralizeOptions& options = {},
                               TetrahedralizeReport* report = nullptr);

}  // namespace pliant
