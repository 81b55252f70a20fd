// Eight nodes at a time out of an array of `Vec4`, and back. Nodes lie anywhere: eight loads and a transposition are
// faster than four gathers, and one node stays within one cache line.
#pragma once

#include <cstdint>

#include "math/lane_math.h"
#include "math/vec4.h"

namespace pliant {

template <typename T>
struct LaneVec4 {
  LaneVec3<T> xyz;
  T w{};
};

/// Nodes `index[0]` to `index[7]`.
inline LaneVec4<Float8> load_nodes(const Vec4* nodes, const std::uint32_t* index) {
#if defined(__AVX2__)
  const auto row = [&](std::size_t lane) { return _mm_load_ps(&nodes[index[lane]].x); };
  const auto pair = [&](std::size_t lane) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(row(lane)), row(lane + 4), 1);
  };
  const __m256 a = pair(0), b = pair(1), c = pair(2), d = pair(3);
  const __m256 ab_low = _mm256_unpacklo_ps(a, b), ab_high = _mm256_unpackhi_ps(a, b);
  const __m256 cd_low = _mm256_unpacklo_ps(c, d), cd_high = _mm256_unpackhi_ps(c, d);
  return {{_mm256_shuffle_ps(ab_low, cd_low, 0x44), _mm256_shuffle_ps(ab_low, cd_low, 0xee),
           _mm256_shuffle_ps(ab_high, cd_high, 0x44)},
          _mm256_shuffle_ps(ab_high, cd_high, 0xee)};
#else
  LaneVec4<Float8> out;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const Vec4& node = nodes[index[i]];
    out.xyz.x[i] = node.x, out.xyz.y[i] = node.y, out.xyz.z[i] = node.z, out.w[i] = node.w;
  }
  return out;
#endif
}

/// To nodes `index[0]` to `index[count - 1]`; no node twice.
inline void store_nodes(Vec4* nodes, const std::uint32_t* index, std::size_t count, const LaneVec4<Float8>& v) {
#if defined(__AVX2__)
  const __m256 xy_low = _mm256_unpacklo_ps(v.xyz.x, v.xyz.y), xy_high = _mm256_unpackhi_ps(v.xyz.x, v.xyz.y);
  const __m256 zw_low = _mm256_unpacklo_ps(v.xyz.z, v.w), zw_high = _mm256_unpackhi_ps(v.xyz.z, v.w);
  const __m256 rows[4] = {_mm256_shuffle_ps(xy_low, zw_low, 0x44), _mm256_shuffle_ps(xy_low, zw_low, 0xee),
                          _mm256_shuffle_ps(xy_high, zw_high, 0x44), _mm256_shuffle_ps(xy_high, zw_high, 0xee)};
  for (std::size_t i = 0; i < count; ++i) {
    const __m256 row = rows[i % 4];
    _mm_store_ps(&nodes[index[i]].x, i < 4 ? _mm256_castps256_ps128(row) : _mm256_extractf128_ps(row, 1));
  }
#else
  for (std::size_t i = 0; i < count; ++i) {
    nodes[index[i]] = {v.xyz.x[i], v.xyz.y[i], v.xyz.z[i], v.w[i]};
  }
#endif
}

}  // namespace pliant
