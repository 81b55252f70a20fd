#include "solid/fracture_criterion.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "solid/separation_kernel.h"

namespace pliant {
namespace {

constexpr std::size_t kBatchGrain = 32, kNodeGrain = 64;
/// Nodes none of whose tets is under this share of the strength are not looked at.
constexpr float kWarm = 0.5f;

LaneSym3<float> sandwich(const LaneMat3<float>& a, const LaneSym3<float>& m) {
  const LaneMat3<float> product{a * (m * a.c0), a * (m * a.c1), a * (m * a.c2)};  // a is symmetric
  return symmetric_part(product);
}

/// R m Rᵀ.
LaneSym3<Float8> turned(const LaneMat3<Float8>& r, const LaneSym3<Float8>& m) {
  const LaneVec3<Float8> x{r.c0.x, r.c1.x, r.c2.x}, y{r.c0.y, r.c1.y, r.c2.y}, z{r.c0.z, r.c1.z, r.c2.z};
  const LaneVec3<Float8> mx = m * x, my = m * y, mz = m * z;
  return {dot(x, mx), dot(y, my), dot(z, mz), dot(x, my), dot(x, mz), dot(y, mz)};
}

/// a (I − g gᵀ) + b g gᵀ.
LaneMat3<float> along_and_across(float across, float along, Vec3 g) {
  const float d = along - across;
  return {{across + d * g.x * g.x, d * g.x * g.y, d * g.x * g.z},
          {d * g.x * g.y, across + d * g.y * g.y, d * g.y * g.z},
          {d * g.x * g.z, d * g.y * g.z, across + d * g.z * g.z}};
}

}  // namespace

FractureCriterion::FractureCriterion(const SolidDef& def, std::vector<float> factors) {
  std::vector<const SolidMaterial*> known;
  lets_go_ = def.fracture.lets_go;
  for (std::size_t tet = 0; tet < def.mesh.tets.size(); ++tet) {
    const SolidMaterial* material = &material_of(def, tet);
    const auto at = std::find(known.begin(), known.end(), material);
    const auto index = static_cast<std::uint16_t>(at - known.begin());
    if (at == known.end()) {
      known.push_back(material);
      const float strength = std::min(material->strength, kNever);
      const float along = material->grain_strength > 0 ? std::min(material->grain_strength, kNever) : strength;
      limits_.push_back(
          {strength, along, std::min(material->toughness, kNever), normalized(material->grain_direction, {1, 0, 0})});
      least_of_materials_ = std::min({least_of_materials_, strength, along});
      has_toughness_ |= material->has_toughness();
    }
    if (index > 0 && limits_of_tet_.empty()) limits_of_tet_.assign(def.mesh.tets.size(), 0);
    if (!limits_of_tet_.empty()) limits_of_tet_[tet] = index;
  }
  list_weak_faces(def);
  set_factors(std::move(factors));
}

void FractureCriterion::set_factors(std::vector<float> factors) {
  factors_ = std::move(factors);
  float least = least_of_faces_;
  if (!factors_.empty()) least *= std::min(1.0f, *std::min_element(factors_.begin(), factors_.end()));
  least_strength_ = least * least_of_materials_;
}

void FractureCriterion::list_weak_faces(const SolidDef& def) {
  if (def.weak_faces.empty()) return;
  std::map<Face, float> factors;
  for (const WeakFaces& weak : def.weak_faces) {
    const auto nodes = select_nodes(def.mesh, weak.nodes);
    if (!nodes) continue;
    std::vector<std::uint8_t> is_selected(def.mesh.nodes.size(), 0);
    for (const std::uint32_t node : *nodes) is_selected[node] = 1;
    std::set<Face> faces;
    for (const Tet& tet : def.mesh.tets) {
      for (std::size_t c = 0; c < 4; ++c) {
        Face face{tet[(c + 1) % 4], tet[(c + 2) % 4], tet[(c + 3) % 4]};
        std::sort(face.begin(), face.end());
        if (is_selected[face[0]] && is_selected[face[1]] && is_selected[face[2]]) faces.insert(face);
      }
    }
    for (const Face& face : faces) factors.try_emplace(face, 1.0f).first->second *= weak.factor;
  }
  weak_starts_.assign(def.mesh.nodes.size() + 1, 0);
  for (const auto& [face, factor] : factors) {
    weak_faces_.push_back({face, factor});
    least_of_faces_ = std::min(least_of_faces_, factor);
    for (const std::uint32_t node : face) ++weak_starts_[node + 1];
  }
  std::partial_sum(weak_starts_.begin(), weak_starts_.end(), weak_starts_.begin());
  weak_of_node_.resize(weak_starts_.back());
  std::vector<std::uint32_t> next(weak_starts_.begin(), weak_starts_.end() - 1);
  for (std::uint32_t i = 0; i < weak_faces_.size(); ++i) {
    for (const std::uint32_t node : weak_faces_[i].corners) weak_of_node_[next[node]++] = i;
  }
}

std::span<const FractureCriterion::Candidate> FractureCriterion::find(Workers& workers, const SolidBody& body,
                                                                      const FractureTopology& topology) {
  candidates_.clear();
  if (!find_hot(workers, body)) return candidates_;
  measure(workers, body, topology);
  list_candidates(workers, body, topology);
  return candidates_;
}

/// Marks the nodes of tets under much stress.
bool FractureCriterion::find_hot(Workers& workers, const SolidBody& body) {
  const SolidLayout& layout = body.layout();
  hot_.assign(body.node_count(), has_toughness_ ? 1 : 0);
  if (has_toughness_) return true;
  bounds_.resize(8 * layout.batches());
  chunk_is_hot_.assign(layout.batches() / kBatchGrain + 1, 0);
  const Float8 warm = broadcast(kWarm * least_strength_);
  parallel_for(workers, layout.batches(), kBatchGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t batch = begin; batch < end; ++batch) {
      const auto now = body.elements().stressed(layout, batch, body.state().positions.data());
      const Float8 bound = largest_eigenvalue_bound(now.stress);
      store8(bounds_.data() + 8 * batch, bound);
      if (any(bound > warm)) chunk_is_hot_[begin / kBatchGrain] = 1;
    }
  });
  bool is_hot = false;
  for (std::size_t chunk = 0; chunk < chunk_is_hot_.size(); ++chunk) {
    if (!chunk_is_hot_[chunk]) continue;
    is_hot = true;
    const std::size_t end = std::min(layout.tet_of_lane.size(), 8 * kBatchGrain * (chunk + 1));
    for (std::size_t lane = 8 * kBatchGrain * chunk; lane < end; ++lane) {
      if (!(bounds_[lane] > kWarm * least_strength_)) continue;
      for (const std::uint32_t node : body.def().mesh.tets[layout.tet_of_lane[lane]]) hot_[node] = 1;
    }
  }
  return is_hot;
}

