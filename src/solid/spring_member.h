// Nodes of a cloth, rope or jelly as a member of an island of solids: masses, and springs between them.
//
// The unknowns are what the island adds to the velocities that the body's own rows found (solve/shared_nodes.h). The
// preconditioner is that of the other members: the 3x3 blocks of the diagonal, and, where no node is held, the motion
// of all as a whole.
#pragma once

#include <cstdint>
#include <vector>

#include "math/lane_math.h"
#include "math/vec3d.h"
#include "solve/shared_nodes.h"
#include "solve/whole_of_nodes.h"

namespace pliant {

class SpringMember {
 public:
  static constexpr std::uint32_t kNoLevel = 0xffffffff;
  std::uint32_t level = kNoLevel;   ///< its place among the members as a whole
  double own_scale = 0, scale = 0;  ///< N s, what a residual is judged by: without rows, and with them
  double residual = 0;              ///< N s
  Vector6 whole{};                  ///< the force on all together, when their motion was last asked for
  SharedNodes* shared = nullptr;    ///< whose nodes they are
  /// Where rows act.
  struct Push {
    std::uint32_t row, node;
    float weight;
  };
  std::vector<Push> pushes;

  void begin(SharedNodes& nodes);
  double mass() const { return whole_.mass(); }
  double radius() const { return whole_.radius(); }
  bool is_free() const { return whole_.is_free(); }
  Vec3 velocity(std::uint32_t node) const { return shared->v[node] + x_[node].to_float(); }
  Vec3 direction(std::uint32_t node) const { return p_[node].to_float(); }
  Vec3d arm(std::uint32_t node) const { return whole_.arm(node); }
  void add_to_residual(std::uint32_t node, Vec3 impulse) {
    if (is_moved(node)) r_[node] += Vec3d(impulse);
  }

  void clear_extras();
  void add_extra(std::uint32_t node, const LaneSym3<float>& block);
  void invert_diagonals();
  /// How fast the node moves along `normal` for a unit impulse along it, alone.
  float response(std::uint32_t node, Vec3 normal) const;

  /// Goes `step` along the direction, and preconditions the residual; returns r·z.
  double precondition(double step);
  /// The residual as it acts on the whole; and a motion of the whole, to be added to what is preconditioned.
  Vector6 whole_force() const;
  void add_whole_motion(const Vector6& motion);
  /// The mass and inertia of the whole, as a level has them.
  void set_whole_matrix(double (&block)[36]) const { whole_.get_matrix(block); }
  void renew_direction(double beta);
  /// The product of the direction with masses and springs; rows add theirs.
  void multiply();
  void add_to_product(std::uint32_t node, Vec3 force) {
    if (is_moved(node)) q_[node] += Vec3d(force);
  }
  double curvature() const;

  /// What all has gained so far, as a level counts it.
  Vector6 gained() const;
  /// Moves all as a whole.
  void move(const Vector6& motion);
  /// Σ m |v|² as the body's own rows left them.
  double motion_before() const {
    return whole_.motion_squared([&](std::size_t i) { return Vec3d(shared->v[i]); });
  }
  /// The same as they are now.
  double motion() const {
    return whole_.motion_squared([&](std::size_t i) { return Vec3d(shared->v[i]) + x_[i]; });
  }
  Vec3d momentum() const {
    return whole_.momentum([&](std::size_t i) { return Vec3d(shared->v[i]) + x_[i]; });
  }
  /// Leaves the nodes no more than ½ `most`² J. Returns whether they had more.
  bool bound_motion(double most);
  void end();

 private:
  bool is_moved(std::uint32_t node) const { return whole_.is_moved(node); }

  WholeOfNodes whole_;
  std::vector<Vec3d> x_, r_, z_, p_, q_;
  std::vector<LaneSym3<double>> diagonal_, extra_, inverse_;
};

}  // namespace pliant
