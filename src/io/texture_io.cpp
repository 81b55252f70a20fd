#include "pliant/texture_io.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "io/file.h"
#include "io/texture_format.h"

namespace pliant {
namespace {

constexpr std::uint64_t kMaxTextureBytes = std::uint64_t{1} << 28;

template <typename Texture>
Status save(const std::filesystem::path& file, const Texture& texture) {
  const Result<std::string> bytes = encode_texture(file, view_of(texture));
  if (!bytes) return bytes.error();
  Result<AtomicFile> out = AtomicFile::create(file);
  if (!out) return out.error();
  out->write(*bytes);
  return out->commit();
}

// --- OpenEXR: one part, scan lines, no compression -------------------------------------------------------------------

template <typename T>
void put(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));  // both are little-endian
  out.append(bytes.data(), bytes.size());
}

void put_attribute(std::string& out, std::string_view name, std::string_view type, std::string_view value) {
  out.append(name).push_back('\0');
  out.append(type).push_back('\0');
  put(out, static_cast<std::int32_t>(value.size()));
  out.append(value);
}

std::string channel_list(int channels) {
  std::string out;
  for (const char* name : channels == 1 ? std::vector<const char*>{"Y"} : std::vector<const char*>{"B", "G", "R"}) {
    out.append(name).push_back('\0');
    put(out, std::int32_t{2});  // 32-bit floats
    put(out, std::int32_t{0});
    put(out, std::int32_t{1}), put(out, std::int32_t{1});
  }
  out.push_back('\0');
  return out;
}

std::string exr_header(const TextureView& t) {
  std::string out = "\x76\x2f\x31\x01";
  put(out, std::int32_t{2});
  std::string box;
  for (const std::int32_t v : {0, 0, t.width - 1, t.height - 1}) put(box, v);
  std::string origin, one;
  put(origin, 0.0f), put(origin, 0.0f), put(one, 1.0f);
  put_attribute(out, "channels", "chlist", channel_list(t.channels));
  put_attribute(out, "compression", "compression", std::string(1, '\0'));
  put_attribute(out, "dataWindow", "box2i", box);
  put_attribute(out, "displayWindow", "box2i", box);
  put_attribute(out, "lineOrder", "lineOrder", std::string(1, '\0'));
  put_attribute(out, "pixelAspectRatio", "float", one);
  put_attribute(out, "screenWindowCenter", "v2f", origin);
  put_attribute(out, "screenWindowWidth", "float", one);
  out.push_back('\0');
  return out;
}

}  // namespace

std::string encode_exr(const TextureView& t) {
  std::string out = exr_header(t);
  const auto width = static_cast<std::size_t>(t.width), channels = static_cast<std::size_t>(t.channels);
  const std::size_t line = 4 * width * channels;
  const std::uint64_t first = out.size() + 8 * static_cast<std::size_t>(t.height);
  for (std::uint64_t y = 0; y < static_cast<std::uint64_t>(t.height); ++y) put(out, first + y * (8 + line));
  for (std::size_t y = 0; y < static_cast<std::size_t>(t.height); ++y) {
    put(out, static_cast<std::int32_t>(y)), put(out, static_cast<std::int32_t>(line));
    // Channel after channel, in the order of their names.
    for (std::size_t c = channels; c-- > 0;) {
      for (std::size_t x = 0; x < width; ++x) put(out, t.values[(y * width + x) * channels + c]);
    }
  }
  return out;
}

TextureView view_of(const VectorTexture& t) {
  static_assert(sizeof(Vec3) == 3 * sizeof(float));
  return {t.width, t.height, 3, {t.values.empty() ? nullptr : &t.values.front().x, 3 * t.values.size()}};
}

TextureView view_of(const ScalarTexture& t) { return {t.width, t.height, 1, t.values}; }

Result<std::string> encode_texture(const std::filesystem::path& file, const TextureView& t) {
  const bool sized = t.width > 0 && t.height > 0 && t.width <= 65536 && t.height <= 65536;
  const auto texels = sized ? static_cast<std::size_t>(t.width) * static_cast<std::size_t>(t.height) : 0;
  if (texels == 0 || t.values.size() != texels * static_cast<std::size_t>(t.channels)) {
    return file_error(
        Error::Code::InvalidArgument, file,
        fmt::format("a texture of {} by {} texels does not have {} values", t.width, t.height, t.values.size()));
  }
  const std::string ending = lower_ending(file);
  if (ending == ".png") return encode_png16(t);
  if (ending == ".exr") return encode_exr(t);
  return file_error(Error::Code::Unsupported, file, "textures are written as .png or .exr");
}

Result<ScalarTexture> load_texture(const std::filesystem::path& file) {
  const Result<std::string> content = read_file(file, kMaxTextureBytes);
  if (!content) return content.error();
  return decode_png(file, *content);
}

Status save_texture(const std::filesystem::path& file, const VectorTexture& texture) { return save(file, texture); }
Status save_texture(const std::filesystem::path& file, const ScalarTexture& texture) { return save(file, texture); }

}  // namespace pliant
