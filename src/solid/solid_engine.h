// Solids as one body kind of the world: by slot, stage by stage, like `RigidEngine`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/spares.h"
#include "collide/obstacle.h"
#include "pliant/queries.h"
#include "pliant/report.h"
#include "pliant/solid.h"
#include "solid/fracture_topology.h"
#include "solid/solid_body.h"
#include "solid/solid_island.h"
#include "solid/solid_meetings.h"
#include "solid/solid_overlaps.h"
#include "solve/contact_rows.h"
#include "solve/island_guest.h"
#include "solve/rigid_rows.h"
#include "solve/shared_nodes.h"
#include "solve/solid_point.h"

namespace pliant {

/// The engine's part of a snapshot; opaque outside solid/.
struct SolidSnapshot;

/// Sums over all solids.
struct SolidReport {
  std::size_t fractures = 0;
  std::size_t nodes = 0, tets = 0, rows = 0, iterations = 0, unconverged = 0;
};

class SolidEngine {
 public:
  struct Entry;
  struct Selections;

  explicit SolidEngine(Workers& workers);
  ~SolidEngine();

  /// How solids meet each other, and the strength of damped contacts, Pa s/m. Before the first step.
  void set_contact(SolidContact contact, float damping) { contact_ = contact, contact_damping_ = damping; }

  // --- Edits -------------------------------------------------------------------------------------------------------
  void add_body(BodyId id, std::unique_ptr<SolidBody> body);
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
  /// On the surface triangles all of whose nodes are listed: Pa inward, and N/m² along the world's axes.
  void add_surface_load(std::uint32_t slot, std::span<const std::uint32_t> nodes, float pressure, Vec3 traction);
  void set_nodes(std::uint32_t slot, std::span<const Vec3> positions, std::span<const Vec3> velocities);
  void hold(std::uint32_t slot, std::span<const std::uint32_t> nodes, bool is_held);
  /// Held nodes: be where this takes the mesh when the next step ends; or move on at a velocity.
  void drive(std::uint32_t slot, std::span<const std::uint32_t> nodes, const Transform& world_from_mesh);
  void drive(std::uint32_t slot, std::span<const std::uint32_t> nodes, Vec3 velocity);
  /// Of strength and toughness at nodes; of no effect on what cannot break.
  void set_strength_factor(std::uint32_t slot, std::span<const std::uint32_t> nodes, float factor);
  std::vector<float> strength_factors(std::uint32_t slot) const;  ///< by node
  void set_friction(std::uint32_t slot, float friction);
  void set_gravity_scale(std::uint32_t slot, float scale);
  void set_filter(std::uint32_t slot, CollisionFilter filter);

  // --- Pieces (solid_engine_fracture.cpp) ---------------------------------------------------------------------------
  /// A part that came loose, not yet a body of the engine.
  struct Fragment {
    Fragment();
    ~Fragment();
    Fragment(Fragment&&) noexcept;
    std::uint32_t parent = 0;          ///< slot
    bool stays = false;                ///< in the parent's slot, as what is left of it
    FractureTopology::Part part;       ///< of the parent
    std::vector<std::uint32_t> nodes;  ///< its nodes' numbers in what the parent was
    std::shared_ptr<const SolidDef> def;
    Vec3 center{};
    std::unique_ptr<Entry> entry;
  };
  /// Nodes that are pulled too hard come apart, at the end of a substep; `cracks` gets what happened.
  void fracture(std::vector<Crack>& cracks);
  /// Makes the bodies that came apart anew, before a step. Of the fragments of each body one stays in its slot, and is
  /// already there; the others wait for `add_fragment`.
  std::vector<Fragment> break_up();
  void add_fragment(BodyId id, Fragment& fragment);
  /// Whether it is in one piece and free: no node is held, and none came apart since it was made.
  bool is_loose(std::uint32_t slot) const;
  /// A rigid body in its place: its convex hull as it is now, with its mass, inertia, momentum and spin.
  RigidDef rigid_twin(std::uint32_t slot) const;

