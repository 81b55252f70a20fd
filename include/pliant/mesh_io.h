// Meshes from and to files. The format follows from the file's ending:
//
//   .obj               Wavefront OBJ                       surfaces
//   .gltf .glb         glTF 2.0, text or binary            surfaces
//   .stl               STL, text or binary                 surfaces
//   .msh               Gmsh 2.2 and 4.1                    solids and surfaces
//   .vtk .vtu          legacy VTK, VTK unstructured grid   solids and surfaces
//   .node .ele         TetGen (either names both)          solids
//
// What each keeps, besides points and elements:
//
//   .obj .gltf .glb    normals and uvs
//   .vtk .vtu          normals and uvs (as Normals, TCoords); regions (cell data `region`) and node sets (point data
//                      `node_set:NAME`, 0 or 1)
//   .msh               regions (physical volumes) and node sets (named physical groups); no normals or uvs
//   .node .ele         regions (the first attribute); node sets only if called marker_N (boundary markers)
//   .stl               nothing; vertices with equal coordinates are joined
//
// Uvs have their origin at the upper left of the picture, as in glTF; OBJ and VTK files, whose origin is at the lower
// left, are turned over on the way in and out. Numbers come back exactly as they went out.
//
// A file is written whole or not at all: to a temporary neighbour first, then renamed into place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

/// What a mesh file holds: a surface, a solid, or both.
struct MeshFile {
  TriMesh surface;
  TetMesh solid;
  /// The first face of each object of the surface: what follows an `o` or a `g` of an .obj, a node of a .gltf or .glb.
  /// Empty where the format has none.
  std::vector<std::uint32_t> objects;
};

/// The objects of a file's surface, each with its own vertices; those without faces are left out. The whole surface
/// where the file tells of none.
std::vector<TriMesh> objects_of(const MeshFile& file);

/// Reads any supported format, up to 2 GiB. What comes back is finite and within range (never crashes on a corrupt
/// file), but may still be inverted or non-manifold: see `validate`.
///
/// Polygons and strips become triangles. Points that no face or tet uses are left out; the others keep their order.
/// Lines and single points are skipped; an element that cannot be used, such as a hexahedron or a 10-node tetrahedron,
/// is an error of code `Unsupported`, because leaving it out would leave holes. Of a glTF file the default scene is
/// read, with the transforms of its nodes applied.
Result<MeshFile> load_mesh(const std::filesystem::path& file);

struct SaveMeshOptions {
  bool binary = true;         ///< where the format has a choice: .stl, .msh, .vtk, .vtu
  double gmsh_version = 4.1;  ///< 2.2 or 4.1
};

/// Errors: an ending that names no format or one that cannot hold such a mesh; a mesh that is empty, not finite or has
/// an index out of range; a file that cannot be written. In every case what was there before is untouched.
Status save_mesh(const std::filesystem::path& file, const TriMesh& mesh, const SaveMeshOptions& options = {});
Status save_mesh(const std::filesystem::path& file, const TetMesh& mesh, const SaveMeshOptions& options = {});

}  // namespace pliant
