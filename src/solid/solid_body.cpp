#include "solid/solid_body.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "math/vec3d.h"
#include "solid/solid_advance.h"

namespace pliant {
namespace {

/// Stiffness over mass beyond which a sum of both, in floats, no longer knows the mass.
constexpr float kStiff = 5e6f;
constexpr float kRest = 30;  ///< s, in which strength that was spent comes back

std::vector<std::uint8_t> element_kinds(const SolidDef& def) {
  std::vector<std::uint8_t> kinds(def.mesh.tets.size());
  for (std::size_t tet = 0; tet < kinds.size(); ++tet) {
    kinds[tet] = static_cast<std::uint8_t>(element_kind(material_of(def, tet)));
  }
  return kinds;
}

double tet_volume(const TetMesh& mesh, const Tet& tet) {
  const auto node = [&](std::size_t corner) { return Vec3d(mesh.nodes[tet[corner]]); };
  return six_volumes(node(0), node(1), node(2), node(3)) / 6;
}

/// Half a millimetre, or less for a mesh of cells below five centimetres.
float contact_slop(const TetMesh& mesh) {
  const double cell = std::cbrt(mesh.volume() / static_cast<double>(std::max<std::size_t>(mesh.tets.size(), 1)));
  return static_cast<float>(std::min(5e-4, 0.01 * cell));
}

}  // namespace

const SolidMaterial& material_of(const SolidDef& def, std::size_t tet) {
  if (def.mesh.regions.empty()) return def.material;
  const std::int32_t region = def.mesh.regions[tet];
  const bool listed = region >= 0 && static_cast<std::size_t>(region) < def.region_materials.size();
  return listed ? def.region_materials[static_cast<std::size_t>(region)] : def.material;
}

SolidBody::SolidBody(std::shared_ptr<const SolidDef> def) : SolidBody(std::move(def), LayoutScratch{}) {}

SolidBody::SolidBody(std::shared_ptr<const SolidDef> def, LayoutScratch& scratch)
    : def_(std::move(def)),
      layout_(make_solid_layout(def_->mesh, element_kinds(*def_), scratch)),
      elements_(def_->mesh, layout_, [&](std::size_t tet) -> const SolidMaterial& { return material_of(*def_, tet); }),
      system_(layout_, def_->mesh) {
  const std::size_t slots = layout_.slot_count;
  std::vector<double> masses(slots, 0.0), damping(slots, 0.0);
  for (std::size_t tet = 0; tet < def_->mesh.tets.size(); ++tet) {
    const SolidMaterial& material = material_of(*def_, tet);
    const Tet& corners = def_->mesh.tets[tet];
    const double share = tet_volume(def_->mesh, corners) * static_cast<double>(material.density) / 4;
    for (const std::uint32_t node : corners) {
      masses[layout_.slot_of_node[node]] += share;
      damping[layout_.slot_of_node[node]] += share * static_cast<double>(material.mass_damping);
    }
  }
  masses_.assign(masses.begin(), masses.end());
  for (const double m : masses) mass_ += m;
  slop_ = contact_slop(def_->mesh);
  damping_.assign(damping.begin(), damping.end());
  free_.resize(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) free_[slot] = masses_[slot] > 0 ? 1.0f : 0.0f;
  for (LaneVectors* vectors : {&state_.positions, &state_.velocities, &state_.change, &forces_, &held_velocities_,
                               &reactions_, &internal_, &residual_, &product_, &target_}) {
    vectors->assign(slots);
  }
  const Transform world_from_mesh{def_->position, def_->rotation.normalized()};
  for (std::uint32_t node = 0; node < layout_.node_count; ++node) {
    state_.positions.set(layout_.slot_of_node[node],
                         world_from_mesh * multiply_each(def_->stretch, def_->mesh.nodes[node]));
  }
  const SolidTotals at_rest = totals();
  const Vec3 center{static_cast<float>(at_rest.center[0]), static_cast<float>(at_rest.center[1]),
                    static_cast<float>(at_rest.center[2])};
  for (std::uint32_t node = 0; node < layout_.node_count; ++node) {
    set_velocity(node, def_->velocity + cross(def_->angular_velocity, position(node) - center));
  }
  for (const HeldNodes& held : def_->held) {
    for (const std::uint32_t node : select_nodes(def_->mesh, held.nodes).value()) hold(node, true);
  }
}

void SolidBody::take_over(const SolidBody& whole, std::span<const std::uint32_t> node_of,
                          std::span<const std::uint32_t> tet_of) {
  held_count_ = 0;
  for (std::uint32_t node = 0; node < node_of.size(); ++node) {
    const std::uint32_t slot = layout_.slot_of_node[node], from = whole.layout_.slot_of_node[node_of[node]];
    const auto take = [&](LaneVectors& to, const LaneVectors& of, float scale) { to.set(slot, of.get(from) * scale); };
    take(state_.positions, whole.state_.positions, 1);
    take(state_.velocities, whole.state_.velocities, 1);
    take(state_.change, whole.state_.change, 1);
    take(held_velocities_, whole.held_velocities_, 1);
    // A node that came apart shares what pushed it by mass.
    const float share = whole.masses_[from] > 0 ? masses_[slot] / whole.masses_[from] : 0;
    take(forces_, whole.forces_, share);
    free_[slot] = masses_[slot] > 0 ? whole.free_[from] : 0;
    held_count_ += masses_[slot] > 0 && free_[slot] == 0 ? 1 : 0;
    const auto begin = std::lower_bound(whole.state_.touches.begin(), whole.state_.touches.end(), from,
                                        [](const NodeTouchMemory& m, std::uint32_t s) { return m.slot < s; });
    for (auto at = begin; at != whole.state_.touches.end() && at->slot == from; ++at) {
      state_.touches.push_back(*at);
      state_.touches.back().slot = slot;
      state_.touches.back().impulse *= share;
    }
  }
  std::sort(state_.touches.begin(), state_.touches.end(), [](const NodeTouchMemory& a, const NodeTouchMemory& b) {
    return a.slot != b.slot ? a.slot < b.slot : a.other < b.other;
  });
  elements_.take_over(layout_, whole.elements_, whole.layout_, tet_of);
  state_.tangled = whole.state_.tangled;
  state_.exertion = whole.state_.exertion;
}

void SolidBody::add_force(std::uint32_t node, Vec3 force) { forces_.add(layout_.slot_of_node[node], force); }
Vec3 SolidBody::acceleration() const {
  LaneVec3<Float8> force;
  Float8 mass{};
  for (std::size_t g = 0; g < forces_.groups(); ++g) {
    force = force + forces_.group(g);
    mass += load8(masses_.data() + kLanes * g);
  }
  Vec3 sum;
  float total = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sum += Vec3{force.x[lane], force.y[lane], force.z[lane]};
    total += mass[lane];
  }
  return total > 0 ? sum / total : Vec3{};
}
void SolidBody::clear_forces() { std::fill(forces_.floats().begin(), forces_.floats().end(), 0.0f); }

