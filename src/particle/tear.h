// Tearing: cloth and rope that come apart where a yarn carries more than its strength.
//
// A tear parts one node: the faces (of a rope: the segments) around it that lie along the yarn on one side get a copy
// of the node, the others keep it. A node whose faces hang together at nothing but itself is parted too, so that a tear
// that reaches the rim opens it. All rows follow from the faces: one that ran along an edge that two faces had is there
// twice, with half the width each, once these have come apart (`MeshTear::result`). Masses are shared out by the area
// of the faces, so a tear changes neither the mass nor the momentum.
//
// Müller et al., "Position based dynamics" (2007), section 4.4, part nodes in the same way, but across the
// direction of the edge in the world; here it is that at rest, in which the cells of a sheet are never cut askew.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "particle/particle_model.h"

namespace pliant {

/// A body as it was when it was whole, and what of it belongs to what.
struct TearRest {
  ParticleModel whole;         ///< without a `TearRest` of its own
  std::vector<Face> elements;  ///< its faces, or the segments of a rope with their second node named twice
  std::vector<float> sizes;    ///< of the elements, m² or m
  bool is_rope = false;
  std::uint32_t most_nodes = 0;  ///< when everything has come apart

  // Elements of each node and of each edge (of two nodes, ascending), one list after the other.
  std::vector<std::uint32_t> node_starts, of_node;
  std::vector<std::array<std::uint32_t, 2>> edges;
  std::vector<std::uint32_t> edge_starts, of_edge;

  // Of the rows: the edges of chains' segments, line by line, and of three nodes in a line.
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> chain_edges;
  std::vector<std::uint32_t> chain_starts;  ///< of each segment's elements in `ParticleModel::chain_rows`
  std::vector<std::array<std::uint32_t, 2>> bend_edges;
  /// Springs lie along an edge, or across one from the face before it to the face beyond.
  struct SpringPlace {
    std::uint32_t edge = kNone;
    std::array<std::uint32_t, 2> faces{kNone, kNone};
  };
  std::vector<SpringPlace> springs;
  std::vector<std::array<std::uint32_t, 2>> hinge_faces;

  std::uint32_t edge_between(std::uint32_t a, std::uint32_t b) const;
  std::span<const std::uint32_t> around(std::uint32_t node) const {
    return std::span(of_node).subspan(node_starts[node], node_starts[node + 1] - node_starts[node]);
  }
  std::span<const std::uint32_t> along(std::uint32_t edge) const {
    return std::span(of_edge).subspan(edge_starts[edge], edge_starts[edge + 1] - edge_starts[edge]);
  }
};

/// Gives a model whose lines have strengths what tearing needs.
void make_tearable(ParticleModel& model);

/// A node that came of a tear.
struct NodeCopy {
  std::uint32_t node, from;
  float share;  ///< of the mass that `from` had
};

/// Changes a copy of a model's surface; the result is a new model.
class MeshTear {
 public:
  explicit MeshTear(const ParticleModel& model);

  /// Parts a node: what lies towards another one gets a copy of it. False where all lies on one side.
  bool part(std::uint32_t node, std::uint32_t toward);
  bool is_at_rim(std::uint32_t node) const;
  std::vector<std::uint32_t> neighbors(std::uint32_t node) const;
  std::span<const NodeCopy> copies() const { return copies_; }
  ParticleModel result() const;

 private:
  std::vector<std::uint32_t> around(std::uint32_t node) const;
  std::uint32_t give_copy(std::uint32_t node, std::span<const std::uint32_t> elements);
  void part_where_loose(std::uint32_t node);

  const ParticleModel& model_;
  const TearRest& rest_;
  std::vector<Face> elements_;
  std::vector<std::uint32_t> origins_;
  std::vector<float> masses_;
  std::vector<NodeCopy> copies_;
};

}  // namespace pliant
