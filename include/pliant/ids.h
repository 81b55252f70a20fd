// Ids that never dangle: an index and a generation. When a body dies its slot is used again under a new generation, so
// an old id is recognised as stale instead of naming a stranger.
#pragma once

#include <cstdint>

namespace pliant {

template <typename Tag>
struct Id {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< 0 names nothing: a default id is null

  constexpr bool is_null() const { return generation == 0; }
  friend constexpr bool operator==(Id a, Id b) { return a.index == b.index && a.generation == b.generation; }
  friend constexpr bool operator<(Id a, Id b) {
    return a.index != b.index ? a.index < b.index : a.generation < b.generation;
  }
};

using BodyId = Id<struct BodyTag>;
using JointId = Id<struct JointTag>;
using AnchorId = Id<struct AnchorTag>;

}  // namespace pliant