void SolidBody::hold(std::uint32_t node, bool is_held) {
  const std::uint32_t slot = layout_.slot_of_node[node];
  if (masses_[slot] <= 0) return;  // of no tet
  const float free = is_held ? 0.0f : 1.0f;
  if (free_[slot] != free) held_count_ += is_held ? 1 : -1;
  free_[slot] = free;
  held_velocities_.set(slot, {});
  reactions_.set(slot, {});
}

void SolidBody::set_held_velocity(std::uint32_t node, Vec3 velocity) {
  held_velocities_.set(layout_.slot_of_node[node], velocity);
}
void SolidBody::set_position(std::uint32_t node, Vec3 position) {
  state_.positions.set(layout_.slot_of_node[node], position);
}
void SolidBody::set_velocity(std::uint32_t node, Vec3 velocity) {
  state_.velocities.set(layout_.slot_of_node[node], velocity);
}

void SolidBody::update_elements(Workers& workers, float dt) {
  const float* x = state_.positions.data();
  if (!state_.tangled) state_.tangled = elements_.update(workers, layout_, x, dt);
  if (!state_.tangled) return;
  const LaneQuat<float> common = whole_rotation();
  state_.tangled = elements_.update(workers, layout_, x, dt, &common);
}

/// The rotation of the affine motion that fits all nodes best.
LaneQuat<float> SolidBody::whole_rotation() const {
  Eigen::Matrix3d now = Eigen::Matrix3d::Zero(), rest = now;
  const auto to_eigen = [](Vec3 v) { return Eigen::Vector3d(Vec3d(v).x, Vec3d(v).y, Vec3d(v).z); };
  Eigen::Vector3d center = Eigen::Vector3d::Zero(), rest_center = center;
  for (std::uint32_t node = 0; node < layout_.node_count; ++node) {
    center += to_eigen(position(node)) * (static_cast<double>(mass(node)) / mass_);
    rest_center += to_eigen(def_->mesh.nodes[node]) * (static_cast<double>(mass(node)) / mass_);
  }
  for (std::uint32_t node = 0; node < layout_.node_count; ++node) {
    const Eigen::Vector3d arm = (to_eigen(def_->mesh.nodes[node]) - rest_center) * static_cast<double>(mass(node));
    now += (to_eigen(position(node)) - center) * arm.transpose();
    rest += (to_eigen(def_->mesh.nodes[node]) - rest_center) * arm.transpose();
  }
  const Eigen::Matrix3f f = (now * rest.inverse()).cast<float>();
  if (!f.allFinite()) return {0, 0, 0, 1};
  const auto column = [&](int c) { return LaneVec3<float>{f(0, c), f(1, c), f(2, c)}; };
  return element_rotation<float>({column(0), column(1), column(2)}, {0, 0, 0, 1}, kFlatVolume);
}

