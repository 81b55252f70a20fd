// 4x4 matrices of the camera and the sun, by columns as GL wants them.
#pragma once

#include <array>
#include <cmath>

#include "pliant/math.h"

namespace pliant {

struct Mat4 {
  std::array<float, 16> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

  float& at(int row, int column) { return m[static_cast<std::size_t>(column * 4 + row)]; }
  float at(int row, int column) const { return m[static_cast<std::size_t>(column * 4 + row)]; }
  const float* data() const { return m.data(); }

  friend Mat4 operator*(const Mat4& a, const Mat4& b) {
    Mat4 out;
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 4; ++c) {
        out.at(r, c) =
            a.at(r, 0) * b.at(0, c) + a.at(r, 1) * b.at(1, c) + a.at(r, 2) * b.at(2, c) + a.at(r, 3) * b.at(3, c);
      }
    }
    return out;
  }
};

/// Three directions at right angles, seen from a camera: to the right, upwards, and back towards the viewer.
struct Axes {
  Vec3 right{1, 0, 0}, up{0, 1, 0}, back{0, 0, 1};

  /// Those of one who looks along `forward` with `up` upwards; any `up` will do when the two are parallel.
  static Axes looking(Vec3 forward, Vec3 up) {
    Axes axes;
    axes.back = normalized(-forward, {0, 0, 1});
    const Vec3 other = std::abs(axes.back.y) < 0.9f ? Vec3{0, 1, 0} : Vec3{0, 0, -1};
    const Vec3 side = cross(up, axes.back);
    axes.right = normalized(length(side) > 1e-4f * length(up) ? side : cross(other, axes.back));
    axes.up = cross(axes.back, axes.right);
    return axes;
  }
  /// `p` relative to `origin` along the three axes.
  Vec3 coordinates(Vec3 p, Vec3 origin) const {
    const Vec3 d = p - origin;
    return {dot(right, d), dot(up, d), dot(back, d)};
  }
};

inline Mat4 eye_from_world(const Axes& axes, Vec3 eye) {
  Mat4 out;
  const Vec3 rows[3] = {axes.right, axes.up, axes.back};
  for (int r = 0; r < 3; ++r) {
    const Vec3 row = rows[r];
    out.at(r, 0) = row.x, out.at(r, 1) = row.y, out.at(r, 2) = row.z;
    out.at(r, 3) = -dot(row, eye);
  }
  return out;
}

/// `tan_half`: tangent of half the height's angle.
inline Mat4 perspective(float tan_half, float aspect, float near, float far) {
  Mat4 out;
  out.at(0, 0) = 1 / (tan_half * aspect);
  out.at(1, 1) = 1 / tan_half;
  out.at(2, 2) = (far + near) / (near - far);
  out.at(2, 3) = 2 * far * near / (near - far);
  out.at(3, 2) = -1;
  out.at(3, 3) = 0;
  return out;
}

/// A box of ±`half` to the sides, and from 0 to `depth` before the viewer.
inline Mat4 orthographic(float half, float depth) {
  Mat4 out;
  out.at(0, 0) = out.at(1, 1) = 1 / half;
  out.at(2, 2) = -2 / depth;
  out.at(2, 3) = -1;
  return out;
}

}  // namespace pliant
