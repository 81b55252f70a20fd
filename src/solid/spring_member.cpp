#include "solid/spring_member.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

LaneSym3<double> along(Vec3 n, float stiffness) {
  const Vec3d d(n);
  const double k = static_cast<double>(stiffness);
  return {k * d.x * d.x, k * d.y * d.y, k * d.z * d.z, k * d.x * d.y, k * d.x * d.z, k * d.y * d.z};
}

Vec3d times(const LaneSym3<double>& m, Vec3d v) {
  const LaneVec3<double> out = m * LaneVec3<double>{v.x, v.y, v.z};
  return {out.x, out.y, out.z};
}

}  // namespace

void SpringMember::begin(SharedNodes& nodes) {
  shared = &nodes;
  pushes.clear();
  const std::size_t count = nodes.nodes.size();
  for (auto* vector : {&x_, &r_, &z_, &p_, &q_}) vector->assign(count, {});
  diagonal_.assign(count, {});
  whole_.begin(
      count, [&](std::size_t i) { return nodes.x[i]; }, [&](std::size_t i) { return nodes.masses[i]; });
  own_scale = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double m = whole_.mass_of(i);
    diagonal_[i] = {m, m, m, 0, 0, 0};
    own_scale += length_squared(Vec3d(nodes.v[i] - nodes.v_before[i]) * m);
  }
  own_scale = std::sqrt(own_scale);
  for (const SharedSpring& spring : nodes.springs) {
    const LaneSym3<double> block = along(spring.along, spring.stiffness);
    diagonal_[spring.a] = diagonal_[spring.a] + block;
    diagonal_[spring.b] = diagonal_[spring.b] + block;
  }
  clear_extras();
  invert_diagonals();
}

void SpringMember::clear_extras() { extra_.assign(diagonal_.size(), {}); }

void SpringMember::add_extra(std::uint32_t node, const LaneSym3<float>& block) {
  const auto d = [](float f) { return static_cast<double>(f); };
  extra_[node] =
      extra_[node] + LaneSym3<double>{d(block.xx), d(block.yy), d(block.zz), d(block.xy), d(block.xz), d(block.yz)};
}

void SpringMember::invert_diagonals() {
  inverse_.assign(diagonal_.size(), {});
  for (std::uint32_t i = 0; i < diagonal_.size(); ++i) {
    if (!is_moved(i)) continue;
    const LaneSym3<double> block = diagonal_[i] + extra_[i];
    const double det = determinant(block);
    if (det > 0 && std::isfinite(det)) inverse_[i] = adjugate(block) * (1 / det);
  }
}

float SpringMember::response(std::uint32_t node, Vec3 normal) const {
  const Vec3d n(normal);
  return static_cast<float>(dot(n, times(inverse_[node], n)));
}

double SpringMember::precondition(double step) {
  double product = 0, squared = 0;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    x_[i] += p_[i] * step;
    r_[i] += q_[i] * -step;
    z_[i] = times(inverse_[i], r_[i]);
    product += dot(r_[i], z_[i]);
    squared += length_squared(r_[i]);
  }
  residual = std::sqrt(squared);
  return product;
}

Vector6 SpringMember::whole_force() const {
  return whole_.sum([&](std::size_t i) { return r_[i]; });
}

Vector6 SpringMember::gained() const {
  return whole_.sum([&](std::size_t i) { return x_[i] * whole_.mass_of(i); });
}

void SpringMember::add_whole_motion(const Vector6& motion) {
  for (std::uint32_t i = 0; i < z_.size(); ++i) z_[i] += whole_.motion_at(motion, i);
}

void SpringMember::move(const Vector6& motion) {
  for (std::uint32_t i = 0; i < x_.size(); ++i) x_[i] += whole_.motion_at(motion, i);
}

void SpringMember::renew_direction(double beta) {
  for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = z_[i] + p_[i] * beta;
}

void SpringMember::multiply() {
  for (std::uint32_t i = 0; i < p_.size(); ++i) q_[i] = p_[i] * whole_.mass_of(i);
  for (const SharedSpring& spring : shared->springs) {
    const Vec3d d(spring.along);
    const Vec3d pull = d * (static_cast<double>(spring.stiffness) * dot(d, p_[spring.a] - p_[spring.b]));
    if (is_moved(spring.a)) q_[spring.a] += pull;
    if (is_moved(spring.b)) q_[spring.b] += -pull;
  }
}

double SpringMember::curvature() const {
  double total = 0;
  for (std::size_t i = 0; i < p_.size(); ++i) total += dot(p_[i], q_[i]);
  return total;
}

bool SpringMember::bound_motion(double most) {
  const double now = motion();
  if (now <= most * most) return false;
  const double slower = most / std::sqrt(now);
  for (std::uint32_t i = 0; i < x_.size(); ++i) {
    const Vec3d v(shared->v[i]);
    if (is_moved(i)) x_[i] = (v + x_[i]) * slower - v;
  }
  return true;
}

void SpringMember::end() {
  shared->change.resize(x_.size());
  for (std::size_t i = 0; i < x_.size(); ++i) shared->change[i] = x_[i].to_float();
}

}  // namespace pliant
