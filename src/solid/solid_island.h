// Solids and rigid bodies that touch each other, solved as one system.
//
// Rounds of an augmented Lagrangian, as for a solid that touches the world alone (solid_contact.h): inside each, one
// run of conjugate gradients over the velocities of all members, with the contacts' penalties in the matrix. Rigid
// bodies are 6x6 blocks of the same system, so a heavy body on a soft one is no special case. So are nodes of cloth,
// rope and jelly (spring_member.h), and guests: bodies of other kinds that bring their own matrix
// (solve/island_guest.h).
//
// The preconditioner has three levels: the diagonal blocks and the aggregates of each solid, as when it is alone, and
// the motions of all free members as a whole with the contacts between them, solved exactly. The last is what carries
// a weight down through a stack in one iteration.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "math/block_cholesky.h"
#include "math/rigid_body_motion.h"
#include "math/vec3d.h"
#include "solid/solid_body.h"
#include "solid/spring_member.h"
#include "solve/island_guest.h"
#include "solve/lagrangian_row.h"
#include "solve/load_paths.h"

namespace pliant {

/// A rigid body of an island.
struct IslandRigid {
  RigidBodyMotion motion;                             ///< before the solve: as it would move alone
  Vec3 velocity_before{}, angular_velocity_before{};  ///< where the solution starts
};

/// What a row acts on: a point of a member, or nothing that gives way.
struct IslandRowEnd {
  static constexpr std::uint32_t kFixed = 0xffffffff;
  std::uint32_t member = kFixed;
  std::uint32_t count = 0;  ///< of slots of a solid, of shared nodes, or of a guest's nodes
  std::array<std::uint32_t, 4>
      slots{};  ///< of the solid's layout, places among the shared nodes, or nodes of the guest
  std::array<float, 4> weights{};
  Vec3 arm{};  ///< m, of a rigid body: from its centre of mass
};

struct IslandRow : LagrangianRow {
  static constexpr float kNotWeighed = -1, kNotLooked = 1e30f;
  IslandRowEnd a, b;            ///< the velocity that counts is that of a less that of b
  Vec3 given_a{}, given_b{};    ///< N s, of what the row gives its ends: what their velocities have felt already
  bool is_driven = false;       ///< the end that does not give way moves
  float weighed = kNotWeighed;  ///< the share across that the preconditioner counts with, if with the row at all
  float load = 0;               ///< kg, that may press through it
  float overlap = 0;            ///< m, as it begins
  float mending = 0;            ///< m/s along the normal, the part of the target that brings things out of each other
  float missed = kNotLooked;    ///< m/s, by how much the row was wrong when that was last looked at

  /// The end that does not give way has this velocity, m/s.
  void follow(Vec3 velocity) {
    target += velocity;
    is_driven = velocity != Vec3{};
  }
  /// Things this far apart come nearer no faster than they may, and part where they overlap.
  void keep_apart(float gap, float slop, float dt) {
    const float speed = contact_target_speed(gap, slop, dt);
    target = normal * speed;
    mending = std::max(speed, 0.0f);
    overlap = std::max(-gap, 0.0f);
  }
  /// Things part no slower than this, m/s.
  void bounce(float speed) {
    const float before = dot(target, normal);
    if (speed <= before) return;
    target += normal * (speed - before);
    mending = 0;
  }
  /// Asks for less mending from the next round on. What it has given stays given.
  void lower_mending(float speed);
  /// Asks for no more mending than there is, where there is no more to be had (SolidIsland::drop_mending).
  void drop_mending(Vec3 velocity, float allowed);
  /// Brings `weighed` up to date where it is far off. (Sliding rows change a little in every round; members whose rows
  /// change no more than that keep their factors.) Returns whether it changed.
  bool weigh();
};

/// A row of a joint between two rigid members (SharedJointRow), as an augmented Lagrangian.
struct IslandJointRow {
  std::uint32_t a = IslandRowEnd::kFixed, b = IslandRowEnd::kFixed;  ///< members
  Vec3 linear{}, angular_a{}, angular_b{};
  float target = 0, least = 0, most = 0;
  float penalty = 0, multiplier = 0, held = 0;
  bool active = false, next_active = false;  ///< within its limits

