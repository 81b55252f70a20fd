// What colours can stand for, the colours of values, and the legend that explains them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "pliant/math.h"
#include "pliant/solid.h"
#include "render/image.h"

namespace pliant {

/// What colours stand for: nothing but the bodies' own look, or a value. Speed is one of all that moves; the others are
/// those of solids, and bodies without them are grey.
enum class ColorBy { Material, Speed, Stress, Tension, Strain, PlasticStrain };
constexpr std::size_t kColorByCount = 6;

/// The value of solids that is meant; none for those that are not of solids.
std::optional<TetValue> tet_value(ColorBy by);

/// From pale blue-grey (0) over yellow and red to dark violet (1), and over blue to dark blue (-1). sRGB.
Vec3 color_map(float t);

/// How values become colours: 0 is pale, and the larger end of the scale is at an end of the colours.
struct ColorScale {
  std::string title;           ///< such as "speed in m/s", or "stress" where there is a unit
  float lower = 0, upper = 1;  ///< `lower` is 0, or -`upper` for values of both signs
  std::string unit{};          ///< if given, it is written with k, M or G before it: Pa

  /// Widens the scale to hold `value`; its upper end is 1, 2 or 5 times a power of ten.
  void include(float value);
  /// The title with its unit, such as "stress in kPa".
  std::string caption() const;
  /// The value at a share of the way from the lower to the upper end, in that unit.
  std::string label(float share) const;
  /// For `color_map`, at the same share.
  float color_at(float share) const { return lower < 0 ? 2 * share - 1 : share; }
};

/// A number with its unit and, before it, k, M or G where that makes it shorter: "1.2 MPa".
std::string in_thousands(float value, const char* unit);

/// The scale that a picture begins with; it has yet to see values.
ColorScale first_scale(ColorBy by);

/// Draws the scale into the lower left corner of a picture.
void draw_legend(Image& image, const ColorScale& scale);

}  // namespace pliant
