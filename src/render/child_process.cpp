#include "render/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace pliant {
namespace {

Error cannot_start(const std::string& program, int reason) {
  return {Error::Code::CannotWrite, fmt::format("`{}` cannot be started: {}", program, std::strerror(reason))};
}

/// A file without a name; -1 where none can be made.
int nameless_file() {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return -1;
  const int copy = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
  std::fclose(file);
  return copy;
}

/// What a child is started with, given back at the end.
class SpawnSetup {
 public:
  SpawnSetup(int input, int messages) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, messages, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  int spawn(pid_t& process, const std::vector<std::string>& arguments) const {
    std::vector<char*> raw;
    for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    return posix_spawn(&process, raw.front(), &actions_, &attributes_, raw.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

std::filesystem::path find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) {
      const std::filesystem::path candidate = std::filesystem::path(rest.substr(0, end)) / name;
      std::error_code error;
      if (std::filesystem::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& arguments) {
  // A socket instead of a pipe: `send` can be told to raise no SIGPIPE, without touching the program's handlers.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return cannot_start(arguments.front(), errno);
  const int messages = nameless_file();
  pid_t process = -1;
  const int failed = messages < 0 ? EMFILE : SpawnSetup(ends[1], messages).spawn(process, arguments);
  close(ends[1]);
  ChildProcess child(std::filesystem::path(arguments.front()).filename().string(), failed == 0 ? process : -1, ends[0],
                     messages);
  if (failed != 0) return cannot_start(arguments.front(), failed);
  shutdown(ends[0], SHUT_RD);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : name_(std::move(other.name_)),
      process_(std::exchange(other.process_, -1)),
      input_(std::exchange(other.input_, -1)),
      messages_(std::exchange(other.messages_, -1)) {}

ChildProcess::~ChildProcess() {
  close_input();
  if (process_ > 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (messages_ >= 0) close(messages_);
}

void ChildProcess::close_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

bool ChildProcess::write(const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0 && input_ >= 0) {
    const ssize_t sent = send(input_, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return bytes == 0;
}

Status ChildProcess::finish() {
  close_input();
  if (process_ <= 0) return Error{Error::Code::CannotWrite, fmt::format("`{}` has ended already", name_)};
  int result = 0;
  while (waitpid(process_, &result, 0) < 0) {
    if (errno != EINTR) return Error{Error::Code::CannotWrite, fmt::format("`{}` got lost", name_)};
  }
  process_ = -1;
  if (WIFEXITED(result) && WEXITSTATUS(result) == 0) return {};
  const std::string how = WIFSIGNALED(result) ? fmt::format("was ended by signal {}", WTERMSIG(result))
                                              : fmt::format("failed with exit code {}", WEXITSTATUS(result));
  const std::string said = last_words();
  return Error{Error::Code::CannotWrite, fmt::format("`{}` {}{}{}", name_, how, said.empty() ? "" : ": ", said)};
}

std::string ChildProcess::last_words() const {
  constexpr off_t kMost = 600;
  const off_t size = lseek(messages_, 0, SEEK_END);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(std::min(size, kMost)), ' ');
  const ssize_t got = pread(messages_, text.data(), text.size(), std::max<off_t>(0, size - kMost));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace pliant
