// Cloth, rope and jelly as one body kind of the world: by slot, stage by stage, like `RigidEngine`.
//
// All bodies share one array of nodes, so that rows may join any of them. A substep goes:
//   predict         velocities feel gravity, air, pressure, and the soft rows (shear, bending)
//   find_contacts   nodes against rigid shapes along their way
//   begin_solve     chains are prepared; impulses of the last substep are applied again
//   solve_round     chains, anchors, contacts; called in turn with the rigid solver
//   end_solve       taut lines are stiffened, contacts have the last word
//   advance         positions move; what is still too long is shortened
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
#include "collide/body_surface.h"
#include "collide/obstacle.h"
#include "math/point_masses.h"
#include "particle/node_search.h"
#include "particle/particle_model.h"
#include "particle/rigid_meetings.h"
#include "particle/surface_meetings.h"
#include "particle/tear.h"
#include "pliant/queries.h"
#include "pliant/report.h"
#include "solve/contact_groups.h"
#include "solve/contact_rows.h"
#include "solve/island_guest.h"
#include "solve/shared_nodes.h"
#include "solve/solid_point.h"

namespace pliant {

class LoadedRows;
struct TiePoint;

/// The engine's part of a snapshot; opaque outside particle/.
struct ParticleSnapshot;

/// Sums over all particle bodies.
struct ParticleReport {
  std::size_t nodes = 0, rows = 0;
  float max_stretch = 0;
  bool overflowed = false;  ///< a search for contacts was cut short
};

class ParticleEngine {
 public:
  explicit ParticleEngine(Workers& workers);
  ~ParticleEngine();

  // --- Edits -------------------------------------------------------------------------------------------------------
  void add_body(BodyId id, std::shared_ptr<const ParticleDef> def, std::shared_ptr<const ParticleModel> model);
  void remove_body(std::uint32_t slot);
  void set_transform(std::uint32_t slot, const Transform& world_from_body);
  void set_velocity(std::uint32_t slot, Vec3 velocity, Vec3 angular_velocity);
  /// Spread over the body as its mass is, for the next step.
  void add_force(std::uint32_t slot, Vec3 force, Vec3 torque);
  /// On the nodes around the nearest point of the body.
  void add_force_at(std::uint32_t slot, Vec3 force, Vec3 point);
  void add_impulse(std::uint32_t slot, Vec3 impulse, Vec3 angular_impulse);
  void add_impulse_at(std::uint32_t slot, Vec3 impulse, Vec3 point);
  void explode(std::uint32_t slot, const Explosion& explosion);
  void add_node_force(std::uint32_t slot, std::span<const std::uint32_t> nodes, Vec3 force);
  /// On the surface triangles all of whose nodes are listed.
  void add_surface_load(std::uint32_t slot, std::span<const std::uint32_t> nodes, float pressure, Vec3 traction);
  void set_nodes(std::uint32_t slot, std::span<const Vec3> positions, std::span<const Vec3> velocities);
  void hold(std::uint32_t slot, std::span<const std::uint32_t> nodes, bool is_held);
  /// Held nodes: be where this takes the body at rest when the next step ends; or move on at a velocity.
  void drive(std::uint32_t slot, std::span<const std::uint32_t> nodes, const Transform& world_from_mesh);
  void drive(std::uint32_t slot, std::span<const std::uint32_t> nodes, Vec3 velocity);
  void set_friction(std::uint32_t slot, float friction);
  void set_gravity_scale(std::uint32_t slot, float scale);
  void set_filter(std::uint32_t slot, CollisionFilter filter);
  /// Ties nodes to where they are on a rigid body (`world_from_rigid` now), or in the world for a null id.
  void add_anchor(AnchorId id, std::uint32_t slot, std::span<const std::uint32_t> nodes, BodyId to,
                  const Transform& world_from_rigid, float break_force);
  /// Ties nodes to the nearest of `to_nodes` of another body of nodes, or to the nearest point of it if there are none.
  void add_tie(AnchorId id, std::uint32_t slot, std::span<const std::uint32_t> nodes, BodyId to,
               std::span<const std::uint32_t> to_nodes, float break_force);
  /// Ties nodes to points of a solid, one for each.
  void add_solid_tie(AnchorId id, std::uint32_t slot, std::span<const std::uint32_t> nodes, BodyId to,
                     std::span<const SolidPoint> points, float break_force);
  /// A solid came apart: what was tied to it is tied to the piece that has the tet.
  void follow_pieces(std::span<const SolidPiece> pieces);
  bool has_ties_to(BodyId solid) const;
  void remove_anchor(std::uint32_t anchor_slot);

