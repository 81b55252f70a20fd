// Who touches whom in a mesh, in compressed rows. All orders are fixed by the mesh alone: items of a row ascend.
//
// Elements that name a vertex or node out of range are left out, so that broken meshes can be looked at too.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

inline constexpr std::uint32_t kNoNeighbor = 0xffffffffu;

/// Lists of different lengths, one after the other: row i is `items[offsets[i]] … items[offsets[i + 1] - 1]`.
struct Csr {
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint32_t> items;

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t row) const {
    return {items.data() + offsets[row], items.data() + offsets[row + 1]};
  }
};

/// The faces around each vertex.
Csr vertex_faces(std::span<const Face> faces, std::size_t vertex_count);
/// The tets around each node.
Csr node_tets(std::span<const Tet> tets, std::size_t node_count);

/// Unordered edges (first < second), sorted, each once, with the elements that use each.
struct EdgeAdjacency {
  std::vector<std::array<std::uint32_t, 2>> edges;
  Csr elements;
};
EdgeAdjacency edge_faces(std::span<const Face> faces, std::size_t vertex_count);
EdgeAdjacency edge_tets(std::span<const Tet> tets, std::size_t node_count);

/// Whether a face runs along the edge from a to b, rather than from b to a. Neighbours that face the same way run along
/// their common edge in opposite directions.
inline bool runs_along(const Face& f, std::uint32_t a, std::uint32_t b) {
  return (f[0] == a && f[1] == b) || (f[1] == a && f[2] == b) || (f[2] == a && f[0] == b);
}

/// Row f: the faces that share an edge with face f, each once.
Csr face_faces(std::span<const Face> faces, std::size_t vertex_count);

/// The neighbour of each face over its three edges (f[i], f[i + 1]), where there is exactly one, else `kNoNeighbor`.
std::vector<std::array<std::uint32_t, 3>> face_neighbors(std::span<const Face> faces, const EdgeAdjacency& edges);

/// The four faces of a tet, each facing outward; face i lies opposite node i.
inline constexpr std::array<std::array<int, 3>, 4> kTetFaces{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

/// Per tet and node: the tet across the face opposite that node, or `kNoNeighbor` at the surface. Where more than two
/// tets share a face, each is paired with none.
std::vector<std::array<std::uint32_t, 4>> tet_tets(std::span<const Tet> tets, std::size_t node_count);

/// The half faces of a tet mesh, grouped by their three nodes: one row per distinct face, rows sorted by nodes. Half
/// face h is face h % 4 of tet h / 4.
Csr group_tet_faces(std::span<const Tet> tets, std::size_t node_count);

}  // namespace pliant
