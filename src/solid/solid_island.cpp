#include "solid/solid_island.h"

#include <algorithm>
#include <cmath>

#include "math/vec3d.h"

namespace pliant {
namespace {

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

double SolidIsland::Rigid::size(const Vector6& impulse) const { return norm(impulse, 0) + norm(impulse, 3) / radius; }

double SolidIsland::Rigid::motion_squared(Vec3 velocity, Vec3 angular_velocity) const {
  Vector6 speeds{};
  add_to(speeds, 0, Vec3d(velocity)), add_to(speeds, 3, Vec3d(angular_velocity));
  const Vector6 momenta = momentum(speeds);
  double total = 0;
  for (std::size_t k = 0; k < 6; ++k) total += speeds[k] * momenta[k];
  return total;
}

void SolidIsland::Rigid::set_change() {
  motion.velocity = start + rounded(x, 0);
  motion.angular_velocity = angular_start + rounded(x, 3);
}

/// Lists the work on the solids and cuts it into pieces by its size.
void SolidIsland::share_out() {
  tasks_.clear();
  solid_batches_.assign(1, 0), task_batches_.assign(1, 0);
  std::size_t in_solids = 0, in_tasks = 0;
  for (std::uint32_t s = 0; s < solids_.size(); ++s) {
    const SolidLayout& layout = solids_[s].body->layout();
    const std::vector<SolidSystem::Chunk>& chunks = solids_[s].body->system().chunks();
    for (std::uint32_t c = 0; c < chunks.size(); ++c) {
      tasks_.push_back({s, c});
      in_tasks += layout.aggregate_starts[chunks[c].end] - layout.aggregate_starts[chunks[c].begin];
      if (in_tasks < kBatchGroups) continue;
      task_batches_.push_back(static_cast<std::uint32_t>(tasks_.size()));
      in_tasks = 0;
    }
    in_solids += layout.slot_count / 8;
    if (in_solids < kBatchGroups) continue;
    solid_batches_.push_back(s + 1);
    in_solids = 0;
  }
  if (task_batches_.back() < tasks_.size()) task_batches_.push_back(static_cast<std::uint32_t>(tasks_.size()));
  if (solid_batches_.back() < solids_.size()) solid_batches_.push_back(static_cast<std::uint32_t>(solids_.size()));
  sums_.assign(tasks_.size(), {});
}

void SolidIsland::begin(Workers& workers, float dt) {
  share_out();
  // Matrices of more than some megabytes are read from memory in every iteration (pliant bench --filter solid_pile_125:
  // a sixth less time with half the bytes).
  constexpr std::size_t kManyBlocks = 150'000;
  std::size_t blocks = 0;
  for (const Solid& solid : solids_) blocks += solid.body->layout().matrix.stored_blocks();
  for_solids(workers, [&](Workers& own, Solid& solid) {
    if (blocks > kManyBlocks) solid.body->system().round(own, solid.body->layout());
    solid.scale = solid.own_scale = solid.body->begin_island(own, solid.gravity, dt);
    if (solid.body->system().is_free()) solid.whole = solid.body->system().whole_matrix(solid.body->layout());
  });
  for (Rigid& rigid : rigids_) {
    rigid.r = rigid.momentum(rigid.x);
    rigid.scale = rigid.own_scale = rigid.size(rigid.r);
    for (double& part : rigid.r) part = -part;
    rigid.p = rigid.q = {};
    rigid.set_change();
  }
  for (const IslandRow& row : rows_) {
    add_to_residual(row.a, -row.given_a);
    add_to_residual(row.b, -row.given_b);
    if (is_nodes(row.a)) nodes_of(row.a).own_scale += static_cast<double>(length(row.given_a));
    if (is_nodes(row.b)) nodes_of(row.b).own_scale += static_cast<double>(length(row.given_b));
  }
  row_forces_.assign(rows_.size(), {});
  row_velocities_.assign(rows_.size(), {});
  row_impulses_.assign(rows_.size(), {});
  row_stale_.assign(rows_.size(), 0);
  begin_guests(workers);
  index_rows();
  set_penalties();
  limit_mending();
  number_levels(workers);
}

void SolidIsland::begin_round(Workers& workers, bool is_first) {
  change_impulses(workers, is_first);
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
    const auto is_stale = [&](const Entry& entry) { return row_stale_[entry.row] != 0; };
    if (!is_first && std::none_of(solid.entries.begin(), solid.entries.end(), is_stale)) return;
    SolidSystem& system = solid.body->system();
    system.clear_extras();
    for_each_entry(solid, [&](std::uint32_t slot, const Entry& entry) {
      const IslandRow& row = rows_[entry.row];
      if (row.weighed == IslandRow::kNotWeighed) return;
      system.add_extra(slot, row.block(row.weighed) * (entry.weight * entry.weight));
    });
    system.invert_diagonals(own, solid.body->layout());
    system.factor_coarse(own, solid.body->layout(), true);
  });
  assemble_levels(workers, is_first);
}

