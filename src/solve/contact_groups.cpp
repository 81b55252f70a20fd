#include "solve/contact_groups.h"

#include "solve/contact_rows.h"

namespace pliant {
namespace {

using Vec = LaneVec3<Float8>;

}  // namespace

void warm_start(std::span<const ContactGroup> groups, std::span<Vec4> v) {
  for (const ContactGroup& group : groups) {
    const auto nodes = group.nodes();
    NodeLanes node = load_nodes(v.data(), nodes.data());
    node.xyz = node.xyz + (group.normal * group.normal_impulse + group.friction_impulse) * node.w;
    store_nodes(v.data(), nodes.data(), group.count, node);
  }
}

void sweep(std::span<ContactGroup> groups, std::span<Vec4> v, float h) {
  const Float8 one = broadcast(1), per_h = broadcast(1 / h);
  for (ContactGroup& group : groups) {
    const auto nodes = group.nodes();
    NodeLanes node = load_nodes(v.data(), nodes.data());
    const Int8 acts = group.touches & (node.w > 0);
    const Float8 mass = one / select(acts, node.w, one);
    const Vec velocity = node.xyz - group.surface_velocity;
    const Float8 speed = dot(velocity, group.normal), target = -max(group.gap, Float8{}) * per_h;
    const Float8 pressed = max(group.normal_impulse - (speed - target) * mass, Float8{});

    Vec wanted = group.friction_impulse - (velocity - group.normal * speed) * mass;
    wanted = wanted - group.normal * dot(wanted, group.normal);
    const Float8 bound = group.friction * pressed, size = sqrt(dot(wanted, wanted));
    const Int8 slides = size > bound;
    wanted = wanted * select(slides, bound / select(slides, size, one), one);

    const Vec change = group.normal * (pressed - group.normal_impulse) + wanted - group.friction_impulse;
    node.xyz = select(acts, node.xyz + change * node.w, node.xyz);
    group.normal_impulse = select(acts, pressed, group.normal_impulse);
    group.friction_impulse = select(acts, wanted, group.friction_impulse);
    store_nodes(v.data(), nodes.data(), group.count, node);
  }
}

void push_out(std::span<const ContactGroup> groups, std::span<const Vec4> v, std::span<Vec4> x, float h) {
  for (const ContactGroup& group : groups) {
    const auto nodes = group.nodes();
    const NodeLanes velocity = load_nodes(v.data(), nodes.data());
    const Float8 gap = group.gap + dot(velocity.xyz - group.surface_velocity, group.normal) * broadcast(h);
    const Int8 overlaps = group.touches & (velocity.w > 0) & (gap < 0);
    if (!any(overlaps)) continue;
    NodeLanes node = load_nodes(x.data(), nodes.data());
    const Float8 way = min(-gap * kRecoveredPerStep, broadcast(kMaxPushSpeed * h));
    node.xyz = node.xyz + group.normal * select(overlaps, way, Float8{});
    store_nodes(x.data(), nodes.data(), group.count, node);
  }
}

}  // namespace pliant
