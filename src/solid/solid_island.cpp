#include "solid/solid_island.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/vec3d.h"

namespace pliant {
namespace {

constexpr float kRigidPenalty = 30;  ///< κ between rigid bodies

using Mat3d = std::array<std::array<double, 3>, 3>;

Mat3d inverse(const Mat3& m) {
  const Vec3d a(m.rows[0]), b(m.rows[1]), c(m.rows[2]);
  const Vec3d x = cross(b, c), y = cross(c, a), z = cross(a, b);
  const double det = dot(a, x);
  const double scale = det != 0 ? 1 / det : 0;
  return {{{x.x * scale, y.x * scale, z.x * scale},
           {x.y * scale, y.y * scale, z.y * scale},
           {x.z * scale, y.z * scale, z.z * scale}}};
}

double norm(const Vector6& v, std::size_t first) {
  return std::sqrt(v[first] * v[first] + v[first + 1] * v[first + 1] + v[first + 2] * v[first + 2]);
}

}  // namespace

void SolidIsland::clear() {
  solids_.clear();
  rigids_.clear();
  nodes_count_ = guest_count_ = 0;
  rows_.clear();
  joints_.clear();
}

std::uint32_t SolidIsland::add_solid(SolidBody& body, Vec3 gravity) {
  solids_.push_back({.body = &body, .gravity = gravity});
  return static_cast<std::uint32_t>(solids_.size() - 1);
}

std::uint32_t SolidIsland::add_rigid(const IslandRigid& rigid) {
  Rigid added{.motion = rigid.motion, .start = rigid.motion.velocity, .angular_start = rigid.motion.angular_velocity};
  added.mass = 1 / static_cast<double>(rigid.motion.inverse_mass);
  added.inertia = inverse(rigid.motion.inverse_inertia);
  const double largest = std::max({added.inertia[0][0], added.inertia[1][1], added.inertia[2][2]});
  added.radius = std::max(std::sqrt(largest / added.mass), 1e-30);
  const Vec3 change = rigid.velocity_before - added.start, turn = rigid.angular_velocity_before - added.angular_start;
  add_to(added.x, 0, Vec3d(change));
  add_to(added.x, 3, Vec3d(turn));
  rigids_.push_back(added);
  return static_cast<std::uint32_t>(solids_.size() + rigids_.size() - 1);
}

std::uint32_t SolidIsland::add_nodes(SharedNodes& nodes) {
  if (nodes_count_ == nodes_.size()) nodes_.emplace_back();
  nodes_[nodes_count_++].begin(nodes);
  return static_cast<std::uint32_t>(solids_.size() + rigids_.size() + nodes_count_ - 1);
}

std::uint32_t SolidIsland::add_guest(IslandGuest& guest) {
  if (guest_count_ == guests_.size()) guests_.emplace_back();
  guests_[guest_count_++].member = &guest;
  return static_cast<std::uint32_t>(first_guest() + guest_count_ - 1);
}

Vector6 SolidIsland::Rigid::momentum(const Vector6& v) const {
  Vector6 out{mass * v[0], mass * v[1], mass * v[2], 0, 0, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) out[3 + i] += inertia[i][k] * v[3 + k];
  }
  return out;
}

void SolidIsland::Rigid::set_change() {
  motion.velocity = start + rounded(x, 0);
  motion.angular_velocity = angular_start + rounded(x, 3);
}

template <typename Visit>
void SolidIsland::for_solids(Workers& workers, Visit&& visit) {
  if (solids_.size() < 4) {
    for (Solid& solid : solids_) visit(workers, solid);
    return;
  }
  parallel_for(workers, solids_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) visit(alone_, solids_[i]);
  });
}

template <typename Body>
double SolidIsland::sum_tasks(Workers& workers, Body&& body) {
  parallel_for(workers, tasks_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      Solid& solid = solids_[tasks_[t].solid];
      sums_[t] = body(solid, solid.body->system().chunks()[tasks_[t].chunk]);
    }
  });
  double total = 0;
  for (const SolidSystem::Sums& sum : sums_) total += sum.a;
  return total;
}

template <typename Visit>
void SolidIsland::for_each_entry(const Solid& solid, Visit&& visit) {
  for (std::uint32_t g = 0; g + 1 < solid.starts.size(); ++g) {
    for (std::uint32_t e = solid.starts[g]; e < solid.starts[g + 1]; ++e) {
      visit(8 * g + solid.entries[e].lane, solid.entries[e]);
    }
  }
}

// --- Rows ------------------------------------------------------------------------------------------------------------

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
    if (rows_[push.row].active) guest.forces[push.node] += row_forces_[push.row] * push.weight;
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

