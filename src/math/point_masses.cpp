#include "math/point_masses.h"

#include <Eigen/Dense>

#include "base/simd.h"
#include "math/eigen_convert.h"
#include "math/nearest_rotation.h"

namespace pliant {

namespace {

using Double4 = double __attribute__((vector_size(32)));

constexpr std::size_t kNodesPerPart = 2048;

Double4 widen(const Vec4& v) { return __builtin_convertvector(load4(&v.x), Double4); }
Double4 turned(Double4 v) { return __builtin_shufflevector(v, v, 1, 2, 0, 3); }

/// Lanes are coordinates, with the next one where two are multiplied; what is in the fourth is not looked at.
NodeMoments moments_of(std::span<const Vec4> x, std::span<const Vec4> v, std::span<const float> masses, Vec4 origin) {
  const Double4 from = widen(origin);
  Double4 first{}, momentum{}, squares{}, products{}, spin{}, kinetic{};
  NodeMoments sum;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double mass = static_cast<double>(masses[i]);
    const Double4 r = widen(x[i]) - from, u = widen(v[i]), weighted = r * mass, pushed = u * mass;
    sum.mass += mass;
    first += weighted;
    momentum += pushed;
    squares += weighted * r;
    products += weighted * turned(r);
    spin += r * turned(pushed) - turned(r) * pushed;
    kinetic += pushed * u;
  }
  for (std::size_t k = 0; k < 3; ++k) {
    sum.first[k] = first[k], sum.momentum[k] = momentum[k];
    sum.second[k] = squares[k];
    sum.spin[(k + 2) % 3] = spin[k];
    sum.kinetic += 0.5 * kinetic[k];
  }
  sum.second[3] = products[0], sum.second[5] = products[1], sum.second[4] = products[2];
  return sum;
}

NodeMoments joined(NodeMoments a, const NodeMoments& b) {
  a.mass += b.mass, a.kinetic += b.kinetic;
  for (std::size_t k = 0; k < 3; ++k) a.first[k] += b.first[k], a.momentum[k] += b.momentum[k], a.spin[k] += b.spin[k];
  for (std::size_t k = 0; k < 6; ++k) a.second[k] += b.second[k];
  return a;
}

RigidFit fit_of(const NodeMoments& sum, Vec4 origin) {
  RigidFit fit;
  fit.mass = sum.mass, fit.kinetic = sum.kinetic;
  if (!(fit.mass > 0)) return fit;
  const Eigen::Vector3d center = Eigen::Vector3d(sum.first) / sum.mass, momentum(sum.momentum);
  const Eigen::Vector3d spin = Eigen::Vector3d(sum.spin) - center.cross(momentum);
  // The second moments about the centre.
  double about[6];
  constexpr int kRow[6] = {0, 1, 2, 0, 0, 1}, kColumn[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; ++k) about[k] = sum.second[k] - sum.mass * center[kRow[k]] * center[kColumn[k]];
  for (int k = 0; k < 3; ++k) {
    fit.inertia[k] = about[(k + 1) % 3] + about[(k + 2) % 3];
    fit.inertia[3 + k] = -about[3 + k];
    fit.spin[k] = spin[k];
  }
  fit.center = from_eigen(center + to_eigen(origin.xyz()));
  fit.velocity = from_eigen(momentum / sum.mass);
  fit.angular_velocity = turn_of_spin(fit.inertia, fit.spin);
  return fit;
}

}  // namespace

RigidFit fit_rigid(std::span<const Vec4> x, std::span<const Vec4> v, std::span<const float> masses) {
  if (x.empty()) return {};
  return fit_of(moments_of(x, v, masses, x[0]), x[0]);
}

RigidFit fit_rigid(Workers& workers, std::span<const Vec4> x, std::span<const Vec4> v, std::span<const float> masses,
                   std::vector<NodeMoments>& scratch) {
  if (x.empty()) return {};
  const auto part = [&](std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    return moments_of(x.subspan(begin, count), v.subspan(begin, count), masses.subspan(begin, count), x[0]);
  };
  return fit_of(parallel_reduce(workers, x.size(), kNodesPerPart, NodeMoments{}, scratch, part, joined), x[0]);
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
