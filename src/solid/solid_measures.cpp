#include "solid/solid_measures.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "math/eigen_convert.h"
#include "math/nearest_rotation.h"
#include "solid/principal_kernel.h"

namespace pliant {
namespace {

/// An element of one tet at its present place: Cauchy-like stress and elastic strain in its own frame.
struct TetState {
  LaneSym3<float> stress, strain, plastic;
};

/// The Cauchy stress of the stable Neo-Hookean solid in principal axes.
TetState neo_hookean_state(const LaneMat3<float>& f, const LaneMat3<float>& rotation, float lambda, float mu) {
  const LaneSvd<float> svd = signed_svd(f, rotation);
  const LaneVec3<float>& s = svd.values;
  const float m = mu * (4.0f / 3), l = lambda + mu * (5.0f / 6), alpha = 1 + 0.75f * m / l;
  const float ic = dot(s, s), j = s.x * s.y * s.z;
  TetState state;
  const float shear = m * (1 - 1 / (ic + 1)), bulk = l * (j - alpha);
  const float safe = std::max(std::abs(j), 1e-6f);
  state.stress = {(shear * s.x * s.x + bulk * j) / safe, (shear * s.y * s.y + bulk * j) / safe,
                  (shear * s.z * s.z + bulk * j) / safe};
  state.strain = {s.x - 1, s.y - 1, s.z - 1};
  return state;
}

TetState tet_state(const SolidBody& body, std::uint32_t tet) {
  const SolidLayout& layout = body.layout();
  const std::uint32_t lane = layout.batch_of_tet[tet];
  const ElementSample sample = body.elements().sample(layout, lane);
  LaneVec3<float> x[4];
  for (std::size_t c = 0; c < 4; ++c) x[c] = to_lane(body.position(body.def().mesh.tets[tet][c]));
  const LaneMat3<float> f = deformation_gradient(x, sample.rest.gradients);
  const LaneMat3<float> rotation = element_rotation(f, sample.rotation, sample.rest.flat_determinant).to_matrix();
  const bool is_flat = !(determinant(f) > sample.rest.flat_determinant);
  if (layout.kind_of_batch[lane / 8] == static_cast<std::uint8_t>(ElementKind::NeoHookean) && !is_flat) {
    return neo_hookean_state(f, rotation, sample.rest.lambda, sample.rest.mu);
  }
  TetState state;
  state.plastic = sample.rest_strain;
  state.strain = corotational_strain(rotation, f, sample.rest_strain);
  state.stress = linear_stress(state.strain, sample.rest.lambda, sample.rest.mu);
  const LaneVec3<float> g = sample.grain;
  state.stress =
      state.stress + fiber_stress(fiber_of(f, rotation, sample.rest_strain, g), rotation, g, sample.grain_modulus);
  return state;
}

float von_mises(const LaneSym3<float>& s) {
  const float a = s.xx - s.yy, b = s.yy - s.zz, c = s.zz - s.xx;
  const float shear = s.xy * s.xy + s.xz * s.xz + s.yz * s.yz;
  return std::sqrt(0.5f * (a * a + b * b + c * c) + 3 * shear);
}

/// The rotation that brings the mesh at rest nearest to where it is, its nodes weighted by mass.
Quat rotation_from_rest(const SolidBody& body, const Eigen::Vector3d& center, const Eigen::Vector3d& rest_center) {
  Eigen::Matrix3d moment = Eigen::Matrix3d::Zero();
  for (std::uint32_t i = 0; i < body.node_count(); ++i) {
    moment += static_cast<double>(body.mass(i)) * (to_eigen(body.position(i)) - center) *
              (to_eigen(body.def().mesh.nodes[i]) - rest_center).transpose();
  }
  return nearest_rotation(moment);
}

Eigen::Vector3d center_of(const SolidBody& body) {
  const SolidTotals totals = body.totals();
  return {totals.center[0], totals.center[1], totals.center[2]};
}

Eigen::Matrix3d inertia_of(const SolidBody& body, const Eigen::Vector3d& center) {
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
  for (std::uint32_t i = 0; i < body.node_count(); ++i) {
    const Eigen::Vector3d r = to_eigen(body.position(i)) - center;
    inertia += static_cast<double>(body.mass(i)) * (r.squaredNorm() * Eigen::Matrix3d::Identity() - r * r.transpose());
  }
  return inertia;
}

Vec3 turn_of_spin(const Eigen::Matrix3d& inertia, const Eigen::Vector3d& spin) {
  if (!inertia.allFinite() || inertia.determinant() <= 1e-9 * std::pow(inertia.trace(), 3)) return {};
  return from_eigen(inertia.ldlt().solve(spin));
}

}  // namespace

std::vector<float> measure_tets(const SolidBody& body, TetValue value) {
  std::vector<float> values(body.tet_count());
  for (std::uint32_t tet = 0; tet < values.size(); ++tet) {
    const TetState state = tet_state(body, tet);
    switch (value) {
      case TetValue::Stress:
        values[tet] = von_mises(state.stress);
        break;
      case TetValue::Tension:
        values[tet] = symmetric_eigen(state.stress).values.x;
        break;
      case TetValue::Strain:
        values[tet] = std::sqrt(state.strain.norm_squared());
        break;
      case TetValue::PlasticStrain:
        values[tet] = std::sqrt(state.plastic.norm_squared());
        break;
    }
  }
  return values;
}

double measure_energy(Workers& workers, const SolidBody& body, std::vector<double>& scratch) {
  constexpr std::size_t kGrain = 128;
  const std::size_t batches = body.layout().batches();
  const auto energy_of = [&](std::size_t begin, std::size_t end) {
    return body.elements().energy(body.layout(), body.state().positions.data(), begin, end);
  };
  if (workers.threads() > 1) {
    return parallel_reduce(workers, batches, kGrain, 0.0, scratch, energy_of, [](double a, double b) { return a + b; });
  }
  double total = 0;
  for (std::size_t begin = 0; begin < batches; begin += kGrain) {
    total += energy_of(begin, std::min(batches, begin + kGrain));
  }
  return total;
}

Vec3 turn_of_spin(const SolidBody& body, Vec3 spin) {
  return turn_of_spin(inertia_of(body, center_of(body)), to_eigen(spin));
}

Mat3 inertia_in(const SolidBody& body, Quat world_from_frame) {
  const Vec3 axes[3] = {world_from_frame.rotate({1, 0, 0}), world_from_frame.rotate({0, 1, 0}),
                        world_from_frame.rotate({0, 0, 1})};
  const Eigen::Matrix3d inertia = inertia_of(body, center_of(body));
  Mat3 out;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      out(r, c) = static_cast<float>(to_eigen(axes[r]).dot(inertia * to_eigen(axes[c])));
    }
  }
  return out;
}

BodyState rigid_fit(const SolidBody& body) {
  const SolidTotals totals = body.totals();
  BodyState state;
  if (totals.mass <= 0) return state;
  const Eigen::Vector3d center = center_of(body);
  Eigen::Vector3d rest_center = Eigen::Vector3d::Zero();
  for (std::uint32_t i = 0; i < body.node_count(); ++i) {
    rest_center += static_cast<double>(body.mass(i)) * to_eigen(body.def().mesh.nodes[i]) / totals.mass;
  }
  state.mass = static_cast<float>(totals.mass);
  state.center_of_mass = from_eigen(center);
  state.world_from_body.rotation = rotation_from_rest(body, center, rest_center);
  state.world_from_body.position =
      state.center_of_mass - state.world_from_body.rotation.rotate(from_eigen(rest_center));
  state.velocity =
      from_eigen(Eigen::Vector3d(totals.momentum[0], totals.momentum[1], totals.momentum[2]) / totals.mass);
  const Eigen::Vector3d spin(totals.spin[0], totals.spin[1], totals.spin[2]);
  state.angular_velocity = turn_of_spin(inertia_of(body, center), spin);
  return state;
}

}  // namespace pliant
