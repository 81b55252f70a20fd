// Layered bodies as one body kind of the world: by slot, stage by stage, like `SolidEngine`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/parallel.h"
#include "collide/body_surface.h"
#include "collide/obstacle.h"
#include "layered/layered_body.h"
#include "pliant/queries.h"
#include "pliant/report.h"
#include "solve/island_guest.h"
#include "solve/rigid_rows.h"

namespace pliant {

/// The engine's part of a snapshot; opaque outside layered/.
struct LayeredSnapshot;

/// Sums over all layered bodies.
struct LayeredReport {
  std::size_t nodes = 0, tets = 0, rows = 0, iterations = 0, unconverged = 0;
};

class LayeredEngine {
 public:
  explicit LayeredEngine(Workers& workers);
  ~LayeredEngine();

  // --- Edits -------------------------------------------------------------------------------------------------------
  void add_body(BodyId id, std::unique_ptr<LayeredBody> body);
  void remove_body(std::uint32_t slot);
  void set_transform(std::uint32_t slot, const Transform& world_from_body);
  void set_velocity(std::uint32_t slot, Vec3 velocity, Vec3 angular_velocity);
  /// Spread over the body as its mass is, for the next step.
  void add_force(std::uint32_t slot, Vec3 force, Vec3 torque);
  /// On the nodes around the nearest point of the surface.
  void add_force_at(std::uint32_t slot, Vec3 force, Vec3 point);
  void add_impulse(std::uint32_t slot, Vec3 impulse, Vec3 angular_impulse);
  void add_impulse_at(std::uint32_t slot, Vec3 impulse, Vec3 point);
  void explode(std::uint32_t slot, const Explosion& explosion);
  void add_node_force(std::uint32_t slot, std::span<const std::uint32_t> nodes, Vec3 force);
  void add_surface_load(std::uint32_t slot, std::span<const std::uint32_t> nodes, float pressure, Vec3 traction);
  void set_nodes(std::uint32_t slot, std::span<const Vec3> positions, std::span<const Vec3> velocities);
  void set_friction(std::uint32_t slot, float friction);
  void set_gravity_scale(std::uint32_t slot, float scale);
  void set_filter(std::uint32_t slot, CollisionFilter filter);

  // --- The stages of a step ----------------------------------------------------------------------------------------
  void begin_step(float dt);
  /// Nodes near obstacles, along the motion of this substep.
  void find_contacts(std::span<const Obstacle> obstacles, Vec3 gravity, float dt);
  /// The same for a body that woke in the middle of the substep.
  void find_contacts(std::uint32_t slot, Vec3 gravity, float dt);
  void find_pushed_sleepers(std::span<const Obstacle> obstacles, std::vector<std::uint32_t>& slots) const;
  void for_each_link(void (*link)(void* context, BodyId a, BodyId b), void* context) const;
  /// The skins, as other bodies of nodes meet them.
  std::span<const BodySurface> list_surfaces();
  /// A node of a skin that something may press inward, and how fast that moves, m/s.
  struct Pressed {
    BodyId body;
    std::uint32_t node;
    Vec3 velocity;
  };
  /// Makes guests of those bodies that are solved together with others (`slots`, of any kind, ascending). `rigids` are
  /// the rigid bodies of their islands, ascending; `pressed` are sorted by body and node.
  void share(std::span<const std::uint32_t> slots, std::span<const SharedRigid> rigids,
             std::span<const Pressed> pressed, Vec3 gravity, float dt, SharedGuests& guests);
  void take_back(const SharedGuests& guests, float dt);
  /// Solves all other bodies that are awake, each alone.
  void solve_alone(Vec3 gravity, float dt);
  void advance(float dt);
  /// Plastic flow.
  void settle(float dt);
  void end_step();
  void find_lost(std::vector<std::uint32_t>& slots) const;
  void freeze(std::uint32_t slot);
  void thaw(std::uint32_t slot);
  void set_awake(std::uint32_t slot, bool awake);

  // --- Reading -----------------------------------------------------------------------------------------------------
  bool has(std::uint32_t slot) const { return slot < entries_.size() && entries_[slot] != nullptr; }
  std::span<const std::uint32_t> slots() const { return slots_; }  ///< ascending
  BodyId id(std::uint32_t slot) const;
  const LayeredBody& body(std::uint32_t slot) const;
  bool is_awake(std::uint32_t slot) const;
  bool is_dynamic(std::uint32_t slot) const { return !is_frozen(slot); }
  bool is_frozen(std::uint32_t slot) const;
  bool is_calm(std::uint32_t slot, float speed) const;
  BodyState state(std::uint32_t slot) const;
  Aabb bounds(std::uint32_t slot) const;
  std::span<const Face> faces(std::uint32_t slot) const;
  bool touches(std::uint32_t slot, BodyId other) const;
  std::span<const Vec3> node_positions(std::uint32_t slot) const;
  std::span<const Vec3> node_velocities(std::uint32_t slot) const;
  std::span<const Contact> contacts() const { return contacts_; }
  const LayeredReport& report() const { return report_; }
  /// Adds the momenta of all bodies that are not frozen, about the origin.
  void add_momenta(Vec3 gravity, double& kinetic, double& potential, double (&linear)[3], double (&angular)[3]) const;
  double elastic_energy() const;
  void add_to_hash(Hasher& hasher) const;
  void ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter,
                std::vector<RayHit>& hits) const;

  std::shared_ptr<const LayeredSnapshot> snapshot() const;
  void restore(const LayeredSnapshot& snapshot);

  struct Entry;

 private:
  Entry& entry(std::uint32_t slot) { return *entries_[slot]; }
  const Entry& entry(std::uint32_t slot) const { return *entries_[slot]; }
  void insert(BodyId id, std::unique_ptr<Entry> entry);
  void find_touches(Entry& entry, Vec3 gravity, float dt) const;
  Vec3 acceleration(const Entry& entry) const;
  void begin(Entry& entry, Vec3 gravity, float dt);
  void note_contacts(const Entry& entry);
  void note_contact(const Entry& entry, const NodeTouch& touch, Vec3 impulse);
  /// Of the surface triangle nearest to a point.
  template <typename Push>
  void push_at(std::uint32_t slot, Vec3 point, Push&& push);

  Workers& workers_;
  std::vector<std::unique_ptr<Entry>> entries_;  ///< by slot
  std::vector<std::uint32_t> slots_;
  ShapeProbes probes_;
  std::vector<const ShapeProbe*> obstacle_probes_;
  std::span<const Obstacle> obstacles_;  ///< of this substep
  std::vector<Contact> contacts_;
  LayeredReport report_;
  std::uint64_t revisions_ = 0;  ///< bodies so far
  // Scratch, kept for its memory.
  std::vector<BodySurface> surfaces_;
  std::vector<NodeTouchMemory> memory_;
};

}  // namespace pliant
