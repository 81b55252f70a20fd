#include "layered/layered_solver.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// κ of contacts in the first rounds, as kSoftPenalty in islands. A node is held by its whole patch of skin, which is
/// much harder to move than the node alone: multipliers find what it takes within about as many rounds as with strong
/// rows, and each of these takes fewer iterations. From 3 to 1, 0.4, 0.25 and 0.15 a landing ring of 31K nodes takes
/// 19, 13, 13, 12 and 13 iterations a step. Where that is not enough (few nodes that carry all, as of a tire's tread),
/// rows become stronger after kPatience rounds; without that 51 of the steps of `tires` do not converge. (In
/// islands, whose rounds are not solved to the end, weak rows take more rounds.)
constexpr float kSkinPenalty = 0.3f;

/// m that contacts may be wrong by: a share of what the skin is pressed in by, where that is more. A tenth of a
/// millimetre is nothing beside the centimetre that a soft skin gives way, and all that a stiff one does. (With
/// tolerance.violation for all a soft ring takes 10.7 iterations a step instead of 7.4.)
double allowed_violation(const LayeredTolerance& tolerance, const LayeredSystem::RowSums& sums, float dt) {
  constexpr double kOfIndentation = 0.02;
  const auto least = static_cast<double>(tolerance.violation);
  if (!(sums.footing > 0)) return least;
  return std::max(least, kOfIndentation * sums.pressed / (static_cast<double>(dt) * sums.footing));
}

}  // namespace

void LayeredSolver::factor_whole() {
  const Matrix6 block = body_->whole_matrix();
  for (std::size_t i = 0; i < 36; ++i) whole_.at(i / 6, i % 6) = block[i];
  whole_.factor();
}

/// The step along the direction, and r·z of what is left.
double LayeredSolver::take_step(Workers& workers, double step) {
  const double product = body_->take_step(workers, step);
  motion_ = body_->core_is_fixed() ? Vector6{} : whole_.solve(body_->whole_residual());
  return body_->core_is_fixed() ? product : product + dot(body_->whole_residual(), motion_);
}

SolveResult LayeredSolver::iterate(Workers& workers, double threshold, int max_iterations, double enough) {
  constexpr int kFewest = 2;
  constexpr double kNothing = 1e-26;  // J: sums of less than that are lost to the least of floats
  SolveResult result;
  double product = take_step(workers, 0), beta = 0;
  const double product_enough = product * enough * enough;
  for (;;) {
    result.residual = std::sqrt(std::max(product, 0.0));
    result.converged = result.residual <= threshold || product <= kNothing;
    if (result.converged || result.iterations >= max_iterations || !std::isfinite(product)) break;
    if (product < product_enough && result.iterations >= kFewest) break;
    body_->turn_direction(workers, motion_, beta);
    const double curvature = body_->multiply(workers);
    if (!(curvature > 0)) break;
    const double before = product;
    product = take_step(workers, before / curvature);
    beta = product / before;
    ++result.iterations;
  }
  return result;
}

/// `is_settled` when what the rows do to the body as a whole stands still, or no longer moves anything, and no contact
/// is wrong by more than it may be. How friction is shared between neighbouring nodes may still change: it goes on
/// settling in the next step. (Multipliers amplify what is left of the residual: less than kSteadyForce takes many
/// rounds that move nothing.)
LayeredSolver::Judgement LayeredSolver::update_rows(const LayeredTolerance& tolerance, float dt, bool moves) {
  constexpr double kSteadyForce = 3e-2, kOfPatch = 0.3, kWellHeld = 0.5;
  const LayeredSystem::RowSums sums = body_->update_rows();
  // Forces, and their moments about the centre of pressure: a little to a side of where it belongs, it sets wheels
  // rolling. Where they are spread out it may be off by more.
  Vector6 changed = sums.given;
  for (std::size_t k = 0; k < 6; ++k) changed[k] -= last_sum_[k];
  const Vec3d push = part_of(changed, 0), arm = sums.size > 0 ? sums.moment / sums.size : Vec3d{};
  const Vec3d moment = part_of(changed, 3) - cross(arm, push);
  const double radius = sums.size > 0 ? std::sqrt(std::max(sums.spread / sums.size - length_squared(arm), 0.0)) : 0;
  const double lever = std::max(static_cast<double>(tolerance.lever), kOfPatch * radius);
  const double change = std::max(length(push), length(moment) / lever);
  last_sum_ = sums.given;
  // Impulses of the last step that are too large part what they push, and shrink from round to round: a ball that is
  // pressed flat in one step would be thrown up in the next.
  const double opening = sums.size > 0 ? sums.opening / sums.size : 0;
  // Floors, of which the skin says nothing, may be wrong by no more than contacts of a stiff one.
  const double of_skin =
      std::max(static_cast<double>(sums.skin_violation), opening) / allowed_violation(tolerance, sums, dt);
  const double of_core = static_cast<double>(sums.core_violation) / static_cast<double>(tolerance.violation);
  const double wrong = static_cast<double>(dt) * std::max(of_skin, of_core);
  return {.is_settled = (change <= kSteadyForce * sums.size || !moves) && wrong <= 1, .is_held = wrong <= kWellHeld};
}

