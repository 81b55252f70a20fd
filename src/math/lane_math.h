// Vectors and matrices over any kind of lane: `float` for one element, `Float8` for eight at a time.
//
// Kernels are written once as templates over the lane type. The scalar instance is the twin that tests compare the
// vector instance with.
#pragma once

#include "base/simd.h"
#include "pliant/math.h"

namespace pliant {

template <typename T>
struct LaneVec3 {
  T x{}, y{}, z{};

  friend LaneVec3 operator+(const LaneVec3& a, const LaneVec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend LaneVec3 operator-(const LaneVec3& a, const LaneVec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend LaneVec3 operator-(const LaneVec3& a) { return {-a.x, -a.y, -a.z}; }
  friend LaneVec3 operator*(const LaneVec3& a, T s) { return {a.x * s, a.y * s, a.z * s}; }
};

template <typename T>
T dot(const LaneVec3<T>& a, const LaneVec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <typename T>
LaneVec3<T> cross(const LaneVec3<T>& a, const LaneVec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <typename T, typename Mask>
LaneVec3<T> select(Mask mask, const LaneVec3<T>& a, const LaneVec3<T>& b) {
  return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)};
}

/// By columns.
template <typename T>
struct LaneMat3 {
  LaneVec3<T> c0, c1, c2;

  LaneVec3<T> operator*(const LaneVec3<T>& v) const { return c0 * v.x + c1 * v.y + c2 * v.z; }
  LaneMat3 operator*(const LaneMat3& b) const { return {*this * b.c0, *this * b.c1, *this * b.c2}; }
  LaneMat3 operator*(T s) const { return {c0 * s, c1 * s, c2 * s}; }
  friend LaneMat3 operator+(const LaneMat3& a, const LaneMat3& b) { return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2}; }
  friend LaneMat3 operator-(const LaneMat3& a, const LaneMat3& b) { return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2}; }

  LaneMat3 transposed() const { return {{c0.x, c1.x, c2.x}, {c0.y, c1.y, c2.y}, {c0.z, c1.z, c2.z}}; }
  /// transposed() * v
  LaneVec3<T> transposed_times(const LaneVec3<T>& v) const { return {dot(c0, v), dot(c1, v), dot(c2, v)}; }
  /// transposed() * b
  LaneMat3 transposed_times(const LaneMat3& b) const {
    return {transposed_times(b.c0), transposed_times(b.c1), transposed_times(b.c2)};
  }
};

template <typename T>
T determinant(const LaneMat3<T>& m) {
  return dot(m.c0, cross(m.c1, m.c2));
}
template <typename T, typename Mask>
LaneMat3<T> select(Mask mask, const LaneMat3<T>& a, const LaneMat3<T>& b) {
  return {select(mask, a.c0, b.c0), select(mask, a.c1, b.c1), select(mask, a.c2, b.c2)};
}

/// A symmetric matrix by its six different entries.
template <typename T>
struct LaneSym3 {
  T xx{}, yy{}, zz{}, xy{}, xz{}, yz{};

  T trace() const { return xx + yy + zz; }
  LaneVec3<T> operator*(const LaneVec3<T>& v) const {
    return {xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z, xz * v.x + yz * v.y + zz * v.z};
  }
  friend LaneSym3 operator+(const LaneSym3& a, const LaneSym3& b) {
    return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
  }
  friend LaneSym3 operator-(const LaneSym3& a, const LaneSym3& b) {
    return {a.xx - b.xx, a.yy - b.yy, a.zz - b.zz, a.xy - b.xy, a.xz - b.xz, a.yz - b.yz};
  }
  LaneSym3 operator*(T s) const { return {xx * s, yy * s, zz * s, xy * s, xz * s, yz * s}; }

