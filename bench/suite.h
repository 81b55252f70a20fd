// How benchmarks are written: a name and a function that measures.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"

#include "bench/bench.h"

namespace pliant {

struct BenchContext {
  int threads;
  int repeats;
};

struct Benchmark {
  std::string name;
  std::function<BenchResult(const BenchContext&)> run;
};

/// All benchmarks, in the order in which they run. One function for each file of the suite.
void add_rigid_benchmarks(std::vector<Benchmark>& suite);
void add_embed_benchmarks(std::vector<Benchmark>& suite);
void add_solid_benchmarks(std::vector<Benchmark>& suite);
void add_cloth_benchmarks(std::vector<Benchmark>& suite);
void add_jelly_benchmarks(std::vector<Benchmark>& suite);
void add_contact_benchmarks(std::vector<Benchmark>& suite);
void add_fracture_benchmarks(std::vector<Benchmark>& suite);
void add_layered_benchmarks(std::vector<Benchmark>& suite);

/// Sums up step times: the minimum over repeats of each step, then minimum, median and worst over the steps.
/// `times[repeat][step]` in ms.
void summarize(const std::vector<std::vector<double>>& times, BenchResult& result);
/// The mean over the steps of the best time of each.
double mean_of_best(const std::vector<std::vector<double>>& times);

/// Thrown out of a benchmark that is to end before its time.
struct BenchStopped {};
/// Throws that if someone asked for it. Every loop over steps calls this between them, outside of what it measures.
void end_if_stopped();

/// The times of so many calls, ms.
template <typename Step>
std::vector<double> measure(int steps, Step&& step) {
  std::vector<double> times;
  for (int i = 0; i < steps; ++i) {
    const Stopwatch watch;
    step();
    times.push_back(watch.ms());
    end_if_stopped();
  }
  return times;
}

}  // namespace pliant
