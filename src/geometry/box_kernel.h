// Eight boxes against one, in one go.
#pragma once

#include <cstdint>

#include "base/simd.h"
#include "pliant/math.h"

namespace pliant {

/// Eight boxes by coordinate. A lane that holds NaN overlaps nothing.
struct alignas(32) Box8 {
  float lower[3][8], upper[3][8];

  Vec3 lower_at(std::uint32_t lane) const { return {lower[0][lane], lower[1][lane], lower[2][lane]}; }
  Vec3 upper_at(std::uint32_t lane) const { return {upper[0][lane], upper[1][lane], upper[2][lane]}; }
  void set(std::uint32_t lane, Vec3 low, Vec3 high) {
    for (std::size_t a = 0; a < 3; ++a) lower[a][lane] = low[a], upper[a][lane] = high[a];
  }
};

/// Bit i is set if lane i overlaps the box (touching counts). The plain twin of `overlap_mask`.
inline std::uint32_t overlap_mask_scalar(const Box8& boxes, Vec3 lower, Vec3 upper) {
  std::uint32_t mask = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    bool overlaps = true;
    for (std::size_t a = 0; a < 3; ++a) overlaps &= boxes.lower[a][i] <= upper[a] && lower[a] <= boxes.upper[a][i];
    mask |= std::uint32_t(overlaps) << i;
  }
  return mask;
}

inline std::uint32_t overlap_mask(const Box8& boxes, Vec3 lower, Vec3 upper) {
  Int8 m = (load8(boxes.lower[0]) <= upper.x) & (load8(boxes.upper[0]) >= lower.x);
  m &= (load8(boxes.lower[1]) <= upper.y) & (load8(boxes.upper[1]) >= lower.y);
  m &= (load8(boxes.lower[2]) <= upper.z) & (load8(boxes.upper[2]) >= lower.z);
#if defined(__AVX2__)
  return std::uint32_t(_mm256_movemask_ps(__m256(m)));
#else
  typedef std::int64_t Long4 __attribute__((vector_size(32)));
  m &= Int8{1, 2, 4, 8, 16, 32, 64, 128};
  const Long4 halves = Long4(m);
  const std::int64_t both = halves[0] | halves[1] | halves[2] | halves[3];
  return std::uint32_t(both | (both >> 32)) & 0xffu;
#endif
}

/// The number of the lowest set bit; `mask` is not 0.
inline std::uint32_t lowest_bit(std::uint32_t mask) { return std::uint32_t(__builtin_ctz(mask)); }

}  // namespace pliant
