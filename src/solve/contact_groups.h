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