void FractureCriterion::measure(Workers& workers, const SolidBody& body, const FractureTopology& topology) {
  const SolidLayout& layout = body.layout();
  const std::size_t floats = layout.batches() * SolidLayout::kElementFloats;
  tensile_.resize(floats), compressive_.resize(floats), thirds_.resize(floats);
  energies_.resize(8 * layout.batches());
  stresses_.resize(56 * layout.batches());
  parallel_for(workers, layout.batches(), kBatchGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t batch = begin; batch < end; ++batch) {
      const auto now = body.elements().stressed(layout, batch, body.state().positions.data());
      const LaneSym3<Float8> tension = positive_part(now.stress), compression = now.stress - tension;
      const LaneVec3<Float8>&g1 = now.gradients.c0, &g2 = now.gradients.c1, &g3 = now.gradients.c2;
      const LaneVec3<Float8> gradients[4] = {-(g1 + g2 + g3), g1, g2, g3};
      const std::size_t at = batch * SolidLayout::kElementFloats;
      for (std::size_t c = 0; c < 4; ++c) {
        const LaneVec3<Float8> third = gradients[c] * -now.volume;  // of the opposite face, outward
        store_vec8(tensile_.data() + at + 24 * c, now.rotation * (tension * third));
        store_vec8(compressive_.data() + at + 24 * c, now.rotation * (compression * third));
        store_vec8(thirds_.data() + at + 24 * c, now.rotation * third);
      }
      store8(energies_.data() + 8 * batch, now.energy);
      store_sym8(stresses_.data() + 56 * batch, turned(now.rotation, tension));
      store8(stresses_.data() + 56 * batch + 48, now.volume);
    }
  });
  average(workers, body, topology);
}

