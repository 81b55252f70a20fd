// Vertex normals eight at a time. The plain twin is `compute_normals`.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "base/simd.h"
#include "pliant/math.h"

namespace pliant {

/// One corner of each of eight vertices: a face (vertex, next, last), as places in an array of floats. A vertex with
/// fewer faces than the others has itself for both, which adds nothing.
struct CornerRow {
  std::array<std::uint32_t, kLanes> next, last;
};

/// Points from an array of x, y, z; lane i is the point that starts at `place[i]`.
inline Vec3x8 gather_points(const float* xyz, const std::array<std::uint32_t, kLanes>& place) {
  const Int8 index = load_index8(place.data());
  return {gather8(xyz, index), gather8(xyz + 1, index), gather8(xyz + 2, index)};
}

/// Unit normals of eight vertices; +Y where the corners have no area.
inline Vec3x8 vertex_normals8(const float* xyz, const std::array<std::uint32_t, kLanes>& vertices,
                              std::span<const CornerRow> rows) {
  const Vec3x8 center = gather_points(xyz, vertices);
  Vec3x8 sum;
  for (const CornerRow& row : rows) {
    sum = sum + cross(gather_points(xyz, row.next) - center, gather_points(xyz, row.last) - center);
  }
  const Float8 length8 = sqrt(dot(sum, sum));
  const Int8 has_area = length8 > std::numeric_limits<float>::min();
  const Float8 scale = 1 / select(has_area, length8, broadcast(1));
  return {select(has_area, sum.x * scale, Float8{}), select(has_area, sum.y * scale, broadcast(1)),
          select(has_area, sum.z * scale, Float8{})};
}

}  // namespace pliant
