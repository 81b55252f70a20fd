// Where bodies touch, as an island of solids solves it: a point of one body that must not enter another.
#pragma once

#include <array>
#include <cstdint>

#include "pliant/ids.h"
#include "pliant/math.h"

namespace pliant {

/// One body's part in a meeting: a point that its nodes carry, or a point of a rigid body.
struct MeetingSide {
  BodyId body{};
  std::uint32_t count = 0;               ///< of nodes; 0 for a rigid body
  std::array<std::uint32_t, 3> nodes{};  ///< of the body's mesh
  std::array<float, 3> weights{};        ///< with the sum 1
  bool is_core = false;                  ///< of a layered body: the points of its core below them
};

struct SolidMeeting {
  MeetingSide a, b;                 ///< a is always a solid or the skin of a layered body
  Vec3 point{};                     ///< m, world: where they touch
  Vec3 surface_velocity{};          ///< m/s, there, of a b that does not give way
  Vec3 velocity_a{}, velocity_b{};  ///< m/s, of the points of a and b as the substep begins
  Vec3 normal{};                    ///< unit, from b towards a
  float gap = 0;                    ///< m, negative inside
  float slop = 0;                   ///< m, the depth that is left alone
  float friction = 0.5f;
  bool b_is_open = false;  ///< b is a cloth, rope or jelly
  std::uint64_t key = 0;   ///< names the pair of features of the two bodies, the same in every substep
};

/// What a meeting remembers from one substep to the next.
struct MeetingMemory {
  BodyId a, b;
  std::uint64_t key;
  Vec3 impulse;  ///< on a, N s
};

}  // namespace pliant
