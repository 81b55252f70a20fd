// Where bodies tear, and what becomes of their nodes.
#include <algorithm>

#include "particle/particle_body.h"
#include "particle/tear.h"

namespace pliant {
namespace {

struct Overload {
  float times;  ///< the force over the strength
  float force;
  std::uint32_t a, b;
};

/// The heaviest first.
std::vector<Overload> find_overloads(const ParticleModel& model, const Chains& chains, float h) {
  std::vector<Overload> found;
  for (std::size_t line = 0; line < model.lines.size(); ++line) {
    const ChainLine& chain = model.lines[line];
    for (std::size_t k = 0; k < chain.strengths.size(); ++k) {
      const float force = -chains.impulse(line, k) / h;
      if (force > chain.strengths[k]) {
        found.push_back({force / chain.strengths[k], force, chain.nodes[k], chain.nodes[k + 1]});
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Overload& l, const Overload& r) { return l.times > r.times; });
  return found;
}

/// Impulses of the rows as they were, for the rows as they are: each element at an edge keeps its part.
void carry_impulses(const ParticleModel& before, const Chains& from, const ParticleModel& now, Chains& to) {
  std::vector<std::vector<float>> sharers(before.lines.size());
  for (std::size_t line = 0; line < before.lines.size(); ++line)
    sharers[line].resize(before.lines[line].lengths.size());
  for (const auto [line, segment] : before.chain_rows) sharers[line][segment] += 1;
  for (std::size_t i = 0; i < before.chain_rows.size(); ++i) {
    const auto [line, segment] = before.chain_rows[i];
    const auto [new_line, new_segment] = now.chain_rows[i];
    const float part = from.impulse(line, segment) / sharers[line][segment];
    to.set_impulse(new_line, new_segment, to.impulse(new_line, new_segment) + part);
  }
}

}  // namespace

void ParticleEngine::settle(float h, std::vector<Tear>& tears) {
  for (const std::uint32_t slot : slots_) {
    if (body(slot).is_active() && body(slot).model->tear) tear(body(slot), h, tears);
  }
}

/// Held, or anchored to anything: where something is fastened it stays fastened, and what hangs on it tears beside it.
bool ParticleEngine::is_attached(const Body& b, std::uint32_t node) const {
  if (b.held[node] || b.anchored[node]) return true;
  return std::any_of(ties_.begin(), ties_.end(), [&](const auto& tie) { return tie.first == b.first + node; });
}

/// The segments that are pulled most, but none beside another: what one tear leaves to its neighbours is known only in
/// the next substep.
void ParticleEngine::tear(Body& b, float h, std::vector<Tear>& tears) {
  const std::vector<Overload> overloads = find_overloads(*b.model, b.chains, h);
  if (overloads.empty()) return;
  MeshTear mesh(*b.model);
  std::vector<std::uint8_t> is_near(b.capacity, 0);
  for (const Overload& overload : overloads) {
    if (is_near[overload.a] || is_near[overload.b]) continue;
    std::array<std::uint32_t, 2> ends{overload.a, overload.b};
    // A tear goes on from a rim rather than that a new one begins.
    if (!mesh.is_at_rim(ends[0]) && mesh.is_at_rim(ends[1])) std::swap(ends[0], ends[1]);
    const auto part = [&](std::uint32_t node, std::uint32_t toward) {
      return !is_attached(b, node) && mesh.part(node, toward);
    };
    const bool first = part(ends[0], ends[1]);
    if (!first && !part(ends[1], ends[0])) continue;
    const Vec3 position = x_[b.first + (first ? ends[0] : ends[1])].xyz();
    tears.push_back({.body = b.id, .position = position, .force = overload.force});
    for (const std::uint32_t end : ends) {
      is_near[end] = 1;
      for (const std::uint32_t node : mesh.neighbors(end)) is_near[node] = 1;
    }
  }
  if (!mesh.copies().empty()) take_torn(b, std::make_shared<const ParticleModel>(mesh.result()), mesh.copies());
}

void ParticleEngine::take_torn(Body& b, std::shared_ptr<const ParticleModel> model, std::span<const NodeCopy> copies) {
  for (const NodeCopy& copy : copies) {
    const std::uint32_t from = b.first + copy.from, to = b.first + copy.node;
    x_[to] = x_[from], v_[to] = v_[from], x_before_[to] = x_before_[from];
    forces_[to] = forces_[from] * copy.share, forces_[from] -= forces_[to];
    b.held[copy.node] = b.held[copy.from], b.anchored[copy.node] = b.anchored[copy.from];
    for (const auto& anchor : anchors_) {
      if (!anchor || anchor->slot != b.id.index) continue;
      if (std::binary_search(anchor->unmet.begin(), anchor->unmet.end(), copy.from)) anchor->unmet.push_back(copy.node);
      for (std::size_t k = 0, count = anchor->nodes.size(); k < count; ++k) {
        if (anchor->nodes[k].node != copy.from) continue;
        anchor->nodes.push_back(anchor->nodes[k]);
        anchor->nodes.back().node = copy.node;
      }
    }
  }
  b.count = static_cast<std::uint32_t>(model->rest.size());
  std::copy(model->masses.begin(), model->masses.end(), masses_.begin() + b.first);
  for (std::uint32_t i = 0; i < b.count; ++i) update_mass(b, i);

  Chains chains(model->lines, b.count);
  carry_impulses(*b.model, b.chains, *model, chains);
  b.chains = std::move(chains);
  b.springs = SpringRows(model->springs, b.count);
  b.line_bends = BendLines(model->line_bends, b.count);
  b.hinges = BendRows(model->hinges, b.count);
  b.model = std::move(model);
  meetings_.forget(b.id);
  rigid_meetings_.forget();
  b.forget_looks();
  b.set_stale();
}

}  // namespace pliant
