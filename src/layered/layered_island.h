// Layered bodies and the rigid bodies they touch, solved as one system.
//
// Rounds of an augmented Lagrangian (solve/lagrangian_row.h) around conjugate gradients over all members, as for
// solids: multipliers computed apart from the matrix, as Galoppo et al. 2006 §5.3 do, multiply a body's energy by 15.
// The motions of all members as a whole, with the contacts between them, are solved exactly inside the preconditioner.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "layered/layered_system.h"
#include "math/block_cholesky.h"
#include "math/rigid_body_motion.h"
#include "solve/solve_result.h"

namespace pliant {

struct LayeredTolerance {
  float residual = 1e-3f;
  int max_iterations = 400;
  float violation = 1e-4f;  ///< m that a contact may be wrong by
};

class LayeredIsland {
 public:
  void clear();
  /// Has begun, and has its rows. Numbers of rigid bodies in the rows are those that `add_rigid` gives.
  void add_body(LayeredSystem& system) { bodies_.push_back(&system); }
  /// As it would move alone; afterwards as it moves.
  std::uint32_t add_rigid(const RigidBodyMotion& motion);

  SolveResult solve(Workers& workers, const LayeredTolerance& tolerance, float dt);

  const RigidBodyMotion& rigid(std::uint32_t index) const { return rigids_[index].motion; }
  /// The momentum that rows gave a rigid body.
  Vector6 given(std::uint32_t index) const;
  /// What a row gave its node, N s.
  Vec3 impulse(const LayeredSystem& body, const LayeredRow& row) const;

 private:
  struct Rigid {
    RigidBodyMotion motion;
    Vec3d start, angular_start;  ///< velocities that it came with
    Matrix6 mass{};
    Vector6 x{}, r{}, p{}, q{};

    Vec3 velocity_at(Vec3 arm) const { return rounded(x, 0) + cross(rounded(x, 3), arm); }
    Vec3 direction_at(Vec3 arm) const { return rounded(p, 0) + cross(rounded(p, 3), arm); }
    void add(Vector6& to, Vec3 impulse, Vec3 arm) const;
  };
  static constexpr std::size_t kWholeStride = BlockCholeskyDouble::kStride;

  Vec3 relative_velocity(const LayeredSystem& body, const LayeredRow& row) const;
  void set_penalties();
  void add_impulses(float sign);
  void analyze_whole();
  void factor_whole();
  SolveResult iterate(Workers& workers, double threshold, int max_iterations);
  double take_step(Workers& workers, double step);
  double solve_whole();
  Vector6 whole_part(std::size_t member) const;
  std::uint32_t rigid_member(std::uint32_t rigid) const { return static_cast<std::uint32_t>(bodies_.size()) + rigid; }
  void correct_whole();
  bool update_rows(float allowed, bool moves);

  std::vector<LayeredSystem*> bodies_;
  std::vector<Rigid> rigids_;
  Vector6 last_sum_{};  ///< of what the rows give, N s and N m s
  // The members' motions as a whole.
  BlockCholeskyDouble whole_;
  std::vector<double> whole_x_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
};

}  // namespace pliant
