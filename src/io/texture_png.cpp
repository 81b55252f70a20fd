// Textures as PNG (ISO/IEC 15948), without interlacing.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "io/file.h"
#include "io/inflate.h"
#include "io/texture_format.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

namespace pliant {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr std::uint32_t kMaxSide = 16384;
constexpr std::uint64_t kMaxTexels = 64'000'000;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

void put_big_endian(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift & 255));
}

std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : bytes) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int k = 0; k < 8; ++k) crc = (crc & 1) ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

void put_chunk(std::string& out, std::string_view type, std::string_view data) {
  put_big_endian(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = out.size();
  out.append(type).append(data);
  put_big_endian(out, checksum(std::string_view(out).substr(start)));
}

class PngReader {
 public:
  PngReader(const std::filesystem::path& file, std::string_view content) : file_(file), content_(content) {}

  Result<ScalarTexture> read() {
    if (content_.substr(0, kSignature.size()) != kSignature) return error("this is no PNG file");
    if (Status s = read_chunks(); !s) return s.error();
    const std::size_t bits = std::size_t{channels()} * depth_, row = (std::size_t{width_} * bits + 7) / 8;
    const std::size_t size = (row + 1) * height_;
    if (data_.size() < size / kMaxDeflateRatio) return error("the picture's data ends too early");
    std::optional<std::string> pixels = zlib_inflate(data_, size);
    if (!pixels) return error("the picture's data is damaged");
    if (!unfilter(*pixels, row, std::max<std::size_t>(bits / 8, 1))) return error("a line has an unknown filter");
    ScalarTexture out{static_cast<int>(width_), static_cast<int>(height_), {}};
    out.values.reserve(std::size_t{width_} * height_);
    for (std::size_t y = 0; y < height_; ++y) {
      const std::string_view line = std::string_view(*pixels).substr(y * (row + 1) + 1, row);
      for (std::size_t x = 0; x < width_; ++x) out.values.push_back(brightness(line, x));
    }
    return out;
  }

 private:
  Error error(std::string message) const { return file_error(Error::Code::CannotRead, file_, std::move(message)); }

  Status read_chunks() {
    std::size_t at = kSignature.size();
    bool ended = false;
    while (!ended) {
      if (content_.size() - at < 12) return error("the file ends too early");
      const std::size_t size = big_endian(content_, at);
      if (size > content_.size() - at - 12) return error("the file ends too early");
      const std::string_view type = content_.substr(at + 4, 4), data = content_.substr(at + 8, size);
      if (checksum(content_.substr(at + 4, size + 4)) != big_endian(content_, at + 8 + size)) {
        return error("a checksum is wrong: the file is damaged");
      }
      if (type == "IHDR") {
        if (Status s = read_header(data); !s) return s;
      } else if (type == "PLTE") {
        palette_ = data;
      } else if (type == "IDAT") {
        data_.append(data);
      }
      ended = type == "IEND";
      at += 12 + size;
    }
    if (width_ == 0) return error("there is no header");
    if (color_ == 3 && palette_.empty()) return error("there is no palette");
    return {};
  }

  Status read_header(std::string_view data) {
    if (data.size() != 13) return error("the header has a wrong size");
    width_ = big_endian(data, 0), height_ = big_endian(data, 4);
    depth_ = static_cast<std::uint8_t>(data[8]), color_ = static_cast<std::uint8_t>(data[9]);
    if (width_ == 0 || height_ == 0 || width_ > kMaxSide || height_ > kMaxSide) {
      return error(fmt::format("a picture of {} by {} is not from 1 to {} texels a side", width_, height_, kMaxSide));
    }
    if (std::uint64_t{width_} * height_ > kMaxTexels) return error("the picture has more than 64 million texels");
    const bool known = color_ == 0   ? depth_ == 1 || depth_ == 2 || depth_ == 4 || depth_ == 8 || depth_ == 16
                       : color_ == 3 ? depth_ == 1 || depth_ == 2 || depth_ == 4 || depth_ == 8
                                     : (color_ == 2 || color_ == 4 || color_ == 6) && (depth_ == 8 || depth_ == 16);
    if (!known) return error(fmt::format("colour type {} with {} bits is unknown", color_, depth_));
    if (data[12] != 0) return error("it is interlaced: save it without interlacing");
    return {};
  }

  std::uint32_t channels() const { return color_ == 2 ? 3 : color_ == 6 ? 4 : color_ == 4 ? 2 : 1; }

  /// Undoes the prediction of each line from what is left and above.
  static bool unfilter(std::string& pixels, std::size_t row, std::size_t step) {
    const auto byte = [&](std::size_t i) { return static_cast<int>(static_cast<std::uint8_t>(pixels[i])); };
    for (std::size_t start = 0; start < pixels.size(); start += row + 1) {
      const int filter = byte(start);
      if (filter > 4) return false;
      for (std::size_t k = 1; k <= row; ++k) {
        const std::size_t i = start + k;
        const bool has_left = k > step, has_above = start > 0;
        const int left = has_left ? byte(i - step) : 0, above = has_above ? byte(i - row - 1) : 0;
        const int corner = has_left && has_above ? byte(i - row - 1 - step) : 0;
        pixels[i] = static_cast<char>(byte(i) + predicted(filter, left, above, corner));
      }
    }
    return true;
  }

  static int predicted(int filter, int left, int above, int corner) {
    if (filter == 1) return left;
    if (filter == 2) return above;
    if (filter == 3) return (left + above) / 2;
    if (filter != 4) return 0;
    const int guess = left + above - corner;
    const int a = std::abs(guess - left), b = std::abs(guess - above), c = std::abs(guess - corner);
    return a <= b && a <= c ? left : b <= c ? above : corner;
  }

  std::uint32_t sample(std::string_view line, std::size_t index) const {
    const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<std::uint8_t>(line[i])}; };
    if (depth_ == 16) return byte(2 * index) << 8 | byte(2 * index + 1);
    if (depth_ == 8) return byte(index);
    const std::size_t bit = index * depth_;
    return byte(bit / 8) >> (8 - depth_ - bit % 8) & ((1u << depth_) - 1);
  }

  float brightness(std::string_view line, std::size_t x) const {
    const float white = static_cast<float>((1u << depth_) - 1);
    if (color_ == 3) {
      const std::size_t entry = 3 * std::size_t{sample(line, x)};
      if (entry + 3 > palette_.size()) return 0;
      float sum = 0;
      for (std::size_t c = 0; c < 3; ++c) sum += static_cast<float>(static_cast<std::uint8_t>(palette_[entry + c]));
      return sum / 765;
    }
    const std::size_t count = channels(), colors = count >= 3 ? 3 : 1;
    float sum = 0;
    for (std::size_t c = 0; c < colors; ++c) sum += static_cast<float>(sample(line, count * x + c));
    return sum / (white * static_cast<float>(colors));
  }

  const std::filesystem::path& file_;
  std::string_view content_, palette_;
  std::string data_;
  std::uint32_t width_ = 0, height_ = 0, depth_ = 8, color_ = 0;
};

}  // namespace

