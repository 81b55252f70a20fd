// The rows of an island: what they act on, how strong they are, and what they give.
#include <algorithm>
#include <cmath>
#include <limits>

#include "solid/solid_island.h"

namespace pliant {
namespace {

constexpr float kRigidPenalty = 30;  ///< κ between rigid bodies
/// κ where nothing but solids gives way. Rounds of weaker rows take fewer iterations, though more of them: with 3, 1.5
/// and 1 a pile of 64 cubes takes 96, 79 and 81 iterations. (Rigid bodies on solids drift and are braked too much with
/// it.)
constexpr float kSolidPenalty = 1.5f;

}  // namespace

bool IslandRow::weigh() {
  constexpr float kFarOff = 0.2f;
  const float now = active ? across() : kNotWeighed;
  if (active == (weighed != kNotWeighed) && std::abs(now - weighed) <= kFarOff) return false;
  weighed = now;
  return true;
}

Vec3 SolidIsland::velocity(const IslandRowEnd& end) const {
  if (end.member == IslandRowEnd::kFixed) return {};
  if (is_rigid(end)) return rigids_[end.member - solids_.size()].motion.velocity_at(end.arm);
  Vec3 v;
  if (is_guest(end)) {
    for (std::size_t k = 0; k < end.count; ++k) v += guest_of(end).velocities[end.slots[k]] * end.weights[k];
    return v;
  }
  for (std::size_t k = 0; k < end.count; ++k) {
    const std::uint32_t slot = end.slots[k];
    v += (is_nodes(end) ? nodes_of(end).velocity(slot) : solids_[end.member].body->target().get(slot)) * end.weights[k];
  }
  return v;
}

Vec3 SolidIsland::direction(const IslandRowEnd& end) const {
  if (end.member == IslandRowEnd::kFixed) return {};
  if (is_rigid(end)) {
    const Rigid& rigid = rigids_[end.member - solids_.size()];
    return rounded(rigid.p, 0) + cross(rounded(rigid.p, 3), end.arm);
  }
  Vec3 v;
  if (is_nodes(end)) {
    for (std::size_t k = 0; k < end.count; ++k) v += nodes_of(end).direction(end.slots[k]) * end.weights[k];
    return v;
  }
  if (is_guest(end)) {
    for (std::size_t k = 0; k < end.count; ++k) v += guest_of(end).directions[end.slots[k]] * end.weights[k];
    return v;
  }
  const LaneVectors& p = solids_[end.member].body->system().direction();
  for (std::size_t k = 0; k < end.count; ++k) v += p.get(end.slots[k]) * end.weights[k];
  return v;
}

float SolidIsland::speed(const IslandJointRow& row) const {
  float out = 0;
  if (row.a != IslandRowEnd::kFixed) {
    const RigidBodyMotion& a = rigids_[row.a - solids_.size()].motion;
    out -= dot(row.linear, a.velocity) + dot(row.angular_a, a.angular_velocity);
  }
  if (row.b != IslandRowEnd::kFixed) {
    const RigidBodyMotion& b = rigids_[row.b - solids_.size()].motion;
    out += dot(row.linear, b.velocity) + dot(row.angular_b, b.angular_velocity);
  }
  return out;
}

/// The nodes of guests that rows act on; rows then name them by their places.
void SolidIsland::list_guest_nodes() {
  for (Guest& guest : guests()) guest.nodes.clear(), guest.pushes.clear();
  for (const IslandRow& row : rows_) {
    for (const IslandRowEnd* end : {&row.a, &row.b}) {
      if (!is_guest(*end)) continue;
      auto& nodes = guest_of(*end).nodes;
      nodes.insert(nodes.end(), end->slots.begin(), end->slots.begin() + end->count);
    }
  }
  for (Guest& guest : guests()) {
    std::sort(guest.nodes.begin(), guest.nodes.end());
    guest.nodes.erase(std::unique(guest.nodes.begin(), guest.nodes.end()), guest.nodes.end());
  }
  for (IslandRow& row : rows_) {
    for (IslandRowEnd* end : {&row.a, &row.b}) {
      if (!is_guest(*end)) continue;
      const auto& nodes = guest_of(*end).nodes;
      for (std::size_t k = 0; k < end->count; ++k) {
        end->slots[k] =
            static_cast<std::uint32_t>(std::lower_bound(nodes.begin(), nodes.end(), end->slots[k]) - nodes.begin());
      }
    }
  }
}

void SolidIsland::begin_guests(Workers& workers) {
  list_guest_nodes();
  for (Guest& guest : guests()) {
    guest.member->begin(workers, guest.nodes);
    const std::size_t count = guest.nodes.size();
    guest.velocities.resize(count), guest.directions.assign(count, {}), guest.forces.resize(count);
    guest.arms.resize(count), guest.blocks.resize(count);
    guest.member->get_arms(guest.arms);
    guest.member->get_responses(guest.blocks);
    guest.member->get_velocities(guest.velocities);
  }
}

/// What the rows give the nodes of a guest, summed up in the order of the rows.
void SolidIsland::gather_forces(Guest& guest) const {
  std::fill(guest.forces.begin(), guest.forces.end(), Vec3{});
  for (const SpringMember::Push& push : guest.pushes) {
    guest.forces[push.node] += row_forces_[push.row] * push.weight;
  }
}

/// Who is acted on by which rows, so that each can gather its own.
void SolidIsland::index_rows() {
  for (Solid& solid : solids_) {
    solid.entries.clear();
    solid.starts.assign(solid.body->layout().slot_count / 8 + 2, 0);
  }
  for (Rigid& rigid : rigids_) rigid.pushes.clear();
  const auto for_each_end = [&](auto&& visit) {
    for (std::uint32_t i = 0; i < rows_.size(); ++i) visit(i, rows_[i].a, 1.0f), visit(i, rows_[i].b, -1.0f);
  };
  for_each_end([&](std::uint32_t row, const IslandRowEnd& end, float sign) {
    if (end.member == IslandRowEnd::kFixed) return;
    if (is_rigid(end)) {
      rigids_[end.member - solids_.size()].pushes.push_back({row, sign, end.arm});
      return;
    }
    if (is_nodes(end)) {
      for (std::size_t k = 0; k < end.count; ++k) {
        nodes_of(end).pushes.push_back({row, end.slots[k], sign * end.weights[k]});
      }
      return;
    }
    if (is_guest(end)) {
      for (std::size_t k = 0; k < end.count; ++k) {
        guest_of(end).pushes.push_back({row, end.slots[k], sign * end.weights[k]});
      }
      return;
    }
    for (std::size_t k = 0; k < end.count; ++k) ++solids_[end.member].starts[end.slots[k] / 8 + 2];
  });
  for (Solid& solid : solids_) {
    for (std::size_t g = 2; g < solid.starts.size(); ++g) solid.starts[g] += solid.starts[g - 1];
    solid.entries.resize(solid.starts.back());
  }
  for_each_end([&](std::uint32_t row, const IslandRowEnd& end, float sign) {
    if (!is_solid(end)) return;
    Solid& solid = solids_[end.member];
    for (std::size_t k = 0; k < end.count; ++k) {
      solid.entries[solid.starts[end.slots[k] / 8 + 1]++] = {row, end.slots[k] % 8, sign * end.weights[k]};
    }
  });
}

float SolidIsland::response_of(const IslandRowEnd& end, std::size_t k, Vec3 normal) const {
  if (is_nodes(end)) return nodes_of(end).response(end.slots[k], normal);
  if (is_solid(end)) return solids_[end.member].body->system().response(end.slots[k], normal);
  const LaneVec3<float> n = to_lane(normal);
  return dot(n, guest_of(end).blocks[end.slots[k]] * n);
}

void SolidIsland::list_masses() {
  masses_.clear();
  for (const Solid& solid : solids_) masses_.push_back(solid.body->mass());
  for (const Rigid& rigid : rigids_) masses_.push_back(rigid.mass);
  for (const SpringMember& nodes : spring_members()) masses_.push_back(nodes.mass());
  for (const Guest& guest : guests()) masses_.push_back(guest.member->mass());
}

/// The heaviest member, and what may press through each pair that touches.
double SolidIsland::find_loads() {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  list_masses();
  const double heaviest = *std::max_element(masses_.begin(), masses_.end());
  touching_.clear();
  const auto add = [&](std::uint32_t a, std::uint32_t b) {
    if (a == IslandRowEnd::kFixed || b == IslandRowEnd::kFixed) {
      if (a != b) masses_[std::min(a, b)] = kEndless;
    } else if (a != b) {
      touching_.emplace_back(std::min(a, b), std::max(a, b));
    }
  };
  for (const IslandRow& row : rows_) add(row.a.member, row.b.member);
  for (const IslandJointRow& row : joints_) add(row.a, row.b);
  for (std::size_t i = 0; i < solids_.size(); ++i) {
    if (!solids_[i].body->system().is_free()) masses_[i] = kEndless;
  }
  std::sort(touching_.begin(), touching_.end());
  touching_.erase(std::unique(touching_.begin(), touching_.end()), touching_.end());
  loads_.find(masses_, touching_);
  return heaviest;
}

void SolidIsland::set_penalties() {
  const double heaviest = find_loads();
  const auto is_solid_or_fixed = [&](const IslandRowEnd& end) {
    return is_solid(end) || end.member == IslandRowEnd::kFixed;
  };
  for (IslandRow& row : rows_) {
    if (row.damped) continue;
    float response = 0;
    for (const IslandRowEnd* end : {&row.a, &row.b}) {
      for (std::size_t k = 0; k < end->count; ++k) {
        response += end->weights[k] * end->weights[k] * response_of(*end, k, row.normal);
      }
    }
    const LoadPaths::Pair pair{std::min(row.a.member, row.b.member), std::max(row.a.member, row.b.member)};
    const auto touch = std::lower_bound(touching_.begin(), touching_.end(), pair);
    // Bodies of nodes are softer than their nodes' response says: there the heaviest is right.
    const bool is_pair = touch != touching_.end() && *touch == pair && touch->second < solids_.size() + rigids_.size();
    const double load = is_pair ? std::min(loads_.load(touch - touching_.begin()), heaviest) : heaviest;
    const float kappa = response == 0                                          ? kRigidPenalty
                        : is_solid_or_fixed(row.a) && is_solid_or_fixed(row.b) ? kSolidPenalty
                                                                               : kSoftPenalty;
    row.load = static_cast<float>(load);
    row.penalty = kappa / (response + 1 / row.load);
    if (!std::isfinite(row.penalty)) row.penalty = 0;
  }
  for (IslandJointRow& row : joints_) {
    // A row that only turns acts at about the bodies' radius.
    double arm = 0;
    for_each_end(row, [&](const Rigid& rigid, const Vector6&) { arm = std::max(arm, rigid.radius); });
    if (length_squared(row.linear) > 0) arm = 1;
    row.penalty = kRigidPenalty * static_cast<float>(heaviest * arm * arm);
  }
  for (Guest& guest : guests()) guest.member->start_rows(heaviest);
}

void SolidIsland::add_to_residual(const IslandRowEnd& end, Vec3 impulse) {
  if (end.member == IslandRowEnd::kFixed || is_guest(end)) return;  // guests have felt nothing yet
  if (is_nodes(end)) {
    for (std::size_t k = 0; k < end.count; ++k) nodes_of(end).add_to_residual(end.slots[k], impulse * end.weights[k]);
    return;
  }
  if (is_rigid(end)) {
    Rigid& rigid = rigids_[end.member - solids_.size()];
    add_to(rigid.r, 0, Vec3d(impulse));
    add_to(rigid.r, 3, cross(Vec3d(end.arm), Vec3d(impulse)));
    return;
  }
  SolidBody& body = *solids_[end.member].body;
  for (std::size_t k = 0; k < end.count; ++k) {
    if (body.is_free_slot(end.slots[k])) body.residual().add(end.slots[k], impulse * end.weights[k]);
  }
}

/// Begins a round of the rows: the residuals of their ends, which have felt what the rows gave in the last, feel what
/// they give in this one.
void SolidIsland::change_impulses(Workers& workers, bool is_first) {
  for_rows(workers, [&](std::size_t i) {
    IslandRow& row = rows_[i];
    const Vec3 before = row.impulse(row_velocities_[i]);
    row.begin_round();
    row_stale_[i] = row.weigh();
    row_impulses_[i] = row.impulse(row_velocities_[i]);
    row_forces_[i] = row_impulses_[i] - before;
  });
  for_solids(workers, [&](Workers&, Solid& solid) {
    ImpulseSize pushed;
    for_each_entry(solid, [&](std::uint32_t slot, const Entry& entry) {
      if (!solid.body->is_free_slot(slot)) return;
      solid.body->residual().add(slot, row_forces_[entry.row] * entry.weight);
      const double square = static_cast<double>(length_squared(row_impulses_[entry.row] * entry.weight));
      pushed += {square, square / static_cast<double>(solid.body->mass_of_slot(slot))};
    });
    // A splinter that hands on the blow of a heavy body need not be solved to a thousandth of its own weight.
    solid.scale = max(solid.own_scale, sqrt(pushed));
  });
  // What nothing but contacts pushes, without gravity, is measured by these.
  constexpr double kOfPushes = 0.1;
  const auto size = [&](double own, const auto& pushes) {
    double pushed = 0;
    for (const auto& push : pushes) pushed += static_cast<double>(length_squared(row_impulses_[push.row]));
    return std::max(own, kOfPushes * std::sqrt(pushed));
  };
  for (Rigid& rigid : rigids_) {
    add_pushes(rigid, rigid.r);
    rigid.scale = size(rigid.own_scale, rigid.pushes);
  }
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    SpringMember& nodes = nodes_[i];
    for (const SpringMember::Push& push : nodes.pushes) {
      nodes.add_to_residual(push.node, row_forces_[push.row] * push.weight);
    }
    nodes.scale = size(nodes.own_scale, nodes.pushes);
  }
  for (Guest& guest : guests()) {
    gather_forces(guest);
    guest.member->add_impulses(guest.forces);
    if (!is_first) guest.member->add_row_impulses(-1);
    guest.member->begin_rows();
    guest.member->add_row_impulses(1);
  }
  for (IslandJointRow& row : joints_) {
    const float before = impulse(row);
    row.begin_round();
    const double given = static_cast<double>(impulse(row) - before);
    for_each_end(row, [&](Rigid& rigid, const Vector6& axis) {
      for (std::size_t k = 0; k < 6; ++k) rigid.r[k] += given * axis[k];
      const double pushed = std::abs(static_cast<double>(impulse(row))) * rigid.size(axis);
      rigid.scale = std::max(rigid.scale, kOfPushes * pushed);
    });
  }
}

