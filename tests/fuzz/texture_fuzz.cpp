// libFuzzer on the reader of PNG files. Checksums are made right first, or nothing would come past them.
//
//   cmake --preset debug -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DPLIANT_FUZZ=ON && ninja -C build/fuzz
//   fuzz_texture build/fuzz/tests/fuzz_texture seeds            (any folder of small PNG files will do)
#include <cstdint>
#include <cstdlib>
#include <string>

#include "io/texture_format.h"

namespace pliant {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int k = 0; k < 8; ++k) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

/// With the checksums that its chunks ought to have, as far as there are chunks.
std::string signed_anew(std::string png) {
  for (std::size_t at = 8; png.size() >= 12 && at <= png.size() - 12;) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = size << 8 | static_cast<std::uint8_t>(png[at + i]);
    if (size > png.size() - at - 12) break;
    const std::uint32_t crc = crc_of(std::string_view(png).substr(at + 4, size + 4));
    for (std::size_t i = 0; i < 4; ++i) png[at + 8 + size + i] = static_cast<char>(crc >> (24 - 8 * i) & 255);
    at += 12 + size;
  }
  return png;
}

/// What `load_texture` promises of all it returns.
void check(const Result<ScalarTexture>& result) {
  if (!result.ok()) return require(!result.error().message.empty() && !result.error().file.empty());
  require(result->width > 0 && result->height > 0);
  require(result->values.size() == std::size_t(result->width) * std::size_t(result->height));
  for (const float value : result->values) require(value >= 0 && value <= 1);
}

}  // namespace
}  // namespace pliant

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string content(reinterpret_cast<const char*>(data), size);
  pliant::check(pliant::decode_png("f.png", content));
  pliant::check(pliant::decode_png("f.png", pliant::signed_anew(content)));
  return 0;
}
