#include "particle/shape_matching.h"

#include <algorithm>

#include "math/element_rotation.h"
#include "math/vec3d.h"
#include "particle/element_check.h"
#include "particle/rigid_part.h"

namespace pliant {

namespace {

constexpr float kReferenceStep = 1.0f / 240;
// Between these shares of its volume a fit gives way to its rotation.
constexpr float kFlatFit = 0.05f, kFullFit = 0.25f;

Status check(const ShapeMatchingRest& rest) {
  const std::size_t count = rest.positions.size();
  if (rest.masses.size() != count) return wrong_value("masses", "must be as many as positions");
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_finite(rest.positions[i])) return wrong_element("positions", i, "must be finite");
    if (!(rest.masses[i] > 0) || !std::isfinite(rest.masses[i])) {
      return wrong_element("masses", i, "must be positive and finite");
    }
  }
  for (std::size_t c = 0; c < rest.clusters.size(); ++c) {
    if (rest.clusters[c].empty()) return wrong_element("clusters", c, "has no nodes");
    std::vector<std::uint32_t> nodes = rest.clusters[c];
    std::sort(nodes.begin(), nodes.end());
    if (nodes.back() >= count) return wrong_element("clusters", c, "names a node that does not exist");
    if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end()) {
      return wrong_element("clusters", c, "names a node twice");
    }
  }
  if (!(rest.stiffness > 0 && rest.stiffness <= 1)) return wrong_value("stiffness", "must be above 0 and at most 1");
  if (!(rest.stretch >= 0 && rest.stretch <= 1)) return wrong_value("stretch", "must be from 0 to 1");
  if (!is_amount(rest.deviation_damping)) return wrong_value("deviation_damping", "must be finite and not negative");
  return {};
}

/// Inverts a symmetric matrix of n rows that is positive but for flat directions, which a little is added to.
void invert(double* m, std::size_t n) {
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += m[i * n + i];
  const double little = trace > 0 ? 1e-9 * trace : 1;
  for (std::size_t i = 0; i < n; ++i) m[i * n + i] += little;
  // Gauss-Jordan in place; a positive definite matrix needs no pivoting.
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = 1 / std::max(m[k * n + k], 0.5 * little);
    m[k * n + k] = 1;
    for (std::size_t j = 0; j < n; ++j) m[k * n + j] *= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = m[i * n + k];
      m[i * n + k] = 0;
      for (std::size_t j = 0; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
}

/// q, and with it its squares and products, in units of the cluster's radius.
void fill_terms(Vec3d q, std::size_t count, double* terms) {
  const double all[9] = {q.x, q.y, q.z, q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.y * q.z, q.z * q.x};
  std::copy_n(all, count, terms);
}

Vec4 to_vec4(const LaneVec3<float>& v) { return {v.x, v.y, v.z, 0}; }

}  // namespace

Result<ShapeMatching> ShapeMatching::create(ShapeMatchingRest rest) {
  if (const Status status = check(rest); !status) return status.error();
  return ShapeMatching(std::move(rest));
}

ShapeMatching::ShapeMatching(ShapeMatchingRest rest)
    : rest_(std::move(rest)), term_count_(rest_.mode == ShapeMode::Quadratic ? kMostTerms : 3) {
  for (const auto& nodes : rest_.clusters) add_cluster(nodes);
  const std::size_t nodes = rest_.positions.size();
  membership_starts_.assign(nodes + 1, 0);
  for (const std::uint32_t node : member_node_) ++membership_starts_[node + 1];
  for (std::size_t i = 0; i < nodes; ++i) membership_starts_[i + 1] += membership_starts_[i];
  memberships_.resize(member_node_.size());
  std::vector<std::uint32_t> next(membership_starts_.begin(), membership_starts_.end() - 1);
  for (std::uint32_t m = 0; m < member_node_.size(); ++m) memberships_[next[member_node_[m]]++] = m;
  fits_.resize(clusters_.size());
  position_.resize(nodes);
}

