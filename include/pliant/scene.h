// Scenes: a world, what is in it and what happens to it, as plain data and as JSON files.
//
//   Result<Scene> scene = load_scene("scenes/pyramid.json");
//   Result<ScenePlayer> player = ScenePlayer::create(*scene);
//   for (int i = 0; i < scene->frames; ++i) player->step();
//
// The format is described, field by field, by schema/scene.schema.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pliant/defs.h"
#include "pliant/mesh.h"
#include "pliant/result.h"
#include "pliant/solid.h"
#include "pliant/timeline.h"
#include "pliant/world.h"

namespace pliant {

inline constexpr std::size_t kMaxSceneBytes = std::size_t{64} << 20;  ///< of one file
inline constexpr std::size_t kMaxSceneBodies = 100'000;  ///< after all copies are made; joints and anchors too
inline constexpr int kMaxSceneIncludeDepth = 16;

/// Where in a scene file something was said, for messages.
struct SceneSource {
  std::string file{};   ///< empty for a scene made in C++
  std::string field{};  ///< such as `bodies[3]`
  int line = 0;
};

/// What bodies of one stuff have in common.
struct SceneMaterial {
  float density = 1000;  ///< kg/m³
  float friction = 0.5f;
  float rolling_friction = 0;  ///< m
  float restitution = 0;
  Appearance appearance{};
};

/// Materials that every scene knows by name: "wood", "steel", "rubber" … A scene may define its own of the same name.
const std::map<std::string, SceneMaterial, std::less<>>& builtin_materials();

/// A mesh that shapes refer to by name. Either part may be null.
struct SceneMesh {
  std::shared_ptr<const TriMesh> surface{};
  std::shared_ptr<const TetMesh> solid{};
};

/// Every kind of body that a scene can hold.
using BodyDef = std::variant<GroundDef, RigidDef, SolidDef, ClothDef, RopeDef, JellyDef, LayeredDef>;
const std::string& body_name(const BodyDef& def);

struct SceneBody {
  BodyDef def;
  SceneSource source{};
};

struct SceneJoint {
  JointDef def;          ///< its `a` and `b` are filled in by the player
  std::string a{}, b{};  ///< names of bodies; empty: the world
  SceneSource source{};
};

struct SceneAnchor {
  AnchorDef def;             ///< its `body` and `to` are filled in by the player
  std::string body{}, to{};  ///< names of bodies; an empty `to`: the world
  SceneSource source{};
};

struct SceneMotion {
  std::string body;  ///< its name
  MotionPath path{};
  std::string held{};  ///< of a body of nodes: the name of the held part that moves; empty for all of its held nodes
  SceneSource source{};
};

/// Something that happens at a time. The ids within `action` are filled in by the player.
struct SceneEvent {
  using Action = std::variant<TimedForce, TimedImpulse, TimedExplosion, TimedMotor, TimedRemoval, TimedNodeForce,
                              TimedPressure, TimedTraction>;
  Action action;
  std::string body{};    ///< whom it is about: a name, or `name[*]` for all copies
  std::string joint{};   ///< … or a joint's name
  std::string anchor{};  ///< … or an anchor's
  SceneSource source{};
};

/// From where pictures are taken.
struct SceneCamera {
  Vec3 from{6, 4, 8};  ///< m
  Vec3 look_at{0, 1, 0};
  Vec3 up{0, 1, 0};
  float fov_degrees = 45;              ///< of the picture's height
  float orbit_degrees_per_second = 0;  ///< turns about `up` through `look_at`
  std::string follow{};                ///< a body; the camera keeps its distance to it
  bool automatic = true;               ///< the scene gives no camera: pictures frame what moves
};

struct SceneLight {
  enum class Kind : std::uint8_t { Sun, Point, Ambient };
  Kind kind = Kind::Sun;
  Vec3 direction{-0.4f, -1, -0.3f};  ///< in which a sun shines
  Vec3 position{0, 5, 0};            ///< of a point light, m
  Vec3 color{1, 1, 1};               ///< linear RGB, 0 to 1
  float intensity = 1;
  bool shadows = true;
};

struct Scene {
  std::string title, description;
  WorldDef world{};
  int frames = 300;  ///< steps of `world.dt` that show it all

  std::map<std::string, SceneMaterial, std::less<>> materials;
  std::map<std::string, SceneMesh, std::less<>> meshes;
  std::vector<SceneBody> bodies;  ///< names are unique unless empty
  std::vector<SceneJoint> joints;
  std::vector<SceneAnchor> anchors;
  std::vector<SceneMotion> motions;
  std::vector<SceneEvent> events;

  SceneCamera camera{};
  std::vector<SceneLight> lights;  ///< empty: the renderer's own

  std::vector<std::string> files;  ///< the scene's file and all that it includes, in the order read
};

/// All that is wrong with a scene file, in the order found, up to `kLimit`.
struct SceneErrors {
  static constexpr std::size_t kLimit = 20;
  std::vector<Error> list;
  bool more = false;  ///< there are more than are listed

  bool empty() const { return list.empty(); }
  /// One error per line.
  std::string to_string() const;
};

/// Reads and checks a scene file and what it includes. The error returned is the first one; `errors`, when not null,
/// gets all of them.
Result<Scene> load_scene(const std::filesystem::path& file, SceneErrors* errors = nullptr);
/// The same from text; `file` stands in messages, and paths in the text are relative to its folder.
Result<Scene> parse_scene(std::string_view json, const std::filesystem::path& file = "scene.json",
                          SceneErrors* errors = nullptr);

/// A scene at work: a world that is built from it, and the timeline that drives it.
class ScenePlayer {
 public:
  /// Errors say where in the scene's files the refused body, joint, anchor, motion or event stands.
  static Result<ScenePlayer> create(const Scene& scene);

  /// Applies what is due and advances the world by `WorldDef::dt`.
  const StepReport& step();

  World& world() { return world_; }
  const World& world() const { return world_; }
  Timeline& timeline() { return timeline_; }
  /// Null if there is none. Costs a search in a map.
  BodyId body(std::string_view name) const;
  JointId joint(std::string_view name) const;
  AnchorId anchor(std::string_view name) const;
  /// All bodies with a name, in the order of the scene.
  struct NamedBody {
    std::string name;
    BodyId body;
  };
  const std::vector<NamedBody>& named_bodies() const { return named_; }
  /// All anchors with a name, by it; some may be gone from the world.
  const std::map<std::string, AnchorId, std::less<>>& named_anchors() const { return anchors_; }

 private:
  explicit ScenePlayer(const WorldDef& def) : world_(def) {}
  friend class ScenePlayerBuilder;

  World world_;
  Timeline timeline_;
  std::vector<NamedBody> named_;
  std::map<std::string, BodyId, std::less<>> bodies_;
  std::map<std::string, JointId, std::less<>> joints_;
  std::map<std::string, AnchorId, std::less<>> anchors_;
};

}  // namespace pliant
