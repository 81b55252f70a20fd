// What a body is left with by a contact solve that did not converge (solve/motion_bound.h). The elasticity of a layer
// is linear, so the bound holds as it stands.
#include <algorithm>
#include <cmath>

#include "layered/layered_body.h"
#include "layered/layered_system.h"
#include "solve/motion_bound.h"

namespace pliant {

double LayeredBody::free_motion(Workers& workers) const {
  const Moments now = moments(workers);
  const double fallen = 2 * dot(fall_, part_of(now.momentum, 0)) + now.mass[0] * length_squared(fall_);
  return std::max(2 * now.kinetic + fallen + pushed_, 0.0);
}

float LayeredBody::asked_speed() const {
  float speed = 0;
  for (const LayeredRow& row : system_->rows()) speed = std::max(speed, pliant::asked_speed(row.target, row.normal));
  return speed;
}

double LayeredBody::energy_after(Workers& workers, float dt) {
  take_velocities();
  return moments(workers).kinetic + energy_of_layer(workers, dt);
}

bool LayeredBody::bound_energy(Workers& workers, double most, float dt) {
  constexpr double kSlack = 1.01;
  if (energy_after(workers, dt) <= kSlack * most) return false;
  for (const float share : {0.5f, 0.5f, 0.4f, 0.0f}) {
    system_->slow_down(1, share);
    if (energy_after(workers, dt) <= most) break;
  }
  const double left = moments(workers).kinetic;
  if (left > most) system_->slow_down(static_cast<float>(std::sqrt(most / left)), 1);
  // At other velocities than those that were found, rows would give anything.
  for (LayeredRow& row : system_->rows()) row.multiplier = {}, row.active = false;
  take_velocities();
  return true;
}

/// The same for one that touches nothing that gives way. As in islands, mending depth is paid for by motion alone.
void LayeredBody::bound_alone(Workers& workers, float dt) {
  if (is_driven_) return;
  const double stored = elastic_energy(workers), asked = static_cast<double>(asked_speed());
  const double motion =
      largest_motion({.free = free_motion(workers), .stored = 0, .asked = system_->mass() * asked * asked});
  bound_energy(workers, 0.5 * motion * motion + stored, dt);
}

}  // namespace pliant
