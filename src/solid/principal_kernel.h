// Elements whose matrix is made block by block: stable Neo-Hookean solids, and corotational ones with a grain.
//
// Both are written in principal axes, F = U diag(s) Vᵀ (for the grain U = R, V = I). There the derivative of the stress
// is a 3x3 matrix A over the diagonal, and for each pair of axes one eigenvalue for their flip (symmetric) and one for
// their twist (antisymmetric part) (Smith, de Goes and Kim, Stable Neo-Hookean Flesh Simulation, 2018). Negative ones
// take their absolute value (Chen and others, Stabler Neo-Hookean Simulation, 2024): the step's matrix is positive
// definite whatever the deformation, and a step does not overshoot where the energy bends down, as it does with zeros.
//
// A step follows the tangent, and the energy of a Neo-Hookean element grows with the sixth power of its stretch. Beyond
// principal stretches of `kLeastStretch` and `kMostStretch` the stress is therefore continued along its tangent. The
// least one must be small: a flat element that is continued from 0.35 pushes outward ever harder the wider it gets, and
// bursts.
#pragma once

#include <cmath>

#include "math/eigen_kernel.h"
#include "solid/corotational_kernel.h"

namespace pliant {

/// The energy density of the stable Neo-Hookean solid, zero at rest.
inline Float8 neo_hookean_density(const LaneMat3<Float8>& f, Float8 lambda, Float8 mu) {
  const Float8 m = mu * (4.0f / 3), l = lambda + mu * (5.0f / 6), alpha = 1 + 0.75f * m / l;
  // Floats end where an element of 1 mm is torn to some kilometres: what is wider counts as that wide.
  const Float8 widest = broadcast(1e12f);
  const Float8 squares = min(dot(f.c0, f.c0) + dot(f.c1, f.c1) + dot(f.c2, f.c2), widest);
  const Float8 volume = min(determinant(f), widest) - alpha;
  Float8 logarithm;
  for (std::size_t i = 0; i < kLanes; ++i) logarithm[i] = std::log((squares[i] + 1) / 4);
  return 0.5f * (m * (squares - 3 - logarithm) + l * (volume * volume - (1 - alpha) * (1 - alpha)));
}

/// The derivative of the first Piola-Kirchhoff stress in principal axes.
template <typename T>
struct PrincipalTangent {
  LaneMat3<T> u, v;
  LaneSym3<T> a;                  ///< over the diagonal
  LaneVec3<T> straight, crossed;  ///< (flip ± twist) / 2 of the pairs yz, xz, xy
  LaneVec3<T> fiber;              ///< direction of the grain now, times a root of its stiffness; zero for none
  LaneVec3<T> fiber_rest;         ///< direction of the grain at rest
  T fiber_tension{};              ///< what holds the fibre in its direction while it is pulled, Pa
};

/// K_pq over the volume for two gradients: the force on p when q moves, by columns.
template <typename T>
LaneMat3<T> tangent_block(const PrincipalTangent<T>& t, const LaneVec3<T>& g_p, const LaneVec3<T>& g_q) {
  const LaneVec3<T> p = t.v.transposed_times(g_p), q = t.v.transposed_times(g_q);
  LaneMat3<T> k;
  k.c0.x = t.a.xx * p.x * q.x + t.straight.z * p.y * q.y + t.straight.y * p.z * q.z;
  k.c1.y = t.a.yy * p.y * q.y + t.straight.z * p.x * q.x + t.straight.x * p.z * q.z;
  k.c2.z = t.a.zz * p.z * q.z + t.straight.y * p.x * q.x + t.straight.x * p.y * q.y;
  k.c1.x = t.a.xy * p.x * q.y + t.crossed.z * p.y * q.x;
  k.c0.y = t.a.xy * p.y * q.x + t.crossed.z * p.x * q.y;
  k.c2.x = t.a.xz * p.x * q.z + t.crossed.y * p.z * q.x;
  k.c0.z = t.a.xz * p.z * q.x + t.crossed.y * p.x * q.z;
  k.c2.y = t.a.yz * p.y * q.z + t.crossed.x * p.z * q.y;
  k.c1.z = t.a.yz * p.z * q.y + t.crossed.x * p.y * q.z;
  const T along = dot(t.fiber_rest, g_p) * dot(t.fiber_rest, g_q);
  LaneMat3<T> pulled{t.fiber * (t.fiber.x * along), t.fiber * (t.fiber.y * along), t.fiber * (t.fiber.z * along)};
  const T across = t.fiber_tension * along;
  pulled.c0.x += across, pulled.c1.y += across, pulled.c2.z += across;
  return t.u * k * t.u.transposed() + pulled;
}

/// Stress (first Piola-Kirchhoff) of one element, and its derivative.
template <typename T>
struct PrincipalElement {
  LaneMat3<T> stress;
  PrincipalTangent<T> tangent;
};

template <typename T, typename Mask>
PrincipalElement<T> select(Mask mask, const PrincipalElement<T>& a, const PrincipalElement<T>& b) {
  const PrincipalTangent<T>&s = a.tangent, &t = b.tangent;
  return {select(mask, a.stress, b.stress),
          {select(mask, s.u, t.u), select(mask, s.v, t.v), select(mask, s.a, t.a), select(mask, s.straight, t.straight),
           select(mask, s.crossed, t.crossed), select(mask, s.fiber, t.fiber), select(mask, s.fiber_rest, t.fiber_rest),
           select(mask, s.fiber_tension, t.fiber_tension)}};
}

inline constexpr float kLeastStretch = 0.1f, kMostStretch = 5;

/// Stable Neo-Hookean, with the constants chosen so that small strains follow λ and μ.
template <typename T>
PrincipalElement<T> neo_hookean(const LaneMat3<T>& f, const LaneMat3<T>& fallback, T lambda, T mu) {
  const T one = T{} + 1.0f, half = T{} + 0.5f, two = T{} + 2.0f;
  const T m = mu * (4.0f / 3), l = lambda + mu * (5.0f / 6);
  const T alpha = one + (m / l) * 0.75f;
  const LaneSvd<T> svd = signed_svd(f, fallback);
  const T least = T{} + kLeastStretch, most = T{} + kMostStretch;
  const LaneVec3<T> s{min(max(svd.values.x, least), most), min(max(svd.values.y, least), most),
                      min(max(svd.values.z, least), most)};
  const T ic = dot(s, s), j = s.x * s.y * s.z;
  const T shear = m * (one - one / (ic + one)), bulk = l * (j - alpha);
  const LaneVec3<T> cofactor{s.y * s.z, s.x * s.z, s.x * s.y};

  const T bend = two * m / ((ic + one) * (ic + one));
  const LaneSym3<T> a{shear + bend * s.x * s.x + l * cofactor.x * cofactor.x,
                      shear + bend * s.y * s.y + l * cofactor.y * cofactor.y,
                      shear + bend * s.z * s.z + l * cofactor.z * cofactor.z,
                      bend * s.x * s.y + l * cofactor.x * cofactor.y + bulk * s.z,
                      bend * s.x * s.z + l * cofactor.x * cofactor.z + bulk * s.y,
                      bend * s.y * s.z + l * cofactor.y * cofactor.z + bulk * s.x};
  const auto pair = [&](T axis, T& straight, T& crossed) {
    const T twist = abs(shear + bulk * axis), flip = abs(shear - bulk * axis);
    straight = half * (flip + twist), crossed = half * (flip - twist);
  };
  PrincipalElement<T> out;
  PrincipalTangent<T>& t = out.tangent;
  pair(s.x, t.straight.x, t.crossed.x);
  pair(s.y, t.straight.y, t.crossed.y);
  pair(s.z, t.straight.z, t.crossed.z);
  t.u = svd.u, t.v = svd.v, t.a = absolute(a);

  const LaneVec3<T> beyond = t.a * (svd.values - s);
  const LaneVec3<T> principal{shear * s.x + bulk * cofactor.x + beyond.x, shear * s.y + bulk * cofactor.y + beyond.y,
                              shear * s.z + bulk * cofactor.z + beyond.z};
  const LaneMat3<T> scaled{svd.u.c0 * principal.x, svd.u.c1 * principal.y, svd.u.c2 * principal.z};
  out.stress = scaled * svd.v.transposed();
  return out;
}

/// The grain as it lies now: fibres that resist stretch.
template <typename T>
struct Fiber {
  LaneVec3<T> direction;  ///< unit
  T length;               ///< over that at rest
  T strain;               ///< elastic: beyond what has flowed
};
template <typename T>
Fiber<T> fiber_of(const LaneMat3<T>& f, const LaneMat3<T>& rotation, const LaneSym3<T>& rest_strain,
                  const LaneVec3<T>& grain) {
  const T one = T{} + 1.0f, tiny = T{} + 1e-6f;
  const LaneVec3<T> now = f * grain;
  const T length = sqrt(max(dot(now, now), tiny * tiny));
  const auto lies = length > tiny;
  return {select(lies, now * (one / length), rotation * grain), length, length - one - dot(grain, rest_strain * grain)};
}

/// The stress that an extra modulus along the grain adds, in the element's frame.
template <typename T>
LaneSym3<T> fiber_stress(const Fiber<T>& fiber, const LaneMat3<T>& rotation, const LaneVec3<T>& grain, T modulus) {
  const LaneVec3<T> pull = rotation.transposed_times(fiber.direction) * (modulus * fiber.strain);
  return symmetric_part(LaneMat3<T>{pull * grain.x, pull * grain.y, pull * grain.z});
}

/// Corotational with an extra modulus along the grain, whose energy is ½ E (|F g| − 1)². (To take the strain along the
/// grain from the corotational frame, gᵀ (RᵀF − I) g, is simpler and right for small strains. But such a stress does
/// not share its axes with the strain and is the gradient of no energy: small pieces that were stretched by a blow fed
/// on it, and burst.)
template <typename T>
PrincipalElement<T> grained(const LaneMat3<T>& f, const LaneMat3<T>& rotation, const LaneSym3<T>& rest_strain, T lambda,
                            T mu, T extra_modulus, const LaneVec3<T>& grain) {
  const T two_mu = mu + mu;
  const LaneSym3<T> strain = corotational_strain(rotation, f, rest_strain);
  const LaneSym3<T> stress = linear_stress(strain, lambda, mu);
  const Fiber<T> fiber = fiber_of(f, rotation, rest_strain, grain);
  const LaneVec3<T> pull = fiber.direction * (extra_modulus * fiber.strain);
  PrincipalElement<T> out;
  const LaneMat3<T> full{
      {stress.xx, stress.xy, stress.xz}, {stress.xy, stress.yy, stress.yz}, {stress.xz, stress.yz, stress.zz}};
  out.stress = rotation * full + LaneMat3<T>{pull * grain.x, pull * grain.y, pull * grain.z};
  const T one = T{} + 1.0f, zero{};
  PrincipalTangent<T>& t = out.tangent;
  t.u = rotation;
  t.v = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
  t.a = {lambda + two_mu, lambda + two_mu, lambda + two_mu, lambda, lambda, lambda};
  t.straight = t.crossed = {mu, mu, mu};
  t.fiber_tension = extra_modulus * max(fiber.strain, zero) / fiber.length;
  t.fiber = fiber.direction * sqrt(max(extra_modulus - t.fiber_tension, zero));
  t.fiber_rest = grain;
  return out;
}

}  // namespace pliant
