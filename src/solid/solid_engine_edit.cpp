// Pushing, holding and placing solids.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "geometry/blast.h"
#include "geometry/primitives.h"
#include "geometry/surface_load.h"
#include "solid/solid_engine_entry.h"
#include "solid/solid_measures.h"

namespace pliant {
namespace {

/// The surface triangle nearest to a point, and the weights of its nodes there.
struct SurfacePoint {
  Face face{};
  Vec3 weights{};
};

SurfacePoint nearest_surface_point(const SolidEngine::Entry& solid, Vec3 point) {
  SurfacePoint nearest;
  float best = std::numeric_limits<float>::max();
  for (const Face& face : solid.faces) {
    const Vec3 a = solid.body->position(face[0]), b = solid.body->position(face[1]), c = solid.body->position(face[2]);
    const TrianglePoint closest = closest_on_triangle(point, a, b, c);
    if (closest.squared_distance >= best) continue;
    best = closest.squared_distance;
    nearest = {face, closest.weights};
  }
  return nearest;
}

/// Calls `push(node, share)` so that the shares of all nodes of the body are those of `linear` at the centre of mass
/// and of `angular` about it.
template <typename Push>
void spread(const SolidBody& body, Vec3 linear, Vec3 angular, Push&& push) {
  const BodyState fit = rigid_fit(body);
  const Vec3 turn = turn_of_spin(body, angular);
  for (std::uint32_t i = 0; i < body.node_count(); ++i) {
    if (body.mass(i) <= 0) continue;
    const Vec3 velocity = linear / fit.mass + cross(turn, body.position(i) - fit.center_of_mass);
    push(i, velocity * body.mass(i));
  }
}

void push_node(SolidBody& body, std::uint32_t node, Vec3 impulse) {
  if (body.is_held(node) || body.mass(node) <= 0) return;
  body.set_velocity(node, body.velocity(node) + impulse / body.mass(node));
}

}  // namespace

void SolidEngine::set_transform(std::uint32_t slot, const Transform& world_from_body) {
  Entry& solid = entry(slot);
  const Transform move = world_from_body * rigid_fit(*solid.body).world_from_body.inverse();
  for (std::uint32_t i = 0; i < solid.body->node_count(); ++i) {
    solid.body->set_position(i, move * solid.body->position(i));
    solid.body->set_velocity(i, move.rotation.rotate(solid.body->velocity(i)));
  }
  SolidState& state = solid.body->state();
  state.touches.clear();
  std::fill(state.change.floats().begin(), state.change.floats().end(), 0.0f);
  solid.set_stale();
}

void SolidEngine::set_velocity(std::uint32_t slot, Vec3 velocity, Vec3 angular_velocity) {
  Entry& solid = entry(slot);
  const Vec3 center = rigid_fit(*solid.body).center_of_mass;
  for (std::uint32_t i = 0; i < solid.body->node_count(); ++i) {
    if (solid.body->is_held(i)) continue;
    solid.body->set_velocity(i, velocity + cross(angular_velocity, solid.body->position(i) - center));
  }
  solid.set_stale();
}

void SolidEngine::add_force(std::uint32_t slot, Vec3 force, Vec3 torque) {
  SolidBody& body = *entry(slot).body;
  spread(body, force, torque, [&](std::uint32_t node, Vec3 share) { body.add_force(node, share); });
}

void SolidEngine::add_impulse(std::uint32_t slot, Vec3 impulse, Vec3 angular_impulse) {
  SolidBody& body = *entry(slot).body;
  spread(body, impulse, angular_impulse, [&](std::uint32_t node, Vec3 share) { push_node(body, node, share); });
  entry(slot).set_stale();
}

void SolidEngine::add_force_at(std::uint32_t slot, Vec3 force, Vec3 point) {
  const SurfacePoint at = nearest_surface_point(entry(slot), point);
  for (std::size_t k = 0; k < 3; ++k) entry(slot).body->add_force(at.face[k], force * at.weights[k]);
}

void SolidEngine::add_impulse_at(std::uint32_t slot, Vec3 impulse, Vec3 point) {
  const SurfacePoint at = nearest_surface_point(entry(slot), point);
  for (std::size_t k = 0; k < 3; ++k) push_node(*entry(slot).body, at.face[k], impulse * at.weights[k]);
  entry(slot).set_stale();
}

void SolidEngine::explode(std::uint32_t slot, const Explosion& explosion) {
  Entry& solid = entry(slot);
  SolidBody& body = *solid.body;
  for (const Face& face : solid.faces) {
    const Vec3 push =
        blast_on_face(explosion, body.position(face[0]), body.position(face[1]), body.position(face[2])) / 3;
    if (push == Vec3{}) continue;
    for (const std::uint32_t node : face) push_node(body, node, push);
  }
  solid.set_stale();
}

/// The air in front of each face that moves against it takes its momentum. It acts as forces, so that the solver
/// spreads them over the body: taken from the velocities of the nodes, there would soon be nothing to take from light
/// ones.
void SolidEngine::drag(Entry& solid, Vec3 wind, float dt) {
  const float density = solid.body->def().drag;
  if (density <= 0) return;
  SolidBody& body = *solid.body;
  for (const DragForce& last : solid.drag) body.add_force(last.node, -last.force);  // that of the substep before
  solid.drag.clear();
  Vec3 total;
  for (const Face& face : solid.faces) {
    const Vec3 a = body.position(face[0]), b = body.position(face[1]), c = body.position(face[2]);
    const Vec3 area = 0.5f * cross(b - a, c - a), normal = normalized(area);
    const Vec3 velocity = (body.velocity(face[0]) + body.velocity(face[1]) + body.velocity(face[2])) / 3;
    const float against = dot(velocity - wind, normal);
    if (against <= 0) continue;
    const Vec3 force = normal * (-0.5f * density * length(area) * against * against);
    total += force;
    for (const std::uint32_t node : face) solid.drag.push_back({node, force / 3});
  }
  // Never more than half of what the body has against the air, or thick air would throw it back.
  const BodyState fit = rigid_fit(body);
  const float most = 0.5f * fit.mass * length(fit.velocity - wind) / dt;
  const float share = length(total) > most ? most / length(total) : 1;
  for (DragForce& force : solid.drag) {
    force.force *= share;
    body.add_force(force.node, force.force);
  }
}

void SolidEngine::add_node_force(std::uint32_t slot, std::span<const std::uint32_t> nodes, Vec3 force) {
  for (const std::uint32_t node : nodes) entry(slot).body->add_force(node, force);
}

void SolidEngine::add_surface_load(std::uint32_t slot, std::span<const std::uint32_t> nodes, float pressure,
                                   Vec3 traction) {
  Entry& solid = entry(slot);
  std::vector<bool> listed(solid.body->node_count(), false);
  for (const std::uint32_t node : nodes) listed[node] = true;
  for (const Face& face : solid.faces) {
    if (!listed[face[0]] || !listed[face[1]] || !listed[face[2]]) continue;
    const Vec3 a = solid.body->position(face[0]), b = solid.body->position(face[1]), c = solid.body->position(face[2]);
    const Vec3 force = load_on_corner(a, b, c, pressure, traction);
    for (const std::uint32_t node : face) solid.body->add_force(node, force);
  }
}

void SolidEngine::set_nodes(std::uint32_t slot, std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  Entry& solid = entry(slot);
  for (std::uint32_t i = 0; i < positions.size(); ++i) solid.body->set_position(i, positions[i]);
  for (std::uint32_t i = 0; i < velocities.size(); ++i) solid.body->set_velocity(i, velocities[i]);
  SolidState& state = solid.body->state();
  state.touches.clear();
  std::fill(state.change.floats().begin(), state.change.floats().end(), 0.0f);
  solid.set_stale();
}

void SolidEngine::hold(std::uint32_t slot, std::span<const std::uint32_t> nodes, bool is_held) {
  for (const std::uint32_t node : nodes) entry(slot).body->hold(node, is_held);
}

void SolidEngine::drive(std::uint32_t slot, std::span<const std::uint32_t> nodes, const Transform& world_from_mesh) {
  Entry& solid = entry(slot);
  for (const std::uint32_t node : nodes) {
    solid.driven.push_back({node, world_from_mesh * solid.body->def().mesh.nodes[node]});
  }
}

void SolidEngine::drive(std::uint32_t slot, std::span<const std::uint32_t> nodes, Vec3 velocity) {
  for (const std::uint32_t node : nodes) entry(slot).body->set_held_velocity(node, velocity);
}

void SolidEngine::set_friction(std::uint32_t slot, float friction) { entry(slot).settings.friction = friction; }
void SolidEngine::set_gravity_scale(std::uint32_t slot, float scale) { entry(slot).settings.gravity_scale = scale; }
void SolidEngine::set_filter(std::uint32_t slot, CollisionFilter filter) { entry(slot).settings.filter = filter; }

}  // namespace pliant