  /// As `LagrangianRow::judge`.
  float judge(float speed) {
    const float trial = multiplier - penalty * (speed - target);
    next_active = trial > least && trial < most;
    return std::clamp(trial, least, most);
  }
  void begin_round() { active = next_active, held = multiplier; }
  float impulse(float speed) const { return active ? held - penalty * (speed - target) : held; }
};

class SolidIsland {
 public:
  void clear();
  /// Members are numbered in the order in which they are added: solids first, then rigid bodies, then shared nodes,
  /// then guests.
  std::uint32_t add_solid(SolidBody& body, Vec3 gravity);
  std::uint32_t add_rigid(const IslandRigid& rigid);
  std::uint32_t add_nodes(SharedNodes& nodes);
  std::uint32_t add_guest(IslandGuest& guest);
  void add_row(const IslandRow& row) { rows_.push_back(row); }
  void add_joint_row(const IslandJointRow& row) { joints_.push_back(row); }

  /// The solids must have been assembled. Afterwards they have their new velocities, and `rigid` and `rows` the rest.
  SolveResult solve(Workers& workers, float dt);

  const RigidBodyMotion& rigid(std::uint32_t member) const { return rigids_[member - solids_.size()].motion; }
  std::span<const IslandRow> rows() const { return rows_; }
  std::span<const IslandJointRow> joint_rows() const { return joints_; }
  float impulse(const IslandJointRow& row) const { return row.impulse(speed(row)); }
  /// The momentum that rows gave a rigid member.
  Vector6 given(std::uint32_t member) const {
    const Rigid& rigid = rigids_[member - solids_.size()];
    return rigid.momentum(rigid.x);
  }
  /// What a row gave its end a, N s.
  Vec3 impulse(const IslandRow& row) const { return row.impulse(relative_velocity(row)); }
  Vec3 relative_velocity(const IslandRow& row) const { return velocity(row.a) - velocity(row.b); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::size_t kRowGrain = 128;
  static constexpr std::size_t kBatchGroups = 64;  ///< of eight slots, in one piece of work

  /// Where a row acts on a slot.
  struct Entry {
    std::uint32_t row, lane;
    float weight;
  };
  struct Solid {
    SolidBody* body = nullptr;
    Vec3 gravity{};
    ImpulseSize own_scale{}, scale{};  ///< what a residual is measured by: without contacts, and with them
    ImpulseSize residual{};
    double product = 0;
    std::array<double, 36> whole{};  ///< what ties it to the world as a whole
    Vector6 force{};
    std::uint32_t level = kNone;          ///< its place among the members as a whole
    std::vector<std::uint32_t> starts{};  ///< of the entries of each group
    std::vector<Entry> entries{};
  };
  struct Push {
    std::uint32_t row;
    float sign;
    Vec3 arm;
  };
  struct Rigid {
    RigidBodyMotion motion;
    Vec3 start, angular_start;  ///< the velocities of `motion` that it came with
    double mass = 0, radius = 1, residual = 0;
    double own_scale = 0, scale = 0;  ///< N s, what a residual is measured by: without contacts, and with them
    std::array<std::array<double, 3>, 3> inertia{};
    Vector6 x{}, r{}, z{}, p{}, q{};  ///< change of velocity, residual, preconditioned, direction, product
    std::uint32_t level = kNone;
    std::vector<Push> pushes{};

    Vector6 momentum(const Vector6& v) const;
    /// N s, of an impulse and its torque.
    double size(const Vector6& impulse) const;
    /// Twice its kinetic energy, J: now, and when it came.
    double motion_squared() const { return motion_squared(motion.velocity, motion.angular_velocity); }
    double motion_squared_before() const { return motion_squared(start, angular_start); }
    double motion_squared(Vec3 velocity, Vec3 angular_velocity) const;
    /// Leaves it no more than ½ `most`² J. Returns whether it had more.
    bool bound_motion(double most);
    void set_change();
  };
  /// A guest, with those of its nodes that rows act on.
  struct Guest {
    IslandGuest* member = nullptr;
    std::uint32_t level = kNone;
    Vector6 whole{};
    std::vector<std::uint32_t> nodes{};
    std::vector<SpringMember::Push> pushes{};  ///< with places among the nodes
    std::vector<Vec3> velocities{}, directions{}, forces{};
    std::vector<Vec3d> arms{};
    std::vector<LaneSym3<float>> blocks{};  ///< how easily the nodes give way; then, what rows add to their diagonals
  };
  struct Task {
    std::uint32_t solid, chunk;
  };
  /// All rows between two members as wholes, and what they add to the matrix.
  struct LevelRows {
    std::uint32_t a, b;        ///< levels, or kNone
    std::uint32_t begin, end;  ///< in level_order_
    bool is_stale = true;
    std::array<double, 36> aa{}, bb{}, ab{};
  };

  /// What the members may have after a substep.
  struct MotionLimit {
    double energy = 0;  ///< J, all together
    double speed = 0;   ///< m/s, of the fastest member as it came
  };

  bool is_solid(const IslandRowEnd& end) const { return end.member < solids_.size(); }
  bool is_rigid(const IslandRowEnd& end) const {
    return !is_solid(end) && end.member < solids_.size() + rigids_.size();
  }
  bool is_nodes(const IslandRowEnd& end) const {
    return end.member >= solids_.size() + rigids_.size() && end.member < first_guest();
  }
  bool is_guest(const IslandRowEnd& end) const {
    return end.member >= first_guest() && end.member < IslandRowEnd::kFixed;
  }
  std::size_t first_guest() const { return solids_.size() + rigids_.size() + nodes_count_; }
  const Guest& guest_of(const IslandRowEnd& end) const { return guests_[end.member - first_guest()]; }
  Guest& guest_of(const IslandRowEnd& end) { return guests_[end.member - first_guest()]; }
  const SpringMember& nodes_of(const IslandRowEnd& end) const {
    return nodes_[end.member - solids_.size() - rigids_.size()];
  }
  SpringMember& nodes_of(const IslandRowEnd& end) { return nodes_[end.member - solids_.size() - rigids_.size()]; }
  Vec3 velocity(const IslandRowEnd& end) const;
  Vec3 direction(const IslandRowEnd& end) const;
  void begin(Workers& workers, float dt);
  void index_rows();
  void list_masses();
  double find_loads();
  void set_penalties();
  void number_levels(Workers& workers);
  void begin_round(Workers& workers, bool is_first);
  void change_impulses(Workers& workers, bool is_first);
  void add_pushes(const Rigid& rigid, Vector6& to) const;
  void add_to_residual(const IslandRowEnd& end, Vec3 impulse);
  float speed(const IslandJointRow& row) const;
  /// Calls `visit(rigid, axis)` for the members that a joint's row acts on, with the row as it acts on their motion.
  template <typename Visit>
  void for_each_end(const IslandJointRow& row, Visit&& visit);
  void list_level_rows();
  void assemble_levels(Workers& workers, bool is_first);
  void add_level_row(std::size_t index, LevelRows& to) const;
  void add_level_row(const IslandJointRow& row);
  SolveResult iterate(Workers& workers, int max_iterations, double enough);
  double precondition(Workers& workers, double step);
  double solve_levels();
  void renew_direction(Workers& workers, double beta);
  double multiply(Workers& workers);
  bool is_converged();
  void end_solids(Workers& workers, float dt);
  double work_on(const Solid& solid) const;
  std::optional<MotionLimit> find_motion_limit(Workers& workers, float dt);
  double asked_motion() const;
  bool is_squeezed() const;
  void bound_motion(Workers& workers, const MotionLimit& limit, float dt);
  bool is_in_flight() const;
  Vec3d total_momentum();
  void shift(Vec3d velocity);
  void update_velocities(Workers& workers);
  RowProgress update_multipliers(Workers& workers);
  void limit_mending();
  void drop_mending(Workers& workers, float allowed);
  void count_mending();
  bool are_rows_met(float worst, float allowed) const;
  void begin_guests(Workers& workers);
  void list_guest_nodes();
  void gather_forces(Guest& guest) const;
  float response_of(const IslandRowEnd& end, std::size_t k, Vec3 normal) const;
  void correct_momentum(Workers& workers, float dt);
  std::uint32_t level_of(const IslandRowEnd& end) const;
  /// From the origin of the member's level, over its radius.
  Vec3d level_arm(const IslandRowEnd& end) const;
  std::span<Guest> guests() { return {guests_.data(), guest_count_}; }
  std::span<const Guest> guests() const { return {guests_.data(), guest_count_}; }
  std::span<SpringMember> spring_members() { return {nodes_.data(), nodes_count_}; }
  void share_out();
  template <typename Visit>
  void for_solids(Workers& workers, Visit&& visit);
  template <typename Visit>
  void for_rows(Workers& workers, Visit&& visit);
  /// Calls `visit(slot, entry)` for all that acts on a solid.
  template <typename Visit>
  static void for_each_entry(const Solid& solid, Visit&& visit);
  template <typename Body>
  double sum_tasks(Workers& workers, Body&& body);

  std::vector<Solid> solids_;
  std::vector<Rigid> rigids_;
  std::vector<SpringMember> nodes_;  ///< more than there are members of this kind, kept for their memory
  std::size_t nodes_count_ = 0;
  std::vector<Guest> guests_;  ///< likewise
  std::size_t guest_count_ = 0;
  std::vector<IslandRow> rows_;
  std::vector<IslandJointRow> joints_;
  LoadPaths loads_;
  std::vector<double> masses_;  ///< by member
  std::vector<LoadPaths::Pair> touching_;
  std::vector<Task> tasks_;
  // Splinters of a few nodes each are worked on many at a time. Where each piece of work begins:
  std::vector<std::uint32_t> solid_batches_, task_batches_;
  std::vector<Vec3> row_velocities_;     ///< relative, when the multipliers were last updated
  std::vector<Vec3> row_impulses_;       ///< N s, at the beginning of the round
  std::vector<Vec3> row_forces_;         ///< what all rows add to the product; nothing where they do not push
  std::vector<std::uint8_t> row_stale_;  ///< the preconditioner must count with it differently
  std::vector<RowProgress> progress_;
  std::vector<SolidSystem::Sums> sums_;
  BlockCholeskyDouble levels_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> level_pairs_;
  std::vector<double> level_x_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> level_order_;  ///< levels and row
  std::vector<LevelRows> level_rows_;
  std::vector<std::array<Vec3d, 2>> level_arms_;  ///< of the ends of the rows
  Workers alone_{1};
};

// Implementation ------------------------------------------------------------------------------------------------------

template <typename Visit>
void SolidIsland::for_rows(Workers& workers, Visit&& visit) {
  parallel_for(workers, rows_.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) visit(i);
  });
}

