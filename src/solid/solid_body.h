// One solid: its state, and the stages of its step.
//
// A step solves Parker and O'Brien's eq. 5 for the change of velocity dv,
//
//   A dv = dt (f + f_elastic) − dt α M v − (dt² + β dt) K v,    A = (1 + α dt) M + (dt² + β dt) K,
//
// started from the change of the last step. Held nodes come with their change given, and their rows and columns are
// struck.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/parallel.h"
#include "pliant/solid.h"
#include "solid/solid_contact.h"
#include "solid/solid_elements.h"
#include "solid/solid_layout.h"
#include "solid/solid_momentum.h"
#include "solid/solid_system.h"
#include "solid/whole_motion.h"

namespace pliant {

/// What changes from step to step; copied whole by snapshots.
struct SolidState {
  LaneVectors positions, velocities;
  LaneVectors change;  ///< of velocity, in the last substep
  std::vector<NodeTouchMemory> touches;
  bool tangled = false;  ///< as `SolidElements::update` found it
  double surplus = 0;    ///< J, that flight gave it and that was not yet taken back (solid_body_bound.cpp)
  float exertion = 0;    ///< share of the strength to come out of others that it has spent (solid_island_mending.cpp)
};

/// A solid's whole state with all that was asked of it, for snapshots.
struct SolidMemory {
  SolidState state;
  std::vector<float> rotations, rest_strains, free;
  LaneVectors forces, held_velocities;
};

/// What a tet of the def's mesh is made of.
const SolidMaterial& material_of(const SolidDef& def, std::size_t tet);

class SolidBody {
 public:
  /// The def must have passed `check_def`.
  explicit SolidBody(std::shared_ptr<const SolidDef> def);
  SolidBody(std::shared_ptr<const SolidDef> def, LayoutScratch& scratch);

  /// Goes on as the part of another body that broke: `node_of[i]` and `tet_of[i]` are that body's numbers of its nodes
  /// and tets. Moves, is held, has flowed and is pushed as that did.
  void take_over(const SolidBody& whole, std::span<const std::uint32_t> node_of, std::span<const std::uint32_t> tet_of);

  // --- Between steps ----------------------------------------------------------------------------------------------
  void add_force(std::uint32_t node, Vec3 force);
  /// Held from now on; its velocity is what `set_held_velocity` says, zero at first.
  void hold(std::uint32_t node, bool is_held);
  void set_held_velocity(std::uint32_t node, Vec3 velocity);
  void clear_forces();
  /// m/s², of the centre of mass by these forces alone.
  Vec3 acceleration() const;
  void set_position(std::uint32_t node, Vec3 position);
  void set_velocity(std::uint32_t node, Vec3 velocity);

  // --- A substep --------------------------------------------------------------------------------------------------
  /// Elastic forces and the matrix at the present places.
  void assemble(Workers& workers, float dt);
  /// Solves for the velocities at the end of the substep.
  SolveResult solve(Workers& workers, Vec3 gravity, float dt, std::span<const NodeTouch> touches = {});
  void advance(Workers& workers, float dt);
  /// Plastic flow.
  void settle(Workers& workers, float dt);

  // --- A substep in an island of several bodies (solid_island.h), in place of `solve` ------------------------------
  /// The matrix without contacts, and the residual of where the solution starts. Returns the size that a residual is
  /// measured by.
  ImpulseSize begin_island(Workers& workers, Vec3 gravity, float dt);
  SolidSystem& system() { return system_; }
  LaneVectors& residual() { return residual_; }
  /// The velocities as far as they are known; `update_target` takes `state().change` into them.
  const LaneVectors& target() const { return target_; }
  void update_target(Workers& workers);
  bool is_free_slot(std::uint32_t slot) const { return free_[slot] > 0; }
  float mass_of_slot(std::uint32_t slot) const { return masses_[slot]; }
  double mass() const { return mass_; }
  float slop() const { return slop_; }
  /// What the change of velocity lacks of the impulses that forces and damping gave the body, in the units of
  /// `SolidSystem::rigid`.
  RigidMotion missing_impulse(Workers& workers, Vec3 gravity, float dt);
  void add_motion(Workers& workers, const RigidMotion& motion);
  /// Where `contact_work` is given, J, that rows did to it, the body is left no more energy than it had and was given.
  void end_island(Workers& workers, Vec3 gravity, float dt, std::optional<double> contact_work);
  /// Whether a solve may leave it energy that nothing gave it, though it converged.
  bool may_gain_energy() const;
  /// Σ m |v|² if nothing but forces from outside acted in this substep; before `end_island`.
  double free_motion(Vec3 gravity, float dt) const;
  double stored_energy(Workers& workers);
  bool is_held() const { return held_count_ > 0; }
  /// Adds to the velocity of all that is not held; after `end_island`.
  void shift(Vec3 velocity);
  bool is_driven() const;
  /// Share of the strength that it has left to come out of what it overlaps. What is spent comes back with time.
  float strength() const { return 1 - state_.exertion; }
  void spend_strength(double share);
  /// J, of motion and of what will be stored when the substep ends; after `end_island`.
  double energy_after(Workers& workers, float dt);
  /// Leaves the body, if it is not held, no more than ½ `most`² J after this substep; after `end_island`. Returns
  /// whether it would have had more.
  bool bound_motion(Workers& workers, double most, float dt);

