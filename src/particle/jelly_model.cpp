// A jelly's model from its def.
#include <cmath>

#include "particle/jelly_builder.h"
#include "particle/particle_model.h"

namespace pliant {
namespace {

/// Sweeps of position-based jelly in each substep. With 2 a bar hangs up to 40 % too long, with 10 it is right.
constexpr int kIterations = 4;
constexpr std::size_t kNodesPerCluster = 100;

/// Shape matching knows no modulus, only how fast it goes to its shape. Of all wobbles of a body the slowest is the one
/// that is seen: that of a bar as long as the body is large, ω = (π/L) √(E/ρ).
float matching_stiffness(const JellyDef& def) {
  const double size = std::cbrt(def.mesh.volume()), h = 1.0 / 240;
  const double omega = 3.14159265 / size * std::sqrt(static_cast<double>(def.young_modulus / def.density));
  const double square = h * h * omega * omega;
  return static_cast<float>(square / (1 + square));
}

}  // namespace

ParticleModel build_model(const JellyDef& def) {
  ParticleModel model;
  model.rest = def.mesh.nodes;
  model.masses = node_masses(def.mesh, def.density);
  std::vector<std::uint32_t> node_of;
  for (Face face : extract_surface(def.mesh, &node_of).faces) {
    for (std::uint32_t& vertex : face) vertex = node_of[vertex];
    model.faces.push_back(face);
  }
  model.radius = 0.5f * def.thickness;

  const JellyMaterial material{def.young_modulus, def.poisson_ratio};
  if (def.method == JellyMethod::MassSpring) {
    MassSpringRest rest = mass_spring_rest(def.mesh, material).value();
    rest.deviation_damping = def.damping;
    rest.tolerance = 1e-4f;  // a body at rest shivers in proportion to it
    model.jelly = std::move(rest);
  } else if (def.method == JellyMethod::PositionBased) {
    PositionBasedRest rest = position_based_rest(def.mesh, material).value();
    rest.deviation_damping = def.damping;
    rest.iterations = kIterations;
    model.jelly = std::move(rest);
  } else {
    ShapeMatchingRest rest = shape_matching_rest(def.mesh, 1 + def.mesh.nodes.size() / kNodesPerCluster).value();
    rest.deviation_damping = def.damping;
    rest.stiffness = matching_stiffness(def);
    model.jelly = std::move(rest);
  }
  return model;
}

}  // namespace pliant
