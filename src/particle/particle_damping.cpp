// Damping of bodies that do not move as one: that have torn, or that carry rigid bodies.
//
// What is damped is the motion of nodes beside that of the body as a whole. A node that is anchored to a rigid body
// stands for its share of it here too: a rope of 5 kg that carries 400 kg would else swing on for ever, as only its own
// 5 kg are braked.
#include <algorithm>
#include <cmath>

#include "math/point_masses.h"
#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Scales what in the velocities of some nodes deviates from their motion as a whole. Held nodes stay as they are.
struct DampedNodes {
  std::vector<Vec4> x, v;
  std::vector<float> masses;

  void clear() { x.clear(), v.clear(), masses.clear(); }
  void add(const Vec4& position, const Vec4& velocity, float mass) {
    x.push_back(position), v.push_back(velocity), masses.push_back(mass);
  }
  void damp(float keep) {
    const RigidFit fit = fit_rigid(x, v, masses);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (v[i].w <= 0) continue;
      const Vec3 whole = fit.velocity + cross(fit.angular_velocity, x[i].xyz() - fit.center);
      const Vec3 damped = whole + (v[i].xyz() - whole) * keep;
      v[i] = {damped.x, damped.y, damped.z, v[i].w};
    }
  }
};

}  // namespace

/// Each piece has a motion of its own as a whole.
void ParticleEngine::damp_pieces(Body& b, float dt) {
  const ParticleModel& model = *b.model;
  std::vector<std::uint32_t> order(b.count), starts(model.piece_count + 1, 0);
  for (const std::uint32_t piece : model.pieces) ++starts[piece + 1];
  for (std::uint32_t piece = 0; piece < model.piece_count; ++piece) starts[piece + 1] += starts[piece];
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  for (std::uint32_t i = 0; i < b.count; ++i) order[next[model.pieces[i]]++] = b.first + i;
  const float keep = std::exp(-model.damping * dt);
  DampedNodes nodes;
  for (std::uint32_t piece = 0; piece < model.piece_count; ++piece) {
    nodes.clear();
    for (std::uint32_t k = starts[piece]; k < starts[piece + 1]; ++k) {
      const std::uint32_t i = order[k];
      nodes.add(x_[i], v_[i], v_[i].w > 0 ? 1 / v_[i].w : masses_[i]);
    }
    nodes.damp(keep);
    for (std::uint32_t k = starts[piece]; k < starts[piece + 1]; ++k) v_[order[k]] = nodes.v[k - starts[piece]];
  }
}

bool ParticleEngine::carries_rigid(const Body& b) const {
  return std::any_of(anchors_.begin(), anchors_.end(), [&](const auto& anchor) {
    return anchor && anchor->slot == b.id.index && !anchor->is_tie && !anchor->to.is_null() && !anchor->nodes.empty() &&
           !anchor->nodes[0].holds_fixed;
  });
}

/// While masses are shared (`begin_sharing`).
void ParticleEngine::damp_carriers(float h) {
  for (const std::uint32_t slot : slots_) {
    Body& b = body(slot);
    if (!b.is_active() || b.model->damping <= 0 || !carries_rigid(b)) continue;
    if (b.model->piece_count > 1) {
      damp_pieces(b, h);
      continue;
    }
    DampedNodes nodes;
    for (std::uint32_t i = b.first; i < b.first + b.count; ++i) {
      nodes.add(x_[i], v_[i], v_[i].w > 0 ? 1 / v_[i].w : masses_[i]);
    }
    nodes.damp(std::exp(-b.model->damping * h));
    std::copy(nodes.v.begin(), nodes.v.end(), v_.begin() + b.first);
  }
}

}  // namespace pliant
