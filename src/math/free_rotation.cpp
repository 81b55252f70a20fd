#include "math/free_rotation.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Radians, at most, of a piece of a step. Fixed points of more than half a radian may not be found by going to and
/// fro; the error of where the body gets to is of second order.
constexpr double kLongestTurn = 0.1;
constexpr int kMostPieces = 400;

struct Rotation {
  Vec3d v{};
  double w = 1;

  static Rotation by(Vec3d turn) {
    const double angle = length(turn);
    if (angle < 1e-12) return {turn * 0.5, 1};
    return {turn * (std::sin(angle / 2) / angle), std::cos(angle / 2)};
  }
  Vec3d operator()(Vec3d x) const {
    const Vec3d t = cross(v, x) * 2;
    return x + t * w + cross(v, t);
  }
  friend Rotation operator*(const Rotation& a, const Rotation& b) {
    return {b.v * a.w + a.v * b.w + cross(a.v, b.v), a.w * b.w - dot(a.v, b.v)};
  }
};

}  // namespace

Vec3d angular_velocity_of(const std::array<double, 9>& m, Vec3d spin) {
  const Vec3d a(m[0], m[1], m[2]), b(m[3], m[4], m[5]), c(m[6], m[7], m[8]);
  const Vec3d bc = cross(b, c), ca = cross(c, a), ab = cross(a, b);
  const double determinant = dot(a, bc);
  if (!(determinant > 0)) return {};
  return (bc * spin.x + ca * spin.y + ab * spin.z) / determinant;
}

Quat free_rotation(const std::array<double, 9>& inertia, Vec3d spin, double dt) {
  constexpr int kMostIterations = 30;
  constexpr double kSettled = 1e-14;
  const double rate = length(angular_velocity_of(inertia, spin)), angle = rate * dt;
  if (!std::isfinite(angle)) return {};
  const int pieces = 1 + static_cast<int>(std::min(angle / kLongestTurn, kMostPieces - 1.0));
  // What turns faster than that many pieces can follow turns by less: where it gets to is chance, its energy is not.
  const double time = std::min(dt / pieces, kLongestTurn / std::max(rate, 1e-30));
  Rotation turned;
  Vec3d seen = spin;
  for (int piece = 0; piece < pieces; ++piece) {
    Vec3d velocity = angular_velocity_of(inertia, seen), next = seen;
    for (int i = 0; i < kMostIterations; ++i) {
      next = Rotation::by(velocity * -time)(seen);
      const Vec3d before = velocity;
      velocity = angular_velocity_of(inertia, (seen + next) * 0.5);
      if (length(velocity - before) <= kSettled * length(velocity)) break;
    }
    turned = turned * Rotation::by(velocity * time);
    seen = next;
  }
  return Quat{float(turned.v.x), float(turned.v.y), float(turned.v.z), float(turned.w)}.normalized();
}

}  // namespace pliant
