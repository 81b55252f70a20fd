// A surface with a tree over its triangles: what is close to a point, what a segment meets.
#pragma once

#include <span>
#include <vector>

#include "geometry/bvh.h"
#include "pliant/mesh.h"

namespace pliant {

class TriangleTree {
 public:
  /// Keeps a view of the surface, which must be in range and outlive the tree.
  TriangleTree(std::span<const Vec3> vertices, std::span<const Face> faces);

  /// The distance from a point to the surface, or `limit` if that is less.
  float distance(Vec3 point, float limit) const;

  /// As `distance`, with the point of the surface that is closest. False if there is none within `limit`.
  bool closest(Vec3 point, float limit, Vec3& on_surface) const;

  /// Where a segment meets the surface.
  struct Crossing {
    float t;          ///< 0 at the segment's start, 1 at its end
    bool is_leaving;  ///< from the back of the triangle to its front
  };
  /// All crossings in ascending order, into `crossings`.
  void crossings(Vec3 from, Vec3 to, std::vector<Crossing>& crossings) const;

  /// Whether the ray meets anything at all.
  bool is_blocked(Vec3 origin, Vec3 direction) const;

 private:
  Vec3 corner(std::uint32_t face, std::size_t i) const { return vertices_[faces_[face][i]]; }

  std::span<const Vec3> vertices_;
  std::span<const Face> faces_;
  Bvh bvh_;
};

}  // namespace pliant
