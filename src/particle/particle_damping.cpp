// Damping of bodies that are not free: that are held, carry rigid bodies, or have torn.
//
// What is damped is the motion of nodes beside that of the body as a whole. Of what is held that is only what the held
// nodes leave free: about one of them it turns, about two of them too, and beyond that it has none. So a pendulum is
// not braked, but a bridge that swings up and down between its banks is; taken as a free body it would swing on, as its
// planks go up and down together. A node that is anchored to a rigid body stands for its share of it here too: of a
// rope of 5 kg that carries 400 kg else only the 5 kg would be braked.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/point_masses.h"
#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Of the body's, so heavy is a held node in the motion as a whole: the fit then goes with it.
constexpr float kHeldMass = 1e3f;

/// Scales what in the velocities of some nodes deviates from their motion as a whole. Held nodes stay as they are.
void damp(std::span<const Vec4> x, std::span<Vec4> v, std::span<const float> masses, float keep) {
  const RigidFit fit = fit_rigid(x, v, masses);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (v[i].w <= 0) continue;
    const Vec3 whole = fit.velocity + cross(fit.angular_velocity, x[i].xyz() - fit.center);
    const Vec3 damped = whole + (v[i].xyz() - whole) * keep;
    v[i] = {damped.x, damped.y, damped.z, v[i].w};
  }
}

}  // namespace

/// Each piece has a motion of its own as a whole.
void ParticleEngine::damp_pieces(Body& b, float dt) {
  float total = 0;
  for (const float mass : masses(b)) total += mass;
  const float keep = std::exp(-b.model->damping * dt);
  const auto mass_of = [&](const Vec4& v) { return v.w > 0 ? 1 / v.w : kHeldMass * total; };
  auto& [x, v, piece_masses, order, ends] = damped_;
  if (b.model->piece_count == 1) {
    piece_masses.clear();
    for (const Vec4& node : velocities(b)) piece_masses.push_back(mass_of(node));
    return damp(positions(b), velocities(b), piece_masses, keep);
  }
  sort_by_piece(b);
  std::uint32_t begin = 0;
  for (const std::uint32_t end : ends) {
    x.clear(), v.clear(), piece_masses.clear();
    for (std::uint32_t k = begin; k < end; ++k) {
      x.push_back(x_[order[k]]), v.push_back(v_[order[k]]), piece_masses.push_back(mass_of(v_[order[k]]));
    }
    damp(x, v, piece_masses, keep);
    for (std::uint32_t k = begin; k < end; ++k) v_[order[k]] = v[k - begin];
    begin = end;
  }
}

void ParticleEngine::sort_by_piece(const Body& b) {
  const std::vector<std::uint32_t>& pieces = b.model->pieces;
  std::vector<std::uint32_t>& ends = damped_.ends;
  ends.assign(b.model->piece_count, 0);
  for (const std::uint32_t piece : pieces) ++ends[piece];
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), 0u);
  // Where each piece begins, until its nodes have moved that to where it ends.
  damped_.order.resize(b.count);
  for (std::uint32_t i = 0; i < b.count; ++i) damped_.order[ends[pieces[i]]++] = b.first + i;
}

bool ParticleEngine::has_held_nodes(const Body& b) const {
  const std::span<const Vec4> v = velocities(b);
  return std::any_of(v.begin(), v.end(), [](const Vec4& node) { return node.w <= 0; });
}

bool ParticleEngine::carries_rigid(const Body& b) const {
  return std::any_of(anchors_.begin(), anchors_.end(), [&](const auto& anchor) {
    return anchor && anchor->slot == b.id.index && anchor->kind == AnchorKind::Rigid && !anchor->to.is_null() &&
           !anchor->nodes.empty() && !anchor->nodes[0].holds_fixed;
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