  // --- The stages of a step ------------------------------------------------------------------------------------------
  void begin_step(float dt);
  /// The air's push, elastic forces and matrices of awake bodies.
  void predict(Vec3 wind, float dt);
  /// Nodes near obstacles, and surfaces near each other, along the motion of this substep. `others` are the surfaces of
  /// cloth, rope and jelly, and the skins of layered bodies; they must stay until the islands are solved.
  void find_contacts(std::span<const Obstacle> obstacles, std::span<const BodySurface> others, Vec3 gravity, float dt);
  /// The point of a solid that is nearest to a place in the world.
  SolidPoint nearest_point(std::uint32_t slot, Vec3 place) const;
  void place(std::span<PlacedPoint> points) const;
  /// Nodes of cloth, rope and jelly that meet no more what they are tied to; sorted, before contacts are searched.
  void set_tied(std::span<const TiedNode> nodes) { tied_ = nodes; }
  /// Sleeping bodies that a moving obstacle has come near to.
  void find_pushed_sleepers(std::span<const Obstacle> obstacles, std::vector<std::uint32_t>& slots) const;
  /// Pairs that feel each other: bodies in touch, and for sleepers those with whom they fell asleep.
  void for_each_link(void (*link)(void* context, BodyId a, BodyId b), void* context) const;
  /// One body, that woke in the middle of the substep; and, when all are awake, what it meets.
  void predict(std::uint32_t slot, Vec3 gravity, float dt);
  /// `others` again, as they are now; `some_woke` if some of these have.
  void find_contacts_of_woken(std::span<const BodySurface> others, bool some_woke, Vec3 gravity, float dt);
  std::span<const SolidMeeting> meetings() const { return meetings_.meetings(); }
  /// What the islands of the last substep gave their rigid bodies: an engine that takes turns with this one starts from
  /// it.
  std::span<const RigidPush> pushes() const { return pushes_; }
  /// Where cloth, rope and jelly touch solids, as rows of theirs with something that moves on as it does; with the
  /// impulses of the last substep. Nodes are those of the body.
  void list_open_rows(std::vector<PointContact>& rows) const;
  /// Islands that hold solids or guests, with their rigid bodies and the contacts of these.
  struct SharedIslands {
    std::span<const std::uint32_t> bodies, starts;  ///< `bodies[starts[i] .. starts[i+1])` is island i
    SharedRows* shared = nullptr;
    SharedBodies* nodes = nullptr;   ///< of cloth, rope and jelly that touch solids
    SharedGuests* guests = nullptr;  ///< layered bodies
    /// Where something has come through a skin: contacts of the core, in addition to those of the skin.
    std::span<const SolidMeeting> floors{};
  };
  void solve(const SharedIslands& islands, Vec3 gravity, float dt);
  void advance(float dt);
  /// Plastic flow.
  void settle(float dt);
  void end_step();
  void find_lost(std::vector<std::uint32_t>& slots) const;
  void freeze(std::uint32_t slot);
  void thaw(std::uint32_t slot);
  void set_awake(std::uint32_t slot, bool awake);

