// The coarsest level of an island: the motions of its free members as a whole, with the contacts and joints between
// them, solved exactly and in double.
#include <algorithm>
#include <functional>

#include "solid/solid_island.h"

namespace pliant {
namespace {

using Mat3d = std::array<std::array<double, 3>, 3>;

/// [a]× m
Mat3d cross_columns(Vec3d a, const Mat3d& m) {
  Mat3d out;
  for (std::size_t c = 0; c < 3; ++c) {
    const Vec3d v = cross(a, {m[0][c], m[1][c], m[2][c]});
    out[0][c] = v.x, out[1][c] = v.y, out[2][c] = v.z;
  }
  return out;
}
/// m [a]×ᵀ
Mat3d cross_rows(const Mat3d& m, Vec3d a) {
  Mat3d out;
  for (std::size_t r = 0; r < 3; ++r) {
    const Vec3d v = cross(a, {m[r][0], m[r][1], m[r][2]});
    out[r] = {v.x, v.y, v.z};
  }
  return out;
}

/// Adds Gᵀ W H with G = (I, −[a]×), H = (I, −[b]×): what W between two points is to the motions of their bodies.
void add_block(const Mat3d& w, Vec3d a, Vec3d b, double sign, std::array<double, 36>& block) {
  const Mat3d rt = cross_columns(a, w), tr = cross_rows(w, b), rr = cross_columns(a, tr);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      block[6 * r + c] += sign * w[r][c];
      block[6 * r + 3 + c] += sign * tr[r][c];
      block[6 * (3 + r) + c] += sign * rt[r][c];
      block[6 * (3 + r) + 3 + c] += sign * rr[r][c];
    }
  }
}

}  // namespace

std::uint32_t SolidIsland::level_of(const IslandRowEnd& end) const {
  if (end.member == IslandRowEnd::kFixed) return kNone;
  if (is_nodes(end)) return nodes_of(end).level;
  if (is_guest(end)) return guest_of(end).level;
  return is_solid(end) ? solids_[end.member].level : rigids_[end.member - solids_.size()].level;
}

Vec3d SolidIsland::level_arm(const IslandRowEnd& end) const {
  if (level_of(end) == kNone) return {};
  if (is_rigid(end)) return Vec3d(end.arm) / rigids_[end.member - solids_.size()].radius;
  Vec3d arm;
  if (is_nodes(end)) {
    for (std::size_t k = 0; k < end.count; ++k) {
      arm += nodes_of(end).arm(end.slots[k]) * static_cast<double>(end.weights[k]);
    }
    return arm;
  }
  if (is_guest(end)) {
    for (std::size_t k = 0; k < end.count; ++k) {
      arm += guest_of(end).arms[end.slots[k]] * static_cast<double>(end.weights[k]);
    }
    return arm;
  }
  const SolidBody& body = *solids_[end.member].body;
  const Vec3 from = solids_[end.member].body->system().reference();
  for (std::size_t k = 0; k < end.count; ++k) {
    arm += Vec3d(body.state().positions.get(end.slots[k]) - from) * static_cast<double>(end.weights[k]);
  }
  return arm / solids_[end.member].body->system().rigid().radius();
}

