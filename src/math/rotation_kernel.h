// Rotations from 3x3 matrices: by Gram-Schmidt for any matrix, and the nearest one by Newton's method on SO(3).
#pragma once

#include "math/lane_math.h"

namespace pliant {

/// The rotation of the modified Gram-Schmidt factorisation of `f`, proper for any `f`. A column with no direction of
/// its own takes what is left of `fallback`'s.
template <typename T>
LaneMat3<T> qr_rotation(const LaneMat3<T>& f, const LaneMat3<T>& fallback) {
  const T tiny = T{} + 1e-12f, one = T{} + 1.0f;
  const T size = dot(f.c0, f.c0) + dot(f.c1, f.c1) + dot(f.c2, f.c2);
  const T least = max(size * 1e-10f, tiny);

  const T l0 = dot(f.c0, f.c0);
  LaneVec3<T> q0 = select(l0 > least, f.c0 * (one / sqrt(max(l0, least))), fallback.c0);
  // The fallback's columns are at right angles to each other, so one of two of them is far from any direction.
  const auto upright = [&](const LaneVec3<T>& v, const LaneVec3<T>& first, const LaneVec3<T>& second) {
    const LaneVec3<T> a = v - q0 * dot(q0, v);
    const T la = dot(a, a);
    const LaneVec3<T> b = first - q0 * dot(q0, first), c = second - q0 * dot(q0, second);
    const T lb = dot(b, b);
    const LaneVec3<T> d = select(lb > T{} + 0.3f, b, c);
    const LaneVec3<T> chosen = select(la > least, a, d);
    const LaneVec3<T> once = chosen * (one / sqrt(max(dot(chosen, chosen), tiny)));
    // Again, since what is left of a nearly parallel column is mostly rounding.
    const LaneVec3<T> twice = once - q0 * dot(q0, once);
    return twice * (one / sqrt(max(dot(twice, twice), tiny)));
  };
  const LaneVec3<T> q1 = upright(f.c1, fallback.c1, fallback.c2);
  return {q0, q1, cross(q0, q1)};
}

/// What `polar_rotation` found for each lane.
template <typename T>
struct PolarResult {
  LaneQuat<T> rotation;
  T error_squared;  ///< of the last turn, rad²; 1 where it did not lead to the nearest rotation
};

/// Newton's method for the rotation nearest to `f`.
template <typename T>
PolarResult<T> polar_rotation(const LaneMat3<T>& f, const LaneQuat<T>& start, int iterations) {
  const T one = T{} + 1.0f, half = T{} + 0.5f, tiny = T{} + 1e-20f;
  LaneQuat<T> rotation = start;
  T error_squared = one;
  for (int i = 0; i < iterations; ++i) {
    const LaneMat3<T> b = rotation.to_matrix().transposed_times(f);
    const LaneSym3<T> s = symmetric_part(b);
    // (tr S I − S) w = axial(B − Bᵀ) turns the rotation towards f.
    const T trace = s.trace();
    const LaneSym3<T> h{trace - s.xx, trace - s.yy, trace - s.zz, -s.xy, -s.xz, -s.yz};
    const LaneVec3<T> axial{b.c1.z - b.c2.y, b.c2.x - b.c0.z, b.c0.y - b.c1.x};
    const LaneSym3<T> cofactors = adjugate(h);
    const T det = h.xx * cofactors.xx + h.xy * cofactors.xy + h.xz * cofactors.xz;
    // Only where h is positive definite does this lead to the maximum; elsewhere go uphill, by less than a radian.
    const auto good = (h.xx > tiny) & (cofactors.zz > tiny) & (det > tiny);
    const T slope = sqrt(max(dot(axial, axial), tiny)) + abs(trace);
    const LaneVec3<T> w = select(good, (cofactors * axial) * (one / select(good, det, one)), axial * (one / slope));
    const T turn_squared = dot(w, w);
    error_squared = select(good, turn_squared, one);
    rotation = rotation.turned_by(w * (half / sqrt(max(turn_squared, one))));
  }
  return {rotation, error_squared};
}

}  // namespace pliant
