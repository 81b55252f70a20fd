// How a solid lies in memory: nodes in the order of their aggregates, tets in batches of eight, edges in batches of
// eight that join the same two aggregates, and the lists that say where each piece of work finds its input.
//
// Nothing here changes while the solid deforms. Every list is padded to whole lanes: padding reads zeros and writes
// nowhere, so that no kernel asks what is real.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "math/sliced_matrix.h"
#include "pliant/mesh.h"
#include "solid/aggregates.h"

namespace pliant {

/// The edges of a tet, by its corners.
inline constexpr std::array<std::array<std::uint8_t, 2>, 6> kTetEdges{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

struct SolidLayout {
  static constexpr std::uint32_t kNone = 0xffffffff;

  // Slots: one for each node, aggregate by aggregate, each aggregate padded to a multiple of eight.
  std::uint32_t node_count = 0, slot_count = 0;
  std::vector<std::uint32_t> slot_of_node, node_of_slot;  ///< kNone for padding
  std::vector<std::uint32_t> aggregate_starts;            ///< in groups of eight slots

  // Tets in batches of eight of one element kind. Their corners are numbered 4 * (batch * 8 + lane) + corner, and a
  // last one stands for nothing.
  static constexpr std::size_t kElementFloats = 4 * 24;  ///< of what is kept as 4 corners x 3 coordinates x 8 lanes
  std::uint32_t tet_count = 0;
  std::vector<std::uint32_t> batch_of_tet;   ///< batch * 8 + lane, by tet of the mesh
  std::vector<std::uint32_t> tet_of_lane;    ///< by batch * 8 + lane; padding repeats a tet of its batch
  std::vector<std::uint8_t> lane_is_real;    ///< by batch * 8 + lane
  std::vector<std::uint32_t> corner_offset;  ///< lane_offset of the slot; per batch 4 x 8
  std::vector<std::uint8_t> kind_of_batch;   ///< ascending
  std::size_t batches() const { return tet_of_lane.size() / kLanes; }
  /// Batches of kinds above 0 make their matrix block by block, these of kind 0 from vectors (solid_system.h).
  std::size_t first_block_batch = 0;
  static constexpr std::size_t kBlockFloats = 6 * 72;  ///< of one batch: its six edges, 3x3 row by row, 8 lanes

  // Node sums: what the tets around a node push it with. Rows like a SlicedMatrix's.
  std::vector<std::uint32_t> sum_starts;   ///< per group of eight slots, in eights
  std::vector<std::uint32_t> sum_corners;  ///< padding is the corner after the last

  // Edges, i < j in slots, in batches of eight of one pair of aggregates.
  struct Pair {
    std::uint32_t a, b;        ///< aggregates, a <= b
    std::uint32_t begin, end;  ///< edge batches
  };
  std::vector<Pair> pairs;
  std::vector<std::uint32_t> edge_slots;              ///< per batch 8 of i then 8 of j
  std::vector<std::uint32_t> edge_targets;            ///< in the matrix: per batch 8 of (i, j), then 8 of (j, i)
  std::vector<std::uint32_t> incidence_starts;        ///< per batch, in sixteens
  std::vector<std::uint32_t> incidences;              ///< 8 corners i, 8 corners j
  std::vector<std::uint32_t> block_incidence_starts;  ///< per batch, in eights
  std::vector<std::uint32_t> block_incidences;        ///< into the blocks; the top bit: transposed
  static constexpr std::uint32_t kTransposed = 0x80000000;
  std::size_t edge_batches() const { return edge_slots.size() / 16; }
  std::size_t edge_count = 0;

  SlicedMatrix matrix;

  std::size_t bytes() const;
};

/// What the making of a layout needs on the way. Kept, layouts of as many tets are made with no memory but their own.
struct LayoutScratch {
  using Edge = std::pair<std::uint32_t, std::uint32_t>;
  /// One edge of one tet.
  struct TetEdge {
    std::uint32_t a, b;  ///< nodes, a < b
    std::uint32_t tet;
    std::uint8_t corner_a, corner_b;
  };
  /// An edge, by slots.
  struct SlotEdge {
    std::uint32_t i, j;   ///< i < j
    std::uint32_t edge;   ///< among `edges`
    std::uint32_t begin;  ///< in `incidences`
    std::uint32_t end;
  };
  /// One edge of one tet, by slots.
  struct Incidence {
    std::uint32_t tet;                ///< batch * 8 + lane
    std::uint8_t corner_i, corner_j;  ///< of the slots i < j
  };
  struct TetKey {
    std::uint64_t first, last;  ///< two slots each, ascending
    std::uint32_t tet;
    std::uint8_t kind;
  };

  std::vector<TetEdge> tet_edges, sorted_tet_edges;  ///< by nodes
  std::vector<Edge> edges;                           ///< each once, by nodes
  std::vector<std::uint32_t> edge_starts;            ///< in `tet_edges`
  std::vector<SlotEdge> slot_edges, sorted_slot_edges;
  std::vector<Incidence> incidences;  ///< edge by edge
  std::vector<std::uint32_t> counts;  ///< of sorting
  AggregateMaker aggregate_maker;
  Aggregates aggregates;
  std::vector<std::uint32_t> aggregate_of_group;  ///< by group of eight slots
  std::vector<std::uint32_t> degrees, order;      ///< by node; nodes in the order of their slots
  std::vector<TetKey> keys;
  std::vector<std::uint32_t> sum_starts, sum_next, corners;  ///< by slot, one after the other
  std::vector<Edge> entries;
  std::array<std::vector<std::uint32_t>, kLanes> lists;
};

/// `kinds[tet]` keeps tets of different kinds out of one batch; batches come in ascending order of kind.
SolidLayout make_solid_layout(const TetMesh& mesh, const std::vector<std::uint8_t>& kinds, LayoutScratch& scratch);
SolidLayout make_solid_layout(const TetMesh& mesh, const std::vector<std::uint8_t>& kinds);

}  // namespace pliant
