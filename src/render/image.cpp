#include "render/image.h"

#include <algorithm>

#include "io/file.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

namespace pliant {

void Image::blend(int x, int y, Vec3 color, float opacity) {
  if (x < 0 || y < 0 || x >= width || y >= height || !(opacity > 0)) return;
  std::uint8_t* pixel = at(x, y);
  for (std::size_t c = 0; c < 3; ++c) {
    const float old = static_cast<float>(pixel[c]), wanted = 255 * color[c];
    pixel[c] =
        static_cast<std::uint8_t>(std::clamp(old + std::min(opacity, 1.0f) * (wanted - old), 0.0f, 255.0f) + 0.5f);
  }
}

std::string encode_png(const Image& image) {
  std::string bytes;
  const auto append = [](void* context, void* data, int size) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  };
  stbi_write_png_to_func(append, &bytes, image.width, image.height, 3, image.pixels.data(), 3 * image.width);
  return bytes;
}

Status write_png(const Image& image, const std::filesystem::path& file) {
  Result<AtomicFile> out = AtomicFile::create(file);
  if (!out) return out.error();
  out->write(encode_png(image));
  return out->commit();
}

}  // namespace pliant
