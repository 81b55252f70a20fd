#include "particle/node_search.h"

#include <algorithm>
#include <cmath>

#include "math/lane_vectors.h"

namespace pliant {
namespace {

using Vec = LaneVec3<Float8>;

/// Looks along a node's way at most.
constexpr int kLooks = 8;

Vec3 lane_of(const Vec& v, std::size_t lane) { return {v.x[lane], v.y[lane], v.z[lane]}; }
void set_lane(Vec& v, std::size_t lane, Vec3 to) { v.x[lane] = to.x, v.y[lane] = to.y, v.z[lane] = to.z; }

Vec turned(Quat rotation, const Vec& v) {
  const Vec3 x = rotation.rotate({1, 0, 0}), y = rotation.rotate({0, 1, 0}), z = rotation.rotate({0, 0, 1});
  return LaneMat3<Float8>{broadcast_vec8(x), broadcast_vec8(y), broadcast_vec8(z)} * v;
}

struct Touch {
  Vec3 normal;  ///< in the shape's frame
  float gap;
};

/// Where a ball of `radius` that goes from `from` along `way` first comes as near as `margin`, if it is not so near
/// already but may come there. The normal is that of the place where they meet (conservative advancement), so that a
/// node that passes by is not stopped by the plane of some other part of the surface.
std::optional<Touch> find_touch(const ShapeProbe& probe, Vec3 from, Vec3 way, float radius, float margin, float room) {
  const float distance = length(way);
  std::optional<ShapeDistance> near;
  float gone = 0;
  for (int look = 0; look < kLooks; ++look) {
    // Up to half the margin, so that it ends inside of it.
    gone += room + 0.5f * margin;
    if (gone >= distance) return {};
    near = probe.nearest(from + way * (gone / distance), radius + margin + distance - gone);
    if (!near) return {};
    room = near->distance - radius - margin;
    if (room <= 0) break;
  }
  return Touch{near->normal, near->distance - radius - gone / distance * dot(way, near->normal)};
}

Aabb bounds_of(const Vec& a, const Vec& b) {
  const auto least = [](Float8 p, Float8 q) {
    const Float8 m = min(p, q);
    return std::min({m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]});
  };
  const auto most = [&](Float8 p, Float8 q) { return -least(-p, -q); };
  return {{least(a.x, b.x), least(a.y, b.y), least(a.z, b.z)}, {most(a.x, b.x), most(a.y, b.y), most(a.z, b.z)}};
}

/// The impulses that the same nodes had with the same body.
void recall(std::span<const ContactGroup> before, ContactGroup& group) {
  for (const ContactGroup& old : before) {
    if (old.node != group.node) break;
    if (!(old.other == group.other)) continue;
    group.normal_impulse = select(group.touches, old.normal_impulse, Float8{});
    const Vec across = old.friction_impulse - group.normal * dot(old.friction_impulse, group.normal);
    group.friction_impulse = select(group.touches, across, Vec{});
  }
}

}  // namespace

/// Eight nodes while they look around.
struct NodeSearch::Lanes {
  std::uint32_t node, count;
  NodeLanes x, v;
  Int8 look;         ///< those that look
  Float8 clearance;  ///< m, that they can go in any direction before they come near anything
};

void NodeSearch::find(std::uint32_t begin, std::uint32_t end, std::span<const ContactGroup> before,
                      std::vector<ContactGroup>& fixed, std::vector<NodeContact>& rigid) const {
  constexpr Int8 kNumbers{0, 1, 2, 3, 4, 5, 6, 7};
  for (std::uint32_t node = begin; node < end; node += kLanes) {
    ContactGroup group{.node = node, .count = std::min<std::uint32_t>(kLanes, end - node)};
    const auto nodes = group.nodes();
    Lanes lanes{.node = node,
                .count = group.count,
                .x = load_nodes(x.data(), nodes.data()),
                .v = load_nodes(v.data(), nodes.data()),
                .look = {},
                .clearance = broadcast(kLookAhead)};
    const NodeLanes look = load_nodes(looks.data(), nodes.data());
    const Vec gone = lanes.x.xyz - look.xyz;
    const Float8 reach = sqrt(dot(gone, gone)) + sqrt(dot(lanes.v.xyz, lanes.v.xyz)) * h + obstacles_way;
    lanes.look = ~(reach < look.w) & (kNumbers < static_cast<std::int32_t>(group.count));
    while (!before.empty() && before.front().node < node) before = before.subspan(1);
    if (!any(lanes.look)) continue;
    const Aabb box = bounds_of(lanes.x.xyz, lanes.x.xyz + lanes.v.xyz * broadcast(h));
    for (const NearObstacle& near : obstacles) {
      if (near.bounds.overlaps(box)) look_at(near, lanes, before, fixed, rigid);
    }
    for (std::uint32_t i = 0; i < group.count; ++i) {
      const Vec3 at = lane_of(lanes.x.xyz, i);
      if (lanes.look[i] != 0) looks[node + i] = {at.x, at.y, at.z, lanes.clearance[i] + obstacles_way};
    }
  }
}

