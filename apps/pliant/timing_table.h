// Where the time of a run went, stage by stage.
#pragma once

#include <cstddef>
#include <string>

#include "pliant/report.h"

namespace pliant::app {

class TimingTable {
 public:
  void add(const StageTimes& times);
  /// Rows of stage, mean, worst and share; the total last.
  std::string to_string() const;

 private:
  static constexpr std::size_t kStages = static_cast<std::size_t>(Stage::Count);
  struct Row {
    double sum = 0, worst = 0;  ///< ms
    void add(double ms);
  };
  Row stages_[kStages], total_;
  std::size_t frames_ = 0;
};

}  // namespace pliant::app
