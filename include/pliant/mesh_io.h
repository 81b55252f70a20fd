// Meshes from and to files. The format follows from the file's ending:
//
//   .obj               Wavefront OBJ                       surfaces
//   .gltf .glb         glTF 2.0, text or binary            surfaces
//   .stl               STL, text or binary                 surfaces
//   .msh               Gmsh 2.2 and 4.1                    solids and surfaces
//   .vtk .vtu          legacy VTK, VTK unstructured grid   solids and surfaces
//   .node .ele         TetGen (either names both)          solids
//
// A file is written whole or not at all: to a temporary neighbour first, then renamed into place.
#pragma once

#include <filesystem>

#include "pliant/mesh.h"

namespace pliant {

/// What a mesh file holds: a surface, a solid, or both.
struct MeshFile {
  TriMesh surface;
  TetMesh solid;
};

/// Reads any supported format. What comes back is finite and within range (never crashes on a corrupt file), but may
/// still be inverted or non-manifold: see `validate`.
Result<MeshFile> load_mesh(const std::filesystem::path& file);

struct SaveMeshOptions {
  bool binary = true;         ///< where the format has a choice (glTF and GLB differ by name)
  double gmsh_version = 4.1;  ///< 2.2 or 4.1
};

Status save_mesh(const std::filesystem::path& file, const TriMesh& mesh, const SaveMeshOptions& options = {});
Status save_mesh(const std::filesystem::path& file, const TetMesh& mesh, const SaveMeshOptions& options = {});

}  // namespace pliant
