#include "layered/layered_guest.h"

#include <algorithm>
#include <cmath>

namespace pliant {

void LayeredGuest::begin(Workers& workers, std::span<const std::uint32_t> nodes) {
  nodes_.assign(nodes.begin(), nodes.end());
  const Matrix6& mass = system_.whole_mass();
  radius_ = std::max(std::sqrt(std::max({mass[21], mass[28], mass[35]}) / mass[0]), 1e-30);
  motion_ = {};
  free_motion_ = body_.free_motion(workers);
  system_.index_rows();
  system_.set_extras({}, {});
  system_.invert_diagonals(workers);
  // What the residual of forces alone would be worth, as the preconditioner measures it.
  double product = system_.take_step(workers, 0);
  if (is_free()) {
    Cholesky6 whole;
    for (std::size_t i = 0; i < 36; ++i) whole.at(i / 6, i % 6) = mass[i] + system_.core_extra()[i];
    whole.factor();
    product += dot(system_.whole_residual(), whole.solve(system_.whole_residual()));
  }
  scale_ = std::sqrt(std::max(product, 0.0));
}

Vector6 LayeredGuest::force_of_level(Vector6 force) const {
  for (std::size_t k = 3; k < 6; ++k) force[k] /= radius_;
  return force;
}
Vector6 LayeredGuest::motion_of_level(Vector6 motion) const {
  for (std::size_t k = 3; k < 6; ++k) motion[k] /= radius_;
  return motion;
}

Vec3 LayeredGuest::arm(std::uint32_t point) const {
  return is_of_core(point) ? system_.core_arm(point - body_.node_count()) : system_.node_arm(point);
}
void LayeredGuest::get_arms(std::span<Vec3d> arms) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) arms[i] = Vec3d(arm(nodes_[i])) / radius_;
}
void LayeredGuest::get_responses(std::span<LaneSym3<float>> responses) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    responses[i] = is_of_core(nodes_[i]) ? LaneSym3<float>{} : system_.node_response(nodes_[i]);
  }
}
void LayeredGuest::get_velocities(std::span<Vec3> velocities) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    velocities[i] = is_of_core(nodes_[i]) ? system_.core_velocity_at(arm(nodes_[i])) : system_.node_velocity(nodes_[i]);
  }
}
void LayeredGuest::get_directions(std::span<Vec3> directions) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    directions[i] =
        is_of_core(nodes_[i]) ? system_.core_direction_at(arm(nodes_[i])) : system_.node_direction(nodes_[i]);
  }
}

void LayeredGuest::start_rows(double heaviest) {
  system_.set_penalties(static_cast<float>(heaviest), kSoftPenalty);
  system_.judge_rows();
}

void LayeredGuest::add_impulses(std::span<const Vec3> impulses) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (is_of_core(nodes_[i])) {
      system_.add_to_core_residual(impulses[i], arm(nodes_[i]));
    } else {
      system_.add_to_residual(nodes_[i], impulses[i]);
    }
  }
}

void LayeredGuest::set_blocks(Workers& workers, std::span<const LaneSym3<float>> blocks) {
  std::size_t nodes = nodes_.size();
  Matrix6 of_core{};
  for (; nodes > 0 && is_of_core(nodes_[nodes - 1]); --nodes) {
    add_point_block(of_core, Vec3d(arm(nodes_[nodes - 1])), blocks[nodes - 1]);
  }
  system_.set_extras(std::span(nodes_).first(nodes), blocks.first(nodes), of_core);
  system_.invert_diagonals(workers);
}

void LayeredGuest::get_whole_matrix(double (&block)[36]) const {
  const Matrix6 matrix = system_.whole_matrix();
  for (std::size_t i = 0; i < 36; ++i) {
    block[i] = matrix[i] / ((i / 6 < 3 ? 1 : radius_) * (i % 6 < 3 ? 1 : radius_));
  }
}

double LayeredGuest::precondition(Workers& workers, double step) {
  product_ = system_.take_step(workers, step);
  residual_ = std::sqrt(std::max(product_, 0.0));
  return product_;
}

Vector6 LayeredGuest::whole_force() const { return force_of_level(system_.whole_residual()); }

void LayeredGuest::set_whole_motion(const Vector6& motion) {
  motion_ = motion_of_level(motion);
  residual_ = std::sqrt(std::max(product_ + dot(system_.whole_residual(), motion_), 0.0));
}

bool LayeredGuest::is_converged() const {
  return residual_ <= static_cast<double>(body_.tolerance().residual) * scale_;
}

std::optional<double> LayeredGuest::free_motion() const {
  return body_.is_driven() ? std::nullopt : std::optional(free_motion_);
}

Vec3d LayeredGuest::momentum() const {
  Workers alone(1);
  return body_.totals(alone).momentum;
}

bool LayeredGuest::bound_motion(Workers& workers, double most, float dt) {
  return body_.bound_energy(workers, 0.5 * most * most, dt);
}

double LayeredGuest::add_to_product(std::span<const Vec3> forces) {
  double product = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    product += is_of_core(nodes_[i]) ? system_.add_to_core_product(arm(nodes_[i]), forces[i])
                                     : system_.add_to_product(nodes_[i], forces[i]);
  }
  return product;
}

}  // namespace pliant
