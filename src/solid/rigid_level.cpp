#include "solid/rigid_level.h"

#include <algorithm>

namespace pliant {

void RigidLevel::prepare(std::size_t aggregates, double radius) {
  places_.resize(aggregates);
  radius_ = std::max(radius, 1e-30);
}

void RigidLevel::place(std::size_t a, Vec3 offset, float radius) {
  places_[a] = {{static_cast<double>(offset.x) / radius_, static_cast<double>(offset.y) / radius_,
                 static_cast<double>(offset.z) / radius_},
                static_cast<double>(radius) / radius_};
}

/// The aggregate's share of the motion of the body: shift + turn × offset, and its own turn.
RigidMotion RigidLevel::part_of(std::size_t a, const RigidMotion& motion) const {
  const auto& [o, radius] = places_[a];
  RigidMotion part;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    part[k] = motion[k] + motion[3 + i] * o[j] - motion[3 + j] * o[i];
    part[3 + k] = motion[3 + k] * radius;
  }
  return part;
}

/// The transpose of `part_of`: what a force on the aggregate is to the body.
RigidMotion RigidLevel::whole_of(std::size_t a, const RigidMotion& force) const {
  const auto& [o, radius] = places_[a];
  RigidMotion whole;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    whole[k] = force[k];
    whole[3 + k] = o[i] * force[j] - o[j] * force[i] + radius * force[3 + k];
  }
  return whole;
}

void RigidLevel::add(std::size_t a, const double* block) {
  for (std::size_t column = 0; column < 6; ++column) {
    RigidMotion unit{};
    unit[column] = 1;
    const RigidMotion motion = part_of(a, unit);
    RigidMotion force{};
    for (std::size_t r = 0; r < 6; ++r) {
      for (std::size_t c = 0; c < 6; ++c) force[r] += block[6 * r + c] * motion[c];
    }
    const RigidMotion whole = whole_of(a, force);
    for (std::size_t r = 0; r < 6; ++r) factor_.at(r, column) += whole[r];
  }
}

RigidMotion RigidLevel::whole_force(const float* r) const {
  RigidMotion force{};
  for (std::size_t a = 0; a < places_.size(); ++a) {
    RigidMotion own;
    for (std::size_t k = 0; k < 6; ++k) own[k] = static_cast<double>(r[8 * a + k]);
    const RigidMotion whole = whole_of(a, own);
    for (std::size_t k = 0; k < 6; ++k) force[k] += whole[k];
  }
  return force;
}

void RigidLevel::add_motion(const RigidMotion& motion, float* x) const {
  for (std::size_t a = 0; a < places_.size(); ++a) {
    const RigidMotion part = part_of(a, motion);
    for (std::size_t k = 0; k < 6; ++k) x[8 * a + k] += static_cast<float>(part[k]);
  }
}

}  // namespace pliant
