// What solids are made of: numbers in SI units, and a library of real materials.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/math.h"
#include "pliant/result.h"

namespace pliant {

/// How stress follows from strain.
enum class Elasticity : std::uint8_t {
  Corotational,  ///< linear in the element's own frame: fastest, right for strains up to some 20 %
  NeoHookean     ///< stable Neo-Hookean: rubber and flesh stretched to several times their length
};

/// When the solver has done enough. The residual is that of Parker and O'Brien's eq. 5, |b − A v| over |b|, with
/// velocities seen from the body as a whole.
struct SolidSolver {
  float tolerance = 1e-3f;
  int max_iterations = 400;  ///< reaching it is reported: `StepReport::unconverged_solids`
};

/// A solid material. The defaults are a soft rubber without damping.
struct SolidMaterial {
  std::string name{};
  float density = 1000;        ///< kg/m³
  float young_modulus = 1e6f;  ///< Pa, E: stress over strain in a pulled bar
  float poisson_ratio = 0.3f;  ///< ν, −0.9 to 0.495: how much a pulled bar thins
  Elasticity elasticity = Elasticity::Corotational;

  // Stiffer along a grain, as wood is. The direction is that of the mesh at rest.
  float grain_modulus = 0;  ///< Pa, E along the grain; 0 for none, else not below `young_modulus`
  Vec3 grain_direction{1, 0, 0};

  // Rayleigh damping: a force of `mass_damping` M v + `stiffness_damping` K v. A mode of angular frequency w loses the
  // share 1 − exp(−π (mass_damping / w + stiffness_damping w)) of its amplitude in a cycle.
  float mass_damping = 0;       ///< 1/s; slows flight as well, like a thick fluid
  float stiffness_damping = 0;  ///< s

  // Plasticity: elastic strain (Frobenius norm) beyond `yield_strain` flows away at `creep_rate`.
  float yield_strain = std::numeric_limits<float>::infinity();
  float creep_rate = 60;          ///< 1/s; infinity: all of the excess at once
  float max_plastic_strain = 10;  ///< flow ends here

  // Fracture: only tension breaks things. A solid cracks where the tensile stress across some plane reaches `strength`;
  // or, as Parker and O'Brien have it, where the force that pulls a node apart reaches `toughness`, which depends on
  // the size of the tets. Infinity: never.
  float strength = std::numeric_limits<float>::infinity();   ///< Pa
  float grain_strength = 0;                                  ///< Pa, when pulled along the grain; 0: as `strength`
  float toughness = std::numeric_limits<float>::infinity();  ///< N

  /// How well bodies of it are solved; none: as the bodies say. A body that says something else wins.
  std::optional<SolidSolver> solver{};

  bool is_breakable() const { return strength < std::numeric_limits<float>::infinity() || has_toughness(); }
  bool has_toughness() const { return toughness < std::numeric_limits<float>::infinity(); }
  bool is_plastic() const { return yield_strain < std::numeric_limits<float>::infinity(); }
};

/// λ and μ of Lamé, Pa.
struct LameParameters {
  float lambda = 0, mu = 0;
};
LameParameters lame_parameters(const SolidMaterial& material);

/// Materials with measured values; the sources are listed in docs/materials.md. All can be simulated at 1/60 s.
namespace material {

SolidMaterial rubber();  ///< natural rubber, Neo-Hookean
SolidMaterial jelly();   ///< gelatine dessert
SolidMaterial foam();    ///< soft polyurethane
SolidMaterial flesh();   ///< muscle and fat, Neo-Hookean
SolidMaterial clay();    ///< modelling clay: dents and stays
SolidMaterial oak();     ///< stiff along X, the grain
SolidMaterial glass();   ///< soda-lime
SolidMaterial ice();     ///< fresh water, −10 °C
SolidMaterial concrete();
SolidMaterial steel();      ///< mild steel, yields
SolidMaterial aluminium();  ///< soft temper, yields
SolidMaterial lead();       ///< yields early

/// The names above, in that order.
std::vector<std::string_view> names();
Result<SolidMaterial> by_name(std::string_view name);

/// The same with no modulus above `modulus` (Pa), that breaks and yields at the same speed of a blow: the stress of a
/// blow is about that speed times √(E ρ), so what it bears goes down with the root of the modulus. For things that are
/// so stiff that a blow is over long before a step is (docs/fracture.md#blows). One that is softer stays as it is.
SolidMaterial softened(SolidMaterial material, float modulus);

}  // namespace material

}  // namespace pliant
