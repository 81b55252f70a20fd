#include "layered/layered_system.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// κ of floors, as between rigid bodies in islands.
constexpr float kFloorPenalty = 30;

Vector6 joined(Vec3d a, Vec3d b) { return {a.x, a.y, a.z, b.x, b.y, b.z}; }

/// R B Rᵀ; or the other way, Rᵀ B R.
LaneSym3<float> turned(const Mat3& r, const LaneSym3<float>& block, bool back) {
  const auto axis = [&](std::size_t i) { return back ? Vec3{r.rows[0][i], r.rows[1][i], r.rows[2][i]} : r.rows[i]; };
  const auto times = [&](Vec3 v) { return block * to_lane(v); };
  const LaneVec3<float> x = to_lane(axis(0)), y = to_lane(axis(1)), z = to_lane(axis(2));
  const LaneVec3<float> bx = times(axis(0)), by = times(axis(1)), bz = times(axis(2));
  return {dot(x, bx), dot(y, by), dot(z, bz), dot(x, by), dot(x, bz), dot(y, bz)};
}

/// R M Rᵀ block by block, where `turn` is R.
template <typename Turn>
Matrix6 turned_matrix(const Matrix6& m, Turn&& turn) {
  // Columns first, then rows.
  Matrix6 half{}, out{};
  for (std::size_t row = 0; row < 6; ++row) {
    const Vector6 v =
        turn(Vector6{m[6 * row], m[6 * row + 1], m[6 * row + 2], m[6 * row + 3], m[6 * row + 4], m[6 * row + 5]});
    for (std::size_t k = 0; k < 6; ++k) half[6 * row + k] = v[k];
  }
  for (std::size_t column = 0; column < 6; ++column) {
    Vector6 v;
    for (std::size_t k = 0; k < 6; ++k) v[k] = half[6 * k + column];
    v = turn(v);
    for (std::size_t k = 0; k < 6; ++k) out[6 * k + column] = v[k];
  }
  return out;
}

}  // namespace

BodyAxes::BodyAxes(Quat rotation) {
  const Vec3 columns[3] = {rotation.rotate({1, 0, 0}), rotation.rotate({0, 1, 0}), rotation.rotate({0, 0, 1})};
  for (std::size_t i = 0; i < 3; ++i) world_from_body.rows[i] = {columns[0][i], columns[1][i], columns[2][i]};
}

Vec3 BodyAxes::to_body(Vec3 v) const {
  return world_from_body.rows[0] * v.x + world_from_body.rows[1] * v.y + world_from_body.rows[2] * v.z;
}
Vec3d BodyAxes::to_world(Vec3d v) const {
  const auto& r = world_from_body.rows;
  return {dot(Vec3d(r[0]), v), dot(Vec3d(r[1]), v), dot(Vec3d(r[2]), v)};
}
Vec3d BodyAxes::to_body(Vec3d v) const {
  const auto& r = world_from_body.rows;
  return Vec3d(r[0]) * v.x + Vec3d(r[1]) * v.y + Vec3d(r[2]) * v.z;
}
Vector6 BodyAxes::to_world(const Vector6& v) const { return joined(to_world(part_of(v, 0)), to_world(part_of(v, 3))); }
Vector6 BodyAxes::to_body(const Vector6& v) const { return joined(to_body(part_of(v, 0)), to_body(part_of(v, 3))); }

Matrix6 BodyAxes::to_world(const Matrix6& m) const {
  return turned_matrix(m, [&](const Vector6& v) { return to_world(v); });
}
Matrix6 BodyAxes::to_body(const Matrix6& m) const {
  return turned_matrix(m, [&](const Vector6& v) { return to_body(v); });
}

