// What a body may be left with: by a contact solve that did not converge, and by turning.
//
// By a solve: motion_bound.h. A solve that is cut off knows nothing of that bound: rounds that did not settle sent one
// small cube in twenty that was thrown at the ground at 1000 m/s off with 1e9 to 1e15 times its energy.
//
// Squeezed or not, a free body has no more energy than it had and than was done to it: by forces and by contacts, each
// its impulse times the mean of the velocities before and after. Elements give less back than they stored. One that
// turns by much of a radian in a substep gains more all the same, as its shape is solved as if it did not turn.
// Splinters of a few tets, which a blow sets spinning by several radians a substep, got to gigajoules so, and burst
// what they touched. (The same for all bodies of an island that was cut off, whether they turn or not, holds back a
// wall that is struck and what breaks out of it.)
#include <algorithm>
#include <cmath>

#include "solid/solid_body.h"
#include "solid/solid_measures.h"
#include "solve/motion_bound.h"

namespace pliant {
namespace {

/// Elements turn, and their energy is convex only as long as they do not.
constexpr double kSlack = 1.01;
/// What turns slower as it is stretched has less energy than it seems to.
constexpr double kSlackTurning = 1.05;

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

double SolidBody::free_motion(Vec3 gravity, float dt) const {
  const LaneVec3<Float8> fall = broadcast_vec8(gravity * dt);
  return norm_squared(masses_, [&](std::size_t g) {
    const Float8 mass = max(load8(masses_.data() + kLanes * g), broadcast(1e-30f));
    return state_.velocities.group(g) + fall + forces_.group(g) * (broadcast(dt) / mass);
  });
}

/// The most that |v₁| may be, by mass. Before the change of velocity is taken.
double SolidBody::largest_motion(Workers& workers, Vec3 gravity, float dt) {
  float asked = 0;
  for (const SolidContactRows::Row& row : contacts_.rows())
    asked = std::max(asked, asked_speed(row.target, row.normal));
  const double asked_motion = mass_ * std::pow(static_cast<double>(asked), 2);
  return pliant::largest_motion(
      {.free = free_motion(gravity, dt), .stored = stored_energy(workers), .asked = asked_motion});
}

/// Takes from the change of shape, and then from the motion as a whole, until no more is left than may be. What
/// contacts gave was wrong then, and the next step starts without it.
bool SolidBody::bound_motion(Workers& workers, double most, float dt) {
  const double limit = 0.5 * most * most;
  if (may_gain_energy()) most_energy_ = std::min(most_energy_, limit);
  if (held_count_ > 0 || !take_shape(workers, limit, kSlack, dt)) return false;
  const double left = kinetic_energy();
  const Float8 slower = broadcast(left > limit ? static_cast<float>(std::sqrt(limit / left)) : 1.0f);
  for_groups(workers, [&](std::size_t g) { state_.velocities.set_group(g, state_.velocities.group(g) * slower); });
  state_.change.assign(layout_.slot_count);
  state_.touches.clear();
  return true;
}

/// Splits the velocities into those of the body as a whole and the change of its shape, which is put into `shape`.
void SolidBody::get_shape_motion(Workers& workers, LaneVectors& shape) {
  shape = state_.velocities;
  if (whole_.measure(tied_, state_.positions)) whole_.remove_motion(workers, state_.positions, shape);
}

/// J, of motion and of what is stored after the substep with this share of the change of shape.
double SolidBody::energy_with(Workers& workers, const LaneVectors& shape, float share, float dt) {
  LaneVectors& places = residual_;
  const double kinetic = 0.5 * norm_squared(masses_, [&](std::size_t g) {
                           return state_.velocities.group(g) - shape.group(g) * broadcast(1 - share);
                         });
  for_groups(workers, [&](std::size_t g) {
    places.set_group(g, state_.positions.group(g) + shape.group(g) * broadcast(share * dt));
  });
  return kinetic + std::max(elements_.energy(layout_, places.data(), 0, layout_.batches()), 0.0);
}

double SolidBody::energy_after(Workers& workers, float dt) {
  get_shape_motion(workers, product_);
  return energy_with(workers, product_, 1, dt);
}

/// If the body would have more energy after the substep than `slack` times the limit, takes from its change of shape
/// until it has no more than the limit, or no change of shape is left. Momentum and spin of a free body stay. Returns
/// whether anything was taken.
bool SolidBody::take_shape(Workers& workers, double limit, double slack, float dt) {
  constexpr float kShares[] = {0.5f, 0.25f, 0.1f, 0};
  // Not `target_`: rows of an island still read what the solve found.
  LaneVectors& shape = product_;
  get_shape_motion(workers, shape);
  const auto is_too_much = [&](float share, double most) { return !(energy_with(workers, shape, share, dt) <= most); };
  if (!is_too_much(1, slack * limit)) return false;
  const float* share = kShares;
  while (*share > 0 && is_too_much(*share, limit)) ++share;
  const Float8 taken = broadcast(1 - *share);
  for_groups(workers, [&](std::size_t g) {
    state_.velocities.set_group(g, state_.velocities.group(g) - shape.group(g) * taken);
    state_.change.set_group(g, state_.change.group(g) - shape.group(g) * taken);
  });
  return true;
}

void SolidBody::shift(Vec3 velocity) {
  const LaneVec3<Float8> added = broadcast_vec8(velocity);
  for (std::size_t g = 0; g < layout_.slot_count / kLanes; ++g) {
    const LaneVec3<Float8> own = added * load8(free_.data() + kLanes * g);
    state_.velocities.set_group(g, state_.velocities.group(g) + own);
    state_.change.set_group(g, state_.change.group(g) + own);
  }
}

bool SolidBody::is_driven() const {
  const std::span<const float> speeds = held_velocities_.floats();
  return held_count_ > 0 && std::any_of(speeds.begin(), speeds.end(), [](float speed) { return speed != 0; });
}

bool SolidBody::may_gain_energy() const {
  constexpr float kFast = 0.05f;  // rad
  return turning_ > kFast && (contacts_.is_empty() || !contacts_.is_squeezed());
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

/// Of the body's own contacts in this substep, likewise.
double SolidBody::contact_work() const {
  double total = 0;
  contacts_.for_each_impulse(state_.velocities, [&](std::uint32_t slot, Vec3 impulse) {
    const Vec3 mean = state_.velocities.get(slot) - state_.change.get(slot) * 0.5f;
    total += static_cast<double>(dot(impulse, mean));
  });
  return total;
}

/// After the velocities changed, before the body moves: what is far too much would tear it apart at once.
void SolidBody::bound_energy(Workers& workers, Vec3 gravity, float dt, double contact_work) {
  double most = stored_energy(workers) + outer_work(gravity, dt) + contact_work - state_.surplus;
  most +=
      0.5 * norm_squared(masses_, [&](std::size_t g) { return state_.velocities.group(g) - state_.change.group(g); });
  most = std::max(most, 0.0);
  take_shape(workers, most, kSlackTurning, dt);
  most_energy_ = std::min(most_energy_, most);
}

/// After a free body has moved: takes what is too much from its change of shape, as long as there is any.
void SolidBody::bound_turning(Workers& workers) {
  state_.surplus = 0;
  if (most_energy_ == kInfinity) return;
  constexpr double kRounding = 1e-4;  // of the energy; with less momentum would be lost to rounding in every step
  const double energy = kinetic_energy() + stored_energy(workers), excess = energy - most_energy_;
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
