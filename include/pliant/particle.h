// Cloth, rope and jelly: bodies of nodes with masses and a surface.
//
//   world.add(pliant::ClothDef{.shape = pliant::ClothSheet{.width = 2, .length = 2, .cells_x = 50, .cells_z = 50},
//                              .position = {0, 1.5f, 0}});
//   pliant::BodyId rope = world.add(pliant::RopeDef{.path = {{0, 3, 0}, {0, 1, 0}}}).value();
//   world.add(pliant::AnchorDef{.body = rope, .nodes = pliant::NearestNodes{{0, 3, 0}}});
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pliant/defs.h"
#include "pliant/mesh.h"
#include "pliant/selection.h"

namespace pliant {

/// A woven rectangle about the origin of its frame, in the plane of x and z, facing +y. Its yarns keep their length.
/// Node (i, k), i from 0 to `cells_x` along x and k along z, has the number i + k (cells_x + 1).
struct ClothSheet {
  float width = 1;                 ///< m, along x
  float length = 1;                ///< m, along z
  int cells_x = 20, cells_z = 20;  ///< at most 4000 each, and 4 million nodes together
};

/// A surface sewn of woven panels, whose yarns keep their length however its triangles lie: these are what is seen, and
/// a lattice of yarns in each panel carries them. Panels are the flat parts of the mesh, or, where `uses_uvs`, what
/// hangs together in its texture coordinates: these are the sewing pattern then. Panels are sewn together where edges
/// of their rims lie on each other, also a panel with itself: a tube, a skirt, a pillow. Lattice nodes that are sewn
/// together are one node; a seam that does not run along yarns is thus moved by up to half a cell.
struct ClothWeave {
  TriMesh mesh{};
  float cell = 0.05f;     ///< m, the wished distance of yarns
  bool uses_uvs = false;  ///< yarns run along u and v; else along the longest edge of a panel's rim, and across
  float uv_scale = 0;     ///< m for one unit of the texture coordinates; 0: so that the areas agree
};

/// What cloth is made of. The defaults are a cotton cloth's.
struct ClothMaterial {
  float density = 0.2f;                 ///< kg/m²
  float bend_stiffness = 2e-5f;         ///< N m: the moment per width that one 1/m of curvature takes
  float shear_stiffness = 30;           ///< N/m: the force per width that one radian of shear takes
  float stretch_stiffness = kInfinity;  ///< N/m: the force per width that a strain of 1 would take
  float damping = 1;                    ///< 1/s: of the deformation, not of the body's motion as a whole
  float strength = kInfinity;           ///< N/m: the force per width at which it tears
};

/// A sheet of cloth, or any surface made of it: a flag, a net, a bag, a balloon.
struct ClothDef {
  std::string name{};
  std::variant<ClothSheet, TriMesh, ClothWeave> shape = ClothSheet{};
  ClothMaterial material{};
  float thickness = 0.005f;  ///< m; surfaces keep half of it from what they touch

  Vec3 position{};  ///< of the frame's origin, m
  Quat rotation{};
  Vec3 velocity{};          ///< m/s
  Vec3 angular_velocity{};  ///< about the centre of mass, world axes, rad/s

  std::vector<HeldNodes> held{};

  float friction = 0.5f;  ///< Coulomb's μ; a pair uses the geometric mean
  float gravity_scale = 1;
  float drag = 0;      ///< of the air, as a drag coefficient times the air's density, kg/m³; about 1.2 for a flag
  float pressure = 0;  ///< Pa over the air outside, of the gas that a closed surface holds at its rest volume
  float outside_pressure = 101325;  ///< Pa, of the air outside; it says how little the gas can be compressed
  bool self_collision = false;      ///< costs several times the rest of a draped cloth
  CollisionFilter filter{};
  bool allow_sleep = true;

