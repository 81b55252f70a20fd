// A mesh as people have it, made into what an atlas can be made of: closed, welded, facing outward, its own texture
// coordinates judged.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "geometry/surface_remesh.h"

namespace pliant {

struct AtlasSource {
  /// Of the mesh: the surface is moved and scaled to a box of side 1 around the origin, so that floats do whatever the
  /// mesh's own size and place.
  Vec3d middle;
  double size = 1;                     ///< m
  GroupedSurface surface;              ///< groups are charts; seams are marked
  std::vector<std::uint32_t> sources;  ///< by face: which of the given ones
  std::vector<std::uint8_t> turned;    ///< by face: whether its second and third corner have changed places
  /// By face and corner; none if the mesh has none that can be used.
  std::vector<std::array<Vec2, 3>> uvs;
  std::uint32_t charts = 1;
  double area = 0;         ///< of the scaled surface
  bool is_filled = false;  ///< it is the surface of a lattice in the mesh; `sources` are faces of that
  std::vector<std::string> notes;
};

/// An error that says where a mesh is open, has edges of more than two faces, or encloses nothing.
Result<AtlasSource> make_atlas_source(const TriMesh& mesh, bool use_uvs, Workers& workers);

}  // namespace pliant
