// One vector for each node, each a `Vec4` whose last number is nothing: a node is one load.
//
// For products with sparse matrices, which read nodes in any order. From lane_vectors.h eight of these take three
// gathers of some forty steps each (Zen 3); here they take eight loads and a dozen shuffles (node_lanes.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "math/node_lanes.h"

namespace pliant {

/// The count is rounded up to whole groups of eight.
class QuadVectors {
 public:
  void assign(std::size_t nodes) { quads_.assign((nodes + kLanes - 1) / kLanes * kLanes, {}); }

  std::size_t groups() const { return quads_.size() / kLanes; }
  std::size_t bytes() const { return sizeof(Vec4) * quads_.size(); }

  Vec3 get(std::uint32_t i) const { return quads_[i].xyz(); }
  void set(std::uint32_t i, Vec3 v) { quads_[i] = {v.x, v.y, v.z, 0}; }
  void add(std::uint32_t i, Vec3 v) { set(i, get(i) + v); }

  /// Of eight nodes anywhere.
  LaneVec3<Float8> gather(const std::uint32_t* nodes) const { return load_nodes(quads_.data(), nodes).xyz; }
  /// Of the eight nodes of a group.
  LaneVec3<Float8> group(std::size_t g) const {
    static constexpr std::uint32_t kInOrder[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7};
    return load_nodes(quads_.data() + kLanes * g, kInOrder).xyz;
  }
  void set_group(std::size_t g, const LaneVec3<Float8>& v) { store_nodes(quads_.data() + kLanes * g, {v}); }

 private:
  std::vector<Vec4> quads_;
};

}  // namespace pliant