SolveResult SolidIsland::solve(Workers& workers, float dt) {
  constexpr int kMostRounds = 24, kIterationsOfRound = 12, kIterationsOfLateRound = 60;
  // While contacts still open, close and slide, a round need not be solved well (a pile at impact: 210 iterations with
  // rounds solved to the end, 83 with this). Solids that have not settled with each other after some rounds need better
  // ones: else jammed pieces never do, and the stress of what is left undone breaks a fifth more of them.
  constexpr double kUnsettledRound = 0.3, kLateRound = 0.1;
  // Guests whose rows are not linear judge them by velocities that must be right.
  constexpr double kExactRound = 0.01;
  constexpr int kIterationsOfExactRound = 20;
  // After a blow some rows stick and slide in turn for many rounds: then less is asked of the forces.
  // (Skins of thousands of rows less still: what friction of single nodes does from round to round moves nothing.)
  constexpr double kSteadyForce = 3e-3, kSteadyEnough = 1e-2, kSteadySkins = 5e-2;
  constexpr int kRoundsAtFirst = 8;
  // A crowd of splinters that a blow has jammed may never settle: after so many rounds what still changes by this share
  // of the forces is left to the next substep.
  constexpr int kRoundsOfJammed = 12;
  constexpr double kJammed = 0.1;
  constexpr std::size_t kCrowd = 10;
  // Rounds after which it is looked, at every second, whether overlaps can be mended.
  constexpr int kPatience = 3;
  begin(workers, dt);
  float allowed = 1e30f;
  int most_iterations = 0;
  for (const Solid& solid : solids_) {
    allowed = std::min(allowed, 0.2f * solid.body->slop() / dt);
    most_iterations = std::max(most_iterations, solid.body->def().solver.max_iterations);
  }
  bool is_exact = false;
  for (const Guest& guest : guests()) {
    is_exact = is_exact || guest.member->wants_exact_rounds();
    allowed = std::min(allowed, guest.member->allowed_violation() / dt);
    most_iterations = std::max(most_iterations, guest.member->max_iterations());
  }
  for_rows(workers, [&](std::size_t i) { rows_[i].judge(row_velocities_[i] = relative_velocity(rows_[i])); });
  for (IslandJointRow& row : joints_) row.judge(speed(row));
  SolveResult result;
  bool settled = false;
  for (int round = 0; round < kMostRounds && result.iterations < most_iterations; ++round) {
    begin_round(workers, round == 0);
    const bool is_late = settled || round >= kRoundsAtFirst;
    const double unsettled = is_late && solids_.size() > 1 ? kLateRound : kUnsettledRound;
    const double enough = settled ? 0.0 : is_exact ? kExactRound : unsettled;
    const int most = is_late ? kIterationsOfLateRound : is_exact ? kIterationsOfExactRound : kIterationsOfRound;
    const SolveResult part = iterate(workers, most, enough);
    result.iterations += part.iterations;
    result.residual = part.residual;
    update_velocities(workers);
    if (round >= kPatience && round % 2 == 1) drop_mending(workers, allowed);
    const RowProgress progress = update_multipliers(workers);
    const double steady_later = guests().empty() || is_exact ? kSteadyEnough : kSteadySkins;
    const double wanted = round < kRoundsAtFirst ? kSteadyForce : steady_later;
    settled = progress.change <= wanted * wanted * progress.size && are_rows_met(progress.violation, allowed);
    result.converged = part.converged && settled;
    if (result.converged && round > 0) break;
    const bool is_jammed = solids_.size() >= kCrowd && progress.change > kJammed * kJammed * progress.size;
    if (round + 1 >= kRoundsOfJammed && is_jammed) break;
  }
  correct_momentum(workers, dt);
  const std::optional<MotionLimit> limit = result.converged ? std::nullopt : find_motion_limit(workers, dt);
  end_solids(workers, dt);
  if (limit) bound_motion(workers, *limit, dt);
  for (std::size_t i = 0; i < nodes_count_; ++i) nodes_[i].end();
  return result;
}

