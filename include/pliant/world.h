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

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/defs.h"
#include "pliant/ids.h"
#include "pliant/layered.h"
#include "pliant/particle.h"
#include "pliant/queries.h"
#include "pliant/report.h"
#include "pliant/result.h"
#include "pliant/solid.h"

namespace pliant {

enum class BodyKind : std::uint8_t { Rigid, Solid, Particle, Layered };

/// A joint's reading.
struct JointState {
  /// N, on b, averaged over the last substep. It acts at the anchor; that of a `Fixed` joint, which has none, at b's
  /// centre of mass (at the origin where b is the world).
  Vec3 force{};
  /// N m, on b, about the point where `force` acts. About another point p it is torque + (point − p) × force.
  Vec3 torque{};
  /// Of a hinge: rad from where it was made, within −π to π: it wraps, and does not count turns. Of a slider: m.
  float position = 0;
  float speed = 0;  ///< rad/s or m/s; does not wrap
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
  Result<BodyId> add(const SolidDef& def);
  Result<BodyId> add(const LayeredDef& def);
  Result<BodyId> add(const ClothDef& def);
  Result<BodyId> add(const RopeDef& def);
  Result<BodyId> add(const JellyDef& def);
  Result<JointId> add(const JointDef& def);
  Result<AnchorId> add(const AnchorDef& def);
  /// Also removes the joints and anchors of the body.
  Status remove(BodyId body);
  Status remove(JointId joint);
  Status remove(AnchorId anchor);

  bool contains(BodyId body) const;
  bool contains(JointId joint) const;
  bool contains(AnchorId anchor) const;
  /// The first body, joint or anchor of that name, or a null id.
  BodyId find(std::string_view name) const;
  JointId find_joint(std::string_view name) const;
  AnchorId find_anchor(std::string_view name) const;
  /// All bodies, in the order in which they were added.
  std::vector<BodyId> bodies() const;
  /// The def a body was added with; an error for a body of another kind.
  Result<const RigidDef*> def(BodyId body) const;
  Result<const SolidDef*> solid_def(BodyId body) const;
  Result<const LayeredDef*> layered_def(BodyId body) const;
  /// Of a cloth, a rope or a jelly.
  Result<const ParticleDef*> particle_def(BodyId body) const;
  /// What a solid was part of before it broke off; a null id for a body that was added.
  BodyId parent(BodyId body) const;
  /// The body that was added, of which this one is a piece: itself where it was added.
  BodyId ancestor(BodyId body) const;
  /// For each node of a solid, the node of its ancestor's mesh as it was added. Nodes that came apart share theirs.
  Result<std::vector<std::uint32_t>> origin_nodes(BodyId solid) const;
  /// For each tet of a solid, the tet of that mesh. No tet is in two bodies.
  Result<std::vector<std::uint32_t>> origin_tets(BodyId solid) const;
  /// The def with which its ancestor was added: the whole of which a solid is a piece, or was one.
  Result<std::shared_ptr<const SolidDef>> origin_def(BodyId solid) const;
  /// Null for an id that is gone.
  std::optional<BodyKind> kind(BodyId body) const;
  /// The name a body was given; empty for none.
  std::string_view name(BodyId body) const;

  // --- Reading -------------------------------------------------------------------------------------------------------
  Result<BodyState> state(BodyId body) const;
  Result<JointState> state(JointId joint) const;
  Result<AnchorState> state(AnchorId anchor) const;
  /// Which of the islands of the last step the body was solved in, 0 to `StepReport::islands` - 1. None for a body that
  /// slept through it, that forces do not move, or that has come since.
  std::optional<std::size_t> island(BodyId body) const;

