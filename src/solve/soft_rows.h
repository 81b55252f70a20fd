// Rows between few nodes, solved point by point: springs, limits of stretch, and bending.
//
// Each kind keeps its rows in colours of batches of eight; a colour is solved on all threads. A row with a stiffness is
// one substep of backward Euler for its spring alone, so no stiffness makes it unstable.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "math/vec4.h"
#include "pliant/defs.h"
#include "solve/coloring.h"

namespace pliant {

/// Eight rows of one colour at a time, in the fixed order of colours.
struct RowBatches {
  RowBatches() = default;
  RowBatches(const RowNodes& rows, std::size_t node_count);

  /// The row of each lane, `kNoRow` beyond the end of a colour.
  static constexpr std::uint32_t kNoRow = 0xffffffff;
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> color_starts;  ///< in batches, and the end
  std::vector<std::uint8_t> lanes;          ///< in use, of each batch

  std::size_t count() const { return lanes.size(); }
  /// Calls `body(batch)` for all batches, a colour after the other.
  template <typename Body>
  void for_each(Workers& workers, Body&& body) const {
    for (std::size_t color = 0; color + 1 < color_starts.size(); ++color) {
      const std::size_t first = color_starts[color];
      parallel_for(workers, color_starts[color + 1] - first, 256, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = first + begin; i < first + end; ++i) body(i);
      });
    }
  }
};

/// Keeps two nodes at a distance. The three behaviours of document 004, section 4.2, are choices of the two limits.
struct Spring {
  std::array<std::uint32_t, 2> nodes{};
  float length = 0;               ///< m
  float stiffness = kInfinity;    ///< N/m
  float max_tension = kInfinity;  ///< N; 0: gives way to stretching
  float max_thrust = kInfinity;   ///< N; 0: gives way to compression
};

class SpringRows {
 public:
  SpringRows() = default;
  SpringRows(std::span<const Spring> springs, std::size_t node_count);

  std::size_t row_count() const { return count_; }
  /// One sweep at the positions now.
  void sweep(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) const;

 private:
  void sweep(std::size_t batch, const Vec4* x, Vec4* v, float h) const;

  RowBatches batches_;
  std::size_t count_ = 0;
  // Eight lanes for each batch.
  std::vector<std::uint32_t> a_, b_;
  std::vector<float> lengths_, compliance_, max_tension_, max_thrust_;
};

/// Keeps nodes on a smooth line or surface: `Σ weights[i] x[nodes[i]]`, which is zero where it is flat, is pulled to
/// zero, or to `rest` along the surface's normal where the body is curved at rest. As the rest is measured along the
/// normal and not by its size alone, there is no second, reversed state of rest (document 004, section 4.5).
struct Bend {
  std::array<std::uint32_t, 4> nodes{};  ///< 0 and 1: the edge, 2 and 3: the wings; of a line 0, 1, 2 in their order
  std::array<float, 4> weights{};
  float stiffness = 0;  ///< N/m
  float rest = 0;       ///< m, along the normal of the two triangles (0, 1, 2) and (1, 0, 3)
};

/// Bends of surfaces; those of lines are `BendLines`.
class BendRows {
 public:
  BendRows() = default;
  BendRows(std::span<const Bend> bends, std::size_t node_count);

  std::size_t row_count() const { return count_; }
  void sweep(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) const;

 private:
  static constexpr std::size_t kNodes = 4;
  void sweep(std::size_t batch, const Vec4* x, Vec4* v, float h) const;

  RowBatches batches_;
  std::size_t count_ = 0;
  bool has_rest_ = false;
  std::array<std::vector<std::uint32_t>, kNodes> nodes_;
  std::array<std::vector<float>, kNodes> weights_;
  std::vector<float> compliance_, rest_;
};

}  // namespace pliant
