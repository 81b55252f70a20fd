// A point of a solid to which a node of a cloth, rope or jelly is tied.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pliant/ids.h"
#include "pliant/math.h"

namespace pliant {

/// It goes with a tet: that is what is left of a place in a solid that breaks.
struct SolidPoint {
  BodyId solid{};
  std::uint32_t tet = 0;           ///< of its mesh as it is now
  std::array<float, 4> weights{};  ///< of the corners, with the sum 1
};

/// Where that is now.
struct PlacedPoint {
  SolidPoint point{};
  bool is_there = false;   ///< the solid exists
  bool gives_way = false;  ///< and is not frozen
  std::array<std::uint32_t, 4> nodes{};
  Vec3 place{};  ///< m, world
};

/// A part of a solid that came apart.
struct SolidPiece {
  BodyId whole, id;
  std::vector<std::uint32_t> tets;  ///< their numbers in the whole
};

/// A node that must not collide with the solid to which it is tied.
struct TiedNode {
  BodyId body{};
  std::uint32_t node = 0;
  BodyId solid{};

  friend bool operator<(const TiedNode& a, const TiedNode& b) {
    if (a.body != b.body) return a.body < b.body;
    return a.node != b.node ? a.node < b.node : a.solid < b.solid;
  }
};

}  // namespace pliant
