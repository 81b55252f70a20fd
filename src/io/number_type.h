// Numbers as they lie in binary files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace pliant {

enum class NumberType : std::uint8_t { I8, U8, I16, U16, I32, U32, I64, U64, F32, F64 };

constexpr std::size_t size_of(NumberType type) {
  switch (type) {
    case NumberType::I8:
    case NumberType::U8:
      return 1;
    case NumberType::I16:
    case NumberType::U16:
      return 2;
    case NumberType::I32:
    case NumberType::U32:
    case NumberType::F32:
      return 4;
    default:
      return 8;
  }
}

/// A `T` from unaligned bytes, in reverse order if `swap`.
template <typename T>
T load_number(const char* from, bool swap) {
  unsigned char b[sizeof(T)];
  std::memcpy(b, from, sizeof(T));
  if (swap)
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(b[i], b[sizeof(T) - 1 - i]);
  T value;
  std::memcpy(&value, b, sizeof(T));
  return value;
}

/// Any number as a double; 64-bit integers above 2^53 lose their last digits.
inline double load_as_double(NumberType type, const char* from, bool swap) {
  switch (type) {
    case NumberType::I8:
      return load_number<std::int8_t>(from, swap);
    case NumberType::U8:
      return load_number<std::uint8_t>(from, swap);
    case NumberType::I16:
      return load_number<std::int16_t>(from, swap);
    case NumberType::U16:
      return load_number<std::uint16_t>(from, swap);
    case NumberType::I32:
      return load_number<std::int32_t>(from, swap);
    case NumberType::U32:
      return load_number<std::uint32_t>(from, swap);
    case NumberType::I64:
      return static_cast<double>(load_number<std::int64_t>(from, swap));
    case NumberType::U64:
      return static_cast<double>(load_number<std::uint64_t>(from, swap));
    case NumberType::F32:
      return static_cast<double>(load_number<float>(from, swap));
    case NumberType::F64:
      return load_number<double>(from, swap);
  }
  return 0;
}

}  // namespace pliant