void NodeSearch::look_at(const NearObstacle& near, Lanes& lanes, std::span<const ContactGroup> before,
                         std::vector<ContactGroup>& fixed, std::vector<NodeContact>& rigid) const {
  const Obstacle& obstacle = *near.obstacle;
  Int8 asked = lanes.look;
  if (!obstacle.is_dynamic) asked &= lanes.v.w > 0;
  if (!unmet.empty()) leave_unmet(obstacle, lanes, asked);
  if (!any(asked)) return;
  const Vec arm = lanes.x.xyz - broadcast_vec8(obstacle.center_of_mass);
  const Vec surface_velocity =
      broadcast_vec8(obstacle.velocity) + cross(broadcast_vec8(obstacle.angular_velocity), arm);
  const Vec way = (lanes.v.xyz - surface_velocity) * broadcast(h);
  const Float8 distance = sqrt(dot(way, way));
  const Vec place =
      turned(near.shape_from_world.rotation, lanes.x.xyz) + broadcast_vec8(near.shape_from_world.position);
  LaneDistance<Float8> found = nearest(near, lanes, asked, place, distance);
  const Float8 room = found.distance - (radius + margin);
  lanes.clearance = select(asked, min(lanes.clearance, room), lanes.clearance);
  Int8 touches = asked & (room <= 0);
  Float8 gap = found.distance - radius;
  const Int8 comes = asked & (room > 0) & (room <= distance);
  if (any(comes)) {
    const Vec local_way = turned(near.shape_from_world.rotation, way);
    for (std::size_t i = 0; i < lanes.count; ++i) {
      if (comes[i] == 0) continue;
      const auto touch = find_touch(*near.probe, lane_of(place, i), lane_of(local_way, i), radius, margin, room[i]);
      if (!touch) continue;
      touches[i] = -1, gap[i] = touch->gap;
      set_lane(found.normal, i, touch->normal);
    }
  }
  if (!any(touches)) return;

  const Vec normal = turned(obstacle.world_from_shape.rotation, found.normal);
  const float mean_friction = std::sqrt(friction * obstacle.friction);
  if (!obstacle.is_dynamic) {
    fixed.push_back({.node = lanes.node,
                     .count = lanes.count,
                     .other = obstacle.id,
                     .friction = mean_friction,
                     .touches = touches,
                     .normal = select(touches, normal, Vec{}),
                     .surface_velocity = surface_velocity,
                     .gap = gap});
    return recall(before, fixed.back());
  }
  for (std::uint32_t i = 0; i < lanes.count; ++i) {
    if (touches[i] == 0) continue;
    const Vec3 n = lane_of(normal, i);
    rigid.push_back({.node = first + lanes.node + i,
                     .slot = slot,
                     .rigid = obstacle.id.index,
                     .other = obstacle.id,
                     .normal = n,
                     .arm = lane_of(arm, i) - n * (radius + gap[i]),
                     .surface_velocity = lane_of(surface_velocity, i),
                     .gap = gap[i],
                     .friction = mean_friction});
  }
}

/// Shapes without lanes are asked as far as the nodes' way needs it; what is farther is as far as that.
LaneDistance<Float8> NodeSearch::nearest(const NearObstacle& near, const Lanes& lanes, Int8 asked, const Vec& place,
                                         Float8 distance) const {
  return std::visit(
      [&](const auto& shape) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(shape)>, std::monostate>) {
          return lane_distance(shape, place);
        } else {
          LaneDistance<Float8> found{distance + (radius + margin + kLookAhead), {}};
          for (std::size_t i = 0; i < lanes.count; ++i) {
            if (asked[i] == 0) continue;
            const auto one = near.probe->nearest(lane_of(place, i), found.distance[i]);
            if (!one) continue;
            found.distance[i] = one->distance;
            set_lane(found.normal, i, one->normal);
          }
          return found;
        }
      },
      near.lanes);
}

/// What a node is anchored to it does not also collide with; it looks again each time, as it may come loose.
void NodeSearch::leave_unmet(const Obstacle& obstacle, Lanes& lanes, Int8& asked) const {
  for (std::uint32_t i = 0; i < lanes.count; ++i) {
    if (!std::binary_search(unmet.begin(), unmet.end(), std::pair(first + lanes.node + i, obstacle.id))) continue;
    if (asked[i] != 0) lanes.clearance[i] = 0;
    asked[i] = 0;
  }
}

}  // namespace pliant
