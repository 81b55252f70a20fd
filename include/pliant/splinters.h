// Splinters: the look of a solid cut into closed pieces that stay whole when it breaks.
//
// Cracks follow the faces of tets, and bare tets look like tets. Splinters are pieces of the body that are smaller than
// they are, of a form that suits the material: fibres of wood, bricks and mortar, shards of glass, grains of concrete.
// Each belongs to the tet that holds its middle and goes with that one; where a crack passes through a splinter, its
// vertices on the far side are carried by the nearest tet that is still connected to it (Parker and O'Brien 2009,
// section 5). What they look like does not decide how the body breaks.
//
//   pliant::SolidDef plank{.mesh = pliant::tet_box({2, 0.2f, 0.05f}, 0.1f), .material = pliant::material::oak()};
//   plank.splinters = std::make_shared<const pliant::Splinters>(
//       pliant::make_splinters(plank.mesh, {.pattern = pliant::WoodSplinters{.grain = {1, 0, 0}}}).value());
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

/// More vertices than this are refused: a body of a million is a body too many.
inline constexpr std::size_t kMaxSplinterVertices = 1'000'000;

struct Splinters {
  TriMesh mesh;                            ///< one splinter after the other; no vertex belongs to two. Has normals
  std::vector<std::uint32_t> first_faces;  ///< of each splinter, and last the number of faces
  std::vector<std::uint8_t> is_inside;     ///< per face: 0 where it is part of the whole body's surface
  std::vector<Vec3> colors;                ///< per splinter, linear, 0 to 1; empty: as the body's appearance says

  std::size_t size() const { return first_faces.empty() ? 0 : first_faces.size() - 1; }
};

/// Long fibres with slanted ends.
struct WoodSplinters {
  Vec3 grain{0, 1, 0};  ///< the direction in which they lie
  float length = 0.4f;  ///< m
  float width = 0.04f;  ///< m
  float slant = 2;      ///< how pointed the ends are: their length over the width
};
/// Bricks in courses, each half a brick further than the one below, in mortar.
struct BrickSplinters {
  Vec3 size{0.24f, 0.07f, 0.115f};        ///< m: along the course, up, and through the wall
  float joint = 0.01f;                    ///< m of mortar
  Vec3 along{1, 0, 0};                    ///< the direction of the courses; they lie one above the other along +Y
  Vec3 joint_color{0.52f, 0.50f, 0.46f};  ///< linear
};
/// Shards that go through the body where it is thinnest.
struct GlassSplinters {
  float size = 0.08f;            ///< m
  std::optional<Vec3> center{};  ///< where it will be hit: shards are small there and long farther away
};
/// Grains of one size, as of concrete or stone.
struct GrainSplinters {
  float size = 0.08f;  ///< m
};

/// How a body is cut into splinters.
struct SplinterDef {
  std::variant<WoodSplinters, BrickSplinters, GlassSplinters, GrainSplinters> pattern = WoodSplinters{};
  Vec3 color{0.6f, 0.6f, 0.6f};  ///< linear
  float variation = 0.1f;        ///< from one splinter to the next, as a share of the colour's brightness; 0 to 1
  std::uint64_t seed = 1;
};

/// Cuts the body that the tets fill: together the splinters are all of it, and each is closed. Where a cell of the
/// pattern meets the body in several places it makes several splinters. Errors: a pattern that makes no sense or more
/// than 200,000 cells, more than `kMaxSplinterVertices`, a mesh that is not valid.
Result<Splinters> make_splinters(const TetMesh& mesh, const SplinterDef& def);

/// Pieces that were modelled, in the frame of the mesh: one splinter each. Faces on the surface of the mesh, within a
/// fiftieth of the pieces' size, count as outside. Errors: no pieces, faces that name vertices that do not exist,
/// vertices that are not finite, more than `kMaxSplinterVertices`.
Result<Splinters> splinters_from(const std::vector<TriMesh>& pieces, const TetMesh& mesh);

/// What is wrong with splinters, if anything: lists of the wrong length or order, indices out of range, a vertex that
/// two splinters share, numbers that are not finite.
Status check_splinters(const Splinters& splinters);

/// One splinter as a surface of its own, its vertices joined where they are at one place.
TriMesh splinter_surface(const Splinters& splinters, std::size_t index);

}  // namespace pliant
