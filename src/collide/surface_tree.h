// A tree of boxes over the elements of a surface, for the motion of one substep: x goes to x + h v in a straight line.
//
// The tree is built once from the rest shape and is balanced: elements that are close on the surface stay close however
// it folds, so it never needs to be built again until the topology changes. Refitting is linear and runs on all cores.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "collide/surface_kernel.h"
#include "collide/surface_patches.h"
#include "collide/surface_topology.h"
#include "geometry/box_kernel.h"
#include "math/vec4.h"

namespace pliant {

class SurfaceTree {
 public:
  explicit SurfaceTree(SurfaceTopology topology);

  const SurfaceTopology& topology() const { return topology_; }
  /// How far around the paths of its features the next search looks beyond the radii, m.
  float margin() const { return margin_; }

  /// To be called in every substep before contacts are looked for. `x` (m) and `v` (m/s) are of all particle nodes,
  /// `h` is the length of the substep (s). Elements with a node that is not finite, or further away than 1e15 m, are
  /// not found until they are again. No allocation.
  void refit(std::span<const Vec4> x, std::span<const Vec4> v, float h, float margin, Workers& workers);

  /// The box of the whole motion, grown by the radius and half of the margin; empty if there is nothing.
  Aabb bounds() const;

  // For the search ----------------------------------------------------------------------------------------------------

  /// Where the nodes are, m, per local node.
  std::span<const Vec4> positions() const { return positions_; }
  /// h (v − mean velocity), m, per local node; w is its length.
  std::span<const Vec4> motions() const { return motions_; }
  /// h times the mean velocity, m. Boxes are those of the motion without it: a cloth that flies at 100 m/s as a whole
  /// meets itself no more often than one that hangs.
  Vec3 drift() const { return drift_; }

  struct Node {
    Vec3 lower, upper;
  };
  struct Leaf {
    Box8 boxes;
    FaceLanes faces;
    std::array<std::uint32_t, 8> elements;
    std::array<std::uint8_t, 8> ridges;  ///< bit i of element e: it owns its edge i, which is not flat
    std::uint32_t count;
    float motion;       ///< m, the largest of a node
    bool has_ridges;    ///< any
    bool is_all_faces;  ///< no free edges, and none that is nowhere
  };
  /// Nodes are numbered by levels: the root is 0, the children of n are 2 n + 1 and 2 n + 2; all leaves are on the last
  /// level.
  std::span<const Node> nodes() const { return nodes_; }
  bool is_leaf(std::uint32_t node) const { return node + 1 >= leaves_.size(); }
  const Leaf& leaf(std::uint32_t node) const { return leaves_[node + 1 - leaves_.size()]; }
  bool empty() const { return leaves_.empty(); }

  /// Of each face now, of length 1 (0 for free edges and where there is none); w is the largest motion of a node, m.
  std::span<const Vec4> normals() const { return normals_; }

  /// Whether what is below a node, or below two nodes a < b of one level, cannot touch itself in this substep.
  bool is_flat(std::uint32_t node) const { return patches_.is_patch(node) && normal_boxes_[node].is_narrow(); }
  bool is_flat(std::uint32_t a, std::uint32_t b) const {
    return patches_.are_one_patch(a, b) && NormalBox::join(normal_boxes_[a], normal_boxes_[b]).is_narrow();
  }

 private:
  struct EdgeState {
    bool is_flat = false;   ///< its surroundings are so flat that nothing sinks in where its ends are kept out
    bool is_level = false;  ///< it runs between two faces at a small angle
  };

  void build();
  void fill_leaves(std::span<std::uint32_t> order, std::uint32_t node);
  void move_nodes(std::span<const Vec4> x, std::span<const Vec4> v, float h, Workers& workers);
  void fit_leaf(std::uint32_t node, float growth);
  void fit_below(std::uint32_t root, float growth);
  void fit_inner(std::uint32_t node);
  void note_edges(Leaf& leaf) const;
  EdgeState state_of(const SurfaceEdge& edge) const;
  NormalBox fit_normal(std::uint32_t element);

  SurfaceTopology topology_;
  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;
  SurfacePatches patches_;
  std::vector<NormalBox> normal_boxes_;
  std::vector<EdgeState> edge_states_;
  std::vector<Vec4> positions_, motions_, normals_;
  Vec3 drift_;
  float margin_ = 0;
};

}  // namespace pliant
