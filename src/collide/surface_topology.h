// What collides of one deformable body: triangles, and edges that belong to no triangle (ropes), with a radius round
// all. Built once from the body at rest.
//
// Inside, nodes have local numbers (places in `nodes`), so that a surface of a thousand nodes costs as much in a world
// of a million as alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/adjacency.h"
#include "math/vec4.h"
#include "pliant/mesh.h"
#include "pliant/result.h"

namespace pliant {

using NodePair = std::array<std::uint32_t, 2>;

/// Edges that could sink into each other's surroundings by less than this part of the thickness are left to their ends,
/// unless a surface says otherwise.
inline constexpr float kFlatness = 0.1f;

/// What a surface is made of. Nodes are numbers in the array of all particle nodes.
struct SurfaceDef {
  std::span<const Face> faces;
  std::span<const NodePair> free_edges;  ///< those of ropes; an edge that a face has too counts as the face's
  std::span<const Vec4> rest;            ///< m, of all particle nodes: where they are at rest
  float radius = 0;                      ///< m, half of the thickness
  /// Faces and edges of this surface are numbered from here in the keys of contacts. Surfaces whose numbers do not
  /// overlap (each takes `SurfaceTopology::feature_count`) have contacts with different keys.
  std::uint32_t first_feature = 0;
  /// m; more than 0 for a closed surface whose faces look outward: what lies behind a face by up to this is inside and
  /// must get out at its front, whatever came before. Half of the two surfaces' sum counts.
  float depth = 0;
  /// m; where two closed surfaces overlap as a whole by more than `depth`, up to this counts as inside; 0 for `depth`.
  float deepest = 0;
  /// m; how much nearer than foreseen others may come while one of the two is stopped. The larger of the two counts.
  float surprise = 0;
  /// m; how far edges may sink into each other's surroundings before they count; 0 for `kFlatness` times the radius.
  float flatness = 0;
  /// m; how far nodes may stray from their foretold paths until boxes are fitted anew; 0 for a share of the edges.
  float slack = 0;
};

/// An edge of a surface, and the corners of its faces that lie opposite to it.
struct SurfaceEdge {
  NodePair nodes;                                                ///< local, first < second
  std::array<std::uint32_t, 2> wings{kNoNeighbor, kNoNeighbor};  ///< local nodes
  std::array<std::uint32_t, 2> faces{kNoNeighbor, kNoNeighbor};  ///< elements, opposite to whose corners they lie
  std::uint32_t face_count = 0;

  bool is_free() const { return face_count == 0; }
  /// A rim, the seam of three faces, or free: one can get round it, so it has no two sides.
  bool is_border() const { return face_count != 2; }
};

/// A face, or a free edge with its second node named twice. Every node and every edge is owned by exactly one element
/// that has it ("representative triangles", Curtis, Tamstorf and Manocha 2008): pairs of elements are looked at once,
/// and so is every pair of features.
struct SurfaceElement {
  std::array<std::uint32_t, 3> nodes;  ///< local
  std::array<std::uint32_t, 3> edges;  ///< edge i runs from node i to the next; a free edge has only edge 0
  std::uint8_t owned_nodes = 0;        ///< bit i: node i
  std::uint8_t owned_edges = 0;
  bool is_face = true;

  std::size_t node_count() const { return is_face ? 3 : 2; }
  std::size_t edge_count() const { return is_face ? 3 : 1; }
};

struct SurfaceTopology {
  std::vector<std::uint32_t> nodes;       ///< the node of each local node, ascending
  std::vector<SurfaceElement> elements;   ///< faces in the order they were given, then free edges
  std::vector<SurfaceEdge> edges;         ///< all, each once
  std::vector<Vec3> rest;                 ///< m, per local node
  Csr neighbors;                          ///< row n: the local nodes that share an edge with n
  Csr node_faces;                         ///< row n: the faces that have the local node n
  std::vector<std::uint32_t> first_edge;  ///< per local node: the edge that speaks for it where only edges do
  std::vector<std::uint32_t> component;   ///< per local node: nodes that hang together have the same
  std::vector<std::uint8_t> has_face;     ///< per local node
  std::size_t face_count = 0;
  float radius = 0;
  float depth = 0, deepest = 0, surprise = 0, flatness = 0, slack = 0;  ///< m, as in the definition
  std::uint32_t first_feature = 0;

  bool is_closed() const { return depth > 0; }
  /// How many numbers it takes in keys.
  std::uint32_t feature_count() const { return std::uint32_t(std::max(face_count, edges.size())); }
};

/// Fails on nodes that do not exist, elements that name a node twice, positions or radii that are no numbers, and more
/// than 2³¹ nodes or features. Elements without area or length are fine.
Result<SurfaceTopology> make_surface_topology(const SurfaceDef& def);

}  // namespace pliant
