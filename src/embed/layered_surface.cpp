// The surface that a layered body shows: its own. Where it has texture coordinates it is cut open along the seams of
// its charts, and has them; else its vertices are the nodes.
#include <algorithm>

#include "embed/deforming_surface.h"
#include "embed/surface_normals.h"

namespace pliant {
namespace {

class LayeredSurface final : public DeformingSurface {
 public:
  explicit LayeredSurface(const LayeredDef& def) : nodes_(def.atlas.layout.nodes) {
    surface_normals_ = SurfaceNormals(def.atlas.surface);
    node_normals_.resize(def.atlas.node_count());
    use(std::make_shared<const TriMesh>(nodes_.empty() ? def.atlas.surface : cut_open(def.atlas)));
    if (def.colors.empty()) return;
    colors_.resize(vertices_.size());
    show(def.colors, colors_);
  }

  bool update(Workers& workers, const World& world, BodyId body, std::optional<TetValue>) override {
    const std::span<const Vec3> positions = *world.node_positions(body), velocities = *world.node_velocities(body);
    surface_normals_.update(workers, positions, node_normals_);
    show(positions, vertices_);
    show(velocities, velocities_);
    show(node_normals_, normals_);
    return false;
  }

 private:
  /// From nodes to vertices.
  void show(std::span<const Vec3> of_nodes, std::vector<Vec3>& out) const {
    if (nodes_.empty()) std::copy(of_nodes.begin(), of_nodes.end(), out.begin());
    for (std::size_t i = 0; i < nodes_.size(); ++i) out[i] = of_nodes[nodes_[i]];
  }

  SurfaceNormals surface_normals_;
  std::vector<std::uint32_t> nodes_;  ///< by vertex; none if they are the same
  std::vector<Vec3> node_normals_;
};

}  // namespace

std::unique_ptr<DeformingSurface> make_surface(Workers&, const World&, BodyId, const LayeredDef& def) {
  return std::make_unique<LayeredSurface>(def);
}

}  // namespace pliant