  // --- The stages of a step ------------------------------------------------------------------------------------------
  void begin_step(float dt);
  void predict(Vec3 gravity, Vec3 wind, float h);
  /// Sleeping bodies that something awake and moving has come near to.
  void find_pushed_sleepers(std::span<const Obstacle> obstacles, std::vector<std::uint32_t>& slots) const;
  /// Where nodes are tied to solids; before contacts are searched, with the places of these points in the same order.
  void list_solid_points(std::vector<PlacedPoint>& points) const;
  void place_solid_ties(std::span<const PlacedPoint> points, float h);
  std::span<const TiedNode> tied_to_solids() const { return tied_nodes_; }
  void find_contacts(std::span<const Obstacle> obstacles, float h);
  /// All surfaces, as solids meet them in this substep; ascending ids.
  std::span<const BodySurface> list_surfaces();
  /// Where nodes touch solids, one row for each meeting; nodes are those of the body.
  void take_solid_rows(std::span<const PointContact> rows);
  /// Which bodies the islands of solids solve whole: those that are tied to solids or carry heavy ones. `slots` are all
  /// bodies of such islands, ascending; masses by slot, of those that `solid_rows` name.
  void find_guests(std::span<const std::uint32_t> slots, std::span<const float> mass_of);
  /// Calls of `link` for pairs of bodies that rows join, both moved by forces.
  void for_each_link(void (*link)(void* context, std::uint32_t a, std::uint32_t b), void* context) const;
  /// The same with solids that nodes are tied to.
  void for_each_solid_link(void (*link)(void* context, BodyId a, BodyId b), void* context) const;
  /// The rigid bodies that rows act on, ascending; the solve gets their motions in this order.
  std::span<const std::uint32_t> rigid_slots() const { return rigid_slots_; }
  void begin_solve(std::span<RigidBodyMotion> rigid, float h);
  void solve_round(std::span<RigidBodyMotion> rigid, float h);
  void end_solve(std::span<RigidBodyMotion> rigid, float h);
  /// The nodes that touch solids, for the islands of these; and what became of them.
  void share(SharedBodies& shared, float h);
  void take_back(const SharedBodies& shared);
  /// Adds bodies that are to be solved whole, and takes them back out of the list.
  void share_guests(SharedGuests& guests, float h);
  void take_back_guests(SharedGuests& guests);
  /// When all rows are solved: contacts and forces of anchors, to be read.
  void note_solved(float h);
  void advance(float h);
  /// What was pulled too hard tears.
  void settle(float h, std::vector<Tear>& tears);
  void find_broken_anchors(float h, std::vector<AnchorBreak>& breaks);
  void end_step();
  void find_lost(std::vector<std::uint32_t>& slots) const;
  void freeze(std::uint32_t slot);
  void thaw(std::uint32_t slot);
  void set_awake(std::uint32_t slot, bool awake);

