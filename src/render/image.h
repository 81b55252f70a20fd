// A picture in memory, and as a PNG file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pliant/math.h"
#include "pliant/result.h"

namespace pliant {

/// Rows from the top; red, green, blue; sRGB.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  ///< 3 bytes each

  Image() = default;
  Image(int w, int h) : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * 3) {}

  std::uint8_t* at(int x, int y) { return pixels.data() + offset(x, y); }
  const std::uint8_t* at(int x, int y) const { return pixels.data() + offset(x, y); }
  /// Lays `color` (sRGB, 0 to 1) over a pixel; outside the picture it does nothing.
  void blend(int x, int y, Vec3 color, float opacity);

 private:
  std::size_t offset(int x, int y) const {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 3;
  }
};

/// The bytes of a PNG file.
std::string encode_png(const Image& image);
/// Written whole or not at all.
Status write_png(const Image& image, const std::filesystem::path& file);

}  // namespace pliant
