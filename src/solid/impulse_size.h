// How large impulses on the nodes of a solid are: what residuals are measured by.
//
// The plain norm is that of Parker and O'Brien (2009). It alone sees nothing of light parts of a heavy body: a
// thousandth of a pudding's weight throws the stem on it about. By mass it is what the impulses make of the velocities.
#pragma once

#include <algorithm>
#include <cmath>

#include "math/lane_vectors.h"

namespace pliant {

/// |j| in N s and √(Σ j²/m) in √J; or the squares of both, as sums over nodes.
struct ImpulseSize {
  double plain = 0, by_mass = 0;

  ImpulseSize& operator+=(const ImpulseSize& other) {
    plain += other.plain, by_mass += other.by_mass;
    return *this;
  }
  friend ImpulseSize operator*(double scale, const ImpulseSize& size) {
    return {scale * size.plain, scale * size.by_mass};
  }
  bool is_within(const ImpulseSize& limit) const { return plain <= limit.plain && by_mass <= limit.by_mass; }
};

inline ImpulseSize max(const ImpulseSize& a, const ImpulseSize& b) {
  return {std::max(a.plain, b.plain), std::max(a.by_mass, b.by_mass)};
}
inline ImpulseSize min(const ImpulseSize& a, const ImpulseSize& b) {
  return {std::min(a.plain, b.plain), std::min(a.by_mass, b.by_mass)};
}
/// Of sums of squares.
inline ImpulseSize sqrt(const ImpulseSize& squares) { return {std::sqrt(squares.plain), std::sqrt(squares.by_mass)}; }

/// The squares of the impulses on some groups of eight nodes.
struct ImpulseSquares {
  Float8 plain{}, by_mass{};

  void add(const LaneVec3<Float8>& impulse, Float8 mass) {
    const Float8 square = dot(impulse, impulse);
    plain += square;
    by_mass += square / max(mass, broadcast(1e-30f));  // padding has none
  }
  ImpulseSize total() const { return {static_cast<double>(sum(plain)), static_cast<double>(sum(by_mass))}; }
};

}  // namespace pliant
