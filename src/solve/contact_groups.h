// Contact rows of nodes with what does not give way, eight neighbouring nodes at a time.
//
// Such a row acts on one node alone: its solution is exact at once and rows of different nodes know nothing of each
// other. The nodes of a cloth that lie on something are mostly neighbours, also in memory, so that a group is well
// filled. The law is that of `NodeContact` rows.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "math/node_lanes.h"
#include "pliant/ids.h"

namespace pliant {

inline Vec3 lane_of(const LaneVec3<Float8>& v, std::uint32_t lane) { return {v.x[lane], v.y[lane], v.z[lane]}; }

/// The touches of up to eight nodes in a row with one rigid body.
struct ContactGroup {
  std::uint32_t node = 0;        ///< of the body: the first
  std::uint32_t count = kLanes;  ///< lanes that are nodes
  BodyId other{};                ///< the rigid body
  float friction = 0;
  Int8 touches{};             ///< by lane: −1 where there is a touch
  LaneVec3<Float8> normal{};  ///< unit, towards the node
  LaneVec3<Float8> surface_velocity{};
  Float8 gap{};  ///< m
  // Found by the solve, kept for the next substep; 0 where nothing touches.
  Float8 normal_impulse{};
  LaneVec3<Float8> friction_impulse{};

  Vec3 normal_of(std::uint32_t lane) const { return lane_of(normal, lane); }
  Vec3 impulse_of(std::uint32_t lane) const {
    return normal_of(lane) * normal_impulse[lane] + lane_of(friction_impulse, lane);
  }
  void set_impulse(std::uint32_t lane, Vec3 impulse) {
    const float along = dot(impulse, normal_of(lane));
    const Vec3 across = impulse - normal_of(lane) * along;
    normal_impulse[lane] = along > 0 ? along : 0;
    friction_impulse.x[lane] = across.x, friction_impulse.y[lane] = across.y, friction_impulse.z[lane] = across.z;
  }
  std::array<std::uint32_t, kLanes> nodes() const {
    std::array<std::uint32_t, kLanes> list;
    for (std::uint32_t i = 0; i < kLanes; ++i) list[i] = node + (i < count ? i : 0);
    return list;
  }
};

/// As for `NodeContact` rows; `x` and `v` are the body's.
void warm_start(std::span<const ContactGroup> groups, std::span<Vec4> v);
void sweep(std::span<ContactGroup> groups, std::span<Vec4> v, float h);
void push_out(std::span<const ContactGroup> groups, std::span<const Vec4> v, std::span<Vec4> x, float h);

}  // namespace pliant
