#include "solid/whole_motion.h"

#include <cmath>

#include "math/vec3d.h"

namespace pliant {
namespace {

/// Adds a block that resists the velocity of a point at `arm`: Jᵀ B J with J = (I, −[arm]×).
void add_block(Cholesky6& matrix, const double (&b)[3][3], Vec3d arm) {
  const double r[3] = {arm.x, arm.y, arm.z};
  double moved[3][3], turned[3][3];  // −B [r]×, and [r]× of that
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t m = (k + 1) % 3, n = (k + 2) % 3;
      moved[i][k] = b[i][n] * r[m] - b[i][m] * r[n];
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t m = (i + 1) % 3, n = (i + 2) % 3;
    for (std::size_t k = 0; k < 3; ++k) turned[i][k] = r[m] * moved[n][k] - r[n] * moved[m][k];
  }
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      matrix.at(i, k) += b[i][k];
      matrix.at(i, 3 + k) += moved[i][k];
      matrix.at(3 + k, i) += moved[i][k];
      matrix.at(3 + i, 3 + k) += turned[i][k];
    }
  }
}

void add_block(Cholesky6& matrix, const LaneSym3<float>& s, Vec3d arm) {
  const auto d = [](float f) { return static_cast<double>(f); };
  add_block(matrix, {{d(s.xx), d(s.xy), d(s.xz)}, {d(s.xy), d(s.yy), d(s.yz)}, {d(s.xz), d(s.yz), d(s.zz)}}, arm);
}

}  // namespace

bool WholeMotion::measure(const std::vector<float>& tied, const LaneVectors& positions) {
  tied_ = &tied;
  const SolidTotals totals = total_momentum(tied, positions, positions);
  center_ = {static_cast<float>(totals.center[0]), static_cast<float>(totals.center[1]),
             static_cast<float>(totals.center[2])};
  inertia_.clear();
  for (std::uint32_t slot = 0; slot < tied.size(); ++slot) {
    if (tied[slot] > 0) add_block(inertia_, {tied[slot], tied[slot], tied[slot]}, Vec3d(positions.get(slot) - center_));
  }
  // A line or a point has a moment of inertia that is next to nothing.
  Cholesky6& m = inertia_;
  const double xx = m.at(3, 3), yy = m.at(4, 4), zz = m.at(5, 5), xy = m.at(4, 3), xz = m.at(5, 3), yz = m.at(5, 4);
  const double determinant = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
  if (!(totals.mass > 0 && determinant > 1e-6 * std::pow((xx + yy + zz) / 3, 3)) || !std::isfinite(determinant)) {
    return false;
  }
  factor_ = inertia_;
  factor_.factor();
  return true;
}

Vec3 WholeMotion::velocity(const Vector6& motion, Vec3 x) const {
  return rounded(motion, 0) + cross(rounded(motion, 3), x - center_);
}

LaneVec3<Float8> WholeMotion::velocity(const Vector6& motion, const LaneVec3<Float8>& x) const {
  return broadcast_vec8(rounded(motion, 0)) + cross(broadcast_vec8(rounded(motion, 3)), x - broadcast_vec8(center_));
}

Vector6 WholeMotion::remove_motion(Workers& workers, const LaneVectors& positions, LaneVectors& velocities) {
  const Vector6 motion = response(
      sum(workers, positions, [&](std::size_t g) { return velocities.group(g) * load8(tied_->data() + 8 * g); }));
  parallel_for(workers, velocities.groups(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const auto is_real = load8(tied_->data() + 8 * g) > 0;
      const LaneVec3<Float8> v = velocities.group(g);
      velocities.set_group(g, select(is_real, v - velocity(motion, positions.group(g)), v));
    }
  });
  return motion;
}

void WholeMotion::remove_impulse(Workers& workers, const LaneVectors& positions, LaneVectors& impulses) {
  const Vector6 motion = response(sum(workers, positions, [&](std::size_t g) { return impulses.group(g); }));
  parallel_for(workers, impulses.groups(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const Float8 tied = load8(tied_->data() + 8 * g);
      impulses.set_group(g, impulses.group(g) - velocity(motion, positions.group(g)) * tied);
    }
  });
}

Vector6 WholeMotion::solve_round(const SolidContactRows& rows, const LaneVectors& positions, const LaneVectors& others,
                                 const Vector6& impulse) const {
  Cholesky6 matrix = inertia_;
  Vector6 total = impulse;
  const auto arm = [&](std::uint32_t slot) { return Vec3d(positions.get(slot) - center_); };
  rows.for_each_block([&](std::uint32_t slot, const LaneSym3<float>& block) { add_block(matrix, block, arm(slot)); });
  rows.for_each_impulse(others, [&](std::uint32_t slot, Vec3 push) {
    const Vec3d p(push), moment = cross(arm(slot), p);
    total[0] += p.x, total[1] += p.y, total[2] += p.z;
    total[3] += moment.x, total[4] += moment.y, total[5] += moment.z;
  });
  matrix.factor();
  return matrix.solve(total);
}

}  // namespace pliant
