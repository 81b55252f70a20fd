#include "embed/node_gradients.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/adjacency.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

constexpr std::size_t kGrain = 512;

struct Slope {
  std::uint32_t node;
  Vec3d volume_slope;  ///< six volumes of the tet times the gradient of the node's shape function
};

/// The gradient of a node's shape function points to the node from the opposite face, as 1 over the height.
std::array<Slope, 4> slopes_of(const Tet& tet, std::span<const Vec3> positions, double& six_volume) {
  std::array<Vec3d, 4> c;
  for (std::size_t i = 0; i < 4; ++i) c[i] = Vec3d(positions[tet[i]]);
  const double signed_volume = six_volumes(c[0], c[1], c[2], c[3]), sign = signed_volume < 0 ? -1 : 1;
  six_volume = std::abs(signed_volume);
  std::array<Slope, 4> slopes;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& face = kTetFaces[i];
    const Vec3d outward = cross(c[face[1]] - c[face[0]], c[face[2]] - c[face[0]]);
    slopes[i] = {tet[i], -sign * outward};
  }
  return slopes;
}

}  // namespace

NodeGradients::NodeGradients(std::vector<std::uint32_t> nodes, std::span<const Tet> tets,
                             std::span<const Vec3> rest_positions)
    : nodes_(std::move(nodes)) {
  if (nodes_.empty()) return;
  const Csr tets_around = node_tets(tets, rest_positions.size());
  std::vector<Slope> around;
  for (const std::uint32_t node : nodes_) {
    around.clear();
    double total = 0;
    for (const std::uint32_t t : tets_around[node]) {
      double six_volume;
      for (const Slope& slope : slopes_of(tets[t], rest_positions, six_volume)) around.push_back(slope);
      total += six_volume;
    }
    std::stable_sort(around.begin(), around.end(), [](const Slope& a, const Slope& b) { return a.node < b.node; });
    for (auto s = around.begin(); s != around.end();) {
      const std::uint32_t neighbor = s->node;
      Vec3d sum;
      for (; s != around.end() && s->node == neighbor; ++s) sum += s->volume_slope;
      if (neighbor != node) neighbors_.push_back({neighbor, (sum / total).to_float()});
    }
    offsets_.push_back(std::uint32_t(neighbors_.size()));
  }
}

NodeGradient NodeGradients::gradient_at(std::size_t i, std::span<const Vec3> positions) const {
  const Vec3 center = positions[nodes_[i]];
  NodeGradient gradient{center, {{{}, {}, {}}}};
  for (std::uint32_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
    // The slopes of all nodes of a tet sum to nothing, so that the node's own drops out of the differences.
    const Vec3 edge = positions[neighbors_[k].node] - center;
    for (std::size_t r = 0; r < 3; ++r) gradient.now_from_rest.rows[r] += edge[r] * neighbors_[k].slope;
  }
  return gradient;
}

void NodeGradients::update(Workers& workers, std::span<const Vec3> positions, std::span<NodeGradient> gradients) const {
  parallel_for(workers, nodes_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) gradients[i] = gradient_at(i, positions);
  });
}

}  // namespace pliant