  /// The sum of the squares of all nine entries.
  T norm_squared() const {
    const T off = xy * xy + xz * xz + yz * yz;
    return xx * xx + yy * yy + zz * zz + off + off;
  }
};

template <typename T, typename Mask>
LaneSym3<T> select(Mask mask, const LaneSym3<T>& a, const LaneSym3<T>& b) {
  return {select(mask, a.xx, b.xx), select(mask, a.yy, b.yy), select(mask, a.zz, b.zz),
          select(mask, a.xy, b.xy), select(mask, a.xz, b.xz), select(mask, a.yz, b.yz)};
}

template <typename T>
T determinant(const LaneSym3<T>& m) {
  return m.xx * (m.yy * m.zz - m.yz * m.yz) - m.xy * (m.xy * m.zz - m.yz * m.xz) + m.xz * (m.xy * m.yz - m.yy * m.xz);
}
/// The adjugate: the inverse times the determinant.
template <typename T>
LaneSym3<T> adjugate(const LaneSym3<T>& m) {
  return {m.yy * m.zz - m.yz * m.yz, m.xx * m.zz - m.xz * m.xz, m.xx * m.yy - m.xy * m.xy,
          m.xz * m.yz - m.xy * m.zz, m.xy * m.yz - m.xz * m.yy, m.xy * m.xz - m.xx * m.yz};
}
template <typename T>
LaneSym3<T> symmetric_part(const LaneMat3<T>& m) {
  const T half = T{} + 0.5f;
  return {m.c0.x, m.c1.y, m.c2.z, half * (m.c0.y + m.c1.x), half * (m.c0.z + m.c2.x), half * (m.c1.z + m.c2.y)};
}

/// A rotation as a unit quaternion.
template <typename T>
struct LaneQuat {
  T x{}, y{}, z{}, w{};

  LaneMat3<T> to_matrix() const {
    const T one = T{} + 1.0f, x2 = x + x, y2 = y + y, z2 = z + z;
    const T xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2;
    const T wx = w * x2, wy = w * y2, wz = w * z2;
    return {
        {one - (yy + zz), xy + wz, xz - wy}, {xy - wz, one - (xx + zz), yz + wx}, {xz + wy, yz - wx, one - (xx + yy)}};
  }
  /// This rotation after one by the quaternion (u, 1), of unit length again.
  LaneQuat turned_by(const LaneVec3<T>& u) const {
    const LaneQuat q{x + w * u.x + y * u.z - z * u.y, y + w * u.y + z * u.x - x * u.z, z + w * u.z + x * u.y - y * u.x,
                     w - x * u.x - y * u.y - z * u.z};
    const T scale = (T{} + 1.0f) / sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return {q.x * scale, q.y * scale, q.z * scale, q.w * scale};
  }
};
template <typename T, typename Mask>
LaneQuat<T> select(Mask mask, const LaneQuat<T>& a, const LaneQuat<T>& b) {
  return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z), select(mask, a.w, b.w)};
}

/// The quaternion of a rotation matrix, by the largest of its four components (Shepperd 1978).
template <typename T>
LaneQuat<T> quaternion_of(const LaneMat3<T>& m) {
  const T one = T{} + 1.0f, half = T{} + 0.5f, tiny = T{} + 1e-12f;
  const T x4 = one + m.c0.x - m.c1.y - m.c2.z, y4 = one - m.c0.x + m.c1.y - m.c2.z;
  const T z4 = one - m.c0.x - m.c1.y + m.c2.z, w4 = one + m.c0.x + m.c1.y + m.c2.z;
  const LaneVec3<T> difference{m.c1.z - m.c2.y, m.c2.x - m.c0.z, m.c0.y - m.c1.x};
  const T sum_xy = m.c1.x + m.c0.y, sum_xz = m.c2.x + m.c0.z, sum_yz = m.c2.y + m.c1.z;
  LaneQuat<T> q{difference.x, difference.y, difference.z, w4};
  T largest = w4;
  q = select(x4 > largest, LaneQuat<T>{x4, sum_xy, sum_xz, difference.x}, q), largest = max(largest, x4);
  q = select(y4 > largest, LaneQuat<T>{sum_xy, y4, sum_yz, difference.y}, q), largest = max(largest, y4);
  q = select(z4 > largest, LaneQuat<T>{sum_xz, sum_yz, z4, difference.z}, q), largest = max(largest, z4);
  const T scale = half / sqrt(max(largest, tiny));
  return LaneQuat<T>{q.x * scale, q.y * scale, q.z * scale, q.w * scale}.turned_by({});
}

inline LaneVec3<float> to_lane(Vec3 v) { return {v.x, v.y, v.z}; }
inline Vec3 from_lane(const LaneVec3<float>& v) { return {v.x, v.y, v.z}; }

}  // namespace pliant
