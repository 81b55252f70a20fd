// The surface that a body shows to the world: what recorders write and the renderer draws.
//
// Those who look at surfaces never ask for a body's kind. A rigid body is a mesh that is moved as a whole; a body that
// deforms has the same mesh with vertices of its own at every step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "embed/carried_surface.h"
#include "embed/deforming_surface.h"
#include "pliant/defs.h"
#include "pliant/ids.h"
#include "pliant/mesh.h"
#include "pliant/world.h"

namespace pliant {

struct RenderSurface {
  BodyId body;
  std::string name;                     ///< may be empty
  std::shared_ptr<const TriMesh> mesh;  ///< at rest, in the body's frame; bodies of equal shape share one
  std::uint32_t revision = 0;           ///< goes up when the body gets another mesh, as by a crack or a tear
  Appearance appearance;
  bool moves = true;      ///< false for static bodies
  bool is_sheet = false;  ///< cloth: it is seen from both sides
  bool endless = false;   ///< a plane: its mesh is only a piece of it

  Transform world_from_body;
  Vec3 velocity;          ///< of the centre of mass, m/s
  Vec3 angular_velocity;  ///< rad/s
  Vec3 center_of_mass;    ///< world, m

  // Of a body that deforms, per vertex of the mesh, in world coordinates; else empty. They belong to the publisher.
  std::span<const Vec3> vertices;    ///< m
  std::span<const Vec3> velocities;  ///< m/s
  std::span<const Vec3> normals;     ///< unit
  std::span<const Vec3> colors;      ///< linear, instead of the appearance's; may be empty. They change with the mesh
  std::span<const float> values;     ///< what `SurfacePublisher::show` asks for; empty where the body has no such value

  bool deforms() const { return !vertices.empty(); }
  Vec3 vertex(std::size_t i) const { return deforms() ? vertices[i] : world_from_body * mesh->vertices[i]; }
  Vec3 vertex_velocity(std::size_t i) const {
    if (!velocities.empty()) return velocities[i];
    return velocity + cross(angular_velocity, vertex(i) - center_of_mass);
  }
};

/// Publishes the surfaces of a world as it goes along. Shapes are cut into triangles once, when they are first seen.
class SurfacePublisher {
 public:
  /// `detail`: segments of a full circle.
  explicit SurfacePublisher(int detail = 24) : detail_(detail) {}

  /// A value to give with every vertex of the solids; none at first.
  void show(std::optional<TetValue> value) { value_ = value; }

  /// The surfaces of all bodies now, in the order in which they were added to the world. Valid until the next call.
  std::span<const RenderSurface> update(const World& world);

 private:
  struct Known {
    RenderSurface surface;
    std::unique_ptr<DeformingSurface> nodes;  ///< of a body of nodes, else null
    std::uint64_t seen = 0;                   ///< the update that last met the body
  };
  Known first_look(const World& world, BodyId body);
  Known first_look_at_nodes(const World& world, BodyId body);
  std::shared_ptr<const TriMesh> mesh_of(const Shape& shape);

  int detail_;
  std::unique_ptr<Workers> workers_ = std::make_unique<Workers>();
  std::optional<TetValue> value_;
  std::uint64_t updates_ = 0;
  std::unique_ptr<CarriedSurfaces> carried_ = std::make_unique<CarriedSurfaces>();  ///< outlives what is known
  std::map<BodyId, Known> known_;
  std::map<std::string, std::weak_ptr<const TriMesh>> meshes_;  ///< by the shape's key
  std::vector<RenderSurface> surfaces_;
};

/// Equal for shapes of equal numbers; triangle meshes count as equal when they are the same object.
std::string shape_key(const Shape& shape);

}  // namespace pliant
