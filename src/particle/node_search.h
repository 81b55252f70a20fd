// Looks for what nodes of a body touch, eight neighbouring nodes at a time.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "collide/lane_distance.h"
#include "collide/obstacle.h"
#include "solve/contact_groups.h"
#include "solve/contact_rows.h"

namespace pliant {

/// How far beyond its way a node looks, so that it need not look again in every substep.
inline constexpr float kLookAhead = 0.1f;  // m

/// An obstacle that a body may touch in this substep.
struct NearObstacle {
  NearObstacle(const Obstacle& o, const ShapeProbe& p, float reach)
      : obstacle(&o),
        probe(&p),
        lanes(lane_shape(*o.shape)),
        shape_from_world(o.world_from_shape.inverse()),
        bounds(o.bounds.expanded(reach)) {}

  const Obstacle* obstacle;
  const ShapeProbe* probe;
  LaneShape lanes;
  Transform shape_from_world;
  Aabb bounds;  ///< within which nodes look at it
};

/// One body's search; what it looks at lives elsewhere. Parts of the body may be searched on several threads.
struct NodeSearch {
  using Unmet = std::span<const std::pair<std::uint32_t, BodyId>>;

  std::span<const Vec4> x, v;  ///< the body's
  /// Where each node last looked, and in w how far it, or what is around it, may go before it must look again.
  std::span<Vec4> looks;
  std::span<const NearObstacle> obstacles;
  Unmet unmet{};            ///< nodes (of all) and what they do not meet, as they are anchored to it; sorted
  std::uint32_t first = 0;  ///< the body's first node among all
  std::uint32_t slot = 0;
  float radius = 0, margin = 0;  ///< m; within the margin a node is watched, moving or not
  float friction = 0;
  float obstacles_way = 0;  ///< m, that the fastest obstacle may have gone since the looks began
  float h = 0;

  /// Nodes [begin, end) of the body. `before` is what this found for them in the substep before, whose impulses are
  /// taken over; rows with bodies that give way are added to `rigid`.
  void find(std::uint32_t begin, std::uint32_t end, std::span<const ContactGroup> before,
            std::vector<ContactGroup>& fixed, std::vector<NodeContact>& rigid) const;

 private:
  struct Lanes;
  void look_at(const NearObstacle& near, Lanes& lanes, std::span<const ContactGroup> before,
               std::vector<ContactGroup>& fixed, std::vector<NodeContact>& rigid) const;
  LaneDistance<Float8> nearest(const NearObstacle& near, const Lanes& lanes, Int8 asked, const LaneVec3<Float8>& place,
                               Float8 distance) const;
  void leave_unmet(const Obstacle& obstacle, Lanes& lanes, Int8& asked) const;
};

}  // namespace pliant
