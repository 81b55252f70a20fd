#include <cmath>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "render/color_map.h"
#include "render/stroke_font.h"

namespace pliant {
namespace {

double brightness(Vec3 c) { return 0.2126 * double{c.x} + 0.7152 * double{c.y} + 0.0722 * double{c.z}; }

std::size_t inked(const Image& image) {
  std::size_t count = 0;
  for (const std::uint8_t value : image.pixels) count += value != 0;
  return count;
}

TEST(ColorMap, OnlyGetsDarkerBothWays) {
  for (const float sign : {1.0f, -1.0f}) {
    double last = brightness(color_map(0)) + 1e-3;
    for (int i = 1; i <= 100; ++i) {
      const double now = brightness(color_map(sign * static_cast<float>(i) / 100));
      EXPECT_LE(now, last + 0.035) << i;  // pale blue to pale yellow may rise a little
      last = now;
    }
    EXPECT_GT(brightness(color_map(0)) - brightness(color_map(sign)), 0.6);
    EXPECT_EQ(color_map(7 * sign), color_map(sign));
  }
  const Vec3 pulled = color_map(0.5f), pressed = color_map(-0.5f);
  EXPECT_GT(pulled.x, pulled.z + 0.3f);  // red, blue
  EXPECT_GT(pressed.z, pressed.x + 0.3f);
}

TEST(ColorScale, GrowsInRoundSteps) {
  ColorScale scale{"speed in m/s", 0, 1e-3f};
  for (const auto& [seen, upper] : {std::pair{0.0f, 1e-3f},
                                    {0.7f, 1.0f},
                                    {1.2f, 2.0f},
                                    {1.0f, 2.0f},
                                    {4.9f, 5.0f},
                                    {5.1f, 10.0f},
                                    {730.0f, 1000.0f},
                                    {std::nanf(""), 1000.0f},
                                    {INFINITY, 1000.0f}}) {
    scale.include(seen);
    EXPECT_FLOAT_EQ(scale.upper, upper) << seen;
  }
}

TEST(ColorScale, OfBothSignsStaysSymmetric) {
  ColorScale scale{"tension", -1, 1, "Pa"};
  scale.include(-3.0e4f);
  EXPECT_FLOAT_EQ(scale.lower, -5e4f);
  EXPECT_FLOAT_EQ(scale.upper, 5e4f);
  scale.include(6.0e4f);
  EXPECT_FLOAT_EQ(scale.lower, -1e5f);
  EXPECT_EQ(scale.label(0), "-100");
  EXPECT_EQ(scale.label(0.5f), "0");
  EXPECT_EQ(scale.color_at(0), -1);
  EXPECT_EQ(scale.color_at(0.5f), 0);
}

TEST(ColorScale, WritesUnitsThatCanBeRead) {
  for (const auto& [upper, caption, label] : {std::tuple{1.0f, "stress in Pa", "1"},
                                              {500.0f, "stress in Pa", "500"},
                                              {1e3f, "stress in kPa", "1"},
                                              {2e5f, "stress in kPa", "200"},
                                              {1e6f, "stress in MPa", "1"},
                                              {5e8f, "stress in MPa", "500"},
                                              {1e9f, "stress in GPa", "1"},
                                              {2e11f, "stress in GPa", "200"}}) {
    // Grown, as pictures do it, and not only set.
    ColorScale scale{"stress", 0, 1, "Pa"};
    scale.include(0.9f * upper);
    EXPECT_EQ(scale.caption(), caption) << upper;
    EXPECT_EQ(scale.label(1), label) << upper;
  }
  EXPECT_EQ((ColorScale{"speed in m/s", 0, 5000}).caption(), "speed in m/s");
  EXPECT_EQ((ColorScale{"speed in m/s", 0, 5000}).label(1), "5000");
  EXPECT_EQ(in_thousands(2.1e11f, "Pa"), "210 GPa");
  EXPECT_EQ(in_thousands(-1200, "Pa"), "-1.2 kPa");
  EXPECT_EQ(in_thousands(0, "Pa"), "0 Pa");
}

TEST(StrokeFont, TellsMegaFromMilli) {
  Image large(64, 64), small(64, 64);
  draw_text(large, "M", 10, 10, 24, {1, 1, 1});
  draw_text(small, "m", 10, 10, 24, {1, 1, 1});
  EXPECT_NE(large.pixels, small.pixels);
}

TEST(StrokeFont, DrawsEveryLetterItKnowsAndNothingElse) {
  for (const char c : std::string("0123456789abcdefghijklmnopqrstuvwxyzGMP.,-+/%")) {
    Image image(64, 64);
    draw_text(image, std::string(1, c), 10, 10, 24, {1, 1, 1});
    EXPECT_GT(inked(image), 10u) << c;
  }
  Image image(64, 64);
  draw_text(image, " \x01\xff", 10, 10, 24, {1, 1, 1});
  EXPECT_EQ(inked(image), 0u);
}

TEST(Legend, StaysInItsCornerAndFitsAnyPicture) {
  for (const auto& [width, height] : {std::pair{16, 16}, {320, 180}, {1280, 720}, {100, 1000}}) {
    Image image(width, height);
    draw_legend(image, {"speed in m/s", 0, 10});
    EXPECT_GT(inked(image), 0u);
  }
  Image image(1280, 720);
  draw_legend(image, {"speed in m/s", 0, 10});
  for (int y = 0; y < 720; ++y) {
    for (int x = y < 360 ? 0 : 640; x < 1280; ++x) ASSERT_EQ(image.at(x, y)[0] + image.at(x, y)[1], 0) << x << ',' << y;
  }
}

}  // namespace
}  // namespace pliant
