// The state hash: 64 bits over the bytes of the state in a fixed order. Fast and well mixed, not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace pliant {

class Hasher {
 public:
  void add_bytes(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    if (size >= kMuch) add_side_by_side(bytes, size);
    for (; size >= 8; bytes += 8, size -= 8) mix(word_at(bytes));
    // The length goes in with the tail, so that "a" + "" and "" + "a" of neighbouring fields differ.
    std::uint64_t tail = 0;
    if (size > 0) std::memcpy(&tail, bytes, size);
    mix(tail ^ (std::uint64_t{size + 1} << 56));
  }

  /// Numbers and enums only: a struct may have padding, whose bytes mean nothing.
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T value) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    mix(word);
  }

  /// Arrays of a type without padding.
  template <typename T>
  void add_array(std::span<const T> items) {
    add_bytes(items.data(), items.size_bytes());
  }
  void add_text(std::string_view text) { add_bytes(text.data(), text.size()); }

  std::uint64_t value() const {
    std::uint64_t h = state_;  // the finaliser of splitmix64 (Steele, Lea and Flood 2014)
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
  }

 private:
  static constexpr std::size_t kMuch = 256;  // bytes
  static std::uint64_t word_at(const unsigned char* bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
  }
  /// Each word waits for the one before it to be mixed in, so that four hashes take no longer than one.
  void add_side_by_side(const unsigned char*& bytes, std::size_t& size) {
    Hasher parts[4];
    for (; size >= 32; bytes += 32, size -= 32) {
      for (std::size_t i = 0; i < 4; ++i) parts[i].mix(word_at(bytes + 8 * i));
    }
    for (const Hasher& part : parts) mix(part.state_);
  }
  void mix(std::uint64_t word) {
    state_ ^= word * 0x9e3779b97f4a7c15ull;
    state_ = ((state_ << 27) | (state_ >> 37)) * 0xd6e8feb86659fd93ull + 0x2545f4914f6cdd1dull;
  }
  std::uint64_t state_ = 0x243f6a8885a308d3ull;
};

}  // namespace pliant
