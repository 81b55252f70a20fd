// A free body as a whole: its six rigid motions, in double, and what is left of velocities and forces without them.
//
// No element resists a rigid motion. But the matrix of a very stiff body is made of floats, and what rounding makes it
// resist can be many times the body's mass. Such a body is solved apart: its motion as a whole here, from masses,
// outer forces and contacts alone, and its change of shape among the motions that have no momentum and no spin.
#pragma once

#include <vector>

#include "base/parallel.h"
#include "math/cholesky6.h"
#include "math/lane_vectors.h"
#include "solid/solid_contact.h"
#include "solid/solid_momentum.h"

namespace pliant {

/// Velocity and angular velocity here are those about `center`, m/s and rad/s; so are impulses and their moments.
class WholeMotion {
 public:
  /// `tied` is what ties each slot to the world, kg. False if the body is no body: a line, a point, or not finite.
  bool measure(const std::vector<float>& tied, const LaneVectors& positions);

  Vec3 center() const { return center_; }
  /// The motion that an impulse gives the body.
  Vector6 response(const Vector6& impulse) const { return factor_.solve(impulse); }
  /// Σ impulse(group) and its moment.
  template <typename Impulse>
  Vector6 sum(Workers& workers, const LaneVectors& positions, Impulse&& impulse) {
    return sums_.impulses(workers, positions, center_, impulse);
  }
  Vec3 velocity(const Vector6& motion, Vec3 x) const;
  LaneVec3<Float8> velocity(const Vector6& motion, const LaneVec3<Float8>& x) const;

  /// Takes from velocities the motion as a whole, which it returns, or from impulses what moves the body as a whole.
  Vector6 remove_motion(Workers& workers, const LaneVectors& positions, LaneVectors& velocities);
  void remove_impulse(Workers& workers, const LaneVectors& positions, LaneVectors& impulses);

  /// One round of contact: the motion in balance with `impulse` and with what the active rows give, which see the
  /// velocities `others` besides it.
  Vector6 solve_round(const SolidContactRows& rows, const LaneVectors& positions, const LaneVectors& others,
                      const Vector6& impulse) const;

 private:
  const std::vector<float>* tied_ = nullptr;
  Vec3 center_{};
  Cholesky6 inertia_, factor_;
  SolidMomentSums sums_;
};

}  // namespace pliant
