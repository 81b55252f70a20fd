#include "interrupt.h"

#include <csignal>
#include <initializer_list>

namespace pliant::app {
namespace {

volatile std::sig_atomic_t signals_seen = 0;

void note(int signal) {
  signals_seen = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_for_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, note);
  // A reader that goes away (`pliant run … | head`) must not leave half-written files behind either.
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return signals_seen != 0; }

}  // namespace pliant::app
