// A closed surface of many small triangles, as contact by textures sees it: clusters of faces with boxes and normals.
//
// The clusters are the low-resolution proxy of Galoppo et al. 2006, §5.1: what of two surfaces may touch, and which way
// it looks, is asked of them alone. They are the leaves of a tree of boxes, so that two surfaces find what of them is
// near without looking at the rest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "geometry/adjacency.h"
#include "pliant/math.h"
#include "pliant/mesh.h"

namespace pliant {

class TexturedSurface {
 public:
  /// About this many faces make a cluster.
  static constexpr std::size_t kClusterFaces = 32;

  /// Faces by node, looking outward, and the places of the nodes at rest. The faces must stay.
  TexturedSurface(std::span<const Face> faces, std::span<const Vec3> rest);

  /// Where the nodes are and how fast, m/s; both must stay until the next fit. In the substep of `dt` they go
  /// dt · (v + boost).
  void fit(std::span<const Vec3> x, std::span<const Vec3> v, Vec3 boost, float dt, Workers& workers);

  struct Cluster {
    std::span<const std::uint32_t> faces, nodes;
  };
  std::size_t cluster_count() const { return leaves_.size(); }
  Cluster cluster(std::size_t i) const { return {cluster_faces_[i], cluster_nodes_[i]}; }
  /// Of the tree: two branches, or a leaf with one cluster. The root is the first; branches come after what they are
  /// of.
  struct Branch {
    std::uint32_t first = 0, second = 0;  ///< branches; of a leaf, its cluster and kLeaf
    Aabb box{};                           ///< of its nodes, now and after the substep

    static constexpr std::uint32_t kLeaf = 0;  ///< the root is nobody's branch
    bool is_leaf() const { return second == kLeaf; }
  };
  std::span<const Branch> tree() const { return tree_; }
  Aabb bounds() const { return tree_.empty() ? Aabb{} : tree_[0].box; }
  /// The mean of its faces' normals, by area; shorter than 1 the more they differ.
  Vec3 mean_normal(std::size_t cluster) const;

  std::span<const Face> faces() const { return faces_; }
  std::span<const Vec3> x() const { return x_; }
  Vec3 motion(std::uint32_t node) const { return dt_ * (v_[node] + boost_); }  ///< m, in the substep
  std::span<const std::uint32_t> faces_of(std::uint32_t node) const { return faces_of_node_[node]; }
  float edge() const { return edge_; }  ///< m, mean length at rest
  /// Twice the area times the unit normal.
  Vec3 area_normal(std::uint32_t face) const;
  /// Outward at a node: the mean of the faces around it.
  Vec3 node_normal(std::uint32_t node) const;

 private:
  void make_clusters(std::span<const Vec3> rest);

  std::span<const Face> faces_;
  std::span<const Vec3> x_, v_;
  Vec3 boost_{};
  float dt_ = 0, edge_ = 0;
  Csr faces_of_node_, cluster_faces_, cluster_nodes_;
  std::vector<Branch> tree_;
  std::vector<std::uint32_t> leaves_;  ///< by cluster
};

}  // namespace pliant
