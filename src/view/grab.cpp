#include "view/grab.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

// The spring alone would swing 2.5 times a second; it is damped so that it does not swing at all.
constexpr float kFrequency = 2 * kPi * 2.5f;  // rad/s
constexpr float kMostAcceleration = 400;      // m/s²: through a wall is no way
constexpr float kSpinDrag = 2;                // 1/s: what is held neither whirls nor swings for long

Mat3 inverse(const Mat3& a) {
  const Vec3 c0 = cross(a.rows[1], a.rows[2]), c1 = cross(a.rows[2], a.rows[0]), c2 = cross(a.rows[0], a.rows[1]);
  const float det = dot(a.rows[0], c0);
  Mat3 out;
  for (std::size_t r = 0; r < 3; ++r) out.rows[r] = Vec3{c0[r], c1[r], c2[r]} / det;
  return out;
}

/// The body's mass and inertia, where it is rigid and has them.
std::optional<MassProperties> mass_of(const World& world, BodyId body) {
  const Result<const RigidDef*> found = world.def(body);
  if (!found) return std::nullopt;
  const RigidDef& def = **found;
  if (def.mass_properties) return def.mass_properties;
  Result<MassProperties> out = mass_properties(def.shape, def.density);
  if (!out) return std::nullopt;
  const float scale = def.mass.value_or(out->mass) / out->mass;
  out->mass *= scale;
  for (Vec3& row : out->inertia.rows) row *= scale;
  return *out;
}

Vec3 to_world(const Quat& world_from_body, const Mat3& m, Vec3 v) {
  return world_from_body.rotate(m * world_from_body.conjugate().rotate(v));
}

Vec3 limited(Vec3 force, float most) {
  const float much = length(force);
  return much > most ? force * (most / much) : force;
}

/// The three vertices of the face nearest to `p`, with the shares that make up its nearest point.
SurfacePoint on_nearest_face(const RenderSurface& surface, Vec3 p) {
  SurfacePoint out;
  float nearest = std::numeric_limits<float>::max();
  for (const Face& face : surface.mesh->faces) {
    const Vec3 a = surface.vertex(face[0]), ab = surface.vertex(face[1]) - a, ac = surface.vertex(face[2]) - a;
    const Vec3 normal = cross(ab, ac);
    const float area = dot(normal, normal);
    if (!(area > 0)) continue;
    std::array<float, 3> w{};
    w[1] = std::clamp(dot(cross(p - a, ac), normal) / area, 0.0f, 1.0f);
    w[2] = std::clamp(dot(cross(ab, p - a), normal) / area, 0.0f, 1.0f - w[1]);
    w[0] = 1 - w[1] - w[2];
    const float distance = length_squared(a + w[1] * ab + w[2] * ac - p);
    if (distance >= nearest) continue;
    nearest = distance;
    out.nodes = {face[0], face[1], face[2]};
    out.weights = w;
  }
  return out;
}

}  // namespace

SurfacePoint SurfacePoint::at(const RenderSurface& surface, Vec3 world) {
  SurfacePoint out = surface.deforms() ? on_nearest_face(surface, world) : SurfacePoint{};
  out.body = surface.body;
  out.local = surface.world_from_body.inverse() * world;
  return out;
}

Vec3 SurfacePoint::rest_position(const RenderSurface& surface) const {
  if (!surface.deforms()) return local;
  Vec3 out;
  for (std::size_t i = 0; i < 3; ++i) out += weights[i] * surface.mesh->vertices[nodes[i]];
  return out;
}

bool SurfacePoint::is_on(const RenderSurface& surface) const {
  const std::size_t count = surface.mesh->vertices.size();
  return !surface.deforms() || (nodes[0] < count && nodes[1] < count && nodes[2] < count);
}

Vec3 SurfacePoint::position(const RenderSurface& surface) const {
  if (!surface.deforms()) return surface.world_from_body * local;
  if (!is_on(surface)) return surface.center_of_mass;
  Vec3 out;
  for (std::size_t i = 0; i < 3; ++i) out += weights[i] * surface.vertex(nodes[i]);
  return out;
}

Vec3 SurfacePoint::velocity(const RenderSurface& surface) const {
  if (!surface.deforms()) {
    return surface.velocity + cross(surface.angular_velocity, position(surface) - surface.center_of_mass);
  }
  Vec3 out;
  if (!is_on(surface)) return surface.velocity;
  for (std::size_t i = 0; i < 3; ++i) out += weights[i] * surface.vertex_velocity(nodes[i]);
  return out;
}

