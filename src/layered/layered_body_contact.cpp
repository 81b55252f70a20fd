// Contacts of a body: the rows that they become, and what is left of them when a substep ends.
#include <algorithm>
#include <cmath>

#include "layered/layered_body.h"
#include "layered/layered_system.h"

namespace pliant {
namespace {

/// The layer is never pressed to less than this share of its thickness: linear elasticity has no floor, and would let
/// the surface pass through the core.
constexpr float kThinnest = 0.15f;
/// Before that, what presses it comes to rest on the core itself.
constexpr float kFloor = 0.2f;
constexpr std::uint32_t kLimitRow = 0xffffffff;

/// Where contacts are to be at the end of a substep: on the surface, from any side. A depth that is left alone, as
/// between rigid bodies, is another one for each node, by how far its contact was from settled when it began; what
/// rolls then stands on nodes that give way in front and not behind, and gains speed. Only what is deeper is mended
/// slowly.
float target_speed(float gap, float slop, float dt) {
  if (gap > 0) return -gap / dt;
  return std::min(-gap / dt, std::max(slop / dt, contact_target_speed(gap, slop, dt)));
}

}  // namespace

Vec3 LayeredBody::remembered(const NodeTouch& touch) const {
  const NodeTouchMemory* before = find_touch(state_.touches, touch.node, touch.other);
  return before ? project_to_cone(before->impulse, touch.normal, touch.friction) : Vec3{};
}

void LayeredBody::add_row(const NodeTouch& touch, std::uint32_t index, float dt) {
  is_driven_ = is_driven_ || touch.surface_velocity != Vec3{};
  LayeredRow row;
  row.node = touch.node, row.touch = index;
  row.normal = touch.normal;
  row.friction = touch.friction;
  row.target = touch.normal * target_speed(touch.gap, slop(), dt) + touch.surface_velocity;
  row.multiplier = remembered(touch);
  system_->rows().push_back(row);
}

void LayeredBody::add_limit(std::uint32_t node, Vec3 velocity, float dt) {
  if (is_limited_[node]) return;
  const Vec3 inward = layer_->inward().get(node);
  const float thickness = length(inward);
  const Vec3 along = system_->axes().to_world(inward) / thickness, arm = system_->node_arm(node);
  const float pressed = dot(state_.displacement.get(node), inward) / thickness;
  const float gap = (1 - kThinnest) * thickness - pressed;
  const Vec3 closing = velocity - system_->core_velocity_at(arm) - foreseen_;
  if (gap > dt * std::max(dot(closing, along), 0.0f)) return;
  is_limited_[node] = 1;
  LayeredRow row;
  row.node = node, row.touch = kLimitRow;
  row.normal = -along;
  row.kind = LayeredRow::Kind::Limit, row.arm = arm;
  row.target = row.normal * contact_target_speed(gap, slop(), dt);
  const NodeTouchMemory* before = find_touch(state_.touches, node, {});
  if (before) row.multiplier = project_to_cone(before->impulse, row.normal, 0);
  system_->rows().push_back(row);
}

std::optional<LayeredBody::CoreView> LayeredBody::view_of_core(std::span<const std::uint32_t> nodes,
                                                               std::span<const float> weights, Vec3 normal) const {
  // What touches from a side has not come through the skin.
  constexpr float kFacing = 0.5f;
  Vec3 arm, shift;
  float thickness = 0, facing = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const Vec3 inward = system_->axes().to_world(layer_->inward().get(nodes[k]));
    const Vec3 of_core = system_->core_arm(nodes[k]);
    arm += of_core * weights[k];
    shift += (of_core - system_->node_arm(nodes[k])) * weights[k];
    thickness += length(inward) * weights[k], facing += dot(inward, normal) * weights[k];
  }
  if (!(facing > kFacing * thickness)) return std::nullopt;
  return CoreView{dot(shift, normal) - kFloor * thickness, system_->core_velocity_at(arm) + foreseen_};
}

