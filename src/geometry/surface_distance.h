// The signed distance to a surface of triangles.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "geometry/bvh.h"
#include "geometry/shape_distance.h"
#include "geometry/triangle_feature.h"
#include "pliant/mesh.h"

namespace pliant {

/// Bærentzen and Aanæs, "Signed distance computation using the angle weighted pseudonormal", 2005: the sign is that of
/// the offset along the normal of the nearest feature, where an edge has the sum of its faces' normals and a vertex
/// their sum weighted by angles. Unlike in the paper the surface may be anything. Vertices at one place count as one;
/// faces of no area are left out; a face that comes twice counts once, and one that comes with its reverse has no
/// inside. Rims have none either: with the normal of the one face there, what is past the rim would be pulled under it.
class SurfaceDistance {
 public:
  /// Indices must be in range. Copies what it needs.
  SurfaceDistance(std::span<const Vec3> vertices, std::span<const Face> faces);

  /// As `ShapeProbe::nearest` says for triangle meshes.
  std::optional<ShapeDistance> nearest(Vec3 point, float max_distance) const;
  Aabb bounds() const { return bvh_.bounds(); }

 private:
  void weld(std::span<const Vec3> vertices, std::span<const Face> faces);
  void drop_flat_and_repeated_faces();
  void sum_normals();
  void build_tree();

  std::array<Vec3d, 3> corners(std::uint32_t face) const;
  Vec3 normal_of(std::uint32_t face, TriangleFeature feature) const;

  struct FaceNormals {
    Vec3 inside;                ///< unit
    std::array<Vec3, 3> edges;  ///< of any length; 0 where all is outside
    bool is_two_sided = false;
  };
  std::vector<Vec3> vertices_;
  std::vector<Vec3> vertex_normals_;  ///< of any length; 0 where all is outside
  std::vector<Face> faces_;
  std::vector<FaceNormals> normals_;
  Bvh bvh_;
};

}  // namespace pliant