void add_point_block(Matrix6& m, Vec3d arm, const LaneSym3<float>& block) {
  const double w[3][3] = {
      {block.xx, block.xy, block.xz}, {block.xy, block.yy, block.yz}, {block.xz, block.yz, block.zz}};
  // J = [I, −[arm]×]
  const double j[3][6] = {{1, 0, 0, 0, arm.z, -arm.y}, {0, 1, 0, -arm.z, 0, arm.x}, {0, 0, 1, arm.y, -arm.x, 0}};
  double wj[3][6];
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t k = 0; k < 6; ++k) wj[a][k] = w[a][0] * j[0][k] + w[a][1] * j[1][k] + w[a][2] * j[2][k];
  }
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t k = 0; k < 6; ++k) m[6 * i + k] += j[0][i] * wj[0][k] + j[1][i] * wj[1][k] + j[2][i] * wj[2][k];
  }
}

Matrix6 mass_matrix(double mass, const std::array<double, 9>& inertia, Vec3d offset) {
  Matrix6 m{};
  const auto weight = static_cast<float>(1);
  add_point_block(m, offset, {weight, weight, weight, 0, 0, 0});
  for (double& entry : m) entry *= mass;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) m[6 * (i + 3) + k + 3] += inertia[3 * i + k];
  }
  return m;
}

void add_layer_mass(Matrix6& to, const double* s) {
  const double skew[3][3] = {{0, -s[3], s[2]}, {s[3], 0, -s[1]}, {-s[2], s[1], 0}};
  const double inertia[3][3] = {{s[5] + s[6], -s[7], -s[8]}, {-s[7], s[4] + s[6], -s[9]}, {-s[8], -s[9], s[4] + s[5]}};
  for (std::size_t i = 0; i < 3; ++i) {
    to[7 * i] += s[0];
    for (std::size_t k = 0; k < 3; ++k) {
      to[6 * (i + 3) + k] += skew[i][k], to[6 * k + i + 3] += skew[i][k];
      to[6 * (i + 3) + k + 3] += inertia[i][k];
    }
  }
}

