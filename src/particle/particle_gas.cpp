// The gas in a closed surface.
//
// It keeps the temperature of the air outside, so that p V is constant for its whole pressure p; what pushes is p less
// that outside. In a balloon the whole is some 300 times the difference: the volume hardly changes, and a pressure that
// is put on before the chains are solved is far from what they meet. So the gas is a row over all nodes, implicit in
// the volume, and takes turns with the chains.
#include <algorithm>

#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Of the rest volume; a surface that is turned inside out has no less.
constexpr float kLeastVolume = 0.05f;
/// Of the last impulse, so much is the start of the next solve; like that of the chains.
constexpr float kWarmStart = 0.9f;

bool has_gas(const ParticleModel& model) { return model.pressure != 0 && model.rest_volume > 0; }

float whole_pressure(const ParticleModel& model, float volume) {
  return (model.outside_pressure + model.pressure) * model.rest_volume / volume;
}

}  // namespace

float ParticleEngine::enclosed_volume(const Body& b, std::vector<Vec3>* outward) const {
  if (outward) outward->assign(b.count, {});
  double volume = 0;
  const Vec3 origin = x_[b.first].xyz();
  for (const Face& face : b.model->faces) {
    const Vec3 p = x_[b.first + face[0]].xyz() - origin, q = x_[b.first + face[1]].xyz() - origin,
               r = x_[b.first + face[2]].xyz() - origin;
    volume += static_cast<double>(dot(p, cross(q, r))) / 6;
    if (!outward) continue;
    // The volume grows with a node by a third of the area vectors around it.
    const Vec3 share = cross(q - p, r - p) / 6;
    for (const std::uint32_t node : face) (*outward)[node] += share;
  }
  return static_cast<float>(volume);
}

// With the pressure p at the volume now, its slope s = −dp/dV and the growth g = Σ outwardᵢ · vᵢ, the impulse over h is
// λ = h (p − s h g): the row g + λ/(s h²) = p/(s h).
void ParticleEngine::begin_gas(Body& b, float h) {
  const ParticleModel& model = *b.model;
  if (!has_gas(model)) return;
  const float volume = std::max(enclosed_volume(b, &b.outward), kLeastVolume * model.rest_volume);
  const float whole = whole_pressure(model, volume), slope = whole / volume;
  b.gas_target = (whole - model.outside_pressure) / (slope * h);
  b.gas_softness = 1 / (slope * h * h);
  b.gas_diagonal = b.gas_softness;
  float& impulse = b.settings.gas_impulse;
  impulse *= kWarmStart;
  for (std::uint32_t i = 0; i < b.count; ++i) {
    b.gas_diagonal += dot(b.outward[i], b.outward[i]) * v_[b.first + i].w;
    push_node(b.first + i, b.outward[i] * impulse);
  }
}

void ParticleEngine::solve_gas(Body& b) {
  if (!has_gas(*b.model)) return;
  double growth = 0;
  for (std::uint32_t i = 0; i < b.count; ++i) {
    growth += static_cast<double>(dot(b.outward[i], v_[b.first + i].xyz()));
  }
  float& impulse = b.settings.gas_impulse;
  const float change = (b.gas_target - static_cast<float>(growth) - b.gas_softness * impulse) / b.gas_diagonal;
  impulse += change;
  for (std::uint32_t i = 0; i < b.count; ++i) push_node(b.first + i, b.outward[i] * change);
}

std::optional<GasState> ParticleEngine::gas(std::uint32_t slot) const {
  const Body& b = body(slot);
  if (!has_gas(*b.model)) return {};
  const float volume = enclosed_volume(b, nullptr);
  const float held = std::max(volume, kLeastVolume * b.model->rest_volume);
  return GasState{.pressure = whole_pressure(*b.model, held) - b.model->outside_pressure, .volume = volume};
}

}  // namespace pliant
