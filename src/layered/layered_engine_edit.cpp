// Pushing and placing layered bodies.
#include <limits>
#include <vector>

#include "geometry/blast.h"
#include "geometry/primitives.h"
#include "geometry/surface_load.h"
#include "layered/layered_engine_entry.h"

namespace pliant {

void LayeredEngine::set_transform(std::uint32_t slot, const Transform& world_from_body) {
  LayeredBody& body = *entry(slot).body;
  // The velocities turn with the body.
  const Quat turn = world_from_body.rotation.normalized() * body.state().rotation.conjugate();
  const Vector6 turned = BodyAxes(turn).to_world(body.state().velocity);
  body.set_transform(world_from_body);
  body.state().velocity = turned;
  body.state().touches.clear();
  entry(slot).set_stale();
}

void LayeredEngine::set_velocity(std::uint32_t slot, Vec3 velocity, Vec3 angular_velocity) {
  entry(slot).body->set_velocity(velocity, angular_velocity);
  entry(slot).set_stale();
}

void LayeredEngine::add_force(std::uint32_t slot, Vec3 force, Vec3 torque) {
  entry(slot).force += force, entry(slot).torque += torque;
}

void LayeredEngine::add_impulse(std::uint32_t slot, Vec3 impulse, Vec3 angular_impulse) {
  entry(slot).body->add_impulse(impulse, angular_impulse);
  entry(slot).set_stale();
}

template <typename Push>
void LayeredEngine::push_at(std::uint32_t slot, Vec3 point, Push&& push) {
  const std::span<const Vec3> x = node_positions(slot);
  float best = std::numeric_limits<float>::max();
  const Face* nearest = nullptr;
  Vec3 weights;
  for (const Face& face : faces(slot)) {
    const TrianglePoint closest = closest_on_triangle(point, x[face[0]], x[face[1]], x[face[2]]);
    if (closest.squared_distance >= best) continue;
    best = closest.squared_distance, nearest = &face, weights = closest.weights;
  }
  for (std::size_t k = 0; nearest && k < 3; ++k) push((*nearest)[k], weights[k]);
}

void LayeredEngine::add_force_at(std::uint32_t slot, Vec3 force, Vec3 point) {
  push_at(slot, point,
          [&](std::uint32_t node, float share) { entry(slot).node_forces.emplace_back(node, force * share); });
}

void LayeredEngine::add_impulse_at(std::uint32_t slot, Vec3 impulse, Vec3 point) {
  push_at(slot, point, [&](std::uint32_t node, float share) { entry(slot).body->push_node(node, impulse * share); });
}

void LayeredEngine::explode(std::uint32_t slot, const Explosion& explosion) {
  const std::span<const Vec3> x = node_positions(slot);
  for (const Face& face : faces(slot)) {
    const Vec3 push = blast_on_face(explosion, x[face[0]], x[face[1]], x[face[2]]) / 3;
    if (push == Vec3{}) continue;
    for (const std::uint32_t node : face) entry(slot).body->push_node(node, push);
  }
}

void LayeredEngine::add_node_force(std::uint32_t slot, std::span<const std::uint32_t> nodes, Vec3 force) {
  for (const std::uint32_t node : nodes) entry(slot).node_forces.emplace_back(node, force);
}

void LayeredEngine::add_surface_load(std::uint32_t slot, std::span<const std::uint32_t> nodes, float pressure,
                                     Vec3 traction) {
  const std::span<const Vec3> x = node_positions(slot);
  std::vector<bool> listed(x.size(), false);
  for (const std::uint32_t node : nodes) listed[node] = true;
  for (const Face& face : faces(slot)) {
    if (!listed[face[0]] || !listed[face[1]] || !listed[face[2]]) continue;
    const Vec3 force = load_on_corner(x[face[0]], x[face[1]], x[face[2]], pressure, traction);
    for (const std::uint32_t node : face) entry(slot).node_forces.emplace_back(node, force);
  }
}

void LayeredEngine::set_nodes(std::uint32_t slot, std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  entry(slot).body->set_nodes(positions, velocities);
  entry(slot).set_stale();
}

void LayeredEngine::set_friction(std::uint32_t slot, float friction) { entry(slot).settings.friction = friction; }
void LayeredEngine::set_gravity_scale(std::uint32_t slot, float scale) { entry(slot).settings.gravity_scale = scale; }
void LayeredEngine::set_filter(std::uint32_t slot, CollisionFilter filter) { entry(slot).settings.filter = filter; }

}  // namespace pliant
