#include "math/rounded_matrix.h"

#include <algorithm>

namespace pliant {
namespace {

constexpr float kMost = 32767;
constexpr std::size_t kGrain = 64;  ///< slices in one piece of work

/// The smallest powers of two that the numbers of the rows fit 16 bits of.
Float8 find_steps(const SlicedMatrix& matrix, std::size_t slice) {
  Float8 largest{};
  const float* block = matrix.values() + matrix.start(slice) * SlicedMatrix::kBlockFloats;
  const float* end = matrix.values() + matrix.start(slice + 1) * SlicedMatrix::kBlockFloats;
  for (; block != end; block += kLanes) largest = max(largest, abs(load8(block)));
  return next_power_of_two(max(largest / kMost, broadcast(1e-30f)));
}

}  // namespace

void RoundedMatrix::assign(Workers& workers, const SlicedMatrix& matrix) {
  const std::size_t slices = matrix.slices();
  shorts_.resize(matrix.start(slices) * SlicedMatrix::kBlockFloats);
  steps_.resize(slices * kLanes);
  parallel_for(workers, slices, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) store8(steps_.data() + kLanes * s, find_steps(matrix, s));
  });
  parallel_for(workers, slices, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      const Float8 own = load8(steps_.data() + kLanes * s);
      for (std::size_t k = matrix.start(s); k < matrix.start(s + 1); ++k) {
        // Multiples of the larger step that the row with the smaller one can hold too.
        const Float8 other = gather8(steps_.data(), matrix.columns() + k * kLanes);
        const Float8 coarse = max(own, other), ratio = coarse / own;
        const Float8 finest = coarse / min(own, other);
        const Float8 most = rounded(kMost / finest - select(finest > 1.0f, broadcast(0.5f), broadcast(0.0f)));
        const float* from = matrix.values() + k * SlicedMatrix::kBlockFloats;
        std::int16_t* to = shorts_.data() + k * SlicedMatrix::kBlockFloats;
        for (std::size_t e = 0; e < SlicedMatrix::kBlockFloats; e += kLanes) {
          const Float8 multiple = rounded(load8(from + e) / coarse);
          store_shorts8(to + e, max(-most, min(most, multiple)) * ratio);
        }
      }
    }
  });
}

float RoundedMatrix::largest_step(std::span<const float> weights) const {
  float largest = 0;
  for (std::size_t i = 0; i < std::min(weights.size(), steps_.size()); ++i) {
    if (weights[i] > 0) largest = std::max(largest, steps_[i] / weights[i]);
  }
  return largest;
}

}  // namespace pliant
