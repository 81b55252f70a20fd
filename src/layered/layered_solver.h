// A layered body that touches nothing that gives way, solved alone.
//
// Rounds of an augmented Lagrangian (solve/lagrangian_row.h) around conjugate gradients, as for solids: multipliers
// computed apart from the matrix, as Galoppo et al. 2006 §5.3 do, multiply a body's energy by 15. The body's motion as
// a whole, with its contacts, is solved exactly inside the preconditioner.
#pragma once

#include "base/parallel.h"
#include "layered/layered_system.h"
#include "solve/solve_result.h"

namespace pliant {

struct LayeredTolerance {
  float residual = 1e-3f;
  int max_iterations = 400;
  float violation = 1e-4f;  ///< m that a contact may always be wrong by
  float lever = 1e-2f;      ///< m, at which a moment of contacts counts as much as a force
};

class LayeredSolver {
 public:
  /// The system has begun, and has its rows.
  SolveResult solve(Workers& workers, LayeredSystem& system, const LayeredTolerance& tolerance, float dt);

 private:
  void factor_whole();
  /// Until the residual is at `threshold`, or `enough` of what it was.
  SolveResult iterate(Workers& workers, double threshold, int max_iterations, double enough = 0);
  double take_step(Workers& workers, double step);
  void begin_round(Workers& workers);
  struct Judgement {
    bool is_settled = false;
    bool is_held = false;  ///< contacts are right, with room to spare
  };
  Judgement update_rows(const LayeredTolerance& tolerance, float dt, bool moves);
  SolveResult run_rounds(Workers& workers, const LayeredTolerance& tolerance, double threshold, float dt);

  LayeredSystem* body_ = nullptr;
  Cholesky6 whole_;
  Vector6 motion_{};    ///< of the whole, that the residual asks for
  Vector6 last_sum_{};  ///< of what the rows give, N s and N m s
};

}  // namespace pliant
