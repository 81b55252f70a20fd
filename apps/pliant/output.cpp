#include "output.h"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace pliant::app {

void report_error(std::string_view message) { fmt::print(stderr, "error: {}\n", message); }
void report_error(const Error& error) { report_error(error.to_string()); }
void report_warning(std::string_view message) { fmt::print(stderr, "warning: {}\n", message); }

void report_errors(const SceneErrors& errors) {
  for (const Error& error : errors.list) report_error(error);
  if (errors.more) fmt::print(stderr, "… only the first {} errors are listed\n", SceneErrors::kLimit);
}

std::string count_of(std::size_t count, std::string_view word, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", word);
  return plural.empty() ? fmt::format("{} {}s", count, word) : fmt::format("{} {}", count, plural);
}

std::string size_text(std::uintmax_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  const auto b = static_cast<double>(bytes);
  return b < 1e6   ? fmt::format("{:.1f} kB", b / 1e3)
         : b < 1e9 ? fmt::format("{:.1f} MB", b / 1e6)
                   : fmt::format("{:.1f} GB", b / 1e9);
}

std::string clock_text(double seconds) {
  const auto s = static_cast<long long>(std::min(std::max(seconds, 0.0), 1e9));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string extent_text(const Aabb& box) {
  if (box.is_empty()) return "nothing";
  const Vec3 size = box.size();
  return fmt::format("{:.4g} x {:.4g} x {:.4g} m", size.x, size.y, size.z);
}

}  // namespace pliant::app
