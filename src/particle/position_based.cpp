#include "particle/position_based.h"

#include <algorithm>

#include <fmt/format.h>

#include "math/node_lanes.h"
#include "particle/element_check.h"
#include "particle/position_kernel.h"
#include "particle/rigid_part.h"

namespace pliant {

namespace {

constexpr float kNoStiffness = 1e30f;  // a compliance so large that the constraint does nothing

/// The compliance of an energy ½ stiffness C².
float compliance_of(double stiffness) { return stiffness > 1e-30 ? static_cast<float>(1 / stiffness) : kNoStiffness; }

Status check_tet(const TetConstraint& tet, std::size_t i, std::size_t node_count) {
  if (!is_element(tet.nodes, node_count)) return wrong_element("tets", i, "needs four different nodes of the body");
  const bool finite =
      std::all_of(tet.inverse_rest.begin(), tet.inverse_rest.end(), [](float entry) { return std::isfinite(entry); });
  if (!finite || !(tet.rest_volume > 0) || !std::isfinite(tet.rest_volume)) {
    return wrong_element("tets", i, "the rest volume must be positive, the inverse rest matrix finite");
  }
  if (!is_amount(tet.shear_modulus) || !is_amount(tet.volume_modulus)) {
    return wrong_element("tets", i, "moduli must be finite and not negative");
  }
  return {};
}

Status check(const PositionBasedRest& rest) {
  for (std::size_t i = 0; i < rest.tets.size(); ++i) {
    if (const Status status = check_tet(rest.tets[i], i, rest.node_count); !status) return status;
  }
  for (std::size_t i = 0; i < rest.distances.size(); ++i) {
    const DistanceConstraint& d = rest.distances[i];
    if (!is_element(d.nodes, rest.node_count) || !is_amount(d.rest_length) || !is_amount(d.compliance)) {
      return wrong_element("distances", i, "needs two different nodes, a length and a compliance not below 0");
    }
  }
  for (std::size_t i = 0; i < rest.bends.size(); ++i) {
    const BendConstraint& b = rest.bends[i];
    if (!is_element(b.nodes, rest.node_count) || !std::isfinite(b.rest_angle) || !is_amount(b.compliance)) {
      return wrong_element("bends", i, "needs four different nodes, an angle and a compliance not below 0");
    }
  }
  if (rest.iterations < 1) return wrong_value("iterations", "must be at least 1");
  if (!is_amount(rest.deviation_damping)) return wrong_value("deviation_damping", "must be finite and not negative");
  return {};
}

template <typename Constraint, std::size_t N = std::tuple_size_v<decltype(Constraint::nodes)>>
LaneGroups<N> groups_of(const std::vector<Constraint>& constraints, std::size_t node_count) {
  std::vector<std::array<std::uint32_t, N>> elements;
  for (const Constraint& c : constraints) elements.push_back(c.nodes);
  return LaneGroups<N>::build(elements, node_count);
}

float wrapped(float angle) {
  if (angle > kPi) return angle - 2 * kPi;
  return angle < -kPi ? angle + 2 * kPi : angle;
}

}  // namespace

float fold_angle(const std::array<Vec3, 4>& nodes, std::array<Vec3, 4>* gradient) {
  const auto& [a, b, c, d] = nodes;
  const Vec3 edge = b - a, left = cross(edge, c - a), right = cross(d - a, edge);
  const float ll = length_squared(left), rr = length_squared(right), span = length(edge);
  const float tiny = 1e-12f * span * span * span * span;
  if (gradient) *gradient = {};
  if (!(ll > tiny && rr > tiny && span > 0)) return 0;
  if (gradient) {
    const Vec3 l = left / ll, r = right / rr;
    const float c_along = dot(c - a, edge) / span, d_along = dot(d - a, edge) / span;
    (*gradient)[2] = -span * l;
    (*gradient)[3] = -span * r;
    (*gradient)[1] = c_along * l + d_along * r;
    (*gradient)[0] = (span - c_along) * l + (span - d_along) * r;
  }
  return std::atan2(dot(cross(left, right), edge), span * dot(left, right));
}

Result<PositionBased> PositionBased::create(PositionBasedRest rest) {
  if (const Status status = check(rest); !status) return status.error();
  return PositionBased(std::move(rest));
}

PositionBased::PositionBased(PositionBasedRest rest)
    : rest_(std::move(rest)),
      tet_groups_(groups_of(rest_.tets, rest_.node_count)),
      bend_groups_(groups_of(rest_.bends, rest_.node_count)),
      distance_groups_(groups_of(rest_.distances, rest_.node_count)) {
  const std::size_t tets = tet_groups_.size(), distances = distance_groups_.size(), bends = bend_groups_.size();
  for (LaneValues& entry : inverse_rest_) entry = LaneValues(tets);
  for (LaneValues& multiplier : strain_multiplier_) multiplier = LaneValues(tets);
  shear_compliance_ = volume_compliance_ = LaneValues(tets, kNoStiffness);
  volume_multiplier_ = LaneValues(tets);
  for (std::size_t i = 0; i < rest_.tets.size(); ++i) {
    const TetConstraint& tet = rest_.tets[i];
    const std::uint32_t slot = tet_groups_.slots[i];
    const double volume = tet.rest_volume;
    for (std::size_t k = 0; k < 9; ++k) inverse_rest_[k].set(slot, tet.inverse_rest[k]);
    shear_compliance_.set(slot, compliance_of(static_cast<double>(tet.shear_modulus) * volume));
    volume_compliance_.set(slot, compliance_of(static_cast<double>(tet.volume_modulus) * volume));
    has_strain_ = has_strain_ || tet.shear_modulus > 0;
    has_volume_ = has_volume_ || tet.volume_modulus > 0;
  }
  length_ = distance_multiplier_ = LaneValues(distances);
  distance_compliance_ = LaneValues(distances, kNoStiffness);
  for (std::size_t i = 0; i < rest_.distances.size(); ++i) {
    length_.set(distance_groups_.slots[i], rest_.distances[i].rest_length);
    distance_compliance_.set(distance_groups_.slots[i], rest_.distances[i].compliance);
  }
  angle_ = bend_multiplier_ = LaneValues(bends);
  bend_compliance_ = LaneValues(bends, kNoStiffness);
  for (std::size_t i = 0; i < rest_.bends.size(); ++i) {
    angle_.set(bend_groups_.slots[i], rest_.bends[i].rest_angle);
    bend_compliance_.set(bend_groups_.slots[i], rest_.bends[i].compliance);
  }
  position_.resize(rest_.node_count + 1);
}

void PositionBased::free_velocity(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) {
  if (!(h > 0) || v.size() != rest_.node_count || x.size() != rest_.node_count) return;
  const RigidPart before = rigid_part(x, v);
  // Seen from the body's centre, where floats are finest.
  const Vec3 center = before.center.to_float();
  const auto predicted = [&](std::size_t i) { return (x[i].xyz() - center) + h * v[i].xyz(); };
  for (std::size_t i = 0; i < v.size(); ++i) {
    const Vec3 p = predicted(i);
    position_[i] = {p.x, p.y, p.z, v[i].w};
  }
  for (LaneValues& multiplier : strain_multiplier_) multiplier.fill(0);
  for (LaneValues* multiplier : {&volume_multiplier_, &distance_multiplier_, &bend_multiplier_}) multiplier->fill(0);
  const float per_h_squared = 1 / (h * h);
  for (int i = 0; i < rest_.iterations; ++i) {
    tet_groups_.sweep(workers, [&](std::size_t group) { project_tets(group, per_h_squared); });
    distance_groups_.sweep(workers, [&](std::size_t group) { project_distances(group, per_h_squared); });
    bend_groups_.sweep(workers, [&](std::size_t group) { project_bends(group, per_h_squared); });
  }
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i].w == 0) continue;
    const Vec3 reached = v[i].xyz() + (position_[i].xyz() - predicted(i)) / h;
    v[i] = {reached.x, reached.y, reached.z, v[i].w};
  }
  keep_rigid_part(x, v, before, kept_share(rest_.deviation_damping, h), h);
}

