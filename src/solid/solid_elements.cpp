#include "solid/solid_elements.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Dense>
#include <Eigen/SVD>

#include "math/eigen_convert.h"
#include "solid/principal_kernel.h"

namespace pliant {
namespace {

constexpr std::size_t kBatchGrain = 32;
/// Singular values of the basis matrix above this, over the longest edge, mark a sliver.
constexpr double kSharpest = 12;

/// A body with more than this share of its elements inside out is tangled.
constexpr float kTangledShare = 0.2f;
/// It is untangled once each of them has more than this share of its volume again.
constexpr float kSoundVolume = 0.5f;

enum Property : std::size_t { kVolume, kLambda, kMu, kBeta, kFlat, kProperties };

/// The basis matrix D⁻¹ with the singular values of slivers clamped (Iben and O'Brien 2006), and what is then left of
/// the identity: the stretch that the mended element has at rest.
struct Basis {
  Eigen::Matrix3d matrix, rest_stretch;
};

Basis make_basis(const Eigen::Matrix3d& edges) {
  double longest = edges.colwise().norm().maxCoeff();
  for (int i = 0; i < 3; ++i) longest = std::max(longest, (edges.col(i) - edges.col((i + 1) % 3)).norm());
  const Eigen::Matrix3d inverse = edges.inverse();
  const double limit = kSharpest / longest;
  // The largest singular value is at most the norm.
  if (inverse.norm() <= limit) return {inverse, Eigen::Matrix3d::Identity()};
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(inverse, Eigen::ComputeFullU | Eigen::ComputeFullV);
  if (!inverse.allFinite() || svd.singularValues()[0] <= limit) return {inverse, Eigen::Matrix3d::Identity()};
  const Eigen::Vector3d clamped = svd.singularValues().cwiseMin(limit);
  const Eigen::Matrix3d mended = svd.matrixU() * clamped.asDiagonal() * svd.matrixV().transpose();
  return {mended, edges * mended};
}

void store_quat8(float* at, const LaneQuat<Float8>& q) {
  store8(at, q.x), store8(at + 8, q.y), store8(at + 16, q.z), store8(at + 24, q.w);
}
LaneQuat<Float8> load_quat8(const float* at) { return {load8(at), load8(at + 8), load8(at + 16), load8(at + 24)}; }
LaneMat3<Float8> load_mat8(const float* at) { return {load_vec8(at), load_vec8(at + 24), load_vec8(at + 48)}; }

void load_corners(const SolidLayout& layout, std::size_t batch, const float* positions, LaneVec3<Float8> (&x)[4]) {
  const std::uint32_t* offsets = layout.corner_offset.data() + batch * 32;
  for (std::size_t c = 0; c < 4; ++c) x[c] = gather_vec8(positions, load_index8(offsets + 8 * c));
}

void store_corners(std::vector<Vec4>& to, std::size_t batch, std::size_t corner, const NodeLanes& values) {
  Vec4* first = to.data() + 4 * kLanes * batch + corner;
  store_nodes(values, [&](std::size_t lane) { return first + 4 * lane; });
}

}  // namespace

ElementKind element_kind(const SolidMaterial& material) {
  if (material.elasticity == Elasticity::NeoHookean) return ElementKind::NeoHookean;
  return material.grain_modulus > 0 ? ElementKind::Grained : ElementKind::Corotational;
}

SolidElements::SolidElements(const TetMesh& mesh, const SolidLayout& layout,
                             const std::function<const SolidMaterial&(std::size_t tet)>& material_of) {
  const std::size_t batches = layout.batches();
  gradients_.resize(batches * 72);
  properties_.resize(batches * 8 * kProperties);
  rotations_.resize(batches * 32);
  ratios_.resize(batches * 8);
  forces_.assign(batches * 4 * kLanes + 1, {});
  h_ = forces_;
  const std::size_t block_batches = batches - layout.first_block_batch;
  blocks_.assign((block_batches + 1) * SolidLayout::kBlockFloats, 0.0f);
  grains_.assign(block_batches * 32, 0.0f);
  bool any_plastic = false;
  for (std::size_t tet = 0; tet < mesh.tets.size(); ++tet) any_plastic |= material_of(tet).is_plastic();
  if (any_plastic) {
    plasticity_.resize(batches * 24);
    rest_strains_.assign(batches * 48, 0.0f);
  }
  for (std::size_t lane = 0; lane < layout.tet_of_lane.size(); ++lane) {
    const std::uint32_t tet = layout.tet_of_lane[lane];
    const SolidMaterial& material = material_of(tet);
    set_rest(lane, mesh, mesh.tets[tet], material, layout.lane_is_real[lane]);
    if (lane / 8 < layout.first_block_batch || material.grain_modulus <= 0) continue;
    const Vec3 grain = normalized(material.grain_direction, {1, 0, 0});
    float* at = grains_.data() + (lane / 8 - layout.first_block_batch) * 32 + lane % 8;
    at[0] = std::max(material.grain_modulus - material.young_modulus, 0.0f);
    at[8] = grain.x, at[16] = grain.y, at[24] = grain.z;
  }
  is_uniform_ = std::all_of(ratios_.begin(), ratios_.end(), [&](float r) { return r == ratios_.front(); });
}

void SolidElements::set_rest(std::size_t lane, const TetMesh& mesh, const Tet& tet, const SolidMaterial& material,
                             bool is_real) {
  Eigen::Matrix3d edges;
  const Eigen::Vector3d origin = to_eigen(mesh.nodes[tet[0]]);
  for (int i = 0; i < 3; ++i) edges.col(i) = to_eigen(mesh.nodes[tet[static_cast<std::size_t>(i) + 1]]) - origin;
  const Basis basis = make_basis(edges);
  const std::size_t batch = lane / 8, l = lane % 8;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      const std::size_t at = batch * 72 + static_cast<std::size_t>(i) * 24 + static_cast<std::size_t>(k) * 8 + l;
      gradients_[at] = static_cast<float>(basis.matrix(i, k));
    }
  }
  rotations_[batch * 32 + 24 + l] = 1;
  const auto lame = lame_parameters(material);
  float* property = properties_.data() + batch * 8 * kProperties + l;
  property[8 * kVolume] = is_real ? static_cast<float>(edges.determinant() / 6) : 0.0f;
  property[8 * kLambda] = lame.lambda;
  property[8 * kMu] = lame.mu;
  property[8 * kBeta] = material.stiffness_damping;
  property[8 * kFlat] = kFlatVolume * static_cast<float>(basis.rest_stretch.determinant());
  ratios_[lane] = lame.lambda / lame.mu;

  const Eigen::Matrix3d offset = basis.rest_stretch - Eigen::Matrix3d::Identity();
  if (offset.norm() > 1e-9 && rest_strains_.empty()) rest_strains_.assign(rotations_.size() / 32 * 48, 0.0f);
  if (!rest_strains_.empty()) {
    constexpr int kRow[6] = {0, 1, 2, 0, 0, 1}, kColumn[6] = {0, 1, 2, 1, 2, 2};
    for (std::size_t k = 0; k < 6; ++k) {
      rest_strains_[batch * 48 + k * 8 + l] = static_cast<float>(offset(kRow[k], kColumn[k]));
    }
  }
  if (!plasticity_.empty()) {
    float* plastic = plasticity_.data() + batch * 24 + l;
    plastic[0] = material.is_plastic() ? material.yield_strain : 1e30f;
    plastic[8] = std::min(material.creep_rate, 1e9f);
    plastic[16] = material.max_plastic_strain;
  }
}

