// The solve of a very stiff free body: its motion as a whole with all contacts, in double, and its change of shape
// under the forces that this takes (whole_motion.h).
//
// The two hardly know of each other: contacts move such a body a million times as far as they dent it. Where it is
// slender and bends they take turns (block Gauss-Seidel: both see the same contacts, so no turn adds energy).
#include <algorithm>
#include <cmath>

#include "solid/solid_body.h"

namespace pliant {

SolveResult SolidBody::solve_stiff(Workers& workers, Vec3 gravity, float dt) {
  constexpr int kMostTurns = 4;
  contacts_.set_penalties(system_, static_cast<float>(mass_));
  // `product_` holds what the velocities have besides the motion as a whole, `state_.change` their change, until the
  // change of that motion is added at the end.
  product_ = state_.velocities;
  const Vector6 before = whole_.remove_motion(workers, state_.positions, product_);
  state_.change.assign(layout_.slot_count);
  const Vector6 momentum = free_momentum(workers, gravity, dt);
  Vector6 motion = whole_.response(momentum);
  SolveResult result;
  bool settled = false;
  for (int turn = 0; turn < kMostTurns && !settled; ++turn) {
    const bool is_balanced = contacts_.is_empty() || balance_contacts(motion, momentum, dt);
    float moved = 0;
    const SolveResult shape = solve_shape(workers, motion, gravity, dt, moved);
    settled = moved <= allowed_violation(dt);
    result = {result.iterations + shape.iterations, shape.residual, shape.converged && is_balanced && settled};
  }
  Vector6 added = motion;
  for (std::size_t k = 0; k < 6; ++k) added[k] -= before[k];
  for_groups(workers, [&](std::size_t g) {
    const LaneVec3<Float8> whole = whole_.velocity(added, state_.positions.group(g));
    state_.change.set_group(g, state_.change.group(g) + whole * load8(free_.data() + 8 * g));
  });
  return result;
}

/// What gravity, forces and damping do to a group in the substep.
LaneVec3<Float8> SolidBody::outer_impulse(std::size_t g, const LaneVec3<Float8>& gravity, float dt) const {
  const Float8 mass = load8(masses_.data() + 8 * g), damping = load8(damping_.data() + 8 * g);
  return (forces_.group(g) + gravity * mass - state_.velocities.group(g) * damping) * broadcast(dt);
}

/// The momentum that the body would have without contacts.
Vector6 SolidBody::free_momentum(Workers& workers, Vec3 gravity, float dt) {
  const LaneVec3<Float8> weight = broadcast_vec8(gravity);
  return whole_.sum(workers, state_.positions, [&](std::size_t g) {
    return outer_impulse(g, weight, dt) + state_.velocities.group(g) * load8(tied_.data() + 8 * g);
  });
}

/// Rounds of the body's motion and of the contacts' multipliers, as in `solve_with_contacts`.
bool SolidBody::balance_contacts(Vector6& motion, const Vector6& momentum, float dt) {
  constexpr int kMostRounds = 200;
  constexpr double kWellSteady = 1e-4, kSteady = 3e-3;  // of the forces
  const float allowed = allowed_violation(dt);
  // Rows see the change of shape only beyond what they allow: friction at many nodes would fight its least differences
  // with ever larger forces, since a rigid motion cannot mend them.
  const auto set_target = [&](const Vector6& whole) {
    for (const SolidContactRows::Row& row : contacts_.rows()) {
      const Vec3 shape = product_.get(row.slot) + state_.change.get(row.slot);
      const Vec3 seen = shape * std::max(1 - allowed / std::max(length(shape), allowed), 0.0f);
      target_.set(row.slot, whole_.velocity(whole, state_.positions.get(row.slot)) + seen);
    }
  };
  set_target(motion);
  contacts_.start(target_);
  bool is_steady = false;
  for (int round = 0; round < kMostRounds; ++round) {
    contacts_.begin_round();
    set_target({});
    motion = whole_.solve_round(contacts_, state_.positions, target_, momentum);
    set_target(motion);
    const SolidContactRows::Progress progress = contacts_.update(target_);
    const auto changes_less_than = [&](double share) { return progress.change <= share * share * progress.size; };
    is_steady = progress.violation <= allowed && changes_less_than(kSteady);
    if (round > 0 && is_steady && changes_less_than(kWellSteady)) break;
  }
  return is_steady;
}

/// The change of shape under elastic forces and contacts, while the body moves as given. `moved` is how much it differs
/// at the contacts from the last one, m/s.
SolveResult SolidBody::solve_shape(Workers& workers, const Vector6& motion, Vec3 gravity, float dt, float& moved) {
  system_.clear_extras();
  contacts_.add_to_matrix(system_);
  if (!contacts_.is_empty()) system_.invert_diagonals(workers, layout_);
  system_.factor_coarse(workers, layout_);
  const LaneVec3<Float8> weight = broadcast_vec8(gravity);
  for_groups(workers, [&](std::size_t g) {
    const LaneVec3<Float8> push = outer_impulse(g, weight, dt) + internal_.group(g) * broadcast(dt);
    residual_.set_group(g, (push - layout_.matrix.differences(g, product_.data())) * load8(free_.data() + 8 * g));
  });
  touch_changes_.clear();
  for (const SolidContactRows::Row& row : contacts_.rows()) {
    touch_changes_.push_back(state_.change.get(row.slot));
    target_.set(row.slot, whole_.velocity(motion, state_.positions.get(row.slot)) + product_.get(row.slot));
  }
  contacts_.for_each_impulse(target_, [&](std::uint32_t slot, Vec3 impulse) { residual_.add(slot, impulse); });
  whole_.remove_impulse(workers, state_.positions, residual_);
  const double scale = system_.norm(workers, layout_, residual_);
  state_.change.assign(layout_.slot_count);
  SolveResult result =
      system_.solve_shape(workers, layout_, state_.positions, whole_, state_.change, residual_,
                          static_cast<double>(def_->solver.tolerance) * scale, def_->solver.max_iterations);
  result.residual = scale > 0 ? result.residual / scale : 0;
  for (std::size_t i = 0; i < touch_changes_.size(); ++i) {
    moved = std::max(moved, length(state_.change.get(contacts_.rows()[i].slot) - touch_changes_[i]));
  }
  return result;
}

}  // namespace pliant
