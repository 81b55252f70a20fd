// Nodes near rigid bodies: what bodies of nodes that are solved implicitly know of their contacts with them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "collide/obstacle.h"
#include "pliant/ids.h"
#include "pliant/math.h"

namespace pliant {

/// A node near something rigid.
struct NodeTouch {
  std::uint32_t node = 0;
  BodyId other{};
  Vec3 normal{};            ///< unit, from the other towards the node
  float gap = 0;            ///< m, negative inside
  Vec3 surface_velocity{};  ///< of the other's surface there, m/s
  float friction = 0.5f;    ///< of the pair
};

/// What a touch that pushes, or is inside, remembers from one substep to the next.
struct NodeTouchMemory {
  std::uint32_t slot;
  BodyId other;
  Vec3 impulse;   ///< N s
  Vec3 normal{};  ///< as the touch had it
  float gap = 0;  ///< m, when the substep ended
};

/// What `memory`, sorted by slot and body, holds of a touch; or nothing.
const NodeTouchMemory* find_touch(std::span<const NodeTouchMemory> memory, std::uint32_t slot, BodyId other);

/// A node pressed deep into a plate is soon nearer to its other side; it goes on being pushed back to where it came
/// from, which `memory` tells.
void keep_side(std::span<const NodeTouchMemory> memory, std::uint32_t slot, NodeTouch& touch);

/// The plane of the nearest point bars ways that lead past a convex edge: a node before a box that slides over it would
/// be pushed away sideways, and the box stopped. Where a node that goes `way` ends up outside, or much less deep below
/// another side, `near` becomes that side, as the node at `from` sees it. All in the shape's frame.
void look_ahead(const ShapeProbe& probe, Vec3 from, Vec3 way, float watched, ShapeDistance& near);

/// A node that looks for touches.
struct LookingNode {
  Vec3 x{};
  Vec3 surface_velocity{};  ///< of the obstacle, there
  Vec3 approach{};          ///< m/s, how it moves relative to what it may meet
  float watched = 0;        ///< m, within which it is watched, moving or not
};

/// The touches of nodes with one obstacle, in the order of the nodes. Memory is kept between searches.
class NodeTouchSearch {
 public:
  /// `look(node, looking)` says where a node is, or false if it does not take part; `keep(touch)` has the last word,
  /// and may change the touch. Both are called from all threads.
  template <typename Look, typename Keep>
  void find(Workers& workers, std::size_t nodes, const Obstacle& obstacle, const ShapeProbe& probe, float friction,
            float dt, Look&& look, Keep&& keep, std::vector<NodeTouch>& touches) {
    constexpr std::size_t kGrain = 256;
    const Transform shape_from_world = obstacle.world_from_shape.inverse();
    parts_.resize((nodes + kGrain - 1) / kGrain);
    for (auto& part : parts_) part.clear();
    parallel_for(workers, nodes, kGrain, [&](std::size_t begin, std::size_t end) {
      for (auto node = static_cast<std::uint32_t>(begin); node < end; ++node) {
        LookingNode at;
        if (!look(node, at)) continue;
        const float reach = at.watched + dt * length(at.approach);
        auto near = probe.nearest(shape_from_world * at.x, reach);
        if (!near) continue;
        if (near->distance > 0) {
          look_ahead(probe, shape_from_world * at.x, dt * shape_from_world.rotation.rotate(at.approach), at.watched,
                     *near);
        }
        NodeTouch touch{node,           obstacle.id,         obstacle.world_from_shape.rotation.rotate(near->normal),
                        near->distance, at.surface_velocity, friction};
        // What is far and does not come near in this substep is no contact yet.
        if (touch.gap > at.watched && touch.gap + dt * dot(at.approach, touch.normal) > at.watched) continue;
        if (keep(touch)) parts_[begin / kGrain].push_back(touch);
      }
    });
    for (const auto& part : parts_) touches.insert(touches.end(), part.begin(), part.end());
  }

 private:
  std::vector<std::vector<NodeTouch>> parts_;
};

}  // namespace pliant
