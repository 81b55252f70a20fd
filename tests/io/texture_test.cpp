// Textures: what is written comes back, foreign files are read, and damaged ones do no harm.
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "io/texture_format.h"
#include "pliant/texture_io.h"

namespace pliant {
namespace {

/// 4 by 2 texels of one bit with a palette, the second line predicted from the first; made by Python's zlib.
constexpr const char* kPaletteHex =
    "89504e470d0a1a0a0000000d49484452000000040000000201030000004566ef2000000006504c5445000000ffffffa5d99f"
    "dd0000000c49444154789c6358c0f4010002d8019330e8fb6f0000000049454e44ae426082";

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    out.push_back(char(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

TEST(TexturePng, ReadsPalettesAndFilters) {
  const Result<ScalarTexture> picture = decode_png("t.png", bytes_of(kPaletteHex));
  ASSERT_TRUE(picture) << picture.error().to_string();
  EXPECT_EQ(picture->values, (std::vector<float>{1, 0, 1, 0, 1, 0, 0, 1}));
}

TEST(TexturePng, ComesBackAsItWentOut) {
  ScalarTexture grey{5, 3, {}};
  for (int i = 0; i < 15; ++i) grey.values.push_back(float(i) / 14);
  const Result<ScalarTexture> back = decode_png("t.png", encode_png16(view_of(grey)));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(back->width, 5);
  EXPECT_EQ(back->height, 3);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_NEAR(back->values[i], grey.values[i], 1e-5f);
  // Of colours the mean.
  VectorTexture color{2, 1, {{0, 0.5f, 1}, {1, 1, 0.4f}}};
  const ScalarTexture mean = decode_png("t.png", encode_png16(view_of(color))).value();
  EXPECT_NEAR(mean.values[0], 0.5f, 1e-4f);
  EXPECT_NEAR(mean.values[1], 0.8f, 1e-4f);
}

TEST(TexturePng, ValuesOutsideAreClamped) {
  const ScalarTexture wild{3, 1, {-4, std::nanf(""), 7}};
  const ScalarTexture back = decode_png("t.png", encode_png16(view_of(wild))).value();
  EXPECT_EQ(back.values, (std::vector<float>{0, 0, 1}));
}

TEST(TexturePng, DamagedFilesAreRefused) {
  const ScalarTexture grey{9, 9, std::vector<float>(81, 0.3f)};
  const std::string good = encode_png16(view_of(grey));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(decode_png("t.png", std::string_view(good).substr(0, size)));
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = char(bad[i] ^ 0x55);
    EXPECT_FALSE(decode_png("t.png", bad)) << "byte " << i;
  }
  EXPECT_FALSE(decode_png("t.png", "GIF89a"));
}

TEST(TextureExr, HoldsFloatsAsTheyAre) {
  const VectorTexture t{3, 2, {{1, 2, 3}, {-4, 5e9f, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}, {16, 17, -0.5f}}};
  const std::string bytes = encode_exr(view_of(t));
  ASSERT_EQ(bytes.substr(0, 4), "\x76\x2f\x31\x01");
  // The table of lines is found behind the two zeros that end the header's last attribute and the header.
  const std::size_t line = 4 * 3 * 3, total = bytes.size(), first = total - 2 * (8 + line);
  std::uint64_t offset = 0;
  std::memcpy(&offset, bytes.data() + first - 16, 8);
  EXPECT_EQ(offset, first);
  const auto value = [&](std::size_t y, std::size_t channel, std::size_t x) {
    float v = 0;
    std::memcpy(&v, bytes.data() + first + y * (8 + line) + 8 + 4 * (3 * channel + x), 4);
    return v;
  };
  EXPECT_EQ(value(0, 2, 1), -4);     // R
  EXPECT_EQ(value(0, 1, 1), 5e9f);   // G
  EXPECT_EQ(value(1, 0, 2), -0.5f);  // B
}

TEST(TextureFiles, SayWhatTheyCannotDo) {
  const VectorTexture wrong{3, 2, {{1, 2, 3}}};
  EXPECT_FALSE(save_texture("t.png", wrong).ok());
  const VectorTexture right{1, 1, {{1, 2, 3}}};
  EXPECT_FALSE(save_texture("t.bmp", right).ok());
  EXPECT_FALSE(load_texture("no such file.png"));
  EXPECT_FALSE(load_texture(std::filesystem::temp_directory_path()));
}

}  // namespace
}  // namespace pliant
