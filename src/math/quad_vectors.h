// One vector for each node, its x, y and z side by side and a fourth number of nothing: a node is one load.
//
// For products with sparse matrices, which read nodes in any order. From lane_vectors.h eight of these take three
// gathers of some forty steps each (Zen 3); here they take eight loads and a dozen shuffles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "math/lane_vectors.h"

namespace pliant {

/// The vectors of eight nodes.
inline LaneVec3<Float8> gather_quads8(const float* quads, const std::uint32_t* nodes) {
#if defined(__AVX2__)
  const auto pair = [&](std::size_t low, std::size_t high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(quads + 4 * std::size_t{nodes[low]})),
                                _mm_loadu_ps(quads + 4 * std::size_t{nodes[high]}), 1);
  };
  const __m256 a = pair(0, 4), b = pair(1, 5), c = pair(2, 6), d = pair(3, 7);
  const __m256 ab_xy = _mm256_unpacklo_ps(a, b), cd_xy = _mm256_unpacklo_ps(c, d);
  const __m256 ab_z = _mm256_unpackhi_ps(a, b), cd_z = _mm256_unpackhi_ps(c, d);
  return {_mm256_shuffle_ps(ab_xy, cd_xy, 0x44), _mm256_shuffle_ps(ab_xy, cd_xy, 0xee),
          _mm256_shuffle_ps(ab_z, cd_z, 0x44)};
#else
  LaneVec3<Float8> v;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const float* at = quads + 4 * std::size_t{nodes[i]};
    v.x[i] = at[0], v.y[i] = at[1], v.z[i] = at[2];
  }
  return v;
#endif
}

/// Those of eight nodes that follow each other.
inline void store_quads8(float* quads, const LaneVec3<Float8>& v) {
#if defined(__AVX2__)
  const __m256 zero = _mm256_setzero_ps();
  const __m256 xy_low = _mm256_unpacklo_ps(v.x, v.y), xy_high = _mm256_unpackhi_ps(v.x, v.y);
  const __m256 z_low = _mm256_unpacklo_ps(v.z, zero), z_high = _mm256_unpackhi_ps(v.z, zero);
  const __m256 rows[4] = {_mm256_shuffle_ps(xy_low, z_low, 0x44), _mm256_shuffle_ps(xy_low, z_low, 0xee),
                          _mm256_shuffle_ps(xy_high, z_high, 0x44), _mm256_shuffle_ps(xy_high, z_high, 0xee)};
  for (std::size_t k = 0; k < 4; ++k) {
    _mm_storeu_ps(quads + 4 * k, _mm256_castps256_ps128(rows[k]));
    _mm_storeu_ps(quads + 4 * k + 16, _mm256_extractf128_ps(rows[k], 1));
  }
#else
  for (std::size_t i = 0; i < kLanes; ++i) {
    store4(quads + 4 * i, Float4{v.x[i], v.y[i], v.z[i], 0.0f});
  }
#endif
}

/// The array itself. The count is rounded up to whole groups of eight.
class QuadVectors {
 public:
  void assign(std::size_t nodes) { floats_.assign((nodes + kLanes - 1) / kLanes * 32, 0.0f); }

  std::size_t groups() const { return floats_.size() / 32; }
  const float* data() const { return floats_.data(); }
  std::size_t bytes() const { return 4 * floats_.size(); }

  Vec3 get(std::uint32_t i) const {
    const float* at = floats_.data() + 4 * std::size_t{i};
    return {at[0], at[1], at[2]};
  }
  void set(std::uint32_t i, Vec3 v) {
    float* at = floats_.data() + 4 * std::size_t{i};
    at[0] = v.x, at[1] = v.y, at[2] = v.z;
  }
  void add(std::uint32_t i, Vec3 v) { set(i, get(i) + v); }
  void set_group(std::size_t g, const LaneVec3<Float8>& v) { store_quads8(floats_.data() + 32 * g, v); }
  /// Of the eight nodes of a group.
  LaneVec3<Float8> group(std::size_t g) const {
    const auto first = static_cast<std::uint32_t>(kLanes * g);
    const std::uint32_t nodes[kLanes] = {first,     first + 1, first + 2, first + 3,
                                         first + 4, first + 5, first + 6, first + 7};
    return gather_quads8(data(), nodes);
  }

 private:
  std::vector<float> floats_;
};

}  // namespace pliant