  // --- Bodies of nodes (solids, layered bodies, cloth, rope, jelly): reading ----------------------------------------
  // Nodes and tets are numbered as in the mesh; nodes that come of tearing follow them. Spans are valid until the next
  // step or edit.
  Result<std::span<const Vec3>> node_positions(BodyId body) const;
  Result<std::span<const Vec3>> node_velocities(BodyId body) const;
  /// The surface, three nodes for each triangle. A rope has none.
  Result<std::span<const Face>> surface_faces(BodyId body) const;
  /// The nodes that a selection names, ascending; an error where it names none of the body.
  Result<std::vector<std::uint32_t>> select_nodes(BodyId body, const NodeSelection& nodes) const;
  /// The pieces of a rope between its nodes, along it. Others have none.
  Result<std::span<const std::array<std::uint32_t, 2>>> rope_segments(BodyId body) const;
  /// Of a cloth that has `pressure`; an error for others, and for one that has torn.
  Result<GasState> gas(BodyId cloth) const;
  /// One value for each tet of a solid.
  Result<std::vector<float>> tet_values(BodyId solid, TetValue value) const;
  /// The force, in N, that holding the held nodes among these took in the last substep.
  Result<Vec3> held_force(BodyId body, const NodeSelection& nodes = AllNodes{}) const;

  // --- Bodies of nodes: holding and pushing --------------------------------------------------------------------------
  /// Held nodes stay where they are, whatever pulls at them, or go where they are driven. Of a layered body no nodes
  /// can be held: its core can.
  Status hold(BodyId body, const NodeSelection& nodes);
  Status release(BodyId body, const NodeSelection& nodes);
  // Driving moves the held ones of the nodes; an error where none of them is held.
  /// Held nodes: reach the place where `world_from_mesh` takes the mesh at rest by the end of the next step.
  Status drive(BodyId body, const NodeSelection& nodes, const Transform& world_from_mesh);
  /// Held nodes: move on at this velocity until told otherwise.
  Status drive(BodyId body, const NodeSelection& nodes, Vec3 velocity);
  /// Newtons on each of the nodes, during the next step.
  Status apply_node_force(BodyId body, const NodeSelection& nodes, Vec3 force);
  /// Pascals on the surface triangles all of whose nodes are selected, inward, during the next step. An
  /// error where there is no such triangle.
  Status apply_pressure(BodyId body, float pressure, const NodeSelection& nodes = AllNodes{});
  /// Newtons per square metre along the world's axes, on the same triangles, during the next step: a load that leans or
  /// shears. Areas are those when the step begins.
  Status apply_traction(BodyId body, Vec3 traction, const NodeSelection& nodes = AllNodes{});
  /// How strong a solid is at these nodes from now on, over what its material says; replaces what was there before.
  Status set_strength_factor(BodyId solid, const NodeSelection& nodes, float factor);
  /// The same for each of its nodes: those of `SolidDef::weakened` at first.
  Result<std::vector<float>> strength_factors(BodyId solid) const;
  /// Places all nodes at once; velocities may be left out.
  Status set_nodes(BodyId body, std::span<const Vec3> positions, std::span<const Vec3> velocities = {});

  // --- Pushing and placing -------------------------------------------------------------------------------------------
  /// Moves the body there at once, keeping its velocity. For kinematic bodies prefer `move_to`.
  Status set_transform(BodyId body, const Transform& world_from_body);
  Status set_velocity(BodyId body, Vec3 velocity, Vec3 angular_velocity);
  /// A kinematic body: reach that place by the end of the next step, pushing what is in the way.
  Status move_to(BodyId body, const Transform& world_from_body);
  // A body of nodes takes forces at the centre of mass spread over all of it, and forces at a point on the surface
  // nearest to it.
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
  /// The velocity of the air, m/s; it pushes what has `drag`.
  Status set_wind(Vec3 wind);
  Status wake(BodyId body);
  Status put_to_sleep(BodyId body);
  /// Lets a quarantined body move again from where it is frozen.
  Status release_from_quarantine(BodyId body);

  // --- Time ----------------------------------------------------------------------------------------------------------
  /// Advances by `WorldDef::dt`, or by `dt` seconds (1e-6 to 1).
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
  /// The first body of any kind on the ray, or all in order of distance. `direction` need not be of unit length.
  std::optional<RayHit> ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter = {}) const;
  std::vector<RayHit> ray_cast_all(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter = {}) const;
  /// Rigid bodies that touch the shape placed there, in order of id. The shape must be convex or a compound.
  Result<std::vector<BodyId>> overlap(const Shape& shape, const Transform& world_from_shape,
                                      const QueryFilter& filter = {}) const;
  /// The nearest surface point of any rigid body within `max_distance`.
  std::optional<ClosestPoint> closest_point(Vec3 point, float max_distance, const QueryFilter& filter = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