  /// What is seen instead of the cloth's own triangles: any surface in the same frame, carried along. May be null.
  std::shared_ptr<const TriMesh> surface{};
  Appearance appearance{.color = {0.55f, 0.12f, 0.1f}};
};

struct RopeMaterial {
  float density = 0.1f;                 ///< kg/m
  float bend_stiffness = 0;             ///< N m²: the moment that one 1/m of curvature takes
  float stretch_stiffness = kInfinity;  ///< N: the force that a strain of 1 would take
  float damping = 1;                    ///< 1/s: of the deformation, not of the body's motion as a whole
  float strength = kInfinity;           ///< N: the force at which it tears
};

/// A rope, cable or thread along a path of straight pieces. Nodes are numbered along it.
struct RopeDef {
  std::string name{};
  std::vector<Vec3> path{{0, 0, 0}, {0, -1, 0}};  ///< m, in the body's frame
  bool closed = false;                            ///< a ring: the path goes on from its last point to its first
  float segment = 0.05f;                          ///< m; the longest distance of nodes
  float radius = 0.01f;                           ///< m
  RopeMaterial material{};

  Vec3 position{};
  Quat rotation{};
  Vec3 velocity{}, angular_velocity{};

  std::vector<HeldNodes> held{};

  float friction = 0.5f;
  float gravity_scale = 1;
  float drag = 0;  ///< as for cloth
  bool self_collision = false;
  CollisionFilter filter{};
  bool allow_sleep = true;
  Appearance appearance{.color = {0.5f, 0.4f, 0.25f}};
};

/// How a jelly finds its shape again.
enum class JellyMethod : std::uint8_t {
  MassSpring,     ///< springs along the edges of tets
  PositionBased,  ///< strain and volume rows, solved at the level of positions (Müller et al. 2007, 2014)
  ShapeMatching   ///< clusters pulled to their rest shape (Müller et al. 2005)
};

/// A soft body for games: cheaper and rougher than a `SolidDef`.
struct JellyDef {
  std::string name{};
  TetMesh mesh{};
  JellyMethod method = JellyMethod::PositionBased;
  float density = 1000;        ///< kg/m³
  float young_modulus = 2e4f;  ///< Pa; shape matching has it only roughly, as the frequency at which the body wobbles
  float poisson_ratio = 0.4f;  ///< 0 to 0.49; mass-spring has at least 0.25, shape matching none
  float damping = 1;           ///< 1/s: of the deformation

  Vec3 position{};
  Quat rotation{};
  Vec3 velocity{}, angular_velocity{};

  std::vector<HeldNodes> held{};

  float thickness = 0.005f;
  float friction = 0.5f;
  float gravity_scale = 1;
  float drag = 0;
  CollisionFilter filter{};
  bool allow_sleep = true;
  std::shared_ptr<const TriMesh> surface{};
  Appearance appearance{.color = {0.35f, 0.6f, 0.3f}};
};

using ParticleDef = std::variant<ClothDef, RopeDef, JellyDef>;

/// Ties nodes of a cloth, rope or jelly to a rigid body or to the world, where they are when the anchor is made; or to
/// points of a solid, cloth, rope or jelly, with which they become one; in a solid that breaks, with the piece there.
struct AnchorDef {
  std::string name{};
  BodyId body{};                         ///< the cloth, rope or jelly
  NodeSelection nodes = NearestNodes{};  ///< of it
  BodyId to{};                           ///< null: the world
  /// If `to` is a cloth, rope or jelly: its nodes to choose from, each of `nodes` takes the nearest. None: each of
  /// `nodes` takes the nearest point of its surface, or of the rope.
  std::optional<NodeSelection> to_nodes{};
  float break_force = kInfinity;  ///< N on one node, averaged over a substep; beyond it that node comes loose
};

/// An anchor's reading.
struct AnchorState {
  Vec3 force{};           ///< N on the nodes together, averaged over the last substep
  std::size_t nodes = 0;  ///< that still hold
};

/// The gas in a closed cloth. It keeps the temperature of the air outside: pressure times volume stays the same.
struct GasState {
  float pressure = 0;  ///< Pa, over the air outside
  float volume = 0;    ///< m³
};

}  // namespace pliant
