// Which nodes do not meet the rigid body that others of their body are anchored to.
//
// A rope that is tied to the middle of a ball has nodes inside the ball, where contacts would drive them out of it
// while the anchor holds them in. So the anchored nodes are left out, what is inside when the anchor is made, and what
// is tied so shortly to any of these that it cannot be outside by its own thickness.
#include <algorithm>
#include <queue>

#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Of its radius, so deep is a node that is inside. What lies on a body is not.
constexpr float kInside = 0.5f;

}  // namespace

void ParticleEngine::find_unmet(Anchor& anchor, const Obstacle& obstacle, const ShapeProbe& probe) {
  Body& b = body(anchor.slot);
  find_springs(b);
  const float radius = b.model->radius;
  const Transform shape_from_world = obstacle.world_from_shape.inverse();
  const auto depth_at = [&](Vec3 place) {
    const auto nearest = probe.nearest(place, radius);
    return nearest ? std::max(-nearest->distance, 0.0f) : 0.0f;
  };
  // By node: how much farther along the body nodes are left out, m. The largest first, so that each is final.
  std::vector<float> reach(b.count, -1);
  std::priority_queue<std::pair<float, std::uint32_t>> open;
  const auto reach_to = [&](std::uint32_t node, float far) {
    if (far > reach[node]) reach[node] = far, open.emplace(far, node);
  };
  for (const AnchorNode& node : anchor.nodes) reach_to(node.node, depth_at(node.place) + 2 * radius);
  while (!open.empty()) {
    const auto [known, node] = open.top();
    open.pop();
    if (known < reach[node]) continue;
    const float depth = depth_at(shape_from_world * x_[b.first + node].xyz());
    const float far = depth > kInside * radius ? std::max(known, depth + 2 * radius) : known;
    for (const std::uint32_t tie : b.ties_of_node[node]) {
      const auto [i, k] = b.ties[tie].nodes;
      const float left = far - length(b.model->rest[k] - b.model->rest[i]);
      if (left >= 0) reach_to(i == node ? k : i, left);
    }
  }
  anchor.knows_unmet = true;
  anchor.unmet.clear();
  for (std::uint32_t node = 0; node < b.count; ++node) {
    if (reach[node] >= 0) anchor.unmet.push_back(node);
  }
}

}  // namespace pliant