void LayeredSystem::begin(Workers& workers, const LayeredLayer& layer, const LayeredStart& start, float dt) {
  workers_ = &workers, layer_ = &layer, start_ = start, dt_ = dt;
  stretch_ = dt * dt + dt * start.stiffness_damping, drag_ = dt * start.mass_damping;
  if (places_.groups() != layer.groups()) {
    for (LaneVectors* v : {&places_, &x_, &q_}) v->assign(layer.node_count());
    r_.assign(layer.node_count()), e_.assign(layer.node_count());
  }
  inverses_.resize(48 * layer.groups());
  rows_.clear(), extras_.clear(), core_extras_ = {};
  held_.clear(), blocks_.clear(), core_rows_.clear();
  levels_.begin(layer.hierarchy(), stretch_, drag_, start.core_is_fixed);

  // What the layer is stretched by, now and at the end of the step; and the sums that make up the body's mass.
  const Float8 h = broadcast(dt), stretch = broadcast(stretch_), drag = broadcast(drag_);
  const Sums mass = sum_groups(workers, 10, [&](std::size_t g, Float8* to) {
    const LaneVec3<Float8> q = start.displacement->group(g), u = layer.rest().group(g) + q;
    const LaneVec3<Float8> e = start.elastic_velocity->group(g);
    places_.set_group(g, u);
    x_.set_group(g, e);
    e_.set_group(g, (q - start.plastic->group(g)) * h + e * stretch);
    const Float8 m = load8(layer.masses() + 8 * g);
    const LaneVec3<Float8> mu = u * m;
    to[0] += m, to[1] += mu.x, to[2] += mu.y, to[3] += mu.z;
    to[4] += mu.x * u.x, to[5] += mu.y * u.y, to[6] += mu.z * u.z;
    to[7] += mu.x * u.y, to[8] += mu.x * u.z, to[9] += mu.y * u.z;
  });
  Matrix6 of_layer{};
  add_layer_mass(of_layer, mass.values);
  const Matrix6 layer_mass = of_layer;
  const Matrix6 of_core = mass_matrix(layer.core_mass(), layer.core_inertia(), {});
  core_mass_ = start.axes.to_world(of_core);
  core_block_ = of_core;
  for (std::size_t i = 0; i < 36; ++i) {
    core_block_[i] +=
        static_cast<double>(stretch_) * layer.core_stiffness()[i] + static_cast<double>(drag_) * of_layer[i];
    of_layer[i] += of_core[i];
  }
  whole_mass_ = start.axes.to_world(of_layer);
  core_block_ = start.axes.to_world(core_block_);
  for (std::size_t i = 0; i < 36; ++i) core_block_[i] += start.core_extra[i];

  const LaneVec3<Float8> weight = broadcast_vec8(start.axes.to_body(start.gravity) * dt);
  const Sums forces = sum_groups(workers, 6, [&](std::size_t g, Float8* to) {
    const Float8 m = load8(layer.masses() + 8 * g);
    const LaneVec3<Float8> u = places_.group(g);
    const LaneVec3<Float8> f = layer.stiffness_times(g, e_) + x_.group(g) * (m * drag), moment = cross(u, f);
    r_.set_group(g, weight * m - f);
    to[0] += f.x, to[1] += f.y, to[2] += f.z, to[3] += moment.x, to[4] += moment.y, to[5] += moment.z;
  });
  for (const auto& [node, impulse] : start.pushes) r_.add(node, start.axes.to_body(impulse));
  const double* f = forces.values;
  r6_ = start.axes.to_world(Vector6{f[0], f[1], f[2], f[3], f[4], f[5]});
  for (std::size_t k = 0; k < 6; ++k) r6_[k] += start.core_impulse[k];
  for (std::size_t k = 0; k < 3; ++k) r6_[k] += layer.core_mass() * static_cast<double>(start.gravity[k] * dt);
  x6_ = start.velocity;
  if (start.core_is_fixed) r6_ = {};
  add_centrifugal(workers, layer_mass);
  direction6_ = {}, product6_ = {};
  parallel_for(workers, layer.groups(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) e_.set_group(g, {}), q_.set_group(g, {});
  });
}

/// What pulls the nodes outward, seen from a core that turns: −ω × (ω × u), less the motion as a whole that it would
/// be. (That the whole goes straight on and turns as its spin says is up to LayeredBody::advance.)
void LayeredSystem::add_centrifugal(Workers& workers, const Matrix6& of_layer) {
  const Vec3d turn = start_.axes.to_body(part_of(start_.velocity, 3));
  if (start_.core_is_fixed || length_squared(turn) == 0) return;
  const double h = dt_;
  const Vec3d moment(of_layer[31], of_layer[20], of_layer[24]);  // Σ m u
  Vec3d spin;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) spin[i] += of_layer[6 * (i + 3) + k + 3] * turn[k];
  }
  const Vector6 net = start_.axes.to_world(joined(cross(turn, cross(turn, moment)) * -h, cross(turn, spin) * -h));
  Cholesky6 whole;
  for (std::size_t i = 0; i < 36; ++i) whole.at(i / 6, i % 6) = whole_mass_[i];
  whole.factor();
  const Vector6 motion = whole.solve(net), of_core = core_mass_ * motion;
  for (std::size_t k = 0; k < 6; ++k) r6_[k] -= of_core[k];
  const Vector6 body = start_.axes.to_body(motion);
  const LaneVec3<Float8> shift = broadcast_vec8(rounded(body, 0)), back = broadcast_vec8(rounded(body, 3));
  const LaneVec3<Float8> w = broadcast_vec8(turn.to_float());
  const Float8 time = broadcast(dt_);
  parallel_for(workers, layer_->groups(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const LaneVec3<Float8> u = places_.group(g);
      const LaneVec3<Float8> kick = cross(w, cross(w, u)) * time + shift + cross(back, u);
      r_.set_group(g, r_.group(g) - kick * load8(layer_->masses() + 8 * g));
    }
  });
}

