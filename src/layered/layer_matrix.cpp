#include "layered/layer_matrix.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr double kMost = 32767;

/// The smallest power of two that the off-diagonal numbers of a row fit 16 bits of.
std::vector<double> find_steps(const BlockRows& rows) {
  std::vector<double> steps(rows.size(), 1);
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    double largest = 0;
    for (std::uint32_t k = rows.starts[i]; k < rows.starts[i + 1]; ++k) {
      if (rows.columns[k] == i) continue;
      for (const double value : rows.blocks[k]) largest = std::max(largest, std::abs(value));
    }
    // No finer than floats can be.
    if (largest > 0) steps[i] = std::exp2(std::max(std::ceil(std::log2(largest / kMost)), -120.0));
  }
  return steps;
}

bool are_alike(const BlockRows& rows, const std::vector<double>& steps) {
  constexpr double kMostApart = 2048;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    for (std::uint32_t k = rows.starts[i]; k < rows.starts[i + 1]; ++k) {
      if (steps[rows.columns[k]] > kMostApart * steps[i]) return false;
    }
  }
  return true;
}

/// The nearest multiple of both steps that both rows can hold.
double rounded_to(double value, double a, double b) {
  const double coarse = std::max(a, b), most = kMost * std::min(a, b);
  const double nearest = std::round(value / coarse) * coarse;
  return std::abs(nearest) <= most ? nearest : std::copysign(std::floor(most / coarse) * coarse, value);
}

}  // namespace

void LayerMatrix::build(const BlockRows& rows) {
  const std::size_t slices = (rows.size() + kLanes - 1) / kLanes;
  starts_.assign(1, 0);
  for (std::size_t slice = 0; slice < slices; ++slice) {
    std::size_t width = 0;
    for (std::size_t i = kLanes * slice; i < std::min(kLanes * (slice + 1), rows.size()); ++i) {
      width = std::max<std::size_t>(width, rows.starts[i + 1] - rows.starts[i] - 1);
    }
    starts_.push_back(starts_.back() + width);
  }
  // Padding points at the first node, with blocks of nothing.
  columns_.assign(starts_.back() * kLanes, 0);
  floats_.assign(starts_.back() * kBlock, 0), shorts_.assign(starts_.back() * kBlock, 0);
  steps_.assign(kLanes * slices, 0), diagonals_.assign(48 * slices, 0), rounded_diagonals_.assign(48 * slices, 0);
  blocks_ = rows.columns.size() - rows.size();
  const std::vector<double> steps = find_steps(rows);
  can_be_rounded_ = are_alike(rows, steps);
  for (std::uint32_t i = 0; i < rows.size(); ++i) set_row(rows, i, steps);
}

void LayerMatrix::set_row(const BlockRows& rows, std::uint32_t i, const std::vector<double>& steps) {
  constexpr std::size_t kEntries[6][2] = {{0, 0}, {4, 4}, {8, 8}, {1, 3}, {2, 6}, {5, 7}};  // of LaneSym3
  const std::size_t slice = i / kLanes, lane = i % kLanes;
  std::size_t place = starts_[slice];
  std::array<double, 9> own{}, lost{};
  for (std::uint32_t k = rows.starts[i]; k < rows.starts[i + 1]; ++k) {
    const std::uint32_t j = rows.columns[k];
    const std::array<double, 9>& block = rows.blocks[k];
    if (j == i) {
      own = block;
      continue;
    }
    columns_[place * kLanes + lane] = j;
    for (std::size_t e = 0; e < 9; ++e) {
      const double value = rounded_to(block[e], steps[i], steps[j]);
      floats_[place * kBlock + e * kLanes + lane] = static_cast<float>(block[e]);
      shorts_[place * kBlock + e * kLanes + lane] = static_cast<std::int16_t>(value / steps[i]);
      lost[e] += block[e] - value;
    }
    ++place;
  }
  steps_[i] = static_cast<float>(steps[i]);
  for (std::size_t e = 0; e < 6; ++e) {
    const auto [a, b] = kEntries[e];
    diagonals_[48 * slice + e * kLanes + lane] = static_cast<float>(own[a]);
    rounded_diagonals_[48 * slice + e * kLanes + lane] = static_cast<float>(own[a] + 0.5 * (lost[a] + lost[b]));
  }
}

}  // namespace pliant