std::string encode_png16(const TextureView& t) {
  const std::size_t row = static_cast<std::size_t>(t.width) * static_cast<std::size_t>(t.channels);
  std::string lines;
  lines.reserve((2 * row + 1) * static_cast<std::size_t>(t.height));
  for (std::size_t i = 0; i < t.values.size(); ++i) {
    if (i % row == 0) lines.push_back('\0');                                 // no filter
    const float value = t.values[i] >= 0 ? std::min(t.values[i], 1.0f) : 0;  // NaN too
    const auto level = static_cast<std::uint32_t>(std::lround(65535 * value));
    lines.push_back(static_cast<char>(level >> 8)), lines.push_back(static_cast<char>(level & 255));
  }
  std::string header;
  put_big_endian(header, static_cast<std::uint32_t>(t.width));
  put_big_endian(header, static_cast<std::uint32_t>(t.height));
  header.append({16, static_cast<char>(t.channels == 1 ? 0 : 2), 0, 0, 0});
  int size = 0;
  std::vector<unsigned char> raw(lines.begin(), lines.end());
  unsigned char* packed = stbi_zlib_compress(raw.data(), static_cast<int>(raw.size()), &size, 5);
  std::string out(kSignature);
  put_chunk(out, "IHDR", header);
  put_chunk(out, "IDAT", {reinterpret_cast<const char*>(packed), static_cast<std::size_t>(size)});
  put_chunk(out, "IEND", {});
  std::free(packed);  // stb's own allocator is malloc
  return out;
}

Result<ScalarTexture> decode_png(const std::filesystem::path& file, std::string_view content) {
  return PngReader(file, content).read();
}

}  // namespace pliant
