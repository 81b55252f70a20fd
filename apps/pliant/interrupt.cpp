#include "interrupt.h"

#include <csignal>

#include <unistd.h>

#include "commands.h"

namespace pliant::app {
namespace {

volatile std::sig_atomic_t signals_seen = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// Only what a signal handler may call.
void end(int) {
  static constexpr char kMessage[] = "interrupted; no output was written, earlier ones are as they were\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  _exit(kExitInterrupted);
}

void note(int signal) {
  signals_seen = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void end_at_interrupts() {
  for (const int signal : kSignals) std::signal(signal, end);
}

void watch_for_interrupts() {
  for (const int signal : kSignals) std::signal(signal, note);
  // A reader that goes away (`pliant run … | head`) must not leave half-written files behind either.
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return signals_seen != 0; }

}  // namespace pliant::app