Mat3 response_at(const World& world, BodyId body, Vec3 point) {
  const Result<BodyState> state = world.state(body);
  Mat3 out;
  const float inverse_mass = state && state->mass > 0 ? 1 / state->mass : 0;
  for (std::size_t i = 0; i < 3; ++i) {
    out.rows[i] = {};
    out(i, i) = inverse_mass;
  }
  const std::optional<MassProperties> mass = state ? mass_of(world, body) : std::nullopt;
  if (!mass) return out;
  const Mat3 inverse_inertia = inverse(mass->inertia);
  const Vec3 arm = point - state->center_of_mass;
  for (std::size_t column = 0; column < 3; ++column) {  // what an impulse along each axis does
    Vec3 axis;
    axis[column] = 1;
    const Vec3 spin = to_world(state->world_from_body.rotation, inverse_inertia, cross(arm, axis));
    const Vec3 velocity = cross(spin, arm);
    for (std::size_t row = 0; row < 3; ++row) out(row, column) += velocity[row];
  }
  return out;
}

Grab::Grab(const World& world, const RenderSurface& surface, Vec3 position)
    : point_(SurfacePoint::at(surface, position)), target_(point_.position(surface)) {
  const Result<BodyState> state = world.state(point_.body);
  if (!state || !(state->mass > 0)) return;
  if (const Result<const SolidDef*> solid = world.solid_def(point_.body)) {
    handful_.emplace(**solid, state->mass, point_.rest_position(surface));
  } else if (world.layered_def(point_.body)) {
    handful_.emplace(world, point_.body, state->mass, target_);
  } else if (const Result<const ParticleDef*> particle = world.particle_def(point_.body)) {
    if (const auto* jelly = std::get_if<JellyDef>(*particle)) {
      handful_.emplace(*jelly, state->mass, point_.rest_position(surface));
    } else {
      handful_.emplace(world, point_.body, state->mass, target_);
    }
  }
}

void Grab::pull_to(Vec3 target) {
  if (is_finite(target)) target_ = target;
}

void Grab::apply(World& world, const RenderSurface& surface, float dt) const {
  const Result<BodyState> state = world.state(point_.body);
  if (!state || !(state->mass > 0) || state->quarantined) return;
  const Vec3 x = point_.position(surface);
  if (handful_) {
    pull_nodes(world, *state, x, dt);
  } else {
    pull_rigid(world, *state, x, point_.velocity(surface), dt);
  }
}

void Grab::pull_rigid(World& world, const BodyState& state, Vec3 x, Vec3 v, float dt) const {
  const float k = state.mass * kFrequency * kFrequency, c = 2 * state.mass * kFrequency;
  // With the velocity at the end of the step, v + K J:  J = dt (k (target - x - dt (v + K J)) - c (v + K J)).
  Mat3 system = response_at(world, point_.body, x);
  for (std::size_t i = 0; i < 3; ++i) {
    system.rows[i] *= c * dt + k * dt * dt;
    system(i, i) += 1;
  }
  const Vec3 force = limited(inverse(system) * (k * (target_ - x - dt * v) - c * v), kMostAcceleration * state.mass);
  if (!is_finite(force)) return;
  world.apply_force(point_.body, force, x);
  if (const std::optional<MassProperties> mass = mass_of(world, point_.body)) {
    drag(world, state, to_world(state.world_from_body.rotation, mass->inertia, state.angular_velocity), x, dt);
  }
}

/// The spring carries the whole body but meets only a handful of it, which answers more: K, 1/kg. Damped for that of
/// the body's mass and 1/K in the middle, it neither swings much nor is weakened much by the implicit step.
void Grab::pull_nodes(World& world, const BodyState& state, Vec3 x, float dt) const {
  const Result<std::span<const Vec3>> positions = world.node_positions(point_.body);
  const Result<std::span<const Vec3>> velocities = world.node_velocities(point_.body);
  if (!positions || !velocities || positions->size() != handful_->body_node_count()) return;  // it broke
  const Vec3 v = handful_->velocity(*velocities);
  const float response = handful_->response();
  const float k = state.mass * kFrequency * kFrequency, c = 2 * std::sqrt(state.mass / response) * kFrequency;
  const Vec3 wanted = (k * (target_ - x - dt * v) - c * v) / (1 + response * (c * dt + k * dt * dt));
  const Vec3 force = limited(wanted, handful_->most_force());
  if (!is_finite(force)) return;
  const Vec3 spin = handful_->angular_momentum(state, *positions, *velocities);
  handful_->pull(world, point_.body, force);
  drag(world, state, spin, x, dt);
}

/// Takes from the spin as much as would slow a swing about the held point by `kSpinDrag`.
void Grab::drag(World& world, const BodyState& state, Vec3 spin, Vec3 held, float dt) const {
  const Vec3 w = state.angular_velocity;
  const float own = dot(w, spin), swing = state.mass * length_squared(cross(w, held - state.center_of_mass));
  if (!(own > 0) || !is_finite(spin) || !std::isfinite(swing)) return;
  const float lost = 1 - std::exp(-kSpinDrag * dt * (1 + swing / own));
  world.apply_angular_impulse(point_.body, -lost * spin);
}

}  // namespace pliant
