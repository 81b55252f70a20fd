#include "base/clock.h"

#include <chrono>

namespace pliant {

std::int64_t now_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace pliant
