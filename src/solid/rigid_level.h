// The coarsest level of a solid's preconditioner: the six rigid motions of the body as a whole, in double.
//
// What a rigid motion does to a free body is decided by its mass alone, since no element resists it. In the matrix of
// the aggregates this is the small difference of large stiffnesses: floats lose it from about 1e8 Pa on. Here it is
// computed from the masses (and contacts) alone, so that it stays exact at any stiffness.
#pragma once

#include <cstddef>
#include <vector>

#include "math/cholesky6.h"
#include "pliant/math.h"

namespace pliant {

/// Velocity and angular velocity times the body's radius, about the reference point; or force and torque over it.
using RigidMotion = Vector6;

class RigidLevel {
 public:
  /// `radius` is about that of the body, m.
  void prepare(std::size_t aggregates, double radius);
  /// Aggregate `a` lies `offset` from the reference point.
  void place(std::size_t a, Vec3 offset, float radius);

  /// The matrix: sums of the aggregates' own 6x6 blocks (row-major) of all that ties them to the world.
  void clear() { factor_.clear(); }
  void add(std::size_t a, const double* block);
  const std::array<double, 36>& matrix() const { return factor_.entries(); }
  void factor() { factor_.factor(); }

  /// What the forces `r` on the aggregates (eight floats each, as the coarse level has them) are to the body.
  RigidMotion whole_force(const float* r) const;
  /// Adds a motion of the body to those of the aggregates.
  void add_motion(const RigidMotion& motion, float* x) const;
  RigidMotion solve(const RigidMotion& force) const { return factor_.solve(force); }
  double radius() const { return radius_; }
  std::size_t bytes() const { return places_.size() * sizeof(Place); }

 private:
  RigidMotion part_of(std::size_t a, const RigidMotion& motion) const;
  RigidMotion whole_of(std::size_t a, const RigidMotion& force) const;

  struct Place {
    double offset[3], radius;  ///< over the body's radius
  };
  std::vector<Place> places_;
  double radius_ = 1;
  Cholesky6 factor_;  ///< the matrix until `factor` is called
};

}  // namespace pliant
