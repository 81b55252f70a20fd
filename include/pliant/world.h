// The world: everything that moves, and the step that moves it.
//
//   pliant::World world;
//   world.add(pliant::GroundDef{});
//   pliant::BodyId ball = world.add(pliant::RigidDef{.shape = pliant::Sphere{0.2f}, .position = {0, 2, 0}}).value();
//   for (int i = 0; i < 60; ++i) world.step();
//   float height = world.state(ball)->world_from_body.position.y;
//
// Edits (adding, removing, setting, pushing) are checked at once and queued; they take effect, in the order given, when
// the next step begins or at `commit_edits()`. An id is valid from `add` on. A refused edit changes nothing, returns
// its `Error`, and is listed in the next `StepReport` in case nobody looked.
//
// A World is used by one thread at a time; different Worlds are independent.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/defs.h"
#include "pliant/ids.h"
#include "pliant/queries.h"
#include "pliant/report.h"
#include "pliant/result.h"

namespace pliant {

/// A joint's reading.
struct JointState {
  Vec3 force{};        ///< N, on b at the anchor, averaged over the last substep
  Vec3 torque{};       ///< N m, on b
  float position = 0;  ///< rad (hinge) or m (slider) from where it was made
  float speed = 0;     ///< rad/s or m/s
};

/// The whole state of a world at the end of a step. Cheap to copy: shapes are shared.
class Snapshot {
 public:
  Snapshot() = default;
  bool is_empty() const { return data_ == nullptr; }

 private:
  friend class World;
  struct Data;
  std::shared_ptr<const Data> data_;
};

class World {
 public:
  explicit World(const WorldDef& def = {});
  ~World();
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;

  // --- Bodies and joints ---------------------------------------------------------------------------------------------
  Result<BodyId> add(const GroundDef& def);
  Result<BodyId> add(const RigidDef& def);
  Result<JointId> add(const JointDef& def);
  /// Also removes the joints of the body.
  Status remove(BodyId body);
  Status remove(JointId joint);

  bool contains(BodyId body) const;
  bool contains(JointId joint) const;
  /// The first body or joint of that name, or a null id.
  BodyId find(std::string_view name) const;
  JointId find_joint(std::string_view name) const;
  /// All bodies, in the order in which they were added.
  std::vector<BodyId> bodies() const;
  /// The def a body was added with.
  Result<const RigidDef*> def(BodyId body) const;

  // --- Reading -------------------------------------------------------------------------------------------------------
  Result<BodyState> state(BodyId body) const;
  Result<JointState> state(JointId joint) const;
  /// Which of the islands of the last step the body was solved in, 0 to `StepReport::islands` - 1. None for a body that
  /// slept through it, that forces do not move, or that has come since.
  std::optional<std::size_t> island(BodyId body) const;

  // --- Pushing and placing -------------------------------------------------------------------------------------------
  /// Moves the body there at once, keeping its velocity. For kinematic bodies prefer `move_to`.
  Status set_transform(BodyId body, const Transform& world_from_body);
  Status set_velocity(BodyId body, Vec3 velocity, Vec3 angular_velocity);
  /// A kinematic body: reach that place by the end of the next step, pushing what is in the way.
  Status move_to(BodyId body, const Transform& world_from_body);
  /// Newtons during the next step, at the centre of mass or at a world point.
  Status apply_force(BodyId body, Vec3 force);
  Status apply_force(BodyId body, Vec3 force, Vec3 point);
  Status apply_torque(BodyId body, Vec3 torque);
  /// Newton seconds at once, at the centre of mass or at a world point.
  Status apply_impulse(BodyId body, Vec3 impulse);
  Status apply_impulse(BodyId body, Vec3 impulse, Vec3 point);
  Status apply_angular_impulse(BodyId body, Vec3 angular_impulse);
  Status explode(const Explosion& explosion);
  Status set_motor(JointId joint, const Motor& motor);
  Status set_friction(BodyId body, float friction);
  Status set_restitution(BodyId body, float restitution);
  Status set_gravity_scale(BodyId body, float scale);
  Status set_filter(BodyId body, CollisionFilter filter);
  Status set_gravity(Vec3 gravity);
  Status wake(BodyId body);
  Status put_to_sleep(BodyId body);
  /// Lets a quarantined body move again from where it is frozen.
  Status release_from_quarantine(BodyId body);

  // --- Time ----------------------------------------------------------------------------------------------------------
  /// Advances by `WorldDef::dt`, or by `dt` seconds (more than 0, at most 1).
  const StepReport& step();
  const StepReport& step(float dt);
  /// Carries out queued edits now, so that queries see them.
  void commit_edits();

  const WorldDef& def() const;
  const StepReport& report() const;
  Events events() const;
  double time() const;
  /// Of everything that decides the future; computed in fixed order.
  std::uint64_t hash() const;

  /// The state between steps (queued edits are committed first). `restore` brings it back in this or another world:
  /// from there the run continues bit for bit as it did.
  Snapshot snapshot();
  Status restore(const Snapshot& snapshot);

  /// While on, every stage of every step is noted; `trace_json` gives it in Chrome's trace format.
  void record_trace(bool on);
  std::string trace_json() const;

  // --- Questions -----------------------------------------------------------------------------------------------------
  /// The first thing on the ray, or all things in order of distance. `direction` need not be of unit length.
  std::optional<RayHit> ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter = {}) const;
  std::vector<RayHit> ray_cast_all(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter = {}) const;
  /// Bodies that touch the shape placed there, in order of id. The shape must be convex or a compound.
  Result<std::vector<BodyId>> overlap(const Shape& shape, const Transform& world_from_shape,
                                      const QueryFilter& filter = {}) const;
  /// The nearest surface point of any body within `max_distance`.
  std::optional<ClosestPoint> closest_point(Vec3 point, float max_distance, const QueryFilter& filter = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
