// The linear system of one layered body, in passes over its nodes that conjugate gradients are made of.
//
// Unknowns are the core's velocity V (world axes) and the absolute velocities w of the nodes (body axes), which makes
// the mass block diagonal and a contact a matter of one node. With B V the velocity that the core's motion gives a
// place and e = w − B V,
//
//   A (V, w) = (M V − Bᵀ f, m w + f),    f = (dt² + β dt) K e + dt α m e.
//
// Vectors of unknowns are kept as V and e: what is elastic is small beside what is not, and floats keep it. The
// preconditioner adds up the 3x3 blocks of the nodes, the 6x6 block of the core, and the body's motion as a whole,
// which the layer does not resist; the last is solved with that of all other members (layered_island.h).
//
// An iteration is three passes: `turn_direction`, `multiply`, `take_step`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "layered/layered_layer.h"
#include "math/cholesky6.h"
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
};

inline Vec3d part_of(const Vector6& v, std::size_t first) { return {v[first], v[first + 1], v[first + 2]}; }
inline double dot(const Vector6& a, const Vector6& b) {
  double sum = 0;
  for (std::size_t k = 0; k < 6; ++k) sum += a[k] * b[k];
  return sum;
}
inline Vector6 operator*(const Matrix6& m, const Vector6& v) {
  Vector6 out{};
  for (std::size_t i = 0; i < 36; ++i) out[i / 6] += m[i] * v[i % 6];
  return out;
}
/// Jᵀ W J of a point at `arm` with the 3x3 block W.
void add_point_block(Matrix6& m, Vec3d arm, const LaneSym3<float>& block);
/// The mass of a rigid body about `from`, `offset` from its centre.
Matrix6 mass_matrix(double mass, const std::array<double, 9>& inertia, Vec3d offset);

/// Of point masses, from Σ m, Σ m u and Σ m u uᵀ (xx, yy, zz, xy, xz, yz).
void add_layer_mass(Matrix6& to, const double* sums);

/// A contact of a node, or its limit: a row between a node and a fixed place, a rigid body, or its own core.
struct LayeredRow : LagrangianRow {
  static constexpr std::uint32_t kFixed = 0xffffffff, kOwnCore = 0xfffffffe;
  std::uint32_t node = 0;
  std::uint32_t rigid = kFixed;  ///< of the island
  Vec3 arm{};                    ///< m, world axes, from the centre of mass of the other
  std::uint32_t touch = 0;       ///< where it came from
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
  /// 1/kg, how easily a node gives way along a direction (world axes); after `invert_diagonals`.
  float response(std::uint32_t node, Vec3 direction) const;
  Vec3 node_velocity(std::uint32_t node) const;  ///< world axes, as far as it is known
  Vec3 node_arm(std::uint32_t node) const;       ///< world axes, from the core's centre
  Vec3 core_velocity_at(Vec3 arm) const;
  void add_to_residual(std::uint32_t node, Vec3 impulse);
  void add_to_core_residual(Vec3 impulse, Vec3 arm);

  // --- A round -----------------------------------------------------------------------------------------------------
  /// The inverses of the diagonal blocks, with the rows that push.
  void invert_diagonals(Workers& workers);
  /// x += step · direction, r −= step · product; then the sums of the new residual. Returns r·z but for the whole.
  double take_step(Workers& workers, double step);
  const Vector6& whole_residual() const { return whole_residual_; }
  /// The direction becomes z + beta · direction, where `whole` is the body's part of the solution as a whole.
  void turn_direction(Workers& workers, const Vector6& whole, double beta);
  /// The product of the direction. `velocity_of(row)` is the direction of the other end; what rows gave is in
  /// `row_forces`. Returns direction · product.
  template <typename VelocityOf>
  double multiply(Workers& workers, VelocityOf&& velocity_of);
  std::span<const Vec3> row_forces() const { return row_forces_; }
  /// Moves all of the body; the residual is not touched.
  void add_whole(const Vector6& motion);
  /// Takes the momentum of such a motion out of the residual of a body without rows.
  void remove_whole(Workers& workers, const Vector6& motion);

