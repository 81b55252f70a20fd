// Questions to the world as the last step (or `commit_edits`) left it.
#pragma once

#include <cstdint>
#include <vector>

#include "pliant/ids.h"
#include "pliant/math.h"

namespace pliant {

/// Which bodies a query sees: those whose category is in `mask`, except `ignore`.
struct QueryFilter {
  std::uint16_t mask = 0xffff;
  BodyId ignore{};
};

struct RayHit {
  BodyId body{};
  Vec3 position{};     ///< world, m
  Vec3 normal{};       ///< unit, out of the surface; of cloth, on the side that the ray comes from
  float distance = 0;  ///< m from the ray's start
};

struct ClosestPoint {
  BodyId body{};
  Vec3 position{};     ///< world, on the body's surface, m
  Vec3 normal{};       ///< unit, from the surface towards the query point (outward)
  float distance = 0;  ///< m; negative inside a convex shape
};

}  // namespace pliant
