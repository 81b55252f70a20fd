// Meshes made from numbers.
//
// Sizes are full sizes in metres. Everything is centred on the origin; round shapes stand along Y. The same arguments
// always give the same mesh. Closed surfaces are watertight and manifold, with all faces outward; solids are
// conforming, without inverted tets. `cell` is the wished edge length: a length of n and a half cells is cut into whole
// cells that differ a little from it. `segments` is the number of edges of a full circle.
//
// `normals` are left empty (see `compute_normals`). Where the form suggests it there are `uvs`: u runs once around and
// back again (0 to 1 to 0), so that there is no seam and the surface stays closed; v runs along.
//
// Nonsense (a size that is not positive and finite, too few segments) and meshes of more than `kMaxGeneratedElements`
// throw `BadResult`, whose error names the argument.
#pragma once

#include <cstdint>

#include "pliant/mesh.h"
#include "pliant/shapes.h"

namespace pliant {

/// The most faces or tets a generator makes.
inline constexpr std::size_t kMaxGeneratedElements = 20'000'000;

// Surfaces ------------------------------------------------------------------------------------------------------------

TriMesh tri_box(Vec3 size, float cell);
/// Cut into nx, ny, nz cells along its edges.
TriMesh tri_box(Vec3 size, int nx, int ny, int nz);

TriMesh tri_sphere(float radius, int segments = 32);
/// The side is cut into `rings` along its height.
TriMesh tri_cylinder(float radius, float height, int segments = 32, int rings = 1);
/// As `Capsule`: `height + 2 radius` tall in all. The side is cut into `rings` along its height.
TriMesh tri_capsule(float radius, float height, int segments = 32, int rings = 1);
/// Its tip points to +Y.
TriMesh tri_cone(float radius, float height, int segments = 32);
/// A ring about Y: a circle of `tube_radius` carried around one of `radius`, which must be larger.
TriMesh tri_torus(float radius, float tube_radius, int segments = 48, int tube_segments = 24);

/// An open sheet in the XZ plane that faces +Y, of size x by z, in cells whose diagonals alternate. u runs along X, v
/// along Z.
TriMesh tri_grid(Vec2 size, float cell);
TriMesh tri_grid(Vec2 size, int nx, int nz);
/// A narrow open strip along X that faces +Y, two triangles per segment: a ribbon or a flat rope.
TriMesh tri_rope_strip(float length, float width, int segments);

/// A teapot, one closed surface of genus 1: the body with its lid and knob, the spout (filled, towards +X) and the
/// handle (towards −X). `size` is its length from spout to handle, about twice its height.
TriMesh tri_teapot(float size, int segments = 48);

/// A gear wheel about Y with straight-flanked teeth.
struct GearShape {
  int teeth = 16;            ///< at least 3
  float root_radius = 0.4f;  ///< m, between the teeth
  float tip_radius = 0.5f;   ///< m
  float bore_radius = 0.1f;  ///< m; 0 for none. With a bore the surface has genus 1, without genus 0.
  float thickness = 0.2f;    ///< m, along Y
  float cell = 0.05f;        ///< m, the wished edge length
};
TriMesh tri_gear(const GearShape& shape = {});

/// A pumpkin with ridges and a stem, closed, standing along Y.
struct PumpkinShape {
  float radius = 0.5f;       ///< m, the largest, at the ridges
  float flatness = 0.8f;     ///< height of the fruit over its width
  int ridges = 12;           ///< 0 for a smooth one
  float ridge_depth = 0.1f;  ///< share of the radius, 0 to 0.5
  int segments = 192;        ///< around; rounded up to a multiple of twice the ridges
};
TriMesh tri_pumpkin(const PumpkinShape& shape = {});

/// A treaded tire, whose axle is Y. Closed, of genus 1.
struct TireShape {
  float radius = 0.5f;         ///< m, the outer one, on top of the treads
  float rim_radius = 0.28f;    ///< m, the inner one
  float width = 0.28f;         ///< m, along Y
  int treads = 24;             ///< blocks around
  float tread_depth = 0.025f;  ///< m
  int segments = 192;          ///< around; rounded up to a multiple of four times the treads
};
TriMesh tri_tire(const TireShape& shape = {});

/// A rubber duck that looks towards +X, closed, of even triangles. `size` is its length from beak to tail; `cell`, the
/// wished edge length, is at most a 16th of it.
TriMesh tri_duck(float size, float cell);

/// A head that looks towards +X, with a neck that ends flat below; closed, of even triangles. `size` is its height;
/// `cell`, the wished edge length, is at most a 24th of it.
TriMesh tri_head(float size, float cell);

/// Hills from seeded noise, over a grid centred on the origin.
struct TerrainShape {
  int columns = 65, rows = 65;  ///< points along X and Z, at least 2
  float cell = 0.5f;            ///< m between points
  float height = 2;             ///< m; the heights lie within ± half of it
  float feature = 8;            ///< m, the size of the largest hills
  int octaves = 5;              ///< 1 to 12, each of half the size and height of the one before
  std::uint32_t seed = 1;
};
/// The same ground as a static shape and as an open surface that faces +Y, with uvs over the grid.
Heightfield heightfield_terrain(const TerrainShape& shape = {});
TriMesh tri_terrain(const TerrainShape& shape = {});

// Solids --------------------------------------------------------------------------------------------------------------
//
// With a few cells along the radius, the angles between the faces of a tet lie between 25 and 131 degrees in round
// solids and between 45 and 90 in boxes of cubic cells.

/// Cells of six tets each, mirrored from cell to cell, so that no direction is preferred over the mesh.
TetMesh tet_box(Vec3 size, float cell);
TetMesh tet_box(Vec3 size, int nx, int ny, int nz);

/// 20 n³ tets for n cells along the radius.
TetMesh tet_sphere(float radius, float cell);
/// Layers of prisms over a disk, 18 n² m tets for n cells along the radius and m along the height.
TetMesh tet_cylinder(float radius, float height, float cell);
TetMesh tet_torus(float radius, float tube_radius, float cell);
/// As `Capsule`: `height + 2 radius` tall in all.
TetMesh tet_capsule(float radius, float height, float cell);

}  // namespace pliant
