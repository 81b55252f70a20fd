// The linear system of one layered body, in passes over its nodes that conjugate gradients are made of.
//
// Unknowns are the core's velocity V (world axes) and the absolute velocities w of the nodes (body axes), which makes
// the mass block diagonal and a contact a matter of one node. With B V the velocity that the core's motion gives a
// place and e = w − B V,
//
//   A (V, w) = (M V − Bᵀ f, m w + f),    f = (dt² + β dt) K e + dt α m e.
//
// Vectors of unknowns are kept as V and e: what is elastic is small beside what is not, and floats keep it. The
// preconditioner adds up the 3x3 blocks of the nodes, patches of skin and the core (layered_levels.h), and the body's
// motion as a whole, which the layer does not resist; the last is solved with that of all that it touches.
//
// An iteration is three passes: `turn_direction`, `multiply`, `take_step`. A body that touches nothing that gives way
// is solved by layered_solver.h, others as members of an island (layered_guest.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "layered/layered_layer.h"
#include "layered/layered_levels.h"
#include "math/cholesky6.h"
#include "solve/island_guest.h"
#include "solve/lagrangian_row.h"

namespace pliant {

/// A rotation as a matrix, for passes over nodes.
struct BodyAxes {
  Mat3 world_from_body;

  explicit BodyAxes(Quat rotation = {});
  Vec3 to_world(Vec3 v) const { return world_from_body * v; }
  Vec3 to_body(Vec3 v) const;
  Vec3d to_world(Vec3d v) const;
  Vec3d to_body(Vec3d v) const;
  Vector6 to_world(const Vector6& v) const;
  Vector6 to_body(const Vector6& v) const;
  Matrix6 to_world(const Matrix6& m) const;
  Matrix6 to_body(const Matrix6& m) const;
};

inline Vec3d part_of(const Vector6& v, std::size_t first) { return {v[first], v[first + 1], v[first + 2]}; }
inline double dot(const Vector6& a, const Vector6& b) {
  double sum = 0;
  for (std::size_t k = 0; k < 6; ++k) sum += a[k] * b[k];
  return sum;
}
/// Jᵀ of a point: what an impulse at `arm` does to a motion.
inline Vector6 wrench(Vec3d impulse, Vec3d arm) {
  const Vec3d moment = cross(arm, impulse);
  return {impulse.x, impulse.y, impulse.z, moment.x, moment.y, moment.z};
}
inline Vector6 operator*(const Matrix6& m, const Vector6& v) {
  Vector6 out{};
  for (std::size_t i = 0; i < 36; ++i) out[i / 6] += m[i] * v[i % 6];
  return out;
}
/// Of mass, from the point that the matrix is about.
inline Vec3d center_of(const Matrix6& mass) { return Vec3d(mass[31], mass[20], mass[24]) / mass[0]; }
/// Jᵀ W J of a point at `arm` with the 3x3 block W.
void add_point_block(Matrix6& m, Vec3d arm, const LaneSym3<float>& block);
/// The mass of a rigid body about `from`, `offset` from its centre.
Matrix6 mass_matrix(double mass, const std::array<double, 9>& inertia, Vec3d offset);

/// Of point masses, from Σ m, Σ m u and Σ m u uᵀ (xx, yy, zz, xy, xz, yz).
void add_layer_mass(Matrix6& to, const double* sums);

/// A row of a body's own, with what does not give way or between a node and its core.
struct LayeredRow : LagrangianRow {
  enum class Kind : std::uint8_t {
    Contact,  ///< of a node
    Limit,    ///< between a node and its own core
    Floor,    ///< a contact of the core below a node: what presses the skin flat rests on that, not on light nodes
  };
  Kind kind = Kind::Contact;
  std::uint32_t node = 0;
  float strongest = 0;      ///< kg, what its penalty may grow to
  Vec3 arm{};               ///< m, world axes: of limits and floors, where they push the core
  std::uint32_t touch = 0;  ///< where it came from
};

/// The numbers of a body that a step begins with.
struct LayeredStart {
  const LaneVectors* displacement = nullptr;
  const LaneVectors* plastic = nullptr;
  const LaneVectors* elastic_velocity = nullptr;
  BodyAxes axes;
  Vector6 velocity{};                                        ///< of the core, world axes
  Vec3 gravity{};                                            ///< m/s²
  Vector6 core_impulse{};                                    ///< N s, N m s, of springs and forces on the core
  Matrix6 core_extra{};                                      ///< what springs add to the core's block
  std::span<const std::pair<std::uint32_t, Vec3>> pushes{};  ///< on nodes, N s, world axes
  float mass_damping = 0, stiffness_damping = 0;
  bool core_is_fixed = false;
};

class LayeredSystem {
 public:
  /// The residual at the velocities that the step begins with, without contacts.
  void begin(Workers& workers, const LayeredLayer& layer, const LayeredStart& start, float dt);

