// The readers and writers behind `load_mesh` and `save_mesh`, one .cpp per format.
//
// A reader gets the content of the file and returns what is finite and within range, or an error with the line or byte.
// A writer gets a mesh that was checked and writes into a file whose failures are kept (see OutputFile).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"
#include "pliant/mesh_io.h"

namespace pliant {

Result<MeshFile> read_obj(const std::filesystem::path& file, std::string_view content);
Result<MeshFile> read_stl(const std::filesystem::path& file, std::string_view content);
Result<MeshFile> read_gltf(const std::filesystem::path& file, std::string_view content);
Result<MeshFile> read_gmsh(const std::filesystem::path& file, std::string_view content);
Result<MeshFile> read_vtk(const std::filesystem::path& file, std::string_view content);
Result<MeshFile> read_vtu(const std::filesystem::path& file, std::string_view content);
/// A TetGen mesh is two files, .node and .ele. This is the one with `ending`, given either.
std::filesystem::path tetgen_part(const std::filesystem::path& file, const char* ending);
Result<MeshFile> read_tetgen(const std::filesystem::path& node_file, std::string_view nodes,
                             const std::filesystem::path& tet_file, std::string_view tets);

/// `load_mesh` for a file that is in memory already: all of its checks and promises. Not for TetGen.
Result<MeshFile> parse_mesh(const std::filesystem::path& file, std::string_view content);
/// What every load promises in the end: that there is something.
Result<MeshFile> not_empty(const std::filesystem::path& file, Result<MeshFile> mesh);

void write_obj(OutputFile& file, const TriMesh& mesh);
void write_stl(OutputFile& file, const TriMesh& mesh, bool binary);
void write_gmsh(OutputFile& file, const TriMesh& mesh, const SaveMeshOptions& options);
void write_gmsh(OutputFile& file, const TetMesh& mesh, const SaveMeshOptions& options);
void write_vtk(OutputFile& file, const TriMesh& mesh, bool binary);
void write_vtk(OutputFile& file, const TetMesh& mesh, bool binary);
// These make their own files.
Status save_gltf(const std::filesystem::path& file, const TriMesh& mesh);
Status save_vtu_mesh(const std::filesystem::path& file, const TriMesh& mesh, bool binary);
Status save_vtu_mesh(const std::filesystem::path& file, const TetMesh& mesh, bool binary);
Status save_tetgen(const std::filesystem::path& file, const TetMesh& mesh);

/// What the formats with one list of points and many kinds of cells are read into.
struct MeshAssembly {
  std::vector<Vec3> points;
  std::vector<Face> faces;
  std::vector<Tet> tets;
  std::vector<std::int32_t> regions;                             ///< per tet, or empty
  std::map<std::string, std::vector<std::uint32_t>> point_sets;  ///< in any order, repeats allowed
  std::vector<Vec3> normals;                                     ///< per point, or empty
  std::vector<Vec2> uvs;                                         ///< per point, or empty
  std::vector<std::uint32_t> objects;                            ///< the first face of each; may be empty

  /// Checks that all is finite and within range, and splits it into surface and solid, each with the points it uses in
  /// their order in the file.
  Result<MeshFile> finish(const std::filesystem::path& file);
};

/// How region numbers, node sets and surface attributes are named in VTK files.
inline constexpr const char* kVtkRegion = "region";
inline constexpr const char* kVtkNodeSet = "node_set:";  ///< followed by the set's name
inline constexpr const char* kVtkNormals = "Normals";
inline constexpr const char* kVtkUvs = "TCoords";

/// The uvs of OBJ and VTK have their origin at the lower left of the picture, pliant's at the upper left as in glTF. In
/// double, because 1 - v is not exact in float.
inline double flip_v(double v) { return 1 - v; }

/// A region told as a real number; nothing if it is not whole or does not fit.
std::optional<std::int32_t> region_from(double value);

/// Per node 1 or 0: is it in the set?
std::vector<std::uint8_t> set_membership(const TetMesh& mesh, const std::vector<std::uint32_t>& set);
/// Adds the points with a non-zero value to the named set.
void add_membership(MeshAssembly& mesh, const std::string& name, const std::vector<double>& values);

}  // namespace pliant