void SolidIsland::number_levels(Workers& workers) {
  std::uint32_t count = 0;
  for (Solid& solid : solids_) solid.level = solid.body->system().is_free() ? count++ : kNone;
  for (Rigid& rigid : rigids_) rigid.level = count++;
  for (std::size_t i = 0; i < nodes_count_; ++i) nodes_[i].level = nodes_[i].is_free() ? count++ : kNone;
  for (Guest& guest : guests()) guest.level = guest.member->is_free() ? count++ : kNone;
  list_level_rows();
  level_pairs_.clear();
  for (const LevelRows& rows : level_rows_) {
    const auto [a, b] = std::minmax(rows.a, rows.b);
    if (b != kNone && a != b) level_pairs_.push_back({a, b});
  }
  for (const IslandJointRow& row : joints_) {
    if (row.a == IslandRowEnd::kFixed || row.b == IslandRowEnd::kFixed) continue;
    const std::uint32_t a = rigids_[row.a - solids_.size()].level, b = rigids_[row.b - solids_.size()].level;
    level_pairs_.push_back({std::min(a, b), std::max(a, b)});
  }
  std::sort(level_pairs_.begin(), level_pairs_.end());
  level_pairs_.erase(std::unique(level_pairs_.begin(), level_pairs_.end()), level_pairs_.end());
  levels_.analyze(count, level_pairs_);
  level_x_.assign(count * BlockCholeskyDouble::kStride, 0.0);
  level_arms_.resize(rows_.size());
  for_rows(workers, [&](std::size_t i) { level_arms_[i] = {level_arm(rows_[i].a), level_arm(rows_[i].b)}; });
}

void SolidIsland::list_level_rows() {
  level_order_.clear();
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    level_order_.push_back({std::uint64_t{level_of(rows_[i].a)} << 32 | level_of(rows_[i].b), i});
  }
  std::sort(level_order_.begin(), level_order_.end());
  level_rows_.clear();
  for (std::uint32_t i = 0; i < level_order_.size(); ++i) {
    const std::uint64_t levels = level_order_[i].first;
    if (i > 0 && levels == level_order_[i - 1].first) {
      ++level_rows_.back().end;
    } else {
      level_rows_.push_back({.a = static_cast<std::uint32_t>(levels >> 32),
                             .b = static_cast<std::uint32_t>(levels),
                             .begin = i,
                             .end = i + 1});
    }
  }
}

void SolidIsland::add_level_row(std::size_t index, LevelRows& to) const {
  const IslandRow& row = rows_[index];
  const LaneSym3<float> s = row.block(row.weighed);
  const auto d = [](float f) { return static_cast<double>(f); };
  const Mat3d w{{{d(s.xx), d(s.xy), d(s.xz)}, {d(s.xy), d(s.yy), d(s.yz)}, {d(s.xz), d(s.yz), d(s.zz)}}};
  const auto [arm_a, arm_b] = level_arms_[index];
  if (to.a != kNone) add_block(w, arm_a, arm_a, 1, to.aa);
  if (to.b != kNone) add_block(w, arm_b, arm_b, 1, to.bb);
  if (to.a == kNone || to.b == kNone) return;
  add_block(w, arm_a, arm_b, -1, to.ab);
  if (to.a == to.b) add_block(w, arm_b, arm_a, -1, to.ab);  // a body that touches itself
}

void SolidIsland::add_level_row(const IslandJointRow& row) {
  struct End {
    std::uint32_t level;
    Vector6 axis;
  } ends[2];
  std::size_t count = 0;
  for_each_end(row, [&](const Rigid& rigid, Vector6 axis) {
    for (std::size_t k = 3; k < 6; ++k) axis[k] /= rigid.radius;
    ends[count++] = {rigid.level, axis};
  });
  const auto add = [&](const End& a, const End& b) {
    double block[36];
    for (std::size_t r = 0; r < 6; ++r) {
      for (std::size_t c = 0; c < 6; ++c) {
        block[6 * r + c] = static_cast<double>(row.penalty) * a.axis[r] * b.axis[c];
      }
    }
    if (&a == &b) return levels_.add_diagonal(a.level, block);
    levels_.add(a.level, b.level, block);
  };
  for (std::size_t i = 0; i < count; ++i) add(ends[i], ends[i]);
  if (count == 2) add(ends[0], ends[1]);
}

