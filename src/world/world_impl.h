// The insides of World, shared by the files that implement it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/id_pool.h"
#include "base/parallel.h"
#include "base/trace.h"
#include "layered/layered_engine.h"
#include "particle/particle_engine.h"
#include "pliant/world.h"
#include "rigid/rigid_engine.h"
#include "solid/solid_engine.h"
#include "solve/islands.h"
#include "world/edits.h"

namespace pliant {

/// Where a solid that broke comes from.
struct SolidOrigin {
  BodyId ancestor{}, parent{};          ///< parent: null for what is left of the ancestor itself
  std::vector<std::uint32_t> nodes;     ///< for each node, the node of the mesh that was added
  std::vector<std::uint32_t> tets;      ///< for each tet, its number there
  std::shared_ptr<const SolidDef> def;  ///< that was added
};

/// A piece to which a rule for small pieces applies.
struct SmallPiece {
  SmallPieces rule{};
  double since = 0;  ///< s, when it came loose or became small
};

/// What the world itself knows of a body, whatever its kind. One for each slot.
struct BodyRecord {
  BodyId id{};                                            ///< null where the slot is empty
  std::shared_ptr<const RigidDef> def{};                  ///< of a rigid body, else null
  std::shared_ptr<const SolidDef> solid_def{};            ///< of a solid, else null
  std::shared_ptr<const ParticleDef> particle_def{};      ///< of a cloth, rope or jelly, else null
  std::shared_ptr<const ParticleModel> particle_model{};  ///< made from it
  std::shared_ptr<const SolidOrigin> origin{};            ///< of a solid that broke, and of its pieces; else null
  std::optional<SmallPiece> small{};                      ///< of a piece, as long as it will be retired
  std::shared_ptr<const LayeredDef> layered_def{};        ///< of a layered body, else null
  bool is_committed = false;                              ///< the engine has it; before that, the def is all there is
  bool allow_sleep = true;
  float calm_time = 0;  ///< s

  const std::string& name() const {
    if (layered_def) return layered_def->name;
    return def ? def->name : solid_def ? solid_def->name : common_of(*particle_def).name;
  }
  /// For messages: "body 'bag'", or "body 3 (generation 1)" of one without a name.
  std::string label() const;
  BodyKind kind() const {
    if (layered_def) return BodyKind::Layered;
    return def ? BodyKind::Rigid : solid_def ? BodyKind::Solid : BodyKind::Particle;
  }
  Motion motion() const { return def ? def->motion : Motion::Dynamic; }
};

struct AnchorRecord {
  AnchorId id{};
  std::shared_ptr<const AnchorDef> def;
  bool is_committed = false;
};

struct JointRecord {
  JointId id{};
  std::shared_ptr<const JointDef> def;
  bool is_committed = false;
};

/// Lists of slots, one after the other.
struct BodyLists {
  std::vector<std::uint32_t> bodies, starts{0};  ///< `bodies[starts[i] .. starts[i+1])` is list i

  std::size_t count() const { return starts.size() - 1; }
  void clear() { bodies.clear(), starts.assign(1, 0); }
  void add(std::span<const std::uint32_t> slots) {
    bodies.insert(bodies.end(), slots.begin(), slots.end());
    starts.push_back(static_cast<std::uint32_t>(bodies.size()));
  }
};

/// Everything that decides the future, except what the kinds hold themselves.
struct WorldState {
  WorldDef def;
  std::uint64_t step = 0;
  double time = 0;
  IdPool<BodyId> body_ids;
  IdPool<JointId> joint_ids;
  IdPool<AnchorId> anchor_ids;
  std::vector<BodyRecord> bodies;  ///< by slot
  std::vector<JointRecord> joints;
  std::vector<AnchorRecord> anchors;
  std::vector<BodyId> body_order;  ///< in which they were added
  std::vector<JointId> joint_order;
  std::vector<AnchorId> anchor_order;
  std::vector<std::pair<BodyId, BodyId>> touching;  ///< sorted; of the last step
};

struct Snapshot::Data {
  WorldState state;
  std::shared_ptr<const RigidSnapshot> rigid;
  std::shared_ptr<const SolidSnapshot> solid;
  std::shared_ptr<const ParticleSnapshot> particle;
  std::shared_ptr<const LayeredSnapshot> layered;
};

struct World::Impl {
  explicit Impl(const WorldDef& def);