void LayeredSystem::index_rows() {
  std::sort(rows_.begin(), rows_.end(), [](const LayeredRow& a, const LayeredRow& b) {
    return a.node != b.node ? a.node < b.node : a.touch < b.touch;
  });
}

Vec3 LayeredSystem::row_velocity(const LayeredRow& row) const {
  switch (row.kind) {
    case LayeredRow::Kind::Limit:
      return node_velocity(row.node) - core_velocity_at(row.arm);
    case LayeredRow::Kind::Floor:
      return core_velocity_at(row.arm);
    default:
      return node_velocity(row.node);
  }
}

Vec3 LayeredSystem::row_arm(const LayeredRow& row) const {
  return row.kind == LayeredRow::Kind::Contact ? node_arm(row.node) : row.arm;
}

void LayeredSystem::set_penalties(float heaviest, float strength) {
  for (LayeredRow& row : rows_) {
    if (row.kind == LayeredRow::Kind::Floor) {
      row.penalty = row.strongest = kFloorPenalty * heaviest;
      continue;
    }
    row.strongest = kSoftPenalty / (response(row.node, row.normal) + 1 / heaviest);
    if (!std::isfinite(row.strongest)) row.strongest = 0;
    row.penalty = strength / kSoftPenalty * row.strongest;
  }
}

void LayeredSystem::strengthen_rows() {
  constexpr float kMore = 3;
  for (LayeredRow& row : rows_) row.penalty = std::max(row.penalty, std::min(kMore * row.penalty, row.strongest));
}

double LayeredSystem::judge_rows() {
  for_row_chunks([&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) rows_[i].judge(row_velocity(rows_[i]));
  });
  std::size_t active = 0, changed = 0;
  for (const LayeredRow& row : rows_) active += row.active ? 1 : 0, changed += row.active != row.next_active ? 1 : 0;
  return static_cast<double>(changed) / static_cast<double>(std::max<std::size_t>(active, 1));
}

void LayeredSystem::begin_round() {
  for_row_chunks([&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) rows_[i].begin_round();
  });
}

void LayeredSystem::add_row_impulses(float sign) {
  for_row_chunks([&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      const LayeredRow& row = rows_[i];
      if (row.active && row.kind != LayeredRow::Kind::Floor) add_to_residual(row.node, row_impulse(row) * sign);
    }
  });
  for (const LayeredRow& row : rows_) {
    if (!row.active || row.kind == LayeredRow::Kind::Contact) continue;
    add_to_core_residual(row_impulse(row) * (row.kind == LayeredRow::Kind::Floor ? sign : -sign), row.arm);
  }
}

LayeredSystem::RowSums LayeredSystem::update_rows() {
  row_sums_.assign(row_chunks(), {});
  for_row_chunks([&](std::size_t begin, std::size_t end, std::size_t chunk) {
    RowSums& sums = row_sums_[chunk];
    for (std::size_t i = begin; i < end; ++i) {
      LayeredRow& row = rows_[i];
      const Vec3 v = row_velocity(row);
      const float opening = row.active ? pliant::dot(v - row.target, row.normal) : 0.0f;
      const float push = row.active ? pliant::dot(row.impulse(v), row.normal) : 0.0f;
      sums.opening += static_cast<double>(std::max(opening, 0.0f) * std::max(push, 0.0f));
      const double change = row.update(v), size = static_cast<double>(length(row.multiplier));
      sums.progress.add({change, size * size, -opening});
      sums.size += size;
      const bool is_contact = row.kind == LayeredRow::Kind::Contact;
      float& violation = row.kind == LayeredRow::Kind::Floor ? sums.core_violation : sums.skin_violation;
      violation = std::max(violation, -opening);
      if (row.next_active && is_contact) {
        sums.pressed += static_cast<double>(pliant::dot(row.multiplier, row.normal));
        sums.footing += static_cast<double>(layer_->footing(row.node));
      }
      const Vec3d arm(row_arm(row));
      sums.moment += arm * size, sums.spread += length_squared(arm) * size;
      const Vector6 given = wrench(Vec3d(row.multiplier), arm);
      for (std::size_t k = 0; k < 6; ++k) sums.given[k] += given[k];
    }
  });
  RowSums total;
  for (const RowSums& part : row_sums_) {
    total.progress.add(part.progress);
    total.size += part.size, total.opening += part.opening;
    total.pressed += part.pressed, total.footing += part.footing;
    total.skin_violation = std::max(total.skin_violation, part.skin_violation);
    total.core_violation = std::max(total.core_violation, part.core_violation);
    total.moment += part.moment, total.spread += part.spread;
    for (std::size_t k = 0; k < 6; ++k) total.given[k] += part.given[k];
  }
  return total;
}

