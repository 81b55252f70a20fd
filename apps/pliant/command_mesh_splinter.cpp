// pliant mesh splinter IN --kind KIND --out OUT
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "io/glb_writer.h"
#include "pliant/mesh_io.h"
#include "pliant/splinters.h"

#include "commands.h"
#include "interrupt.h"
#include "number_check.h"
#include "output.h"

namespace pliant::app {
namespace {

struct SplinterCommand {
  std::string in, out, kind = "wood";
  std::optional<float> size, length;
  std::array<float, 3> grain{0, 1, 0};
  std::uint32_t seed = 1;

  SplinterDef def() const {
    SplinterDef out_def{.seed = seed};
    if (kind == "wood") {
      WoodSplinters wood{.grain = {grain[0], grain[1], grain[2]}};
      wood.width = size.value_or(wood.width);
      wood.length = length.value_or(10 * wood.width);
      out_def.pattern = wood;
    } else if (kind == "brick") {
      BrickSplinters brick;
      if (length) brick.size *= *length / brick.size.x, brick.joint *= *length / BrickSplinters{}.size.x;
      out_def.pattern = brick;
    } else if (kind == "glass") {
      GlassSplinters glass;
      glass.size = size.value_or(glass.size);
      out_def.pattern = glass;
    } else {
      GrainSplinters grains;
      grains.size = size.value_or(grains.size);
      out_def.pattern = grains;
    }
    return out_def;
  }
};

/// One node for each splinter, so that a modelling program shows them as objects.
Status save(const std::string& file, const Splinters& splinters) {
  Result<GlbWriter> glb = GlbWriter::create(file);
  if (!glb) return glb.error();
  for (std::size_t i = 0; i < splinters.size(); ++i) {
    const Vec3 color = splinters.colors[i];
    const int material = glb->add_material({.base_color = {color.x, color.y, color.z, 1}});
    const int mesh = glb->add_mesh({.primitives = {glb->add_primitive(splinter_surface(splinters, i), material)}});
    glb->add_node({.name = fmt::format("splinter_{}", i), .mesh = mesh});
  }
  return glb->finish();
}

int splinter(const SplinterCommand& command) {
  end_at_interrupts();
  const Result<MeshFile> mesh = load_mesh(command.in);
  if (!mesh) return report_error(mesh.error()), kExitError;
  if (mesh->solid.tets.empty()) {
    return report_error(fmt::format("{}: holds no tets: fill it with `pliant mesh tetrahedralize` first", command.in)),
           kExitError;
  }
  const Result<Splinters> made = make_splinters(mesh->solid, command.def());
  if (!made) {
    Error error = made.error();
    error.file = command.in;
    return report_error(error), kExitError;
  }
  watch_for_interrupts();
  if (const Status saved = save(command.out, *made); !saved.ok()) return report_error(saved.error()), kExitError;
  fmt::print("{}: {}, {}\n", command.out, count_of(made->size(), "splinter"),
             count_of(made->mesh.faces.size(), "face"));
  return kExitOk;
}

}  // namespace

void add_splinter_command(CLI::App* mesh, int& exit_code) {
  auto command = std::make_shared<SplinterCommand>();
  CLI::App* app = mesh->add_subcommand("splinter", "Cut a solid into splinters, each an object of a glTF file");
  app->add_option("in", command->in, "A file of tets: .msh, .vtk, .vtu, .node or .ele")->required();
  app->add_option("--out", command->out, ".glb or .gltf")->required();
  app->add_option("--kind", command->kind, "wood, brick, glass or grain")
      ->check(CLI::IsMember({"wood", "brick", "glass", "grain"}));
  app->add_option("--size", command->size, "Of a shard or a grain, or the width of a fibre, in metres")
      ->check(positive_number());
  app->add_option("--length", command->length, "Of a fibre or a brick, in metres")->check(positive_number());
  app->add_option("--grain", command->grain, "The direction of wood: three numbers")->check(finite_number());
  app->add_option("--seed", command->seed, "Of the choices");
  app->callback([command, &exit_code] { exit_code = splinter(*command); });
}

}  // namespace pliant::app
