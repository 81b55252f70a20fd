// The subcommands of `pliant`. Each adds itself to the command line and, when it is the one asked for, runs and sets
// the exit code.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace pliant::app {

// What the shell is told.
inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;          ///< bad input, or an output that cannot be written
inline constexpr int kExitUsage = 2;          ///< a command line that makes no sense
inline constexpr int kExitInterrupted = 130;  ///< Ctrl-C

void add_run_command(CLI::App& app, int& exit_code);
void add_view_command(CLI::App& app, int& exit_code);
void add_scenes_command(CLI::App& app, int& exit_code);
void add_check_command(CLI::App& app, int& exit_code);
void add_mesh_command(CLI::App& app, int& exit_code);
void add_atlas_command(CLI::App* mesh, int& exit_code);
void add_splinter_command(CLI::App* mesh, int& exit_code);
void add_bench_command(CLI::App& app, int& exit_code);

}  // namespace pliant::app