void LayeredSystem::set_extras(std::span<const std::uint32_t> nodes, std::span<const LaneSym3<float>> blocks,
                               const Matrix6& of_core) {
  extras_.clear(), core_extras_ = of_core;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    extras_.emplace_back(nodes[i], turned(start_.axes.world_from_body, blocks[i], true));
  }
}

LaneSym3<float> LayeredSystem::node_response(std::uint32_t node) const {
  return turned(start_.axes.world_from_body, inverse_block(node), false);
}

LaneSym3<float> LayeredSystem::inverse_block(std::uint32_t node) const {
  const float* d = inverses_.data() + node / kLanes * 48 + node % kLanes;
  return {d[0], d[8], d[16], d[24], d[32], d[40]};
}

float LayeredSystem::response(std::uint32_t node, Vec3 direction) const {
  const LaneVec3<float> n = to_lane(start_.axes.to_body(direction));
  return pliant::dot(n, inverse_block(node) * n);
}

Vec3 LayeredSystem::node_velocity(std::uint32_t node) const {
  return start_.axes.to_world(x_.get(node)) + core_velocity_at(node_arm(node));
}
Vec3 LayeredSystem::node_arm(std::uint32_t node) const { return start_.axes.to_world(places_.get(node)); }
Vec3 LayeredSystem::core_arm(std::uint32_t node) const {
  return start_.axes.to_world(layer_->rest().get(node) + layer_->inward().get(node));
}
Vec3 LayeredSystem::core_velocity_at(Vec3 arm) const { return rounded(x6_, 0) + cross(rounded(x6_, 3), arm); }

void LayeredSystem::add_to_residual(std::uint32_t node, Vec3 impulse) { r_.add(node, start_.axes.to_body(impulse)); }

void LayeredSystem::add_to_core_residual(Vec3 impulse, Vec3 arm) {
  if (start_.core_is_fixed) return;
  const Vec3d moment = cross(Vec3d(arm), Vec3d(impulse));
  for (std::size_t k = 0; k < 3; ++k) r6_[k] += static_cast<double>(impulse[k]), r6_[k + 3] += moment[k];
}

/// What rows add to the nodes, and where.
void LayeredSystem::list_blocks() {
  held_.clear(), blocks_.clear(), core_rows_.clear();
  auto extra = extras_.begin();
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    LayeredRow row = rows_[i];
    for (; extra != extras_.end() && extra->first <= row.node; ++extra) blocks_.push_back(*extra);
    if (!row.active) continue;
    if (row.kind != LayeredRow::Kind::Contact) core_rows_.push_back(i);
    if (row.kind == LayeredRow::Kind::Floor) continue;
    row.normal = start_.axes.to_body(row.normal);
    blocks_.emplace_back(row.node, row.block());
    if (row.kind == LayeredRow::Kind::Contact) held_.push_back(blocks_.back());
  }
  blocks_.insert(blocks_.end(), extra, extras_.end());
}