void FractureCriterion::list_candidates(Workers& workers, const SolidBody& body, const FractureTopology& topology) {
  found_.resize(body.node_count() / kNodeGrain + 1);
  for (auto& list : found_) list.clear();
  parallel_for(workers, body.node_count(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (auto node = static_cast<std::uint32_t>(begin); node < end; ++node) {
      if (!hot_[node] || topology.star(node).empty()) continue;
      const NodeSeparation now = separation(body, topology, node);
      if (now.ratio >= 1) found_[begin / kNodeGrain].push_back({node, now});
    }
  });
  for (const auto& list : found_) candidates_.insert(candidates_.end(), list.begin(), list.end());
}

std::uint32_t FractureCriterion::offset(const SolidLayout& layout, std::uint32_t corner) const {
  const std::uint32_t lane = layout.batch_of_tet[corner / 4];
  return lane / 8 * static_cast<std::uint32_t>(SolidLayout::kElementFloats) + corner % 4 * 24 + lane % 8;
}

LaneSym3<float> FractureCriterion::tensor(const SolidBody& body, const FractureTopology& topology,
                                          std::uint32_t node) const {
  SeparationSums<float> sums;
  for (const std::uint32_t corner : topology.star(node)) {
    const std::uint32_t at = offset(body.layout(), corner);
    sums.add(vector_at(tensile_, at), vector_at(compressive_, at));
  }
  return lets_go_ && body.is_held(node) ? sums.held_tensor() : sums.tensor();
}

/// The direction of the grain around a node, as it lies now.
Vec3 FractureCriterion::grain_at(const SolidBody& body, const FractureTopology& topology, std::uint32_t node) const {
  Vec3 sum;
  for (const std::uint32_t corner : topology.star(node)) {
    const Limits& limits = of_tet(corner / 4);
    if (limits.grain_strength == limits.strength) continue;
    const LaneQuat<float> q = body.elements().sample(body.layout(), body.layout().batch_of_tet[corner / 4]).rotation;
    const Vec3 along = from_lane(q.to_matrix() * to_lane(limits.grain));
    sum += dot(sum, along) < 0 ? -along : along;
  }
  return normalized(sum, {});
}

/// What the tets around a node bear across a plane. Those that never break do not count, except for the area.
FractureCriterion::Bearing FractureCriterion::bearing(const SolidBody& body, const FractureTopology& topology,
                                                      std::uint32_t node, Vec3 pull) const {
  Bearing out;
  float breakable = 0, across = 0, along = 0, open = 0;
  for (const std::uint32_t corner : topology.star(node)) {
    const float shown = dot(from_lane(vector_at(thirds_, offset(body.layout(), corner))), pull);
    const float area = 0.5f * std::abs(shown);
    open += shown;
    out.area += area;
    const Limits& limits = of_tet(corner / 4);
    out.toughness = std::min(out.toughness, limits.toughness);
    if (limits.strength >= kNever) continue;
    breakable += area;
    across += area * limits.strength, along += area * limits.grain_strength;
  }
  if (lets_go_ && body.is_held(node)) out.area += 0.5f * std::abs(open);
  if (breakable > 0) {
    out.strength = across / breakable;
    out.grain_strength = along / breakable;
  }
  const float factor = factors_.empty() ? 1 : factors_[node];
  out.strength *= factor, out.grain_strength *= factor, out.toughness *= factor;
  return out;
}

LaneSym3<float> FractureCriterion::stress_of(const SolidLayout& layout, std::uint32_t tet) const {
  const std::uint32_t lane = layout.batch_of_tet[tet];
  const float* at = stresses_.data() + 56 * (lane / 8) + lane % 8;
  return {at[0], at[8], at[16], at[24], at[32], at[40]};
}

