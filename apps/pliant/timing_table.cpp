#include "timing_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace pliant::app {

void TimingTable::Row::add(double ms) {
  sum += ms;
  worst = std::max(worst, ms);
}

void TimingTable::add(const StageTimes& times) {
  for (std::size_t i = 0; i < kStages; ++i) stages_[i].add(times.ms[i]);
  total_.add(times.total_ms);
  ++frames_;
}

std::string TimingTable::to_string() const {
  std::string text = fmt::format("{:<16}{:>10}{:>11}{:>8}\n", "stage", "mean ms", "worst ms", "share");
  const double frames = static_cast<double>(std::max<std::size_t>(frames_, 1));
  const auto line = [&](const char* name, const Row& row) {
    const double share = total_.sum > 0 ? 100 * row.sum / total_.sum : 0;
    text += fmt::format("{:<16}{:>10.3f}{:>11.3f}{:>6.1f} %\n", name, row.sum / frames, row.worst, share);
  };
  for (std::size_t i = 0; i < kStages; ++i) line(stage_name(static_cast<Stage>(i)), stages_[i]);
  line("step", total_);
  return text;
}

}  // namespace pliant::app