void SolidBody::assemble(Workers& workers, float dt) {
  update_elements(workers, dt);
  tied_.resize(masses_.size());
  for (std::size_t slot = 0; slot < masses_.size(); ++slot) tied_[slot] = masses_[slot] + dt * damping_[slot];
  system_.assemble(workers, layout_, elements_, state_.positions, free_, tied_);
  parallel_for(workers, layout_.slot_count / 8, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      LaneVec3<Float8> force;
      for (std::size_t k = layout_.sum_starts[g]; k < layout_.sum_starts[g + 1]; ++k) {
        force = force + load_nodes(elements_.forces(), layout_.sum_corners.data() + 8 * k).xyz;
      }
      internal_.set_group(g, force);
    }
  });
  turning_ = held_count_ > 0 ? 0 : dt * add_centrifugal(masses_, state_.positions, state_.velocities, internal_);
}

SolveResult SolidBody::solve(Workers& workers, Vec3 gravity, float dt, std::span<const NodeTouch> touches) {
  contacts_.begin(layout_, touches, state_.touches, slop_, dt);
  system_.clear_extras();
  system_.invert_diagonals(workers, layout_);
  const bool is_stiff = held_count_ == 0 && system_.least_stiffness() > kStiff;
  const SolveResult result = is_stiff && whole_.measure(tied_, state_.positions) ? solve_stiff(workers, gravity, dt)
                                                                                 : solve_as_one(workers, gravity, dt);
  find_reactions(workers, gravity, dt);
  const bool is_cut_off = !result.converged && !contacts_.is_empty() && held_count_ == 0 && !contacts_.is_squeezed();
  const double most = is_cut_off ? largest_motion(workers, gravity, dt) : 0;
  take_change(workers);
  contacts_.remember(touches, state_.velocities, dt, state_.touches);
  most_energy_ = kInfinity;
  if (is_cut_off) bound_motion(workers, most, dt);
  if (may_gain_energy()) bound_energy(workers, gravity, dt, contact_work());
  return result;
}

/// Motion as a whole and change of shape from one system.
SolveResult SolidBody::solve_as_one(Workers& workers, Vec3 gravity, float dt) {
  start_change(workers);
  const ImpulseSize scale = find_residual(workers, gravity, dt, contacts_.is_empty());
  const ImpulseSize threshold = static_cast<double>(def_->solver.tolerance) * scale;
  SolveResult result = contacts_.is_empty() ? solve_without_contacts(workers, threshold, gravity, dt)
                                            : solve_with_contacts(workers, threshold, dt);
  correct_momentum(workers, gravity, dt);
  result.residual = scale.plain > 0 ? result.residual / scale.plain : 0;
  return result;
}