void LayeredSolver::begin_round(Workers& workers) {
  body_->begin_round();
  body_->add_row_impulses(1);
  body_->invert_diagonals(workers);
  factor_whole();
}

SolveResult LayeredSolver::run_rounds(Workers& workers, const LayeredTolerance& tolerance, double threshold, float dt) {
  constexpr int kMostRounds = 24, kIterationsOfRound = 12, kStillRounds = 3, kPatience = 2;
  // At first, which contacts push at all: rounds that are solved to a third and leave the multipliers alone. (Rounds
  // like these that take new multipliers, as those of islands of solids do, need more iterations here than rounds
  // solved to the end: thousands of contacts open and close by the error that is left.)
  constexpr int kMostSearches = 8;
  constexpr double kSearched = 0.3, kFewChanges = 0.05;
  SolveResult result;
  bool searches = true;
  int still = 0, updates = 0;
  body_->judge_rows();
  for (int round = 0; round < kMostRounds && result.iterations < tolerance.max_iterations; ++round) {
    begin_round(workers);
    const SolveResult part = iterate(workers, threshold, kIterationsOfRound, searches ? kSearched : 0);
    result.iterations += part.iterations;
    result.residual = part.residual;
    if (searches && !part.converged) {
      searches = body_->judge_rows() > kFewChanges && round < kMostSearches;
      body_->add_row_impulses(-1);
      continue;
    }
    searches = false;
    const Judgement rows = update_rows(tolerance, dt, round == 0 || part.iterations > 1);
    result.converged = part.converged && rows.is_settled;
    if (result.converged && round > 0) break;
    // Rounds that find nothing to move find nothing else either.
    still = part.converged && part.iterations <= 1 ? still + 1 : 0;
    if (still == kStillRounds || round + 1 == kMostRounds) break;
    body_->add_row_impulses(-1);
    // Where contacts are right and only their forces still change, stronger rows make more of what is left of the
    // residual: forces then change for ever.
    if (++updates >= kPatience && !rows.is_held) body_->strengthen_rows();
  }
  return result;
}

SolveResult LayeredSolver::solve(Workers& workers, LayeredSystem& system, const LayeredTolerance& tolerance, float dt) {
  body_ = &system;
  last_sum_ = {};
  system.index_rows();
  system.invert_diagonals(workers);
  system.set_penalties(static_cast<float>(system.mass()), kSkinPenalty);
  factor_whole();
  const double scale = std::sqrt(std::max(take_step(workers, 0), 0.0));
  const double threshold = static_cast<double>(tolerance.residual) * scale;
  SolveResult result;
  if (system.rows().empty()) {
    // Weight and all else that moves the body as a whole, at once.
    if (!system.core_is_fixed()) system.remove_whole(workers, motion_);
    system.add_whole(motion_);
    result = iterate(workers, threshold, tolerance.max_iterations);
  } else {
    result = run_rounds(workers, tolerance, threshold, dt);
  }
  // What the residual still holds of the motion as a whole: momentum is then right to rounding.
  system.add_whole(motion_);
  result.residual = scale > 0 ? result.residual / scale : 0;
  return result;
}

}  // namespace pliant
