// How carefully the window's pictures are drawn: chosen from the time they take, so that the hand never has to wait.
#pragma once

#include <string_view>

#include "render/renderer.h"

namespace pliant {

/// One of a few steps from good to fast.
struct QualityStep {
  std::string_view name;
  Quality quality = Quality::Full;
  float scale = 1;  ///< of the picture's sides, against those of the window
};

class QualityChooser {
 public:
  enum class Mode { Automatic, Full, Light };
  static constexpr int kSteps = 4;
  static const QualityStep& step(int level);

  void set_mode(Mode mode);
  Mode mode() const { return mode_; }
  /// What to draw with now.
  const QualityStep& current() const { return step(level_); }
  /// A picture drawn with `current()` took so long.
  void note(double seconds);

 private:
  static constexpr double kTooSlow = 0.045, kFastEnough = 0.012;  // s
  void go_to(int level);

  Mode mode_ = Mode::Automatic;
  int level_ = 1;  ///< light, until it is known that more is possible
  int slow_ = 0, fast_ = 0;
  int ceiling_ = 0;  ///< the best level that was not found too slow
  int patience_ = 0;
};

}  // namespace pliant
