#include "pliant/materials.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "pliant/solid.h"

namespace pliant {

SolidSolver solver_of(const SolidSolver& own, const SolidMaterial& material,
                      const std::vector<SolidMaterial>& region_materials) {
  std::optional<SolidSolver> strictest = material.solver;
  for (const SolidMaterial& other : region_materials) {
    if (!other.solver) continue;
    if (!strictest) strictest = other.solver;
    strictest->tolerance = std::min(strictest->tolerance, other.solver->tolerance);
    strictest->max_iterations = std::max(strictest->max_iterations, other.solver->max_iterations);
  }
  if (!strictest) return own;
  constexpr SolidSolver kDefault;
  return {
      .tolerance = own.tolerance != kDefault.tolerance ? own.tolerance : strictest->tolerance,
      .max_iterations = own.max_iterations != kDefault.max_iterations ? own.max_iterations : strictest->max_iterations};
}

namespace material {
namespace {

struct Entry {
  std::string_view name;
  SolidMaterial (*make)();
};

constexpr std::array<Entry, 12> kLibrary{{{"rubber", rubber},
                                          {"jelly", jelly},
                                          {"foam", foam},
                                          {"flesh", flesh},
                                          {"clay", clay},
                                          {"oak", oak},
                                          {"glass", glass},
                                          {"ice", ice},
                                          {"concrete", concrete},
                                          {"steel", steel},
                                          {"aluminium", aluminium},
                                          {"lead", lead}}};

}  // namespace

// Damping is chosen so that the lowest modes of a half-metre piece ring about as long as they do in reality.

SolidMaterial rubber() {
  return {.name = "rubber",
          .density = 930,
          .young_modulus = 1.5e6f,
          .poisson_ratio = 0.48f,
          .elasticity = Elasticity::NeoHookean,
          .stiffness_damping = 1e-3f};
}
SolidMaterial jelly() {
  return {
      .name = "jelly", .density = 1050, .young_modulus = 1.2e4f, .poisson_ratio = 0.45f, .stiffness_damping = 5e-3f};
}
SolidMaterial foam() {
  return {.name = "foam", .density = 30, .young_modulus = 6e4f, .poisson_ratio = 0.15f, .stiffness_damping = 1e-2f};
}
SolidMaterial flesh() {
  return {.name = "flesh",
          .density = 1060,
          .young_modulus = 3e4f,
          .poisson_ratio = 0.47f,
          .elasticity = Elasticity::NeoHookean,
          .stiffness_damping = 1e-2f};
}
SolidMaterial clay() {
  return {.name = "clay",
          .density = 1600,
          .young_modulus = 1e6f,
          .poisson_ratio = 0.4f,
          .stiffness_damping = 5e-3f,
          .yield_strain = 0.01f,
          .creep_rate = 30,
          .max_plastic_strain = 2};
}
SolidMaterial oak() {
  return {.name = "oak",
          .density = 700,
          .young_modulus = 1e9f,
          .poisson_ratio = 0.35f,
          .grain_modulus = 1.2e10f,
          .stiffness_damping = 5e-5f,
          .strength = 5.5e6f,
          .grain_strength = 1e8f};
}
SolidMaterial glass() {
  return {.name = "glass",
          .density = 2500,
          .young_modulus = 7.0e10f,
          .poisson_ratio = 0.22f,
          .stiffness_damping = 1e-6f,
          .strength = 4.5e7f};
}
SolidMaterial ice() {
  return {.name = "ice",
          .density = 917,
          .young_modulus = 9.3e9f,
          .poisson_ratio = 0.33f,
          .stiffness_damping = 1e-5f,
          .strength = 1.4e6f};
}
SolidMaterial concrete() {
  return {.name = "concrete",
          .density = 2400,
          .young_modulus = 3.0e10f,
          .poisson_ratio = 0.2f,
          .stiffness_damping = 1e-5f,
          .strength = 2.9e6f};
}
SolidMaterial steel() {
  return {.name = "steel",
          .density = 7850,
          .young_modulus = 2.0e11f,
          .poisson_ratio = 0.29f,
          .stiffness_damping = 1e-6f,
          .yield_strain = 1.25e-3f,
          .creep_rate = 240,
          .max_plastic_strain = 0.3f,
          .strength = 4e8f};
}
SolidMaterial aluminium() {
  return {.name = "aluminium",
          .density = 2700,
          .young_modulus = 6.9e10f,
          .poisson_ratio = 0.33f,
          .stiffness_damping = 1e-6f,
          .yield_strain = 5e-4f,
          .creep_rate = 240,
          .max_plastic_strain = 0.4f,
          .strength = 9e7f};
}
SolidMaterial lead() {
  return {.name = "lead",
          .density = 11340,
          .young_modulus = 1.6e10f,
          .poisson_ratio = 0.44f,
          .stiffness_damping = 1e-5f,
          .yield_strain = 5e-4f,
          .creep_rate = 120,
          .max_plastic_strain = 1,
          .strength = 1.5e7f};
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> list;
  for (const Entry& entry : kLibrary) list.push_back(entry.name);
  return list;
}

Result<SolidMaterial> by_name(std::string_view name) {
  for (const Entry& entry : kLibrary) {
    if (entry.name == name) return entry.make();
  }
  Error error;
  error.code = Error::Code::NotFound;
  error.message = fmt::format("there is no material '{}'; known are {}", name, fmt::join(names(), ", "));
  return error;
}

SolidMaterial softened(SolidMaterial m, float modulus) {
  const float stiffest = std::max(m.young_modulus, m.grain_modulus);
  if (!(modulus > 0 && modulus < stiffest)) return m;
  const float share = modulus / stiffest, root = std::sqrt(share);
  m.young_modulus *= share, m.grain_modulus *= share;
  m.strength *= root, m.grain_strength *= root, m.toughness *= root;
  m.yield_strain /= root;       // the stress there goes down by the root
  m.stiffness_damping /= root;  // it rings as many times
  return m;
}

}  // namespace material

LameParameters lame_parameters(const SolidMaterial& material) {
  const double e = static_cast<double>(material.young_modulus), nu = static_cast<double>(material.poisson_ratio);
  return {static_cast<float>(e * nu / ((1 + nu) * (1 - 2 * nu))), static_cast<float>(e / (2 * (1 + nu)))};
}

}  // namespace pliant
