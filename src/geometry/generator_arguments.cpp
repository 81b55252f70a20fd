#include "geometry/generator_arguments.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "pliant/generators.h"

namespace pliant {
namespace {

[[noreturn]] void refuse(Error::Code code, std::string argument, std::string message) {
  throw BadResult(Error{code, std::move(message), "", std::move(argument), 0});
}

}  // namespace

void refuse_argument(const char* generator, const char* argument, const char* why) {
  refuse(Error::Code::InvalidArgument, argument, fmt::format("{}: {}", generator, why));
}

double require_positive(const char* generator, const char* argument, float value) {
  if (value > 0 && std::isfinite(value)) return value;
  refuse(Error::Code::InvalidArgument, argument,
         fmt::format("{} needs a positive, finite {}, not {}", generator, argument, value));
}

void require_positive(const char* generator, const char* argument, Vec3 value) {
  const char* const axes[3] = {".x", ".y", ".z"};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string field = std::string(argument) + axes[i];
    require_positive(generator, field.c_str(), value[i]);
  }
}

int require_count(const char* generator, const char* argument, int value, int least) {
  if (value < least) {
    refuse(Error::Code::InvalidArgument, argument,
           fmt::format("{} needs {} of at least {}, not {}", generator, argument, least, value));
  }
  require_size(generator, value);
  return value;
}

void require_box(const char* generator, Vec3 size, int nx, int ny, int nz) {
  require_positive(generator, "size", size);
  require_count(generator, "nx", nx, 1);
  require_count(generator, "ny", ny, 1);
  require_count(generator, "nz", nz, 1);
}

void require_size(const char* generator, double elements) {
  if (elements <= double(kMaxGeneratedElements)) return;
  refuse(Error::Code::CapacityExceeded, "",
         fmt::format("{} would make a mesh of {:.3g} elements, the most is {}: choose larger cells or fewer segments",
                     generator, elements, kMaxGeneratedElements));
}

int cells_along(const char* generator, float length, float cell, int least) {
  require_positive(generator, "cell", cell);
  const double cells = std::round(double(length) / double(cell));
  require_size(generator, cells);
  return std::max(least, int(cells));
}

}  // namespace pliant