void LayeredSystem::invert_diagonals(Workers& workers) {
  list_blocks();
  const Float8 stretch = broadcast(stretch_), drag = broadcast(1 + drag_);
  const auto invert = [&](std::size_t g) {
    const Float8 m = load8(layer_->masses() + 8 * g) * drag;
    LaneSym3<Float8> d = layer_->diagonal(g) * stretch + LaneSym3<Float8>{m, m, m, {}, {}, {}};
    auto block = std::lower_bound(blocks_.begin(), blocks_.end(), kLanes * g,
                                  [](const NodeBlock& b, std::size_t node) { return b.first < node; });
    for (; block != blocks_.end() && block->first / kLanes == g; ++block) {
      add_to_lane(d, block->first % kLanes, block->second);
    }
    store_sym8(inverses_.data() + 48 * g, inverse_or_zero(d));
  };
  std::swap(touched_groups_, groups_before_);
  touched_groups_.clear();
  for (const auto& [node, block] : blocks_) {
    const auto g = static_cast<std::uint32_t>(node / kLanes);
    if (touched_groups_.empty() || touched_groups_.back() != g) touched_groups_.push_back(g);
  }
  if (inverted_layer_ == layer_ && inverted_stretch_ == stretch_ && inverted_drag_ == drag_) {
    for (const std::uint32_t g : groups_before_) invert(g);
    for (const std::uint32_t g : touched_groups_) invert(g);
  } else {
    parallel_for(workers, layer_->groups(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) invert(g);
    });
    inverted_layer_ = layer_, inverted_stretch_ = stretch_, inverted_drag_ = drag_;
  }
  levels_.set_blocks(blocks_, start_.axes.to_body(core_block()));
}

Matrix6 LayeredSystem::core_block() const {
  Matrix6 block = core_block_;
  for (const std::uint32_t i : core_rows_) add_point_block(block, Vec3d(rows_[i].arm), rows_[i].block());
  for (std::size_t k = 0; k < 36; ++k) block[k] += core_extras_[k];
  return block;
}

double LayeredSystem::take_step(Workers& workers, double step) {
  const Float8 by = broadcast(static_cast<float>(step));
  const Sums sums = sum_groups(workers, 7, [&](std::size_t g, Float8* to) {
    x_.set_group(g, x_.group(g) + e_.group(g) * by);
    const LaneVec3<Float8> r = r_.group(g) - q_.group(g) * by, moment = cross(places_.group(g), r);
    r_.set_group(g, r);
    // The product has served: its memory takes the first term of what is preconditioned.
    const LaneVec3<Float8> z = load_sym8(inverses_.data() + 48 * g) * r;
    q_.set_group(g, z);
    to[0] += dot(r, z);
    to[1] += r.x, to[2] += r.y, to[3] += r.z, to[4] += moment.x, to[5] += moment.y, to[6] += moment.z;
  });
  const double* s = sums.values;
  if (!start_.core_is_fixed) {
    for (std::size_t k = 0; k < 6; ++k) x6_[k] += step * direction6_[k], r6_[k] -= step * product6_[k];
  }
  const double product = s[0] + levels_.precondition(workers, r_, start_.axes.to_body(r6_));
  if (start_.core_is_fixed) return product;
  core_z_ = start_.axes.to_world(levels_.core_motion());
  whole_residual_ = start_.axes.to_world(Vector6{s[1], s[2], s[3], s[4], s[5], s[6]});
  for (std::size_t k = 0; k < 6; ++k) whole_residual_[k] += r6_[k];
  return product;
}

