// Rings: lines that end where they begin.
//
// The same rows as those of a line with two ends, and one more coupling between the last and the first. That is a
// tridiagonal system with two corners. Rings are few and short, so they are reckoned one by one, in double: that leaves
// enough of the small differences that `eliminate` in chains.cpp avoids.
#include <algorithm>
#include <cmath>

#include "solve/chain_constants.h"
#include "solve/chains.h"

namespace pliant {
namespace {

void add(Vec4& v, Vec3 change) { v.x += change.x, v.y += change.y, v.z += change.z; }

}  // namespace

void Chains::prepare_ring(const Batch& ring, const Vec4* x, Vec4* v, float h, float softness_of_rows) {
  for (std::size_t i = 0; i < segments(ring); ++i) {
    const std::size_t at = 8 * (ring.first + i);
    Vec4 &a = v[lines_.nodes[at]], &b = v[lines_.nodes[at + 8]];
    const Vec3 step = x[lines_.nodes[at + 8]].xyz() - x[lines_.nodes[at]].xyz();
    const float distance = std::max(length(step), 1e-6f);
    const Vec3 direction = step / distance;
    direction_x_[at] = direction.x, direction_y_[at] = direction.y, direction_z_[at] = direction.z;
    error_speed_[at] = (distance - lengths_[at]) / h;
    softness_[at] = softness_of_rows * (a.w + b.w) + compliance_[at] / (h * h);
    impulses_[at] *= kWarmStart;
    add(a, direction * (-a.w * impulses_[at]));
    add(b, direction * (b.w * impulses_[at]));
  }
}

void Chains::solve_ring(const Batch& ring, Vec4* v) {
  const std::size_t count = segments(ring);
  CyclicSystem& system = ring_scratch_.system;
  std::vector<double>& change = ring_scratch_.change[0];
  system.resize(count), change.resize(count);
  const auto direction = [&](std::size_t i) {
    const std::size_t at = 8 * (ring.first + i);
    return Vec3{direction_x_[at], direction_y_[at], direction_z_[at]};
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = 8 * (ring.first + i), before = i > 0 ? i - 1 : count - 1;
    const Vec4 &a = v[lines_.nodes[at]], &b = v[lines_.nodes[at + 8]];
    const double coupling = -static_cast<double>(a.w) * static_cast<double>(dot(direction(before), direction(i)));
    system.lower[i] = coupling;
    system.upper[before] = coupling;
    // A segment between held nodes has nothing to solve.
    const double diagonal = static_cast<double>(a.w + b.w + softness_[at]);
    system.diagonal[i] = diagonal > 0 ? diagonal : 1;
    change[i] = diagonal > 0 ? -static_cast<double>(dot(direction(i), b.xyz() - a.xyz()) + error_speed_[at] +
                                                    softness_[at] * impulses_[at])
                             : 0;
  }
  system.solve(change);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = 8 * (ring.first + i);
    const auto impulse = static_cast<float>(change[i]);
    if (!std::isfinite(impulse)) continue;
    Vec4 &a = v[lines_.nodes[at]], &b = v[lines_.nodes[at + 8]];
    impulses_[at] += impulse;
    add(a, direction(i) * (-a.w * impulse));
    add(b, direction(i) * (b.w * impulse));
  }
}

void Chains::smooth_ring(const Batch& ring, const Vec4* v_before, Vec4* v, float strength) const {
  const std::size_t count = segments(ring);
  CyclicSystem& system = ring_scratch_.system;
  std::array<std::vector<double>, 3>& change = ring_scratch_.change;
  system.resize(count);
  for (std::vector<double>& axis : change) axis.resize(count);
  const auto gain = [&](std::size_t i) {
    const std::size_t at = 8 * (ring.first + i);
    return static_cast<double>(std::max(-strength * impulses_[at] / lengths_[at], 0.0f));
  };
  const auto old = [&](std::uint32_t node) { return v_before ? v_before[node].xyz() : Vec3{}; };
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t node = lines_.nodes[8 * (ring.first + i)];
    const double w = static_cast<double>(v[node].w), before = gain(i > 0 ? i - 1 : count - 1), after = gain(i);
    system.lower[i] = -w * before, system.upper[i] = -w * after, system.diagonal[i] = 1 + w * (before + after);
    for (std::size_t k = 0; k < 3; ++k) {
      change[k][i] = static_cast<double>(v[node].xyz()[k] - old(node)[k]);
    }
  }
  for (std::vector<double>& axis : change) system.solve(axis);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t node = lines_.nodes[8 * (ring.first + i)];
    const Vec3 damped{static_cast<float>(change[0][i]), static_cast<float>(change[1][i]),
                      static_cast<float>(change[2][i])};
    const Vec3 now = old(node) + damped;
    if (v[node].w > 0 && is_finite(now)) v[node] = {now.x, now.y, now.z, v[node].w};
  }
}

void Chains::limit_ring(const Batch& ring, Vec4* x, Vec4* v, float h) const {
  for (std::size_t sweep = 0; sweep < kLimitSweeps; ++sweep) {
    for (std::size_t at = 8 * ring.first; at < 8 * (ring.first + segments(ring)); at += 8) {
      if (compliance_[at] > 0) continue;
      const std::uint32_t a = lines_.nodes[at], b = lines_.nodes[at + 8];
      const Vec3 step = x[b].xyz() - x[a].xyz();
      const float distance = length(step), masses = v[a].w + v[b].w;
      if (!(distance > kAllowedStretch * lengths_[at]) || masses <= 0) continue;
      const Vec3 shift = step * ((distance - lengths_[at]) / (distance * masses));
      add(x[a], shift * v[a].w), add(v[a], shift * (v[a].w / h));
      add(x[b], shift * -v[b].w), add(v[b], shift * (-v[b].w / h));
    }
  }
}

}  // namespace pliant