  // --- Reading -------------------------------------------------------------------------------------------------------
  bool has(std::uint32_t slot) const { return slot < entries_.size() && entries_[slot] != nullptr; }
  std::span<const std::uint32_t> slots() const { return slots_; }  ///< ascending
  BodyId id(std::uint32_t slot) const;
  const SolidBody& body(std::uint32_t slot) const;
  bool is_awake(std::uint32_t slot) const;
  bool is_dynamic(std::uint32_t slot) const { return !is_frozen(slot); }
  bool is_frozen(std::uint32_t slot) const;
  bool is_calm(std::uint32_t slot, float speed) const;
  BodyState state(std::uint32_t slot) const;
  Aabb bounds(std::uint32_t slot) const { return body(slot).bounds(); }
  std::span<const Face> faces(std::uint32_t slot) const;
  bool touches(std::uint32_t slot, BodyId other) const;
  /// Calls `wake(id)` for what touched a body with its surface when both were last awake.
  template <typename Wake>
  void wake_touching(BodyId id, Wake&& wake) const {
    for (const MeetingMemory& memory : meeting_memory_) {
      if (memory.a == id) wake(memory.b);
      if (memory.b == id) wake(memory.a);
    }
  }
  std::span<const Vec3> node_positions(std::uint32_t slot) const;
  std::span<const Vec3> node_velocities(std::uint32_t slot) const;
  std::vector<float> tet_values(std::uint32_t slot, TetValue value) const;
  bool is_held(std::uint32_t slot, std::uint32_t node) const { return body(slot).is_held(node); }
  Vec3 held_force(std::uint32_t slot, std::span<const std::uint32_t> nodes) const;
  std::span<const Contact> contacts() const { return contacts_; }
  const SolidReport& report() const { return report_; }
  /// Adds the momenta of all solids that are not frozen, about the origin.
  void add_momenta(Vec3 gravity, double& kinetic, double& potential, double (&linear)[3], double (&angular)[3]) const;
  double elastic_energy() const;
  void add_to_hash(Hasher& hasher) const;

  void ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter,
                std::vector<RayHit>& hits) const;

  std::shared_ptr<const SolidSnapshot> snapshot() const;
  void restore(const SolidSnapshot& snapshot);

 private:
  Entry& entry(std::uint32_t slot) { return *entries_[slot]; }
  const Entry& entry(std::uint32_t slot) const { return *entries_[slot]; }
  void insert(BodyId id, std::unique_ptr<Entry> entry);
  /// Calls `visit(i, workers)` for each body `slots_[i]`: large ones, or all where there are few, one after the other,
  /// with all threads, then small ones side by side, each with one.
  template <typename Visit>
  void for_bodies(Visit&& visit) const;
  void plan_fragments(std::uint32_t slot, std::vector<Fragment>& fragments) const;
  void make_fragment(Fragment& fragment, const Entry& whole, const Selections& selections) const;
  void find_meetings(Vec3 gravity, float dt);
  void list_surfaces();
  void find_touches(Workers& workers, Entry& entry, std::span<const Obstacle> obstacles, Vec3 gravity, float dt) const;
  void note_contacts(const Entry& entry);
  void note_contact(BodyId a, BodyId b, Vec3 point, Vec3 normal, float depth, Vec3 impulse);

