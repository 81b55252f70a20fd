#include "number_check.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace pliant::app {
namespace {

/// As the options hold it: what is too large for a float is infinite.
std::optional<float> finite_value(const std::string& typed) {
  char* end = nullptr;
  const float value = std::strtof(typed.c_str(), &end);
  if (end == typed.c_str() || *end != 0 || !std::isfinite(value)) return std::nullopt;
  return value;
}

template <typename IsGood>
CLI::Validator checked(std::string wanted, IsGood is_good) {
  return {[wanted = std::move(wanted), is_good](const std::string& typed) -> std::string {
            const std::optional<float> value = finite_value(typed);
            if (value && is_good(*value)) return {};
            return fmt::format("`{}` is not allowed; it must be {}", typed, wanted);
          },
          ""};
}

}  // namespace

CLI::Validator number_between(float lower, float upper, const char* unit) {
  return checked(fmt::format("a number {}from {:g} to {:g}", unit ? fmt::format("of {} ", unit) : "", lower, upper),
                 [=](float x) { return x >= lower && x <= upper; });
}

CLI::Validator positive_number() {
  return checked("a finite number that is more than 0", [](float x) { return x > 0; });
}

CLI::Validator finite_number() {
  return checked("a finite number", [](float) { return true; });
}

}  // namespace pliant::app
