#include "solid/solid_fracture.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr std::uint32_t kNone = FractureTopology::kNone;

/// splitmix64 (Steele, Lea and Flood 2014): the next number, from 0 to 1.
float next_random(std::uint64_t& state) {
  std::uint64_t h = state += 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return static_cast<float>((h ^ (h >> 31)) >> 40) * 0x1p-24f;
}

/// Of strength and toughness, by node; empty where all are 1.
std::vector<float> strength_factors(const SolidDef& def) {
  std::vector<float> factors;
  for (const WeakNodes& weak : def.weakened) {
    const auto nodes = select_nodes(def.mesh, weak.nodes);
    if (!nodes) continue;
    factors.resize(def.mesh.nodes.size(), 1.0f);
    for (const std::uint32_t node : *nodes) factors[node] *= weak.factor;
  }
  return factors;
}

std::vector<float> factors_of_part(const FractureTopology& topology, const std::vector<float>& factors,
                                   const FractureTopology::Part& part) {
  std::vector<float> out;
  if (factors.empty()) return out;
  for (const std::uint32_t node : part.nodes) out.push_back(factors[topology.origin(node)]);
  return out;
}

}  // namespace

SolidFracture::SolidFracture(const SolidDef& def)
    : topology_(def.mesh.tets, static_cast<std::uint32_t>(def.mesh.nodes.size()),
                static_cast<std::uint32_t>(def.fracture.min_tets)),
      criterion_(def, strength_factors(def)),
      max_splits_(def.fracture.max_splits),
      lets_go_(def.fracture.lets_go),
      random_(def.fracture.seed) {}

SolidFracture::SolidFracture(const SolidFracture& whole, const FractureTopology::Part& part, const SolidDef& def)
    : topology_(whole.topology_, part),
      criterion_(def, factors_of_part(whole.topology_, whole.criterion_.factors(), part)),
      max_splits_(whole.max_splits_),
      lets_go_(whole.lets_go_),
      // Pieces go their own ways.
      random_(whole.random_ ^ (std::uint64_t{part.tets.front()} << 20)) {}

bool SolidFracture::is_breakable(const SolidDef& def) {
  return def.material.is_breakable() || std::any_of(def.region_materials.begin(), def.region_materials.end(),
                                                    [](const SolidMaterial& m) { return m.is_breakable(); });
}

void SolidFracture::set_factor(std::span<const std::uint32_t> nodes, float factor) {
  std::vector<float> factors = criterion_.factors();
  factors.resize(topology_.first_copy(), 1.0f);
  for (const std::uint32_t node : nodes) factors[node] = factor;
  criterion_.set_factors(std::move(factors));
}

void SolidFracture::run(Workers& workers, SolidBody& body, BodyId id, std::vector<Crack>& cracks) {
  if (has_split() || body.state().tangled) return;
  const std::span<const Candidate> candidates = criterion_.find(workers, body, topology_);
  if (candidates.empty()) return;
  order_.clear();
  place_of_node_.assign(body.node_count(), kNone);
  is_relieved_.assign(candidates.size(), 0);
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    place_of_node_[candidates[i].node] = i;
    order_.push_back({candidates[i].separation.ratio * (1 - 0.1f * next_random(random_)), i});
  }
  std::sort(order_.begin(), order_.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  int splits = 0;
  for (const auto& [key, i] : order_) {
    if (splits >= max_splits_) break;
    const Candidate& candidate = candidates[i];
    if (is_relieved_[i]) continue;
    float energy = 0;
    for (const std::uint32_t corner : topology_.star(candidate.node)) {
      energy += criterion_.energy(body.layout(), FractureTopology::tet_of(corner));
    }
    const bool was_held = body.is_held(candidate.node);
    if (!split(body, candidate)) continue;
    ++splits;
    relieve_neighbours(body, candidate);
    const bool let_go = was_held && !body.is_held(candidate.node);
    cracks.push_back({.body = id,
                      .position = body.position(candidate.node),
                      .normal = candidate.separation.normal,
                      .area = let_go ? candidate.separation.area : opened_area(body),
                      .energy = energy});
  }
}

