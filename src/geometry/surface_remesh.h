// A closed surface in triangles of nearly one size (after Botsch and Kobbelt 2004, "A remeshing approach to
// multiresolution modeling"): long edges are split, short ones collapsed, others flipped towards Delaunay's, and
// vertices moved along the surface.
//
// Edges can be fixed: creases, and the seams between charts. Their vertices stay on them. Unlike in the paper, edges
// are flipped by their angles and not by valence: that also repairs slivers that come with the mesh.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "geometry/bvh.h"
#include "math/vec3d.h"
#include "pliant/atlas.h"

namespace pliant {

/// Why an edge is fixed.
inline constexpr std::uint8_t kCrease = 1, kSeam = 2;

/// A surface whose faces belong to groups, and which of its edges are fixed: `fixed[f][i]` for that from corner i to
/// the next, made of the marks above.
struct GroupedSurface {
  std::vector<Vec3> vertices;
  std::vector<Face> faces;
  std::vector<std::uint32_t> groups;
  std::vector<std::array<std::uint8_t, 3>> fixed;
};

/// Finds points of a surface.
class SurfaceLocator {
 public:
  static constexpr std::uint32_t kAnyGroup = 0xffffffffu;

  /// Keeps a view of the surface, which must outlive it.
  explicit SurfaceLocator(const GroupedSurface& surface);

  struct Found {
    std::uint32_t face = kNoFace;
    Vec3 weights{}, position{};
    float squared_distance = 0;
  };
  /// The closest point of those faces of a group that look the way of `normal`; of all faces if there are none.
  Found closest(Vec3 point, Vec3 normal, std::uint32_t group = kAnyGroup) const;

 private:
  const GroupedSurface& surface_;
  std::vector<Vec3> normals_;
  Bvh bvh_;
};

/// `surface` must be a closed manifold whose neighbours face the same way; so is the result. Edges between groups are
/// fixed. `length` is the wished length of an edge.
GroupedSurface remesh(const GroupedSurface& surface, double length, Workers& workers);

/// Fixes the edges where the surface bends by more than `angle` radians, but for lines shorter than `least`.
void fix_creases(GroupedSurface& surface, double angle, double least);

}  // namespace pliant
