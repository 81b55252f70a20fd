// Rows under heavy loads, all solved at once.
//
// Contacts and yarns that take turns pass on an impulse of about a node's mass times a speed in each turn. Where a body
// of a thousand times the mass lies on a cloth, that takes thousands of turns, and meanwhile it falls through. So all
// rows of a body of nodes under such a load, and the rigid bodies that they act on, are one system here, solved by
// Newton's method. Its solution is backward Euler's:
//
// - a segment is a spring in the direction that it has when the substep ends (with that at its beginning a jump of the
//   load throws light nodes out of their lines), stiff enough for the heaviest body to stretch it by a third of g h²,
//   some hundredths of a millimetre. With the last impulse kept beside the spring, as contacts have it, a chain of such
//   springs in a row swings up. Those of yarns and ropes resist being shortened, too: what only pulls goes slack and
//   taut from round to round, and takes a third to two thirds more time;
// - a contact is a spring of impulse per speed beside the impulse of the last substep, within the cone of friction, as
//   in the islands of solids.
//
// A sparse factor of the nodes' matrix and a dense one of what the rigid bodies see through it make each round exact,
// whatever the ratio of masses. Two or three rounds are usual, more where something hits.
//
// Velocities change only by impulses that act on both sides, so momentum is kept to rounding.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "math/block_cholesky.h"
#include "math/rigid_body_motion.h"
#include "math/vec3d.h"
#include "math/vec4.h"
#include "solve/contact_rows.h"
#include "solve/shared_nodes.h"

namespace pliant {

enum class LoadedLaw : std::uint8_t {
  Contact,  ///< pushes along the normal, rubs across it
  Segment   ///< keeps its two nodes from being too far apart
};

/// Up to three nodes of one body against each other, a rigid body or something fixed.
struct LoadedRow {
  LoadedLaw law = LoadedLaw::Contact;
  std::uint32_t body = 0, count = 0;  ///< of the list of bodies; nodes
  std::array<std::uint32_t, 3> nodes{};
  std::array<float, 3> weights{};
  std::uint32_t rigid = kFixed;
  Vec3 arm{};           ///< from the rigid body's centre of mass
  Vec3 normal{};        ///< unit; of segments as it is when the substep ends
  Vec3 target{};        ///< m/s, of the relative velocity; not of segments
  float rest = 0;       ///< m, of segments
  bool pushes = false;  ///< of segments: resists being shortened, too
  float friction = 0;
  float softness = 0;  ///< m/s per N s; 0: none
  Vec3 impulse{};      ///< N s, on the nodes by their weights: that of the last substep, then what was found
  // Of the solve.
  Vec3d asked{}, applied{};        ///< N s: at the velocities of now; what they have felt
  Vec3d change{}, step{};          ///< m/s, N s: of the round's whole step
  std::array<double, 9> matrix{};  ///< kg: how that changes with them, negated
};

/// What a row gives at the velocities of now, and how that changes with them, negated.
struct RowAnswer {
  Vec3d impulse{};                 ///< N s
  std::array<double, 9> matrix{};  ///< kg
};
/// A segment from one node to another that are `step` apart when the substep ends, on the latter. Under tension it
/// resists what turns it, too. It resists being shortened only where it `pushes`.
RowAnswer segment_answer(Vec3d step, double rest, double stiffness, double h, bool pushes = false);
/// In shares of the heaviest load: the stiffness, in kg, of what keeps its length.
inline constexpr double kLoadedStiffness = 3;

/// A body of nodes in the solve. What it refers to must stay.
struct LoadedBody {
  BlockCholesky3* factor = nullptr;  ///< analyzed for all pairs of nodes that rows and springs join
  std::span<const Vec4> x;
  std::span<Vec4> v;               ///< w: inverse mass, 0 for held nodes
  std::span<const Vec4> v_before;  ///< when the substep began: where the search starts
  std::span<const SharedSpring> springs;
  double load = 0;  ///< kg, of the heaviest rigid body on it
};

class LoadedRows {
 public:
  void clear();
  bool is_empty() const { return body_count_ == 0; }
  std::uint32_t add(const LoadedBody& body);
  void add(const LoadedRow& row) { rows_.push_back(row); }
  std::span<const LoadedRow> rows() const { return rows_; }

  /// Rounds until rows and velocities agree, or until there were `most_rounds`. The first call of a substep finds
  /// velocities that have not felt any of the rows' impulses.
  void solve(Workers& workers, std::span<RigidBodyMotion> rigid, int most_rounds, float h);
  /// Rows get the impulses that were found.
  void finish();

 private:
  struct Body {
    LoadedBody given{};
    std::vector<double> x{};        ///< four numbers for each node: right-hand side, then change of velocity
    std::vector<double> y{};        ///< the same on the way there, in the order of elimination
    std::vector<double> missing{};  ///< N s, of the free velocities: what those of now have not felt yet
  };
  /// How the nodes of a body see a rigid body, by six columns of four numbers for each node; and the same through the
  /// lower factor of the nodes' matrix, in the order of elimination.
  struct Coupling {
    std::uint32_t body = 0, rigid = 0;
    std::vector<double> direct{}, through{};
  };

  // The linear system of a round (loaded_rows_system.cpp).
  void number_rigid(std::span<const RigidBodyMotion> rigid);
  Coupling& coupling(std::uint32_t body, std::uint32_t rigid);
  void assemble(std::span<const RigidBodyMotion> rigid);
  void add_matrix(const LoadedRow& row);
  void add_rigid_matrix(const LoadedRow& row);
  void factor(Workers& workers);
  void add_right_side(const LoadedRow& row);
  void find_steps();
  void find_step(LoadedRow& row) const;

  void start();
  double missing_along();
  void apply(std::span<RigidBodyMotion> rigid, double share);
  void go(std::span<RigidBodyMotion> rigid, float h);
  Vec3d velocity(const LoadedRow& row, std::span<const RigidBodyMotion> rigid) const;
  double judge(LoadedRow& row, std::span<const RigidBodyMotion> rigid, float h);
  void judge_segment(LoadedRow& row, double stiffness, float h);
  void judge_contact(LoadedRow& row, Vec3d trial, double stiffness);
  std::span<Body> bodies() { return {bodies_.data(), body_count_}; }
  std::span<Coupling> couplings() { return {couplings_.data(), coupling_count_}; }
  bool is_moved(std::uint32_t body, std::uint32_t node) const { return bodies_[body].given.v[node].w > 0; }

  // More than there are now, kept for their memory.
  std::vector<Body> bodies_;
  std::vector<Coupling> couplings_;
  std::size_t body_count_ = 0, coupling_count_ = 0;
  std::vector<LoadedRow> rows_;
  std::vector<std::uint32_t> rigid_number_;  ///< by place in the list of rigid bodies
  std::vector<std::uint32_t> rigid_list_;    ///< the other way round
  std::vector<double> rigid_matrix_, rigid_x_;
  bool is_started_ = false;
};

}  // namespace pliant
