// pliant mesh atlas IN --out OUT
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "geometry/layer_core.h"
#include "pliant/atlas.h"
#include "pliant/mesh_io.h"
#include "pliant/texture_io.h"

#include "commands.h"
#include "interrupt.h"
#include "number_check.h"
#include "output.h"

namespace pliant::app {
namespace {

namespace fs = std::filesystem;

struct AtlasCommand {
  std::string in, out, picture, charts = "given";
  AtlasOptions options;
  float thickness = 0;
};

/// Colours that differ from each other however many there are: equal steps of the golden ratio around the circle.
Vec3 chart_color(std::uint32_t chart) {
  const double hue = 6 * std::fmod(0.61803398875 * chart + 0.08, 1.0), light = chart % 3 == 1 ? 0.75 : 0.95;
  const auto channel = [&](double shift) {
    const double k = std::fmod(hue + shift, 6.0);
    return static_cast<float>(light * (1 - 0.55 * std::clamp(std::min(k, 4 - k), 0.0, 1.0)));
  };
  return {channel(5), channel(3), channel(1)};
}

/// The charts in their colours, with the edges of the triangles.
VectorTexture picture_of(const AtlasLayout& layout, int resolution) {
  const int side = std::clamp(4 * resolution, 512, 2048);
  const TexelMap map = make_texel_map(layout, side, 1);
  VectorTexture picture{side, side, {}};
  for (const AtlasTexel& texel : map.texels) {
    Vec3 color{0.12f, 0.12f, 0.13f};
    if (texel.is_inside) {
      color = chart_color(layout.charts[texel.face]);
      if (std::min({texel.b, texel.c, 1 - texel.b - texel.c}) < 0.06f) color *= 0.6f;
    } else if (texel.face != kNoFace) {
      color = {0, 0, 0};
    }
    picture.values.push_back(color);
  }
  return picture;
}

void print_report(const AtlasReport& r) {
  const char* how = !r.uses_given_uvs  ? "automatic"
                    : r.is_packed_anew ? "the mesh's own, packed anew"
                                       : "the mesh's own";
  fmt::print("nodes     {}, {}, {:.4g} m apart\n", r.nodes, count_of(r.faces, "face"), r.spacing);
  fmt::print("charts    {}, {}\n", r.charts, how);
  fmt::print("texels    {:.4g} m on average, {:.0f} % covered, {:.2g} % more than once\n", r.texel, 100 * r.coverage,
             100 * r.overlap);
  fmt::print("stretch   {:.3f} root mean square, {:.2f} at most\n", r.stretch, r.max_stretch);
  fmt::print("distance  {:.3g} m from the mesh at most\n", r.distance);
  for (const std::string& note : r.notes) fmt::print("note      {}\n", note);
}

/// How a layer would fit under the surface.
void print_layer(const TriMesh& surface, float thickness, const LayerCore& core) {
  fmt::print("layer     {}, the smallest of {:.3g} m³; {:.4g} m thick, but thinner under {} ({:.3g} % at least)\n",
             count_of(3 * surface.faces.size(), "tet"), core.smallest_volume, thickness, count_of(core.thinned, "node"),
             100 * core.thinnest);
}

/// Files of these endings hold texture coordinates.
Status check_ending(const std::string& out) {
  std::string ending = fs::path(out).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* good : {".obj", ".gltf", ".glb", ".vtk", ".vtu"}) {
    if (ending == good) return {};
  }
  return Error{
      .message = fmt::format("`{}` files hold no texture coordinates: choose .obj, .gltf, .glb, .vtk or .vtu", ending),
      .file = out,
      .field = "--out"};
}

int make(const AtlasCommand& command) {
  if (const Status s = check_ending(command.out); !s.ok()) return report_error(s.error()), kExitError;
  end_at_interrupts();
  Result<MeshFile> mesh = load_mesh(command.in);
  if (!mesh) return report_error(mesh.error()), kExitError;
  if (mesh->surface.faces.empty()) mesh->surface = extract_surface(mesh->solid);
  AtlasOptions options = command.options;
  options.charts = command.charts == "given" ? AtlasOptions::Charts::Given : AtlasOptions::Charts::Automatic;
  AtlasReport report;
  const Result<Atlas> atlas = make_atlas(mesh->surface, options, &report);
  if (!atlas) {
    Error error = atlas.error();
    error.file = command.in;
    return report_error(error), kExitError;
  }
  const Vec3 sides = atlas->surface.bounds().size();
  const float thickness = command.thickness > 0 ? command.thickness : 0.1f * std::min({sides.x, sides.y, sides.z});
  const Result<LayerCore> core = make_layer_core(atlas->surface, {&thickness, 1});
  if (!core) return report_error(core.error()), kExitError;
  watch_for_interrupts();
  if (const Status s = save_mesh(command.out, cut_open(*atlas)); !s.ok()) return report_error(s.error()), kExitError;
  const fs::path picture =
      command.picture.empty() ? fs::path(command.out).replace_extension(".png") : fs::path(command.picture);
  if (const Status s = save_texture(picture, picture_of(atlas->layout, options.resolution)); !s.ok()) {
    return report_error(s.error()), kExitError;
  }
  print_report(report);
  print_layer(atlas->surface, thickness, *core);
  fmt::print("{}: {}\n{}: the charts\n", command.out, count_of(report.faces, "face"), picture.string());
  return kExitOk;
}

}  // namespace

void add_atlas_command(CLI::App* mesh, int& exit_code) {
  auto command = std::make_shared<AtlasCommand>();
  CLI::App* app = mesh->add_subcommand("atlas", "Lay out a closed surface in a texture, for layered bodies");
  app->add_option("in", command->in, ".obj, .gltf, .glb, .stl, .msh, .vtk or .vtu")->required();
  app->add_option("--out", command->out, ".obj, .gltf, .glb, .vtk or .vtu: even triangles with texture coordinates")
      ->required();
  app->add_option("--resolution", command->options.resolution, "Texels along a side of the texture; 128 if left out")
      ->check(CLI::Range(8, 4096));
  app->add_option("--charts", command->charts,
                  "`given`: the mesh's own texture coordinates if it has usable ones; or always `automatic`")
      ->check(CLI::IsMember({"given", "automatic"}));
  app->add_option("--crease-angle", command->options.crease_angle,
                  "Edges bent by more degrees than this are kept; 40 if left out")
      ->check(number_between(1, 180));
  app->add_flag("--fill", command->options.fill,
                "Fill a mesh that is open, or has edges of more than two faces, by a lattice, and take the surface of "
                "that");
  app->add_option("--thickness", command->thickness,
                  "Of the layer to try, in metres; a tenth of the shortest side if left out")
      ->check(positive_number());
  app->add_option("--picture", command->picture, "The picture of the charts; OUT with the ending .png if left out");
  app->add_option("--threads", command->options.threads, "Threads; as many as the machine has if left out")
      ->check(CLI::Range(1, 1024));
  app->callback([command, &exit_code] { exit_code = make(*command); });
}

}  // namespace pliant::app