  // --- Reading, by node of the mesh ---------------------------------------------------------------------------------
  const SolidDef& def() const { return *def_; }
  std::uint32_t node_count() const { return layout_.node_count; }
  std::uint32_t tet_count() const { return layout_.tet_count; }
  Vec3 position(std::uint32_t node) const { return state_.positions.get(layout_.slot_of_node[node]); }
  Vec3 velocity(std::uint32_t node) const { return state_.velocities.get(layout_.slot_of_node[node]); }
  float mass(std::uint32_t node) const { return masses_[layout_.slot_of_node[node]]; }
  bool is_held(std::uint32_t node) const { return free_[layout_.slot_of_node[node]] == 0; }
  /// The force that holding the node took in the last substep, N.
  Vec3 reaction(std::uint32_t node) const { return reactions_.get(layout_.slot_of_node[node]); }
  SolidTotals totals() const;
  Aabb bounds() const;
  std::size_t bytes() const;

  /// What each contact of the last substep gave: `visit(row, impulse)`.
  template <typename Visit>
  void for_each_contact(Visit&& visit) const {
    std::size_t i = 0;
    contacts_.for_each_impulse(state_.velocities,
                               [&](std::uint32_t, Vec3 impulse) { visit(contacts_.rows()[i++], impulse); });
  }

  SolidState& state() { return state_; }
  const SolidState& state() const { return state_; }
  std::shared_ptr<const SolidDef> shared_def() const { return def_; }
  SolidMemory save() const;
  void load(const SolidMemory& memory);
  /// Forgets how the elements were turned; they find it again from where they are.
  void reset_rotations();
  const SolidLayout& layout() const { return layout_; }
  const SolidElements& elements() const { return elements_; }

 private:
  static constexpr std::size_t kGroupGrain = 64;  ///< groups of eight slots in one piece of work

  SolidBody(std::shared_ptr<const SolidDef> def, LayoutScratch&& scratch) : SolidBody(std::move(def), scratch) {}
  void update_elements(Workers& workers, float dt);
  LaneQuat<float> whole_rotation() const;
  void start_change(Workers& workers);
  void take_share(Workers& workers, float share);
  void take_change(Workers& workers);
  ImpulseSize find_residual(Workers& workers, Vec3 gravity, float dt, bool is_alone);
  ImpulseSize renew_residual(Workers& workers, Vec3 gravity, float dt);
  SolveResult solve_as_one(Workers& workers, Vec3 gravity, float dt);
  SolveResult solve_without_contacts(Workers& workers, const ImpulseSize& threshold, Vec3 gravity, float dt);
  SolveResult solve_with_contacts(Workers& workers, const ImpulseSize& threshold, float dt);
  SolveResult solve_stiff(Workers& workers, Vec3 gravity, float dt);
  LaneVec3<Float8> outer_impulse(std::size_t g, const LaneVec3<Float8>& gravity, float dt) const;
  Vector6 free_momentum(Workers& workers, Vec3 gravity, float dt);
  bool balance_contacts(Vector6& motion, const Vector6& momentum, float dt);
  SolveResult solve_shape(Workers& workers, const Vector6& motion, Vec3 gravity, float dt, float& moved);
  /// How much faster than it should a node may come nearer to what it touches, m/s.
  float allowed_violation(float dt) const { return 0.2f * slop_ / dt; }
  void correct_momentum(Workers& workers, Vec3 gravity, float dt);
  double largest_motion(Workers& workers, Vec3 gravity, float dt);
  double kinetic_energy() const;
  double outer_work(Vec3 gravity, float dt) const;
  double contact_work() const;
  void get_shape_motion(Workers& workers, LaneVectors& shape);
  double energy_with(Workers& workers, const LaneVectors& shape, float share, float dt);
  bool take_shape(Workers& workers, double limit, double slack, float dt);
  void bound_energy(Workers& workers, Vec3 gravity, float dt, double contact_work);
  void bound_turning(Workers& workers);
  void find_reactions(Workers& workers, Vec3 gravity, float dt);
  template <typename Visit>
  void for_groups(Workers& workers, Visit&& visit) {
    parallel_for(workers, layout_.slot_count / 8, kGroupGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) visit(g);
    });
  }

  std::shared_ptr<const SolidDef> def_;
  SolidLayout layout_;
  SolidElements elements_;
  SolidSystem system_;
  std::vector<float> masses_, damping_, free_, tied_;  ///< by slot: kg, kg/s, 0 or 1, kg
  double mass_ = 0;
  float slop_ = 0;  ///< m, the depth of contact that is left alone
  int held_count_ = 0;
  SolidState state_;
  SolidContactRows contacts_;
  SolidMomentSums sums_;
  WholeMotion whole_;
  std::vector<Vec3> touch_changes_;  ///< scratch of `solve_shape`
  LaneVectors forces_, held_velocities_, reactions_;
  LaneVectors internal_, residual_, product_;
  LaneVectors target_;  ///< velocities plus their change, as far as it is known
  struct StartSums {
    ImpulseSize b, pull, unmet;  ///< their squares
    double gain = 0, cost = 0;
  };
  std::vector<StartSums> norms_;      ///< scratch, per chunk
  std::vector<double> energy_parts_;  ///< of `stored_energy` alone
  float turning_ = 0;                 ///< rad, of a free body as a whole in this substep
  double most_energy_ = 0;            ///< J, that it may have after it
};

}  // namespace pliant
