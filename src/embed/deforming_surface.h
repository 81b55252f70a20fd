// The surface that a body of nodes shows: what the kinds of them have in common.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "pliant/world.h"

namespace pliant {

class CarriedSurfaces;

class DeformingSurface {
 public:
  virtual ~DeformingSurface() = default;

  /// Where the vertices are now, how they move, and a value for each where one is asked for and the body has it. True
  /// if the mesh is another one than before.
  virtual bool update(Workers& workers, const World& world, BodyId body, std::optional<TetValue> value) = 0;

  const std::shared_ptr<const TriMesh>& mesh() const { return mesh_; }
  // One for each vertex of the mesh; values may be none at all.
  const std::vector<Vec3>& vertices() const { return vertices_; }
  const std::vector<Vec3>& velocities() const { return velocities_; }
  const std::vector<Vec3>& normals() const { return normals_; }
  const std::vector<float>& values() const { return values_; }
  /// Linear, of a surface of several; else empty. They change with the mesh only.
  const std::vector<Vec3>& colors() const { return colors_; }

 protected:
  void use(std::shared_ptr<const TriMesh> mesh) {
    mesh_ = std::move(mesh);
    vertices_.resize(mesh_->vertices.size());
    velocities_.resize(mesh_->vertices.size());
    normals_.resize(mesh_->vertices.size());
  }

  std::shared_ptr<const TriMesh> mesh_;
  std::vector<Vec3> vertices_, velocities_, normals_, colors_;
  std::vector<float> values_;
};

// One for each kind of body that has nodes.
/// Pieces of solids share what they carry in `carried`, which must outlive them.
std::unique_ptr<DeformingSurface> make_surface(Workers& workers, const World& world, BodyId body, const SolidDef& def,
                                               CarriedSurfaces& carried);
std::unique_ptr<DeformingSurface> make_surface(Workers& workers, const World& world, BodyId body, const JellyDef& def);
std::unique_ptr<DeformingSurface> make_surface(Workers& workers, const World& world, BodyId body, const ClothDef& def);
std::unique_ptr<DeformingSurface> make_surface(Workers& workers, const World& world, BodyId body, const RopeDef& def);
std::unique_ptr<DeformingSurface> make_surface(Workers& workers, const World& world, BodyId body,
                                               const LayeredDef& def);

}  // namespace pliant
