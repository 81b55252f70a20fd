// Recordings as one animated glTF file.
//
// A rigid body is a node whose place is animated. A body that deforms is a node with one morph target per frame. When a
// body gets another mesh it goes on as another node. Nodes that are not there yet or not any more are scaled to
// nothing.
#include <array>
#include <cmath>
#include <map>

#include "io/glb_writer.h"
#include "io/recording_sink.h"

namespace pliant {
namespace {

float distance(Vec3 a, Vec3 b) { return length(a - b); }
Vec3 blend(Vec3 a, Vec3 b, float u) { return a + u * (b - a); }
/// About half the angle between the two, in radians.
float distance(Quat a, Quat b) {
  const float sign = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0 ? -1.0f : 1.0f;
  return std::hypot(std::hypot(a.x - sign * b.x, a.y - sign * b.y), std::hypot(a.z - sign * b.z, a.w - sign * b.w));
}
Quat blend(Quat a, Quat b, float u) { return slerp(a, b, u); }

/// A track that leaves out the samples that a viewer interpolates to anyway, within `tolerance`.
template <typename T>
class ThinTrack {
 public:
  explicit ThinTrack(float tolerance) : tolerance_(tolerance) {}

  void append(float time, const T& value) {
    if (track_.empty()) return keep({time, value});
    // The sample before can go if the straight line to the new one passes all samples since the last key.
    if (!waiting_.empty() && (waiting_.size() >= kMostWaiting || !passes({time, value}))) {
      keep(waiting_.back());
      waiting_.clear();
    }
    waiting_.push_back({time, value});
  }
  const GlbTrack<T>& finished() {
    if (!waiting_.empty()) keep(waiting_.back());
    waiting_.clear();
    return track_;
  }

 private:
  struct Sample {
    float time;
    T value;
  };
  static constexpr std::size_t kMostWaiting = 60;

  bool passes(const Sample& to) const {
    for (const Sample& s : waiting_) {
      const float u = (s.time - key_.time) / (to.time - key_.time);
      if (!(distance(blend(key_.value, to.value, u), s.value) <= tolerance_)) return false;
    }
    return true;
  }
  void keep(const Sample& s) {
    track_.append(s.time, s.value);
    key_ = s;
  }

  float tolerance_;
  GlbTrack<T> track_;
  Sample key_{};
  std::vector<Sample> waiting_;
};

/// A body with one mesh: one node of the file.
struct Actor {
  RenderSurface surface;     ///< as first seen; without what belongs to the publisher
  std::vector<Vec3> colors;  ///< per vertex, or empty
  bool deforms;
  ThinTrack<Vec3> position;
  ThinTrack<Quat> rotation;
  GlbTrack<Vec3> scale;  ///< stepwise
  std::vector<GlbMorphTarget> targets;
  std::vector<float> target_times;
};

using MaterialKey = std::array<float, 7>;

class GlbSink final : public RecordingSink {
 public:
  explicit GlbSink(GlbWriter writer) : writer_(std::move(writer)) {}

  Status add_frame(const World& world, std::span<const RenderSurface> surfaces) override {
    const double time = world.time();
    const auto t = static_cast<float>(time);
    if (frames_ == 0) first_time_ = t;
    ++frames_;
    for (const RenderSurface& surface : surfaces) sample(t, surface);
    for (auto slot = current_.begin(); slot != current_.end();) {
      slot = slot->second.frame == frames_ ? std::next(slot) : end(t, slot);
    }
    return {};
  }

  Status finish() override {
    for (Actor& actor : actors_) write(actor);
    return writer_.finish();
  }

 private:
  struct Slot {
    std::size_t actor;
    std::uint64_t frame;  ///< that last had the body
  };

  void sample(float t, const RenderSurface& surface) {
    auto slot = current_.find(surface.body);
    if (slot != current_.end() && actors_[slot->second.actor].surface.revision != surface.revision) {
      end(t, slot);
      slot = current_.end();
    }
    if (slot == current_.end()) slot = current_.emplace(surface.body, Slot{begin(t, surface), 0}).first;
    slot->second.frame = frames_;
    Actor& actor = actors_[slot->second.actor];
    if (actor.deforms) {
      add_target(actor, t, surface);
    } else {
      actor.position.append(t, surface.world_from_body.position);
      actor.rotation.append(t, surface.world_from_body.rotation);
    }
  }

  std::size_t begin(float t, const RenderSurface& surface) {
    // A tenth of a thousandth of the body's size is not seen.
    const Vec3 size = surface.mesh->bounds().size();
    const float tolerance = surface.mesh->vertices.empty() ? 0 : 1e-4f * length(size);
    actors_.push_back({surface,
                       {surface.colors.begin(), surface.colors.end()},
                       surface.deforms(),
                       ThinTrack<Vec3>(tolerance),
                       ThinTrack<Quat>(1e-4f),
                       {},
                       {},
                       {}});
    Actor& actor = actors_.back();
    actor.surface.vertices = actor.surface.velocities = actor.surface.normals = actor.surface.colors = {};
    actor.surface.values = {};
    if (frames_ > 1) {
      actor.scale.append(first_time_, {0, 0, 0});
      actor.scale.append(t, {1, 1, 1});
    }
    return actors_.size() - 1;
  }

