#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "io/suggest.h"
#include "pliant/version.h"

#include "commands.h"
#include "output.h"

namespace pliant::app {
namespace {

/// What a user typed where a command was wanted: CLI11 only says that one is missing.
std::string unknown_command(const CLI::App& app) {
  const CLI::App* asked = &app;
  std::string path;
  while (!asked->get_subcommands().empty()) {
    asked = asked->get_subcommands().front();
    path += asked->get_name() + " ";
  }
  const std::vector<std::string> left = asked->remaining();
  if (left.empty() || left.front().starts_with("-")) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : asked->get_subcommands({})) names.push_back(command->get_name());
  if (names.empty()) return {};
  return fmt::format("there is no command `{}{}`{}", path, left.front(), suggestion(left.front(), names));
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("pliant: things that bend, dent and break in real time", "pliant");
  app.set_version_flag("--version", std::string("pliant ") + library_version());
  app.require_subcommand(1);
  int exit_code = kExitOk;
  add_run_command(app, exit_code);
  add_view_command(app, exit_code);
  add_scenes_command(app, exit_code);
  add_check_command(app, exit_code);
  add_mesh_command(app, exit_code);
  add_bench_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& wrong) {
    const std::string unknown = unknown_command(app);
    report_error(unknown.empty() ? wrong.what() : unknown);
    std::fputs("Try `pliant --help`.\n", stderr);
    return kExitUsage;
  }
  return exit_code;
}

}  // namespace
}  // namespace pliant::app

int main(int argc, char** argv) {
  using namespace pliant::app;
  try {
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    report_error("there is not enough memory");
  } catch (const std::exception& unexpected) {
    report_error(unexpected.what());
  }
  return kExitError;
}
