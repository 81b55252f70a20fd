// A closed surface of triangles that can be cut finer and coarser: half-edges with split, collapse and flip.
//
// Half-edge h belongs to face h / 3 and runs from `start(h)` to `start(next(h))`; its twin runs back along the other
// face. As the surface is closed every half-edge has one, which leaves no special cases.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "math/vec3d.h"
#include "pliant/mesh.h"

namespace pliant {

class HalfEdges {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xffffffffu;

  /// The faces must be a closed manifold in which neighbours face the same way. `groups` holds a number for each face,
  /// which its parts keep.
  HalfEdges(std::vector<Vec3d> positions, std::span<const Face> faces, std::span<const std::uint32_t> groups);

  static Index next(Index h) { return h % 3 == 2 ? h - 2 : h + 1; }
  static Index previous(Index h) { return h % 3 == 0 ? h + 2 : h - 1; }

  std::size_t vertex_count() const { return positions_.size(); }  ///< with those that are gone
  std::size_t edge_count() const { return start_.size(); }        ///< half-edges, with those that are gone
  bool is_alive(Index h) const { return start_[h] != kNone; }
  bool has_vertex(Index v) const { return out_[v] != kNone; }

  Index start(Index h) const { return start_[h]; }
  Index end(Index h) const { return start_[next(h)]; }
  Index across(Index h) const { return start_[previous(h)]; }  ///< the third vertex of its face
  Index twin(Index h) const { return twin_[h]; }
  Index out(Index v) const { return out_[v]; }  ///< one half-edge that starts there
  std::uint32_t group(Index face) const { return groups_[face]; }

  /// Fixed edges are never flipped, and stay where they are. Marks other than 0 fix an edge; its parts keep them.
  bool is_fixed(Index h) const { return fixed_[h] != 0; }
  std::uint8_t marks(Index h) const { return fixed_[h]; }
  void fix(Index h, std::uint8_t marks) { fixed_[h] = fixed_[twin_[h]] = std::uint8_t(fixed_[h] | marks); }

  Vec3d position(Index v) const { return positions_[v]; }
  void move(Index v, Vec3d to) { positions_[v] = to; }
  Vec3d area_vector(Index face) const;  ///< twice the area, outward
  double length_of(Index h) const { return length(positions_[end(h)] - positions_[start(h)]); }

  /// visit(h) for all half-edges that start at v.
  template <typename Visit>
  void for_each_out(Index v, Visit&& visit) const {
    const Index first = out_[v];
    for (Index h = first;;) {
      const Index following = twin_[previous(h)];
      visit(h);
      if (following == first) return;
      h = following;
    }
  }
  int valence(Index v) const;

  /// Puts a vertex on the edge; its number comes back.
  Index split(Index h, Vec3d at);
  /// Whether `collapse` leaves a manifold.
  bool can_collapse(Index h) const;
  /// Merges the start of h into its end.
  void collapse(Index h);
  bool can_flip(Index h) const;
  void flip(Index h);

  /// What is left, with vertices renumbered in their order. `groups` and `fixed` (one for each corner's edge to the
  /// next) follow the faces.
  struct Compact {
    std::vector<Vec3d> positions;
    std::vector<Face> faces;
    std::vector<std::uint32_t> groups;
    std::vector<std::array<std::uint8_t, 3>> fixed;
  };
  Compact compact() const;

 private:
  void pair(Index a, Index b) { twin_[a] = b, twin_[b] = a; }
  bool are_joined(Index a, Index b) const;

  std::vector<Vec3d> positions_;
  std::vector<Index> start_, twin_, out_;
  std::vector<std::uint8_t> fixed_;
  std::vector<std::uint32_t> groups_;
};

}  // namespace pliant