void ShapeMatching::add_cluster(const std::vector<std::uint32_t>& nodes) {
  Cluster cluster;
  cluster.first = static_cast<std::uint32_t>(member_node_.size());
  cluster.count = static_cast<std::uint32_t>(nodes.size());
  double mass = 0, radius_squared = 0;
  Vec3d center;
  for (const std::uint32_t node : nodes) {
    mass += static_cast<double>(rest_.masses[node]);
    center += static_cast<double>(rest_.masses[node]) * Vec3d(rest_.positions[node]);
  }
  center = center / mass;
  for (const std::uint32_t node : nodes) {
    radius_squared = std::max(radius_squared, length_squared(Vec3d(rest_.positions[node]) - center));
  }
  const double radius = radius_squared > 0 ? std::sqrt(radius_squared) : 1;
  const std::size_t n = term_count_;
  std::vector<double> terms(nodes.size() * n), mean(n);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    fill_terms((Vec3d(rest_.positions[nodes[i]]) - center) / radius, n, &terms[i * n]);
    for (std::size_t k = 0; k < n; ++k)
      mean[k] += static_cast<double>(rest_.masses[nodes[i]]) * terms[i * n + k] / mass;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double m = rest_.masses[nodes[i]];
    for (std::size_t k = 0; k < n; ++k) terms[i * n + k] -= mean[k];
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t l = 0; l < n; ++l) cluster.inverse[k * n + l] += m * terms[i * n + k] * terms[i * n + l];
    }
    member_node_.push_back(nodes[i]);
    member_cluster_.push_back(static_cast<std::uint32_t>(clusters_.size()));
    member_mass_.push_back(rest_.masses[nodes[i]]);
  }
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  const double* a = cluster.inverse;
  const double size = a[0] + a[n + 1] + a[2 * n + 2];
  const double determinant_of_terms = a[0] * (a[n + 1] * a[2 * n + 2] - a[n + 2] * a[2 * n + 1]) -
                                      a[1] * (a[n] * a[2 * n + 2] - a[n + 2] * a[2 * n]) +
                                      a[2] * (a[n] * a[2 * n + 1] - a[n + 1] * a[2 * n]);
  cluster.radius = static_cast<float>(radius);
  cluster.size_squared = static_cast<float>(size);
  cluster.flat_determinant =
      size > 0 ? static_cast<float>(static_cast<double>(kFlatVolume) * determinant_of_terms / (size * size * size)) : 1;
  invert(cluster.inverse, n);
  clusters_.push_back(cluster);
}

float ShapeMatching::share_of_way(float h) const {
  const float ratio = h / kReferenceStep, k = rest_.stiffness * ratio * ratio;
  return k / ((1 - rest_.stiffness) + k);
}

void ShapeMatching::free_velocity(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) {
  const std::size_t count = rest_.positions.size();
  if (!(h > 0) || x.size() != count || v.size() != count) return;
  const RigidPart before = rigid_part(x, v);
  const Vec3 center = before.center.to_float();
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3 p = (x[i].xyz() - center) + h * v[i].xyz();
    position_[i] = {p.x, p.y, p.z, v[i].w};
  }
  parallel_for(workers, clusters_.size(), kLanes,
               [&](std::size_t begin, std::size_t end) { fit_clusters(begin, end); });
  const float per_step = share_of_way(h) / h;
  constexpr std::size_t kGrain = 1024;
  parallel_for(workers, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (v[i].w == 0 || membership_starts_[i] == membership_starts_[i + 1]) continue;
      const Vec3 u = v[i].xyz() + per_step * (goal(static_cast<std::uint32_t>(i)) - position_[i].xyz());
      v[i] = {u.x, u.y, u.z, v[i].w};
    }
  });
  keep_rigid_part(x, v, before, kept_share(rest_.deviation_damping, h), h);
}

void ShapeMatching::gather_moments(std::uint32_t c, Moments& moments) const {
  const Cluster& cluster = clusters_[c];
  const std::size_t n = term_count_;
  std::copy_n(cluster.inverse, n * n, moments.inverse);
  std::fill_n(moments.mean, n, 0.0f);
  bool held = false;
  Float4 sum{};
  float mass = 0;
  for (std::uint32_t m = cluster.first; m < cluster.first + cluster.count; ++m) {
    const Vec4& p = position_[member_node_[m]];
    held = held || p.w == 0;
    sum += load4(&p.x) * member_mass_[m];
    mass += member_mass_[m];
  }
  sum /= mass;
  moments.center = {sum[0], sum[1], sum[2]};
  if (held) return weigh_held(cluster, moments);
  Float4 product[kMostTerms] = {};
  for (std::uint32_t m = cluster.first; m < cluster.first + cluster.count; ++m) {
    const Float4 weighted = (load4(&position_[member_node_[m]].x) - sum) * member_mass_[m];
    const float* terms = terms_of(m);
    for (std::size_t k = 0; k < n; ++k) product[k] += weighted * terms[k];
  }
  for (std::size_t k = 0; k < n; ++k) moments.product[k] = {product[k][0], product[k][1], product[k][2]};
}

/// The same with held nodes as heavy as all their cluster: the mean and the matrix of the rest shape change with them.
void ShapeMatching::weigh_held(const Cluster& cluster, Moments& moments) const {
  const std::size_t n = term_count_;
  const std::uint32_t end = cluster.first + cluster.count;
  double all = 0, total = 0, mean[kMostTerms] = {};
  for (std::uint32_t m = cluster.first; m < end; ++m) all += static_cast<double>(member_mass_[m]);
  const auto weight = [&](std::uint32_t m) {
    return position_[member_node_[m]].w == 0 ? all : static_cast<double>(member_mass_[m]);
  };
  Vec3d center;
  for (std::uint32_t m = cluster.first; m < end; ++m) {
    total += weight(m);
    center += weight(m) * Vec3d(position_[member_node_[m]].xyz());
    for (std::size_t k = 0; k < n; ++k) mean[k] += weight(m) * static_cast<double>(terms_of(m)[k]);
  }
  center = center / total;
  for (std::size_t k = 0; k < n; ++k) mean[k] /= total;
  std::fill_n(moments.inverse, n * n, 0.0);
  Vec3d product[kMostTerms];
  for (std::uint32_t m = cluster.first; m < end; ++m) {
    const Vec3d d = weight(m) * (Vec3d(position_[member_node_[m]].xyz()) - center);
    double term[kMostTerms];
    for (std::size_t k = 0; k < n; ++k) term[k] = static_cast<double>(terms_of(m)[k]) - mean[k];
    for (std::size_t k = 0; k < n; ++k) {
      product[k] += term[k] * d;
      const double weighted = weight(m) * term[k];
      for (std::size_t l = 0; l <= k; ++l) moments.inverse[k * n + l] += weighted * term[l];
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t l = 0; l < k; ++l) moments.inverse[l * n + k] = moments.inverse[k * n + l];
  }
  invert(moments.inverse, n);
  moments.center = center.to_float();
  for (std::size_t k = 0; k < n; ++k) {
    moments.mean[k] = static_cast<float>(mean[k]);
    moments.product[k] = to_lane(product[k].to_float());
  }
}

