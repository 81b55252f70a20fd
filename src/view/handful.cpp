#include "view/handful.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pliant {
namespace {

constexpr float kLift = 30;                         // m/s²: a pull that any body must bear, three times its weight
constexpr float kMostAcceleration = 400;            // m/s², as of rigid bodies
constexpr float kStress = 0.3f;                     // of Young's modulus
constexpr float kSmallest = 0.2f, kLargest = 0.5f;  // radius, of the body's diagonal
constexpr float kMostResponse = 12;                 // of the whole body's
constexpr float kSmallestOfCloth = 0.04f, kMostResponseOfCloth = 15;

const SolidMaterial& material_of(const SolidDef& def, std::size_t tet) {
  const std::int32_t region = tet < def.mesh.regions.size() ? def.mesh.regions[tet] : 0;
  const bool listed = region >= 0 && static_cast<std::size_t>(region) < def.region_materials.size();
  return listed ? def.region_materials[static_cast<std::size_t>(region)] : def.material;
}

/// Each tet gives a quarter of its mass to each of its nodes.
template <typename DensityOf>
std::vector<float> node_masses(const TetMesh& mesh, DensityOf density_of) {
  std::vector<float> out(mesh.nodes.size(), 0);
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    const auto& tet = mesh.tets[t];
    const Vec3 a = mesh.nodes[tet[0]], b = mesh.nodes[tet[1]], c = mesh.nodes[tet[2]];
    const float share = std::abs(dot(cross(b - a, c - a), mesh.nodes[tet[3]] - a)) * density_of(t);
    for (const std::uint32_t node : tet) out[node] += share;
  }
  return out;
}

/// The same by the triangles of a cloth; the nodes of a rope have equal shares.
std::vector<float> node_masses(std::span<const Vec3> nodes, std::span<const Face> faces) {
  std::vector<float> out(nodes.size(), faces.empty() ? 1.0f : 0.0f);
  for (const Face& f : faces) {
    const float share = length(cross(nodes[f[1]] - nodes[f[0]], nodes[f[2]] - nodes[f[0]]));
    for (const std::uint32_t node : f) out[node] += share;
  }
  return out;
}

/// The area, as a disc's with the pull falling off towards its rim, over which the mean stress of a force acts.
float area_of(float radius) { return kPi * radius * radius / 3; }

}  // namespace

Handful::Handful(const SolidDef& def, float mass, Vec3 point)
    : masses_(node_masses(def.mesh, [&](std::size_t tet) { return material_of(def, tet).density; })) {
  choose(def.mesh.nodes, mass, kStress * def.material.young_modulus, point);
}

Handful::Handful(const JellyDef& def, float mass, Vec3 point)
    : masses_(node_masses(def.mesh, [&](std::size_t) { return def.density; })) {
  choose(def.mesh.nodes, mass, kStress * def.young_modulus, point);
}

Handful::Handful(const World& world, BodyId body, float mass, Vec3 point) {
  const std::span<const Vec3> nodes = *world.node_positions(body);
  masses_ = node_masses(nodes, *world.surface_faces(body));
  choose(nodes, mass, std::numeric_limits<float>::infinity(), point);
}

/// Scales the masses so that they add up to `mass`, then takes nodes in a growing ball about the point.
void Handful::choose(std::span<const Vec3> places, float mass, float stress, Vec3 point) {
  const float sum = std::accumulate(masses_.begin(), masses_.end(), 0.0f);
  for (float& m : masses_) m *= mass / sum;
  Aabb box;
  for (const Vec3 place : places) box.include(place);
  // What does not stretch passes a pull on at once: little of it needs to be taken.
  const bool stretches = std::isfinite(stress);
  const float diagonal = length(box.size()), most_response = stretches ? kMostResponse : kMostResponseOfCloth;
  const float needed = std::sqrt(kLift * mass / (stress * area_of(1)));
  radius_ = std::clamp(needed, (stretches ? kSmallest : kSmallestOfCloth) * diagonal, kLargest * diagonal);
  // At a corner, and in a coarse mesh, there is little mass so near: a spring on so little would have to be weak.
  take(places, point);
  while ((nodes_.empty() || response_ * mass > most_response) && radius_ < diagonal) {
    radius_ *= 1.25f;
    take(places, point);
  }
  most_force_ = std::clamp(stress * area_of(radius_), kLift * mass, kMostAcceleration * mass);
}

void Handful::take(std::span<const Vec3> places, Vec3 point) {
  nodes_.clear(), shares_.clear();
  response_ = 0;
  float sum = 0;
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    const float off = 1 - length_squared(places[i] - point) / (radius_ * radius_);
    const float weight = off > 0 ? off * off * masses_[i] : 0;
    if (!(weight > 0)) continue;
    nodes_.push_back(i);
    shares_.push_back(weight);
    sum += weight;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    shares_[i] /= sum;
    response_ += shares_[i] * shares_[i] / masses_[nodes_[i]];
  }
}

Vec3 Handful::velocity(std::span<const Vec3> node_velocities) const {
  Vec3 out;
  for (std::size_t i = 0; i < nodes_.size(); ++i) out += shares_[i] * node_velocities[nodes_[i]];
  return out;
}

void Handful::pull(World& world, BodyId body, Vec3 force) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    world.apply_node_force(body, NodeList{{nodes_[i]}}, shares_[i] * force);
  }
}

Vec3 Handful::angular_momentum(const BodyState& state, std::span<const Vec3> positions,
                               std::span<const Vec3> velocities) const {
  Vec3 out;
  // A cloth that has torn since has more nodes.
  for (std::size_t i = 0; i < std::min(masses_.size(), positions.size()); ++i) {
    out += masses_[i] * cross(positions[i] - state.center_of_mass, velocities[i] - state.velocity);
  }
  return out;
}

}  // namespace pliant