/// Splits where the solution starts: `target_` gets the velocities with the held nodes' as given, `state_.change` what
/// the free nodes' changed by in the last substep.
void SolidBody::start_change(Workers& workers) {
  for_groups(workers, [&](std::size_t g) {
    const auto free = load8(free_.data() + 8 * g) > 0;
    target_.set_group(g, select(free, state_.velocities.group(g), held_velocities_.group(g)));
    state_.change.set_group(g, select(free, state_.change.group(g), LaneVec3<Float8>{}));
  });
}

/// The residual of the start, without contacts. The start is as much of the last change as serves best: most of it in
/// smooth motion, none after a blow. Returns what the residual is measured by: the norm of the right-hand side, with
/// velocities seen from a free body as a whole, for a fast one is solved as well as a slow one; or less, where forces
/// are weak.
ImpulseSize SolidBody::find_residual(Workers& workers, Vec3 gravity, float dt, bool is_alone) {
  const LaneVec3<Float8> drift =
      broadcast_vec8(held_count_ > 0 ? Vec3{} : sums_.mean_velocity(workers, masses_, state_.velocities));
  const LaneVec3<Float8> weight = broadcast_vec8(gravity);
  // What moves a free body as a whole changes no shape, and is solved exactly.
  const LaneVec3<Float8> fall = broadcast_vec8(held_count_ > 0 ? Vec3{} : gravity * dt);
  const Float8 h = broadcast(dt);
  norms_.assign((layout_.slot_count / 8 + kGroupGrain - 1) / kGroupGrain, {});
  parallel_for(workers, layout_.slot_count / 8, kGroupGrain, [&](std::size_t begin, std::size_t end) {
    StartSums& sums = norms_[begin / kGroupGrain];
    ImpulseSquares of_b, of_pull, of_unmet;
    for (std::size_t g = begin; g < end; ++g) {
      const Float8 free = load8(free_.data() + 8 * g), mass = load8(masses_.data() + 8 * g);
      const LaneVec3<Float8> v = state_.velocities.group(g), change = state_.change.group(g);
      const LaneVec3<Float8> pull = (forces_.group(g) + weight * mass) * h;
      const LaneVec3<Float8> push = pull + internal_.group(g) * h;
      const LaneVec3<Float8> b = push + (v - drift) * mass;
      const auto [stretched, stretched_more] = layout_.matrix.differences(g, target_.data(), state_.change.data());
      const LaneVec3<Float8> damped = v * (load8(damping_.data() + 8 * g) * h);
      const LaneVec3<Float8> residual = (push - damped - stretched) * free;
      const LaneVec3<Float8> product = (change * load8(tied_.data() + 8 * g) + stretched_more) * free;
      residual_.set_group(g, residual);
      product_.set_group(g, product);
      of_b.add(b * free, mass);
      of_pull.add(pull * free, mass);
      of_unmet.add(residual - fall * (mass * free), mass);
      sums.gain += static_cast<double>(sum(dot(change, residual)));
      sums.cost += static_cast<double>(sum(dot(change, product)));
    }
    sums.b = of_b.total(), sums.pull = of_pull.total(), sums.unmet = of_unmet.total();
  });
  StartSums all;
  for (const StartSums& part : norms_) {
    all.b += part.b, all.pull += part.pull, all.unmet += part.unmet;
    all.gain += part.gain, all.cost += part.cost;
  }
  // With contacts, whose part in the residual is not yet known, all of it: a body at rest stays at rest.
  const double share = !is_alone ? 1 : all.cost > 0 ? all.gain / all.cost : 0;
  // Not many times as much: where the last change was next to nothing, that would be many times its rounding.
  take_share(workers, std::isfinite(share) ? static_cast<float>(std::clamp(share, -1.0, 2.0)) : 0.0f);
  // A body at rest has a right-hand side of rounding only: its weight then sets the scale.
  const ImpulseSize scale = max(sqrt(all.b), 0.03 * sqrt(all.pull));
  // Forces that are little against the momentum of a body whose parts fly apart are not lost for it, step after step:
  // by default a tenth of them is. Below a millionth they are rounding.
  constexpr double kOfUnmet = 100, kLeast = 1e-3;
  return min(scale, max(kOfUnmet * sqrt(all.unmet), kLeast * scale));
}