  // --- Reading -----------------------------------------------------------------------------------------------------
  const Matrix6& whole_mass() const { return whole_mass_; }  ///< of core and layer, about the core's centre
  const Matrix6& core_extra() const { return start_.core_extra; }
  bool core_is_fixed() const { return start_.core_is_fixed; }
  const Vector6& direction() const { return direction6_; }
  const Vector6& velocity() const { return x6_; }
  const LaneVectors& elastic_velocity() const { return x_; }
  const LaneVectors& places() const { return places_; }
  const BodyAxes& axes() const { return start_.axes; }
  double mass() const { return whole_mass_[0]; }
  std::size_t bytes() const;

 private:
  static constexpr std::size_t kGrain = 32;  ///< groups of eight nodes in one piece of work
  struct Sums {
    double values[10] = {};
  };
  /// Adds up `count` values over all groups, in a fixed order: `of_group(group, lanes)` adds to lanes.
  template <typename OfGroup>
  Sums sum_groups(Workers& workers, std::size_t count, OfGroup&& of_group);
  void set_core_block();
  double finish_multiply(const Sums& sums);

  const LayeredLayer* layer_ = nullptr;
  LayeredStart start_;
  float dt_ = 0, stretch_ = 0, drag_ = 0;  ///< s, s², s: of K e and of m e
  LaneVectors places_, x_, r_, e_, q_;
  std::vector<float> inverses_;  ///< 48 for each group
  Vector6 x6_{}, r6_{}, core_z_{}, direction6_{}, product6_{}, whole_residual_{};
  Matrix6 whole_mass_{}, core_mass_{}, core_block_{};
  Cholesky6 core_factor_;
  std::vector<LayeredRow> rows_;
  std::vector<std::uint32_t> row_starts_;  ///< by chunk
  std::vector<Vec3> row_forces_;
  std::vector<Sums> sums_;
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

template <typename VelocityOf>
double LayeredSystem::multiply(Workers& workers, VelocityOf&& velocity_of) {
  const Vector6 body = start_.axes.to_body(direction6_);
  const LaneVec3<Float8> shift = broadcast_vec8(rounded(body, 0)), turn = broadcast_vec8(rounded(body, 3));
  const Float8 stretch = broadcast(stretch_), drag = broadcast(drag_);
  row_forces_.resize(rows_.size());
  const std::size_t groups = layer_->groups();
  sums_.assign((groups + kGrain - 1) / kGrain, {});
  parallel_for(workers, groups, kGrain, [&](std::size_t begin, std::size_t end) {
    Float8 lanes[7] = {};
    for (std::size_t g = begin; g < end; ++g) {
      const LaneVec3<Float8> e = e_.group(g), u = places_.group(g);
      const Float8 mass = load8(layer_->masses() + 8 * g);
      const LaneVec3<Float8> f = layer_->stiffness_times(g, e_.data()) * stretch + e * (mass * drag);
      const LaneVec3<Float8> p = e + shift + cross(turn, u), q = p * mass + f, moment = cross(u, f);
      q_.set_group(g, q);
      lanes[0] += dot(p, q);
      lanes[1] += f.x, lanes[2] += f.y, lanes[3] += f.z;
      lanes[4] += moment.x, lanes[5] += moment.y, lanes[6] += moment.z;
    }
    Sums& out = sums_[begin / kGrain];
    for (std::size_t k = 0; k < 7; ++k) out.values[k] = static_cast<double>(sum(lanes[k]));
    for (std::uint32_t i = row_starts_[begin / kGrain]; i < row_starts_[begin / kGrain + 1]; ++i) {
      const LayeredRow& row = rows_[i];
      row_forces_[i] = {};
      if (!row.active) continue;
      const Vec3 u = places_.get(row.node), at = e_.get(row.node) + rounded(body, 0) + cross(rounded(body, 3), u);
      const Vec3 p = start_.axes.to_world(at);
      row_forces_[i] = row.resist(p - velocity_of(row));
      q_.add(row.node, start_.axes.to_body(row_forces_[i]));
      out.values[0] += static_cast<double>(pliant::dot(p, row_forces_[i]));
    }
  });
  Sums total;
  for (const Sums& part : sums_) {
    for (std::size_t k = 0; k < 7; ++k) total.values[k] += part.values[k];
  }
  return finish_multiply(total);
}

}  // namespace pliant
