// The normals of a surface that deforms.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "embed/normals_kernel.h"
#include "geometry/adjacency.h"
#include "pliant/mesh.h"

namespace pliant {

/// Area-weighted vertex normals, as `compute_normals`, in parallel and with the same sums for any number of threads.
///
/// Where the surface has normals at rest, vertices at one place with the same normal there (a seam of its texture) keep
/// one normal between them; vertices split along a crease keep their own.
class SurfaceNormals {
 public:
  SurfaceNormals() = default;
  /// Faces that name a vertex that does not exist are left out. Where `groups` are given, one for each vertex, only
  /// vertices of one group are joined: those of others may move apart.
  explicit SurfaceNormals(const TriMesh& surface, std::span<const std::uint32_t> groups = {});

  std::size_t vertex_count() const { return vertex_count_; }

  /// `vertices` and `normals` are as many as the surface has. A vertex that no face of any area surrounds gets +Y.
  void update(Workers& workers, std::span<const Vec3> vertices, std::span<Vec3> normals) const;

 private:
  void add_group(std::size_t group, const Csr& faces_around, std::span<const Face> faces,
                 std::span<const std::uint32_t> joined);

  // Vertices in groups of eight, each with as many rows of corners as its vertex with the most faces.
  std::size_t vertex_count_ = 0;
  std::vector<std::array<std::uint32_t, kLanes>> groups_;  ///< of vertices, as places in an array of floats
  std::vector<std::size_t> row_ends_;                      ///< per group
  std::vector<CornerRow> rows_;
};

}  // namespace pliant