void SolidElements::take_over(const SolidLayout& layout, const SolidElements& whole, const SolidLayout& whole_layout,
                              std::span<const std::uint32_t> tet_of) {
  for (std::size_t lane = 0; lane < layout.tet_of_lane.size(); ++lane) {
    const std::uint32_t from = whole_layout.batch_of_tet[tet_of[layout.tet_of_lane[lane]]];
    const auto take = [&](std::vector<float>& to, const std::vector<float>& of, std::size_t count) {
      if (to.empty() || of.empty()) return;
      for (std::size_t k = 0; k < count; ++k) {
        to[lane / 8 * 8 * count + 8 * k + lane % 8] = of[from / 8 * 8 * count + 8 * k + from % 8];
      }
    };
    take(rotations_, whole.rotations_, 4);
    take(rest_strains_, whole.rest_strains_, 6);
  }
}

ElementRest<Float8> SolidElements::rest(std::size_t batch) const {
  const float* property = properties_.data() + batch * 8 * kProperties;
  return {load_mat8(gradients_.data() + batch * 72),
          load8(property + 8 * kVolume),
          load8(property + 8 * kLambda),
          load8(property + 8 * kMu),
          load8(property + 8 * kBeta),
          load8(property + 8 * kFlat)};
}

LaneSym3<Float8> SolidElements::rest_strain(std::size_t batch) const {
  return rest_strains_.empty() ? LaneSym3<Float8>{} : load_sym8(rest_strains_.data() + batch * 48);
}