/// The heaviest member, and what may press through each pair that touches.
double SolidIsland::find_loads() {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  masses_.clear();
  for (const Solid& solid : solids_) masses_.push_back(solid.body->mass());
  for (const Rigid& rigid : rigids_) masses_.push_back(rigid.mass);
  for (std::size_t i = 0; i < nodes_count_; ++i) masses_.push_back(nodes_[i].mass());
  for (const Guest& guest : guests()) masses_.push_back(guest.member->mass());
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
    row.penalty = (response > 0 ? kSoftPenalty : kRigidPenalty) / (response + 1 / static_cast<float>(load));
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

/// Adds `sign` times what the rows give now to the residuals of their ends.
void SolidIsland::add_impulses(Workers& workers, float sign) {
  for_rows(workers, [&](std::size_t i) { row_forces_[i] = impulse(rows_[i]) * sign; });
  for_solids(workers, [&](Workers&, Solid& solid) {
    for_each_entry(solid, [&](std::uint32_t slot, const Entry& entry) {
      if (solid.body->is_free_slot(slot)) solid.body->residual().add(slot, row_forces_[entry.row] * entry.weight);
    });
  });
  for (Rigid& rigid : rigids_) add_pushes(rigid, rigid.r);
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    for (const SpringMember::Push& push : nodes_[i].pushes) {
      nodes_[i].add_to_residual(push.node, row_forces_[push.row] * push.weight);
    }
  }
  for (Guest& guest : guests()) {
    gather_forces(guest);
    guest.member->add_impulses(guest.forces);
    guest.member->add_row_impulses(sign);
  }
  for (const IslandJointRow& row : joints_) {
    const double given = static_cast<double>(impulse(row) * sign);
    for_each_end(row, [&](Rigid& rigid, const Vector6& axis) {
      for (std::size_t k = 0; k < 6; ++k) rigid.r[k] += given * axis[k];
    });
  }
}

