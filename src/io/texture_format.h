// The formats of textures, as bytes.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "pliant/texture_io.h"

namespace pliant {

/// Channels of one texel after the other: 1 (grey) or 3.
struct TextureView {
  int width = 0, height = 0, channels = 3;
  std::span<const float> values;
};
TextureView view_of(const VectorTexture& texture);
TextureView view_of(const ScalarTexture& texture);
/// `.png` or `.exr`; an error for any other ending of `file`, or a size that does not fit.
Result<std::string> encode_texture(const std::filesystem::path& file, const TextureView& texture);

std::string encode_png16(const TextureView& texture);
std::string encode_exr(const TextureView& texture);
Result<ScalarTexture> decode_png(const std::filesystem::path& file, std::string_view content);

}  // namespace pliant
