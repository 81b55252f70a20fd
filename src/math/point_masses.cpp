#include "math/point_masses.h"

#include <Eigen/Dense>

#include "math/eigen_convert.h"
#include "math/nearest_rotation.h"

namespace pliant {

RigidFit fit_rigid(std::span<const Vec4> x, std::span<const Vec4> v, std::span<const float> masses) {
  RigidFit fit;
  Eigen::Vector3d center = Eigen::Vector3d::Zero(), momentum = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double mass = static_cast<double>(masses[i]);
    fit.mass += mass;
    center += mass * to_eigen(x[i].xyz());
    momentum += mass * to_eigen(v[i].xyz());
  }
  if (!(fit.mass > 0)) return fit;
  center /= fit.mass;
  momentum /= fit.mass;
  Eigen::Vector3d spin = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double mass = static_cast<double>(masses[i]);
    const Eigen::Vector3d r = to_eigen(x[i].xyz()) - center, velocity = to_eigen(v[i].xyz());
    spin += mass * r.cross(velocity);
    fit.kinetic += 0.5 * mass * velocity.squaredNorm();
    fit.inertia[0] += mass * (r.y() * r.y() + r.z() * r.z());
    fit.inertia[1] += mass * (r.x() * r.x() + r.z() * r.z());
    fit.inertia[2] += mass * (r.x() * r.x() + r.y() * r.y());
    fit.inertia[3] -= mass * r.x() * r.y();
    fit.inertia[4] -= mass * r.x() * r.z();
    fit.inertia[5] -= mass * r.y() * r.z();
  }
  fit.center = from_eigen(center);
  fit.velocity = from_eigen(momentum);
  for (int k = 0; k < 3; ++k) fit.spin[k] = spin[k];
  fit.angular_velocity = turn_of_spin(fit.inertia, fit.spin);
  return fit;
}

Vec3 turn_of_spin(const double (&inertia)[6], const double (&spin)[3]) {
  Eigen::Matrix3d matrix;
  matrix << inertia[0], inertia[3], inertia[4], inertia[3], inertia[1], inertia[5], inertia[4], inertia[5], inertia[2];
  if (!matrix.allFinite()) return {};
  // A straight rope has no inertia about its own line: leave that axis out.
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(matrix);
  const Eigen::Vector3d along = eigen.eigenvectors().transpose() * Eigen::Vector3d(spin[0], spin[1], spin[2]);
  Eigen::Vector3d turn = Eigen::Vector3d::Zero();
  for (int k = 0; k < 3; ++k) {
    if (eigen.eigenvalues()[k] > 1e-6 * eigen.eigenvalues()[2]) turn[k] = along[k] / eigen.eigenvalues()[k];
  }
  return from_eigen(eigen.eigenvectors() * turn);
}

Quat fit_rotation(std::span<const Vec3> rest, std::span<const Vec4> x, std::span<const float> masses) {
  Eigen::Vector3d center = Eigen::Vector3d::Zero(), rest_center = Eigen::Vector3d::Zero();
  double mass = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const double m = static_cast<double>(masses[i]);
    mass += m, center += m * to_eigen(x[i].xyz()), rest_center += m * to_eigen(rest[i]);
  }
  if (!(mass > 0)) return {};
  center /= mass, rest_center /= mass;
  Eigen::Matrix3d moment = Eigen::Matrix3d::Zero();
  for (std::size_t i = 0; i < rest.size(); ++i) {
    moment += static_cast<double>(masses[i]) * (to_eigen(x[i].xyz()) - center) *
              (to_eigen(rest[i]) - rest_center).transpose();
  }
  return nearest_rotation(moment);
}

}  // namespace pliant
