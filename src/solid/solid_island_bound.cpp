// What the members of an island are left with when its solve is cut off: none more than all together may have
// (motion_bound.h). Thousands of contacts that a body of millimetres has with itself, as its nodes are thrown about at
// metres a second, gave it 1e15 m/s.
#include <algorithm>
#include <cmath>

#include "solid/motion_bound.h"
#include "solid/solid_island.h"

namespace pliant {

/// Of all members, by mass; none where more may come from outside, or where what is stored is not known.
std::optional<double> SolidIsland::largest_motion(Workers& workers, float dt) {
  if (nodes_count_ > 0 || guest_count_ > 0 || is_squeezed()) return std::nullopt;
  MotionBefore before;
  for (const Solid& solid : solids_) {
    if (solid.body->is_driven()) return std::nullopt;
    before.free += solid.body->free_motion(solid.gravity, dt);
    before.stored += solid.body->stored_energy(workers);
    before.mass += solid.body->mass();
  }
  for (const Rigid& rigid : rigids_) {
    before.free += rigid.motion_squared(rigid.start, rigid.angular_start);
    before.mass += rigid.mass;
  }
  for (const IslandRow& row : rows_) {
    before.asked_speed = std::max(before.asked_speed, asked_speed(row.target, row.normal));
  }
  for (const IslandJointRow& row : joints_) {
    double radius = 1;
    if (length_squared(row.linear) == 0) {
      for_each_end(row, [&](const Rigid& rigid, const Vector6&) { radius = std::max(radius, rigid.radius); });
    }
    before.asked_speed = std::max(before.asked_speed, std::abs(row.target) * static_cast<float>(radius));
  }
  return pliant::largest_motion(before);
}

/// Whether things that do not give way ask members to move in opposite directions.
bool SolidIsland::is_squeezed() const {
  std::optional<Vec3> first;
  for (const IslandRow& row : rows_) {
    const bool is_a_fixed = row.a.member == IslandRowEnd::kFixed, is_b_fixed = row.b.member == IslandRowEnd::kFixed;
    if (is_a_fixed == is_b_fixed || asked_speed(row.target, row.normal) == 0) continue;
    const Vec3 normal = is_a_fixed ? -row.normal : row.normal;
    if (!first) first = normal;
    if (dot(normal, *first) < -0.5f) return true;
  }
  return false;
}

/// After the members have their new velocities. What rows gave those that had too much is forgotten.
void SolidIsland::bound_motion(Workers& workers, double most, float dt) {
  const auto forget = [](LagrangianRow& row) { row.multiplier = {}; };
  for (Solid& solid : solids_) {
    if (!solid.body->bound_motion(workers, most, dt)) continue;
    for (const Entry& entry : solid.entries) forget(rows_[entry.row]);
  }
  for (Rigid& rigid : rigids_) {
    const double motion = rigid.motion_squared(rigid.motion.velocity, rigid.motion.angular_velocity);
    if (motion <= most * most) continue;
    const auto slower = static_cast<float>(most / std::sqrt(motion));
    rigid.motion.velocity = rigid.motion.velocity * slower;
    rigid.motion.angular_velocity = rigid.motion.angular_velocity * slower;
    for (const Push& push : rigid.pushes) forget(rows_[push.row]);
  }
}

}  // namespace pliant
