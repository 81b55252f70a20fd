// Wall-clock time for reports and traces; never an input of the simulation.
#pragma once

#include <cstdint>

namespace pliant {

/// Nanoseconds on a clock that only goes forward, from an arbitrary origin.
std::int64_t now_ns();

/// Measures from its construction.
class Stopwatch {
 public:
  Stopwatch() : start_(now_ns()) {}
  double ms() const { return static_cast<double>(now_ns() - start_) * 1e-6; }
  std::int64_t start_ns() const { return start_; }
  void restart() { start_ = now_ns(); }

 private:
  std::int64_t start_;
};

}  // namespace pliant
