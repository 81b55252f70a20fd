// One layered body: its state, and the stages of its step (Galoppo et al. 2006 §4, with corrections).
//
// The solve (layered_system.h) takes place in the axes of the body as the step begins, where nodes feel centrifugal
// forces. `advance` then moves the nodes in the body's axes, turns their velocities against the core as Coriolis forces
// do, and turns the body as a whole as its spin says (free_rotation.h). What that loses or gains of the body's momentum
// and spin is put right by a motion of the whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/parallel.h"
#include "collide/node_touch.h"
#include "layered/layered_layer.h"
#include "math/cholesky6.h"
#include "pliant/layered.h"
#include "solve/solve_result.h"

namespace pliant {

class LayeredSolver;
class LayeredSystem;
struct LayeredTolerance;

/// What changes from step to step; copied whole by snapshots.
struct LayeredState {
  Vec3d position{};  ///< of the core's centre of mass, world
  Quat rotation{};
  Vector6 velocity{};                                   ///< of the core, world axes
  LaneVectors displacement, plastic, elastic_velocity;  ///< of the nodes, body axes
  std::vector<NodeTouchMemory> touches;
};

/// Sums over core and layer, world axes.
struct LayeredTotals {
  double mass = 0, kinetic = 0;
  Vec3d center{}, momentum{};
  Vec3d spin{};  ///< about the centre of mass
  Vec3d angular_velocity{};
};

class LayeredBody {
 public:
  /// The def must have passed `check_def`, and the layer must have been made from it.
  LayeredBody(std::shared_ptr<const LayeredDef> def, std::shared_ptr<const LayeredLayer> layer);
  ~LayeredBody();

  // --- Between steps -----------------------------------------------------------------------------------------------
  void set_transform(const Transform& world_from_body);
  /// As a whole: of the centre of mass.
  void set_velocity(Vec3 velocity, Vec3 angular_velocity);
  void add_impulse(Vec3 impulse, Vec3 angular_impulse);
  /// On a node during the next substep, N s.
  void push_node(std::uint32_t node, Vec3 impulse) { pushes_.emplace_back(node, impulse); }
  /// On all of it, spread as its mass is, during the next substep.
  void push(Vec3 impulse, Vec3 angular_impulse);
  /// m/s, by how much forces change the velocity of the whole in the next substep: contacts are watched for that too.
  void foresee(Vec3 change) { foreseen_ = change; }
  /// Where the nodes are and how fast, in the world; the core stays as it is. Velocities may be none.
  void set_nodes(std::span<const Vec3> positions, std::span<const Vec3> velocities);

  // --- A substep ---------------------------------------------------------------------------------------------------
  /// The system without contacts.
  void begin(Workers& workers, Vec3 gravity, float dt);
  /// A row for a touch with something that does not give way; `index` says where it came from.
  void add_row(const NodeTouch& touch, std::uint32_t index, float dt);
  /// A node may be pressed inward by something that moves at `velocity`: a row, where it could get into the core.
  void add_limit(std::uint32_t node, Vec3 velocity, float dt);
  /// How the core below a point of the skin sees what touches that; nothing if it touches from a side.
  struct CoreView {
    float further = 0;  ///< m, how much wider the gap is to the core, or where it stops things
    Vec3 velocity{};    ///< m/s, of the core there, with what forces will change of it
  };
  /// `normal` points towards the body. In a substep.
  std::optional<CoreView> view_of_core(std::span<const std::uint32_t> nodes, std::span<const float> weights,
                                       Vec3 normal) const;
  /// What touches a node, as the core below it sees that; nothing if it does not come near.
  std::optional<NodeTouch> touch_of_core(const NodeTouch& touch, float dt) const;
  /// A row for that, if it does not give way.
  void add_floor(const NodeTouch& touch, std::uint32_t index, float dt);
  LayeredSystem& system() { return *system_; }
  const LayeredSystem& system() const { return *system_; }
  /// What the last substep remembers of a touch, on the cone of the row that it becomes; of a node or, by
  /// `core_point`, of the core below it.
  Vec3 remembered(const NodeTouch& touch) const;
  std::uint32_t core_point(std::uint32_t node) const { return node_count() + node; }
  /// A body that touches nothing that gives way, with rows or without.
  SolveResult solve_alone(Workers& workers, float dt);
  /// What forces and rows of its own gave, less what it has gained, about where its core's centre began. Once a
  /// substep, before `finish`.
  Vector6 missing_impulse(Workers& workers);
  /// Takes over the velocities that were found, and what the touches gave; `more` are those of rows of others.
  void finish(std::span<const NodeTouch> touches, float dt, std::span<const NodeTouchMemory> more = {});
  void advance(Workers& workers, float dt);
  /// Plastic flow.
  void settle(Workers& workers, float dt);

