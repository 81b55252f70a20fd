// Sizes of pictures and windows as they are typed: 1280x720.
#pragma once

#include <optional>
#include <string>

namespace pliant::app {

struct PictureSize {
  int width = 0, height = 0;
};

/// Nothing unless it is WIDTHxHEIGHT with sides that can be drawn.
std::optional<PictureSize> parse_size(const std::string& text);
/// What is wrong with it, for the command line; empty if nothing is.
std::string check_size(const std::string& text);

}  // namespace pliant::app
