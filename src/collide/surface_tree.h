// A tree of boxes over the elements of a surface, for the motion of one substep: x goes to x + h v in a straight line.
//
// The tree is built once from the rest shape and is balanced: elements that are close on the surface stay close however
// it folds, so it never needs to be built again until the topology changes. Refitting is linear and runs on all cores.
//
// Boxes are good for some time: each node has a path, foretold from its velocity, and a slack around that. As long as
// it keeps to it (apart from a motion that all nodes have in common) the boxes of the leaves that have it stay, and so
// does what was found with them. In a cloth at rest few leaves are fitted anew in a substep.
//
// Of a closed surface whose nodes move fast in relation to each other nothing lasts: debris turns, jams and breaks.
// Such a surface is *brisk*: its boxes are those of this substep alone, around where everything is in its middle, and
// each box tells apart from that how what is in it moves. So two that fly on side by side, as splinters of one wall do,
// are known to be far from each other, while the boxes of their whole paths would overlap.
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
  /// Where it never `meets_itself` it need not know which of its parts are flat.
  explicit SurfaceTree(SurfaceTopology topology, bool meets_itself = true);

  const SurfaceTopology& topology() const { return topology_; }
  /// How far around the paths of its features the next search looks beyond the radii, m.
  float margin() const { return margin_; }

  /// To be called in every substep before contacts are looked for. `x` (m) and `v` (m/s) are of all particle nodes,
  /// `h` is the length of the substep (s). Elements with a node that is not finite, or further away than 1e15 m, are
  /// not found until they are again. No allocation.
  void refit(std::span<const Vec4> x, std::span<const Vec4> v, float h, float margin, Workers& workers);
  /// As above; `boost` (m/s) is added to all velocities.
  void refit(std::span<const Vec3> x, std::span<const Vec3> v, Vec3 boost, float h, float margin, Workers& workers);

  /// Holds the whole motion, grown by the radius and half of the margin; empty if there is nothing.
  Aabb bounds() const;

  /// What the boxes were fitted to, in the frame of the motion that all nodes have in common. A tree to which it is
  /// given back goes on as the one from which it was taken.
  struct Fit {
    std::vector<Vec4> centers;            ///< m, per local node: the middle of its foretold path; w is its radius
    std::vector<Vec4> ways;               ///< m, per local node: half of that path
    std::vector<std::uint32_t> foretold;  ///< per local node: when, counted in refits
    std::vector<std::uint32_t> renewed;   ///< per leaf: when it was fitted, counted in refits
    std::uint32_t now = 0;                ///< refits so far; the paths of nodes are foretold for two of them
    Vec3 start{};                         ///< m, the mean place of the nodes when the frame was laid
    float margin = 0;                     ///< m
    bool is_brisk = false;                ///< for one substep alone
  };
  const Fit& fit() const { return fit_; }
  void restore(const Fit& fit, Workers& workers);
  /// Fits all boxes anew in the next substep.
  void forget_fit() { fit_.centers.clear(); }

  /// Paths are foretold for so many substeps.
  static constexpr float kForesight = 2;

  /// Whether a segment passes through a face, as the nodes are now; what is within a hundredth of its ends does not
  /// count. The boxes must be those of this substep.
  bool is_crossed(Vec3 from, Vec3 to) const;

  // For the search ----------------------------------------------------------------------------------------------------

  /// Another one for every tree and whenever all is forgotten.
  std::uint64_t id() const { return id_; }
  /// Where the frame of the boxes is now, m.
  Vec3 displacement() const { return displacement_; }
  std::uint32_t leaf_count() const { return std::uint32_t(leaves_.size()); }
  /// When a leaf was fitted last, of `fit().now` refits.
  std::uint32_t renewed(std::uint32_t leaf) const { return fit_.renewed[leaf]; }
  /// When any leaf was.
  std::uint32_t last_renewed() const { return last_renewed_; }
  float substep() const { return substep_; }  ///< s
  /// How far nodes may stray from their foretold paths, m.
  float slack() const { return fit_.is_brisk ? 0.0f : slack_; }
  bool is_brisk() const { return fit_.is_brisk; }

  /// Where the nodes are, m, per local node.
  std::span<const Vec4> positions() const { return positions_; }
  /// h (v − mean velocity), m, per local node; w is its length.
  std::span<const Vec4> motions() const { return motions_; }
  // Of closed surfaces, as they are now; of length 1, or 0 where there is none:
  std::span<const Vec3> outward_of_faces() const { return face_normals_; }
  std::span<const Vec3> outward_of_nodes() const { return node_normals_; }  ///< weighted by the areas of the faces
  /// Whether a closed surface is hollow somewhere around a face; judged when the boxes were fitted.
  bool has_creases(std::uint32_t face) const { return has_creases_[face] != 0; }
  /// h times the mean velocity, m. Boxes are those of the motion without it: a cloth that flies at 100 m/s as a whole
  /// meets itself no more often than one that hangs.
  Vec3 drift() const { return drift_; }

  struct Node {
    Vec3 lower, upper;
    /// m, of a brisk surface, whose boxes are those of the middle of the substep: half of the ways of what is in it,
    /// from the least to the most along each axis. Else zero, and the box holds the paths.
    Vec3 least_way{}, most_way{};

    bool overlaps(Vec3 low, Vec3 high) const {
      return (low.x <= upper.x) & (lower.x <= high.x) & (low.y <= upper.y) & (lower.y <= high.y) & (low.z <= upper.z) &
             (lower.z <= high.z);
    }
  };
  struct Leaf {
    Box8 boxes;
    FaceLanes faces;
    std::array<std::uint32_t, 8> elements;
    std::array<std::uint8_t, 8> owned_nodes;
    std::array<EdgeLanes, 3> edges;  ///< those that its elements own
    std::uint32_t count, edge_count;
    float motion;  ///< m, how far its nodes may get from where they are shown, but for the ways of a brisk surface
    // Nodes whose paths were foretold at the same time move along them together:
    std::uint32_t foretold;  ///< when those of all its nodes were; 0 if at different times
    Vec3 way;                ///< m, a mean of theirs
    float spread;            ///< m, how far its nodes may get from where they are shown but for that
    bool has_ridges;         ///< any
    bool is_all_faces;       ///< no free edges, and none that is nowhere
  };
  /// Nodes are numbered by levels: the root is 0, the children of n are 2 n + 1 and 2 n + 2; all leaves are on the last
  /// level.
  std::span<const Node> nodes() const { return nodes_; }
  bool is_leaf(std::uint32_t node) const { return node + 1 >= leaves_.size(); }
  const Leaf& leaf(std::uint32_t node) const { return leaves_[node + 1 - leaves_.size()]; }
  bool empty() const { return leaves_.empty(); }

  /// Whether what is below a node, or below two nodes a < b of one level, cannot touch itself in this substep.
  bool is_flat(std::uint32_t node) const { return patches_.is_patch(node) && normal_boxes_[node].is_narrow(); }
  bool is_flat(std::uint32_t a, std::uint32_t b) const {
    return patches_.are_one_patch(a, b) && NormalBox::join(normal_boxes_[a], normal_boxes_[b]).is_narrow();
  }

 private:
  void build();
  void find_patches();
  void list_leaves_of_nodes();
  void fill_leaves(std::span<std::uint32_t> order, std::span<const Vec3> centers, std::uint32_t node);
  template <typename Vector>
  void move_nodes(std::span<const Vector> x, std::span<const Vector> v, Vec3 boost, float h, Workers& workers);
  void fit_moved(Workers& workers);
  float fastest() const;  ///< m, in this substep and in relation to all
  void find_outward();
  void find_creases();
  void find_frame();
  std::size_t find_strays(Workers& workers);
  void foretell(std::uint32_t node);
  void foretell_all(Workers& workers);
  void fit_all(Workers& workers);
  void fit_strays(Workers& workers);
  void fit_leaf(std::uint32_t node);
  void fit_below(std::uint32_t root);
  void fit_inner(std::uint32_t node);
  void fit_edges(Leaf& leaf) const;
  /// Whether its surroundings are so flat that nothing sinks in where its ends are kept out.
  bool is_flat_edge(const SurfaceEdge& edge) const;
  Vec3 wing_from_edge(const SurfaceEdge& edge) const;
  NormalBox fit_normal(std::uint32_t element);

  SurfaceTopology topology_;
  bool meets_itself_;
  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;
  SurfacePatches patches_;
  std::vector<NormalBox> normal_boxes_;
  std::vector<Vec4> positions_, motions_;
  std::vector<Vec3> face_normals_, node_normals_;
  std::vector<std::uint8_t> has_creases_, at_crease_;  ///< per face and per local node
  std::uint32_t last_renewed_ = 0;
  std::vector<Vec3> normals_;  ///< of each face when the boxes were fitted, of length 1, or 0 where there is none
  Vec3 drift_, displacement_;
  float margin_ = 0, slack_ = 0, substep_ = 0;
  Fit fit_;
  std::uint64_t id_ = 0;
  Csr leaves_of_node_;                 ///< per local node
  std::vector<std::uint8_t> strayed_;  ///< per local node
  std::vector<std::uint32_t> strays_;  ///< leaves, ascending
  std::vector<std::uint32_t> parents_;
};

}  // namespace pliant