  // --- Edits (edits.cpp) -------------------------------------------------------------------------------------------
  Error refuse(Error error);
  Status check(BodyId id, const char* call);
  Status check(JointId id, const char* call);
  Status check(AnchorId id, const char* call);
  /// Queues an edit of a body after checking its id and numbers.
  Status queue(BodyId id, const char* call, bool numbers_are_finite, Edit edit);
  /// The same for edits that only make sense for bodies that move by forces.
  Status queue_push(BodyId id, const char* call, bool numbers_are_finite, Edit edit);
  Result<BodyId> add_rigid(const RigidDef& def);
  Result<BodyId> add_solid(const SolidDef& def);
  Result<BodyId> add_particle(ParticleDef def);
  Result<BodyId> add_layered(const LayeredDef& given);
  Result<AnchorId> add_anchor(const AnchorDef& def);
  /// A new body's id and record.
  BodyId make_body(BodyRecord record);
  /// The places at rest of the nodes of a body that has some.
  std::span<const Vec3> rest_nodes(const BodyRecord& record) const;
  /// The nodes that are selected, or why the call is refused.
  Result<std::vector<std::uint32_t>> selected_nodes(BodyId id, const NodeSelection& nodes, const char* call);
  /// Of a body of nodes.
  std::span<const Face> surface_faces(BodyId id);
  Status check_solid(BodyId id, const char* call);
  /// That it is a body of nodes: a solid, cloth, rope or jelly.
  Status check_nodes(BodyId id, const char* call);
  Status queue_nodes(BodyId id, const char* call, const NodeSelection& nodes, bool numbers_are_finite,
                     edit::Nodes edit);
  bool queue_in_family(BodyId id, const char* call, const NodeSelection& nodes, bool numbers_are_finite,
                       const edit::Nodes& edit);
  /// The body, and where it was added and has broken, its pieces.
  std::vector<BodyId> family(BodyId id) const;
  Status queue_surface_load(BodyId id, const char* call, float pressure, Vec3 traction, const NodeSelection& nodes);
  /// Whether driving these nodes does anything, with all edits so far.
  bool can_be_driven(BodyId id, std::span<const std::uint32_t> nodes);
  Result<JointId> add_joint(const JointDef& def);
  void commit_edits();
  void apply(const edit::AddBody& edit);
  void apply(const edit::AddSolid& edit);
  void apply(const edit::AddParticle& edit);
  void apply(const edit::AddLayered& edit);
  void apply(const edit::AddAnchor& edit);
  void apply(const edit::RemoveAnchor& edit);
  void apply(const edit::Nodes& edit);
  void apply(const edit::SetNodes& edit);
  void apply(const edit::RemoveBody& edit);
  void apply(const edit::AddJoint& edit);
  void apply(const edit::RemoveJoint& edit);
  void apply(const edit::SetTransform& edit);
  void apply(const edit::SetVelocity& edit);
  void apply(const edit::MoveTo& edit);
  void apply(const edit::Push& edit);
  template <typename Engine>
  void push_nodes(Engine& engine, const edit::Push& edit);
  void apply(const edit::Explode& edit);
  void apply(const edit::SetMotor& edit);
  void apply(const edit::SetNumber& edit);
  void apply(const edit::SetFilter& edit);
  void apply(const edit::SetGravity& edit);
  void apply(const edit::SetWind& edit);
  void apply(const edit::SetAwake& edit);
  void apply(const edit::Release& edit);
  void wake(std::uint32_t slot);
  void wake_neighbours(std::uint32_t slot);
  void wake_jointed(std::uint32_t joint_slot);
  /// Ends an id and the world's record of it, and for a body its joints; the engine's part is a queued edit.
  void forget(BodyId id);
  void forget(JointId id);
  void forget(AnchorId id);
  /// Calls `visit(engine)` with the engine that has the slot.
  template <typename Visit>
  decltype(auto) with_engine(std::uint32_t slot, Visit&& visit) {
    if (particle.has(slot)) return visit(particle);
    if (solid.has(slot)) return visit(solid);
    if (layered.has(slot)) return visit(layered);
    return visit(rigid);
  }
  template <typename Visit>
  decltype(auto) with_engine(std::uint32_t slot, Visit&& visit) const {
    if (particle.has(slot)) return visit(particle);
    if (solid.has(slot)) return visit(solid);
    if (layered.has(slot)) return visit(layered);
    return visit(rigid);
  }
  /// The same for bodies of nodes.
  template <typename Visit>
  decltype(auto) with_node_engine(std::uint32_t slot, Visit&& visit) {
    if (particle.has(slot)) return visit(particle);
    if (layered.has(slot)) return visit(layered);
    return visit(solid);
  }

  /// Those whose nodes can be held.
  template <typename Visit>
  decltype(auto) with_held_engine(std::uint32_t slot, Visit&& visit) {
    if (particle.has(slot)) return visit(particle);
    return visit(solid);
  }
  /// Why nodes of a layered body are not held.
  Error not_held(BodyId id, const char* call) const;

