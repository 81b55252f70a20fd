// Eight floats (or ints) at a time by the compiler's vector extensions: the same source for g++, clang and em++,
// lowered to whatever the CPU has, with the same results everywhere.
//
// Only kernels (`*_kernel.h`) use this, each beside a plain scalar twin that the tests compare it with.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace pliant {

inline constexpr std::size_t kLanes = 8;

using Float4 = float __attribute__((vector_size(16)));
using Float8 = float __attribute__((vector_size(32)));
using Int8 = std::int32_t __attribute__((vector_size(32)));  ///< also the result of comparing: −1 true, 0 false

inline Float4 load4(const float* from) {
  Float4 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline void store4(float* to, Float4 v) { std::memcpy(to, &v, sizeof v); }

inline Float8 broadcast(float value) { return Float8{} + value; }

inline Float8 load8(const float* from) {
  Float8 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline void store8(float* to, Float8 v) { std::memcpy(to, &v, sizeof v); }

/// Lane i is `from[index[i]]`; indices stay below 2³¹.
inline Float8 gather8(const float* from, Int8 index) {
#if defined(__AVX2__)
  return _mm256_i32gather_ps(from, reinterpret_cast<__m256i>(index), 4);
#else
  Float8 v;
  for (std::size_t i = 0; i < kLanes; ++i) v[i] = from[index[i]];
  return v;
#endif
}
inline Int8 load_index8(const std::uint32_t* from) {
  Int8 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline Float8 gather8(const float* from, const std::uint32_t* index) { return gather8(from, load_index8(index)); }

/// Where the mask is true the lane of `a`, else of `b`.
inline Float8 select(Int8 mask, Float8 a, Float8 b) { return mask ? a : b; }
inline Float8 min(Float8 a, Float8 b) { return select(a < b, a, b); }
inline Float8 max(Float8 a, Float8 b) { return select(a > b, a, b); }
inline Float8 abs(Float8 a) { return select(a < 0, -a, a); }

inline Float8 sqrt(Float8 a) {
#if defined(__AVX2__)
  return _mm256_sqrt_ps(a);
#else
  Float8 r;
  for (std::size_t i = 0; i < kLanes; ++i) r[i] = std::sqrt(a[i]);
  return r;
#endif
}

/// The sum of the lanes, always added in the same tree: (0+4)+(2+6) + (1+5)+(3+7).
inline float sum(Float8 a) {
  const float s0 = a[0] + a[4], s1 = a[1] + a[5], s2 = a[2] + a[6], s3 = a[3] + a[7];
  return (s0 + s2) + (s1 + s3);
}

inline bool any(Int8 mask) {
  std::int32_t bits = 0;
  for (std::size_t i = 0; i < kLanes; ++i) bits |= mask[i];
  return bits != 0;
}

// One lane: the scalar twins of the functions above, so that a kernel template runs on `float` as on `Float8`.
inline float select(bool mask, float a, float b) { return mask ? a : b; }
inline float min(float a, float b) { return a < b ? a : b; }
inline float max(float a, float b) { return a > b ? a : b; }
inline float abs(float a) { return a < 0 ? -a : a; }
inline float sqrt(float a) { return std::sqrt(a); }
inline bool any(bool mask) { return mask; }

/// Three lanes' worth of coordinates: eight vectors at a time, structure of arrays.
struct Vec3x8 {
  Float8 x{}, y{}, z{};

  friend Vec3x8 operator+(Vec3x8 a, Vec3x8 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Vec3x8 operator-(Vec3x8 a, Vec3x8 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Vec3x8 operator*(Vec3x8 a, Float8 s) { return {a.x * s, a.y * s, a.z * s}; }
};
inline Float8 dot(Vec3x8 a, Vec3x8 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3x8 cross(Vec3x8 a, Vec3x8 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace pliant
