#include "pliant/mesh_io.h"

#include <cmath>
#include <new>

#include <fmt/format.h>

#include "io/index_check.h"
#include "io/mesh_format.h"

namespace pliant {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEndings = ".obj, .stl, .gltf, .glb, .msh, .vtk, .vtu, .node or .ele";

Error invalid(const fs::path& file, std::string message, std::string field = {}) {
  return file_error(Error::Code::InvalidArgument, file, std::move(message), 0, std::move(field));
}

Error unknown_ending(const fs::path& file) {
  return file_error(Error::Code::Unsupported, file,
                    fmt::format("the ending \"{}\" does not name a mesh format; use {}", lower_ending(file), kEndings));
}

using ReadContent = Result<MeshFile> (*)(const fs::path&, std::string_view);

ReadContent reader_of(const std::string& ending) {
  if (ending == ".obj") return read_obj;
  if (ending == ".stl") return read_stl;
  if (ending == ".gltf" || ending == ".glb") return read_gltf;
  if (ending == ".msh") return read_gmsh;
  if (ending == ".vtk") return read_vtk;
  if (ending == ".vtu") return read_vtu;
  return nullptr;
}

/// One file of a TetGen pair, of which the user asked for `asked`.
Result<std::string> read_part(const fs::path& part, const fs::path& asked) {
  Result<std::string> content = read_file(part);
  if (content || content.error().code != Error::Code::NotFound || part == asked) return content;
  return file_error(Error::Code::NotFound, part,
                    fmt::format("does not exist, but is needed beside {}", asked.filename().string()));
}

Result<MeshFile> load_tetgen(const fs::path& file) {
  const fs::path node_file = tetgen_part(file, ".node"), tet_file = tetgen_part(file, ".ele");
  const Result<std::string> nodes = read_part(node_file, file);
  if (!nodes) return nodes.error();
  const Result<std::string> tets = read_part(tet_file, file);
  if (!tets) return tets.error();
  return not_empty(file, read_tetgen(node_file, *nodes, tet_file, *tets));
}

bool all_finite(Vec2 v) { return std::isfinite(v.x) && std::isfinite(v.y); }
bool all_finite(Vec3 v) { return is_finite(v); }

template <typename T>
Status check_finite(const fs::path& file, const std::vector<T>& values, const char* what) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!all_finite(values[i])) return invalid(file, "is not finite", fmt::format("{} {}", what, i));
  return {};
}

template <typename Cell>
Status check_cells(const fs::path& file, const std::vector<Cell>& cells, std::size_t points, const char* what) {
  if (cells.empty()) return invalid(file, fmt::format("the mesh has no {}s: nothing to write", what));
  const auto bad = find_bad_index(std::span<const Cell>(cells), points);
  if (!bad) return {};
  return invalid(file, fmt::format("names vertex {}, but there are only {}", bad->point, points),
                 fmt::format("{} {}", what, bad->element));
}

Status check_one_per(const fs::path& file, std::size_t count, std::size_t expected, const char* what, const char* of) {
  if (count == 0 || count == expected) return {};
  return invalid(file,
                 fmt::format("the mesh has {} {} for {} {}; give none or one for each", count, what, expected, of));
}

Status check(const fs::path& file, const TriMesh& mesh) {
  if (Status s = check_finite(file, mesh.vertices, "vertex"); !s) return s;
  if (Status s = check_finite(file, mesh.normals, "normal"); !s) return s;
  if (Status s = check_finite(file, mesh.uvs, "uv"); !s) return s;
  if (Status s = check_cells(file, mesh.faces, mesh.vertices.size(), "face"); !s) return s;
  if (Status s = check_one_per(file, mesh.normals.size(), mesh.vertices.size(), "normals", "vertices"); !s) return s;
  return check_one_per(file, mesh.uvs.size(), mesh.vertices.size(), "uvs", "vertices");
}

Status check(const fs::path& file, const TetMesh& mesh) {
  if (Status s = check_finite(file, mesh.nodes, "node"); !s) return s;
  if (Status s = check_cells(file, mesh.tets, mesh.nodes.size(), "tet"); !s) return s;
  if (Status s = check_one_per(file, mesh.regions.size(), mesh.tets.size(), "regions", "tets"); !s) return s;
  for (const auto& [name, set] : mesh.node_sets)
    for (const std::uint32_t n : set)
      if (n >= mesh.nodes.size())
        return invalid(file, fmt::format("names node {}, but there are only {}", n, mesh.nodes.size()),
                       fmt::format("node set \"{}\"", name));
  return {};
}

