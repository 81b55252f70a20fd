// A scene being played with: its world, what is changed in it by hand, and what is thrown into it. Knows no window.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pliant/scene.h"
#include "render/scene_content.h"

#include "view/grab.h"
#include "view/history.h"
#include "view/screen.h"

namespace pliant {

/// The ball that is thrown.
struct BallTool {
  float radius = 0.2f;   ///< m
  float density = 2000;  ///< kg/m³
  float speed = 15;      ///< m/s
};

/// The brush that makes solids stronger or weaker.
struct PaintTool {
  float radius = 0.15f;  ///< m
  float factor = 0.2f;   ///< of the strength
};

/// A crack that is still shown.
struct RecentCrack {
  Crack crack;
  double time = 0;  ///< s, of the world
};

/// Values of a body that can be changed while it moves.
struct BodyTuning {
  float friction = 0.5f;
  std::optional<float> restitution = 0.0f;  ///< solids have none: what they give back is in their material
  float gravity_scale = 1;
};

class Session {
 public:
  static constexpr std::size_t kMostBalls = 300;  ///< beyond them the oldest goes

  /// Errors: those of the scene; `errors` gets all of them. `threads`: 0 for the scene's own number.
  static Result<std::unique_ptr<Session>> load(const std::filesystem::path& file, int threads,
                                               SceneErrors* errors = nullptr);
  /// The same with a scene that has no file.
  static Result<std::unique_ptr<Session>> create(Scene scene, std::string name, int threads,
                                                 SceneErrors* errors = nullptr);

  const Scene& scene() const { return scene_; }
  const std::string& name() const { return name_; }  ///< of a file, without folder and ending
  World& world() { return player_.world(); }
  const World& world() const { return player_.world(); }
  const ScenePlayer& player() const { return player_; }
  const History& history() const { return history_; }

  /// Brings the surfaces up to date with the world and returns them.
  const SceneContent& look();
  SceneContent& content() { return content_; }
  const SceneContent& content() const { return content_; }

  /// One step of `dt()`, with the scene's timeline and the pull of the hand.
  void step();
  /// The scene from its beginning. Gravity and time step stay as they were set; bodies are as the scene has them.
  void restart();

  // --- Live changes --------------------------------------------------------------------------------------------------
  float dt() const { return dt_; }
  void set_dt(float dt);
  Vec3 gravity() const { return gravity_; }
  void set_gravity(Vec3 gravity);
  /// What a body's values are now; nothing for a body that has none.
  std::optional<BodyTuning> tuning(BodyId body) const;
  void set_tuning(BodyId body, const BodyTuning& tuning);

  // --- The hand ------------------------------------------------------------------------------------------------------
  /// What lies under the ray.
  std::optional<RayHit> hit(const Ray& ray) const;
  bool can_be_grabbed(BodyId body) const;
  /// Takes hold of what the ray meets first; false if that is nothing, or nothing that moves by forces.
  bool grab(const Ray& ray);
  void release() { grab_.reset(); }
  Grab* grabbed() { return grab_ ? &*grab_ : nullptr; }
  const Grab* grabbed() const { return grab_ ? &*grab_ : nullptr; }
  /// Where the grabbed point is now.
  std::optional<Vec3> grabbed_position();

  void throw_ball(const Ray& ray, const BallTool& ball);
  Status explode(const Explosion& explosion);
  /// Sets the strength of the nodes around the point of a solid that the ray meets; false where it meets none.
  bool paint(const Ray& ray, const PaintTool& brush);

  /// Cracks of the last `kCracksShown` seconds, oldest first.
  static constexpr double kCracksShown = 0.5;
  const std::deque<RecentCrack>& cracks() const { return cracks_; }

  BodyId picked() const { return world().contains(picked_) ? picked_ : BodyId{}; }
  void pick(BodyId body) { picked_ = body; }

 private:
  Session(Scene scene, ScenePlayer player, std::string name);

  Scene scene_;
  ScenePlayer player_;
  std::string name_;
  SceneContent content_;
  History history_;
  float dt_;
  Vec3 gravity_;
  std::map<BodyId, BodyTuning> tunings_;  ///< of bodies that were changed
  std::deque<BodyId> balls_;
  std::deque<RecentCrack> cracks_;
  std::optional<Grab> grab_;
  BodyId picked_{};
};

/// How a body is called in the window: its name, or its number.
std::string body_title(const World& world, BodyId body);

}  // namespace pliant
