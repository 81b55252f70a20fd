#include "progress.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "output.h"

namespace pliant::app {
namespace {

constexpr double kBarInterval = 0.05;  // s
constexpr double kLineInterval = 5;    // s

}  // namespace

Progress::Progress(int frames, double dt, bool quiet) : frames_(frames), dt_(dt) {
  style_ = quiet ? Style::None : isatty(STDERR_FILENO) ? Style::Bar : Style::Lines;
  next_seconds_ = style_ == Style::Lines ? kLineInterval : 0;
}

void Progress::frame_done(int done) {
  if (style_ == Style::None) return;
  const double now = elapsed_seconds();
  if (now < next_seconds_ && done < frames_) return;
  next_seconds_ = now + (style_ == Style::Bar ? kBarInterval : kLineInterval);
  if (style_ == Style::Bar) {
    draw_bar(done);
  } else if (now >= kLineInterval) {
    print_line(done);
  }
}

void Progress::draw_bar(int done) {
  constexpr int kWidth = 30;
  const double share = static_cast<double>(done) / frames_, elapsed = elapsed_seconds();
  const int filled = static_cast<int>(share * kWidth);
  const double left = done > 0 ? elapsed / done * (frames_ - done) : 0;
  fmt::print(stderr, "\r\033[K[{}{}] {:3.0f} %  frame {}/{}  {}  left {}  {:.1f}x real time", std::string(filled, '#'),
             std::string(kWidth - filled, '.'), 100 * share, done, frames_, clock_text(elapsed), clock_text(left),
             done * dt_ / std::max(elapsed, 1e-9));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::print_line(int done) {
  const double elapsed = elapsed_seconds(), left = elapsed / done * (frames_ - done);
  fmt::print(stderr, "frame {}/{}, {} elapsed, {} left, {:.1f}x real time\n", done, frames_, clock_text(elapsed),
             clock_text(left), done * dt_ / elapsed);
}

void Progress::clear() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
  drawn_ = false;
}

}  // namespace pliant::app
