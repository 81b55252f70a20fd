// Surfaces as people have them, made fit to be asked what is inside: each triangle once, and facing outward.
#pragma once

#include <span>

#include "base/parallel.h"
#include "pliant/mesh.h"

namespace pliant {

struct MendedSurface {
  std::vector<Vec3> vertices;
  std::vector<Face> faces;
  std::vector<Face> corners;           ///< by face: its vertices as they were given, before welding
  std::vector<std::uint32_t> sources;  ///< by face: which of the given faces it is
  std::size_t dropped = 0;             ///< faces that came twice (either way round) or have no area
  std::size_t flipped = 0;             ///< faces that now face the other way
  std::size_t holes = 0;               ///< loops of edges with one face only
  double loose_edges = 0;              ///< share of the edges that have one face only
  double open_share = 0;               ///< |sum of the area vectors| / area: 0 for a closed surface, 1 for a flat sheet
};

/// Vertices nearer to each other than `weld` become one. Neighbours are turned to face the same way, then each patch of
/// neighbours outward: its outer side is the one from which more rays get away (after Takayama et al. 2014). Patches
/// that nothing can be said about, such as those hidden within others, stay as they are given.
///
/// The faces must be in range and finite.
MendedSurface mend_surface(std::span<const Vec3> vertices, std::span<const Face> faces, double weld, Workers& workers);

/// Vertices with the same coordinates made one, as files have several along the seams of textures. Normals and texture
/// coordinates are left out; faces that lose a corner too.
TriMesh welded(const TriMesh& mesh);

}  // namespace pliant