/// How much more the tension along a direction is at the node itself than around it, as a factor. Tets know the stress
/// in their middles; at the surface of a bent beam these lie deeper than the node. The change from the mean around the
/// node to those around its neighbours is followed to the node.
float FractureCriterion::rise_towards(const SolidBody& body, const FractureTopology& topology, std::uint32_t node,
                                      Vec3 along) const {
  constexpr float kMost = 1.5f;
  const auto tension = [&](const LaneSym3<float>& s) { return dot(along, from_lane(s * to_lane(along))); };
  // Around the node itself, weighted as in the separation tensor.
  float own = 0, total = 0;
  Vec3 middle;
  for (const std::uint32_t corner : topology.star(node)) {
    const float weight = std::abs(dot(from_lane(vector_at(thirds_, offset(body.layout(), corner))), along));
    own += weight * tension(stress_of(body.layout(), corner / 4));
    for (const std::uint32_t n : topology.tets()[corner / 4]) middle += body.position(n) * (0.25f * weight);
    total += weight;
  }
  if (!(own > 0) || !(total > 0)) return 1;
  own /= total, middle = middle / total;
  const float distance = length(body.position(node) - middle);
  const Vec3 way = normalized(body.position(node) - middle, {});
  float slope = 0, spread = 0;
  for (const std::uint32_t corner : topology.star(node)) {
    for (const std::uint32_t other : topology.tets()[corner / 4]) {
      if (other == node) continue;
      const float s = dot(means_[other].middle - middle, way);
      slope += s * (tension(means_[other].stress) - own), spread += s * s;
    }
  }
  if (!(spread > 0)) return 1;
  return std::clamp(1 + slope / spread * distance / own, 1.0f, kMost);
}

/// The mean of the tensile stress around every node, and where it is.
void FractureCriterion::average(Workers& workers, const SolidBody& body, const FractureTopology& topology) {
  means_.resize(body.node_count());
  parallel_for(workers, body.node_count(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (auto node = static_cast<std::uint32_t>(begin); node < end; ++node) {
      Mean mean;
      float volume = 0;
      for (const std::uint32_t corner : topology.star(node)) {
        const std::uint32_t lane = body.layout().batch_of_tet[corner / 4];
        const float weight = stresses_[56 * (lane / 8) + 48 + lane % 8];
        mean.stress = mean.stress + stress_of(body.layout(), corner / 4) * weight;
        for (const std::uint32_t n : topology.tets()[corner / 4]) mean.middle += body.position(n) * (0.25f * weight);
        volume += weight;
      }
      if (volume > 0) mean.stress = mean.stress * (1 / volume), mean.middle = mean.middle / volume;
      means_[node] = mean;
    }
  });
}

NodeSeparation FractureCriterion::separation(const SolidBody& body, const FractureTopology& topology,
                                             std::uint32_t node) const {
  const LaneSym3<float> pull = tensor(body, topology, node);
  if (!(largest_eigenvalue_bound(pull) > 0)) return {};
  // The area is that across the pull itself: the force on any plane follows from it.
  const Vec3 along = from_lane(symmetric_eigen(pull).vectors.c0);
  const Bearing bears = bearing(body, topology, node, along);
  if (!(bears.area > 0)) return {};
  const float rise = rise_towards(body, topology, node, along);
  const auto force_across = [&](Vec3 n) { return rise * dot(n, from_lane(pull * to_lane(n))); };
  NodeSeparation out{force_across(along) / bears.force(along, {}), along, bears.area};
  const Vec3 grain = bears.grain_strength == bears.strength ? Vec3{} : grain_at(body, topology, node);
  if (!(grain == Vec3{})) {
    // Where the strength across a plane is nᵀ T n with T = s I + (s_g − s) g gᵀ, the worst plane is that of the largest
    // eigenvalue of T^-½ ς T^-½.
    const LaneMat3<float> root = along_and_across(1, std::sqrt(bears.strength / bears.grain_strength), grain);
    out.normal = normalized(from_lane(root * symmetric_eigen(sandwich(root, pull)).vectors.c0));
    out.ratio = force_across(out.normal) / bears.force(out.normal, grain);
  }
  if (weak_faces_.empty()) return out;
  for (std::uint32_t i = weak_starts_[node]; i < weak_starts_[node + 1]; ++i) {
    const WeakFace& face = weak_faces_[weak_of_node_[i]];
    const auto x = [&](std::size_t k) { return body.position(face.corners[k]); };
    const Vec3 normal = normalized(cross(x(1) - x(0), x(2) - x(0)), {});
    const float ratio = force_across(normal) / (face.factor * bears.force(normal, grain));
    if (ratio > out.ratio) out.ratio = ratio, out.normal = normal;
  }
  return out;
}

std::size_t FractureCriterion::bytes() const {
  const auto of = [](const auto& list) { return list.capacity() * sizeof(list[0]); };
  return of(limits_of_tet_) + of(factors_) + of(tensile_) + of(compressive_) + of(thirds_) + of(energies_) +
         of(bounds_) + of(hot_) + of(stresses_) + of(means_) + of(weak_faces_) + of(weak_starts_) + of(weak_of_node_);
}

}  // namespace pliant