void SolidIsland::add_pushes(const Rigid& rigid, Vector6& to) const {
  for (const Push& push : rigid.pushes) {
    if (!rows_[push.row].active) continue;
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
      const Vec3 v = relative_velocity(row);
      const float violation = row.active && !row.damped ? -dot(v - row.target, row.normal) : 0.0f;
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

// --- The solve -------------------------------------------------------------------------------------------------------

void SolidIsland::begin(Workers& workers, float dt) {
  for_solids(workers, [&](Workers& own, Solid& solid) {
    solid.scale = solid.body->begin_island(own, solid.gravity, dt);
    if (solid.body->system().is_free()) solid.whole = solid.body->system().whole_matrix(solid.body->layout());
  });
  for (Rigid& rigid : rigids_) {
    rigid.r = rigid.momentum(rigid.x);
    rigid.scale = norm(rigid.r, 0) + norm(rigid.r, 3) / rigid.radius;
    for (double& part : rigid.r) part = -part;
    rigid.p = rigid.q = {};
    rigid.set_change();
  }
  for (const IslandRow& row : rows_) {
    add_to_residual(row.a, -row.given_a);
    add_to_residual(row.b, -row.given_b);
    if (is_nodes(row.a)) nodes_of(row.a).add_to_scale(row.given_a);
    if (is_nodes(row.b)) nodes_of(row.b).add_to_scale(row.given_b);
  }
  tasks_.clear();
  for (std::uint32_t s = 0; s < solids_.size(); ++s) {
    for (std::uint32_t c = 0; c < solids_[s].body->system().chunks().size(); ++c) tasks_.push_back({s, c});
  }
  sums_.assign(tasks_.size(), {});
  row_forces_.assign(rows_.size(), {});
  begin_guests(workers);
  index_rows();
  set_penalties();
  number_levels(workers);
}

void SolidIsland::begin_round(Workers& workers) {
  for_rows(workers, [&](std::size_t i) { rows_[i].begin_round(); });
  for (IslandJointRow& row : joints_) row.begin_round();
  for (Guest& guest : guests()) guest.member->begin_rows();
  add_impulses(workers, 1);
  for (Guest& guest : guests()) {
    std::fill(guest.blocks.begin(), guest.blocks.end(), LaneSym3<float>{});
    for (const SpringMember::Push& push : guest.pushes) {
      const IslandRow& row = rows_[push.row];
      if (!row.active) continue;
      guest.blocks[push.node] = guest.blocks[push.node] + row.block() * (push.weight * push.weight);
    }
    guest.member->set_blocks(workers, guest.blocks);
  }
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    nodes_[i].clear_extras();
    for (const SpringMember::Push& push : nodes_[i].pushes) {
      const IslandRow& row = rows_[push.row];
      if (row.active) nodes_[i].add_extra(push.node, row.block() * (push.weight * push.weight));
    }
    nodes_[i].invert_diagonals();
  }
  for_solids(workers, [&](Workers& own, Solid& solid) {
    SolidSystem& system = solid.body->system();
    system.clear_extras();
    for_each_entry(solid, [&](std::uint32_t slot, const Entry& entry) {
      if (rows_[entry.row].active) system.add_extra(slot, rows_[entry.row].block() * (entry.weight * entry.weight));
    });
    system.invert_diagonals(own, solid.body->layout());
    system.factor_coarse(solid.body->layout());
  });
  assemble_levels();
}

SolveResult SolidIsland::solve(Workers& workers, float dt) {
  constexpr int kMostRounds = 24, kIterationsOfRound = 12;
  // While contacts still open, close and slide, a round need not be solved well (a pile at impact: 210 iterations with
  // rounds solved to the end, 83 with this).
  constexpr double kUnsettledRound = 0.3;
  // After a blow some rows stick and slide in turn for many rounds: then less is asked of the forces.
  constexpr double kSteadyForce = 3e-3, kSteadyEnough = 1e-2;
  constexpr int kRoundsAtFirst = 8;
  begin(workers, dt);
  float allowed = 1e30f;
  int most_iterations = 0;
  for (const Solid& solid : solids_) {
    allowed = std::min(allowed, 0.2f * solid.body->slop() / dt);
    most_iterations = std::max(most_iterations, solid.body->def().solver.max_iterations);
  }
  for (const Guest& guest : guests()) {
    allowed = std::min(allowed, guest.member->allowed_violation() / dt);
    most_iterations = std::max(most_iterations, guest.member->max_iterations());
  }
  for (IslandRow& row : rows_) row.judge(relative_velocity(row));
  for (IslandJointRow& row : joints_) row.judge(speed(row));
  SolveResult result;
  bool settled = false;
  for (int round = 0; round < kMostRounds && result.iterations < most_iterations; ++round) {
    if (round > 0) add_impulses(workers, -1);
    begin_round(workers);
    const SolveResult part = iterate(workers, kIterationsOfRound, settled ? 0.0 : kUnsettledRound);
    result.iterations += part.iterations;
    result.residual = part.residual;
    update_velocities(workers);
    const RowProgress progress = update_multipliers(workers);
    const double wanted = round < kRoundsAtFirst ? kSteadyForce : kSteadyEnough;
    settled = progress.change <= wanted * wanted * progress.size && progress.violation <= allowed;
    result.converged = part.converged && settled;
    if (result.converged && round > 0) break;
  }
  correct_momentum(workers, dt);
  for_solids(workers, [&](Workers& own, Solid& solid) { solid.body->end_island(own, solid.gravity, dt); });
  for (std::size_t i = 0; i < nodes_count_; ++i) nodes_[i].end();
  return result;
}

void SolidIsland::update_velocities(Workers& workers) {
  for_solids(workers, [&](Workers& own, Solid& solid) { solid.body->update_target(own); });
  for (Rigid& rigid : rigids_) rigid.set_change();
  for (Guest& guest : guests()) guest.member->get_velocities(guest.velocities);
}

/// The same three parts as `SolidSystem::solve`, over all members, until the residual is small or `enough` of what it
/// was.
SolveResult SolidIsland::iterate(Workers& workers, int max_iterations, double enough) {
  constexpr int kFewest = 3;
  SolveResult result;
  double rz = precondition(workers, 0), rz_before = 1;
  const double rz_enough = rz * enough * enough;
  while (true) {
    result.converged = is_converged();
    if (result.converged || result.iterations >= max_iterations || !(rz > 0) || !std::isfinite(rz)) break;
    if (rz < rz_enough && result.iterations >= kFewest) break;
    renew_direction(workers, result.iterations == 0 ? 0.0 : rz / rz_before);
    const double curvature = multiply(workers);
    if (!(curvature > 0) || !std::isfinite(curvature)) break;
    rz_before = rz;
    rz = precondition(workers, rz / curvature);
    ++result.iterations;
  }
  for (const Solid& solid : solids_) result.residual = std::max(result.residual, solid.residual / solid.scale);
  for (const Guest& guest : guests()) result.residual = std::max(result.residual, guest.member->residual());
  return result;
}

bool SolidIsland::is_converged() {
  for (const Solid& solid : solids_) {
    if (!(solid.residual <= static_cast<double>(solid.body->def().solver.tolerance) * solid.scale)) return false;
  }
  for (const Guest& guest : guests()) {
    if (!guest.member->is_converged()) return false;
  }
  constexpr double kRigidTolerance = 1e-3;
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    if (!(nodes_[i].residual <= kRigidTolerance * nodes_[i].scale)) return false;
  }
  return std::all_of(rigids_.begin(), rigids_.end(),
                     [](const Rigid& rigid) { return rigid.residual <= kRigidTolerance * rigid.scale; });
}

