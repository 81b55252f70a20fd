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
[[gnu::always_inline]] inline T multiplier_change(T c, T compliance, T lambda, T weight) {
  return -(c + compliance * lambda) / max(weight + compliance, T{} + 1e-30f);
}

/// A tet's seven constraints in terms of its deformation gradient F = P B, with P its edges from corner 0 and B the
/// inverse of P at rest. A constraint with gradient G by F moves corner k by w_k Δλ G b_k, where b_k is row k of B (and
/// row 0 minus the sum of the others), and so changes F by Δλ G W with W = Σ w_k b_k b_kᵀ. Projections therefore work
/// on F alone; Σ Δλ G is gathered in `moved`, and the corners are moved once, by w_k `moved` b_k.
template <typename T>
struct TetProjection {
  LaneVec3<T> f[3];      ///< columns of F
  LaneVec3<T> moved[3];  ///< columns of Σ Δλ G
  T weight[3][3];        ///< W

  TetProjection(const LaneMat3<T>& edges, const LaneMat3<T>& inverse_rest, const T (&w)[4])
      : f{edges * inverse_rest.c0, edges * inverse_rest.c1, edges * inverse_rest.c2} {
    const LaneVec3<T>* b[3] = {&inverse_rest.c0, &inverse_rest.c1, &inverse_rest.c2};
    T first[3];
    for (int i = 0; i < 3; ++i) first[i] = b[i]->x + b[i]->y + b[i]->z;
    for (int i = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j) {
        weight[i][j] =
            w[0] * first[i] * first[j] + w[1] * b[i]->x * b[j]->x + w[2] * b[i]->y * b[j]->y + w[3] * b[i]->z * b[j]->z;
        weight[j][i] = weight[i][j];
      }
    }
  }

  /// How much one axis is stretched: |f| = 1.
  [[gnu::always_inline]] void stretch(int i, T compliance, T& lambda) {
    const T one = T{} + 1.0f, zero{};
    const T length = sqrt(dot(f[i], f[i]));
    const auto some = length > T{} + 1e-6f;
    const LaneVec3<T> axis{i == 0 ? one : zero, i == 1 ? one : zero, i == 2 ? one : zero};
    const LaneVec3<T> along = select(some, f[i] * (one / select(some, length, one)), axis);
    const T change = multiplier_change(length - one, compliance, lambda, weight[i][i]);
    lambda = lambda + change;
    const LaneVec3<T> by = along * change;
    moved[i] = moved[i] + by;
    for (int j = 0; j < 3; ++j) f[j] = f[j] + by * weight[i][j];
  }

  /// That two axes stay at right angles: f · g = 0.
  [[gnu::always_inline]] void shear(int i, int j, T compliance, T& lambda) {
    const T c = dot(f[i], f[j]), mixed = weight[i][j] * c;
    const T sum = weight[i][i] * dot(f[j], f[j]) + mixed + mixed + weight[j][j] * dot(f[i], f[i]);
    const T change = multiplier_change(c, compliance, lambda, sum);
    lambda = lambda + change;
    const LaneVec3<T> by_i = f[j] * change, by_j = f[i] * change;
    moved[i] = moved[i] + by_i, moved[j] = moved[j] + by_j;
    for (int k = 0; k < 3; ++k) f[k] = f[k] + by_i * weight[i][k] + by_j * weight[j][k];
  }

  /// The six strain constraints (Müller et al. 2014, with lengths instead of their squares) with the energy μ V ε:ε at
  /// small strain. `shear_compliance` is 1/(μ V h²).
  [[gnu::always_inline]] void strain(T shear_compliance, T (&lambda)[6]) {
    const T stretch_compliance = shear_compliance * (T{} + 0.5f);
    stretch(0, stretch_compliance, lambda[0]);
    stretch(1, stretch_compliance, lambda[1]);
    stretch(2, stretch_compliance, lambda[2]);
    shear(0, 1, shear_compliance, lambda[3]);
    shear(1, 2, shear_compliance, lambda[4]);
    shear(2, 0, shear_compliance, lambda[5]);
  }

  /// det F = 1 with the energy ½ λ V (det F − 1)². `compliance` is 1/(λ V h²). Tells inside out from outside in, which
  /// strain does not.
  [[gnu::always_inline]] void volume(T compliance, T& lambda) {
    const LaneVec3<T> g[3] = {cross(f[1], f[2]), cross(f[2], f[0]), cross(f[0], f[1])};
    LaneVec3<T> answer[3];
    T sum{};
    for (int i = 0; i < 3; ++i) {
      answer[i] = g[0] * weight[0][i] + g[1] * weight[1][i] + g[2] * weight[2][i];
      sum = sum + dot(answer[i], g[i]);
    }
    const T change = multiplier_change(dot(g[2], f[2]) - (T{} + 1.0f), compliance, lambda, sum);
    lambda = lambda + change;
    for (int i = 0; i < 3; ++i) {
      moved[i] = moved[i] + g[i] * change;
      f[i] = f[i] + answer[i] * change;
    }
  }

  /// By how much corner `k` (1 to 3) moves for a unit of inverse mass; corner 0 moves by minus the sum of these.
  LaneVec3<T> step_of(const LaneMat3<T>& inverse_rest, int k) const {
    const auto entry = [&](const LaneVec3<T>& b) { return k == 1 ? b.x : k == 2 ? b.y : b.z; };
    return moved[0] * entry(inverse_rest.c0) + moved[1] * entry(inverse_rest.c1) + moved[2] * entry(inverse_rest.c2);
  }
};

/// |b − a| = rest_length.
template <typename T>
void project_distance(LaneVec3<T>& a, LaneVec3<T>& b, T wa, T wb, T rest_length, T compliance, T& lambda) {
  const T one = T{} + 1.0f;
  const LaneVec3<T> d = b - a;
  const T length = sqrt(dot(d, d));
  const auto some = length > T{} + 1e-12f;
  const LaneVec3<T> along = d * (select(some, one, T{}) / select(some, length, one));
  const T change = multiplier_change(length - rest_length, compliance, lambda, wa + wb);
  lambda = lambda + change;
  a = a - along * (wa * change);
  b = b + along * (wb * change);
}

}  // namespace pliant
