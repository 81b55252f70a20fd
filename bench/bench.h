// The benchmark suite behind `pliant bench` and `make bench`.
//
// Every benchmark reports the minimum, median and worst time of a step over its repeats. Machines are noisy: compare
// figures of one run, and minima rather than means. Peers run in the same process, on the same input.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pliant/result.h"

namespace pliant {

struct BenchOptions {
  std::string filter;  ///< regular expression that names must match; empty: all
  int threads = 0;     ///< 0: as many as the machine has
  int repeats = 3;
  std::string json_file;  ///< written when not empty
  /// Asked between the steps of the benchmarks: true ends the run there, and nothing is written.
  std::function<bool()> stop{};
};

/// One line of the result.
struct BenchResult {
  std::string name;
  int threads = 1;
  double min_ms = 0, median_ms = 0, worst_ms = 0;
  std::map<std::string, double> counts;   ///< bodies, contacts, rows …
  std::map<std::string, double> figures;  ///< what was reached: penetration, speed-up …
};

/// All there are, in the order in which they run.
std::vector<std::string> benchmark_names();

/// How far the suite came.
struct BenchEnd {
  std::size_t finished = 0;  ///< benchmarks that ran to their end
  std::size_t chosen = 0;    ///< that the filter lets pass
};

/// Runs the suite and prints a table; fails when the filter is no regular expression or matches nothing, or when the
/// table or the file cannot be written.
Result<BenchEnd> run_bench(const BenchOptions& options);

}  // namespace pliant
