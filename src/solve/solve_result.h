#pragma once

namespace pliant {

/// How a run of conjugate gradients ended.
struct SolveResult {
  int iterations = 0;
  double residual = 0;  ///< norm at the end
  bool converged = false;
};

}  // namespace pliant