  // --- Reading -------------------------------------------------------------------------------------------------------
  bool has(std::uint32_t slot) const { return slot < bodies_.size() && bodies_[slot] != nullptr; }
  std::span<const std::uint32_t> slots() const { return slots_; }  ///< ascending
  BodyId id(std::uint32_t slot) const;
  const ParticleModel& model(std::uint32_t slot) const;
  bool has_awake_bodies() const;
  /// The shortest of what the awake bodies ask for, s; infinite if all sleep.
  float longest_substep() const;
  bool is_awake(std::uint32_t slot) const;
  bool is_dynamic(std::uint32_t slot) const { return !is_frozen(slot); }
  bool is_frozen(std::uint32_t slot) const;
  bool is_calm(std::uint32_t slot, float speed) const;
  BodyState state(std::uint32_t slot) const;
  Aabb bounds(std::uint32_t slot) const;
  bool touches(std::uint32_t slot, BodyId other) const;
  /// Calls `wake(slot)` for what touches a body; or for what an anchor ties.
  template <typename Wake>
  void wake_touching(std::uint32_t slot, Wake&& wake) const {
    for (const NodeContact& row : rigid_contacts_) {
      if (row.slot == slot) wake(row.other.index);
    }
    for (const PointContact& row : point_contacts_) {
      if (row.slot == slot) wake(row.other.index);
    }
    for (const FeatureContact& row : meetings_.contacts()) {
      if (row.slots[0] == slot) wake(row.slots[1]);
      if (row.slots[1] == slot) wake(row.slots[0]);
    }
  }
  template <typename Wake>
  void wake_anchored(std::uint32_t anchor_slot, Wake&& wake) const {
    for (const BodyId id : anchored_bodies(anchor_slot)) {
      if (!id.is_null()) wake(id.index);
    }
  }
  /// None for an anchor that is gone.
  std::array<BodyId, 2> anchored_bodies(std::uint32_t anchor_slot) const;
  std::span<const Vec3> node_positions(std::uint32_t slot) const;
  std::span<const Vec3> node_velocities(std::uint32_t slot) const;
  std::span<const Face> faces(std::uint32_t slot) const;
  std::span<const std::array<std::uint32_t, 2>> segments(std::uint32_t slot) const;
  std::optional<GasState> gas(std::uint32_t slot) const;
  /// Tension of chains only; what bending and shear add is left out.
  bool is_held(std::uint32_t slot, std::uint32_t node) const;
  Vec3 held_force(std::uint32_t slot, std::span<const std::uint32_t> nodes) const;
  AnchorState anchor_state(std::uint32_t anchor_slot) const;
  /// Those of the step go to the end of `contacts`, without a copy where that is empty.
  void take_contacts(std::vector<Contact>& contacts);
  const ParticleReport& report() const { return report_; }
  void add_momenta(Vec3 gravity, double& kinetic, double& potential, double (&linear)[3], double (&angular)[3]) const;
  void add_to_hash(Hasher& hasher) const;
  void ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter,
                std::vector<RayHit>& hits) const;

  std::shared_ptr<const ParticleSnapshot> snapshot() const;
  void restore(const ParticleSnapshot& snapshot);

  struct Body;
  struct Anchor;
  struct AnchorNode;

 private:
  Body& body(std::uint32_t slot) { return *bodies_[slot]; }
  const Body& body(std::uint32_t slot) const { return *bodies_[slot]; }
  std::span<Vec4> positions(const Body& body);
  std::span<Vec4> velocities(const Body& body);
  std::span<const Vec4> positions(const Body& body) const;
  std::span<const Vec4> velocities(const Body& body) const;
  std::span<const float> masses(const Body& body) const;
  static void make_jelly(Body& body, const ParticleModel& model);
  void insert(BodyId id, std::unique_ptr<Body> body);
  /// A body of an earlier state, with everything but its nodes.
  void adopt_body(BodyId id, std::unique_ptr<Body> known);
  template <typename Visit>
  void for_each_active(Visit&& visit);
  /// Calls `push(node, share)` so that the shares of all nodes are those of `linear` at the centre of mass and of
  /// `angular` about it.
  template <typename Push>
  void spread(const Body& body, Vec3 linear, Vec3 angular, Push&& push);
  template <typename Push>
  void at_nearest(const Body& body, Vec3 point, Push&& push) const;
  void push_node(std::uint32_t node, Vec3 impulse);
  void rest_nodes(Body& body);
  void update_mass(const Body& body, std::uint32_t node);

