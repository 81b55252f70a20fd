// pliant mesh info FILE, pliant mesh convert IN OUT
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "pliant/mesh_io.h"

#include "commands.h"
#include "output.h"

namespace pliant::app {
namespace {

struct ConvertOptions {
  std::string in, out;
  bool ascii = false;
  double gmsh_version = 4.1;
};

/// What is wrong with a mesh, as a list.
template <typename Mesh>
void print_problems(const char* what, const Mesh& mesh, const ValidateOptions& options = {}) {
  const std::vector<MeshProblem> problems = validate(mesh, options);
  if (problems.empty()) {
    fmt::print("{} is valid\n", what);
    return;
  }
  const bool all = problems.size() < options.max_problems;
  fmt::print("{} has {}{}:\n", what, all ? "" : "at least ", count_of(problems.size(), "problem"));
  for (const MeshProblem& problem : problems) fmt::print("  {}\n", problem.message);
}

void print_surface(const TriMesh& mesh) {
  fmt::print("surface   {}, {}{}{}\n", count_of(mesh.vertices.size(), "vertex", "vertices"),
             count_of(mesh.faces.size(), "face"), mesh.normals.empty() ? "" : ", normals",
             mesh.uvs.empty() ? "" : ", uvs");
  fmt::print("extent    {}\n", extent_text(mesh.bounds()));
  const bool closed = validate(mesh, {.require_closed = true, .max_problems = 1}).empty();
  fmt::print("closed    {}\n", closed ? fmt::format("yes, volume {:.6g} m³", enclosed_volume(mesh)) : "no");
  print_problems("the surface", mesh);
}

void print_solid(const TetMesh& mesh) {
  fmt::print("solid     {}, {}\n", count_of(mesh.nodes.size(), "node"), count_of(mesh.tets.size(), "tet"));
  fmt::print("extent    {}\nvolume    {:.6g} m³\n", extent_text(mesh.bounds()), mesh.volume());
  for (const auto& [name, nodes] : mesh.node_sets)
    fmt::print("set       {}: {}\n", name, count_of(nodes.size(), "node"));
  print_problems("the solid", mesh);
}

int info(const std::string& file) {
  const Result<MeshFile> mesh = load_mesh(file);
  if (!mesh) return report_error(mesh.error()), kExitError;
  if (!mesh->surface.faces.empty()) print_surface(mesh->surface);
  if (!mesh->solid.tets.empty()) print_solid(mesh->solid);
  if (mesh->surface.faces.empty() && mesh->solid.tets.empty()) {
    return report_error(fmt::format("{}: holds neither triangles nor tetrahedra", file)), kExitError;
  }
  return kExitOk;
}

/// Formats that hold tetrahedra.
bool holds_solids(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".msh" || ending == ".vtk" || ending == ".vtu" || ending == ".node" || ending == ".ele";
}

int convert(const ConvertOptions& options) {
  Result<MeshFile> mesh = load_mesh(options.in);
  if (!mesh) return report_error(mesh.error()), kExitError;
  const SaveMeshOptions save{.binary = !options.ascii, .gmsh_version = options.gmsh_version};
  const bool solid = !mesh->solid.tets.empty() && holds_solids(options.out);
  if (!solid && mesh->surface.faces.empty()) mesh->surface = extract_surface(mesh->solid);
  if (!solid && mesh->surface.faces.empty()) {
    return report_error(fmt::format("{}: holds neither triangles nor tetrahedra", options.in)), kExitError;
  }
  const Status saved = solid ? save_mesh(options.out, mesh->solid, save) : save_mesh(options.out, mesh->surface, save);
  if (!saved.ok()) return report_error(saved.error()), kExitError;
  if (solid) {
    print_problems("the solid", mesh->solid);
    fmt::print("{}: {}\n", options.out, count_of(mesh->solid.tets.size(), "tet"));
  } else {
    print_problems("the surface", mesh->surface);
    fmt::print("{}: {}\n", options.out, count_of(mesh->surface.faces.size(), "face"));
  }
  return kExitOk;
}

}  // namespace

void add_mesh_command(CLI::App& app, int& exit_code) {
  CLI::App* mesh = app.add_subcommand("mesh", "Inspect and convert meshes");
  mesh->require_subcommand(1);

  auto file = std::make_shared<std::string>();
  CLI::App* info_command = mesh->add_subcommand("info", "Say what is in a mesh file and whether it is valid");
  info_command->add_option("file", *file, ".obj, .gltf, .glb, .stl, .msh, .vtk, .vtu, .node or .ele")->required();
  info_command->callback([file, &exit_code] { exit_code = info(*file); });

  auto options = std::make_shared<ConvertOptions>();
  CLI::App* convert_command = mesh->add_subcommand("convert", "Write a mesh in another format; the endings choose");
  convert_command->add_option("in", options->in, "The file to read")->required();
  convert_command->add_option("out", options->out, "The file to write")->required();
  convert_command->add_flag("--ascii", options->ascii, "Text where the format has a choice");
  convert_command->add_option("--gmsh-version", options->gmsh_version, "Version of a .msh file")
      ->check(CLI::IsMember({2.2, 4.1}));
  convert_command->callback([options, &exit_code] { exit_code = convert(*options); });
}

}  // namespace pliant::app