void SolidIsland::assemble_levels(Workers& workers, bool is_first) {
  constexpr std::size_t kGrain = 8;
  parallel_for(workers, level_rows_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      LevelRows& rows = level_rows_[i];
      const auto first = level_order_.begin() + rows.begin, last = level_order_.begin() + rows.end;
      rows.is_stale = is_first || std::any_of(first, last, [&](const auto& at) { return row_stale_[at.second] != 0; });
      if (!rows.is_stale) continue;
      rows.aa = rows.bb = rows.ab = {};
      for (auto at = first; at != last; ++at) {
        if (rows_[at->second].weighed != IslandRow::kNotWeighed) add_level_row(at->second, rows);
      }
    }
  });
  const bool is_as_it_was = joints_.empty() && nodes_count_ == 0 && guests().empty() &&
                            std::none_of(level_rows_.begin(), level_rows_.end(), std::mem_fn(&LevelRows::is_stale));
  if (is_as_it_was && !is_first) return;
  levels_.clear();
  for (Solid& solid : solids_) {
    if (solid.level != kNone) levels_.add_diagonal(solid.level, solid.whole.data());
  }
  for (const Rigid& rigid : rigids_) {
    double block[36] = {};
    for (std::size_t k = 0; k < 3; ++k) {
      block[7 * k] = rigid.mass;
      for (std::size_t c = 0; c < 3; ++c) {
        block[6 * (3 + k) + 3 + c] = rigid.inertia[k][c] / (rigid.radius * rigid.radius);
      }
    }
    levels_.add_diagonal(rigid.level, block);
  }
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    if (nodes_[i].level == kNone) continue;
    double block[36];
    nodes_[i].set_whole_matrix(block);
    levels_.add_diagonal(nodes_[i].level, block);
  }
  for (const Guest& guest : guests()) {
    if (guest.level == kNone) continue;
    double block[36];
    guest.member->get_whole_matrix(block);
    levels_.add_diagonal(guest.level, block);
  }
  for (const LevelRows& rows : level_rows_) {
    if (rows.a != kNone) levels_.add_diagonal(rows.a, rows.aa.data());
    if (rows.b != kNone) levels_.add_diagonal(rows.b, rows.bb.data());
    if (rows.a == kNone || rows.b == kNone) continue;
    if (rows.a == rows.b) {
      levels_.add_diagonal(rows.a, rows.ab.data());
    } else {
      levels_.add(rows.a, rows.b, rows.ab.data());
    }
  }
  for (const IslandJointRow& row : joints_) {
    if (row.active) add_level_row(row);
  }
  levels_.factor();
}

/// The members as a whole, when all else is preconditioned. Returns their part of r·z.
double SolidIsland::solve_levels() {
  constexpr std::size_t kStride = BlockCholeskyDouble::kStride;
  const auto set = [&](std::uint32_t level, const Vector6& force) {
    std::copy(force.begin(), force.end(), level_x_.begin() + level * kStride);
  };
  const auto get = [&](std::uint32_t level) {
    Vector6 motion;
    std::copy_n(level_x_.begin() + level * kStride, 6, motion.begin());
    return motion;
  };
  for (Solid& solid : solids_) {
    if (solid.level != kNone) set(solid.level, solid.force = solid.body->system().whole_force());
  }
  for (Rigid& rigid : rigids_) {
    Vector6 force = rigid.r;
    for (std::size_t k = 3; k < 6; ++k) force[k] /= rigid.radius;
    set(rigid.level, force);
  }
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    if (nodes_[i].level != kNone) set(nodes_[i].level, nodes_[i].whole = nodes_[i].whole_force());
  }
  for (Guest& guest : guests()) {
    if (guest.level != kNone) set(guest.level, guest.whole = guest.member->whole_force());
  }
  levels_.solve(level_x_.data());
  double product = 0;
  for (Guest& guest : guests()) {
    if (guest.level == kNone) continue;
    const Vector6 motion = get(guest.level);
    for (std::size_t k = 0; k < 6; ++k) product += guest.whole[k] * motion[k];
    guest.member->set_whole_motion(motion);
  }
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    if (nodes_[i].level == kNone) continue;
    const Vector6 motion = get(nodes_[i].level);
    for (std::size_t k = 0; k < 6; ++k) product += nodes_[i].whole[k] * motion[k];
    nodes_[i].add_whole_motion(motion);
  }
  for (Solid& solid : solids_) {
    if (solid.level == kNone) continue;
    const Vector6 motion = get(solid.level);
    for (std::size_t k = 0; k < 6; ++k) product += solid.force[k] * motion[k];
    solid.body->system().add_whole_motion(motion);
  }
  for (Rigid& rigid : rigids_) {
    rigid.z = get(rigid.level);
    for (std::size_t k = 3; k < 6; ++k) rigid.z[k] /= rigid.radius;
    for (std::size_t k = 0; k < 6; ++k) product += rigid.r[k] * rigid.z[k];
  }
  return product;
}