bool SolidFracture::split(SolidBody& body, const Candidate& candidate) {
  choose_sides(body, candidate);
  const bool may_let_go = lets_go_ && body.is_held(candidate.node);
  if (may_let_go && std::all_of(is_above_.begin(), is_above_.end(), [](std::uint8_t above) { return above != 0; })) {
    topology_.forget_last();
    body.hold(candidate.node, false);
    return true;
  }
  if (!topology_.split(candidate.node, is_above_)) return false;
  if (may_let_go) free_copies();
  return true;
}

/// The copy that the tets away from what held a node got, and its own copies.
void SolidFracture::free_copies() {
  freed_.push_back(topology_.copies().front().to);
  for (const auto& [from, to] : topology_.copies().subspan(1)) {
    if (std::binary_search(freed_.begin(), freed_.end(), from)) freed_.push_back(to);
  }
}

/// The tets around the node by the sides of their centroids. Of a held node that lets go, above is where the body is.
void SolidFracture::choose_sides(const SolidBody& body, const Candidate& candidate) {
  const std::span<const std::uint32_t> star = topology_.star(candidate.node);
  const Vec3 x = place(body, candidate.node);
  const auto height = [&](std::uint32_t corner) {
    Vec3 sum;
    for (const std::uint32_t node : topology_.tets()[FractureTopology::tet_of(corner)]) sum += place(body, node) - x;
    return dot(sum, candidate.separation.normal);
  };
  float side = 1;
  if (lets_go_ && body.is_held(candidate.node)) {
    float total = 0;
    for (const std::uint32_t corner : star) total += height(corner);
    side = total < 0 ? -1.0f : 1.0f;
  }
  is_above_.clear();
  for (const std::uint32_t corner : star) is_above_.push_back(side * height(corner) > 0 ? 1 : 0);
  keep_unbreakable_together(star);
}

/// Tets that never break all go where most of them are.
void SolidFracture::keep_unbreakable_together(std::span<const std::uint32_t> star) {
  int above = 0, below = 0;
  for (std::size_t i = 0; i < star.size(); ++i) {
    if (!criterion_.is_breakable(FractureTopology::tet_of(star[i]))) (is_above_[i] ? above : below) += 1;
  }
  if (above == 0 || below == 0) return;
  for (std::size_t i = 0; i < star.size(); ++i) {
    if (!criterion_.is_breakable(FractureTopology::tet_of(star[i]))) is_above_[i] = above > below ? 1 : 0;
  }
}

void SolidFracture::relieve_neighbours(const SolidBody& body, const Candidate& candidate) {
  constexpr float kSameWay = 0.7f, kInPlane = 0.5f;
  const auto relieve = [&](std::uint32_t copy) {
    for (const std::uint32_t corner : topology_.star(copy)) {
      for (const std::uint32_t other : topology_.tets()[FractureTopology::tet_of(corner)]) {
        const std::uint32_t node = topology_.origin(other), i = place_of_node_[node];
        if (i == kNone) continue;
        const Vec3 way = body.position(node) - body.position(candidate.node);
        const Vec3 normal = candidate.separation.normal;
        const bool continues = std::abs(dot(criterion_.candidates()[i].separation.normal, normal)) > kSameWay &&
                               std::abs(dot(way, normal)) < kInPlane * length(way);
        if (!continues) is_relieved_[i] = 1;
      }
    }
  };
  relieve(candidate.node);
  for (const auto& [from, to] : topology_.copies()) {
    relieve(to);
    // What came apart along with it has broken in this step.
    const std::uint32_t i = place_of_node_[topology_.origin(from)];
    if (i != kNone) is_relieved_[i] = 1;
  }
}

float SolidFracture::opened_area(const SolidBody& body) const {
  float total = 0;
  for (const std::uint32_t corner : topology_.opened()) {
    const Tet& tet = topology_.tets()[FractureTopology::tet_of(corner)];
    const auto x = [&](std::uint32_t k) { return place(body, tet[(corner % 4 + k) % 4]); };
    total += 0.5f * length(cross(x(2) - x(1), x(3) - x(1)));
  }
  return total;
}

}  // namespace pliant