  std::map<BodyId, Slot>::iterator end(float t, std::map<BodyId, Slot>::iterator slot) {
    Actor& actor = actors_[slot->second.actor];
    if (actor.scale.empty()) actor.scale.append(first_time_, {1, 1, 1});
    actor.scale.append(t, {0, 0, 0});
    return current_.erase(slot);
  }

  void add_target(Actor& actor, float t, const RenderSurface& surface) {
    displacements_.clear();
    for (std::size_t i = 0; i < surface.vertices.size(); ++i) {
      displacements_.push_back(surface.vertices[i] - actor.surface.mesh->vertices[i]);
    }
    actor.targets.push_back({writer_.add_displacements(displacements_), -1});
    actor.target_times.push_back(t);
  }

  void write(Actor& actor) {
    GlbNode node;
    node.name = actor.surface.name;
    node.mesh = mesh_for(actor);
    const GlbTrack<Vec3>& position = actor.position.finished();
    const GlbTrack<Quat>& rotation = actor.rotation.finished();
    if (!position.empty()) node.translation = position.values()[0];
    if (!rotation.empty()) node.rotation = rotation.values()[0].normalized();
    if (!actor.scale.empty()) node.scale = actor.scale.values()[0];
    const int index = writer_.add_node(node);
    if (!position.constant()) writer_.animate_translation(index, position);
    if (!rotation.constant()) writer_.animate_rotation(index, rotation);
    if (!actor.scale.empty()) writer_.animate_scale(index, actor.scale, GlbInterpolation::Step);
    if (actor.targets.size() > 1) animate_weights(index, actor);
  }

  void animate_weights(int node, const Actor& actor) {
    const std::size_t n = actor.targets.size();
    std::vector<float> weights(n * n, 0.0f);
    for (std::size_t i = 0; i < n; ++i) weights[i * n + i] = 1;
    writer_.animate_weights(node, actor.target_times, weights);
  }

  /// Bodies of equal shape share their vertices; those that look the same as well share the whole mesh.
  int mesh_for(const Actor& actor) {
    Appearance look = actor.surface.appearance;
    if (!actor.colors.empty()) look.color = {1, 1, 1};
    const int material = material_for(look, actor.surface.is_sheet);
    if (actor.surface.mesh->faces.empty()) return -1;
    auto primitive = primitives_.find(actor.surface.mesh.get());
    if (primitive == primitives_.end()) {
      primitive = primitives_.emplace(actor.surface.mesh.get(), writer_.add_primitive(*actor.surface.mesh)).first;
    }
    GlbMesh mesh{{}, {primitive->second}, {}};
    mesh.primitives[0].material = material;
    if (actor.deforms) {
      mesh.primitives[0].colors = writer_.add_colors(actor.colors);
      mesh.primitives[0].targets = actor.targets;
      mesh.weights.assign(actor.targets.size(), 0);
      mesh.weights[0] = 1;
      return writer_.add_mesh(mesh);
    }
    const auto [found, is_new] = meshes_.try_emplace({actor.surface.mesh.get(), material}, -1);
    if (is_new) found->second = writer_.add_mesh(mesh);
    return found->second;
  }

  int material_for(const Appearance& look, bool two_sided) {
    const MaterialKey key{look.color.x,   look.color.y,   look.color.z,           look.opacity,
                          look.metalness, look.roughness, two_sided ? 1.0f : 0.0f};
    const auto [found, is_new] = materials_.try_emplace(key, -1);
    if (is_new) {
      GlbMaterial material;
      material.base_color = {key[0], key[1], key[2], key[3]};
      material.metalness = look.metalness;
      material.roughness = look.roughness;
      material.double_sided = two_sided;
      found->second = writer_.add_material(material);
    }
    return found->second;
  }

  GlbWriter writer_;
  std::vector<Actor> actors_;
  std::map<BodyId, Slot> current_;
  std::map<MaterialKey, int> materials_;
  std::map<const TriMesh*, GlbPrimitive> primitives_;  ///< the actors keep the meshes alive
  std::map<std::pair<const TriMesh*, int>, int> meshes_;
  std::vector<Vec3> displacements_;
  std::uint64_t frames_ = 0;
  float first_time_ = 0;
};

}  // namespace

Result<std::unique_ptr<RecordingSink>> create_glb_sink(const std::filesystem::path& target) {
  Result<GlbWriter> writer = GlbWriter::create(target);
  if (!writer) return writer.error();
  return std::unique_ptr<RecordingSink>(std::make_unique<GlbSink>(std::move(*writer)));
}

}  // namespace pliant