/// Gives all free members together exactly the momentum that forces and contacts gave them. What is missing was lost to
/// rounding, to the residual that is left, and to linearising the elements' rotations.
void SolidIsland::correct_momentum(Workers& workers, float dt) {
  if (level_x_.empty()) return;
  constexpr std::size_t kStride = BlockCholeskyDouble::kStride;
  std::fill(level_x_.begin(), level_x_.end(), 0.0);
  const auto add = [&](std::uint32_t level, const Vector6& force) {
    for (std::size_t k = 0; k < 6; ++k) level_x_[level * kStride + k] += force[k];
  };
  for (Solid& solid : solids_) {
    if (solid.level != kNone) add(solid.level, solid.body->missing_impulse(workers, solid.gravity, dt));
  }
  for (const Rigid& rigid : rigids_) {
    Vector6 missing = rigid.momentum(rigid.x);
    for (std::size_t k = 0; k < 6; ++k) missing[k] /= k < 3 ? -1 : -rigid.radius;
    add(rigid.level, missing);
  }
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    if (nodes_[i].level == kNone) continue;
    Vector6 missing = nodes_[i].gained();
    for (double& part : missing) part = -part;
    add(nodes_[i].level, missing);
  }
  for (Guest& guest : guests()) {
    if (guest.level != kNone) add(guest.level, guest.member->missing_impulse(workers));
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const IslandRow& row = rows_[i];
    const Vec3d given(impulse(row));
    const auto add_end = [&](const IslandRowEnd& end, Vec3d arm, Vec3d own) {
      if (level_of(end) == kNone) return;
      Vector6 force{};
      add_to(force, 0, own);
      add_to(force, 3, cross(arm, own));
      add(level_of(end), force);
    };
    add_end(row.a, level_arms_[i][0], given - Vec3d(row.given_a));
    add_end(row.b, level_arms_[i][1], -given - Vec3d(row.given_b));
  }
  for (const IslandJointRow& row : joints_) {
    const double given = static_cast<double>(impulse(row));
    for_each_end(row, [&](const Rigid& rigid, Vector6 axis) {
      for (std::size_t k = 0; k < 6; ++k) axis[k] *= given / (k < 3 ? 1 : rigid.radius);
      add(rigid.level, axis);
    });
  }
  levels_.solve(level_x_.data());
  for (Solid& solid : solids_) {
    if (solid.level == kNone) continue;
    Vector6 motion;
    std::copy_n(level_x_.begin() + solid.level * kStride, 6, motion.begin());
    solid.body->add_motion(workers, motion);
  }
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    if (nodes_[i].level == kNone) continue;
    Vector6 motion;
    std::copy_n(level_x_.begin() + nodes_[i].level * kStride, 6, motion.begin());
    nodes_[i].move(motion);
  }
  for (Guest& guest : guests()) {
    if (guest.level == kNone) continue;
    Vector6 motion;
    std::copy_n(level_x_.begin() + guest.level * kStride, 6, motion.begin());
    guest.member->move(motion);
  }
  for (Rigid& rigid : rigids_) {
    for (std::size_t k = 0; k < 6; ++k) rigid.x[k] += level_x_[rigid.level * kStride + k] / (k < 3 ? 1 : rigid.radius);
  }
  update_velocities(workers);
}

}  // namespace pliant
