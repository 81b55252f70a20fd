#include "view/handful.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant {
namespace {

constexpr float kLift = 30;                         // m/s²: a pull that any body must bear, three times its weight
constexpr float kMostAcceleration = 400;            // m/s², as of rigid bodies
constexpr float kStress = 0.3f;                     // of Young's modulus
constexpr float kSmallest = 0.2f, kLargest = 0.5f;  // radius, of the body's diagonal
constexpr float kMostResponse = 12;                 // of the whole body's

const SolidMaterial& material_of(const SolidDef& def, std::size_t tet) {
  const std::int32_t region = tet < def.mesh.regions.size() ? def.mesh.regions[tet] : 0;
  const bool listed = region >= 0 && static_cast<std::size_t>(region) < def.region_materials.size();
  return listed ? def.region_materials[static_cast<std::size_t>(region)] : def.material;
}

/// Each tet gives a quarter of its mass to each of its nodes; all of them add up to `mass`.
std::vector<float> node_masses(const SolidDef& def, float mass) {
  std::vector<float> out(def.mesh.nodes.size(), 0);
  for (std::size_t t = 0; t < def.mesh.tets.size(); ++t) {
    const auto& tet = def.mesh.tets[t];
    const Vec3 a = def.mesh.nodes[tet[0]], b = def.mesh.nodes[tet[1]], c = def.mesh.nodes[tet[2]];
    const float share = std::abs(dot(cross(b - a, c - a), def.mesh.nodes[tet[3]] - a)) * material_of(def, t).density;
    for (const std::uint32_t node : tet) out[node] += share;
  }
  const float sum = std::accumulate(out.begin(), out.end(), 0.0f);
  for (float& m : out) m *= mass / sum;
  return out;
}

/// The area, as a disc's with the pull falling off towards its rim, over which the mean stress of a force acts.
float area_of(float radius) { return kPi * radius * radius / 3; }

}  // namespace

Handful::Handful(const SolidDef& def, float mass, Vec3 point) : masses_(node_masses(def, mass)) {
  Aabb box;
  for (const Vec3 node : def.mesh.nodes) box.include(node);
  const float diagonal = length(box.size()), stress = kStress * def.material.young_modulus;
  const float needed = std::sqrt(kLift * mass / (stress * area_of(1)));
  radius_ = std::clamp(needed, kSmallest * diagonal, kLargest * diagonal);
  // At a corner, and in a coarse mesh, there is little mass so near: a spring on so little would have to be weak.
  take(def.mesh, point);
  while ((nodes_.empty() || response_ * mass > kMostResponse) && radius_ < diagonal) {
    radius_ *= 1.25f;
    take(def.mesh, point);
  }
  most_force_ = std::clamp(stress * area_of(radius_), kLift * mass, kMostAcceleration * mass);
}

void Handful::take(const TetMesh& mesh, Vec3 point) {
  nodes_.clear(), shares_.clear();
  response_ = 0;
  float sum = 0;
  for (std::uint32_t i = 0; i < mesh.nodes.size(); ++i) {
    const float off = 1 - length_squared(mesh.nodes[i] - point) / (radius_ * radius_);
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
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    out += masses_[i] * cross(positions[i] - state.center_of_mass, velocities[i] - state.velocity);
  }
  return out;
}

}  // namespace pliant
