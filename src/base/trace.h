// Spans of time in Chrome's trace format: open the file in chrome://tracing or ui.perfetto.dev.
//
// A span costs nothing while no trace is on. Names are string literals or live as long as the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"

namespace pliant {

/// Collects spans and counters. Used by one thread at a time, as a world is.
class Trace {
 public:
  void add_span(const char* name, std::int64_t start_ns, std::int64_t end_ns);
  void add_counter(const char* name, std::int64_t at_ns, double value);

  std::size_t size() const { return entries_.size(); }
  /// The whole trace as JSON: `{"traceEvents": [...]}`, times in microseconds from the first entry.
  std::string to_json() const;

 private:
  struct Entry {
    const char* name;
    std::int64_t start_ns, end_ns;  ///< equal to −1 in `end_ns` for a counter
    double value;
  };
  std::vector<Entry> entries_;
};

/// Times its scope: into `ms` (added), and into the trace unless that is null.
class ScopedTimer {
 public:
  ScopedTimer(double& ms, Trace* trace, const char* name) : ms_(ms), trace_(trace), name_(name) {}
  ~ScopedTimer() {
    const std::int64_t end = now_ns();
    ms_ += static_cast<double>(end - watch_.start_ns()) * 1e-6;
    if (trace_) trace_->add_span(name_, watch_.start_ns(), end);
  }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  double& ms_;
  Trace* trace_;
  const char* name_;
  Stopwatch watch_;
};

}  // namespace pliant