/// Starts from this share of the last change.
void SolidBody::take_share(Workers& workers, float share) {
  const Float8 scale = broadcast(share);
  for_groups(workers, [&](std::size_t g) {
    const LaneVec3<Float8> own = state_.change.group(g) * scale, v = state_.velocities.group(g);
    residual_.set_group(g, residual_.group(g) - product_.group(g) * scale);
    const LaneVec3<Float8> target = target_.group(g) + own;
    target_.set_group(g, target);
    state_.change.set_group(g, select(load8(free_.data() + 8 * g) > 0, own, target - v));
  });
}

/// Conjugate gradients carry their residual on from iteration to iteration, and what rounding adds to the true one they
/// do not see. Where a body swings back, forces and momentum cancel, b is a fiftieth of what it was, and the true
/// residual was up to twelve times the tolerance. It is found anew, and one or two iterations from there mend it.
SolveResult SolidBody::solve_without_contacts(Workers& workers, const ImpulseSize& threshold, Vec3 gravity, float dt) {
  constexpr int kMostRounds = 4;
  constexpr double kWorthwhile = 0.7;
  system_.factor_coarse(workers, layout_);
  SolveResult result;
  double before = kInfinity;
  for (int round = 0; round < kMostRounds; ++round) {
    const SolveResult part = system_.solve(workers, layout_, state_.change, residual_, threshold,
                                           def_->solver.max_iterations - result.iterations);
    system_.correct_coarse(workers, layout_, state_.change);
    result = {result.iterations + part.iterations, part.residual, part.converged};
    if (!part.converged) break;
    const ImpulseSize left = renew_residual(workers, gravity, dt);
    result.residual = left.plain;
    // What more iterations do not mend is the rounding of the velocities themselves.
    if (left.is_within(threshold) || left.plain > kWorthwhile * before) break;
    before = left.plain;
  }
  return result;
}

/// The residual of `state_.change`, without contacts; returns its size.
ImpulseSize SolidBody::renew_residual(Workers& workers, Vec3 gravity, float dt) {
  update_target(workers);
  const LaneVec3<Float8> weight = broadcast_vec8(gravity);
  const Float8 h = broadcast(dt);
  parallel_for(workers, layout_.slot_count / 8, kGroupGrain, [&](std::size_t begin, std::size_t end) {
    ImpulseSquares of_unmet;
    for (std::size_t g = begin; g < end; ++g) {
      const Float8 free = load8(free_.data() + 8 * g), mass = load8(masses_.data() + 8 * g);
      const LaneVec3<Float8> push = (forces_.group(g) + weight * mass + internal_.group(g)) * h;
      const LaneVec3<Float8> damped = target_.group(g) * (load8(damping_.data() + 8 * g) * h);
      const LaneVec3<Float8> stretched = layout_.matrix.differences(g, target_.data());
      const LaneVec3<Float8> residual = (push - state_.change.group(g) * mass - damped - stretched) * free;
      residual_.set_group(g, residual);
      of_unmet.add(residual, mass);
    }
    norms_[begin / kGroupGrain].unmet = of_unmet.total();
  });
  ImpulseSize all;
  for (const StartSums& part : norms_) all += part.unmet;
  return sqrt(all);
}

