#include "solid/solid_body.h"

#include <algorithm>
#include <cmath>

#include "geometry/vec3d.h"

namespace pliant {
namespace {

constexpr std::uint32_t kNone = SolidLayout::kNone;

const SolidMaterial& material_of(const SolidDef& def, std::size_t tet) {
  if (def.mesh.regions.empty()) return def.material;
  const std::int32_t region = def.mesh.regions[tet];
  const bool listed = region >= 0 && static_cast<std::size_t>(region) < def.region_materials.size();
  return listed ? def.region_materials[static_cast<std::size_t>(region)] : def.material;
}

std::vector<std::uint8_t> element_kinds(const SolidDef& def) {
  std::vector<std::uint8_t> kinds(def.mesh.tets.size());
  for (std::size_t tet = 0; tet < kinds.size(); ++tet) {
    const SolidMaterial& material = material_of(def, tet);
    kinds[tet] = material.elasticity == Elasticity::NeoHookean || material.grain_modulus > 0 ? 1 : 0;
  }
  return kinds;
}

double tet_volume(const TetMesh& mesh, const Tet& tet) {
  const auto node = [&](std::size_t corner) { return Vec3d(mesh.nodes[tet[corner]]); };
  return six_volumes(node(0), node(1), node(2), node(3)) / 6;
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
  free_[slot] = !is_held && masses_[slot] > 0 ? 1.0f : 0.0f;
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

SolveResult SolidBody::solve(Workers& workers, Vec3 gravity, float dt) {
  const SolidTotals now = totals();
  const Vec3 drift = {static_cast<float>(now.momentum[0] / now.mass), static_cast<float>(now.momentum[1] / now.mass),
                      static_cast<float>(now.momentum[2] / now.mass)};
  // Held nodes start with their change given, all others with that of the last substep.
  const std::size_t groups = layout_.slot_count / 8;
  parallel_for(workers, groups, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const Float8 free = load8(free_.data() + 8 * g);
      const LaneVec3<Float8> v = state_.velocities.group(g);
      const LaneVec3<Float8> held = held_velocities_.group(g) - v;
      const LaneVec3<Float8> change = select(free > 0, state_.change.group(g), held);
      state_.change.set_group(g, change);
      target_.set_group(g, v + change);
    }
  });
  // The residual of that start, and the norm of the right-hand side with velocities seen from the body as a whole.
  system_.clear_extras();
  system_.factor(workers, layout_);
  norms_.assign((groups + 63) / 64, {});
  const Float8 h = pliant::broadcast(dt);
  const LaneVec3<Float8> weight = broadcast(gravity);
  parallel_for(workers, groups, 64, [&](std::size_t begin, std::size_t end) {
    double of_b = 0, of_pull = 0;
    for (std::size_t g = begin; g < end; ++g) {
      const Float8 free = load8(free_.data() + 8 * g), mass = load8(masses_.data() + 8 * g);
      const LaneVec3<Float8> v = state_.velocities.group(g);
      const LaneVec3<Float8> pull = (forces_.group(g) + weight * mass) * h;
      const LaneVec3<Float8> push = pull + internal_.group(g) * h;
      const LaneVec3<Float8> b = push + (v - broadcast(drift)) * mass;
      const LaneVec3<Float8> change = state_.change.group(g);
      const Float8 damping = load8(damping_.data() + 8 * g) * h;
      const LaneVec3<Float8> residual =
          (push - v * damping - system_.tied_part(g, change) - system_.internal(layout_, g, target_)) * free;
      residual_.set_group(g, residual);
      of_b += static_cast<double>(sum(dot(b, b) * free));
      of_pull += static_cast<double>(sum(dot(pull, pull) * free));
    }
    norms_[begin / 64] = {of_b, of_pull};
  });
  double of_b = 0, of_pull = 0;
  for (const auto& [b, pull] : norms_) of_b += b, of_pull += pull;
  // A body at rest has a right-hand side of rounding only: its weight then sets the scale.
  const double scale = std::max(std::sqrt(of_b), 0.03 * std::sqrt(of_pull));
  SolveResult result = system_.solve(workers, layout_, state_.change, residual_,
                                     static_cast<double>(def_->solver.tolerance) * scale, def_->solver.max_iterations);
  result.residual = scale > 0 ? result.residual / scale : 0;
  parallel_for(workers, groups, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      state_.velocities.set_group(g, state_.velocities.group(g) + state_.change.group(g));
    }
  });
  return result;
}

void SolidBody::advance(float dt) {
  for (std::size_t g = 0; g < layout_.slot_count / 8; ++g) {
    state_.positions.set_group(g, state_.positions.group(g) + state_.velocities.group(g) * pliant::broadcast(dt));
  }
}

void SolidBody::settle(Workers& workers, float dt) { elements_.flow(workers, layout_, state_.positions.data(), dt); }

SolidTotals SolidBody::totals() const {
  SolidTotals t;
  for (std::uint32_t slot = 0; slot < layout_.slot_count; ++slot) {
    const double m = static_cast<double>(masses_[slot]);
    if (m <= 0) continue;
    const Vec3 x = state_.positions.get(slot), v = state_.velocities.get(slot);
    t.mass += m;
    for (std::size_t k = 0; k < 3; ++k) {
      t.center[k] += m * static_cast<double>(x[k]);
      t.momentum[k] += m * static_cast<double>(v[k]);
    }
    t.kinetic += 0.5 * m * static_cast<double>(length_squared(v));
    const double p[3] = {m * static_cast<double>(v.x), m * static_cast<double>(v.y), m * static_cast<double>(v.z)};
    const double at[3] = {static_cast<double>(x.x), static_cast<double>(x.y), static_cast<double>(x.z)};
    t.spin[0] += at[1] * p[2] - at[2] * p[1];
    t.spin[1] += at[2] * p[0] - at[0] * p[2];
    t.spin[2] += at[0] * p[1] - at[1] * p[0];
  }
  for (double& c : t.center) c /= t.mass;
  t.spin[0] -= t.center[1] * t.momentum[2] - t.center[2] * t.momentum[1];
  t.spin[1] -= t.center[2] * t.momentum[0] - t.center[0] * t.momentum[2];
  t.spin[2] -= t.center[0] * t.momentum[1] - t.center[1] * t.momentum[0];
  return t;
}

Aabb SolidBody::bounds() const {
  Aabb box;
  for (std::uint32_t node = 0; node < layout_.node_count; ++node) {
    if (mass(node) > 0) box.include(position(node));
  }
  return box;
}

}  // namespace pliant
