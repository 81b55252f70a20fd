// What the members of an island are left with when its solve is cut off: all together no more than they may have
// (motion_bound.h). Where they have more, it is taken from those that have most, for such a solve goes wrong in a few
// places. Thousands of contacts that a body of millimetres has with itself, as its nodes are thrown about at
// metres a second, gave it 1e15 m/s; a sheet between heavy bodies got forty times the energy of the pile above it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "solid/solid_island.h"
#include "solve/motion_bound.h"

namespace pliant {
namespace {

/// How much each may have for all to have no more than `limit`, if none that has less gets more; infinity if they have
/// no more.
double largest_part(std::vector<double> parts, double limit) {
  std::sort(parts.begin(), parts.end());
  double below = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double share = (limit - below) / static_cast<double>(parts.size() - i);
    if (!(parts[i] <= share)) return std::max(share, 0.0);
    below += parts[i];
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

/// What is known before the members have their new velocities; none where more may come from outside, or where what is
/// stored is not known.
std::optional<SolidIsland::MotionLimit> SolidIsland::find_motion_limit(Workers& workers, float dt) {
  if (is_squeezed()) return std::nullopt;
  list_masses();
  MotionBefore before;
  double fastest = 0;
  std::size_t member = 0;
  const auto add = [&](double free) {
    before.free += free;
    fastest = std::max(fastest, free / masses_[member++]);
  };
  for (const Solid& solid : solids_) {
    if (solid.body->is_driven()) return std::nullopt;
    add(solid.body->free_motion(solid.gravity, dt));
    before.stored += solid.body->stored_energy(workers);
  }
  for (const Rigid& rigid : rigids_) add(rigid.motion_squared_before());
  for (const SpringMember& nodes : spring_members()) add(nodes.motion_before());
  for (const Guest& guest : guests()) {
    const std::optional<double> free = guest.member->free_motion();
    if (!free) return std::nullopt;
    add(*free);
    before.stored += guest.member->stored_energy(workers);
  }
  before.asked = asked_motion();
  // By the bound, depth that is mended in bodies that are strained already may add to the strain, a little in every
  // step: a tangle of solids, cloth and rope got to a hundred times its energy. So mending is paid for by motion alone.
  const double stored = std::exchange(before.stored, 0.0);
  return MotionLimit{.energy = 0.5 * std::pow(largest_motion(before), 2) + stored, .speed = std::sqrt(fastest)};
}

/// Σ m |w|² of motions that do what rows ask for: of its two ends the lighter one follows.
double SolidIsland::asked_motion() const {
  std::vector<float> speeds(masses_.size(), 0.0f);
  const auto ask = [&](std::uint32_t a, std::uint32_t b, float speed) {
    const bool is_a = b >= speeds.size() || (a < speeds.size() && masses_[a] < masses_[b]);
    const std::uint32_t member = is_a ? a : b;
    if (member < speeds.size()) speeds[member] = std::max(speeds[member], speed);
  };
  for (const IslandRow& row : rows_) ask(row.a.member, row.b.member, asked_speed(row.target, row.normal));
  for (const IslandJointRow& row : joints_) {
    const std::uint32_t rigid = row.a != IslandRowEnd::kFixed ? row.a : row.b;
    const double arm = length_squared(row.linear) > 0 ? 1 : rigids_[rigid - solids_.size()].radius;
    ask(row.a, row.b, std::abs(row.target) * static_cast<float>(arm));
  }
  for (std::size_t i = 0; i < guests().size(); ++i) {
    float& speed = speeds[speeds.size() - guests().size() + i];
    speed = std::max(speed, guests()[i].member->asked_speed());
  }
  double total = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i) total += masses_[i] * std::pow(static_cast<double>(speeds[i]), 2);
  return total;
}

/// Whether something that moves as told presses members against something else that does not give way.
bool SolidIsland::is_squeezed() const {
  const auto normal_of = [](const IslandRow& row) -> std::optional<Vec3> {
    const bool is_a_fixed = row.a.member == IslandRowEnd::kFixed, is_b_fixed = row.b.member == IslandRowEnd::kFixed;
    if (is_a_fixed == is_b_fixed) return std::nullopt;
    return is_a_fixed ? -row.normal : row.normal;
  };
  std::optional<Vec3> driven;
  for (const IslandRow& row : rows_) {
    if (row.is_driven && !driven) driven = normal_of(row);
  }
  if (!driven) return false;
  return std::any_of(rows_.begin(), rows_.end(), [&](const IslandRow& row) {
    const std::optional<Vec3> normal = normal_of(row);
    return normal && dot(*normal, *driven) < -0.5f;
  });
}

/// After the members have their new velocities. What rows gave those that had too much is forgotten. Those that store
/// no energy get no faster than the fastest member was.
void SolidIsland::bound_motion(Workers& workers, const MotionLimit& limit, float dt) {
  std::vector<double> energies;
  for (const Solid& solid : solids_) energies.push_back(solid.body->energy_after(workers, dt));
  for (const Rigid& rigid : rigids_) energies.push_back(0.5 * rigid.motion_squared());
  for (const SpringMember& nodes : spring_members()) energies.push_back(0.5 * nodes.motion());
  for (const Guest& guest : guests()) energies.push_back(guest.member->energy_after(workers, dt));
  const double cap = largest_part(energies, limit.energy);
  if (cap == std::numeric_limits<double>::infinity()) return;
  const Vec3d momentum = total_momentum();
  const double most = std::sqrt(2 * cap);
  std::size_t member = solids_.size();
  const auto most_of_next = [&] { return std::min(most, limit.speed * std::sqrt(masses_[member++])); };
  const auto forget = [&](const auto& pushes) {
    for (const auto& push : pushes) rows_[push.row].multiplier = {};
  };
  for (Solid& solid : solids_) {
    if (solid.body->bound_motion(workers, most, dt)) forget(solid.entries);
  }
  for (Rigid& rigid : rigids_) {
    if (rigid.bound_motion(most_of_next())) forget(rigid.pushes);
  }
  for (SpringMember& nodes : spring_members()) {
    if (nodes.bound_motion(most_of_next())) forget(nodes.pushes);
  }
  for (Guest& guest : guests()) {
    const double of_mover = most_of_next();
    const double own = guest.member->stored_energy(workers) > 0 ? most : of_mover;
    if (guest.member->bound_motion(workers, own, dt)) forget(guest.pushes);
  }
  if (!is_in_flight()) return;
  // What a solve that went far astray found of the momentum is of no use either.
  const Vec3d lost = (momentum - total_momentum()) / std::accumulate(masses_.begin(), masses_.end(), 0.0);
  if (length(lost) < limit.speed) shift(lost);
}

/// Whether nothing but the members themselves gives or takes momentum.
bool SolidIsland::is_in_flight() const {
  const auto is_fixed = [](const IslandRowEnd& end) { return end.member == IslandRowEnd::kFixed; };
  const auto is_held = [&](const IslandRow& row) { return is_fixed(row.a) || is_fixed(row.b); };
  return std::none_of(solids_.begin(), solids_.end(), [](const Solid& solid) { return solid.body->is_held(); }) &&
         std::none_of(rows_.begin(), rows_.end(), is_held);
}

Vec3d SolidIsland::total_momentum() {
  Vec3d total{};
  for (const Solid& solid : solids_) {
    const SolidTotals totals = solid.body->totals();
    total += Vec3d{totals.momentum[0], totals.momentum[1], totals.momentum[2]};
  }
  for (const Rigid& rigid : rigids_) total += Vec3d(rigid.motion.velocity) * rigid.mass;
  for (const SpringMember& nodes : spring_members()) total += nodes.momentum();
  for (const Guest& guest : guests()) total += guest.member->momentum();
  return total;
}

/// Adds to the velocity of all members.
void SolidIsland::shift(Vec3d velocity) {
  for (Solid& solid : solids_) solid.body->shift(velocity.to_float());
  for (Rigid& rigid : rigids_) {
    add_to(rigid.x, 0, velocity);
    rigid.set_change();
  }
  for (SpringMember& nodes : spring_members()) nodes.move({velocity.x, velocity.y, velocity.z, 0, 0, 0});
  for (Guest& guest : guests()) guest.member->move({velocity.x, velocity.y, velocity.z, 0, 0, 0});
}

bool SolidIsland::Rigid::bound_motion(double most) {
  const double now = motion_squared();
  if (now <= most * most) return false;
  const auto slower = static_cast<float>(most / std::sqrt(now));
  x = {};
  add_to(x, 0, Vec3d(motion.velocity * slower - start));
  add_to(x, 3, Vec3d(motion.angular_velocity * slower - angular_start));
  set_change();
  return true;
}

}  // namespace pliant