SolidElements::Present SolidElements::present(const SolidLayout& layout, std::size_t batch,
                                              const float* positions) const {
  LaneVec3<Float8> x[4];
  load_corners(layout, batch, positions, x);
  const ElementRest<Float8> element = rest(batch);
  const LaneMat3<Float8> f = deformation_gradient(x, element.gradients);
  const LaneQuat<Float8> before = load_quat8(rotations_.data() + batch * 32);
  return {element, f, element_rotation(f, before, element.flat_determinant).to_matrix()};
}

double SolidElements::energy(const SolidLayout& layout, const float* positions, std::size_t begin,
                             std::size_t end) const {
  double total = 0;
  for (std::size_t batch = begin; batch < end; ++batch) {
    const auto [element, f, rotation] = present(layout, batch, positions);
    const LaneSym3<Float8> e = corotational_strain(rotation, f, rest_strain(batch));
    Float8 density = 0.5f * element.lambda * e.trace() * e.trace() + element.mu * e.norm_squared();
    if (layout.kind_of_batch[batch] == static_cast<std::uint8_t>(ElementKind::Grained)) {
      const float* grain = grains_.data() + (batch - layout.first_block_batch) * 32;
      const Float8 along = fiber_of(f, rotation, rest_strain(batch), load_vec8(grain + 8)).strain;
      density += 0.5f * load8(grain) * along * along;
    } else if (layout.kind_of_batch[batch] == static_cast<std::uint8_t>(ElementKind::NeoHookean)) {
      const Float8 is_sound = neo_hookean_density(f, element.lambda, element.mu);
      density = select(determinant(f) > element.flat_determinant, is_sound, density);
    }
    for (std::size_t i = 0; i < kLanes; ++i) {
      total += static_cast<double>(density[i]) * static_cast<double>(element.volume[i]);
    }
  }
  return total;
}

SolidElements::Stressed SolidElements::stressed(const SolidLayout& layout, std::size_t batch,
                                                const float* positions) const {
  const auto [element, f, rotation] = present(layout, batch, positions);
  const LaneSym3<Float8> strain = corotational_strain(rotation, f, rest_strain(batch));
  LaneSym3<Float8> stress = linear_stress(strain, element.lambda, element.mu);
  if (layout.kind_of_batch[batch] == static_cast<std::uint8_t>(ElementKind::Grained)) {
    const float* grain = grains_.data() + (batch - layout.first_block_batch) * 32;
    const LaneVec3<Float8> g = load_vec8(grain + 8);
    stress = stress + fiber_stress(fiber_of(f, rotation, rest_strain(batch), g), rotation, g, load8(grain));
  } else if (layout.kind_of_batch[batch] == static_cast<std::uint8_t>(ElementKind::NeoHookean)) {
    const auto pulled = neo_hookean(f, rotation, element.lambda, element.mu).stress;
    const auto is_sound = determinant(f) > element.flat_determinant;
    stress = select(is_sound, symmetric_part(rotation.transposed_times(pulled)), stress);
  }
  const LaneSym3<Float8>&s = stress, &e = strain;
  const Float8 work = s.xx * e.xx + s.yy * e.yy + s.zz * e.zz + 2.0f * (s.xy * e.xy + s.xz * e.xz + s.yz * e.yz);
  return {stress, rotation, element.gradients, element.volume, 0.5f * work * element.volume};
}

