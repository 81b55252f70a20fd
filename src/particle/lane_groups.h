// Elements of N nodes (springs, tets, hinges) in groups of eight of which no two share a node.
//
// Greedy colouring in the order of the elements: elements of one colour share no node, so a colour may be swept eight
// at a time and by several threads, and the result depends on neither. Lanes without an element name the node
// `node_count`: arrays that are swept have one spare node at the end. Only the last group of a colour has such lanes,
// so no two threads meet there.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "base/simd.h"

namespace pliant {

template <std::size_t N>
struct LaneGroups {
  using Element = std::array<std::uint32_t, N>;

  struct Group {
    std::uint32_t node[N][kLanes];  ///< corner by corner
  };
  std::vector<Group> groups;
  std::vector<std::uint32_t> colors{0};  ///< the first group of each colour, and the end
  std::vector<std::uint32_t> slots;      ///< of each element: group · 8 + lane

  /// Every node of every element is below `node_count`, and no element names a node twice.
  static LaneGroups build(std::span<const Element> elements, std::size_t node_count);

  std::size_t size() const { return groups.size(); }

  /// Calls `body(group)` for all groups, colour by colour.
  template <typename Body>
  void sweep(Workers& workers, Body&& body) const {
    constexpr std::size_t kGrain = 64;
    for (std::size_t color = 0; color + 1 < colors.size(); ++color) {
      const std::size_t first = colors[color];
      parallel_for(workers, colors[color + 1] - first, kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t g = begin; g < end; ++g) body(first + g);
      });
    }
  }
};

extern template struct LaneGroups<2>;
extern template struct LaneGroups<4>;

/// One number for each lane of each group.
class LaneValues {
 public:
  LaneValues() = default;
  explicit LaneValues(std::size_t groups, float value = 0) : values_(groups * kLanes, value) {}

  void set(std::uint32_t slot, float value) { values_[slot] = value; }
  Float8 load(std::size_t group) const { return load8(values_.data() + group * kLanes); }
  void store(std::size_t group, Float8 value) { store8(values_.data() + group * kLanes, value); }
  void fill(float value) { std::fill(values_.begin(), values_.end(), value); }

 private:
  std::vector<float> values_;
};

}  // namespace pliant