void LayeredSystem::turn_direction(Workers& workers, const Vector6& whole, double beta) {
  const Vector6 core = start_.core_is_fixed ? Vector6{} : start_.axes.to_body(core_z_);
  const LaneVec3<Float8> shift = broadcast_vec8(rounded(core, 0)), turn = broadcast_vec8(rounded(core, 3));
  const Float8 by = broadcast(static_cast<float>(beta));
  parallel_for(workers, layer_->groups(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const LaneVec3<Float8> z = q_.group(g) + levels_.correction(g);
      e_.set_group(g, z - shift - cross(turn, places_.group(g)) + e_.group(g) * by);
    }
  });
  // The lanes after the last node have no mass that would hold them: they stay zero.
  for (std::uint32_t i = layer_->node_count(); i < kLanes * layer_->groups(); ++i) e_.set(i, {});
  if (start_.core_is_fixed) return;
  for (std::size_t k = 0; k < 6; ++k) direction6_[k] = core_z_[k] + whole[k] + beta * direction6_[k];
}

double LayeredSystem::multiply(Workers& workers) {
  const Vector6 body = start_.axes.to_body(direction6_);
  const LaneVec3<Float8> shift = broadcast_vec8(rounded(body, 0)), turn = broadcast_vec8(rounded(body, 3));
  const Float8 stretch = broadcast(stretch_), drag = broadcast(drag_);
  const std::size_t groups = layer_->groups();
  sums_.assign((groups + kGrain - 1) / kGrain, {});
  parallel_for(workers, groups, kGrain, [&](std::size_t begin, std::size_t end) {
    Float8 lanes[7] = {};
    for (std::size_t g = begin; g < end; ++g) {
      const LaneVec3<Float8> e = e_.group(g), u = places_.group(g);
      const Float8 mass = load8(layer_->masses() + 8 * g);
      const LaneVec3<Float8> f = layer_->rounded_stiffness_times(g, e_) * stretch + e * (mass * drag);
      const LaneVec3<Float8> p = e + shift + cross(turn, u), q = p * mass + f, moment = cross(u, f);
      q_.set_group(g, q);
      lanes[0] += dot(p, q);
      lanes[1] += f.x, lanes[2] += f.y, lanes[3] += f.z;
      lanes[4] += moment.x, lanes[5] += moment.y, lanes[6] += moment.z;
    }
    Sums& out = sums_[begin / kGrain];
    for (std::size_t k = 0; k < 7; ++k) out.values[k] = static_cast<double>(sum(lanes[k]));
    out.values[0] += multiply_rows(kLanes * begin, kLanes * end);
  });
  Sums total;
  for (const Sums& part : sums_) {
    for (std::size_t k = 0; k < 7; ++k) total.values[k] += part.values[k];
  }
  return finish_multiply(total);
}

/// The contacts of the nodes from `begin` to `end`: their part of the product, and of direction · product.
double LayeredSystem::multiply_rows(std::size_t begin, std::size_t end) {
  const Vector6 body = start_.axes.to_body(direction6_);
  const LaneVec3<float> shift = to_lane(rounded(body, 0)), turn = to_lane(rounded(body, 3));
  double product = 0;
  auto held = std::lower_bound(held_.begin(), held_.end(), begin,
                               [](const NodeBlock& b, std::size_t node) { return b.first < node; });
  for (; held != held_.end() && held->first < end; ++held) {
    const std::uint32_t node = held->first;
    const LaneVec3<float> p = to_lane(e_.get(node)) + shift + cross(turn, to_lane(places_.get(node)));
    const LaneVec3<float> force = held->second * p;
    q_.add(node, from_lane(force));
    product += static_cast<double>(dot(p, force));
  }
  return product;
}

/// The same of rows that push the core, but for the core's part of direction · product.
double LayeredSystem::multiply_core_rows() {
  double product = 0;
  for (const std::uint32_t i : core_rows_) {
    const LayeredRow& row = rows_[i];
    const Vec3 of_core = core_direction_at(row.arm);
    Vec3 force = row.resist(of_core);
    if (row.kind == LayeredRow::Kind::Limit) {
      const Vec3 p = node_direction(row.node);
      force = row.resist(of_core - p);
      q_.add(row.node, start_.axes.to_body(-force));
      product -= static_cast<double>(pliant::dot(p, force));
    }
    const Vector6 push = wrench(Vec3d(force), Vec3d(row.arm));
    for (std::size_t k = 0; k < 6; ++k) product6_[k] += push[k];
  }
  return product;
}

