// One vector for each node, eight nodes at a time: x of eight nodes, then y, then z, then the next eight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "math/lane_math.h"

namespace pliant {

/// Where the x of node i lies; y and z follow at distances of `kLanes`.
inline std::uint32_t lane_offset(std::uint32_t i) {
  return i / static_cast<std::uint32_t>(kLanes) * 24u + i % static_cast<std::uint32_t>(kLanes);
}

inline Int8 lane_offsets(Int8 i) { return (i >> 3) * 24 + (i & 7); }

inline LaneVec3<Float8> broadcast_vec8(Vec3 v) { return {broadcast(v.x), broadcast(v.y), broadcast(v.z)}; }
inline LaneVec3<Float8> load_vec8(const float* at) { return {load8(at), load8(at + 8), load8(at + 16)}; }
inline void store_vec8(float* at, const LaneVec3<Float8>& v) {
  store8(at, v.x), store8(at + 8, v.y), store8(at + 16, v.z);
}
inline LaneSym3<Float8> load_sym8(const float* at) {
  return {load8(at), load8(at + 8), load8(at + 16), load8(at + 24), load8(at + 32), load8(at + 40)};
}
inline void store_sym8(float* at, const LaneSym3<Float8>& s) {
  store8(at, s.xx), store8(at + 8, s.yy), store8(at + 16, s.zz);
  store8(at + 24, s.xy), store8(at + 32, s.xz), store8(at + 40, s.yz);
}
inline LaneVec3<Float8> gather_vec8(const float* from, Int8 offsets) {
  return {gather8(from, offsets), gather8(from + 8, offsets), gather8(from + 16, offsets)};
}

/// The array itself. The count is rounded up to whole groups of eight.
class LaneVectors {
 public:
  void assign(std::size_t nodes) { floats_.assign((nodes + kLanes - 1) / kLanes * 24, 0.0f); }

  std::size_t groups() const { return floats_.size() / 24; }
  float* data() { return floats_.data(); }
  const float* data() const { return floats_.data(); }
  std::vector<float>& floats() { return floats_; }
  const std::vector<float>& floats() const { return floats_; }

  Vec3 get(std::uint32_t i) const {
    const float* at = floats_.data() + lane_offset(i);
    return {at[0], at[8], at[16]};
  }
  void set(std::uint32_t i, Vec3 v) {
    float* at = floats_.data() + lane_offset(i);
    at[0] = v.x, at[8] = v.y, at[16] = v.z;
  }
  void add(std::uint32_t i, Vec3 v) { set(i, get(i) + v); }

  LaneVec3<Float8> group(std::size_t g) const { return load_vec8(data() + 24 * g); }
  void set_group(std::size_t g, const LaneVec3<Float8>& v) { store_vec8(data() + 24 * g, v); }

 private:
  std::vector<float> floats_;
};

}  // namespace pliant
