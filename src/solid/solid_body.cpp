#include "solid/solid_body.h"

#include <algorithm>
#include <cmath>

#include "geometry/vec3d.h"

namespace pliant {
namespace {

constexpr std::size_t kGroupGrain = 64;  ///< groups of eight slots in one piece of work

const SolidMaterial& material_of(const SolidDef& def, std::size_t tet) {
  if (def.mesh.regions.empty()) return def.material;
  const std::int32_t region = def.mesh.regions[tet];
  const bool listed = region >= 0 && static_cast<std::size_t>(region) < def.region_materials.size();
  return listed ? def.region_materials[static_cast<std::size_t>(region)] : def.material;
}

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

LaneVec3<Float8> broadcast(Vec3 v) { return {pliant::broadcast(v.x), pliant::broadcast(v.y), pliant::broadcast(v.z)}; }

}  // namespace

SolidBody::SolidBody(std::shared_ptr<const SolidDef> def)
    : def_(std::move(def)),
      layout_(make_solid_layout(def_->mesh, element_kinds(*def_))),
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
                               &reactions_, &internal_, &residual_, &target_}) {
    vectors->assign(slots);
  }
  const Transform world_from_mesh{def_->position, def_->rotation.normalized()};
  for (std::uint32_t node = 0; node < layout_.node_count; ++node) {
    state_.positions.set(layout_.slot_of_node[node], world_from_mesh * def_->mesh.nodes[node]);
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

void SolidBody::add_force(std::uint32_t node, Vec3 force) { forces_.add(layout_.slot_of_node[node], force); }
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

void SolidBody::assemble(Workers& workers, float dt) {
  elements_.update(workers, layout_, state_.positions.data(), dt);
  tied_.resize(masses_.size());
  for (std::size_t slot = 0; slot < masses_.size(); ++slot) tied_[slot] = masses_[slot] + dt * damping_[slot];
  system_.assemble(workers, layout_, elements_, state_.positions, free_, tied_);
  parallel_for(workers, layout_.slot_count / 8, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      LaneVec3<Float8> force;
      for (std::size_t k = layout_.sum_starts[g]; k < layout_.sum_starts[g + 1]; ++k) {
        force = force + gather_vec8(elements_.forces(), load_index8(layout_.sum_offsets.data() + 8 * k));
      }
      internal_.set_group(g, force);
    }
  });
}

SolveResult SolidBody::solve(Workers& workers, Vec3 gravity, float dt, std::span<const SolidTouch> touches) {
  start_change(workers);
  const double scale = find_residual(workers, gravity, dt);
  const double threshold = static_cast<double>(def_->solver.tolerance) * scale;
  contacts_.begin(layout_, touches, state_.touches, slop_, dt);
  system_.clear_extras();
  system_.invert_diagonals(workers, layout_);
  SolveResult result;
  if (contacts_.is_empty()) {
    system_.factor_coarse(layout_);
    result = system_.solve(workers, layout_, state_.change, residual_, threshold, def_->solver.max_iterations);
  } else {
    result = solve_with_contacts(workers, threshold, dt);
  }
  system_.correct_coarse(workers, layout_, state_.change, residual_);
  result.residual = scale > 0 ? result.residual / scale : 0;
  contacts_.remember(state_.touches);
  find_lost_spin(workers, gravity, dt);
  find_reactions(dt);
  for_groups(workers, [&](std::size_t g) {
    state_.velocities.set_group(g, state_.velocities.group(g) + state_.change.group(g));
  });
  return result;
}

/// Held nodes start with their change given, all others with that of the last substep.
void SolidBody::start_change(Workers& workers) {
  for_groups(workers, [&](std::size_t g) {
    const Float8 free = load8(free_.data() + 8 * g);
    const LaneVec3<Float8> v = state_.velocities.group(g);
    const LaneVec3<Float8> change = select(free > 0, state_.change.group(g), held_velocities_.group(g) - v);
    state_.change.set_group(g, change);
    target_.set_group(g, v + change);
  });
}

/// The residual of the start, without contacts. Returns the norm of the right-hand side, with velocities seen from the
/// body as a whole: a fast body is solved as well as a slow one.
double SolidBody::find_residual(Workers& workers, Vec3 gravity, float dt) {
  moments_ = sums_.moments(workers, masses_, state_.positions, state_.velocities);
  const Vec3 turn_back = held_count_ > 0 ? Vec3{} : moments_.turn_for(-state_.lost_spin);
  returned_spin_ = turn_back == Vec3{} ? Vec3{} : -state_.lost_spin;
  const LaneVec3<Float8> drift = broadcast(moments_.velocity), weight = broadcast(gravity);
  const LaneVec3<Float8> center = broadcast(moments_.center), turn = broadcast(turn_back);
  const Float8 h = pliant::broadcast(dt);
  norms_.assign((layout_.slot_count / 8 + kGroupGrain - 1) / kGroupGrain, {});
  parallel_for(workers, layout_.slot_count / 8, kGroupGrain, [&](std::size_t begin, std::size_t end) {
    double of_b = 0, of_pull = 0;
    for (std::size_t g = begin; g < end; ++g) {
      const Float8 free = load8(free_.data() + 8 * g), mass = load8(masses_.data() + 8 * g);
      const LaneVec3<Float8> v = state_.velocities.group(g);
      const LaneVec3<Float8> returned = cross(turn, state_.positions.group(g) - center) * mass;
      const LaneVec3<Float8> pull = (forces_.group(g) + weight * mass) * h + returned;
      const LaneVec3<Float8> push = pull + internal_.group(g) * h;
      const LaneVec3<Float8> b = push + (v - drift) * mass;
      const LaneVec3<Float8> change = state_.change.group(g);
      const Float8 damping = load8(damping_.data() + 8 * g) * h;
      const LaneVec3<Float8> tied = change * load8(tied_.data() + 8 * g);
      const LaneVec3<Float8> stretched = system_.internal(layout_, g, target_);
      residual_.set_group(g, (push - v * damping - tied - stretched) * free);
      of_b += static_cast<double>(sum(dot(b, b) * free));
      of_pull += static_cast<double>(sum(dot(pull, pull) * free));
    }
    norms_[begin / kGroupGrain] = {of_b, of_pull};
  });
  double of_b = 0, of_pull = 0;
  for (const auto& [b, pull] : norms_) of_b += b, of_pull += pull;
  // A body at rest has a right-hand side of rounding only: its weight then sets the scale.
  return std::max(std::sqrt(of_b), 0.03 * std::sqrt(of_pull));
}

