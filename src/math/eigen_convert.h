// Our vectors as Eigen's, in double, and back.
#pragma once

#include <Eigen/Core>

#include "pliant/math.h"

namespace pliant {

inline Eigen::Vector3d to_eigen(Vec3 v) {
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}
inline Vec3 from_eigen(const Eigen::Vector3d& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}

}  // namespace pliant
