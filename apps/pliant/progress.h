// How far a run has come: a bar on a terminal, a line every few seconds elsewhere.
#pragma once

#include "base/clock.h"

namespace pliant::app {

class Progress {
 public:
  /// `dt`: simulated seconds per frame. A quiet one prints nothing.
  Progress(int frames, double dt, bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void frame_done(int done);
  /// Takes the bar off the screen, for other output.
  void clear();
  double elapsed_seconds() const { return watch_.ms() * 1e-3; }

 private:
  void draw_bar(int done);
  void print_line(int done);

  int frames_;
  double dt_;
  enum class Style { None, Bar, Lines } style_;
  Stopwatch watch_;
  double next_seconds_;
  bool drawn_ = false;
};

}  // namespace pliant::app
