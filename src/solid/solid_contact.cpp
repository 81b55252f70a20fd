#include "solid/solid_contact.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr float kMostPenalty = 64;  ///< times the first one; beyond, floats lose what the row holds back

}  // namespace

void SolidContactRows::begin(const SolidLayout& layout, std::span<const NodeTouch> touches,
                             std::span<const NodeTouchMemory> memory, float slop, float dt) {
  rows_.clear();
  for (std::uint32_t t = 0; t < touches.size(); ++t) {
    const NodeTouch& touch = touches[t];
    Row row;
    row.slot = layout.slot_of_node[touch.node];
    row.touch = t;
    row.other = touch.other;
    row.normal = touch.normal;
    row.target = touch.surface_velocity + touch.normal * contact_target_speed(touch.gap, slop, dt);
    row.friction = touch.friction;
    const NodeTouchMemory* before = find_touch(memory, row.slot, row.other);
    if (before) row.multiplier = project_to_cone(before->impulse, row.normal, row.friction);
    rows_.push_back(row);
  }
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return a.slot != b.slot ? a.slot < b.slot : a.other != b.other ? a.other < b.other : a.touch < b.touch;
  });
  reconcile();
}

/// A node caught between two things that leave it no room goes half the way of each: rows that cannot both be content
/// would push against each other without end.
void SolidContactRows::reconcile() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t k = i + 1; k < rows_.size() && rows_[k].slot == rows_[i].slot; ++k) {
      Row &a = rows_[i], &b = rows_[k];
      const float excess = dot(a.target, a.normal) + dot(b.target, b.normal);
      if (!(dot(a.normal, b.normal) < -0.7f && excess > 0)) continue;
      a.target -= a.normal * (excess / 2);
      b.target -= b.normal * (excess / 2);
    }
  }
}

void SolidContactRows::set_penalties(const SolidSystem& system, float body_mass) {
  for (Row& row : rows_) {
    const float response = system.response(row.slot, row.normal);
    row.penalty = kSoftPenalty / (response + 1 / body_mass);
    if (!std::isfinite(row.penalty)) row.penalty = 0;
    row.most_penalty = std::clamp(kSoftPenalty / std::max(response, 1e-30f), row.penalty, kMostPenalty * row.penalty);
  }
}

void SolidContactRows::start(const LaneVectors& velocities) {
  for (Row& row : rows_) row.judge(velocities.get(row.slot));
}

void SolidContactRows::begin_round() {
  for (Row& row : rows_) row.begin_round();
}

void SolidContactRows::add_to_matrix(SolidSystem& system) const {
  for_each_block([&](std::uint32_t slot, const LaneSym3<float>& added) { system.add_extra(slot, added); });
}

SolidContactRows::Progress SolidContactRows::update(const LaneVectors& velocities) {
  Progress progress;
  for (Row& row : rows_) {
    const Vec3 v = velocities.get(row.slot);
    if (row.active) progress.violation = std::max(progress.violation, -dot(v - row.target, row.normal));
    progress.change += row.update(v);
    progress.size += static_cast<double>(length_squared(row.multiplier));
  }
  return progress;
}

bool SolidContactRows::is_squeezed() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [&](const Row& row) { return dot(row.normal, rows_.front().normal) < -0.5f; });
}

void SolidContactRows::stiffen(const LaneVectors& velocities, float allowed) {
  constexpr float kFaster = 4, kEnoughLess = 0.3f;
  for (Row& row : rows_) {
    const float violation = -dot(velocities.get(row.slot) - row.target, row.normal);
    if (row.next_active && violation > std::max(allowed, kEnoughLess * row.violation)) {
      row.penalty = std::min(kFaster * row.penalty, row.most_penalty);
    }
    row.violation = violation;
  }
}

void SolidContactRows::remember(std::span<const NodeTouch> touches, const LaneVectors& velocities, float dt,
                                std::vector<NodeTouchMemory>& memory) const {
  memory.clear();
  for (const Row& row : rows_) {
    const NodeTouch& touch = touches[row.touch];
    const float gap = touch.gap + dt * dot(velocities.get(row.slot) - touch.surface_velocity, touch.normal);
    if (!(length_squared(row.multiplier) > 0) && gap >= 0) continue;
    memory.push_back({row.slot, row.other, row.multiplier, touch.normal, gap});
  }
}

}  // namespace pliant
