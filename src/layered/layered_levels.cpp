#include "layered/layered_levels.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Contacts hold patches by so much more than they should. A patch that moves into a contact is worth less than one
/// that leaves it to the nodes: from 0.2 to 1, 3 and 16 a landing ring takes 28, 15, 10.6 and 11 iterations a step.
constexpr float kHold = 3;
constexpr std::size_t kGrain = 64;  ///< groups of eight patches in one piece of work

}  // namespace

void DenseCholesky::factor() {
  constexpr double kLeastShare = 1e-9;
  before_.resize(size_);
  for (std::size_t j = 0; j < size_; ++j) before_[j] = row(j)[j];
  for (std::size_t j = 0; j < size_; ++j) {
    double* pivots = row(j);
    const double pivot = pivots[j];
    const double inverse = pivot > kLeastShare * before_[j] && std::isfinite(pivot) ? 1 / std::sqrt(pivot) : 0;
    for (std::size_t k = j + 1; k < size_; ++k) pivots[k] *= inverse;
    pivots[j] = inverse;
    for (std::size_t i = j + 1; i < size_; ++i) {
      const double share = pivots[i];
      double* to = row(i);
      for (std::size_t k = i; k < size_; ++k) to[k] -= share * pivots[k];
    }
  }
}

void DenseCholesky::solve(double* x) const {
  for (std::size_t j = 0; j < size_; ++j) {
    const double* pivots = u_.data() + j * size_;
    const double value = x[j] *= pivots[j];
    for (std::size_t k = j + 1; k < size_; ++k) x[k] -= value * pivots[k];
  }
  for (std::size_t j = size_; j-- > 0;) {
    const double* pivots = u_.data() + j * size_;
    double value = x[j];
    for (std::size_t k = j + 1; k < size_; ++k) value -= pivots[k] * x[k];
    x[j] = value * pivots[j];
  }
}

void LayeredLevels::begin(const LevelHierarchy& hierarchy, float stretch, float drag, bool core_is_fixed) {
  stretch_ = stretch, drag_ = drag, core_is_fixed_ = core_is_fixed;
  if (hierarchy_ == &hierarchy) return;
  hierarchy_ = &hierarchy;
  parts_.assign(hierarchy.levels().size(), {});
  for (std::size_t l = 0; l < parts_.size(); ++l) {
    const std::size_t count = hierarchy.levels()[l].count;
    parts_[l].r.assign(count), parts_[l].z.assign(count);
    parts_[l].inverses.assign(48 * parts_[l].r.groups(), 0);
    parts_[l].blocks.assign(count, {}), parts_[l].is_touched.assign(count, 0);
  }
}

/// Shares blocks of the finer level out to the patches.
void LayeredLevels::lump(const LevelHierarchy::Level& level, std::span<const NodeBlock> blocks, Part& part) {
  for (const std::uint32_t patch : part.touched) part.blocks[patch] = {}, part.is_touched[patch] = 0;
  part.touched.clear();
  for (const auto& [node, block] : blocks) {
    for (const auto& [patch, weight] : level.parents_of(node)) {
      if (!part.is_touched[patch]) part.touched.push_back(patch);
      part.is_touched[patch] = 1;
      part.blocks[patch] = part.blocks[patch] + block * weight;
    }
  }
  std::sort(part.touched.begin(), part.touched.end());
  lumped_.clear();
  for (const std::uint32_t patch : part.touched) lumped_.emplace_back(patch, part.blocks[patch]);
}

void LayeredLevels::invert(const LevelHierarchy::Level& level, Part& part) const {
  const Float8 stretch = broadcast(stretch_), drag = broadcast(1 + drag_);
  auto touched = part.touched.begin();
  for (std::size_t g = 0; g < part.r.groups(); ++g) {
    const Float8 m = load8(level.masses.data() + kLanes * g) * drag;
    LaneSym3<Float8> d = load_sym8(level.stiffness.data() + 48 * g) * stretch + LaneSym3<Float8>{m, m, m, {}, {}, {}};
    for (; touched != part.touched.end() && *touched / kLanes == g; ++touched) {
      add_to_lane(d, *touched % kLanes, part.blocks[*touched] * kHold);
    }
    store_sym8(part.inverses.data() + 48 * g, inverse_or_zero(d));
  }
}

void LayeredLevels::set_blocks(std::span<const NodeBlock> blocks, const std::array<double, 36>& core) {
  const auto levels = hierarchy_->levels();
  std::span<const NodeBlock> finer = blocks;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (l > 0) finer_.assign(lumped_.begin(), lumped_.end()), finer = finer_;
    lump(levels[l], finer, parts_[l]);
    if (l + 1 < levels.size()) invert(levels[l], parts_[l]);
  }
  factor_coarsest(core);
}

