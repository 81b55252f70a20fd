// Layered bodies: a rigid core under an elastic skin of tens of thousands of nodes (Galoppo et al. 2006, "Fast
// simulation of deformable models in contact using dynamic deformation textures").
//
//   world.add(pliant::LayeredDef{.atlas = pliant::atlas_torus(0.5f, 0.2f, 88, 44),
//                                .material = {.young_modulus = 3e5f},
//                                .thickness = 0.08f,
//                                .position = {0, 1, 0}});
#pragma once

#include <string>
#include <vector>

#include "pliant/atlas.h"
#include "pliant/defs.h"
#include "pliant/materials.h"

namespace pliant {

/// Pulls a point of the core to a place of the world: the neck of a head, the axle of a wheel.
struct CoreSpring {
  Vec3 point{};            ///< m, in the frame of the surface
  Vec3 place{};            ///< m, world
  float stiffness = 1000;  ///< N/m
  float damping = 0;       ///< N s/m
};

/// A body of a core and a layer. The surface's vertices are its nodes.
struct LayeredDef {
  std::string name{};
  Atlas atlas{};
  /// Of the layer. It is linear elasticity seen from the core: `elasticity` and the grain are of no meaning.
  SolidMaterial material{};

  float thickness = 0.05f;                 ///< m, of the layer
  std::vector<float> thickness_factors{};  ///< by node; empty means all 1
  std::vector<float> stiffness_factors{};  ///< by node, of Young's modulus
  std::vector<float> density_factors{};    ///< by node, of the material's density
  /// The core's surface, one point for each node, instead of what `thickness` makes of it.
  std::vector<Vec3> core{};
  float core_density = 1000;   ///< kg/m³
  bool core_is_fixed = false;  ///< the core stays where it is
  std::vector<CoreSpring> springs{};

  Vec3 position{};  ///< of the surface's origin, m
  Quat rotation{};
  Vec3 velocity{};          ///< of the centre of mass, m/s
  Vec3 angular_velocity{};  ///< world axes, rad/s

  float friction = 0.5f;  ///< Coulomb's μ; a pair uses the geometric mean
  float gravity_scale = 1;
  CollisionFilter filter{};
  bool allow_sleep = true;
  /// When the solver has done enough: the residual over that of the forces, both as the preconditioner measures them.
  float tolerance = 1e-3f;
  int max_iterations = 400;  ///< of a substep; reaching it is reported: `StepReport::unconverged_solids`

  Appearance appearance{.color = {0.72f, 0.5f, 0.32f}};
  std::vector<Vec3> colors{};  ///< by node, linear, instead of the appearance's; empty means none
};

}  // namespace pliant
