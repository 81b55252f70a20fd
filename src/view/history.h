// The numbers of the last steps, for graphs.
#pragma once

#include <array>
#include <cstddef>

#include "pliant/report.h"

namespace pliant {

/// A row of values in which the newest pushes out the oldest.
class Series {
 public:
  static constexpr std::size_t kLength = 240;

  void add(float value) {
    values_[next_] = value;
    next_ = (next_ + 1) % kLength;
    if (count_ < kLength) ++count_;
  }
  std::size_t size() const { return count_; }
  /// From the oldest, 0, to the newest.
  float operator[](std::size_t i) const { return values_[(next_ + kLength - count_ + i) % kLength]; }
  float last() const { return count_ == 0 ? 0 : (*this)[count_ - 1]; }
  float mean() const {
    float sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += (*this)[i];
    return count_ == 0 ? 0 : sum / static_cast<float>(count_);
  }

 private:
  std::array<float, kLength> values_{};
  std::size_t next_ = 0, count_ = 0;
};

struct History {
  static constexpr std::size_t kStages = static_cast<std::size_t>(Stage::Count);
  std::array<Series, kStages> stages;  ///< ms each
  Series total, contacts, energy;      ///< ms; points; J

  void add(const StepReport& report) {
    for (std::size_t i = 0; i < kStages; ++i) stages[i].add(static_cast<float>(report.times.ms[i]));
    total.add(static_cast<float>(report.times.total_ms));
    contacts.add(static_cast<float>(report.contacts));
    energy.add(static_cast<float>(report.kinetic_energy));
  }
};

}  // namespace pliant
