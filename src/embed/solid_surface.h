// The surface that a solid shows: its own, or a finer one that it carries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "embed/embedding.h"
#include "embed/surface_normals.h"
#include "pliant/solid.h"
#include "pliant/world.h"

namespace pliant {

class SolidSurface {
 public:
  SolidSurface(Workers& workers, const SolidDef& def);

  std::shared_ptr<const TriMesh> mesh() const { return mesh_; }
  /// Where the vertices are now, how they move, and a value for each where one is asked for.
  void update(Workers& workers, const World& world, BodyId body, std::optional<TetValue> value);
  const std::vector<Vec3>& vertices() const { return vertices_; }
  const std::vector<Vec3>& velocities() const { return velocities_; }
  const std::vector<Vec3>& normals() const { return normals_; }
  const std::vector<float>& values() const { return values_; }

 private:
  void spread_values(Workers& workers, const TetMesh& mesh, const std::vector<float>& of_tets);

  std::shared_ptr<const TriMesh> mesh_;
  std::vector<std::uint32_t> nodes_;    ///< of the vertices, where the surface is the solid's own
  std::optional<Embedding> embedding_;  ///< where it is not
  std::vector<float> node_values_, node_weights_;
  SurfaceNormals surface_normals_;
  std::vector<Vec3> vertices_, velocities_, normals_;
  std::vector<float> values_;
};

}  // namespace pliant
