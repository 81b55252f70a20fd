#include "view/pacer.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr double kWindow = 1.0;  // s over which the rate is taken

}  // namespace

void Pacer::set_speed(double speed) {
  if (std::isfinite(speed) && speed > 0) speed_ = speed;
}

void Pacer::restart(double now) {
  due_ = 0;
  last_ = now;
  simulated_ = 0;
  marks_.clear();
}

void Pacer::begin_frame(double now, double budget) {
  due_ += speed_ * std::max(now - last_, 0.0);
  last_ = frame_begin_ = now;
  budget_ = budget;
  steps_ = 0;
  marks_.push_back({now, simulated_});
  while (marks_.size() > 2 && marks_[1].wall < now - kWindow) marks_.pop_front();
}

bool Pacer::step_is_due(double now, double dt) {
  if (due_ < dt * (1 - 1e-9)) return false;
  if (steps_ > 0 && now - frame_begin_ >= budget_) {
    due_ = std::fmod(due_, dt);
    return false;
  }
  return true;
}

void Pacer::stepped(double dt) {
  due_ = std::max(due_ - dt, 0.0);
  simulated_ += dt;
  ++steps_;
}

double Pacer::rate() const {
  if (marks_.size() < 2) return 0;
  const double wall = marks_.back().wall - marks_.front().wall;
  return wall > 0 ? (marks_.back().simulated - marks_.front().simulated) / wall : 0;
}

}  // namespace pliant