  // --- Rows --------------------------------------------------------------------------------------------------------
  std::vector<LayeredRow>& rows() { return rows_; }
  const std::vector<LayeredRow>& rows() const { return rows_; }
  /// After rows were added: orders them.
  void index_rows();
  Vec3 row_velocity(const LayeredRow& row) const;
  Vec3 row_arm(const LayeredRow& row) const;  ///< world axes, where it pushes the body
  Vec3 row_impulse(const LayeredRow& row) const { return row.impulse(row_velocity(row)); }  ///< on its node, N s
  /// From how easily the nodes give way, and from the heaviest of all that touch: a heavy body must not sink in.
  /// `strength` is κ, at most kSoftPenalty.
  void set_penalties(float heaviest, float strength);
  /// Which rows would push at the velocities so far; returns how many of them do not in this round, or the other way
  /// round, over those that do.
  double judge_rows();
  void begin_round();
  void add_row_impulses(float sign);
  struct RowSums {
    RowProgress progress;
    float skin_violation = 0, core_violation = 0;  ///< m/s, the largest; the second of floors
    double size = 0;                               ///< of the multipliers, N s
    Vec3d moment{};      ///< of their sizes: the arm of the centre of pressure, times the size
    double spread = 0;   ///< Σ |λ| |arm|²
    Vector6 given{};     ///< by them to the body, N s and N m s, world axes
    double opening = 0;  ///< Σ of impulses times the speeds at which what they push opens, J: none where all is right
    // Of contacts that push:
    double pressed = 0;  ///< along their normals, N s
    double footing = 0;  ///< under them (LayeredLayer::footing), N/m
  };
  /// After a round: the rows take the velocities that it found.
  RowSums update_rows();
  /// Between rounds: all contacts are held by more from now on. (By more only where they are still wrong, a body that
  /// lands straight slides off to a side.)
  void strengthen_rows();
  /// Calls `visit(begin, end, chunk)` for runs of rows, on all threads; no node has rows in two of them.
  template <typename Visit>
  void for_row_chunks(Visit&& visit);
  std::size_t row_chunks() const { return (rows_.size() + kRowGrain - 1) / kRowGrain; }
  /// 1/kg, how easily a node gives way along a direction (world axes); after `invert_diagonals`.
  float response(std::uint32_t node, Vec3 direction) const;
  Vec3 node_velocity(std::uint32_t node) const;  ///< world axes, as far as it is known
  Vec3 node_arm(std::uint32_t node) const;       ///< world axes, from the core's centre
  Vec3 core_arm(std::uint32_t node) const;       ///< the same of the point of the core below a node
  Vec3 core_velocity_at(Vec3 arm) const;
  void add_to_residual(std::uint32_t node, Vec3 impulse);
  void add_to_core_residual(Vec3 impulse, Vec3 arm);

  // --- A round -----------------------------------------------------------------------------------------------------
  /// The preconditioner, with the rows that push.
  void invert_diagonals(Workers& workers);
  /// What rows of others add to the diagonals: blocks in world axes, for ascending nodes, and of the core.
  void set_extras(std::span<const std::uint32_t> nodes, std::span<const LaneSym3<float>> blocks,
                  const Matrix6& of_core = {});
  /// x += step · direction, r −= step · product; then the sums of the new residual. Returns r·z but for the whole.
  double take_step(Workers& workers, double step);
  const Vector6& whole_residual() const { return whole_residual_; }
  /// The direction becomes z + beta · direction, where `whole` is the body's part of the solution as a whole.
  void turn_direction(Workers& workers, const Vector6& whole, double beta);
  /// The product of the direction. Returns direction · product.
  double multiply(Workers& workers);
  /// What a row of others adds to the product; returns its part of direction · product.
  double add_to_product(std::uint32_t node, Vec3 force);
  double add_to_core_product(Vec3 arm, Vec3 force);
  /// Moves all of the body; the residual is not touched.
  void add_whole(const Vector6& motion);
  /// Leaves so much of all velocities, and of those against the core.
  void slow_down(float all, float elastic);
  /// Takes the momentum of such a motion out of the residual of a body without rows.
  void remove_whole(Workers& workers, const Vector6& motion);