void SolidIsland::end_solids(Workers& workers, float dt) {
  for_rows(workers, [&](std::size_t i) { row_impulses_[i] = impulse(rows_[i]); });
  count_mending();
  for_solids(workers, [&](Workers& own, Solid& solid) {
    std::optional<double> work;
    if (solid.body->may_gain_energy()) work = work_on(solid);
    solid.body->end_island(own, solid.gravity, dt, work);
  });
}

/// What rows did to a solid in this substep, J.
double SolidIsland::work_on(const Solid& solid) const {
  double total = 0;
  for_each_entry(solid, [&](std::uint32_t slot, const Entry& entry) {
    const Vec3 mean = solid.body->target().get(slot) - solid.body->state().change.get(slot) * 0.5f;
    total += static_cast<double>(dot(row_impulses_[entry.row], mean) * entry.weight);
  });
  return total;
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
  constexpr double kRounding = 1e-8;  // what is left of a residual then is made of it
  SolveResult result;
  double rz = precondition(workers, 0), rz_before = 1;
  const double rz_enough = rz * enough * enough, rz_least = rz * kRounding * kRounding;
  while (true) {
    result.converged = is_converged();
    if (result.converged || result.iterations >= max_iterations || !(rz > rz_least) || !std::isfinite(rz)) break;
    if (rz < rz_enough && result.iterations >= kFewest) break;
    renew_direction(workers, result.iterations == 0 ? 0.0 : rz / rz_before);
    const double curvature = multiply(workers);
    if (!(curvature > 0) || !std::isfinite(curvature)) break;
    rz_before = rz;
    rz = precondition(workers, rz / curvature);
    ++result.iterations;
  }
  for (const Solid& solid : solids_) {
    result.residual = std::max(result.residual, solid.residual.plain / solid.scale.plain);
  }
  for (const Guest& guest : guests()) result.residual = std::max(result.residual, guest.member->residual());
  return result;
}

bool SolidIsland::is_converged() {
  for (const Solid& solid : solids_) {
    if (!solid.residual.is_within(static_cast<double>(solid.body->def().solver.tolerance) * solid.scale)) return false;
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
    rigid.residual = rigid.size(rigid.r);
  }
  double product = sum_tasks(workers, [&](Solid& solid, const SolidSystem::Chunk& chunk) {
    SolidBody& body = *solid.body;
    return body.system().precondition(body.layout(), chunk, body.state().change, body.residual(), step);
  });
  for (Solid& solid : solids_) solid.residual = {};
  for (std::size_t t = 0; t < tasks_.size(); ++t) solids_[tasks_[t].solid].residual += sums_[t].size;
  for_solids(workers, [&](Workers& own, Solid& solid) {
    solid.residual = sqrt(solid.residual);
    solid.product = solid.body->system().solve_coarse(own);
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
    row_forces_[i] = row.active ? row.resist(direction(row.a) - direction(row.b)) : Vec3{};
  });
  double total = sum_tasks(workers, [&](Solid& solid, const SolidSystem::Chunk& chunk) {
    const auto with_rows = [&](std::uint32_t g, const LaneVec3<Float8>&, LaneVec3<Float8> q) {
      for (std::uint32_t e = solid.starts[g]; e < solid.starts[g + 1]; ++e) {
        const Entry& entry = solid.entries[e];
        const Vec3 force = row_forces_[entry.row] * entry.weight;
        q.x[entry.lane] += force.x, q.y[entry.lane] += force.y, q.z[entry.lane] += force.z;
      }
      return q;
    };
    return SolidSystem::Sums{solid.body->system().multiply(solid.body->layout(), chunk, with_rows), {}};
  });
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    SpringMember& nodes = nodes_[i];
    nodes.multiply();
    for (const SpringMember::Push& push : nodes.pushes) {
      nodes.add_to_product(push.node, row_forces_[push.row] * push.weight);
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

}  // namespace pliant
