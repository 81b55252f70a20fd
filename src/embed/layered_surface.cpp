// The surface that a layered body shows: its own, all of whose vertices are nodes.
#include <algorithm>

#include "embed/deforming_surface.h"
#include "embed/surface_normals.h"

namespace pliant {
namespace {

class LayeredSurface final : public DeformingSurface {
 public:
  explicit LayeredSurface(const LayeredDef& def) {
    use(std::make_shared<const TriMesh>(def.atlas.surface));
    surface_normals_ = SurfaceNormals(*mesh_);
  }

  bool update(Workers& workers, const World& world, BodyId body, std::optional<TetValue>) override {
    const std::span<const Vec3> positions = *world.node_positions(body), velocities = *world.node_velocities(body);
    std::copy(positions.begin(), positions.end(), vertices_.begin());
    std::copy(velocities.begin(), velocities.end(), velocities_.begin());
    surface_normals_.update(workers, vertices_, normals_);
    return false;
  }

 private:
  SurfaceNormals surface_normals_;
};

}  // namespace

std::unique_ptr<DeformingSurface> make_surface(Workers&, const World&, BodyId, const LayeredDef& def) {
  return std::make_unique<LayeredSurface>(def);
}

}  // namespace pliant
