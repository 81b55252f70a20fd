// What the command says, and how: results to stdout, the rest to stderr.
#pragma once

#include <string>
#include <string_view>

#include "pliant/result.h"
#include "pliant/scene.h"

namespace pliant::app {

/// "error: file:line: field: message" on stderr.
void report_error(std::string_view message);
void report_error(const Error& error);
void report_errors(const SceneErrors& errors);
void report_warning(std::string_view message);

/// "1 body", "2 bodies"; the plural is `word` + "s" unless given.
std::string count_of(std::size_t count, std::string_view word, std::string_view plural = {});
/// "3.2 MB"
std::string size_text(std::uintmax_t bytes);
/// "0:07", "1:02:03"
std::string clock_text(double seconds);
/// "1.2 x 3 x 0.4 m"
std::string extent_text(const Aabb& box);

}  // namespace pliant::app
