// Ctrl-C: the first one asks for a clean end, the second one ends at once.
#pragma once

namespace pliant::app {

/// From here on SIGINT, SIGTERM and SIGHUP only set a flag.
void watch_for_interrupts();
bool interrupted();

}  // namespace pliant::app