Vec3 LayeredSystem::node_direction(std::uint32_t node) const {
  return start_.axes.to_world(e_.get(node)) + core_direction_at(node_arm(node));
}

double LayeredSystem::add_to_product(std::uint32_t node, Vec3 force) {
  q_.add(node, start_.axes.to_body(force));
  return static_cast<double>(pliant::dot(node_direction(node), force));
}

double LayeredSystem::add_to_core_product(Vec3 arm, Vec3 force) {
  if (start_.core_is_fixed) return 0;
  const Vector6 push = wrench(Vec3d(force), Vec3d(arm));
  for (std::size_t k = 0; k < 6; ++k) product6_[k] += push[k];
  return dot(direction6_, push);
}

double LayeredSystem::finish_multiply(const Sums& sums) {
  const double* s = sums.values;
  const Vector6 f = start_.axes.to_world(Vector6{s[1], s[2], s[3], s[4], s[5], s[6]});
  const Vector6 own = core_mass_ * direction6_, extra = start_.core_extra * direction6_;
  for (std::size_t k = 0; k < 6; ++k) product6_[k] = own[k] + extra[k] - f[k];
  const double product = s[0] + multiply_core_rows();
  return start_.core_is_fixed ? product : product + dot(direction6_, product6_);
}

Matrix6 LayeredSystem::whole_matrix() {
  blocks_of_chunks_.assign(row_chunks(), {});
  for_row_chunks([&](std::size_t begin, std::size_t end, std::size_t chunk) {
    for (std::size_t i = begin; i < end; ++i) {
      const LayeredRow& row = rows_[i];
      if (!row.active || row.kind == LayeredRow::Kind::Limit) continue;
      add_point_block(blocks_of_chunks_[chunk], Vec3d(row_arm(row)), row.block());
    }
  });
  Matrix6 block = whole_mass_;
  for (std::size_t k = 0; k < 36; ++k) block[k] += start_.core_extra[k];
  for (const Matrix6& part : blocks_of_chunks_) {
    for (std::size_t k = 0; k < 36; ++k) block[k] += part[k];
  }
  return block;
}

void LayeredSystem::add_whole(const Vector6& motion) {
  if (start_.core_is_fixed) return;
  for (std::size_t k = 0; k < 6; ++k) x6_[k] += motion[k];
}

void LayeredSystem::slow_down(float all, float elastic) {
  for (double& part : x6_) part *= static_cast<double>(all);
  for (std::size_t g = 0; g < layer_->groups(); ++g) x_.set_group(g, x_.group(g) * broadcast(all * elastic));
}

void LayeredSystem::remove_whole(Workers& workers, const Vector6& motion) {
  const Vector6 body = start_.axes.to_body(motion);
  const LaneVec3<Float8> shift = broadcast_vec8(rounded(body, 0)), turn = broadcast_vec8(rounded(body, 3));
  parallel_for(workers, layer_->groups(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const Float8 m = load8(layer_->masses() + 8 * g);
      r_.set_group(g, r_.group(g) - (shift + cross(turn, places_.group(g))) * m);
    }
  });
  const Vector6 own = core_mass_ * motion, extra = start_.core_extra * motion;
  for (std::size_t k = 0; k < 6; ++k) r6_[k] -= own[k] + extra[k];
}

std::size_t LayeredSystem::bytes() const {
  std::size_t total =
      4 * inverses_.size() + rows_.capacity() * sizeof(LayeredRow) + levels_.bytes() + r_.bytes() + e_.bytes();
  for (const LaneVectors* v : {&places_, &x_, &q_}) total += 4 * v->floats().size();
  return total;
}

}  // namespace pliant