ElementSample SolidElements::sample(const SolidLayout& layout, std::uint32_t lane) const {
  const std::size_t batch = lane / 8, l = lane % 8;
  const auto vec = [&](const float* at) { return LaneVec3<float>{at[l], at[8 + l], at[16 + l]}; };
  const float* g = gradients_.data() + batch * 72;
  const float* property = properties_.data() + batch * 8 * kProperties + l;
  const float* q = rotations_.data() + batch * 32 + l;
  ElementSample out;
  out.rest = {{vec(g), vec(g + 24), vec(g + 48)},
              property[8 * kVolume],
              property[8 * kLambda],
              property[8 * kMu],
              property[8 * kBeta],
              property[8 * kFlat]};
  out.rotation = {q[0], q[8], q[16], q[24]};
  if (!rest_strains_.empty()) {
    const float* s = rest_strains_.data() + batch * 48 + l;
    out.rest_strain = {s[0], s[8], s[16], s[24], s[32], s[40]};
  }
  if (batch >= layout.first_block_batch) {
    const float* grain = grains_.data() + (batch - layout.first_block_batch) * 32;
    out.grain_modulus = grain[l];
    out.grain = vec(grain + 8);
  }
  return out;
}

bool SolidElements::update(Workers& workers, const SolidLayout& layout, const float* positions, float dt,
                           const LaneQuat<float>* common) {
  crushed_counts_.assign(layout.batches() / kBatchGrain + 1, 0);
  parallel_for(workers, layout.batches(), kBatchGrain, [&](std::size_t begin, std::size_t end) {
    Int8 crushed{};
    for (std::size_t batch = begin; batch < end; ++batch) {
      LaneVec3<Float8> x[4];
      load_corners(layout, batch, positions, x);
      const ElementRest<Float8> element = rest(batch);
      const LaneMat3<Float8> f = deformation_gradient(x, element.gradients);
      const Float8 least = common ? element.flat_determinant * (kSoundVolume / kFlatVolume) : Float8{};
      crushed -= !(determinant(f) > least);  // −1 where true
      const LaneMat3<Float8> rotation = turn(batch, f, element, common);
      if (batch < layout.first_block_batch) {
        update_from_vectors(batch, f, rotation, element, dt);
      } else {
        update_by_blocks(layout, batch, f, rotation, element, dt, common != nullptr);
      }
    }
    for (std::size_t l = 0; l < kLanes; ++l) crushed_counts_[begin / kBatchGrain] += crushed[l];
  });
  const std::int64_t crushed = std::accumulate(crushed_counts_.begin(), crushed_counts_.end(), std::int64_t{0});
  return common ? crushed > 0 : static_cast<float>(crushed) > kTangledShare * static_cast<float>(layout.tet_count);
}

/// The rotation of the elements of a batch, remembered for the next step.
LaneMat3<Float8> SolidElements::turn(std::size_t batch, const LaneMat3<Float8>& f, const ElementRest<Float8>& element,
                                     const LaneQuat<float>* common) {
  float* at = rotations_.data() + batch * 32;
  const LaneQuat<Float8> q =
      common ? LaneQuat<Float8>{broadcast(common->x), broadcast(common->y), broadcast(common->z), broadcast(common->w)}
             : element_rotation(f, load_quat8(at), element.flat_determinant);
  store_quat8(at, q);
  return q.to_matrix();
}