void LayeredLevels::factor_coarsest(const std::array<double, 36>& core) {
  const LevelHierarchy::Level& level = hierarchy_->levels().back();
  const Part& part = parts_.back();
  const std::size_t width = 3 * level.count, size = width + (core_is_fixed_ ? 0 : 6);
  if (factor_.size() != size) factor_.resize(size), coarse_.assign(size, 0.0);
  const double stretch = static_cast<double>(stretch_), drag = static_cast<double>(1 + drag_);
  for (std::size_t i = 0; i < width; ++i) {
    double* row = factor_.row(i);
    const double* from = hierarchy_->coarsest().data() + i * width;
    for (std::size_t k = i; k < width; ++k) row[k] = stretch * from[k];
    row[i] += drag * static_cast<double>(level.masses[i / 3]);
    for (std::size_t k = width; k < size; ++k) row[k] = stretch * hierarchy_->core_columns()[i][k - width];
  }
  for (const std::uint32_t patch : part.touched) {
    const LaneSym3<float> b = part.blocks[patch] * kHold;
    double *x = factor_.row(3 * patch) + 3 * patch, *y = factor_.row(3 * patch + 1) + 3 * patch;
    x[0] += static_cast<double>(b.xx), x[1] += static_cast<double>(b.xy), x[2] += static_cast<double>(b.xz);
    y[1] += static_cast<double>(b.yy), y[2] += static_cast<double>(b.yz);
    factor_.row(3 * patch + 2)[3 * patch + 2] += static_cast<double>(b.zz);
  }
  for (std::size_t i = width; i < size; ++i) {
    for (std::size_t k = i; k < size; ++k) factor_.row(i)[k] = core[6 * (i - width) + k - width];
  }
  factor_.factor();
}

/// The residual of a level from that of the next finer one, and the level's own term. Returns its part of r·z.
double LayeredLevels::restrict_to(Workers& workers, std::size_t level, const QuadVectors& finer) {
  const SlicedWeights& up = hierarchy_->levels()[level].up;
  Part& part = parts_[level];
  const std::size_t groups = part.r.groups();
  const bool is_coarsest = level + 1 == parts_.size();
  sums_.assign((groups + kGrain - 1) / kGrain, 0.0);
  parallel_for(workers, groups, kGrain, [&](std::size_t begin, std::size_t end) {
    Float8 sums{};
    for (std::size_t g = begin; g < end; ++g) {
      const LaneVec3<Float8> r = up.products(g, finer);
      part.r.set_group(g, r);
      if (is_coarsest) continue;
      const LaneVec3<Float8> z = load_sym8(part.inverses.data() + 48 * g) * r;
      part.z.set_group(g, z);
      sums += dot(r, z);
    }
    sums_[begin / kGrain] = static_cast<double>(sum(sums));
  });
  double total = 0;
  for (const double part_sum : sums_) total += part_sum;
  return total;
}

double LayeredLevels::solve_coarsest(const Vector6& core) {
  Part& part = parts_.back();
  const std::size_t count = hierarchy_->levels().back().count, width = 3 * count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3 r = part.r.get(i);
    for (std::size_t k = 0; k < 3; ++k) coarse_[3 * i + k] = static_cast<double>(r[k]);
  }
  for (std::size_t k = width; k < coarse_.size(); ++k) coarse_[k] = core[k - width];
  before_ = coarse_;
  factor_.solve(coarse_.data());
  double product = 0;
  for (std::size_t k = 0; k < coarse_.size(); ++k) product += before_[k] * coarse_[k];
  for (std::uint32_t i = 0; i < count; ++i) {
    const double* z = coarse_.data() + 3 * i;
    part.z.set(i, {static_cast<float>(z[0]), static_cast<float>(z[1]), static_cast<float>(z[2])});
  }
  core_motion_ = {};
  for (std::size_t k = width; k < coarse_.size(); ++k) core_motion_[k - width] = coarse_[k];
  return product;
}

double LayeredLevels::precondition(Workers& workers, const QuadVectors& r, const Vector6& core) {
  double product = 0;
  for (std::size_t l = 0; l < parts_.size(); ++l) product += restrict_to(workers, l, l == 0 ? r : parts_[l - 1].r);
  product += solve_coarsest(core);
  for (std::size_t l = parts_.size() - 1; l-- > 0;) {
    const SlicedWeights& down = hierarchy_->levels()[l + 1].down;
    Part& part = parts_[l];
    const QuadVectors& coarser = parts_[l + 1].z;
    parallel_for(workers, part.z.groups(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) {
        part.z.set_group(g, part.z.group(g) + down.products(g, coarser));
      }
    });
  }
  return product;
}

std::size_t LayeredLevels::bytes() const {
  std::size_t total = 8 * factor_.size() * factor_.size();
  for (const Part& part : parts_) {
    total += part.r.bytes() + part.z.bytes() + 4 * part.inverses.size() + part.blocks.size() * sizeof(LaneSym3<float>);
  }
  return total;
}

}  // namespace pliant
