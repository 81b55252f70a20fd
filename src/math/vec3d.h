// Vectors in double: for preprocessing (volumes, hulls, generators), and for bodies as a whole.
#pragma once

#include <cmath>

#include "pliant/math.h"

namespace pliant {

inline constexpr double kPiD = 3.14159265358979323846;

struct Vec3d {
  double x = 0, y = 0, z = 0;

  constexpr Vec3d() = default;
  constexpr Vec3d(double x_, double y_, double z_) : x(x_), y(y_), z(z_) {}
  constexpr explicit Vec3d(Vec3 a) : x(a.x), y(a.y), z(a.z) {}
  constexpr Vec3 to_float() const { return {float(x), float(y), float(z)}; }

  constexpr double& operator[](std::size_t i) { return i == 0 ? x : i == 1 ? y : z; }
  constexpr double operator[](std::size_t i) const { return i == 0 ? x : i == 1 ? y : z; }

  constexpr Vec3d& operator+=(Vec3d b) { return x += b.x, y += b.y, z += b.z, *this; }
  friend constexpr Vec3d operator+(Vec3d a, Vec3d b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend constexpr Vec3d operator-(Vec3d a, Vec3d b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend constexpr Vec3d operator-(Vec3d a) { return {-a.x, -a.y, -a.z}; }
  friend constexpr Vec3d operator*(Vec3d a, double s) { return {a.x * s, a.y * s, a.z * s}; }
  friend constexpr Vec3d operator*(double s, Vec3d a) { return a * s; }
  friend constexpr Vec3d operator/(Vec3d a, double s) { return {a.x / s, a.y / s, a.z / s}; }
};

constexpr double dot(Vec3d a, Vec3d b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Vec3d cross(Vec3d a, Vec3d b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
constexpr double length_squared(Vec3d a) { return dot(a, a); }
inline double length(Vec3d a) { return std::sqrt(dot(a, a)); }
/// The unit vector along `a`, or `fallback` where `a` has no direction.
inline Vec3d normalized(Vec3d a, Vec3d fallback = {0, 0, 0}) {
  const double l = length(a);
  return l > 1e-300 ? a / l : fallback;
}
inline bool is_finite(Vec3d a) { return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z); }

/// Six times the volume of the tet (a, b, c, d); positive when d lies on the side that (a, b, c) faces.
constexpr double six_volumes(Vec3d a, Vec3d b, Vec3d c, Vec3d d) { return dot(cross(b - a, c - a), d - a); }

}  // namespace pliant