template <typename Visit>
void SolidIsland::for_each_end(const IslandJointRow& row, Visit&& visit) {
  const auto axis = [](Vec3 linear, Vec3 angular) {
    Vector6 out{};
    add_to(out, 0, Vec3d(linear)), add_to(out, 3, Vec3d(angular));
    return out;
  };
  if (row.a != IslandRowEnd::kFixed) visit(rigids_[row.a - solids_.size()], axis(-row.linear, -row.angular_a));
  if (row.b != IslandRowEnd::kFixed) visit(rigids_[row.b - solids_.size()], axis(row.linear, row.angular_b));
}

template <typename Visit>
void SolidIsland::for_solids(Workers& workers, Visit&& visit) {
  if (solids_.size() < 4) {
    for (Solid& solid : solids_) visit(workers, solid);
    return;
  }
  parallel_for(workers, solid_batches_.size() - 1, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = solid_batches_[begin]; i < solid_batches_[end]; ++i) visit(alone_, solids_[i]);
  });
}

template <typename Body>
double SolidIsland::sum_tasks(Workers& workers, Body&& body) {
  parallel_for(workers, task_batches_.size() - 1, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = task_batches_[begin]; t < task_batches_[end]; ++t) {
      Solid& solid = solids_[tasks_[t].solid];
      sums_[t] = body(solid, solid.body->system().chunks()[tasks_[t].chunk]);
    }
  });
  double total = 0;
  for (const SolidSystem::Sums& sum : sums_) total += sum.product;
  return total;
}

template <typename Visit>
void SolidIsland::for_each_entry(const Solid& solid, Visit&& visit) {
  for (std::uint32_t g = 0; g + 1 < solid.starts.size(); ++g) {
    for (std::uint32_t e = solid.starts[g]; e < solid.starts[g + 1]; ++e) {
      visit(8 * g + solid.entries[e].lane, solid.entries[e]);
    }
  }
}

}  // namespace pliant
