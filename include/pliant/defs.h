// What `World::add` takes: plain structs whose defaults simulate something sensible.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "pliant/ids.h"
#include "pliant/math.h"
#include "pliant/shapes.h"

namespace pliant {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// How solids meet each other and themselves. The ground and rigid bodies are always met by surface contacts.
enum class SolidContact : std::uint8_t {
  Surface,  ///< nodes against faces and edges against edges, with continuous detection: none gets into another
  Damped    ///< Parker and O'Brien 2009: tets that overlap brake each other; never chatters, and never mends an overlap
};

/// The world as a whole.
struct WorldDef {
  Vec3 gravity{0, -9.81f, 0};  ///< m/s²
  Vec3 wind{};                 ///< m/s; pushes solids, cloth, rope and jelly that have `drag`
  float dt = 1.0f / 60;        ///< s, what `step()` advances; 1e-6 to 1
  int substeps = 1;            ///< a step is solved in so many equal parts
  int iterations = 10;         ///< sweeps of the rigid solver per substep
  int threads = 0;             ///< 0: as many as the machine has. Results do not depend on it.

  // A body that is slower than both speeds for `sleep_delay`, like all it touches, falls asleep.
  bool allow_sleep = true;
  float sleep_speed = 0.02f;          ///< m/s
  float sleep_angular_speed = 0.02f;  ///< rad/s
  float sleep_delay = 1.0f;           ///< s

  float bounce_threshold = 0.2f;  ///< m/s; slower impacts do not bounce, so that things come to rest

  SolidContact solid_contact = SolidContact::Surface;
  float contact_damping = 1e7f;  ///< Pa s/m, of damped contacts: pressure over the speed of approach
};

/// How a body moves.
enum class Motion : std::uint8_t {
  Dynamic,    ///< by forces and contacts
  Kinematic,  ///< as told (velocity or target); pushes others, is never pushed
  Static      ///< not at all
};

/// Two bodies collide when each one's category is in the other's mask.
struct CollisionFilter {
  std::uint16_t category = 1;
  std::uint16_t mask = 0xffff;

  friend bool operator==(CollisionFilter a, CollisionFilter b) { return a.category == b.category && a.mask == b.mask; }
};

/// How a body looks in pictures and recordings; of no effect on the simulation. Linear RGB, 0 to 1.
struct Appearance {
  Vec3 color{0.6f, 0.62f, 0.65f};
  float opacity = 1;
  float roughness = 0.6f;
  float metalness = 0;
};

/// A rigid body.
struct RigidDef {
  std::string name{};  ///< for scenes, messages and `World::find`; need not be unique, may be empty
  Shape shape = Box{};
  Motion motion = Motion::Dynamic;
  float density = 1000;  ///< kg/m³; gives the mass, unless `mass` or `mass_properties` does

  Vec3 position{};  ///< of the shape's origin, m
  Quat rotation{};
  Vec3 velocity{};          ///< of the centre of mass, m/s
  Vec3 angular_velocity{};  ///< world axes, rad/s

  // Instead of the density: the mass, spread as the shape would, or all of it.
  std::optional<float> mass{};
  std::optional<MassProperties> mass_properties{};

  float friction = 0.5f;       ///< Coulomb's μ; a pair uses the geometric mean √(μ₁ μ₂)
  float rolling_friction = 0;  ///< m; resists rolling of round shapes; a pair uses the larger
  float restitution = 0;       ///< 0 to 1, share of the speed that bounces back; a pair uses the larger
  float linear_damping = 0;    ///< 1/s
  float angular_damping = 0;   ///< 1/s
  float gravity_scale = 1;
  CollisionFilter filter{};
  bool continuous = false;  ///< look for contacts along the whole motion: for small, fast bodies
  bool allow_sleep = true;
  bool start_asleep = false;

  Appearance appearance{};
};

/// Endless flat ground: a static plane.
struct GroundDef {
  std::string name = "ground";
  float height = 0;  ///< m
  float friction = 0.5f;
  float restitution = 0;
  CollisionFilter filter{};
  Appearance appearance{.color = {0.35f, 0.36f, 0.38f}};
};

/// A range that a joint keeps to: radians for a hinge, metres for a slider, 0 where the bodies are placed.
struct Limit {
  float lower = 0, upper = 0;
};
/// Drives a joint at `speed` (rad/s or m/s) with at most `strength` (N m or N).
struct Motor {
  float speed = 0;
  float strength = kInfinity;
};

enum class JointKind : std::uint8_t {
  Ball,    ///< the anchor points stay together
  Hinge,   ///< b turns about `axis` through the anchor, relative to a
  Slider,  ///< b slides along `axis`, relative to a, without turning
  Fixed    ///< a and b move as one
};

/// Joins two bodies, or one to the world. Anchor and axis are given in world coordinates as the bodies stand when the
/// joint is made.
struct JointDef {
  std::string name{};
  JointKind kind = JointKind::Ball;
  BodyId a{};                     ///< null: the world
  BodyId b{};                     ///< null: the world (not both)
  Vec3 anchor{};                  ///< m; of no meaning for `Fixed`
  Vec3 axis{0, 1, 0};             ///< for `Hinge` and `Slider`
  std::optional<Limit> limit{};   ///< for `Hinge` and `Slider`
  std::optional<Motor> motor{};   ///< for `Hinge` and `Slider`
  float break_force = kInfinity;  ///< N, averaged over a substep; beyond it the joint breaks and reports it
  bool bodies_collide = false;    ///< whether a and b collide with each other
};

/// A burst that pushes every dynamic body away from `center`: an impulse of `impulse_per_area` times the area that
/// the body's bounds show to the centre, falling linearly to nothing at `radius`.
struct Explosion {
  Vec3 center{};
  float radius = 5;               ///< m
  float impulse_per_area = 1000;  ///< N s/m² at the centre
};

}  // namespace pliant