/// At most eight clusters: their rotations are found together.
void ShapeMatching::fit_clusters(std::size_t first, std::size_t end) {
  Moments moments[kLanes];
  LaneMat3<Float8> f{{broadcast(1), {}, {}}, {{}, broadcast(1), {}}, {{}, {}, broadcast(1)}};
  Float8 flat = broadcast(kFlatVolume);
  for (std::size_t c = first; c < end; ++c) {
    const std::size_t lane = c - first;
    const Cluster& cluster = clusters_[c];
    gather_moments(static_cast<std::uint32_t>(c), moments[lane]);
    const float scale = cluster.size_squared > 0 ? 1 / (cluster.size_squared * cluster.radius) : 0;
    const auto put = [&](LaneVec3<Float8>& column, const LaneVec3<float>& from) {
      column.x[lane] = from.x * scale, column.y[lane] = from.y * scale, column.z[lane] = from.z * scale;
    };
    put(f.c0, moments[lane].product[0]), put(f.c1, moments[lane].product[1]), put(f.c2, moments[lane].product[2]);
    flat[lane] = cluster.flat_determinant;
  }
  const Float8 one = broadcast(1), zero{};
  const LaneMat3<Float8> upright{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
  const LaneQuat<Float8> start = quaternion_of(qr_rotation(f, upright));
  const LaneMat3<Float8> rotations = element_rotation(f, start, flat).to_matrix();
  for (std::size_t c = first; c < end; ++c) {
    const std::size_t lane = c - first;
    const auto take = [&](const LaneVec3<Float8>& column) {
      return LaneVec3<float>{column.x[lane], column.y[lane], column.z[lane]} * clusters_[c].radius;
    };
    make_fit(moments[lane], {take(rotations.c0), take(rotations.c1), take(rotations.c2)}, fits_[c]);
  }
}

/// `rotation` is scaled by the cluster's radius, as are the terms.
void ShapeMatching::make_fit(const Moments& moments, const LaneMat3<float>& rotation, Fit& fit) const {
  const std::size_t n = term_count_;
  LaneVec3<float> column[kMostTerms] = {rotation.c0, rotation.c1, rotation.c2};
  if (rest_.mode != ShapeMode::Rigid && rest_.stretch > 0) {
    LaneVec3<float> map[kMostTerms] = {};
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t l = 0; l < n; ++l) {
        map[k] = map[k] + moments.product[l] * static_cast<float>(moments.inverse[l * n + k]);
      }
    }
    const float volume = determinant(LaneMat3<float>{map[0], map[1], map[2]}) / determinant(rotation);
    const float fullness = (volume - kFlatFit) / (kFullFit - kFlatFit);
    const float share = rest_.stretch * std::clamp(std::isfinite(fullness) ? fullness : 0.0f, 0.0f, 1.0f);
    // Volume is kept in linear mode only: a quadratic map has no single one.
    const float scale = share > 0 && rest_.mode == ShapeMode::Linear ? 1 / std::cbrt(volume) : 1;
    for (std::size_t k = 0; k < n && share > 0; ++k) column[k] = map[k] * (share * scale) + column[k] * (1 - share);
  }
  LaneVec3<float> offset = to_lane(moments.center);
  for (std::size_t k = 0; k < n; ++k) {
    offset = offset - column[k] * moments.mean[k];
    fit.column[k] = to_vec4(column[k]);
  }
  fit.offset = to_vec4(offset);
}

Vec3 ShapeMatching::goal(std::uint32_t node) const {
  const std::uint32_t begin = membership_starts_[node], end = membership_starts_[node + 1];
  Float4 sum{};
  for (std::uint32_t i = begin; i < end; ++i) {
    const std::uint32_t member = memberships_[i];
    const Fit& fit = fits_[member_cluster_[member]];
    const float* terms = terms_of(member);
    sum += load4(&fit.offset.x);
    for (std::size_t k = 0; k < term_count_; ++k) sum += load4(&fit.column[k].x) * terms[k];
  }
  sum /= static_cast<float>(end - begin);
  return {sum[0], sum[1], sum[2]};
}

}  // namespace pliant