  void hold_jellies(float sign);
  void predict_jellies(float h);
  void apply_air(Body& body, Vec3 wind, float h);
  /// The volume within the surface; `outward`, if there is one, gets how it grows with each node.
  float enclosed_volume(const Body& body, std::vector<Vec3>* outward) const;
  void begin_gas(Body& body, float h);
  void solve_gas(Body& body);
  void apply_damping(Body& body, float h);
  void damp_pieces(Body& body, float h);
  void sort_by_piece(const Body& body);
  void damp_carriers(float h);
  bool carries_rigid(const Body& body) const;
  bool has_held_nodes(const Body& body) const;
  Aabb bounds_of_way(const Body& body, float h);
  void renew_looks(Body& body, float h);
  void find_point_contacts(std::span<const Obstacle> obstacles, float h);
  void find_node_contacts(Body& body, std::span<const Obstacle> obstacles, float h);
  void place_anchors(std::span<const Obstacle> obstacles, float h);
  bool does_not_meet(std::uint32_t node, BodyId other) const;
  TiePoint nearest_point(const Body& body, Vec3 point) const;
  std::array<std::uint32_t, 3> corners(const Body& body, const TiePoint& point) const;
  void place_tie(std::uint32_t anchor_slot, float h);
  void put_anchor(std::unique_ptr<Anchor> anchor);
  static Vec3 draw_velocity(Vec3 apart, float h);
  void drop_tied_contacts();
  void merge_shares();
  void find_tie_gains();
  void solve_chains(Body& body);
  void solve_chains_of(const TieRow& row);
  void solve_tied_chains(std::span<RigidBodyMotion> rigid);
  bool is_attached(const Body& body, std::uint32_t node) const;
  void tear(Body& body, float h, std::vector<Tear>& tears);
  void take_torn(Body& body, std::shared_ptr<const ParticleModel> model, std::span<const NodeCopy> copies);
  void find_unmet(Anchor& anchor, const Obstacle& obstacle, const ShapeProbe& probe);
  void hold_fixed(const Anchor& anchor, AnchorNode& node);
  void release_fixed(const Anchor& anchor, AnchorNode& node);
  void number_rigid_bodies();
  void find_meetings(float h);
  void warm_start_rows(std::span<RigidBodyMotion> rigid, float h);
  void forget_impulses(Body& body);
  /// While chains are solved, an anchored node has its share of the rigid body's mass.
  void share_masses(std::span<const RigidBodyMotion> rigid);
  float response_along_chains(const AnchorRow& row, const RigidBodyMotion& motion);
  void begin_sharing();
  void end_sharing();
  template <typename Visit>
  void for_each_touched_part(Visit&& visit);
  void sweep_rows(std::span<RigidBodyMotion> rigid, float h, int sweeps);
  bool may_be_loaded(const Body& body) const;
  void find_loaded(std::span<const RigidBodyMotion> rigid);
  void find_load_pattern(Body& body);
  void begin_loaded(std::span<const RigidBodyMotion> rigid, float h);
  void list_load_springs(Body& body, float h);
  void add_segments(const Body& body, float h);
  void add_touches(const Body& body, float h);
  void add_rigid_rows(float h);
  void solve_loaded(std::span<RigidBodyMotion> rigid);
  void end_loaded();
  void find_springs(Body& body);
  void share_nodes(Body& body, SharedNodes& nodes, float h);
  void share_rows(Body& body, SharedNodes& nodes);
  bool is_laden(const Body& body, std::span<const float> mass_of);
  void begin_guest(Body& body, float h);
  void list_guest_rows(const Body& body, SharedGuest& guest) const;
  void list_guest_ties(const Body& body, SharedGuest& guest) const;
  void take_guest_rows(Body& body, const SharedGuest& guest);
  void note_touches(const Body& body);
  void note_touches(const Body& body, std::span<const ContactGroup> groups, Contact* to) const;
  void note_contacts();
  void note_reactions(float h);
  void note_fixed_reactions();

  Workers& workers_;
  Workers alone_{1};                           ///< for what is one of many things side by side
  std::vector<std::unique_ptr<Body>> bodies_;  ///< by slot
  std::vector<std::uint32_t> slots_;
  std::vector<std::unique_ptr<Anchor>> anchors_;  ///< by slot

