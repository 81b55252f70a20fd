#include "io/base64.h"

#include <array>
#include <cstdint>

namespace pliant {

namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 255;

std::array<std::uint8_t, 256> make_digits() {
  std::array<std::uint8_t, 256> digits;
  digits.fill(kNoDigit);
  for (std::uint8_t i = 0; i < 64; ++i) digits[static_cast<unsigned char>(kAlphabet[i])] = i;
  return digits;
}

}  // namespace

std::string base64_encode(const void* data, std::size_t bytes) {
  const auto* in = static_cast<const unsigned char*>(data);
  std::string out;
  out.reserve((bytes + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes; i += 3) {
    const std::size_t n = bytes - i < 3 ? bytes - i : 3;
    const std::uint32_t group = std::uint32_t{in[i]} << 16 | (n > 1 ? std::uint32_t{in[i + 1]} << 8 : 0u) |
                                (n > 2 ? std::uint32_t{in[i + 2]} : 0u);
    out += kAlphabet[group >> 18];
    out += kAlphabet[group >> 12 & 63];
    out += n > 1 ? kAlphabet[group >> 6 & 63] : '=';
    out += n > 2 ? kAlphabet[group & 63] : '=';
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  static const std::array<std::uint8_t, 256> digits = make_digits();
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pad = i >= text.size() - padding;
    const std::uint8_t digit = pad ? 0 : digits[static_cast<unsigned char>(text[i])];
    if (digit == kNoDigit) return std::nullopt;
    group = group << 6 | digit;
    if (i % 4 != 3) continue;
    out += static_cast<char>(group >> 16 & 255);
    out += static_cast<char>(group >> 8 & 255);
    out += static_cast<char>(group & 255);
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace pliant
