// Solids: bodies of tetrahedra that bend, dent and stretch.
//
//   world.add(pliant::SolidDef{.mesh = pliant::tet_box({1, 0.2f, 0.2f}, 0.05f),
//                              .material = pliant::material::rubber(),
//                              .position = {0, 2, 0},
//                              .held = {{.nodes = pliant::NodeBox{{{-0.51f, -1, -1}, {-0.49f, 1, 1}}}}}});
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pliant/defs.h"
#include "pliant/materials.h"
#include "pliant/mesh.h"
#include "pliant/selection.h"
#include "pliant/splinters.h"

namespace pliant {

/// What can be read from every tet of a solid.
enum class TetValue : std::uint8_t {
  Stress,        ///< Pa, von Mises
  Tension,       ///< Pa, the largest principal stress; negative where all is compressed
  Strain,        ///< the norm of the elastic strain
  PlasticStrain  ///< the norm of what has flowed
};

/// Nodes at which a solid breaks more easily than its material says, or less.
struct WeakNodes {
  NodeSelection nodes = AllNodes{};
  float factor = 0.5f;  ///< of strength and toughness
};

/// Faces between tets along which a solid comes apart more easily than its material says, or less: mortar, glue, a
/// score. A face is meant when its three corners are selected; what is pulled along it is as strong as ever.
struct WeakFaces {
  NodeSelection nodes = AllNodes{};
  float factor = 0.5f;  ///< of strength and toughness, across the face
};

/// What becomes of small pieces, so that a shattered scene stays fast: nothing, unless times are given. A piece is
/// small when it is within any of the three sizes, at rest. Counted from when it came loose, or became small.
struct SmallPieces {
  int max_tets = 0;               ///< at most so many tets
  float max_volume = 0;           ///< m³
  float max_size = 0;             ///< m, the longest side of its box
  float rigid_after = kInfinity;  ///< s; then its convex hull goes on as a rigid body with its mass, momentum and spin
  float gone_after = kInfinity;   ///< s; then it is taken away
  float fade = 0.5f;              ///< s before that, over which it fades from sight (`BodyState::opacity`)
};

/// How a solid breaks whose material has a strength.
struct FractureRules {
  int max_splits = 400;    ///< nodes that come apart in one step; more wait for the next one
  int min_tets = 3;        ///< a piece of fewer tets does not come loose; 1 to 64
  bool lets_go = false;    ///< held nodes come free where what holds them pulls as hard as the material can bear
  std::uint64_t seed = 1;  ///< of the choices between equals
  SmallPieces small_pieces{};
};

/// A deformable solid.
struct SolidDef {
  std::string name{};
  TetMesh mesh{};
  SolidMaterial material{};
  std::vector<SolidMaterial> region_materials{};  ///< by `mesh.regions`; a region beyond the list has `material`

  Vec3 position{};  ///< of the mesh's origin, m
  Quat rotation{};
  Vec3 stretch{1, 1, 1};    ///< how the body begins, along the mesh's axes, over how it lies at rest
  Vec3 velocity{};          ///< m/s
  Vec3 angular_velocity{};  ///< about the centre of mass, world axes, rad/s

  std::vector<HeldNodes> held{};

  float friction = 0.5f;  ///< Coulomb's μ; a pair uses the geometric mean
  float gravity_scale = 1;
  float drag = 0;  ///< of the air, as a drag coefficient times the air's density, kg/m³; about 1.2 for a bluff body
  CollisionFilter filter{};
  bool self_collision = false;
  bool allow_sleep = true;
  SolidSolver solver{};  ///< what is left at its default is as the materials say (`solver_of`)

  FractureRules fracture{};
  std::vector<WeakNodes> weakened{};    ///< where nodes are listed twice, the factors multiply
  std::vector<WeakFaces> weak_faces{};  ///< where faces are listed twice, the factors multiply

  /// What is seen instead of the mesh's own surface: any surface in the same frame, carried along. May be null. When
  /// the body breaks its triangles are shared out among the pieces, and what a crack lays open is closed.
  std::shared_ptr<const TriMesh> surface{};
  /// Closed pieces of the body's look that keep their form when it breaks; seen instead of `surface`. May be null.
  std::shared_ptr<const Splinters> splinters{};
  /// Of what a crack lays open, linear; none: as outside.
  std::optional<Vec3> interior_color{};
  Appearance appearance{.color = {0.75f, 0.45f, 0.3f}};
};

/// What a body is solved with: its own numbers where they are not the defaults, else the strictest of its materials'.
SolidSolver solver_of(const SolidSolver& own, const SolidMaterial& material,
                      const std::vector<SolidMaterial>& region_materials = {});

}  // namespace pliant