  // Islands (solid_engine_islands.cpp).
  struct RowSource {
    enum Kind : std::uint32_t { Touch, Meeting, Floor, Point, Overlap, Node, Guest, Tie } kind;
    std::uint32_t slot,
        index;  ///< of a touch: the solid's, of a node or guest: its body among the shared; which of them
  };
  struct Island {
    SolidIsland solver;
    SolveResult result;
    std::vector<std::uint32_t> solids, rigids;  ///< slots; places among the shared bodies
    std::vector<RowSource> sources;             ///< of its rows
    std::vector<std::uint32_t> joints;          ///< in `shared_`, of its joints' rows
    double mass = 0, overlap = 0;               ///< kg of all members; m³ of all overlaps
  };
  struct Job {
    Island* island = nullptr;
    Entry* lone = nullptr;               ///< where there is no island
    std::uint32_t nodes = 0, first = 0;  ///< first: its smallest slot
  };
  /// Where a body is in the islands of this substep.
  struct Place {
    Island* island = nullptr;
    std::uint32_t member = 0;
    bool meets = false;  ///< others, or itself
  };
  static constexpr std::uint32_t kNoRigid = 0xffffffff;
  void gather_islands(Vec3 gravity, float dt);
  void add_job(std::span<const std::uint32_t> bodies, Vec3 gravity);
  void run(Workers& workers, const Job& job, Vec3 gravity, float dt);
  void add_rows(Vec3 gravity, float dt);
  void add_touch_rows(std::uint32_t slot, float dt);
  void add_meeting_row(const SolidMeeting& meeting, RowSource source, Vec3 felt, float dt);
  void add_node_row(std::uint32_t body, std::uint32_t index, float dt);
  void add_guest_row(std::uint32_t body, std::uint32_t index, float dt);
  void add_guest_tie(std::uint32_t body, std::uint32_t index);
  void drop_tied_meetings();
  const BodySurface* surface_of(BodyId body) const;
  /// What a meeting remembers; null for a new one.
  const MeetingMemory* find_meeting(BodyId a, BodyId b, std::uint64_t key) const;
  void add_point_row(std::uint32_t index, float dt);
  void add_joint_row(std::uint32_t index);
  IslandRowEnd rigid_end(const Island& island, std::uint32_t slot, Vec3 point) const;
  IslandRowEnd meeting_end(const Island& island, const MeetingSide& side, Vec3 point) const;
  const MeetingMemory* remembered(const SolidMeeting& meeting) const;
  void take_node_row(SharedNodeRow& row, Vec3 impulse);
  // Damped contacts (solid_engine_damped.cpp).
  void add_overlap_rows(Vec3 gravity, float dt);
  void add_overlap_row(std::uint32_t index, Vec3 gravity, float dt);
  Island* island_of(const SolidOverlap& overlap) const;
  IslandRowEnd overlap_end(const Island& island, const OverlapSide& side) const;
  Vec3 velocity_of(const OverlapSide& side) const;
  void finish_overlap(const Island& island, const SolidOverlap& overlap, const IslandRow& row);
  void find_free_shares(float dt);
  void finish_islands(float dt);
  void finish_island(Island& island, float dt);
  static std::uint64_t hash_of(const Entry& entry);
  static void drag(Entry& entry, Vec3 wind, float dt);

  Workers& workers_;
  std::uint64_t added_ = 0;                      ///< bodies so far
  bool woken_ = false;                           ///< some body, in the middle of this substep
  mutable Workers alone_{1};                     ///< for small bodies, each solved by one thread
  std::vector<std::unique_ptr<Entry>> entries_;  ///< by slot
  std::vector<std::uint32_t> slots_;
  ShapeProbes probes_;
  std::vector<const ShapeProbe*> obstacle_probes_;
  std::vector<Contact> contacts_;
  mutable Spares<LayoutScratch> layouts_;   ///< for the making of pieces
  std::vector<std::vector<Crack>> cracks_;  ///< by place in `slots_`; scratch
  std::span<const Obstacle> obstacles_;     ///< of this substep
  SolidMeetings meetings_;
  std::vector<BodySurface> surfaces_;
  std::span<const BodySurface> others_;  ///< of this substep
  std::span<const TiedNode> tied_;       ///< likewise
  SolidContact contact_ = SolidContact::Surface;
  float contact_damping_ = 0;  ///< Pa s/m
  SolidOverlaps overlaps_;
  std::vector<float> free_shares_;             ///< by surface, of the motion of this substep
  std::vector<MeetingMemory> meeting_memory_;  ///< sorted
  std::vector<RigidPush> pushes_;              ///< ascending
  // Scratch, kept for its memory.
  SharedIslands listed_;
  SharedRows* shared_ = nullptr;
  SharedRows nothing_shared_;
  SharedBodies* nodes_ = nullptr;
  SharedBodies no_nodes_;
  SharedGuests* guests_ = nullptr;
  SharedGuests no_guests_;
  std::vector<std::unique_ptr<Island>> islands_;
  std::size_t used_islands_ = 0;
  std::vector<Job> jobs_;
  std::vector<Place> place_of_;               ///< by slot
  std::vector<std::uint32_t> rigid_of_;       ///< by slot, among the shared bodies
  std::vector<std::uint32_t> nodes_of_;       ///< likewise, among those of nodes
  std::vector<std::uint32_t> guest_of_;       ///< likewise, among the guests
  mutable std::vector<double> energy_parts_;  ///< of one large body at a time
  SolidReport report_;
};

}  // namespace pliant
