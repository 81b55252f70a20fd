// How the cage has deformed around its nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "pliant/math.h"
#include "pliant/mesh.h"

namespace pliant {

/// Where a node is and how the tets around it have turned and stretched since they were at rest.
struct NodeGradient {
  Vec3 position;       ///< m
  Mat3 now_from_rest;  ///< the deformation gradient, a mean weighted by volume over the tets around the node
};

class NodeGradients {
 public:
  NodeGradients() = default;
  /// For `nodes`, each of which belongs to at least one of `tets`, which all have volume.
  NodeGradients(std::vector<std::uint32_t> nodes, std::span<const Tet> tets, std::span<const Vec3> rest_positions);

  std::span<const std::uint32_t> nodes() const { return nodes_; }
  /// `gradients[i]` is that of `nodes()[i]`. Linear in `positions`: velocities give the gradient of the velocity.
  void update(Workers& workers, std::span<const Vec3> positions, std::span<NodeGradient> gradients) const;

 private:
  struct Neighbor {
    std::uint32_t node;
    Vec3 slope;  ///< of the node's shape function at rest, 1/m
  };
  NodeGradient gradient_at(std::size_t i, std::span<const Vec3> positions) const;

  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint32_t> offsets_{0};
  std::vector<Neighbor> neighbors_;
};

}  // namespace pliant