  // All nodes of all bodies, each body's together.
  std::vector<Vec4> x_, v_;     ///< v.w is the inverse mass, 0 for nodes that rows do not move
  std::vector<float> masses_;   ///< kg
  std::vector<Vec3> forces_;    ///< N, the user's, for this step
  std::vector<Vec4> x_before_;  ///< where the step began
  std::vector<Vec4> v_before_;  ///< when the substep began

  // Of this substep.
  std::vector<std::uint32_t> rigid_slots_;
  std::vector<NodeContact> rigid_contacts_, rigid_before_;  ///< by node; those of the substep before
  SurfaceMeetings meetings_;
  std::vector<SurfaceBody> surface_bodies_;
  std::vector<BodySurface> open_surfaces_;
  RigidMeetings rigid_meetings_;
  std::vector<PointContact> point_contacts_, points_before_;  ///< with rigid bodies; those of the substep before
  std::vector<PointContact> solid_rows_;  ///< with solids; `count` 0 for those of bodies that are not active
  /// A contact that an island of solids has solved again.
  struct SharedRow {
    ContactGroup* group = nullptr;
    std::uint32_t lane = 0;
    NodeContact* node = nullptr;
    PointContact* point = nullptr;
  };
  std::vector<SharedRow> shared_rows_;
  std::vector<std::uint32_t> shared_slots_;  ///< scratch
  std::unique_ptr<LoadedRows> loaded_;
  std::vector<Vec4> unloaded_;                                  ///< scratch
  std::vector<std::pair<std::uint32_t, std::uint32_t>> loads_;  ///< scratch: slots, and rigid bodies that they touch
  std::vector<std::uint8_t> ring_of_;    ///< scratch: by node of a body, how far from what touches, 0: farther
  std::uint64_t surface_revisions_ = 0;  ///< so far
  /// A node that is tied to a solid.
  struct SolidTie {
    std::uint32_t slot, anchor, index;  ///< of the body; whose it is
    GuestTie tie;
  };
  std::vector<SolidTie> solid_ties_;
  std::vector<TiedNode> tied_nodes_;
  std::vector<std::pair<std::uint32_t, Vec3>> laden_by_;  ///< scratch: bodies, and normals of rows with them
  std::size_t first_guest_ = 0;                           ///< of its own, in the list of guests
  std::vector<AnchorRow> anchor_rows_;
  std::vector<TieRow> tie_rows_;
  std::vector<std::pair<std::uint32_t, BodyId>> ties_;  ///< nodes and what they are anchored to
  std::vector<std::pair<std::uint32_t, BodyId>>
      unmet_;  ///< nodes and what they do not meet, sorted: these and near ones
  struct Shared {
    std::uint32_t node;
    float weight_before, weight;
    Vec3 velocity_before;
  };
  std::vector<Shared> anchor_shares_;
  struct TieProbe {
    std::vector<Vec4> v;
    Chains::Memory impulses;
  };
  std::array<TieProbe, 2> tie_probes_;  ///< scratch
  /// Of one piece of a body, and all nodes of the body by piece.
  struct DampedNodes {
    std::vector<Vec4> x, v;
    std::vector<float> masses;
    std::vector<std::uint32_t> order, ends;
  };
  DampedNodes damped_;                                   ///< scratch
  std::vector<std::uint32_t> anchored_node_;             ///< scratch, kept for its memory
  std::vector<RigidBodyMotion> rigid_motions_;           ///< as the solve left them
  std::vector<std::vector<NodeContact>> contact_parts_;  ///< scratch, kept for its memory

  std::vector<NearObstacle> near_obstacles_;
  std::vector<Aabb> box_parts_;  ///< scratch
  ShapeProbes probes_;
  std::vector<const ShapeProbe*> obstacle_probes_;
  std::vector<Contact> contacts_;
  std::vector<std::size_t> touch_starts_;          ///< scratch: where the contacts of each part of a body begin
  mutable std::vector<NodeMoments> moment_parts_;  ///< scratch
  ParticleReport report_;
  std::vector<std::uint32_t> small_jellies_;  ///< scratch: slots
  float last_substep_ = 0;                    ///< s
  Vec3 gravity_{};                            ///< m/s², of the last substep
};

}  // namespace pliant
