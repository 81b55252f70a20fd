// Writes glTF 2.0: meshes with materials, node hierarchies, and long animations.
//
//   Result<GlbWriter> glb = GlbWriter::create("run.glb");
//   const int box = glb->add_mesh({.primitives = {glb->add_primitive(mesh, glb->add_material({}))}});
//   const int node = glb->add_node({.name = "box", .mesh = box});
//   GlbTrack<Vec3> path;                             // per frame: path.append(time, position)
//   glb->animate_translation(node, path);
//   Status s = glb->finish();
//
// Binary data goes to a nameless temporary file beside the target as it is added, so a long recording costs memory
// only for its tracks; what was added early is never touched again. `finish` joins text and data and puts the file into
// place; without it nothing appears. The ending of the name chooses .glb (one binary file) or .gltf (text, the data as
// a base64 URI). Failed writes are kept and told by `finish`.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file.h"
#include "pliant/mesh.h"

namespace pliant {

struct GlbMaterial {
  std::string name = {};
  std::array<float, 4> base_color{0.8f, 0.8f, 0.8f, 1};  ///< linear RGB and alpha, each 0 to 1; alpha < 1 blends
  float metalness = 0;                                   ///< 0 to 1
  float roughness = 0.6f;                                ///< 0 to 1
  bool double_sided = false;
};

/// Displacements from the base positions; accessors made by `GlbWriter::add_displacements`.
struct GlbMorphTarget {
  int positions = -1;
  int normals = -1;
};

/// Triangles; the members are accessors made by the `add_*` calls below, or -1 for none.
struct GlbPrimitive {
  int positions = -1;
  int normals = -1;
  int uvs = -1;
  int colors = -1;
  int indices = -1;
  int material = -1;
  std::vector<GlbMorphTarget> targets = {};  ///< as many in every primitive of a mesh
};

struct GlbMesh {
  std::string name = {};
  std::vector<GlbPrimitive> primitives = {};
  std::vector<float> weights = {};  ///< of the morph targets at the start; empty means all 0
};

struct GlbNode {
  std::string name = {};
  int mesh = -1;
  int parent = -1;  ///< a node added before; -1 for a root of the scene
  Vec3 translation = {};
  Quat rotation = {};
  Vec3 scale{1, 1, 1};
};

/// The samples of one animated value. Samples that repeat the one before are left out where that does not change the
/// curve: a body at rest costs two keys, however long it rests.
template <typename T>
class GlbTrack {
 public:
  /// Times must increase.
  void append(float time, const T& value) {
    const std::size_t n = times_.size();
    if (n >= 2 && values_[n - 1] == value && values_[n - 2] == value) {
      times_[n - 1] = time;
      return;
    }
    times_.push_back(time);
    values_.push_back(value);
  }
  bool empty() const { return times_.empty(); }
  /// True if the value never changes, so that the node's own transform says it all.
  bool constant() const { return times_.size() <= 1 || (times_.size() == 2 && values_[0] == values_[1]); }
  std::span<const float> times() const { return times_; }
  std::span<const T> values() const { return values_; }

 private:
  std::vector<float> times_;
  std::vector<T> values_;
};

enum class GlbInterpolation { Linear, Step };

class GlbWriter {
 public:
  /// Errors: as `AtomicFile::create`; an ending other than .glb or .gltf.
  static Result<GlbWriter> create(const std::filesystem::path& target);

  GlbWriter(GlbWriter&&) noexcept;
  ~GlbWriter();

  // Accessors. An empty span gives -1. Values must be finite.
  int add_positions(std::span<const Vec3> positions);
  int add_normals(std::span<const Vec3> normals);  ///< made unit length where they are not; a zero normal becomes +Y
  int add_uvs(std::span<const Vec2> uvs);          ///< (0, 0) is the upper left of the picture, as in glTF
  int add_colors(std::span<const Vec3> colors);    ///< linear, 0 to 1; multiply the material's
  int add_indices(std::span<const Face> faces);    ///< 16 bits where they suffice
  int add_displacements(std::span<const Vec3> displacements);

  int add_material(const GlbMaterial& material);
  /// The accessors of a whole surface: positions, normals, uvs and faces.
  GlbPrimitive add_primitive(const TriMesh& mesh, int material = -1);
  int add_mesh(const GlbMesh& mesh);
  int add_node(const GlbNode& node);

  // Tracks of the file's one animation. An empty track adds nothing.
  void animate_translation(int node, const GlbTrack<Vec3>& track, GlbInterpolation how = GlbInterpolation::Linear);
  void animate_rotation(int node, const GlbTrack<Quat>& track, GlbInterpolation how = GlbInterpolation::Linear);
  void animate_scale(int node, const GlbTrack<Vec3>& track, GlbInterpolation how = GlbInterpolation::Linear);
  /// `weights` holds, for each time, one weight per morph target of the node's mesh.
  void animate_weights(int node, std::span<const float> times, std::span<const float> weights,
                       GlbInterpolation how = GlbInterpolation::Linear);

  /// Bytes of binary data so far. A .glb holds at most 4 GiB.
  std::uint64_t data_size() const;

  /// Writes the file into place. Errors: failed writes, misuse seen earlier (an index that does not exist, a value that
  /// is not finite, times that do not increase), more than 4 GiB.
  Status finish();

 private:
  struct Content;
  explicit GlbWriter(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace pliant
