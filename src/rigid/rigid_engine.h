// Rigid bodies: Bullet behind plain types. The only folder that knows Bullet is this one.
//
// The engine is one body kind of the world. It holds its bodies by slot (the index of their ids), does the stages of a
// substep when told, and never decides what an edit means or who sleeps: that is the world's part.
//
// Bullet by itself depends on its history: on the order in which pairs were found, manifolds were made and bodies were
// removed. Here every stage is a function of the state alone: pairs come sorted from our own broad phase, manifolds are
// taken in the order of pairs, bodies in the order of slots. That is what makes a restored snapshot continue bit for
// bit (docs/determinism.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/parallel.h"
#include "pliant/defs.h"
#include "pliant/queries.h"
#include "pliant/report.h"
#include "pliant/world.h"
#include "rigid/rigid_shape.h"
#include "rigid/row_partner.h"
#include "solve/rigid_rows.h"

namespace pliant {

/// The engine's part of a snapshot; opaque outside rigid/.
struct RigidSnapshot;

/// Who solves the contacts and joints of a rigid body.
enum class Sharing : std::uint8_t {
  Own,        ///< this engine
  Elsewhere,  ///< another engine, with all the body's motion
  InTurn      ///< another engine, after this one has moved the body by its forces and by the partner's rows
};

/// Energy and momentum of all moving bodies.
struct Momenta {
  double kinetic = 0, potential = 0;
  double linear[3] = {}, angular[3] = {};
};

class RigidEngine {
 public:
  RigidEngine(const WorldDef& def, Workers& workers);
  ~RigidEngine();

  // --- Edits -----------------------------------------------------------------------------------------------------
  void add_body(BodyId id, const RigidDef& def, std::shared_ptr<const RigidShape> shape);
  void remove_body(std::uint32_t slot);
  /// A null id stands for the world.
  void add_joint(JointId id, const JointDef& def);
  void remove_joint(std::uint32_t slot);

  void set_transform(std::uint32_t slot, const Transform& world_from_body);
  void set_velocity(std::uint32_t slot, Vec3 velocity, Vec3 angular_velocity);
  /// Kinematic bodies: be there when the next step ends.
  void move_to(std::uint32_t slot, const Transform& world_from_body);
  /// For the next step, added to what was given before.
  void add_force(std::uint32_t slot, Vec3 force, Vec3 torque);
  void add_impulse(std::uint32_t slot, Vec3 impulse, Vec3 angular_impulse);
  void set_motor(std::uint32_t joint_slot, const Motor& motor);
  void set_friction(std::uint32_t slot, float friction);
  void set_restitution(std::uint32_t slot, float restitution);
  void set_gravity_scale(std::uint32_t slot, float scale);
  void set_filter(std::uint32_t slot, CollisionFilter filter);
  void set_gravity(Vec3 gravity);

  // --- The stages of a step ----------------------------------------------------------------------------------------
  /// Remembers where everything is, for roll-back, and starts kinematic bodies on their way.
  void begin_step(float dt);
  /// Velocities lose what damping takes; boxes cover the way the bodies are about to go.
  void predict(float dt);
  /// One body, that woke in the middle of the substep.
  void predict(std::uint32_t slot, float dt);
  /// Slots whose predicted velocity is not finite or beyond the simulable range.
  void find_runaways(std::vector<std::uint32_t>& slots) const;
  /// Broad phase, narrow phase, and for continuous bodies contacts along their path.
  void find_contacts(float dt);
  /// Calls of `link` for pairs of dynamic bodies that touch or are jointed.
  void for_each_link(void (*link)(void* context, std::uint32_t a, std::uint32_t b), void* context) const;
  /// Sleeping bodies that a moving kinematic body touches.
  void find_pushed_sleepers(std::vector<std::uint32_t>& slots) const;
  /// Solves the islands given: `bodies[starts[i] .. starts[i+1])` is island i; `island_of[slot]` tells which. Bodies in
  /// no island, or in one that is not in the list, are left alone.
  struct IslandList {
    std::span<const std::uint32_t> bodies, starts;
    std::span<const std::uint32_t> island_of;  ///< by slot; kNoIsland for the rest
    std::span<const Sharing> sharing{};        ///< by slot: whose contacts and joints are solved elsewhere
  };
  static constexpr std::uint32_t kNoIsland = 0xffffffff;
  /// Islands of the partner's bodies are solved in turn with its rows, the others as ever. Slots of other kinds in the
  /// lists are passed over.
  void solve(const IslandList& islands, float dt, RowPartner* partner = nullptr);
  /// A force for this substep, after `predict`.
  void push_in_substep(std::uint32_t slot, Vec3 force, Vec3 torque);
  /// How another engine solves some islands: before its solve, all about the bodies that `sharing` (by slot) names;
  /// after it, what became of them.
  void share(std::span<const Sharing> sharing, float dt, SharedRows& rows);
  void take_back(const SharedRows& rows, float dt);
  /// Moves awake bodies by their velocities. A body that nothing touched flies exactly (second order), as gravity and
  /// forces are constant over the substep.
  void advance(float dt);
  void end_step();
  /// Slots that are not finite, or farther from the origin than can be simulated.
  void find_lost(std::vector<std::uint32_t>& slots) const;
  /// Back to where the step began, at rest, static from now on; or let go again.
  void freeze(std::uint32_t slot);
  void thaw(std::uint32_t slot);
  void set_awake(std::uint32_t slot, bool awake);

  // --- Reading -----------------------------------------------------------------------------------------------------
  /// Ascending slots.
  std::span<const std::uint32_t> slots() const;
  std::span<const std::uint32_t> dynamic_slots() const;
  bool has(std::uint32_t slot) const;
  BodyId id(std::uint32_t slot) const;
  std::array<BodyId, 2> jointed_bodies(std::uint32_t joint_slot) const;
  /// Moves by forces: not static, kinematic or frozen.
  bool is_dynamic(std::uint32_t slot) const;
  bool is_awake(std::uint32_t slot) const;
  bool is_frozen(std::uint32_t slot) const;
  bool is_calm(std::uint32_t slot, float speed, float angular_speed) const;
  BodyState state(std::uint32_t slot) const;
  float friction(std::uint32_t slot) const;
  CollisionFilter filter(std::uint32_t slot) const;
  JointState joint_state(std::uint32_t slot) const;
  /// Contacts of all substeps since `begin_step`.
  std::span<const Contact> contacts() const;
  /// Joints over their breaking force in the last substep, with that force.
  void find_broken_joints(std::vector<JointBreak>& breaks) const;
  std::size_t row_count() const;
  Momenta momenta() const;
  void add_to_hash(Hasher& hasher) const;
  /// Bodies in touch with this one, as the last step found.
  void find_touching(std::uint32_t slot, std::vector<std::uint32_t>& slots) const;

  // --- Questions ---------------------------------------------------------------------------------------------------
  void update_for_queries();
  void ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter, bool all,
                std::vector<RayHit>& hits) const;
  void overlap(const RigidShape& shape, const Transform& world_from_shape, const QueryFilter& filter,
               std::vector<BodyId>& bodies) const;
  std::optional<ClosestPoint> closest_point(Vec3 point, float max_distance, const QueryFilter& filter) const;

  // --- Snapshots ---------------------------------------------------------------------------------------------------
  std::shared_ptr<const RigidSnapshot> snapshot() const;
  void restore(const RigidSnapshot& snapshot);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
