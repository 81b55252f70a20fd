// The insides of RigidEngine, shared by the files that implement it.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "rigid/bullet_joint.h"
#include "rigid/bullet_shape.h"
#include "rigid/bullet_solver.h"
#include "rigid/bullet_world.h"
#include "rigid/rigid_engine.h"

namespace pliant {

/// What can be set on a body after it was added, and so goes into snapshots beside its Bullet state.
struct RigidProperties {
  Motion motion = Motion::Dynamic;
  float friction = 0, rolling_friction = 0, restitution = 0;
  float linear_damping = 0, angular_damping = 0, gravity_scale = 1;
  CollisionFilter filter{};
  bool continuous = false;
  bool frozen = false;
};

struct RigidBody {
  BodyId id{};  ///< null where the slot is empty
  RigidProperties properties;
  std::shared_ptr<const RigidShape> shape;
  std::unique_ptr<btRigidBody> bullet;

  btVector3 force{0, 0, 0}, torque{0, 0, 0};  ///< the user's, for this step
  btTransform transform_t0 = btTransform::getIdentity();
  btVector3 velocity_t0{0, 0, 0}, angular_velocity_t0{0, 0, 0};  ///< before the solve of this substep
  std::optional<btTransform> target;
  bool had_target = false;  ///< it was on its way in the last step and must stop unless told again
  bool touched = false;     ///< has rows in this substep
  /// By how much taut joints resist its turning about its principal axes, N m per radian.
  btVector3 tautness{0, 0, 0};

  bool is_dynamic() const { return properties.motion == Motion::Dynamic && !properties.frozen; }
  bool is_awake() const { return bullet->isActive(); }
};

struct RigidJoint {
  JointId id{};
  JointDef def;
  btTransform a_from_joint, b_from_joint;
  std::unique_ptr<BulletJoint> bullet;
};

/// Islands that are solved in one call: Bullet's set-up cost is shared by many small ones. A batch is a range of each
/// of the three lists, up to where the next one begins.
struct SolveBatches {
  struct Start {
    std::size_t body = 0, manifold = 0, joint = 0;
  };
  std::vector<btCollisionObject*> bodies;
  std::vector<btPersistentManifold*> manifolds;
  std::vector<btTypedConstraint*> joints;
  std::vector<Start> starts;  ///< one for each batch, and the end

  std::size_t count() const { return starts.empty() ? 0 : starts.size() - 1; }
  void clear() { bodies.clear(), manifolds.clear(), joints.clear(), starts.clear(); }
  void begin_batch() { starts.push_back({bodies.size(), manifolds.size(), joints.size()}); }
  /// Of the batch begun last.
  std::size_t rows() const { return manifolds.size() - starts.back().manifold + joints.size() - starts.back().joint; }
};

struct RigidEngine::Impl {
  Impl(const WorldDef& def, Workers& workers);
  ~Impl();

  bool has(std::uint32_t slot) const { return slot < bodies.size() && !bodies[slot].id.is_null(); }
  RigidBody& body(std::uint32_t slot) { return bodies[slot]; }
  const RigidBody& body(std::uint32_t slot) const { return bodies[slot]; }
  RigidBody& body(const btCollisionObject* object) { return bodies[slot_of(object)]; }

  /// Makes the Bullet body of a slot whose id, properties and shape are set.
  void create_bullet_body(RigidBody& body, const btTransform& world_from_mass);
  void create_bullet_joint(RigidJoint& joint);
  void destroy_bullet_joint(RigidJoint& joint);
  btRigidBody& bullet_of(BodyId id);
  void apply_motion_flags(RigidBody& body);
  void update_slot_lists();
  void remove_everything();

  void dispatch_pairs();
  /// Lists the manifolds with contacts in the order of pairs.
  void collect_manifolds();
  void collect_manifolds_if_stale();
  void set_combined_materials(btPersistentManifold& manifold);
  /// Points friction along the way a contact would slide, and turns the last impulses into that frame; and back.
  void enter_friction_frame(btPersistentManifold& manifold, float dt);
  void leave_friction_frame(btPersistentManifold& manifold);
  void sort_rows_by_island(const IslandList& islands);
  /// Islands of `shared_slots` come in one batch, the last.
  void make_batches(const IslandList& islands, std::span<const std::uint32_t> shared_slots);
  void solve_with_partner(RowPartner& partner, std::size_t batch, float dt);
  void add_to_batch(const IslandList& islands, std::uint32_t island);
  void reserve_for_joints();
  void solve_batch(BulletSolver& solver, std::size_t batch, float dt);
  /// Makes bodies between taut joints slow enough to turn for this step; and as they are again.
  void steady_taut_bodies(std::size_t batch, float dt);
  void release_taut_bodies(std::size_t batch);
  void note_contacts(const btPersistentManifold& manifold);
  void note_contact(const btPersistentManifold& manifold, const btManifoldPoint& point);
  void share_points(std::uint32_t manifold, std::vector<SharedPoint>& points) const;
  void share_joint(std::uint32_t joint, float dt, std::vector<SharedJointRow>& rows);
  void advance_kinematic(RigidBody& body, float dt, bool is_last);
  void advance_dynamic(RigidBody& body, float dt);
  void fly(RigidBody& body, float dt);

  Workers& workers;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher;
  BulletBroadphase broadphase;
  std::vector<std::unique_ptr<BulletSolver>> solvers;  ///< one for each thread
  std::unique_ptr<BulletWorld> world;
  btRigidBody world_body;  ///< what joints to the world hold on to
  btVector3 gravity;

  std::vector<RigidBody> bodies;  ///< by slot
  std::vector<RigidJoint> joints;
  std::vector<std::uint32_t> live_slots, dynamic_slots, live_joints;  ///< ascending
  bool slot_lists_stale = false;

  std::vector<btBroadphasePair*> simple_pairs, compound_pairs;  ///< to be looked at in this substep
  ManifoldCollector collector;
  std::vector<PairManifold> pair_manifolds;
  bool manifolds_stale = true;                  ///< some may be gone
  std::vector<btPersistentManifold*> touching;  ///< manifolds with contacts, in the order of pairs
  SolveBatches batches;
  std::vector<std::uint32_t> manifold_starts, manifold_order, joint_starts, joint_order;
  std::vector<bool> island_has_kinematic, island_is_shared;
  std::vector<btRigidBody*> partner_bodies;
  std::vector<Contact> contacts;
  std::atomic<std::size_t> rows{0};
  float seconds_left = 0;  ///< of the step; kinematic targets are reached when it ends
};

}  // namespace pliant
