// A symmetric positive definite 6x6 matrix in double, and its Cholesky factor.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "pliant/math.h"

namespace pliant {

/// A velocity and an angular velocity, or an impulse and its moment.
using Vector6 = std::array<double, 6>;

/// Three of its numbers, from `first` on.
inline Vec3 rounded(const Vector6& v, std::size_t first) {
  return {static_cast<float>(v[first]), static_cast<float>(v[first + 1]), static_cast<float>(v[first + 2])};
}

class Cholesky6 {
 public:
  void clear() { l_.fill(0); }
  const std::array<double, 36>& entries() const { return l_; }
  double& at(std::size_t row, std::size_t column) { return l_[6 * row + column]; }

  /// L below the diagonal, the reciprocals of its pivots on it; 0 where a pivot is nothing but rounding: the motions
  /// that a body collapsed to a line or a point does not have.
  void factor() {
    constexpr double kLeastShare = 1e-9;
    double* l = l_.data();
    for (std::size_t j = 0; j < 6; ++j) {
      double pivot = l[7 * j];
      for (std::size_t k = 0; k < j; ++k) pivot -= l[6 * j + k] * l[6 * j + k];
      const double inverse = pivot > kLeastShare * l[7 * j] && std::isfinite(pivot) ? 1 / std::sqrt(pivot) : 0;
      for (std::size_t i = j + 1; i < 6; ++i) {
        for (std::size_t k = 0; k < j; ++k) l[6 * i + j] -= l[6 * i + k] * l[6 * j + k];
        l[6 * i + j] *= inverse;
      }
      l[7 * j] = inverse;
    }
  }

  /// After `factor`.
  Vector6 solve(const Vector6& right) const {
    const double* l = l_.data();
    Vector6 x = right;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= l[6 * i + k] * x[k];
      x[i] *= l[7 * i];
    }
    for (std::size_t i = 6; i-- > 0;) {
      for (std::size_t k = i + 1; k < 6; ++k) x[i] -= l[6 * k + i] * x[k];
      x[i] *= l[7 * i];
    }
    return x;
  }

 private:
  std::array<double, 36> l_{};
};

}  // namespace pliant