/// What Gmsh's format cannot say.
Status check_gmsh(const fs::path& file, const SaveMeshOptions& options) {
  if (options.gmsh_version == 2.2 || options.gmsh_version == 4.1) return {};
  return invalid(file, fmt::format("Gmsh version {} cannot be written; choose 2.2 or 4.1", options.gmsh_version));
}
Status check_gmsh(const fs::path& file, const TetMesh& mesh) {
  for (std::size_t i = 0; i < mesh.regions.size(); ++i)
    if (mesh.regions[i] < 0)
      return invalid(file, fmt::format("has region {}; Gmsh's physical groups cannot be negative", mesh.regions[i]),
                     fmt::format("tet {}", i));
  for (const auto& [name, set] : mesh.node_sets)
    if (name.empty() || name.find_first_of("\r\n\"") != std::string::npos)
      return invalid(file, "a Gmsh name is not empty and has no line ends or quotation marks",
                     fmt::format("node set \"{}\"", name));
  return {};
}

/// Opens the file, lets `write` fill it and puts it into place.
template <typename Write>
Status save_whole(const fs::path& file, Write write) {
  Result<AtomicFile> out = AtomicFile::create(file);
  if (!out) return out.error();
  write(*out);
  return out->commit();
}

}  // namespace

Result<MeshFile> not_empty(const fs::path& file, Result<MeshFile> mesh) {
  if (mesh && mesh->surface.faces.empty() && mesh->solid.tets.empty())
    return file_error(Error::Code::CannotRead, file, "holds no triangles and no tetrahedra");
  return mesh;
}

Result<MeshFile> parse_mesh(const fs::path& file, std::string_view content) {
  const std::string ending = lower_ending(file);
  const ReadContent read = reader_of(ending);
  if (!read) return unknown_ending(file);
  if (content.empty()) return file_error(Error::Code::CannotRead, file, "is empty");
  if (ending == ".obj" && content.find('\0') != std::string_view::npos)
    return file_error(Error::Code::CannotRead, file, "is not text, as .obj files are");
  return not_empty(file, read(file, content));
}

Result<MeshFile> load_mesh(const fs::path& file) {
  try {
    const std::string ending = lower_ending(file);
    if (ending == ".node" || ending == ".ele") return load_tetgen(file);
    if (!reader_of(ending)) return unknown_ending(file);
    const Result<std::string> content = read_file(file);
    if (!content) return content.error();
    return parse_mesh(file, *content);
  } catch (const std::bad_alloc&) {
    return file_error(Error::Code::CapacityExceeded, file, "needs more memory than there is");
  }
}

Status save_mesh(const fs::path& file, const TriMesh& mesh, const SaveMeshOptions& options) {
  if (Status s = check(file, mesh); !s) return s;
  const std::string ending = lower_ending(file);
  if (ending == ".obj") return save_whole(file, [&](OutputFile& f) { write_obj(f, mesh); });
  if (ending == ".stl") return save_whole(file, [&](OutputFile& f) { write_stl(f, mesh, options.binary); });
  if (ending == ".gltf" || ending == ".glb") return save_gltf(file, mesh);
  if (ending == ".vtk") return save_whole(file, [&](OutputFile& f) { write_vtk(f, mesh, options.binary); });
  if (ending == ".vtu") return save_vtu_mesh(file, mesh, options.binary);
  if (ending == ".msh") {
    if (Status s = check_gmsh(file, options); !s) return s;
    return save_whole(file, [&](OutputFile& f) { write_gmsh(f, mesh, options); });
  }
  if (ending == ".node" || ending == ".ele")
    return file_error(Error::Code::Unsupported, file, "TetGen files hold tetrahedra; save a surface as .obj or .glb");
  return unknown_ending(file);
}

Status save_mesh(const fs::path& file, const TetMesh& mesh, const SaveMeshOptions& options) {
  if (Status s = check(file, mesh); !s) return s;
  const std::string ending = lower_ending(file);
  if (ending == ".vtk") return save_whole(file, [&](OutputFile& f) { write_vtk(f, mesh, options.binary); });
  if (ending == ".vtu") return save_vtu_mesh(file, mesh, options.binary);
  if (ending == ".node" || ending == ".ele") return save_tetgen(file, mesh);
  if (ending == ".msh") {
    if (Status s = check_gmsh(file, options); !s) return s;
    if (Status s = check_gmsh(file, mesh); !s) return s;
    return save_whole(file, [&](OutputFile& f) { write_gmsh(f, mesh, options); });
  }
  if (reader_of(ending))
    return file_error(Error::Code::Unsupported, file,
                      fmt::format("{} files hold surfaces; save a solid as .msh, .vtu, .vtk or .ele, or its "
                                  "extract_surface here",
                                  ending));
  return unknown_ending(file);
}

}  // namespace pliant
