// pliant mesh info FILE, convert IN OUT, generate MODEL --out OUT, tetrahedralize IN --out OUT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "geometry/surface_faults.h"
#include "pliant/generators.h"
#include "pliant/mesh_io.h"
#include "pliant/tetrahedralize.h"

#include "commands.h"
#include "interrupt.h"
#include "number_check.h"
#include "output.h"

namespace pliant::app {
namespace {

struct ConvertOptions {
  std::string in, out;
  bool ascii = false;
  double gmsh_version = 4.1;
};

struct TetrahedralizeCommand {
  ConvertOptions files;
  TetrahedralizeOptions options;
  bool lose_thin = false;
};

/// What is wrong with a mesh, as a list; `is_all` if no more was looked for.
void print_list(const char* what, const std::vector<std::string>& problems, bool is_all) {
  if (problems.empty()) {
    fmt::print("{} is valid\n", what);
    return;
  }
  fmt::print("{} has {}{}:\n", what, is_all ? "" : "at least ", count_of(problems.size(), "problem"));
  for (const std::string& problem : problems) fmt::print("  {}\n", problem);
}

std::vector<std::string> messages(const std::vector<MeshProblem>& problems) {
  std::vector<std::string> out;
  for (const MeshProblem& problem : problems) out.push_back(problem.message);
  return out;
}

void print_problems(const TetMesh& mesh) {
  const ValidateOptions options;
  const std::vector<MeshProblem> problems = validate(mesh, options);
  print_list("the solid", messages(problems), problems.size() < options.max_problems);
}

/// An open surface is no mistake: cloth is one.
void print_problems(const TriMesh& mesh, const SurfaceFaults& faults) {
  const ValidateOptions options;
  const std::vector<MeshProblem> found = validate(mesh, options);
  std::vector<std::string> problems = messages(found);
  if (faults.duplicate) {
    problems.push_back(
        fmt::format("{} there twice: face {} has the vertices of face {}",
                    faults.duplicates == 1 ? "a face is" : fmt::format("{} faces are", faults.duplicates),
                    faults.duplicate->second, faults.duplicate->first));
  }
  if (faults.opposed) {
    problems.push_back(fmt::format("neighbours face opposite ways at {}: faces {} and {}",
                                   count_of(faults.opposed_edges, "edge"), faults.opposed->first,
                                   faults.opposed->second));
  }
  if (faults.is_inside_out) problems.emplace_back("it is inside out: its faces look inward");
  print_list("the surface", problems, found.size() < options.max_problems);
}

std::string closed_text(const TriMesh& mesh, const SurfaceFaults& faults) {
  if (faults.has_volume()) return fmt::format("yes, volume {:.6g} m³", std::abs(enclosed_volume(mesh)));
  if (faults.is_closed()) return "yes, but which side is inside cannot be told";
  if (faults.open_edges == 0)
    return fmt::format("no, {} of more than two faces", count_of(faults.crowded_edges, "edge"));
  return fmt::format("no, {} of one face only", count_of(faults.open_edges, "edge"));
}

void print_surface(const TriMesh& mesh) {
  fmt::print("surface   {}, {}{}{}\n", count_of(mesh.vertices.size(), "vertex", "vertices"),
             count_of(mesh.faces.size(), "face"), mesh.normals.empty() ? "" : ", normals",
             mesh.uvs.empty() ? "" : ", uvs");
  fmt::print("extent    {}\n", extent_text(mesh.bounds()));
  const SurfaceFaults faults = find_surface_faults(mesh);
  fmt::print("closed    {}\n", closed_text(mesh, faults));
  print_problems(mesh, faults);
}

void print_solid(const TetMesh& mesh) {
  fmt::print("solid     {}, {}\n", count_of(mesh.nodes.size(), "node"), count_of(mesh.tets.size(), "tet"));
  fmt::print("extent    {}\nvolume    {:.6g} m³\n", extent_text(mesh.bounds()), mesh.volume());
  for (const auto& [name, nodes] : mesh.node_sets)
    fmt::print("set       {}: {}\n", name, count_of(nodes.size(), "node"));
  print_problems(mesh);
}

int info(const std::string& file) {
  end_at_interrupts();
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
  end_at_interrupts();
  Result<MeshFile> mesh = load_mesh(options.in);
  if (!mesh) return report_error(mesh.error()), kExitError;
  const SaveMeshOptions save{.binary = !options.ascii, .gmsh_version = options.gmsh_version};
  const bool solid = !mesh->solid.tets.empty() && holds_solids(options.out);
  if (!solid && mesh->surface.faces.empty()) mesh->surface = extract_surface(mesh->solid);
  if (!solid && mesh->surface.faces.empty()) {
    return report_error(fmt::format("{}: holds neither triangles nor tetrahedra", options.in)), kExitError;
  }
  watch_for_interrupts();  // from here a file may be half-written
  const Status saved = solid ? save_mesh(options.out, mesh->solid, save) : save_mesh(options.out, mesh->surface, save);
  if (!saved.ok()) return report_error(saved.error()), kExitError;
  if (solid) {
    print_problems(mesh->solid);
    fmt::print("{}: {}\n", options.out, count_of(mesh->solid.tets.size(), "tet"));
  } else {
    print_problems(mesh->surface, find_surface_faults(mesh->surface));
    fmt::print("{}: {}\n", options.out, count_of(mesh->surface.faces.size(), "face"));
  }
  return kExitOk;
}

/// Models that people can start from without having any of their own.
const std::map<std::string, TriMesh (*)()>& models() {
  static const std::map<std::string, TriMesh (*)()> list{
      {"duck", [] { return tri_duck(1, 0.03f); }}, {"gear", [] { return tri_gear(); }},
      {"head", [] { return tri_head(1, 0.02f); }}, {"pumpkin", [] { return tri_pumpkin(); }},
      {"teapot", [] { return tri_teapot(1); }},    {"tire", [] { return tri_tire(); }}};
  return list;
}

int generate(const std::string& model, float size, const std::string& out) {
  end_at_interrupts();
  TriMesh mesh = models().at(model)();
  const Vec3 sides = mesh.bounds().size();
  const float scale = size / std::max({sides.x, sides.y, sides.z});
  for (Vec3& v : mesh.vertices) v *= scale;
  watch_for_interrupts();
  const Status saved = save_mesh(out, mesh);
  if (!saved.ok()) return report_error(saved.error()), kExitError;
  fmt::print("{}: {}\n", out, count_of(mesh.faces.size(), "face"));
  return kExitOk;
}

/// The share done, on stderr, for work that takes longer than a moment: in place on a terminal, in lines elsewhere.
class ShareDone {
 public:
  ~ShareDone() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
  }
  void operator()(float share) {
    const double now = watch_.ms();
    if (now < next_ms_ || share >= 1) return;
    next_ms_ = now + (is_terminal_ ? 100 : 5000);
    fmt::print(stderr, "{}{:.0f} %{}", is_terminal_ ? "\r\033[K" : "", 100 * share, is_terminal_ ? "" : "\n");
    std::fflush(stderr);
    drawn_ = is_terminal_;
  }

