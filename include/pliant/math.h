// Small vectors, quaternions and transforms of the public API.
//
// Conventions (docs/conventions.md): SI units, right-handed axes, +Y up, radians. Transforms read as equations:
// `world_from_body * p` takes a point p of the body frame to the world frame.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace pliant {

inline constexpr float kPi = 3.14159265358979323846f;

struct Vec2 {
  float x = 0, y = 0;

  friend constexpr bool operator==(Vec2 a, Vec2 b) { return a.x == b.x && a.y == b.y; }
};

struct Vec3 {
  float x = 0, y = 0, z = 0;

  constexpr float& operator[](std::size_t i) { return i == 0 ? x : i == 1 ? y : z; }
  constexpr float operator[](std::size_t i) const { return i == 0 ? x : i == 1 ? y : z; }

  constexpr Vec3& operator+=(Vec3 b) { return x += b.x, y += b.y, z += b.z, *this; }
  constexpr Vec3& operator-=(Vec3 b) { return x -= b.x, y -= b.y, z -= b.z, *this; }
  constexpr Vec3& operator*=(float s) { return x *= s, y *= s, z *= s, *this; }

  friend constexpr Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend constexpr Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend constexpr Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
  friend constexpr Vec3 operator*(Vec3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
  friend constexpr Vec3 operator*(float s, Vec3 a) { return a * s; }
  friend constexpr Vec3 operator/(Vec3 a, float s) { return {a.x / s, a.y / s, a.z / s}; }
  friend constexpr bool operator==(Vec3 a, Vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
};

constexpr float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Vec3 cross(Vec3 a, Vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
constexpr Vec3 multiply_each(Vec3 a, Vec3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
constexpr Vec3 min_each(Vec3 a, Vec3 b) {
  return {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
constexpr Vec3 max_each(Vec3 a, Vec3 b) {
  return {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}
constexpr float length_squared(Vec3 a) { return dot(a, a); }
inline float length(Vec3 a) { return std::sqrt(dot(a, a)); }
/// The unit vector along `a`, or `fallback` where `a` is too short to have a direction.
inline Vec3 normalized(Vec3 a, Vec3 fallback = {0, 0, 0}) {
  const float l = length(a);
  return l > std::numeric_limits<float>::min() ? a / l : fallback;
}
inline bool is_finite(Vec3 a) { return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z); }

/// A rotation as a unit quaternion (x, y, z, w), the order of glTF.
struct Quat {
  float x = 0, y = 0, z = 0, w = 1;

  /// The rotation by `angle` radians about `axis` (any non-zero length), right-handed.
  static Quat axis_angle(Vec3 axis, float angle) {
    const Vec3 a = pliant::normalized(axis) * std::sin(angle / 2);
    return {a.x, a.y, a.z, std::cos(angle / 2)};
  }
  /// The shortest rotation that turns direction `from` into direction `to`.
  static Quat between(Vec3 from, Vec3 to) {
    const Vec3 a = pliant::normalized(from), b = pliant::normalized(to);
    const float c = dot(a, b);
    if (c < -0.999999f) {  // opposite: any axis at right angles will do
      const Vec3 side = std::abs(a.x) < 0.9f ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
      return axis_angle(cross(a, side), kPi);
    }
    const Vec3 n = cross(a, b);
    return Quat{n.x, n.y, n.z, 1 + c}.normalized();
  }

  Quat normalized() const {
    const float l = std::sqrt(x * x + y * y + z * z + w * w);
    return l > 0 ? Quat{x / l, y / l, z / l, w / l} : Quat{};
  }
  constexpr Quat conjugate() const { return {-x, -y, -z, w}; }
  constexpr Vec3 rotate(Vec3 v) const {
    const Vec3 u{x, y, z};
    const Vec3 t = 2 * cross(u, v);
    return v + w * t + cross(u, t);
  }

  friend constexpr Quat operator*(Quat a, Quat b) {
    return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
  }
  friend constexpr bool operator==(Quat a, Quat b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }
};

inline bool is_finite(Quat q) {
  return std::isfinite(q.x) && std::isfinite(q.y) && std::isfinite(q.z) && std::isfinite(q.w);
}
/// From `a` (t = 0) to `b` (t = 1) along the shorter arc at constant angular speed.
Quat slerp(Quat a, Quat b, float t);

/// A rigid placement; read `world_from_body * point_of_body`.
struct Transform {
  Vec3 position;  ///< m
  Quat rotation;

  constexpr Vec3 operator*(Vec3 p) const { return rotation.rotate(p) + position; }
  friend constexpr Transform operator*(const Transform& a, const Transform& b) {
    return {a * b.position, a.rotation * b.rotation};
  }
  constexpr Transform inverse() const {
    const Quat r = rotation.conjugate();
    return {r.rotate(-position), r};
  }
  friend constexpr bool operator==(const Transform& a, const Transform& b) {
    return a.position == b.position && a.rotation == b.rotation;
  }
};

inline bool is_finite(const Transform& t) { return is_finite(t.position) && is_finite(t.rotation); }

/// An axis-aligned box. A default one is empty: it contains nothing and grows to what it is joined with.
struct Aabb {
  Vec3 lower{std::numeric_limits<float>::max(), std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
  Vec3 upper{-std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(),
             -std::numeric_limits<float>::max()};

  constexpr bool is_empty() const { return lower.x > upper.x || lower.y > upper.y || lower.z > upper.z; }
  constexpr Vec3 center() const { return 0.5f * (lower + upper); }
  constexpr Vec3 size() const { return upper - lower; }
  constexpr void include(Vec3 p) { lower = min_each(lower, p), upper = max_each(upper, p); }
  constexpr void include(const Aabb& b) { lower = min_each(lower, b.lower), upper = max_each(upper, b.upper); }
  constexpr Aabb expanded(float by) const { return {lower - Vec3{by, by, by}, upper + Vec3{by, by, by}}; }
  constexpr bool overlaps(const Aabb& b) const {
    return lower.x <= b.upper.x && b.lower.x <= upper.x && lower.y <= b.upper.y && b.lower.y <= upper.y &&
           lower.z <= b.upper.z && b.lower.z <= upper.z;
  }
  constexpr bool contains(Vec3 p) const {
    return lower.x <= p.x && p.x <= upper.x && lower.y <= p.y && p.y <= upper.y && lower.z <= p.z && p.z <= upper.z;
  }
};

/// A 3x3 matrix by rows, for inertia tensors and the like.
struct Mat3 {
  Vec3 rows[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

  constexpr Vec3 operator*(Vec3 v) const { return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)}; }
  constexpr float operator()(std::size_t r, std::size_t c) const { return rows[r][c]; }
  constexpr float& operator()(std::size_t r, std::size_t c) { return rows[r][c]; }
};

}  // namespace pliant
