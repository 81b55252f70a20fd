// A tridiagonal system that goes round: the last unknown meets the first.
#pragma once

#include <cstddef>
#include <vector>

namespace pliant {

/// Row i: lower[i] x[i−1] + diagonal[i] x[i] + upper[i] x[i+1] = rhs[i], with indices that go round. Solved as a system
/// without the two corners and a correction of rank one (Sherman and Morrison; Press et al., "Numerical Recipes", 2.7).
/// Keeps its memory from one system to the next.
class CyclicSystem {
 public:
  std::vector<double> lower, diagonal, upper;

  void resize(std::size_t size) {
    for (auto* array : {&lower, &diagonal, &upper, &changed_, &side_, &ratio_}) array->resize(size);
  }
  /// `rhs` becomes the solution.
  void solve(std::vector<double>& rhs) {
    const std::size_t n = diagonal.size();
    const double gamma = -diagonal[0], corner = lower[0], other = upper[n - 1];
    changed_ = diagonal;
    changed_[0] -= gamma;
    changed_[n - 1] -= corner * other / gamma;
    side_.assign(n, 0.0);
    side_[0] = gamma, side_[n - 1] = other;
    solve_open(rhs);
    solve_open(side_);
    const double share = corner / gamma;
    const double factor = (rhs[0] + share * rhs[n - 1]) / (1 + side_[0] + share * side_[n - 1]);
    for (std::size_t i = 0; i < n; ++i) rhs[i] -= factor * side_[i];
  }

 private:
  void solve_open(std::vector<double>& x) {
    const std::size_t n = changed_.size();
    double pivot = changed_[0];
    x[0] /= pivot;
    for (std::size_t i = 1; i < n; ++i) {
      ratio_[i] = upper[i - 1] / pivot;
      pivot = changed_[i] - lower[i] * ratio_[i];
      x[i] = (x[i] - lower[i] * x[i - 1]) / pivot;
    }
    for (std::size_t i = n - 1; i-- > 0;) x[i] -= ratio_[i + 1] * x[i + 1];
  }

  std::vector<double> changed_, side_, ratio_;
};

}  // namespace pliant