SolveResult SolidBody::solve_with_contacts(Workers& workers, const ImpulseSize& threshold, float dt) {
  constexpr int kMostRounds = 24, kRoundsAtFirst = 6, kIterationsOfRound = 12;
  constexpr double kSteadyForce = 3e-3;
  // The residual is measured by all that presses on the body. What is left of it would keep a body that comes to rest
  // from it: a tenth of it does not.
  constexpr double kCalm = 0.02;  // m/s
  const double aim = kinetic_energy() < 0.5 * kCalm * kCalm * mass_ ? 0.1 : 1;
  contacts_.set_penalties(system_, static_cast<float>(mass_));
  const auto add_impulses = [&](float sign) {
    contacts_.for_each_impulse(target_, [&](std::uint32_t slot, Vec3 impulse) {
      if (free_[slot] > 0) residual_.add(slot, impulse * sign);
    });
  };
  const bool is_squeezed = contacts_.is_squeezed();
  SolveResult result;
  contacts_.start(target_);
  for (int round = 0; round < kMostRounds && result.iterations < def_->solver.max_iterations; ++round) {
    contacts_.begin_round();
    add_impulses(1);
    system_.clear_extras();
    contacts_.add_to_matrix(system_);
    system_.invert_diagonals(workers, layout_);
    system_.factor_coarse(workers, layout_);
    const SolveResult part =
        system_.solve(workers, layout_, state_.change, residual_, aim * threshold, kIterationsOfRound);
    result.iterations += part.iterations;
    result.residual = part.residual;
    update_target(workers);
    const SolidContactRows::Progress progress = contacts_.update(target_);
    const bool steady = progress.change <= kSteadyForce * kSteadyForce * progress.size;
    result.converged = part.residual <= threshold.plain && steady && progress.violation <= allowed_violation(dt);
    if (result.converged && round > 0) break;
    if (round + 1 < kMostRounds) add_impulses(-1);
    if (is_squeezed && round >= kRoundsAtFirst) contacts_.stiffen(target_, allowed_violation(dt));
  }
  system_.correct_coarse(workers, layout_, state_.change);
  return result;
}

/// Gives a free body exactly the momentum and spin that forces and contacts gave it. What is missing was lost to
/// rounding, to the residual that is left, and to linearising the elements' rotations.
void SolidBody::correct_momentum(Workers& workers, Vec3 gravity, float dt) {
  if (held_count_ > 0) return;
  update_target(workers);
  RigidMotion missing = missing_impulse(workers, gravity, dt);
  const Vec3 from = system_.reference();
  const double radius = system_.rigid().radius();
  contacts_.for_each_impulse(target_, [&](std::uint32_t slot, Vec3 impulse) {
    const Vec3 torque = cross(state_.positions.get(slot) - from, impulse);
    for (std::size_t k = 0; k < 3; ++k) {
      missing[k] += static_cast<double>(impulse[k]);
      missing[3 + k] += static_cast<double>(torque[k]) / radius;
    }
  });
  add_motion(workers, system_.rigid().solve(missing));
}

RigidMotion SolidBody::missing_impulse(Workers& workers, Vec3 gravity, float dt) {
  const LaneVec3<Float8> weight = broadcast_vec8(gravity);
  const Float8 h = broadcast(dt);
  RigidMotion missing = sums_.impulses(workers, state_.positions, system_.reference(), [&](std::size_t g) {
    const Float8 mass = load8(masses_.data() + 8 * g), damping = load8(damping_.data() + 8 * g);
    return (forces_.group(g) + weight * mass - target_.group(g) * damping) * h - state_.change.group(g) * mass;
  });
  for (std::size_t k = 3; k < 6; ++k) missing[k] /= system_.rigid().radius();
  return missing;
}

void SolidBody::add_motion(Workers& workers, const RigidMotion& motion) {
  const double radius = system_.rigid().radius();
  const auto part = [&](std::size_t k, double scale) { return static_cast<float>(motion[k] / scale); };
  const LaneVec3<Float8> shift = broadcast_vec8(Vec3{part(0, 1), part(1, 1), part(2, 1)});
  const LaneVec3<Float8> turn = broadcast_vec8(Vec3{part(3, radius), part(4, radius), part(5, radius)});
  const LaneVec3<Float8> base = broadcast_vec8(system_.reference());
  for_groups(workers, [&](std::size_t g) {
    const LaneVec3<Float8> added = shift + cross(turn, state_.positions.group(g) - base);
    state_.change.set_group(g, state_.change.group(g) + added * load8(free_.data() + 8 * g));
  });
}

ImpulseSize SolidBody::begin_island(Workers& workers, Vec3 gravity, float dt) {
  contacts_.begin(layout_, {}, {}, slop_, dt);
  most_energy_ = kInfinity;
  system_.clear_extras();
  system_.invert_diagonals(workers, layout_);
  start_change(workers);
  return find_residual(workers, gravity, dt, false);
}

void SolidBody::end_island(Workers& workers, Vec3 gravity, float dt, std::optional<double> contact_work) {
  find_reactions(workers, gravity, dt);
  take_change(workers);
  if (contact_work) bound_energy(workers, gravity, dt, *contact_work);
}

