// Another program that is fed through its standard input.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/result.h"

namespace pliant {

/// The full path of a program on the PATH; empty if there is none.
std::filesystem::path find_program(std::string_view name);

class ChildProcess {
 public:
  /// Starts `arguments[0]`, a full path. Its standard output goes nowhere; what it says on standard error is kept. It
  /// is in a process group of its own, so that Ctrl-C reaches only us.
  static Result<ChildProcess> start(const std::vector<std::string>& arguments);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// Kills it if it still runs.
  ~ChildProcess();

  /// False when it has closed its input or died; raises no SIGPIPE. Waits while it is busy.
  bool write(const void* data, std::size_t bytes);
  /// Ends its input and waits for it. Success if it exits with 0; else an error with the end of what it said.
  Status finish();

 private:
  ChildProcess(std::string name, int process, int input, int messages)
      : name_(std::move(name)), process_(process), input_(input), messages_(messages) {}
  std::string last_words() const;
  void close_input();

  std::string name_;
  int process_ = -1;   ///< -1: not ours any more
  int input_ = -1;     ///< our end of a socket
  int messages_ = -1;  ///< a file without a name
};

}  // namespace pliant
