#include "solid/solid_contact.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr float kPenalty = 3;           ///< κ; beyond 10 soft rows brake too much
constexpr float kMostPenalty = 64;      ///< times the first one; beyond, floats lose what the row holds back
constexpr float kRecovery = 0.2f;       ///< share of the depth that is mended in a substep
constexpr float kRecoverySpeed = 0.5f;  ///< m/s, at most

/// The nearest impulse with |tangential| ≤ μ normal, normal ≥ 0.
Vec3 project_to_cone(Vec3 impulse, Vec3 normal, float friction) {
  const float along = std::max(dot(impulse, normal), 0.0f);
  Vec3 across = impulse - normal * dot(impulse, normal);
  const float size = length(across), most = friction * along;
  if (size > most) across = size > 0 ? across * (most / size) : Vec3{};
  return normal * along + across;
}

float target_speed(float gap, float slop, float dt) {
  if (gap > 0) return -gap / dt;
  return std::min(kRecovery * std::max(-gap - slop, 0.0f) / dt, kRecoverySpeed);
}

}  // namespace

const SolidTouchMemory* find_touch(std::span<const SolidTouchMemory> memory, std::uint32_t slot, BodyId other) {
  const auto is_before = [&](const SolidTouchMemory& m, std::uint32_t) {
    return m.slot != slot ? m.slot < slot : m.other < other;
  };
  const auto found = std::lower_bound(memory.begin(), memory.end(), slot, is_before);
  return found != memory.end() && found->slot == slot && found->other == other ? &*found : nullptr;
}

void SolidContactRows::begin(const SolidLayout& layout, std::span<const SolidTouch> touches,
                             std::span<const SolidTouchMemory> memory, float slop, float dt) {
  rows_.clear();
  for (std::uint32_t t = 0; t < touches.size(); ++t) {
    const SolidTouch& touch = touches[t];
    Row row{.slot = layout.slot_of_node[touch.node],
            .touch = t,
            .other = touch.other,
            .normal = touch.normal,
            .target = touch.surface_velocity + touch.normal * target_speed(touch.gap, slop, dt),
            .friction = touch.friction};
    const SolidTouchMemory* before = find_touch(memory, row.slot, row.other);
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
    row.penalty = kPenalty / (response + 1 / body_mass);
    if (!std::isfinite(row.penalty)) row.penalty = 0;
    row.most_penalty = std::clamp(kPenalty / std::max(response, 1e-30f), row.penalty, kMostPenalty * row.penalty);
  }
}

/// Takes a row's trial impulse λ − φ (v − target): whether it will push, and how much of its friction will slide.
/// Returns the trial on the cone.
Vec3 SolidContactRows::judge(Row& row, Vec3 velocity) {
  const Vec3 trial = row.multiplier - (velocity - row.target) * row.penalty;
  const float along = dot(trial, row.normal);
  const float across = length(trial - row.normal * along), most = row.friction * std::max(along, 0.0f);
  row.next_active = along > 0;
  row.next_slide = across > most ? most / across : row.friction > 0 ? 1.0f : 0.0f;
  return project_to_cone(trial, row.normal, row.friction);
}

void SolidContactRows::start(const LaneVectors& velocities) {
  for (Row& row : rows_) judge(row, velocities.get(row.slot));
}

void SolidContactRows::begin_round() {
  for (Row& row : rows_) {
    row.active = row.next_active;
    row.slide = row.next_slide;
    const Vec3 along = row.normal * dot(row.multiplier, row.normal);
    row.held = row.active ? along + (row.multiplier - along) * row.slide : Vec3{};
  }
}

Vec3 SolidContactRows::impulse(const Row& row, Vec3 velocity) {
  if (!row.active) return {};
  const Vec3 v = velocity - row.target;
  const Vec3 along = row.normal * dot(v, row.normal);
  return row.held - (along + (v - along) * row.slide) * row.penalty;
}

LaneSym3<float> SolidContactRows::block(const Row& row) {
  const float s = row.penalty * row.slide, n = row.penalty * (1 - row.slide);
  const Vec3 k = row.normal;
  return {s + n * k.x * k.x, s + n * k.y * k.y, s + n * k.z * k.z, n * k.x * k.y, n * k.x * k.z, n * k.y * k.z};
}

void SolidContactRows::add_to_matrix(SolidSystem& system) const {
  for_each_block([&](std::uint32_t slot, const LaneSym3<float>& added) { system.add_extra(slot, added); });
}

SolidContactRows::Progress SolidContactRows::update(const LaneVectors& velocities) {
  Progress progress;
  for (Row& row : rows_) {
    const Vec3 v = velocities.get(row.slot);
    if (row.active) progress.violation = std::max(progress.violation, -dot(v - row.target, row.normal));
    const Vec3 next = judge(row, v);
    progress.change += static_cast<double>(length_squared(next - row.multiplier));
    progress.size += static_cast<double>(length_squared(next));
    row.multiplier = next;
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

void SolidContactRows::remember(std::span<const SolidTouch> touches, const LaneVectors& velocities, float dt,
                                std::vector<SolidTouchMemory>& memory) const {
  memory.clear();
  for (const Row& row : rows_) {
    const SolidTouch& touch = touches[row.touch];
    const float gap = touch.gap + dt * dot(velocities.get(row.slot) - touch.surface_velocity, touch.normal);
    if (!(length_squared(row.multiplier) > 0) && gap >= 0) continue;
    memory.push_back({row.slot, row.other, row.multiplier, touch.normal, gap});
  }
}

}  // namespace pliant
