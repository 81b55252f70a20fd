#include "render/picture_support.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

// Mesa keeps what it made as long as the process lives.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libEGL\nleak:libGLX\nleak:libgallium\nleak:swrast_dri\nleak:libLLVM\nleak:libGLESv2\n";
}

namespace pliant {
namespace {

struct Lab {
  double l = 0, a = 0, b = 0;
};

Lab to_lab(const std::uint8_t* rgb) {
  double linear[3];
  for (int c = 0; c < 3; ++c) {
    const double v = rgb[c] / 255.0;
    linear[c] = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  }
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * linear[0] + 0.3576 * linear[1] + 0.1805 * linear[2]) / 0.9505);
  const double y = f(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]);
  const double z = f((0.0193 * linear[0] + 0.1192 * linear[1] + 0.9505 * linear[2]) / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double tile_difference(const Image& a, const Image& b, int x0, int y0, int size) {
  double sum = 0;
  for (int y = y0; y < y0 + size; ++y) {
    for (int x = x0; x < x0 + size; ++x) {
      const Lab p = to_lab(a.at(x, y)), q = to_lab(b.at(x, y));
      sum += std::sqrt((p.l - q.l) * (p.l - q.l) + (p.a - q.a) * (p.a - q.a) + (p.b - q.b) * (p.b - q.b));
    }
  }
  return sum / (size * size);
}

}  // namespace

Image read_png(const std::filesystem::path& file) {
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> data(stbi_load(file.c_str(), &width, &height, &channels, 3),
                                                       stbi_image_free);
  if (!data) return {};
  Image image(width, height);
  std::memcpy(image.pixels.data(), data.get(), image.pixels.size());
  return image;
}

std::string Difference::to_string() const {
  return fmt::format("mean difference {:.2f}, worst {:.2f} in the tile at ({}, {})", mean, worst_tile, x, y);
}

Difference difference(const Image& a, const Image& b) {
  constexpr int kTile = 8, kStep = 4;
  Difference out;
  if (a.width != b.width || a.height != b.height || a.width < kTile || a.height < kTile) {
    out.mean = out.worst_tile = 100;
    return out;
  }
  int tiles = 0;
  for (int y = 0; y + kTile <= a.height; y += kStep) {
    for (int x = 0; x + kTile <= a.width; x += kStep, ++tiles) {
      const double d = tile_difference(a, b, x, y, kTile);
      out.mean += d;
      if (d > out.worst_tile) out.worst_tile = d, out.x = x, out.y = y;
    }
  }
  out.mean /= tiles;
  return out;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "pliant-render-XXXXXX").string();
  path_ = mkdtemp(name.data());
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}
std::size_t TemporaryFolder::count() const {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
  return count;
}

}  // namespace pliant
