// Projections of position-based dynamics, over any kind of lane.
//
// Each moves the corners p of an element so that a constraint C is met as far as its compliance allows (XPBD: Macklin,
// Müller and Chentanez 2016): Δλ = −(C + α̃ λ) / (Σ w |∇C|² + α̃), Δp = w ∇C Δλ, with α̃ the compliance over h² and w the
// inverse masses. λ gathers over the iterations of a step, so that stiffness does not depend on their number once they
// have converged.
#pragma once

#include "math/lane_math.h"

namespace pliant {

template <typename T>
struct TetCorners {
  LaneVec3<T> p[4];
  T w[4];

  LaneMat3<T> edges() const { return {p[1] - p[0], p[2] - p[0], p[3] - p[0]}; }
};

namespace position_detail {

template <typename T>
T multiplier_change(T c, T compliance, T lambda, T weight) {
  return -(c + compliance * lambda) / max(weight + compliance, T{} + 1e-30f);
}

/// Moves the corners along `gradient` of corners 1 to 3; corner 0 has minus their sum.
template <typename T>
void project(TetCorners<T>& tet, T c, const LaneVec3<T> (&gradient)[3], T compliance, T& lambda) {
  const LaneVec3<T> last = -(gradient[0] + gradient[1] + gradient[2]);
  T weight = tet.w[0] * dot(last, last);
  for (int k = 0; k < 3; ++k) weight = weight + tet.w[k + 1] * dot(gradient[k], gradient[k]);
  const T change = multiplier_change(c, compliance, lambda, weight);
  lambda = lambda + change;
  tet.p[0] = tet.p[0] + last * (tet.w[0] * change);
  for (int k = 0; k < 3; ++k) tet.p[k + 1] = tet.p[k + 1] + gradient[k] * (tet.w[k + 1] * change);
}

/// How much one axis of the tet is stretched: |f| = 1, for the column f of the deformation gradient that the column b
/// of the inverse rest matrix gives.
template <typename T>
void project_stretch(TetCorners<T>& tet, const LaneVec3<T>& b, const LaneVec3<T>& axis, T compliance, T& lambda) {
  const T one = T{} + 1.0f;
  const LaneVec3<T> f = tet.edges() * b;
  const T length = sqrt(dot(f, f));
  const auto some = length > T{} + 1e-6f;
  const LaneVec3<T> along = select(some, f * (one / select(some, length, one)), axis);
  const T first = -(b.x + b.y + b.z);
  const T weight = tet.w[0] * first * first + tet.w[1] * b.x * b.x + tet.w[2] * b.y * b.y + tet.w[3] * b.z * b.z;
  const T change = multiplier_change(length - one, compliance, lambda, weight);
  lambda = lambda + change;
  tet.p[0] = tet.p[0] + along * (tet.w[0] * first * change);
  tet.p[1] = tet.p[1] + along * (tet.w[1] * b.x * change);
  tet.p[2] = tet.p[2] + along * (tet.w[2] * b.y * change);
  tet.p[3] = tet.p[3] + along * (tet.w[3] * b.z * change);
}

/// That two axes stay at right angles: f · g = 0.
template <typename T>
void project_shear(TetCorners<T>& tet, const LaneVec3<T>& b, const LaneVec3<T>& d, T compliance, T& lambda) {
  const LaneMat3<T> edges = tet.edges();
  const LaneVec3<T> f = edges * b, g = edges * d;
  const LaneVec3<T> gradient[3] = {g * b.x + f * d.x, g * b.y + f * d.y, g * b.z + f * d.z};
  project(tet, dot(f, g), gradient, compliance, lambda);
}

}  // namespace position_detail

/// The six strain constraints of a tet (Müller et al. 2014, with lengths instead of their squares) with the energy
/// μ V ε:ε at small strain. `shear_compliance` is 1/(μ V h²).
template <typename T>
void project_strain(TetCorners<T>& tet, const LaneMat3<T>& inverse_rest, T shear_compliance, T (&lambda)[6]) {
  using namespace position_detail;
  const T one = T{} + 1.0f, zero{}, stretch_compliance = shear_compliance * (T{} + 0.5f);
  const auto& [a, b, c] = inverse_rest;
  project_stretch(tet, a, {one, zero, zero}, stretch_compliance, lambda[0]);
  project_stretch(tet, b, {zero, one, zero}, stretch_compliance, lambda[1]);
  project_stretch(tet, c, {zero, zero, one}, stretch_compliance, lambda[2]);
  project_shear(tet, a, b, shear_compliance, lambda[3]);
  project_shear(tet, b, c, shear_compliance, lambda[4]);
  project_shear(tet, c, a, shear_compliance, lambda[5]);
}

/// V/V₀ = 1 with the energy ½ λ V₀ (V/V₀ − 1)². `compliance` is 1/(λ V₀ h²). Tells inside out from outside in, which
/// strain does not.
template <typename T>
void project_volume(TetCorners<T>& tet, T six_rest_volumes, T compliance, T& lambda) {
  const LaneMat3<T> e = tet.edges();
  const T scale = (T{} + 1.0f) / six_rest_volumes;
  const LaneVec3<T> gradient[3] = {cross(e.c1, e.c2) * scale, cross(e.c2, e.c0) * scale, cross(e.c0, e.c1) * scale};
  position_detail::project(tet, dot(gradient[2], e.c2) - (T{} + 1.0f), gradient, compliance, lambda);
}

/// |b − a| = rest_length.
template <typename T>
void project_distance(LaneVec3<T>& a, LaneVec3<T>& b, T wa, T wb, T rest_length, T compliance, T& lambda) {
  const T one = T{} + 1.0f;
  const LaneVec3<T> d = b - a;
  const T length = sqrt(dot(d, d));
  const auto some = length > T{} + 1e-12f;
  const LaneVec3<T> along = d * (select(some, one, T{}) / select(some, length, one));
  const T change = position_detail::multiplier_change(length - rest_length, compliance, lambda, wa + wb);
  lambda = lambda + change;
  a = a - along * (wa * change);
  b = b + along * (wb * change);
}

}  // namespace pliant
