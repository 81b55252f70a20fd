#include "view/quality.h"

#include <algorithm>
#include <array>

namespace pliant {
namespace {

constexpr std::array<QualityStep, QualityChooser::kSteps> kTable = {{{"full", Quality::Full, 1},
                                                                     {"light", Quality::Light, 1},
                                                                     {"light, 2/3 size", Quality::Light, 2.0f / 3},
                                                                     {"light, half size", Quality::Light, 0.5f}}};
constexpr int kSlowPictures = 3, kFastPictures = 30;  // in a row, before another level is tried
constexpr int kLongMemory = 1500;  // pictures after which a level that was too slow is given another chance

}  // namespace

const QualityStep& QualityChooser::step(int level) {
  return kTable[static_cast<std::size_t>(std::clamp(level, 0, kSteps - 1))];
}

void QualityChooser::set_mode(Mode mode) {
  if (mode == mode_) return;
  mode_ = mode;
  ceiling_ = 0;
  go_to(mode == Mode::Full ? 0 : 1);
}

void QualityChooser::go_to(int level) {
  level_ = level;
  slow_ = fast_ = patience_ = 0;
}

void QualityChooser::note(double seconds) {
  if (mode_ != Mode::Automatic) return;
  slow_ = seconds > kTooSlow ? slow_ + 1 : 0;
  fast_ = seconds < kFastEnough ? fast_ + 1 : 0;
  if (++patience_ > kLongMemory) ceiling_ = 0, patience_ = 0;
  if (slow_ >= kSlowPictures && level_ + 1 < kSteps) {
    ceiling_ = level_ + 1;
    go_to(level_ + 1);
  } else if (fast_ >= kFastPictures && level_ > ceiling_) {
    go_to(level_ - 1);
  }
}

}  // namespace pliant
