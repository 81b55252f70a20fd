// Ctrl-C: ends at once where there is nothing to clean up; elsewhere the first one asks for a clean end, and the second
// one ends at once.
#pragma once

namespace pliant::app {

/// What is told about the outputs of something that was interrupted.
inline constexpr const char* kNothingWritten = "; no output was written, earlier ones are as they were";

/// From here on SIGINT, SIGTERM and SIGHUP say so and end the process with `kExitInterrupted`: for work that has no
/// file open, however long it takes.
void end_at_interrupts();
/// From here on SIGINT, SIGTERM and SIGHUP only set a flag.
void watch_for_interrupts();
bool interrupted();

}  // namespace pliant::app