void PositionBased::project_tets(std::size_t g, float per_h_squared) {
  const auto& nodes = tet_groups_.groups[g].node;
  NodeLanes corner[4];
  Float8 w[4];
  for (int i = 0; i < 4; ++i) corner[i] = load_nodes(position_.data(), nodes[i]), w[i] = corner[i].w;
  const auto column = [&](int c) {
    return LaneVec3<Float8>{inverse_rest_[3 * c].load(g), inverse_rest_[3 * c + 1].load(g),
                            inverse_rest_[3 * c + 2].load(g)};
  };
  const LaneMat3<Float8> inverse_rest{column(0), column(1), column(2)};
  TetProjection<Float8> tet(
      {corner[1].xyz - corner[0].xyz, corner[2].xyz - corner[0].xyz, corner[3].xyz - corner[0].xyz}, inverse_rest, w);
  if (has_strain_) {
    Float8 lambda[6];
    for (int i = 0; i < 6; ++i) lambda[i] = strain_multiplier_[i].load(g);
    tet.strain(shear_compliance_.load(g) * per_h_squared, lambda);
    for (int i = 0; i < 6; ++i) strain_multiplier_[i].store(g, lambda[i]);
  }
  if (has_volume_) {
    Float8 lambda = volume_multiplier_.load(g);
    tet.volume(volume_compliance_.load(g) * per_h_squared, lambda);
    volume_multiplier_.store(g, lambda);
  }
  LaneVec3<Float8> others;
  for (int i = 1; i < 4; ++i) {
    const LaneVec3<Float8> step = tet.step_of(inverse_rest, i);
    others = others + step;
    store_nodes(position_.data(), nodes[i], {corner[i].xyz + step * w[i], w[i]});
  }
  store_nodes(position_.data(), nodes[0], {corner[0].xyz - others * w[0], w[0]});
}

