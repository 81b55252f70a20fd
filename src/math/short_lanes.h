// Eight numbers of 16 bits at a time, as floats.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/simd.h"

namespace pliant {

using Short8 = std::int16_t __attribute__((vector_size(16)));

inline Float8 load_shorts8(const std::int16_t* from) {
#if defined(__AVX2__)
  // GCC 12 makes three times as many instructions of the general form.
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
  Short8 v;
  std::memcpy(&v, from, sizeof v);
  return __builtin_convertvector(v, Float8);
#endif
}

/// Of whole numbers from -32768 to 32767.
inline void store_shorts8(std::int16_t* to, Float8 v) {
  const Short8 shorts = __builtin_convertvector(__builtin_convertvector(v, Int8), Short8);
  std::memcpy(to, &shorts, sizeof shorts);
}

/// To the nearest whole number, for values below 2²².
inline Float8 rounded(Float8 v) {
  constexpr float kShift = 12582912;  // 1.5 · 2²³, beyond which floats are whole numbers
  return (v + kShift) - kShift;
}

/// The smallest power of two that is no less; of positive values.
inline Float8 next_power_of_two(Float8 v) {
  Int8 bits;
  std::memcpy(&bits, &v, sizeof bits);
  bits = (bits + 0x7fffff) & 0x7f800000;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

}  // namespace pliant