 private:
  Stopwatch watch_;
  bool is_terminal_ = isatty(STDERR_FILENO), drawn_ = false;
  double next_ms_ = is_terminal_ ? 500 : 5000;
};

void print_report(const TetrahedralizeReport& r) {
  const auto distance = [](const SurfaceDistance& d) {
    return fmt::format("{:.3g} m rms, {:.3g} m at most", d.rms, d.max);
  };
  fmt::print("cell      {:.6g} m\n", r.cell);
  fmt::print("solid     {}, {}, {}\n", count_of(r.nodes, "node"), count_of(r.tets, "tet"), count_of(r.pieces, "piece"));
  fmt::print("angles    {:.1f} to {:.1f} degrees between the faces of a tet\n", r.min_dihedral_degrees,
             r.max_dihedral_degrees);
  fmt::print("volume    {:.6g} m³, the surface encloses {:.6g} m³ ({:+.2f} %)\n", r.volume, r.surface_volume,
             100 * r.volume_error);
  fmt::print("distance  {} from the solid to the surface\n", distance(r.to_surface));
  fmt::print("          {} from the surface to the solid\n", distance(r.from_surface));
  for (const std::string& note : r.notes) fmt::print("note      {}\n", note);
}

int tetrahedralize_file(const TetrahedralizeCommand& command) {
  const auto& [in, out, ascii, gmsh_version] = command.files;
  if (!holds_solids(out)) {
    return report_error(fmt::format("{}: no format that holds tets: use .msh, .vtk, .vtu, .node or .ele", out)),
           kExitError;
  }
  end_at_interrupts();
  Result<MeshFile> mesh = load_mesh(in);
  if (!mesh) return report_error(mesh.error()), kExitError;
  if (mesh->surface.faces.empty()) mesh->surface = extract_surface(mesh->solid);
  TetrahedralizeOptions options = command.options;
  options.keep_thin = !command.lose_thin;
  TetrahedralizeReport report;
  const Result<TetMesh> solid = [&] {
    ShareDone share_done;
    options.progress = [&](float share) { share_done(share); };
    return tetrahedralize(mesh->surface, options, &report);
  }();
  if (!solid) {
    Error error = solid.error();
    error.file = in;
    return report_error(error), kExitError;
  }
  watch_for_interrupts();
  const Status saved = save_mesh(out, *solid, {.binary = !ascii, .gmsh_version = gmsh_version});
  if (!saved.ok()) return report_error(saved.error()), kExitError;
  print_report(report);
  fmt::print("{}: {}\n", out, count_of(solid->tets.size(), "tet"));
  return kExitOk;
}

/// How files are written, where the format has a choice.
void add_format_options(CLI::App* command, ConvertOptions& options) {
  command->add_flag("--ascii", options.ascii, "Text where the format has a choice");
  command->add_option("--gmsh-version", options.gmsh_version, "Version of a .msh file")
      ->check(CLI::IsMember({2.2, 4.1}));
}

void add_generate_command(CLI::App* mesh, int& exit_code) {
  struct Arguments {
    std::string model, out;
    float size = 1;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app = mesh->add_subcommand("generate", "Write one of pliant's own models");
  app->add_option("model", arguments->model, "Which")->required()->check(CLI::IsMember(models()));
  app->add_option("--out", arguments->out, "The file to write")->required();
  app->add_option("--size", arguments->size, "Its longest side in metres")->check(positive_number());
  app->callback([arguments, &exit_code] { exit_code = generate(arguments->model, arguments->size, arguments->out); });
}

void add_tetrahedralize_command(CLI::App* mesh, int& exit_code) {
  auto command = std::make_shared<TetrahedralizeCommand>();
  CLI::App* app =
      mesh->add_subcommand("tetrahedralize", "Fill a surface with tets; holes and flipped faces are mended");
  app->add_option("in", command->files.in, ".obj, .gltf, .glb, .stl, .msh, .vtk or .vtu")->required();
  app->add_option("--out", command->files.out, ".msh, .vtk, .vtu, .node or .ele")->required();
  app->add_option("--cell", command->options.cell,
                  "Edge of the lattice in metres; a 20th of the longest side if left out")
      ->check(positive_number());
  app->add_flag("--optimize", command->options.optimize, "Move nodes for better angles (the default)");
  app->add_flag_callback(
      "--no-optimize", [command] { command->options.optimize = false; }, "Leave nodes where they are");
  app->add_flag("--lose-thin", command->lose_thin, "Leave out parts thinner than a cell, rather than thicken them");
  app->add_option("--threads", command->options.threads, "Threads; as many as the machine has if left out")
      ->check(CLI::Range(1, 1024));
  add_format_options(app, command->files);
  app->callback([command, &exit_code] { exit_code = tetrahedralize_file(*command); });
}

}  // namespace

void add_mesh_command(CLI::App& app, int& exit_code) {
  CLI::App* mesh = app.add_subcommand("mesh", "Inspect, convert, make, fill and lay out meshes");
  mesh->require_subcommand(1);

  auto file = std::make_shared<std::string>();
  CLI::App* info_command = mesh->add_subcommand("info", "Say what is in a mesh file and whether it is valid");
  info_command->add_option("file", *file, ".obj, .gltf, .glb, .stl, .msh, .vtk, .vtu, .node or .ele")->required();
  info_command->callback([file, &exit_code] { exit_code = info(*file); });

  auto options = std::make_shared<ConvertOptions>();
  CLI::App* convert_command = mesh->add_subcommand("convert", "Write a mesh in another format; the endings choose");
  convert_command->add_option("in", options->in, "The file to read")->required();
  convert_command->add_option("out", options->out, "The file to write")->required();
  add_format_options(convert_command, *options);
  convert_command->callback([options, &exit_code] { exit_code = convert(*options); });

  add_generate_command(mesh, exit_code);
  add_tetrahedralize_command(mesh, exit_code);
  add_atlas_command(mesh, exit_code);
  add_splinter_command(mesh, exit_code);
}

}  // namespace pliant::app
