// Eigenvectors of symmetric 3x3 matrices and signed singular values of any 3x3 matrix, over any kind of lane.
#pragma once

#include "math/rotation_kernel.h"

namespace pliant {

template <typename T>
struct LaneEigen {
  LaneVec3<T> values;   ///< descending
  LaneMat3<T> vectors;  ///< columns, a proper rotation
};

namespace eigen_detail {

/// Turns columns p and q, and the matrix entries that go with them, so that `pq` vanishes (Jacobi's rotation).
template <typename T>
void rotate_away(T& pp, T& qq, T& pq, T& rp, T& rq, LaneVec3<T>& vp, LaneVec3<T>& vq) {
  const T one = T{} + 1.0f, tiny = T{} + 1e-30f;
  const auto needed = abs(pq) > tiny;
  const T theta = (qq - pp) / select(needed, pq + pq, one);
  const T root = sqrt(theta * theta + one);
  T t = one / (abs(theta) + root);
  t = select(theta < T{}, -t, t);
  t = select(needed, t, T{});
  const T c = one / sqrt(t * t + one), s = t * c;
  pp = pp - t * pq;
  qq = qq + t * pq;
  pq = select(needed, T{}, pq);
  const T rp_new = c * rp - s * rq;
  rq = s * rp + c * rq;
  rp = rp_new;
  const LaneVec3<T> vp_new = vp * c - vq * s;
  vq = vp * s + vq * c;
  vp = vp_new;
}

template <typename T>
void sort_pair(T& a, T& b, LaneVec3<T>& va, LaneVec3<T>& vb) {
  const auto swap = a < b;
  const T high = select(swap, b, a);
  b = select(swap, a, b);
  a = high;
  // One of the two changes sign, so that the columns stay a proper rotation.
  const LaneVec3<T> first = select(swap, vb, va);
  vb = select(swap, -va, vb);
  va = first;
}

}  // namespace eigen_detail

template <typename T>
LaneEigen<T> symmetric_eigen(LaneSym3<T> m) {
  using eigen_detail::rotate_away;
  using eigen_detail::sort_pair;
  const T one = T{} + 1.0f, zero{};
  LaneMat3<T> v{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
  constexpr int kSweeps = 5;  // each squares the error: four are enough for floats
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    rotate_away(m.xx, m.yy, m.xy, m.xz, m.yz, v.c0, v.c1);
    rotate_away(m.xx, m.zz, m.xz, m.xy, m.yz, v.c0, v.c2);
    rotate_away(m.yy, m.zz, m.yz, m.xy, m.xz, v.c1, v.c2);
  }
  sort_pair(m.xx, m.yy, v.c0, v.c1);
  sort_pair(m.xx, m.zz, v.c0, v.c2);
  sort_pair(m.yy, m.zz, v.c1, v.c2);
  return {{m.xx, m.yy, m.zz}, v};
}

/// The matrix with its eigenvalues made positive: their absolute values.
template <typename T>
LaneSym3<T> absolute(const LaneSym3<T>& m) {
  const LaneEigen<T> e = symmetric_eigen(m);
  const T a = abs(e.values.x), b = abs(e.values.y), c = abs(e.values.z);
  const LaneVec3<T>&u = e.vectors.c0, &v = e.vectors.c1, &w = e.vectors.c2;
  return {a * u.x * u.x + b * v.x * v.x + c * w.x * w.x, a * u.y * u.y + b * v.y * v.y + c * w.y * w.y,
          a * u.z * u.z + b * v.z * v.z + c * w.z * w.z, a * u.x * u.y + b * v.x * v.y + c * w.x * w.y,
          a * u.x * u.z + b * v.x * v.z + c * w.x * w.z, a * u.y * u.z + b * v.y * v.z + c * w.y * w.z};
}

/// f = u diag(values) vᵀ with proper rotations u and v; the last value is negative where f is inside out.
template <typename T>
struct LaneSvd {
  LaneMat3<T> u, v;
  LaneVec3<T> values;
};

/// `fallback` is the rotation to assume where f has none.
template <typename T>
LaneSvd<T> signed_svd(const LaneMat3<T>& f, const LaneMat3<T>& fallback) {
  const LaneSym3<T> c{dot(f.c0, f.c0), dot(f.c1, f.c1), dot(f.c2, f.c2),
                      dot(f.c0, f.c1), dot(f.c0, f.c2), dot(f.c1, f.c2)};
  const LaneMat3<T> v = symmetric_eigen(c).vectors;
  const LaneMat3<T> fv = f * v;
  // Gram-Schmidt from the longest column down: the sign of the shortest tells whether f is inside out.
  const LaneMat3<T> u = qr_rotation(fv, fallback * v);
  return {u, v, {dot(u.c0, fv.c0), dot(u.c1, fv.c1), dot(u.c2, fv.c2)}};
}

}  // namespace pliant
