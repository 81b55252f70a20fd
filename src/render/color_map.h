// Colours for values such as speed, and the legend that explains them.
#pragma once

#include <string>

#include "pliant/math.h"
#include "render/image.h"

namespace pliant {

/// From pale blue-grey (0) over yellow and red to dark violet (1). sRGB.
Vec3 color_map(float t);

/// What colours stand for.
struct ColorScale {
  std::string title;  ///< such as "speed in m/s"
  float lower = 0, upper = 1;

  /// Widens the scale to hold `value`; its upper end is 1, 2 or 5 times a power of ten.
  void include(float value);
};

/// Draws the scale into the lower left corner of a picture.
void draw_legend(Image& image, const ColorScale& scale);

}  // namespace pliant
