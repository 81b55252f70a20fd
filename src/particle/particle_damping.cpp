// Damping of bodies that are not free: that are held, carry rigid bodies, or have torn.
//
// What is damped is the motion of nodes beside that of the body as a whole. Of what is held that is only what the held
// nodes leave free: about one of them it turns, about two of them too, and beyond that it has none. So a pendulum is
// not braked, but a bridge that swings up and down between its banks is; taken as a free body it would swing on, as its
// planks go up and down together. A node that is anchored to a rigid body stands for its share of it here too: of a
// rope of 5 kg that carries 400 kg else only the 5 kg would be braked.
#include <algorithm>
#include <cmath>

#include "math/point_masses.h"
#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Of the body's, so heavy is a held node in the motion as a whole: the fit then goes with it.
constexpr float kHeldMass = 1e3f;

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
  const auto piece_of = [&](std::uint32_t i) { return model.piece_count > 1 ? model.pieces[i] : 0; };
  std::vector<std::uint32_t> order(b.count), starts(model.piece_count + 1, 0);
  for (std::uint32_t i = 0; i < b.count; ++i) ++starts[piece_of(i) + 1];
  for (std::uint32_t piece = 0; piece < model.piece_count; ++piece) starts[piece + 1] += starts[piece];
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  for (std::uint32_t i = 0; i < b.count; ++i) order[next[piece_of(i)]++] = b.first + i;
  float total = 0;
  for (const float mass : masses(b)) total += mass;
  const float keep = std::exp(-model.damping * dt);
  DampedNodes nodes;
  for (std::uint32_t piece = 0; piece < model.piece_count; ++piece) {
    nodes.clear();
    for (std::uint32_t k = starts[piece]; k < starts[piece + 1]; ++k) {
      const Vec4 &x = x_[order[k]], &v = v_[order[k]];
      nodes.add(x, v, v.w > 0 ? 1 / v.w : kHeldMass * total);
    }
    nodes.damp(keep);
    for (std::uint32_t k = starts[piece]; k < starts[piece + 1]; ++k) v_[order[k]] = nodes.v[k - starts[piece]];
  }
}

bool ParticleEngine::has_held_nodes(const Body& b) const {
  const std::span<const Vec4> v = velocities(b);
  return std::any_of(v.begin(), v.end(), [](const Vec4& node) { return node.w <= 0; });
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
    damp_pieces(b, h);
  }
}

}  // namespace pliant