void SolidIsland::add_pushes(const Rigid& rigid, Vector6& to) const {
  for (const Push& push : rigid.pushes) {
    const Vec3d force = Vec3d(row_forces_[push.row]) * static_cast<double>(push.sign);
    add_to(to, 0, force);
    add_to(to, 3, cross(Vec3d(push.arm), force));
  }
}

RowProgress SolidIsland::update_multipliers(Workers& workers) {
  const auto update = [&](std::size_t begin, std::size_t end) {
    RowProgress part;
    for (std::size_t i = begin; i < end; ++i) {
      IslandRow& row = rows_[i];
      const Vec3 v = row_velocities_[i] = relative_velocity(row);
      const float violation = row.violation(v);
      const double change = row.update(v);
      part.add({change, static_cast<double>(length_squared(row.multiplier)), violation});
    }
    return part;
  };
  RowProgress progress = parallel_reduce(workers, rows_.size(), kRowGrain, RowProgress{}, progress_, update,
                                         [](RowProgress sum, const RowProgress& part) { return sum.add(part), sum; });
  for (Guest& guest : guests()) progress.add(guest.member->update_rows());
  for (IslandJointRow& row : joints_) {
    const float v = speed(row), next = row.judge(v);
    const auto change = static_cast<double>(next - row.multiplier), size = static_cast<double>(next);
    progress.add({change * change, size * size, row.active ? std::abs(v - row.target) : 0.0f});
    row.multiplier = next;
  }
  return progress;
}

/// Whether velocities are right within what is allowed, m/s, the worst of them being known. In large islands there is
/// nearly always a row that still is not (a pile of 125 cubes took 16 rounds for one in 5000), so one of a hundred may
/// be off by more, as long as that is less than the depth that is left alone anyway.
bool SolidIsland::are_rows_met(float worst, float allowed) const {
  constexpr float kLittleMore = 5;
  constexpr std::size_t kOneOf = 100;
  if (worst <= allowed) return true;
  if (worst > kLittleMore * allowed || !joints_.empty() || !guests().empty()) return false;
  std::size_t late = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) late += rows_[i].violation(row_velocities_[i]) > allowed ? 1 : 0;
  return kOneOf * late <= rows_.size();
}

}  // namespace pliant
