// What the GPU knows of the surfaces: their meshes, uploaded once, and what is drawn with each in this picture.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "embed/render_surface.h"
#include "render/color_map.h"
#include "render/gl_objects.h"

namespace pliant {

/// Numbers of the vertex attributes, as in shaders_surface.cpp.
enum VertexLayout : GLuint {
  kPosition,
  kNormal,
  kValue,
  kRow0,
  kRow1,
  kRow2,
  kColor,
  kMaterial,
  kVelocity,
  kSpin,
  kCenter,
  kTint
};

/// One surface as the shaders see it. Only floats, without padding.
struct Instance {
  std::array<float, 12> world_from_mesh{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};  ///< by rows
  std::array<float, 4> color{};                                               ///< linear; opacity last
  std::array<float, 3> material{};  ///< roughness, metalness, 1 where coloured by value
  Vec3 velocity, spin, center;
};

Instance instance_of(const RenderSurface& surface, ColorBy by);
/// A mesh of unit size placed by a scale per axis, turned and moved.
Instance instance_of(const Axes& axes, Vec3 scale, Vec3 position, const Appearance& appearance);

/// A mesh on the GPU.
class GpuMesh {
 public:
  /// `colors` is empty or one per vertex.
  explicit GpuMesh(const TriMesh& mesh, std::span<const Vec3> colors = {});
  /// Other vertices for the same faces. `values` is empty or one per vertex.
  void update(std::span<const Vec3> vertices, std::span<const Vec3> normals, std::span<const float> values);

  void draw_faces(const GlBuffer& instances, std::size_t first, std::size_t count) const;
  /// Every edge once, as lines. Finds the edges at the first call.
  void draw_edges(const TriMesh& mesh, const GlBuffer& instances, std::size_t first, std::size_t count);

  const Aabb& bounds() const { return bounds_; }

 private:
  void bind_instances(const GlBuffer& instances, std::size_t first) const;

  GlVertexArray array_;
  GlBuffer positions_, normals_, values_, colors_, faces_, edges_;
  GLsizei index_count_ = 0, edge_count_ = 0;
  Aabb bounds_;
};

/// One draw call: instances of one mesh, next to each other in the buffer of instances.
struct Batch {
  GpuMesh* gpu = nullptr;
  const TriMesh* mesh = nullptr;
  std::size_t first = 0, count = 0;
};

/// Keeps meshes as long as surfaces use them and sorts the surfaces of a picture into batches.
class GpuMeshes {
 public:
  /// A sphere about a surface, for shadows and sorting.
  struct Ball {
    Vec3 center;
    float radius = 0;
  };

  /// Takes in the surfaces of a picture.
  void update(std::span<const RenderSurface> surfaces, Vec3 eye, ColorBy by);
  /// More opaque instances of a mesh of the caller's, after `update` and before `upload`.
  void add(const std::shared_ptr<const TriMesh>& mesh, std::span<const Instance> instances);
  void upload();

  const std::vector<Batch>& opaque() const { return opaque_; }
  /// One surface each, the farthest first.
  const std::vector<Batch>& transparent() const { return transparent_; }
  const std::vector<Ball>& balls() const { return balls_; }
  const GlBuffer& instances() const { return buffer_; }

 private:
  struct Slot {
    std::shared_ptr<const TriMesh> mesh;
    std::unique_ptr<GpuMesh> gpu;
    std::uint64_t seen = 0;
  };
  struct Drawn {
    float distance;  ///< from the eye
    Slot* slot;
    Instance instance;
  };
  Slot& slot_of(const std::shared_ptr<const TriMesh>& mesh);
  Slot& slot_of_deforming(const RenderSurface& surface, ColorBy by);
  void add_batch(std::vector<Batch>& batches, Slot& slot, std::span<const Instance> instances);
  void drop_unseen();

  std::uint64_t updates_ = 0;
  std::map<const TriMesh*, Slot> shared_;
  std::map<BodyId, Slot> deforming_;
  std::vector<Instance> instances_;
  std::vector<Batch> opaque_, transparent_;
  std::vector<Ball> balls_;
  GlBuffer buffer_;
};

}  // namespace pliant
