// Pushing, holding, placing and tying particle bodies.
#include <algorithm>
#include <cmath>

#include "geometry/primitives.h"
#include "geometry/surface_load.h"
#include "math/point_masses.h"
#include "particle/particle_body.h"

namespace pliant {

void ParticleEngine::push_node(std::uint32_t node, Vec3 impulse) {
  Vec4& v = v_[node];
  v.x += impulse.x * v.w, v.y += impulse.y * v.w, v.z += impulse.z * v.w;
}

template <typename Push>
void ParticleEngine::spread(const Body& b, Vec3 linear, Vec3 angular, Push&& push) {
  const RigidFit fit = fit_rigid(positions(b), velocities(b), masses(b));
  const double spin[3] = {static_cast<double>(angular.x), static_cast<double>(angular.y),
                          static_cast<double>(angular.z)};
  const Vec3 turn = turn_of_spin(fit.inertia, spin);
  for (std::uint32_t i = b.first; i < b.first + b.count; ++i) {
    push(i, (linear / static_cast<float>(fit.mass) + cross(turn, x_[i].xyz() - fit.center)) * masses_[i]);
  }
}

/// Calls `push(node, weight)` for the nodes around the point of the surface, or of the rope, that is nearest.
template <typename Push>
void ParticleEngine::at_nearest(const Body& b, Vec3 point, Push&& push) const {
  const TiePoint nearest = nearest_point(b, point);
  const std::array<std::uint32_t, 3> nodes = corners(b, nearest);
  for (std::size_t k = 0; k < 3; ++k) push(nodes[k], nearest.weights[k]);
}

void ParticleEngine::set_transform(std::uint32_t slot, const Transform& world_from_body) {
  Body& b = body(slot);
  const Transform move = world_from_body * state(slot).world_from_body.inverse();
  for (std::uint32_t i = b.first; i < b.first + b.count; ++i) {
    const Vec3 x = move * x_[i].xyz(), v = move.rotation.rotate(v_[i].xyz());
    x_[i] = {x.x, x.y, x.z, x_[i].w}, v_[i] = {v.x, v.y, v.z, v_[i].w};
  }
  meetings_.forget(), rigid_meetings_.forget();
  b.forget_looks();
  b.set_stale();
}

void ParticleEngine::set_velocity(std::uint32_t slot, Vec3 velocity, Vec3 angular_velocity) {
  Body& b = body(slot);
  const Vec3 center = fit_rigid(positions(b), velocities(b), masses(b)).center;
  for (std::uint32_t i = b.first; i < b.first + b.count; ++i) {
    if (v_[i].w <= 0) continue;
    const Vec3 v = velocity + cross(angular_velocity, x_[i].xyz() - center);
    v_[i] = {v.x, v.y, v.z, v_[i].w};
  }
  b.set_stale();
}

void ParticleEngine::add_force(std::uint32_t slot, Vec3 force, Vec3 torque) {
  spread(body(slot), force, torque, [&](std::uint32_t node, Vec3 share) { forces_[node] += share; });
}

void ParticleEngine::add_impulse(std::uint32_t slot, Vec3 impulse, Vec3 angular_impulse) {
  spread(body(slot), impulse, angular_impulse, [&](std::uint32_t node, Vec3 share) { push_node(node, share); });
  body(slot).set_stale();
}

void ParticleEngine::add_force_at(std::uint32_t slot, Vec3 force, Vec3 point) {
  at_nearest(body(slot), point, [&](std::uint32_t node, float weight) { forces_[node] += force * weight; });
}

void ParticleEngine::add_impulse_at(std::uint32_t slot, Vec3 impulse, Vec3 point) {
  at_nearest(body(slot), point, [&](std::uint32_t node, float weight) { push_node(node, impulse * weight); });
  body(slot).set_stale();
}

void ParticleEngine::explode(std::uint32_t slot, const Explosion& explosion) {
  Body& b = body(slot);
  const auto push = [&](std::span<const std::uint32_t> nodes, Vec3 center, float shown) {
    const float distance = length(center - explosion.center);
    if (distance >= explosion.radius) return;
    const float strength = explosion.impulse_per_area * (1 - distance / explosion.radius) * shown;
    const Vec3 impulse = normalized(center - explosion.center, {0, 1, 0}) * strength;
    for (const std::uint32_t node : nodes) push_node(b.first + node, impulse / static_cast<float>(nodes.size()));
  };
  for (const Face& face : b.model->faces) {
    const Vec3 p = x_[b.first + face[0]].xyz(), q = x_[b.first + face[1]].xyz(), r = x_[b.first + face[2]].xyz();
    const Vec3 center = (p + q + r) / 3, area = 0.5f * cross(q - p, r - p);
    // Both sides of a sheet stop the blast.
    push(face, center, std::abs(dot(area, normalized(center - explosion.center, {0, 1, 0}))));
  }
  for (const auto& segment : b.model->segments) {
    const Vec3 p = x_[b.first + segment[0]].xyz(), q = x_[b.first + segment[1]].xyz();
    push(segment, 0.5f * (p + q), 2 * b.model->radius * length(q - p));
  }
  b.set_stale();
}

void ParticleEngine::add_node_force(std::uint32_t slot, std::span<const std::uint32_t> nodes, Vec3 force) {
  for (const std::uint32_t node : nodes) forces_[body(slot).first + node] += force;
}

void ParticleEngine::add_surface_load(std::uint32_t slot, std::span<const std::uint32_t> nodes, float pressure,
                                      Vec3 traction) {
  const Body& b = body(slot);
  std::vector<bool> listed(b.count, false);
  for (const std::uint32_t node : nodes) listed[node] = true;
  for (const Face& face : b.model->faces) {
    if (!listed[face[0]] || !listed[face[1]] || !listed[face[2]]) continue;
    const Vec3 p = x_[b.first + face[0]].xyz(), q = x_[b.first + face[1]].xyz(), r = x_[b.first + face[2]].xyz();
    const Vec3 force = load_on_corner(p, q, r, pressure, traction);
    for (const std::uint32_t node : face) forces_[b.first + node] += force;
  }
}

void ParticleEngine::set_nodes(std::uint32_t slot, std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  Body& b = body(slot);
  for (std::uint32_t i = 0; i < positions.size(); ++i) {
    x_[b.first + i] = {positions[i].x, positions[i].y, positions[i].z, x_[b.first + i].w};
  }
  for (std::uint32_t i = 0; i < velocities.size(); ++i) {
    v_[b.first + i] = {velocities[i].x, velocities[i].y, velocities[i].z, v_[b.first + i].w};
  }
  b.chains.forget_impulses();
  meetings_.forget(), rigid_meetings_.forget();
  b.forget_looks();
  b.set_stale();
}

void ParticleEngine::update_mass(const Body& b, std::uint32_t node) {
  const bool is_free = b.held[node] == 0 && b.anchored[node] == 0;
  v_[b.first + node].w = is_free ? 1 / masses_[b.first + node] : 0;
}

void ParticleEngine::hold(std::uint32_t slot, std::span<const std::uint32_t> nodes, bool is_held) {
  Body& b = body(slot);
  for (const std::uint32_t node : nodes) {
    b.held[node] = is_held ? 1 : 0;
    update_mass(b, node);
    Vec4& v = v_[b.first + node];
    if (is_held) v.x = v.y = v.z = 0;
  }
  b.set_stale();
}

void ParticleEngine::drive(std::uint32_t slot, std::span<const std::uint32_t> nodes, const Transform& world_from_mesh) {
  Body& b = body(slot);
  for (const std::uint32_t node : nodes) {
    if (b.held[node]) b.driven.push_back({node, world_from_mesh * b.model->rest[node]});
  }
}

void ParticleEngine::drive(std::uint32_t slot, std::span<const std::uint32_t> nodes, Vec3 velocity) {
  Body& b = body(slot);
  for (const std::uint32_t node : nodes) {
    if (b.held[node]) v_[b.first + node] = {velocity.x, velocity.y, velocity.z, 0};
  }
}

void ParticleEngine::set_friction(std::uint32_t slot, float friction) { body(slot).settings.friction = friction; }
void ParticleEngine::set_gravity_scale(std::uint32_t slot, float scale) { body(slot).settings.gravity_scale = scale; }
void ParticleEngine::set_filter(std::uint32_t slot, CollisionFilter filter) { body(slot).settings.filter = filter; }

void ParticleEngine::add_anchor(AnchorId id, std::uint32_t slot, std::span<const std::uint32_t> nodes, BodyId to,
                                const Transform& world_from_rigid, float break_force) {
  auto anchor = std::make_unique<Anchor>();
  anchor->id = id, anchor->slot = slot, anchor->to = to, anchor->break_force = break_force;
  const Transform rigid_from_world = to.is_null() ? Transform{} : world_from_rigid.inverse();
  for (const std::uint32_t node : nodes) {
    anchor->nodes.push_back({node, rigid_from_world * x_[body(slot).first + node].xyz()});
  }
  put_anchor(std::move(anchor));
}

void ParticleEngine::put_anchor(std::unique_ptr<Anchor> anchor) {
  const std::uint32_t slot = anchor->id.index;
  if (anchors_.size() <= slot) anchors_.resize(slot + 1);
  anchors_[slot] = std::move(anchor);
}

void ParticleEngine::remove_anchor(std::uint32_t anchor_slot) {
  if (!anchors_[anchor_slot]) return;  // it went with its body
  Anchor& anchor = *anchors_[anchor_slot];
  for (AnchorNode& node : anchor.nodes) {
    if (node.holds_fixed) release_fixed(anchor, node);
  }
  std::erase_if(anchor_rows_, [&](const AnchorRow& row) { return row.anchor == anchor_slot; });
  std::erase_if(tie_rows_, [&](const TieRow& row) { return row.anchor == anchor_slot; });
  std::erase_if(solid_ties_, [&](const SolidTie& tie) { return tie.anchor == anchor_slot; });
  anchors_[anchor_slot].reset();
}

}  // namespace pliant
