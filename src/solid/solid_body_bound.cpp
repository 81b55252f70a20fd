// What a body may be left with: by a contact solve that did not converge, and by flight.
//
// Backward Euler without restitution finds the v₁ of least ½|v − v_free|² + E(x + dt v) among those that keep the
// contacts, |·| by mass, v_free the velocities that forces alone would give. If standing still keeps the contacts, the
// least is no greater on the way there, and with E convex that is
//
//   ½|v₁|² + E(x + dt v₁) ≤ ½|v_free|² + E(x).
//
// Where contacts ask for a motion w (something that moves, depth that is mended) the same holds as seen from it, if the
// body can follow without being deformed; so not for one that is squeezed or held, into which others put energy. A
// solve that is cut off knows nothing of this: rounds that did not settle sent one small cube in twenty that was thrown
// at the ground at 1000 m/s off with 1e9 to 1e15 times its energy.
//
// In flight only forces give energy. A soft body that turns by much of a radian in a substep is given some more: its
// shape is solved as if it did not turn.
#include <algorithm>
#include <cmath>

#include "solid/solid_body.h"
#include "solid/solid_measures.h"

namespace pliant {
namespace {

/// Σ m |v|² over all slots.
template <typename Velocity>
double norm_squared(const std::vector<float>& masses, Velocity&& velocity) {
  double total = 0;
  for (std::size_t g = 0; g < masses.size() / kLanes; ++g) {
    const LaneVec3<Float8> v = velocity(g);
    total += static_cast<double>(sum(dot(v, v) * load8(masses.data() + kLanes * g)));
  }
  return total;
}

}  // namespace

/// The most that |v₁| may be, by mass. Before the change of velocity is taken.
double SolidBody::largest_motion(Workers& workers, Vec3 gravity, float dt) {
  const LaneVec3<Float8> fall = broadcast_vec8(gravity * dt);
  const double free = norm_squared(masses_, [&](std::size_t g) {
    const Float8 mass = max(load8(masses_.data() + kLanes * g), broadcast(1e-30f));
    return state_.velocities.group(g) + fall + forces_.group(g) * (broadcast(dt) / mass);
  });
  double asked = 0;
  for (const SolidContactRows::Row& row : contacts_.rows()) {
    // A gap that may close asks for nothing.
    const float along = std::min(dot(row.target, row.normal), 0.0f);
    asked = std::max(asked, static_cast<double>(length_squared(row.target - row.normal * along)));
  }
  asked = std::sqrt(asked * mass_);
  return asked + std::sqrt(std::pow(std::sqrt(free) + asked, 2) + 2 * stored_energy(workers));
}

/// Takes from the change of shape, and then from the motion as a whole, until no more is left than may be. What
/// contacts gave was wrong then, and the next step starts without it.
void SolidBody::bound_motion(Workers& workers, double most, float dt) {
  constexpr float kShares[] = {1, 0.5f, 0.25f, 0.1f, 0};
  constexpr double kSlack = 1.01;  // elements turn, and their energy is convex only as long as they do not
  const double limit = 0.5 * most * most;
  LaneVectors& shape = product_;
  shape = state_.velocities;
  if (whole_.measure(tied_, state_.positions)) whole_.remove_motion(workers, state_.positions, shape);
  const auto motion = [&](std::size_t g, float share) {
    return state_.velocities.group(g) - shape.group(g) * broadcast(1 - share);
  };
  const auto kinetic = [&](float share) {
    return 0.5 * norm_squared(masses_, [&](std::size_t g) { return motion(g, share); });
  };
  const auto stored = [&](float share) {
    for_groups(workers, [&](std::size_t g) {
      target_.set_group(g, state_.positions.group(g) + shape.group(g) * broadcast(share * dt));
    });
    return std::max(elements_.energy(layout_, target_.data(), 0, layout_.batches()), 0.0);
  };
  const float* share = kShares;
  while (*share > 0 && !(kinetic(*share) + stored(*share) <= kSlack * limit)) ++share;
  if (share == kShares) return;
  const double left = kinetic(*share);
  const Float8 slower = broadcast(left > limit ? static_cast<float>(std::sqrt(limit / left)) : 1.0f);
  for_groups(workers, [&](std::size_t g) { state_.velocities.set_group(g, motion(g, *share) * slower); });
  state_.change.assign(layout_.slot_count);
  state_.touches.clear();
}

bool SolidBody::may_gain_in_flight() const {
  constexpr float kFast = 0.05f;  // rad
  return turning_ > kFast && contacts_.is_empty();
}

double SolidBody::kinetic_energy() const {
  return 0.5 * norm_squared(masses_, [&](std::size_t g) { return state_.velocities.group(g); });
}

double SolidBody::stored_energy(Workers& workers) {
  return std::max(measure_energy(workers, *this, energy_parts_), 0.0);
}

/// Of gravity and forces in this substep, after the velocities changed.
double SolidBody::outer_work(Vec3 gravity, float dt) const {
  double total = 0;
  for (std::size_t g = 0; g < masses_.size() / kLanes; ++g) {
    const LaneVec3<Float8> force = forces_.group(g) + broadcast_vec8(gravity) * load8(masses_.data() + kLanes * g);
    const LaneVec3<Float8> mean = state_.velocities.group(g) - state_.change.group(g) * broadcast(0.5f);
    total += static_cast<double>(sum(dot(force, mean) * broadcast(dt)));
  }
  return total;
}

/// Takes what is too much from the change of shape, as long as there is any.
void SolidBody::bound_flight(Workers& workers) {
  state_.surplus = 0;
  if (most_in_flight_ == kInfinity) return;
  constexpr double kRounding = 1e-4;  // of the energy; with less momentum would be lost to rounding in every step
  const double energy = kinetic_energy() + stored_energy(workers), excess = energy - most_in_flight_;
  state_.surplus = std::max(excess, 0.0);
  if (!(excess > kRounding * energy) || !whole_.measure(masses_, state_.positions)) return;
  LaneVectors& shape = product_;
  shape = state_.velocities;
  whole_.remove_motion(workers, state_.positions, shape);
  const double available = 0.5 * norm_squared(masses_, [&](std::size_t g) { return shape.group(g); });
  const double taken = std::min(excess, available);
  state_.surplus = excess - taken;
  const Float8 share = broadcast(available > 0 ? static_cast<float>(1 - std::sqrt(1 - taken / available)) : 0.0f);
  for_groups(workers, [&](std::size_t g) {
    state_.velocities.set_group(g, state_.velocities.group(g) - shape.group(g) * share);
  });
}

}  // namespace pliant