  // --- The step (step.cpp) -----------------------------------------------------------------------------------------
  void step(float dt);
  void adopt_fragments();
  // Small pieces (small_pieces.cpp).
  static std::optional<SmallPiece> small_piece(const SolidDef& def, double now);
  void retire_small_pieces();
  void retire(BodyId piece);
  void make_rigid(BodyId piece);
  void take_away(BodyId piece);
  float opacity(const BodyRecord& record) const;
  void begin_step(float dt);
  void predict(float dt);
  void find_contacts(float dt);
  void build_rows();
  void wake_touched(float dt);
  void solve_islands(float dt);
  void solve_solid_islands(float dt);
  void set_solid_islands_apart();
  void place_solid_ties(float dt);
  void find_guests();
  /// The surfaces that solids meet besides each other.
  std::span<const BodySurface> other_surfaces();
  void find_pressed();
  void find_floors(float dt);
  bool gives_way(BodyId id) const;
  bool is_in_turn(BodyId id) const;
  void advance(float dt);
  void settle_materials(float dt);
  void list_obstacles(float dt);
  /// Parts into which a step is divided: more than asked for where a body needs short ones.
  int substeps(float dt) const;
  void break_joints();
  void break_anchors(float dt);
  void quarantine_lost();
  void quarantine(std::uint32_t slot, std::string reason);
  void rest_islands(float dt);
  bool is_calm(std::uint32_t slot) const;
  void publish();
  void publish_solids();
  void publish_particles();
  void publish_layered();
  std::span<const Contact> contacts() const;
  bool is_awake(std::uint32_t slot) const {
    return with_engine(slot, [&](const auto& engine) { return engine.is_awake(slot); });
  }
  void find_touch_events();
  std::uint64_t hash() const;
  void prepare_queries() const;

  WorldState state;
  Workers workers;
  RigidEngine rigid;
  SolidEngine solid;
  ParticleEngine particle;
  LayeredEngine layered;

  std::vector<Edit> edits;
  std::vector<Error> refused;  ///< since the last step

  Islands islands;
  std::vector<std::uint32_t> awake_bodies, awake_starts, awake_island_of;  ///< the islands that are solved
  StepReport report;
  std::unique_ptr<Trace> trace;
  mutable bool queries_stale = true;

  // Events of the last step.
  std::vector<Contact> all_contacts;  ///< of all kinds; used only where there are others than rigid
  std::vector<TouchEvent> touch_begins, touch_ends;
  std::vector<JointBreak> joint_breaks;
  std::vector<AnchorBreak> anchor_breaks;
  std::vector<Tear> tears;
  std::vector<Crack> cracks;
  std::vector<BreakOff> break_offs;
  std::vector<Retirement> retirements;
  std::vector<Quarantine> quarantines;
  std::vector<BodyId> fell_asleep, woke_up;
  std::vector<BodyId> waking;  ///< since the last step was published

  // Scratch, kept for its memory.
  std::vector<std::uint32_t> scratch_slots, dynamic_members;
  std::vector<Obstacle> obstacles;         ///< what bodies of nodes touch, in this substep
  BodyLists solid_islands, other_islands;  ///< those that are awake: with solids or layered bodies, and others
  std::vector<Sharing> sharing;            ///< by slot
  SharedRows shared_rows;
  SharedBodies shared_nodes;
  std::vector<PointContact> open_rows;    ///< where cloth, rope and jelly touch solids
  std::vector<PlacedPoint> solid_points;  ///< to which cloth, rope and jelly are tied
  std::vector<float> masses;              ///< kg, by slot, of what they touch; scratch
  SharedGuests shared_guests;
  std::vector<LayeredEngine::Pressed> pressed_nodes;  ///< where other bodies touch layered ones
  std::vector<SolidMeeting> floors;                   ///< where they have come through to the core
  std::vector<BodySurface> met_surfaces;              ///< of cloth, rope, jelly and layered bodies
  std::vector<std::pair<BodyId, BodyId>> touching_now;
};

/// Says what is wrong with a def, if anything; the error's field is relative to it.
Status check_def(const WorldDef& def);
Status check_def(const RigidDef& def);
Status check_def(const JointDef& def);
Status check_def(const SolidSolver& solver);
Status check_def(const SolidMaterial& material);
Status check_def(const SmallPieces& rule);
Status check_def(const SolidDef& def);
Status check_def(const ParticleDef& def);
Status check_def(const LayeredDef& def);
Status check_def(const AnchorDef& def);

}  // namespace pliant
