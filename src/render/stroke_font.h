// Text of plain strokes, drawn smooth at any size: enough for legends, without a font file.
#pragma once

#include <string_view>

#include "render/image.h"

namespace pliant {

/// Height and width in pixels; `size` is the height of a digit. Knows digits, lower-case letters and ". , - + / %";
/// capitals are drawn as their small letters, anything else as a space.
float text_width(std::string_view text, float size);
/// `x`, `y`: the upper left corner of the first letter. Returns where the next one would begin.
float draw_text(Image& image, std::string_view text, float x, float y, float size, Vec3 color);

}  // namespace pliant
