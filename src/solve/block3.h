// 3x3 blocks in double, row by row, as sparse factors take them.
#pragma once

#include <array>
#include <cstddef>

#include "math/vec3d.h"

namespace pliant {

using Block3 = std::array<double, 9>;

inline Block3 outer(Vec3d n, double scale) {
  return {scale * n.x * n.x, scale * n.x * n.y, scale * n.x * n.z, scale * n.y * n.x, scale * n.y * n.y,
          scale * n.y * n.z, scale * n.z * n.x, scale * n.z * n.y, scale * n.z * n.z};
}
inline Block3 diagonal3(double scale) { return {scale, 0, 0, 0, scale, 0, 0, 0, scale}; }
inline Block3 operator+(const Block3& a, const Block3& b) {
  Block3 sum;
  for (std::size_t i = 0; i < 9; ++i) sum[i] = a[i] + b[i];
  return sum;
}
inline Block3 operator*(const Block3& a, double scale) {
  Block3 product;
  for (std::size_t i = 0; i < 9; ++i) product[i] = a[i] * scale;
  return product;
}
inline Block3 operator*(const Block3& a, const Block3& b) {
  Block3 product{};
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t c = 0; c < 3; ++c) product[3 * r + c] += a[3 * r + k] * b[3 * k + c];
    }
  }
  return product;
}
inline Vec3d operator*(const Block3& a, Vec3d v) {
  return {a[0] * v.x + a[1] * v.y + a[2] * v.z, a[3] * v.x + a[4] * v.y + a[5] * v.z,
          a[6] * v.x + a[7] * v.y + a[8] * v.z};
}

}  // namespace pliant