  // --- Reading -----------------------------------------------------------------------------------------------------
  const Matrix6& whole_mass() const { return whole_mass_; }  ///< of core and layer, about the core's centre
  Matrix6 whole_matrix();                                    ///< the same, with springs and the rows that push
  const Matrix6& core_extra() const { return start_.core_extra; }
  bool core_is_fixed() const { return start_.core_is_fixed; }
  Vec3 node_direction(std::uint32_t node) const;  ///< world axes
  Vec3 core_direction_at(Vec3 arm) const { return rounded(direction6_, 0) + cross(rounded(direction6_, 3), arm); }
  LaneSym3<float> node_response(std::uint32_t node) const;  ///< 1/kg, world axes; after `invert_diagonals`
  const Vector6& velocity() const { return x6_; }
  const Vector6& start_velocity() const { return start_.velocity; }
  const LaneVectors& elastic_velocity() const { return x_; }
  const LaneVectors& places() const { return places_; }
  const BodyAxes& axes() const { return start_.axes; }
  double mass() const { return whole_mass_[0]; }
  std::size_t bytes() const;

 private:
  static constexpr std::size_t kGrain = 64;  ///< groups of eight nodes in one piece of work
  static constexpr std::size_t kRowGrain = 128;
  struct Sums {
    double values[10] = {};
  };
  /// Adds up `count` values over all groups, in a fixed order: `of_group(group, lanes)` adds to lanes.
  template <typename OfGroup>
  Sums sum_groups(Workers& workers, std::size_t count, OfGroup&& of_group);
  void list_blocks();
  void add_centrifugal(Workers& workers, const Matrix6& of_layer);
  Matrix6 core_block() const;
  LaneSym3<float> inverse_block(std::uint32_t node) const;
  double multiply_rows(std::size_t begin, std::size_t end);
  double multiply_core_rows();
  double finish_multiply(const Sums& sums);

  Workers* workers_ = nullptr;  ///< of this substep
  const LayeredLayer* layer_ = nullptr;
  LayeredStart start_;
  float dt_ = 0, stretch_ = 0, drag_ = 0;  ///< s, s², s: of K e and of m e
  LaneVectors places_, x_, q_;
  QuadVectors r_, e_;            ///< what matrices are multiplied with
  std::vector<float> inverses_;  ///< 48 for each group
  LayeredLevels levels_;
  Vector6 x6_{}, r6_{}, core_z_{}, direction6_{}, product6_{}, whole_residual_{};
  Matrix6 whole_mass_{}, core_mass_{}, core_block_{};
  std::vector<LayeredRow> rows_;
  std::vector<std::uint32_t> core_rows_;  ///< limits and floors that push
  // Body axes, by ascending node.
  std::vector<NodeBlock> extras_;  ///< of rows of others
  Matrix6 core_extras_{};          ///< of those that push the core, world axes
  std::vector<NodeBlock> held_;    ///< of contacts that push
  std::vector<NodeBlock> blocks_;  ///< of all of these and limits: what is added to the diagonals
  // The inverses of groups that nothing touches are those of the last step.
  const LayeredLayer* inverted_layer_ = nullptr;
  float inverted_stretch_ = 0, inverted_drag_ = 0;
  std::vector<std::uint32_t> touched_groups_, groups_before_;
  std::vector<Sums> sums_;
  std::vector<RowSums> row_sums_;
  std::vector<Matrix6> blocks_of_chunks_;
};

// Implementation ------------------------------------------------------------------------------------------------------

template <typename OfGroup>
LayeredSystem::Sums LayeredSystem::sum_groups(Workers& workers, std::size_t count, OfGroup&& of_group) {
  const std::size_t groups = layer_->groups();
  sums_.assign((groups + kGrain - 1) / kGrain, {});
  parallel_for(workers, groups, kGrain, [&](std::size_t begin, std::size_t end) {
    Float8 lanes[10] = {};
    for (std::size_t g = begin; g < end; ++g) of_group(g, lanes);
    for (std::size_t k = 0; k < count; ++k) sums_[begin / kGrain].values[k] = static_cast<double>(sum(lanes[k]));
  });
  Sums total;
  for (const Sums& part : sums_) {
    for (std::size_t k = 0; k < count; ++k) total.values[k] += part.values[k];
  }
  return total;
}

template <typename Visit>
void LayeredSystem::for_row_chunks(Visit&& visit) {
  const auto after_node = [&](std::size_t i) {
    while (i > 0 && i < rows_.size() && rows_[i].node == rows_[i - 1].node) ++i;
    return i;
  };
  parallel_for(*workers_, rows_.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    visit(after_node(begin), after_node(end), begin / kRowGrain);
  });
}

}  // namespace pliant
