// pliant bench
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/bench.h"
#include "commands.h"
#include "interrupt.h"
#include "output.h"

namespace pliant::app {

void add_bench_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  auto list = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("bench", "Run the benchmarks, ours beside those of other engines");
  command->add_option("--filter", options->filter, "Only those whose names match this regular expression");
  command->add_option("--threads", options->threads, "Threads; as many as the machine has if left out")
      ->check(CLI::Range(1, 1024));
  command->add_option("--repeats", options->repeats, "How often each one is run")->check(CLI::Range(1, 1000));
  command->add_option("--json", options->json_file, "Write the results to this file");
  command->add_flag("--list", *list, "Name the benchmarks, and run none");
  command->callback([options, list, &exit_code] {
    if (*list) {
      for (const std::string& name : benchmark_names()) fmt::print("{}\n", name);
      return;
    }
    watch_for_interrupts();
    options->stop = interrupted;
    const Result<BenchEnd> end = run_bench(*options);
    if (!end) {
      report_error(end.error());
      exit_code = kExitError;
    } else if (end->finished < end->chosen) {
      fmt::print(stderr, "interrupted after {} of {}{}\n", end->finished, count_of(end->chosen, "benchmark"),
                 options->json_file.empty() ? "" : kNothingWritten);
      exit_code = kExitInterrupted;
    }
  });
}

}  // namespace pliant::app