  // --- Where the solve was cut off (layered_body_bound.cpp) --------------------------------------------------------
  /// Σ m |v|² if nothing but forces acted in this substep, J. Before it has its new velocities.
  double free_motion(Workers& workers) const;
  /// m/s, at which its own rows ask it to move.
  float asked_speed() const;
  /// Whether something that moves as told touches it.
  bool is_driven() const { return is_driven_; }
  /// J, of motion at the velocities that were found, and of what is stored when it has moved.
  double energy_after(Workers& workers, float dt);
  /// Takes from its motion if that is more than `most`. What rows gave is forgotten then. Returns whether it was more.
  bool bound_energy(Workers& workers, double most, float dt);
  /// begin, add_row, solve_alone and finish of a body that touches the world alone.
  SolveResult solve(Workers& workers, Vec3 gravity, float dt, std::span<const NodeTouch> touches = {});
  LayeredTolerance tolerance() const;

  // --- Reading -----------------------------------------------------------------------------------------------------
  const LayeredDef& def() const { return *def_; }
  std::shared_ptr<const LayeredDef> shared_def() const { return def_; }
  const LayeredLayer& layer() const { return *layer_; }
  std::shared_ptr<const LayeredLayer> shared_layer() const { return layer_; }
  std::uint32_t node_count() const { return layer_->node_count(); }
  Transform world_from_body() const;  ///< of the frame of the surface
  Vec3 node_position(std::uint32_t node) const;
  Vec3 node_velocity(std::uint32_t node) const;
  Vec3 core_velocity_at(Vec3 point) const;
  void copy_positions(Workers& workers, std::vector<Vec3>& out) const;
  void copy_velocities(Workers& workers, std::vector<Vec3>& out) const;
  LayeredTotals totals(Workers& workers) const;
  double elastic_energy(Workers& workers) const;  ///< J, of the layer and of the springs of the core
  bool is_finite() const;
  float slop() const;  ///< m, the depth of contact that is left alone

  LayeredState& state() { return state_; }
  const LayeredState& state() const { return state_; }
  std::vector<std::pair<std::uint32_t, Vec3>>& pushes() { return pushes_; }
  const std::vector<std::pair<std::uint32_t, Vec3>>& pushes() const { return pushes_; }

 private:
  struct Moments {
    Vector6 momentum{};  ///< world axes, about the core's centre
    Matrix6 mass{};
    double kinetic = 0;

    /// Of mass, from the core's centre.
    Vec3d center() const;
    std::array<double, 9> inertia() const;  ///< about that
  };
  Moments moments(Workers& workers) const;
  void move_nodes(std::size_t g, float dt);
  void turn_axes(Workers& workers, Quat step, float dt);
  void take_velocities();
  double energy_of_layer(Workers& workers, float after) const;
  void bound_alone(Workers& workers, float dt);

  std::shared_ptr<const LayeredDef> def_;
  std::shared_ptr<const LayeredLayer> layer_;
  LayeredState state_;
  std::unique_ptr<LayeredSystem> system_;
  Vec3 foreseen_{};
  std::vector<std::pair<std::uint32_t, Vec3>> pushes_;
  Vector6 push_{};
  std::unique_ptr<LayeredSolver> solver_;
  std::vector<std::uint8_t> is_limited_;  ///< by node: has a limit in this substep
  Vector6 given_{};                       ///< momentum and spin in this substep, but for contacts
  double pushed_ = 0;                     ///< J, what pushes add to Σ m |v|²
  Vec3d fall_{};                          ///< m/s, by gravity in this substep
  bool is_driven_ = false;
  Vec3d late_spin_{};  ///< see `finish`
  QuadVectors scratch_, flow_;
  // Scratch.
  static constexpr std::size_t kSums = 17;
  mutable std::vector<std::array<double, kSums>> parts_;
  mutable QuadVectors stretched_;
};

}  // namespace pliant
