#include "render/color_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "render/stroke_font.h"

namespace pliant {
namespace {

/// What is calm is pale, what is fast is hot; brightness only falls, so that it reads in grey and for the colour-blind.
/// (Viridis was tried: most bodies are calm most of the time, and its dark end hid their shading.)
constexpr std::array<Vec3, 7> kStops = {{{0.82f, 0.86f, 0.89f},
                                         {0.99f, 0.91f, 0.58f},
                                         {0.99f, 0.73f, 0.33f},
                                         {0.95f, 0.48f, 0.20f},
                                         {0.84f, 0.23f, 0.18f},
                                         {0.60f, 0.07f, 0.20f},
                                         {0.32f, 0.02f, 0.24f}}};
/// The other way from the same pale: what is pressed instead of pulled.
constexpr std::array<Vec3, 7> kColdStops = {{{0.82f, 0.86f, 0.89f},
                                             {0.60f, 0.80f, 0.92f},
                                             {0.38f, 0.66f, 0.87f},
                                             {0.20f, 0.49f, 0.77f},
                                             {0.12f, 0.32f, 0.62f},
                                             {0.09f, 0.19f, 0.45f},
                                             {0.06f, 0.08f, 0.28f}}};

/// Thousands of a unit.
struct Prefix {
  float factor;
  const char* letter;
};

Prefix prefix_for(float value) {
  for (const Prefix& prefix : {Prefix{1e9f, "G"}, Prefix{1e6f, "M"}, Prefix{1e3f, "k"}}) {
    if (std::abs(value) > 0.999f * prefix.factor) return prefix;
  }
  return {1, ""};
}
Prefix prefix_for(const ColorScale& scale) { return scale.unit.empty() ? Prefix{1, ""} : prefix_for(scale.upper); }

/// A soft panel behind the legend, so that it can be read on any ground.
void draw_panel(Image& image, int left, int top, int right, int bottom, int round) {
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      const int dx = std::max({left + round - x, x - (right - 1 - round), 0});
      const int dy = std::max({top + round - y, y - (bottom - 1 - round), 0});
      const float edge = static_cast<float>(round) - std::hypot(static_cast<float>(dx), static_cast<float>(dy));
      image.blend(x, y, {0.06f, 0.07f, 0.09f}, 0.62f * std::clamp(edge + 0.5f, 0.0f, 1.0f));
    }
  }
}

}  // namespace

std::optional<TetValue> tet_value(ColorBy by) {
  switch (by) {
    case ColorBy::Stress:
      return TetValue::Stress;
    case ColorBy::Tension:
      return TetValue::Tension;
    case ColorBy::Strain:
      return TetValue::Strain;
    case ColorBy::PlasticStrain:
      return TetValue::PlasticStrain;
    case ColorBy::Material:
    case ColorBy::Speed:
      break;
  }
  return std::nullopt;
}

Vec3 color_map(float t) {
  const auto& stops = t < 0 ? kColdStops : kStops;
  const float at = std::min(std::abs(t), 1.0f) * static_cast<float>(stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const float f = at - static_cast<float>(i);
  return (1 - f) * stops[i] + f * stops[i + 1];
}

void ColorScale::include(float value) {
  const bool both_signs = lower < 0;
  if (both_signs) value = std::abs(value);
  if (!std::isfinite(value) || value <= upper) return;
  const float power = std::pow(10.0f, std::floor(std::log10(value)));
  for (const float step : {1.0f, 2.0f, 5.0f, 10.0f}) {
    upper = step * power;
    if (upper >= value) break;
  }
  if (both_signs) lower = -upper;
}

std::string ColorScale::caption() const {
  return unit.empty() ? title : fmt::format("{} in {}{}", title, prefix_for(*this).letter, unit);
}

std::string ColorScale::label(float share) const {
  return fmt::format("{:.4g}", (lower + share * (upper - lower)) / prefix_for(*this).factor);
}

std::string in_thousands(float value, const char* unit) {
  const Prefix prefix = prefix_for(value);
  return fmt::format("{:.4g} {}{}", value / prefix.factor, prefix.letter, unit);
}

ColorScale first_scale(ColorBy by) {
  switch (by) {
    case ColorBy::Speed:
      return {"speed in m/s", 0, 1e-3f};
    case ColorBy::Stress:
      return {"stress", 0, 1, "Pa"};
    case ColorBy::Tension:
      return {"tension", -1, 1, "Pa"};
    case ColorBy::Strain:
      return {"elastic strain", 0, 1e-6f};
    case ColorBy::PlasticStrain:
      return {"plastic strain", 0, 1e-6f};
    case ColorBy::Material:
      break;
  }
  return {};
}

void draw_legend(Image& image, const ColorScale& scale) {
  const float text = std::max(8.0f, 0.024f * static_cast<float>(image.height));
  const int unit = static_cast<int>(text), margin = unit, pad = unit * 3 / 4;
  const std::string caption = scale.caption();
  const int bar_width = std::max(11 * unit, static_cast<int>(text_width(caption, text)));
  const int bar_height = std::max(4, unit * 2 / 3);
  const int left = margin, bottom = image.height - margin;
  const int top = bottom - 2 * pad - 2 * unit - bar_height - unit;
  const int right = left + bar_width + 2 * pad;
  draw_panel(image, left, top, right, bottom, unit / 2);

  const Vec3 ink{0.95f, 0.96f, 0.97f};
  const auto x0 = static_cast<float>(left + pad);
  draw_text(image, caption, x0, static_cast<float>(top + pad), text, ink);
  const int bar_top = top + pad + unit + unit / 2;
  for (int x = 0; x < bar_width; ++x) {
    const Vec3 color = color_map(scale.color_at(static_cast<float>(x) / static_cast<float>(bar_width - 1)));
    for (int y = 0; y < bar_height; ++y) image.blend(left + pad + x, bar_top + y, color, 1);
  }
  const auto number_top = static_cast<float>(bar_top + bar_height + unit / 2);
  for (int i = 0; i <= 2; ++i) {
    const float share = 0.5f * static_cast<float>(i);
    const std::string label = scale.label(share);
    const float x = x0 + share * (static_cast<float>(bar_width) - text_width(label, text));
    draw_text(image, label, x, number_top, text, ink);
  }
}

}  // namespace pliant