/// Returns r·z.
double SolidIsland::precondition(Workers& workers, double step) {
  for (Rigid& rigid : rigids_) {
    for (std::size_t k = 0; k < 6; ++k) rigid.x[k] += step * rigid.p[k], rigid.r[k] -= step * rigid.q[k];
    rigid.residual = norm(rigid.r, 0) + norm(rigid.r, 3) / rigid.radius;
  }
  double product = sum_tasks(workers, [&](Solid& solid, const SolidSystem::Chunk& chunk) {
    SolidBody& body = *solid.body;
    return body.system().precondition(body.layout(), chunk, body.state().change, body.residual(), step);
  });
  for (Solid& solid : solids_) solid.residual = 0;
  for (std::size_t t = 0; t < tasks_.size(); ++t) solids_[tasks_[t].solid].residual += sums_[t].b;
  for_solids(workers, [&](Workers&, Solid& solid) {
    solid.residual = std::sqrt(solid.residual);
    solid.product = solid.body->system().solve_coarse();
  });
  for (const Solid& solid : solids_) product += solid.product;
  for (std::size_t i = 0; i < nodes_count_; ++i) product += nodes_[i].precondition(step);
  for (Guest& guest : guests()) product += guest.member->precondition(workers, step);
  return product + solve_levels();
}

void SolidIsland::renew_direction(Workers& workers, double beta) {
  for (Rigid& rigid : rigids_) {
    for (std::size_t k = 0; k < 6; ++k) rigid.p[k] = rigid.z[k] + beta * rigid.p[k];
  }
  for (std::size_t i = 0; i < nodes_count_; ++i) nodes_[i].renew_direction(beta);
  for (Guest& guest : guests()) {
    guest.member->renew_direction(workers, beta);
    guest.member->get_directions(guest.directions);
  }
  sum_tasks(workers, [&](Solid& solid, const SolidSystem::Chunk& chunk) {
    solid.body->system().renew_direction(solid.body->layout(), chunk, static_cast<float>(beta));
    return SolidSystem::Sums{};
  });
}

/// Returns p·q.
double SolidIsland::multiply(Workers& workers) {
  for_rows(workers, [&](std::size_t i) {
    const IslandRow& row = rows_[i];
    if (row.active) row_forces_[i] = row.resist(direction(row.a) - direction(row.b));
  });
  double total = sum_tasks(workers, [&](Solid& solid, const SolidSystem::Chunk& chunk) {
    const auto with_rows = [&](std::uint32_t g, const LaneVec3<Float8>&, LaneVec3<Float8> q) {
      for (std::uint32_t e = solid.starts[g]; e < solid.starts[g + 1]; ++e) {
        const Entry& entry = solid.entries[e];
        if (!rows_[entry.row].active) continue;
        const Vec3 force = row_forces_[entry.row] * entry.weight;
        q.x[entry.lane] += force.x, q.y[entry.lane] += force.y, q.z[entry.lane] += force.z;
      }
      return q;
    };
    return SolidSystem::Sums{solid.body->system().multiply(solid.body->layout(), chunk, with_rows), 0};
  });
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    SpringMember& nodes = nodes_[i];
    nodes.multiply();
    for (const SpringMember::Push& push : nodes.pushes) {
      if (rows_[push.row].active) nodes.add_to_product(push.node, row_forces_[push.row] * push.weight);
    }
    total += nodes.curvature();
  }
  for (Guest& guest : guests()) {
    gather_forces(guest);
    total += guest.member->multiply(workers);
    total += guest.member->add_to_product(guest.forces);
  }
  for (Rigid& rigid : rigids_) rigid.q = rigid.momentum(rigid.p);
  for (const IslandJointRow& row : joints_) {
    if (!row.active) continue;
    double along = 0;
    for_each_end(row, [&](const Rigid& rigid, const Vector6& axis) {
      for (std::size_t k = 0; k < 6; ++k) along += axis[k] * rigid.p[k];
    });
    along *= static_cast<double>(row.penalty);
    for_each_end(row, [&](Rigid& rigid, const Vector6& axis) {
      for (std::size_t k = 0; k < 6; ++k) rigid.q[k] += along * axis[k];
    });
  }
  for (Rigid& rigid : rigids_) {
    add_pushes(rigid, rigid.q);
    for (std::size_t k = 0; k < 6; ++k) total += rigid.p[k] * rigid.q[k];
  }
  return total;
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