SolveResult SolidBody::solve_with_contacts(Workers& workers, double threshold, float dt) {
  constexpr int kMostRounds = 24, kIterationsOfRound = 12;
  constexpr double kSteadyForce = 3e-3;
  contacts_.set_penalties(system_, static_cast<float>(mass_));
  const float allowed_violation = 0.2f * slop_ / dt;
  const auto add_impulses = [&](float sign) {
    contacts_.for_each_impulse(target_, [&](std::uint32_t slot, Vec3 impulse) {
      if (free_[slot] > 0) residual_.add(slot, impulse * sign);
    });
  };
  const auto update_target = [&] {
    for_groups(workers,
               [&](std::size_t g) { target_.set_group(g, state_.velocities.group(g) + state_.change.group(g)); });
  };
  SolveResult result;
  for (int round = 0; round < kMostRounds && result.iterations < def_->solver.max_iterations; ++round) {
    contacts_.activate(target_);
    add_impulses(1);
    system_.clear_extras();
    contacts_.add_to_matrix(system_);
    system_.invert_diagonals(workers, layout_);
    system_.factor_coarse(layout_);
    const SolveResult part = system_.solve(workers, layout_, state_.change, residual_, threshold, kIterationsOfRound);
    result.iterations += part.iterations;
    result.residual = part.residual;
    update_target();
    const SolidContactRows::Progress progress = contacts_.update(target_);
    const bool steady = progress.change <= kSteadyForce * kSteadyForce * progress.size;
    result.converged = part.converged && steady && progress.violation <= allowed_violation;
    if (result.converged && round > 0) break;
    if (round + 1 < kMostRounds) add_impulses(-1);
  }
  return result;
}

/// What linearising the elements' rotations added to the spin in this substep: all change of spin that no force, no
/// contact and no return of an earlier loss explains.
void SolidBody::find_lost_spin(Workers& workers, Vec3 gravity, float dt) {
  state_.lost_spin = {};
  if (held_count_ > 0) return;
  const LaneVec3<Float8> weight = broadcast(gravity);
  const Float8 h = pliant::broadcast(dt);
  for_groups(workers,
             [&](std::size_t g) { target_.set_group(g, state_.velocities.group(g) + state_.change.group(g)); });
  Vec3 gained = sums_.angular(workers, state_.positions, moments_.center, [&](std::size_t g) {
    const Float8 mass = load8(masses_.data() + 8 * g), damping = load8(damping_.data() + 8 * g);
    return state_.change.group(g) * mass - (forces_.group(g) + weight * mass - target_.group(g) * damping) * h;
  });
  contacts_.for_each_impulse(target_, [&](std::uint32_t slot, Vec3 impulse) {
    gained -= cross(state_.positions.get(slot) - moments_.center, impulse);
  });
  state_.lost_spin = gained - returned_spin_;
  if (!is_finite(state_.lost_spin)) state_.lost_spin = {};
}

/// What holding the held nodes took: the rest of their rows.
void SolidBody::find_reactions(float dt) {
  if (held_count_ == 0) return;
  for (std::size_t g = 0; g < layout_.slot_count / 8; ++g) {
    if (!any(load8(free_.data() + 8 * g) == 0)) continue;
    target_.set_group(g, state_.velocities.group(g) + state_.change.group(g));
  }
  for (std::size_t g = 0; g < layout_.slot_count / 8; ++g) {
    if (!any(load8(free_.data() + 8 * g) == 0)) continue;
    const LaneVec3<Float8> change = state_.change.group(g);
    const Float8 mass = load8(masses_.data() + 8 * g), held = pliant::broadcast(1.0f) - load8(free_.data() + 8 * g);
    const LaneVec3<Float8> needed = change * mass + system_.internal(layout_, g, target_);
    const LaneVec3<Float8> given = (internal_.group(g) + forces_.group(g)) * pliant::broadcast(dt);
    reactions_.set_group(g, (needed - given) * (held / dt));
  }
}

template <typename Visit>
void SolidBody::for_groups(Workers& workers, Visit&& visit) {
  parallel_for(workers, layout_.slot_count / 8, kGroupGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) visit(g);
  });
}

void SolidBody::advance(float dt) {
  for (std::size_t g = 0; g < layout_.slot_count / 8; ++g) {
    state_.positions.set_group(g, state_.positions.group(g) + state_.velocities.group(g) * pliant::broadcast(dt));
  }
}

void SolidBody::settle(Workers& workers, float dt) { elements_.flow(workers, layout_, state_.positions.data(), dt); }

SolidTotals SolidBody::totals() const { return total_momentum(masses_, state_.positions, state_.velocities); }

Aabb SolidBody::bounds() const {
  Aabb box;
  for (std::uint32_t node = 0; node < layout_.node_count; ++node) {
    if (mass(node) > 0) box.include(position(node));
  }
  return box;
}

}  // namespace pliant
