// A contact as a row of an augmented Lagrangian, whatever its ends belong to.
//
// It asks that the velocity of one end relative to the other be at least `target` along the normal, with Coulomb
// friction across it. Its impulse is λ − W (v − target), W = φ (n nᵀ + s g (I − n nᵀ)): a penalty of moderate strength
// φ inside the matrix, and a multiplier λ that takes over what the penalty cannot hold.
//
// Friction that slides is at its bound, and the penalty across can only brake what weighs much less than φ: its grip g
// loosens from round to round as long as the row slides. (With g = 1 a box that slides slowly on a heavy slab needs
// hundreds of rounds; with g = 0 at once, the derivative of the projection onto the cone, rows that stick and slide in
// turn feed each other energy.)
#pragma once

#include <algorithm>
#include <utility>

#include "math/lane_math.h"
#include "pliant/math.h"

namespace pliant {

/// κ of a row where a solid gives way: its penalty over how hard it is to move there. Beyond 10 such rows brake too
/// much.
constexpr float kSoftPenalty = 3;

/// The nearest impulse with |tangential| ≤ μ normal, normal ≥ 0.
inline Vec3 project_to_cone(Vec3 impulse, Vec3 normal, float friction) {
  const float along = std::max(dot(impulse, normal), 0.0f);
  Vec3 across = impulse - normal * dot(impulse, normal);
  const float size = length(across), most = friction * along;
  if (size > most) across = size > 0 ? across * (most / size) : Vec3{};
  return normal * along + across;
}

/// How fast two things `gap` apart may come nearer (negative), or should part. The depth `slop` is left alone.
inline float contact_target_speed(float gap, float slop, float dt) {
  constexpr float kRecovery = 0.2f;       // share of the depth that is mended in a substep
  constexpr float kRecoverySpeed = 0.5f;  // m/s, at most
  if (gap > 0) return -gap / dt;
  return std::min(kRecovery * std::max(-gap - slop, 0.0f) / dt, kRecoverySpeed);
}

struct LagrangianRow {
  static constexpr float kLoosen = 0.3f, kLeastGrip = 1e-3f;
  Vec3 normal{}, target{};  ///< target: the relative velocity at which the row is content, m/s
  float friction = 0;
  float penalty = 0;                ///< φ, kg
  float slide = 1, next_slide = 1;  ///< s, share of the friction that sticks, now and in the next round
  float grip = 1, next_grip = 1;    ///< g
  bool active = false, next_active = false;
  bool damped = false;        ///< of a damped contact: always active; W and `held` stay as they were given
  bool tied = false;          ///< holds in all directions; of no normal
  Vec3 multiplier{}, held{};  ///< λ, and the part of it that this round works with, N s

  /// Takes the trial impulse λ − φ (v − target): whether the row will push, and how much of its friction will slide.
  /// Returns the trial on the cone.
  Vec3 judge(Vec3 velocity) {
    if (damped) return multiplier;
    if (tied) {
      next_active = true;
      return multiplier - (velocity - target) * penalty;
    }
    const Vec3 away = velocity - target, apart = normal * dot(away, normal);
    const Vec3 trial = multiplier - (apart + (away - apart) * grip) * penalty;
    const float along = dot(trial, normal);
    const float across = length(trial - normal * along), most = friction * std::max(along, 0.0f);
    next_active = along > 0;
    next_slide = across > most ? most / across : friction > 0 ? 1.0f : 0.0f;
    next_grip = grip;
    return project_to_cone(trial, normal, friction);
  }
  void begin_round() {
    active = next_active || damped;
    if (damped) return;
    slide = next_slide;
    grip = next_grip;
    const Vec3 along = normal * dot(multiplier, normal);
    held = active ? along + (multiplier - along) * slide : Vec3{};
  }
  /// W v.
  Vec3 resist(Vec3 velocity) const {
    const Vec3 along = normal * dot(velocity, normal);
    return (along + (velocity - along) * (slide * grip)) * penalty;
  }
  Vec3 impulse(Vec3 velocity) const { return active ? held - resist(velocity - target) : Vec3{}; }
  /// Takes the velocity that a round found: a new multiplier, and the grip for the next round. Returns how far friction
  /// is from settled, squared: impulses outside the cone, and what a loose grip lets slip that should stick (no more
  /// than the cone has room for: a row that sticks and slides in turn, at its bound, is settled).
  double update(Vec3 velocity) {
    if (damped) return 0;
    if (tied) {
      const Vec3 before = std::exchange(multiplier, judge(velocity));
      return static_cast<double>(length_squared(multiplier - before));
    }
    const Vec3 used = impulse(velocity);
    double unsettled = static_cast<double>(length_squared(used - project_to_cone(used, normal, friction)));
    const Vec3 next = judge(velocity), away = velocity - target;
    const Vec3 slip = (away - normal * dot(away, normal)) * penalty;
    unsettled += static_cast<double>(length_squared(next - multiplier));
    multiplier = next;
    if (next_slide < 1) {
      next_grip = std::max(kLoosen * grip, kLeastGrip);
      const float most = friction * dot(next, normal);
      const float across = length(next - normal * dot(next, normal) - slip * next_grip);
      next_slide = across > most ? most / across : friction > 0 ? 1.0f : 0.0f;
    } else if (next_active) {
      const Vec3 firm = project_to_cone(next - slip * (1 - grip), normal, friction);
      unsettled += static_cast<double>(length_squared(firm - next));
      next_grip = std::min(grip / kLoosen, 1.0f);
    }
    return unsettled;
  }
  /// m/s, by which the velocity that a round found is wrong.
  float violation(Vec3 velocity) const {
    if (!active || damped) return 0;
    return tied ? length(velocity - target) : -dot(velocity - target, normal);
  }
  /// The share of the penalty that acts across the normal.
  float across() const { return slide * grip; }
  /// W, and what it would be with another share across.
  LaneSym3<float> block() const { return block_with(penalty * slide * grip); }
  LaneSym3<float> block(float share_across) const { return block_with(penalty * share_across); }

 private:
  LaneSym3<float> block_with(float s) const {
    const float n = penalty - s;
    const Vec3 k = normal;
    return {s + n * k.x * k.x, s + n * k.y * k.y, s + n * k.z * k.z, n * k.x * k.y, n * k.x * k.z, n * k.y * k.z};
  }
};

}  // namespace pliant