void PositionBased::project_distances(std::size_t g, float per_h_squared) {
  const auto& nodes = distance_groups_.groups[g].node;
  NodeLanes a = load_nodes(position_.data(), nodes[0]), b = load_nodes(position_.data(), nodes[1]);
  Float8 lambda = distance_multiplier_.load(g);
  project_distance(a.xyz, b.xyz, a.w, b.w, length_.load(g), distance_compliance_.load(g) * per_h_squared, lambda);
  distance_multiplier_.store(g, lambda);
  store_nodes(position_.data(), nodes[0], a);
  store_nodes(position_.data(), nodes[1], b);
}

/// One lane after the other: angles cost more than what eight lanes would save.
void PositionBased::project_bends(std::size_t g, float per_h_squared) {
  const auto& nodes = bend_groups_.groups[g].node;
  Float8 lambda = bend_multiplier_.load(g);
  const Float8 rest = angle_.load(g), compliance = bend_compliance_.load(g) * per_h_squared;
  for (std::size_t lane = 0; lane < kLanes && nodes[0][lane] < rest_.node_count; ++lane) {
    std::array<Vec3, 4> p, gradient;
    for (std::size_t i = 0; i < 4; ++i) p[i] = position_[nodes[i][lane]].xyz();
    const float c = wrapped(fold_angle(p, &gradient) - rest[lane]);
    float weight = 0;
    for (std::size_t i = 0; i < 4; ++i) weight += position_[nodes[i][lane]].w * length_squared(gradient[i]);
    if (!(weight > 0)) continue;
    const float change = multiplier_change(c, compliance[lane], lambda[lane], weight);
    lambda[lane] += change;
    for (std::size_t i = 0; i < 4; ++i) {
      Vec4& node = position_[nodes[i][lane]];
      const Vec3 moved = p[i] + gradient[i] * (node.w * change);
      node = {moved.x, moved.y, moved.z, node.w};
    }
  }
  bend_multiplier_.store(g, lambda);
}

}  // namespace pliant
