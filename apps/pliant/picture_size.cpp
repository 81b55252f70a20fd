#include "picture_size.h"

#include <cstdio>

#include <fmt/format.h>

#include "render/renderer.h"

namespace pliant::app {

std::optional<PictureSize> parse_size(const std::string& text) {
  PictureSize size;
  int used = 0;
  if (std::sscanf(text.c_str(), "%5dx%5d%n", &size.width, &size.height, &used) != 2) return std::nullopt;
  const auto fits = [](int x) { return x >= Renderer::kMinSize && x <= Renderer::kMaxSize; };
  const bool whole = used == static_cast<int>(text.size());
  return whole && fits(size.width) && fits(size.height) ? std::optional(size) : std::nullopt;
}

std::string check_size(const std::string& text) {
  if (parse_size(text)) return {};
  return fmt::format("`{}` is not allowed; it must be WIDTHxHEIGHT with sides of {} to {} pixels, such as 1280x720",
                     text, Renderer::kMinSize, Renderer::kMaxSize);
}

}  // namespace pliant::app