std::optional<NodeTouch> LayeredBody::touch_of_core(const NodeTouch& touch, float dt) const {
  constexpr float kAll = 1;
  const std::optional<CoreView> core = view_of_core({&touch.node, 1}, {&kAll, 1}, touch.normal);
  if (!core) return std::nullopt;
  NodeTouch of_core = touch;
  of_core.node = core_point(touch.node);
  of_core.gap += core->further;
  const float closing = dot(touch.surface_velocity - core->velocity, touch.normal);
  if (of_core.gap > dt * std::max(closing, 0.0f)) return std::nullopt;
  return of_core;
}

void LayeredBody::add_floor(const NodeTouch& touch, std::uint32_t index, float dt) {
  const std::optional<NodeTouch> of_core = touch_of_core(touch, dt);
  if (!of_core || def_->core_is_fixed) return;
  LayeredRow row;
  row.kind = LayeredRow::Kind::Floor;
  row.node = touch.node, row.touch = index;
  row.arm = system_->core_arm(touch.node);
  row.normal = touch.normal;
  row.friction = touch.friction;
  row.target = touch.normal * contact_target_speed(of_core->gap, slop(), dt) + touch.surface_velocity;
  row.multiplier = remembered(*of_core);
  system_->rows().push_back(row);
}

Vector6 LayeredBody::missing_impulse(Workers& workers) {
  Vector6 missing = given_;
  const auto add = [&](const Vector6& added, double sign) {
    for (std::size_t k = 0; k < 6; ++k) missing[k] += sign * added[k];
  };
  add(moments(workers).momentum, 1);
  take_velocities();
  add(moments(workers).momentum, -1);
  Vector6 change = system_->velocity();
  for (std::size_t k = 0; k < 6; ++k) change[k] -= system_->start_velocity()[k];
  add(system_->core_extra() * change, -1);
  for (const LayeredRow& row : system_->rows()) {
    if (row.kind == LayeredRow::Kind::Limit) continue;
    add(wrench(Vec3d(system_->row_impulse(row)), Vec3d(system_->row_arm(row))), 1);
  }
  return missing;
}

void LayeredBody::finish(std::span<const NodeTouch> touches, float dt, std::span<const NodeTouchMemory> more) {
  take_velocities();
  // The world's impulses are those of the end of the substep, so they act where nodes and centre of mass are then: with
  // the arms of its beginning, what pushes a wheel up stands a little before its axle, and brakes it. (Between bodies
  // the arms of the beginning keep the spin of both together.)
  constexpr float kStraight = 0.5f;
  // Under a load of thousands of times its weight, a body that shivers would be set spinning.
  constexpr double kMostOfOwn = 10;
  double given = 0;
  late_spin_ = {};
  const Vec3d center = center_of(system_->whole_mass());
  const Vec3 drift = system_->core_velocity_at(center.to_float());
  for (const LayeredRow& row : system_->rows()) {
    if (row.kind == LayeredRow::Kind::Limit) continue;
    const Vec3 v = system_->row_velocity(row);
    // No further than a straight line is a piece of its way around.
    const Vec3 way = (v - drift) * dt;
    const float most = kStraight * length(system_->row_arm(row)), size = length(way);
    const Vec3d impulse(row.impulse(v));
    late_spin_ += cross(Vec3d(size > most ? way * (most / size) : way), impulse);
    given += length(impulse);
  }
  const double own = kMostOfOwn * system_->mass() * (static_cast<double>(length(drift)) + length(fall_));
  if (given > own) late_spin_ = late_spin_ * (own / given);
  state_.touches.assign(more.begin(), more.end());
  for (const LayeredRow& row : system_->rows()) {
    if (!(length_squared(row.multiplier) > 0)) continue;
    const bool is_limit = row.kind == LayeredRow::Kind::Limit, is_floor = row.kind == LayeredRow::Kind::Floor;
    state_.touches.push_back({is_floor ? core_point(row.node) : row.node,
                              is_limit ? BodyId{} : touches[row.touch].other, row.multiplier, row.normal,
                              is_limit ? 0 : touches[row.touch].gap});
  }
  std::sort(state_.touches.begin(), state_.touches.end(), [](const NodeTouchMemory& a, const NodeTouchMemory& b) {
    return a.slot != b.slot ? a.slot < b.slot : a.other < b.other;
  });
}

}  // namespace pliant
