// What a def may hold. Every message says what is allowed.
#include <cmath>

#include <fmt/format.h>

#include "world/def_check.h"
#include "world/world_impl.h"

namespace pliant {
namespace {

bool needs_static(const Shape& shape) {
  return std::holds_alternative<Heightfield>(shape) || std::holds_alternative<Plane>(shape);
}

}  // namespace

Status check_def(const WorldDef& def) {
  Check check;
  check.finite("gravity", def.gravity);
  check.finite("wind", def.wind);
  check.range("dt", def.dt, kShortestStep, kLongestStep);
  check.range("substeps", def.substeps, 1, 1000);
  check.range("iterations", def.iterations, 1, 10000);
  check.range("threads", def.threads, 0, 1024);
  check.not_negative("sleep_speed", def.sleep_speed);
  check.not_negative("sleep_angular_speed", def.sleep_angular_speed);
  check.not_negative("sleep_delay", def.sleep_delay);
  check.not_negative("bounce_threshold", def.bounce_threshold);
  check.not_negative("contact_damping", def.contact_damping);
  return check.status();
}

Status check_def(const RigidDef& def) {
  Check check;
  check.place(def.position, def.rotation);
  check.motion(def.velocity, def.angular_velocity);
  if (def.motion == Motion::Dynamic && !def.mass_properties) {
    if (def.mass) {
      check.positive("mass", *def.mass);
    } else {
      check.positive("density", def.density);
    }
  }
  check.that(def.motion == Motion::Static || !needs_static(def.shape), "motion",
             fmt::format("a {} must be static", shape_name(def.shape)));
  check.that(def.motion != Motion::Dynamic || !std::holds_alternative<TriangleMesh>(def.shape), "motion",
             "a triangle_mesh must be static or kinematic; give a dynamic body a convex_hull or a compound");
  check.not_negative("friction", def.friction);
  check.not_negative("rolling_friction", def.rolling_friction);
  check.range("restitution", def.restitution, 0.0f, 1.0f);
  check.not_negative("linear_damping", def.linear_damping);
  check.not_negative("angular_damping", def.angular_damping);
  check.finite("gravity_scale", def.gravity_scale);
  return check.status();
}

Status check_def(const SolidSolver& solver) {
  Check check;
  check.range("tolerance", solver.tolerance, 1e-7f, 0.5f);
  check.range("max_iterations", solver.max_iterations, 1, 100000);
  return check.status();
}

Status check_def(const SolidMaterial& m) {
  constexpr float kStiffest = 1e14f;  // Pa, a hundred times diamond: beyond, matrices leave the range of floats
  constexpr float kDensest = 1e12f;   // kg/m³
  Check check;
  check.positive("density", m.density);
  check.that(m.density <= kDensest, "density", fmt::format("{} is more than {:g} kg/m³", m.density, kDensest));
  check.positive("young_modulus", m.young_modulus);
  check.that(m.young_modulus <= kStiffest, "young_modulus",
             fmt::format("{} is more than {:g} Pa", m.young_modulus, kStiffest));
  check.range("poisson_ratio", m.poisson_ratio, -0.9f, 0.495f);
  check.not_negative("grain_modulus", m.grain_modulus);
  check.that(m.grain_modulus == 0 || m.grain_modulus >= m.young_modulus, "grain_modulus",
             "it must be 0 (no grain) or not below young_modulus");
  check.finite("grain_direction", m.grain_direction);
  check.that(m.grain_modulus == 0 || length(m.grain_direction) > 1e-6f, "grain_direction", "it must not be zero");
  check.that(m.grain_modulus == 0 || m.elasticity == Elasticity::Corotational, "elasticity",
             "a grain needs corotational elasticity");
  check.that(!m.is_plastic() || m.elasticity == Elasticity::Corotational, "elasticity",
             "plasticity needs corotational elasticity");
  check.not_negative("mass_damping", m.mass_damping);
  check.not_negative("stiffness_damping", m.stiffness_damping);
  check.that(m.yield_strain > 0, "yield_strain", "it must be greater than 0");
  check.that(m.creep_rate >= 0, "creep_rate", "it must be 0 or more");
  check.that(m.max_plastic_strain >= 0, "max_plastic_strain", "it must be 0 or more");
  check.that(m.strength > 0, "strength", "it must be greater than 0; infinity for what never breaks");
  check.not_negative("grain_strength", m.grain_strength);
  check.that(m.grain_strength == 0 || length(m.grain_direction) > 1e-6f, "grain_direction", "it must not be zero");
  check.that(m.toughness > 0, "toughness", "it must be greater than 0; infinity for what never breaks");
  if (m.solver) check.within("solver", check_def(*m.solver));
  return check.status();
}

Status check_def(const SmallPieces& rule) {
  Check check;
  check.range("max_tets", rule.max_tets, 0, 1000000000);
  check.not_negative("max_volume", rule.max_volume);
  check.not_negative("max_size", rule.max_size);
  check.that(rule.rigid_after >= 0, "rigid_after", "it must be 0 or more; infinity for never");
  check.that(rule.gone_after >= 0, "gone_after", "it must be 0 or more; infinity for never");
  check.not_negative("fade", rule.fade);
  return check.status();
}

Status check_def(const SolidDef& def) {
  Check check;
  check.that(!def.mesh.tets.empty(), "mesh", "the mesh has no tets");
  if (!check.status()) return check.status();
  for (const MeshProblem& problem : validate(def.mesh)) check.that(false, "mesh", problem.message);
  check.that(def.mesh.regions.empty() || def.mesh.regions.size() == def.mesh.tets.size(), "mesh.regions",
             fmt::format("there are {} regions for {} tets", def.mesh.regions.size(), def.mesh.tets.size()));
  check.place(def.position, def.rotation);
  check.finite("stretch", def.stretch);
  check.motion(def.velocity, def.angular_velocity);
  check.within("material", check_def(def.material));
  for (std::size_t i = 0; i < def.region_materials.size(); ++i) {
    check.within(fmt::format("region_materials[{}]", i), check_def(def.region_materials[i]));
  }
  for (std::size_t i = 0; i < def.held.size() && check.status(); ++i) {
    const auto nodes = select_nodes(def.mesh, def.held[i].nodes);
    if (!nodes) check.within(fmt::format("held[{}].nodes", i), nodes.error());
  }
  check.held_names(def.held);
  check.not_negative("friction", def.friction);
  check.finite("gravity_scale", def.gravity_scale);
  check.not_negative("drag", def.drag);
  check.within("solver", check_def(def.solver));
  check.range("fracture.max_splits", def.fracture.max_splits, 0, 1000000);
  check.range("fracture.min_tets", def.fracture.min_tets, 1, 64);
  check.within("fracture.small_pieces", check_def(def.fracture.small_pieces));
  const auto check_weak = [&](const char* field, const auto& list) {
    for (std::size_t i = 0; i < list.size() && check.status(); ++i) {
      const auto nodes = select_nodes(def.mesh, list[i].nodes);
      if (!nodes) check.within(fmt::format("{}[{}].nodes", field, i), nodes.error());
      check.that(std::isfinite(list[i].factor) && list[i].factor > 0, fmt::format("{}[{}].factor", field, i).c_str(),
                 "it must be finite and greater than 0");
    }
  };
  check_weak("weakened", def.weakened);
  check_weak("weak_faces", def.weak_faces);
  if (def.surface) {
    for (const MeshProblem& problem : validate(*def.surface)) {
      if (problem.kind == MeshProblem::Kind::NotFinite || problem.kind == MeshProblem::Kind::IndexOutOfRange) {
        check.that(false, "surface", problem.message);
      }
    }
  }
  if (def.splinters) {
    if (const Status status = check_splinters(*def.splinters); !status) check.within("splinters", status.error());
  }
  if (def.interior_color) check.finite("interior_color", *def.interior_color);
  return check.status();
}

Status check_def(const LayeredDef& def) {
  Check check;
  check.that(def.atlas.node_count() > 0 && !def.atlas.surface.faces.empty(), "atlas", "the surface is empty");
  check.within("material", check_def(def.material));
  check.positive("thickness", def.thickness);
  check.positive("core_density", def.core_density);
  check.placement(def);
  check.range("tolerance", def.tolerance, 1e-6f, 0.5f);
  check.range("max_iterations", def.max_iterations, 1, 100000);
  for (std::size_t i = 0; i < def.springs.size(); ++i) {
    const CoreSpring& spring = def.springs[i];
    const std::string field = fmt::format("springs[{}]", i);
    check.finite((field + ".point").c_str(), spring.point);
    check.finite((field + ".place").c_str(), spring.place);
    check.not_negative((field + ".stiffness").c_str(), spring.stiffness);
    check.not_negative((field + ".damping").c_str(), spring.damping);
  }
  for (std::size_t i = 0; i < def.core.size() && check.status(); ++i) {
    check.finite(fmt::format("core[{}]", i).c_str(), def.core[i]);
  }
  return check.status();
}

Status check_def(const JointDef& def) {
  Check check;
  const bool has_axis = def.kind == JointKind::Hinge || def.kind == JointKind::Slider;
  check.that(!(def.a.is_null() && def.b.is_null()), "b", "a joint needs at least one body");
  check.that(!(def.a == def.b), "b", "a joint needs two different bodies");
  check.finite("anchor", def.anchor);
  check.finite("axis", def.axis);
  check.that(!has_axis || length(def.axis) > 1e-6f, "axis", "the axis must not be zero");
  check.that(has_axis || !def.limit, "limit", "only hinges and sliders have limits");
  check.that(has_axis || !def.motor, "motor", "only hinges and sliders have motors");
  if (def.limit) {
    const float most = def.kind == JointKind::Hinge ? kPi : 1e6f;
    check.range("limit.lower", def.limit->lower, -most, most);
    check.range("limit.upper", def.limit->upper, -most, most);
    check.that(def.limit->lower <= def.limit->upper, "limit", "the lower limit must not be above the upper one");
  }
  if (def.motor) {
    check.finite("motor.speed", def.motor->speed);
    check.that(def.motor->strength >= 0, "motor.strength", "the strength must be 0 or more");
  }
  check.that(def.break_force > 0, "break_force", "the breaking force must be greater than 0");
  return check.status();
}

}  // namespace pliant
