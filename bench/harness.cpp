#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <regex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/file.h"

#include "bench/peers.h"
#include "bench/suite.h"

namespace pliant {
namespace {

/// The question of the run that is under way.
std::function<bool()> wants_stop;

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string numbers(const std::map<std::string, double>& values) {
  std::string text;
  for (const auto& [name, value] : values) text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ", name, value);
  return text;
}

/// Indented below the line of the benchmark.
void print_peers(std::string_view benchmark) {
  for (const Peer& peer : peers_of(benchmark)) {
    const auto time = [](double ms) { return ms > 0 ? fmt::format("{:.3f}", ms) : std::string(); };
    fmt::print("  {:<34} {:>9} {:>9} {:>9}   {}\n", peer.by, "", time(peer.ms), time(peer.worst_ms), peer.remark);
  }
}

nlohmann::json peers_json(std::string_view benchmark) {
  nlohmann::json list = nlohmann::json::array();
  for (const Peer& peer : peers_of(benchmark)) {
    nlohmann::json one = {{"by", peer.by}};
    if (peer.ms > 0) one["ms"] = peer.ms;
    if (peer.worst_ms > 0) one["worst_ms"] = peer.worst_ms;
    if (!peer.remark.empty()) one["remark"] = peer.remark;
    list.push_back(std::move(one));
  }
  return list;
}

nlohmann::json to_json(const std::vector<BenchResult>& results) {
  nlohmann::json list = nlohmann::json::array();
  for (const BenchResult& r : results) {
    list.push_back({{"name", r.name},
                    {"threads", r.threads},
                    {"ms", {{"min", r.min_ms}, {"median", r.median_ms}, {"worst", r.worst_ms}}},
                    {"counts", r.counts},
                    {"figures", r.figures}});
    if (nlohmann::json peers = peers_json(r.name); !peers.empty()) list.back()["peers"] = std::move(peers);
  }
  return {{"machine", {{"cpu", cpu_name()}, {"cores", std::thread::hardware_concurrency()}}}, {"results", list}};
}

std::vector<Benchmark> whole_suite() {
  std::vector<Benchmark> suite;
  add_rigid_benchmarks(suite);
  add_embed_benchmarks(suite);
  add_solid_benchmarks(suite);
  add_cloth_benchmarks(suite);
  add_jelly_benchmarks(suite);
  add_contact_benchmarks(suite);
  add_fracture_benchmarks(suite);
  add_layered_benchmarks(suite);
  return suite;
}

}  // namespace

std::vector<std::string> benchmark_names() {
  std::vector<std::string> names;
  for (Benchmark& benchmark : whole_suite()) names.push_back(std::move(benchmark.name));
  return names;
}

double mean_of_best(const std::vector<std::vector<double>>& times) {
  double sum = 0;
  for (std::size_t i = 0; i < times[0].size(); ++i) {
    double best = times[0][i];
    for (const auto& repeat : times) best = std::min(best, repeat[i]);
    sum += best;
  }
  return sum / static_cast<double>(times[0].size());
}

void summarize(const std::vector<std::vector<double>>& times, BenchResult& result) {
  std::vector<double> best = times.front();
  for (const auto& repeat : times) {
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], repeat[i]);
  }
  std::sort(best.begin(), best.end());
  result.min_ms = best.front();
  result.median_ms = best[best.size() / 2];
  result.worst_ms = best.back();
}

void end_if_stopped() {
  if (wants_stop && wants_stop()) throw BenchStopped{};
}

Result<BenchEnd> run_bench(const BenchOptions& options) {
  std::regex filter;
  try {
    filter = std::regex(options.filter.empty() ? ".*" : options.filter);
  } catch (const std::regex_error&) {
    Error error;
    error.field = "--filter";
    error.message = fmt::format("'{}' is no regular expression", options.filter);
    return error;
  }
  std::vector<Benchmark> suite = whole_suite();
  std::erase_if(suite, [&](const Benchmark& benchmark) { return !std::regex_search(benchmark.name, filter); });
  if (suite.empty()) {
    Error error;
    error.field = "--filter";
    error.message = fmt::format("'{}' matches no benchmark; `pliant bench --list` names them", options.filter);
    return error;
  }

  // Before anything runs: a place that cannot be written to is told at once.
  std::optional<AtomicFile> out;
  if (!options.json_file.empty()) {
    Result<AtomicFile> file = AtomicFile::create(options.json_file);
    if (!file) return file.error();
    out.emplace(std::move(*file));
  }
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const BenchContext context{options.threads > 0 ? options.threads : cores, std::max(1, options.repeats)};
  std::vector<BenchResult> results;
  fmt::print("{:<28} {:>7} {:>9} {:>9} {:>9}   {}\n", "ms per step", "threads", "min", "median", "worst", "");
  wants_stop = options.stop;
  for (const Benchmark& benchmark : suite) {
    BenchResult result;
    try {
      result = benchmark.run(context);
    } catch (const BenchStopped&) {
      return BenchEnd{results.size(), suite.size()};  // the file that was begun removes itself
    }
    result.name = benchmark.name;
    fmt::print("{:<28} {:>7} {:>9.3f} {:>9.3f} {:>9.3f}   {}{}{}\n", result.name, result.threads, result.min_ms,
               result.median_ms, result.worst_ms, numbers(result.counts), result.figures.empty() ? "" : "; ",
               numbers(result.figures));
    print_peers(result.name);
    if (std::fflush(stdout) != 0) return Error{Error::Code::CannotWrite, "the table cannot be printed"};
    results.push_back(std::move(result));
  }
  if (out) {
    out->write(to_json(results).dump(2) + "\n");
    if (const Status s = out->commit(); !s.ok()) return s.error();
  }
  return BenchEnd{results.size(), suite.size()};
}

}  // namespace pliant