void SolidElements::update_from_vectors(std::size_t batch, const LaneMat3<Float8>& f, const LaneMat3<Float8>& rotation,
                                        const ElementRest<Float8>& element, float dt) {
  const LaneSym3<Float8> strain = corotational_strain(rotation, f, rest_strain(batch));
  const LaneSym3<Float8> stress = linear_stress(strain, element.lambda, element.mu);
  const auto out = corotational_output(element, rotation, stress, broadcast(dt));
  const Float8 ratio = load8(ratios_.data() + 8 * batch);
  for (std::size_t c = 0; c < 4; ++c) {
    store_corners(forces_, batch, c, {out.force[c]});
    store_corners(h_, batch, c, {out.h[c], ratio});
  }
}

void SolidElements::update_by_blocks(const SolidLayout& layout, std::size_t batch, const LaneMat3<Float8>& f,
                                     const LaneMat3<Float8>& rotation, const ElementRest<Float8>& element, float dt,
                                     bool is_tangled) {
  const std::size_t block_batch = batch - layout.first_block_batch;
  const float* grain = grains_.data() + block_batch * 32;
  PrincipalElement<Float8> state =
      grained(f, rotation, rest_strain(batch), element.lambda, element.mu, load8(grain), load_vec8(grain + 8));
  if (layout.kind_of_batch[batch] == static_cast<std::uint8_t>(ElementKind::NeoHookean)) {
    // A flat element has no Neo-Hookean force along the directions that it lost; the corotational one brings it back.
    const auto flat = !(determinant(f) > element.flat_determinant);
    if (!is_tangled) state = select(flat, state, neo_hookean(f, rotation, element.lambda, element.mu));
  }

  const LaneVec3<Float8>&g1 = element.gradients.c0, &g2 = element.gradients.c1, &g3 = element.gradients.c2;
  const LaneVec3<Float8> gradients[4] = {-(g1 + g2 + g3), g1, g2, g3};
  LaneVec3<Float8> total;
  for (std::size_t c = 1; c < 4; ++c) {
    const LaneVec3<Float8> force = state.stress * gradients[c] * -element.volume;
    total = total + force;
    store_corners(forces_, batch, c, {force});
  }
  store_corners(forces_, batch, 0, {-total});
  const Float8 scale = element.volume * (dt * dt + element.stiffness_damping * dt);
  for (std::size_t e = 0; e < 6; ++e) {
    const auto k = tangent_block(state.tangent, gradients[kTetEdges[e][0]], gradients[kTetEdges[e][1]]) * scale;
    float* at = blocks_.data() + block_batch * SolidLayout::kBlockFloats + e * 72;
    const LaneMat3<Float8> rows = k.transposed();
    store_vec8(at, rows.c0), store_vec8(at + 24, rows.c1), store_vec8(at + 48, rows.c2);
  }
}

void SolidElements::flow(Workers& workers, const SolidLayout& layout, const float* positions, float dt) {
  if (plasticity_.empty()) return;
  parallel_for(workers, layout.batches(), kBatchGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t batch = begin; batch < end; ++batch) {
      const auto [element, f, rotation] = present(layout, batch, positions);
      const LaneSym3<Float8> plastic = rest_strain(batch);
      const float* limits = plasticity_.data() + batch * 24;
      Float8 share;
      for (std::size_t l = 0; l < kLanes; ++l) share[l] = 1 - std::exp(-limits[8 + l] * dt);
      store_sym8(rest_strains_.data() + batch * 48, plastic_flow(corotational_strain(rotation, f, plastic), plastic,
                                                                 load8(limits), share, load8(limits + 16)));
    }
  });
}

std::size_t SolidElements::bytes() const {
  std::size_t floats = 0;
  for (const std::vector<float>* list :
       {&gradients_, &properties_, &rotations_, &rest_strains_, &plasticity_, &grains_, &blocks_, &ratios_}) {
    floats += list->size();
  }
  return floats * sizeof(float) + (forces_.size() + h_.size()) * sizeof(Vec4);
}

}  // namespace pliant
