// The rotation nearest to a matrix.
#pragma once

#include <Eigen/Dense>

#include "pliant/math.h"

namespace pliant {

/// For the moment Σ m p qᵀ of points p and the places q that they came from: the rotation that brings the places
/// nearest to the points (Horn 1987). No rotation where the moment is not finite.
inline Quat nearest_rotation(const Eigen::Matrix3d& moment) {
  if (!moment.allFinite()) return {};
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(moment, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3d u = svd.matrixU();
  if ((u * svd.matrixV().transpose()).determinant() < 0) u.col(2) *= -1;
  const Eigen::Quaterniond q(Eigen::Matrix3d(u * svd.matrixV().transpose()));
  return Quat{static_cast<float>(q.x()), static_cast<float>(q.y()), static_cast<float>(q.z()),
              static_cast<float>(q.w())}
      .normalized();
}

}  // namespace pliant