void SolidBody::take_change(Workers& workers) {
  for_groups(workers, [&](std::size_t g) {
    state_.velocities.set_group(g, state_.velocities.group(g) + state_.change.group(g));
  });
}

void SolidBody::update_target(Workers& workers) {
  for_groups(workers,
             [&](std::size_t g) { target_.set_group(g, state_.velocities.group(g) + state_.change.group(g)); });
}

/// What holding the held nodes took: the rest of their rows.
void SolidBody::find_reactions(Workers& workers, Vec3 gravity, float dt) {
  if (held_count_ == 0) return;
  update_target(workers);
  for (std::size_t g = 0; g < layout_.slot_count / 8; ++g) {
    if (!any(load8(free_.data() + 8 * g) == 0)) continue;
    const LaneVec3<Float8> change = state_.change.group(g);
    const Float8 mass = load8(masses_.data() + 8 * g), held = broadcast(1.0f) - load8(free_.data() + 8 * g);
    const LaneVec3<Float8> damped = target_.group(g) * (load8(damping_.data() + 8 * g) * dt);
    const LaneVec3<Float8> needed = change * mass + damped + system_.internal(layout_, g, target_);
    const LaneVec3<Float8> pull = forces_.group(g) + broadcast_vec8(gravity) * mass;
    const LaneVec3<Float8> given = (internal_.group(g) + pull) * broadcast(dt);
    reactions_.set_group(g, (needed - given) * (held / dt));
  }
}

void SolidBody::spend_strength(double share) {
  state_.exertion = static_cast<float>(std::min(static_cast<double>(state_.exertion) + share, 1.0));
}

void SolidBody::advance(Workers& workers, float dt) {
  state_.exertion = std::max(state_.exertion - dt / kRest, 0.0f);
  if (held_count_ == 0) {
    advance_turning(masses_, state_.positions, state_.velocities, dt, target_);
    bound_turning(workers);
    return;
  }
  for (std::size_t g = 0; g < layout_.slot_count / 8; ++g) {
    state_.positions.set_group(g, state_.positions.group(g) + state_.velocities.group(g) * broadcast(dt));
  }
}

void SolidBody::settle(Workers& workers, float dt) {
  if (!state_.tangled) elements_.flow(workers, layout_, state_.positions.data(), dt);
}

SolidTotals SolidBody::totals() const { return total_momentum(masses_, state_.positions, state_.velocities); }

SolidMemory SolidBody::save() const {
  return {state_, elements_.rotations(), elements_.rest_strains(), free_, forces_, held_velocities_};
}

void SolidBody::load(const SolidMemory& memory) {
  state_ = memory.state;
  elements_.rotations() = memory.rotations;
  elements_.rest_strains() = memory.rest_strains;
  free_ = memory.free;
  forces_ = memory.forces;
  held_velocities_ = memory.held_velocities;
  held_count_ = 0;
  for (std::size_t slot = 0; slot < free_.size(); ++slot) held_count_ += masses_[slot] > 0 && free_[slot] == 0 ? 1 : 0;
}

void SolidBody::reset_rotations() {
  std::vector<float>& rotations = elements_.rotations();
  for (std::size_t i = 0; i < rotations.size(); ++i) rotations[i] = i % 32 >= 24 ? 1.0f : 0.0f;
}

Aabb SolidBody::bounds() const {
  Aabb box;
  for (std::uint32_t node = 0; node < layout_.node_count; ++node) {
    if (mass(node) > 0) box.include(position(node));
  }
  return box;
}

std::size_t SolidBody::bytes() const {
  std::size_t floats = masses_.size() + damping_.size() + free_.size() + tied_.size();
  for (const LaneVectors* vectors : {&state_.positions, &state_.velocities, &state_.change, &forces_, &held_velocities_,
                                     &reactions_, &internal_, &residual_, &product_, &target_}) {
    floats += vectors->floats().size();
  }
  return floats * sizeof(float) + norms_.size() * sizeof(norms_[0]) +
         state_.touches.capacity() * sizeof(NodeTouchMemory) + sums_.bytes() + contacts_.bytes() + layout_.bytes() +
         elements_.bytes() + system_.bytes();
}

}  // namespace pliant
