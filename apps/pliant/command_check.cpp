// pliant check SCENE
#include <memory>
#include <string>

#include <fmt/format.h>

#include "pliant/scene.h"

#include "commands.h"
#include "gallery.h"
#include "interrupt.h"
#include "output.h"

namespace pliant::app {
namespace {

/// What would be simulated.
struct Summary {
  /// Bodies of one kind that has nodes.
  struct Deforming {
    const char* kind;
    const char* elements;  ///< what they are made of beside nodes; null for nothing
    std::size_t bodies = 0, nodes = 0, count = 0;
  };
  std::size_t dynamic = 0, kinematic = 0, still = 0;
  Deforming solids{"solids", "tets"}, cloths{"cloths", "triangles"}, ropes{"ropes", nullptr},
      jellies{"jellies", "tets"}, layered{"layered", "tets"};
  double mass = 0;  ///< kg
  Aabb extent;      ///< of all but endless ground
};

void add_nodes(const World& world, BodyId body, Summary& summary) {
  const auto add = [&](Summary::Deforming& kind, std::size_t count) {
    ++kind.bodies;
    kind.nodes += world.node_positions(body)->size();
    kind.count += count;
  };
  if (const Result<const SolidDef*> solid = world.solid_def(body))
    return add(summary.solids, (*solid)->mesh.tets.size());
  if (const Result<const LayeredDef*> def = world.layered_def(body))
    return add(summary.layered, 3 * (*def)->atlas.surface.faces.size());
  const ParticleDef& def = **world.particle_def(body);
  if (std::holds_alternative<ClothDef>(def)) add(summary.cloths, world.surface_faces(body)->size());
  if (std::holds_alternative<RopeDef>(def)) add(summary.ropes, 0);
  if (const auto* jelly = std::get_if<JellyDef>(&def)) add(summary.jellies, jelly->mesh.tets.size());
}

void print_deforming(const Summary::Deforming& kind) {
  if (kind.bodies == 0) return;
  const std::string more = kind.elements ? fmt::format(", {} {}", kind.count, kind.elements) : "";
  fmt::print("{:<9} {} ({} nodes{})\n", kind.kind, kind.bodies, kind.nodes, more);
}

Summary summarize(const World& world) {
  Summary summary;
  for (const BodyId body : world.bodies()) {
    const BodyState state = *world.state(body);
    summary.mass += double{state.mass};
    if (world.kind(body) != BodyKind::Rigid) {
      add_nodes(world, body, summary);
      ++summary.dynamic;
      summary.extent.include(state.bounds);
      continue;
    }
    const RigidDef& def = **world.def(body);
    if (!std::holds_alternative<Plane>(def.shape)) summary.extent.include(state.bounds);
    (def.motion == Motion::Dynamic     ? summary.dynamic
     : def.motion == Motion::Kinematic ? summary.kinematic
                                       : summary.still)++;
  }
  return summary;
}

void print_summary(const Scene& scene, const World& world) {
  const Summary s = summarize(world);
  if (!scene.title.empty()) fmt::print("{}\n", scene.title);
  if (!scene.description.empty()) fmt::print("{}\n", scene.description);
  fmt::print("bodies    {} ({} dynamic, {} kinematic, {} static)\n", scene.bodies.size(), s.dynamic, s.kinematic,
             s.still);
  for (const Summary::Deforming& kind : {s.solids, s.cloths, s.ropes, s.jellies, s.layered}) print_deforming(kind);
  fmt::print("joints    {}\n", scene.joints.size());
  if (!scene.anchors.empty()) fmt::print("anchors   {}\n", scene.anchors.size());
  fmt::print("motions   {}\n", scene.motions.size());
  fmt::print("events    {}\n", scene.events.size());
  fmt::print("mass      {:.6g} kg\n", s.mass);
  fmt::print("extent    {}\n", extent_text(s.extent));
  fmt::print("duration  {:.4g} s ({} of {:.4g} ms)\n", scene.frames * double{scene.world.dt},
             count_of(static_cast<std::size_t>(scene.frames), "frame"), 1e3 * double{scene.world.dt});
  for (const std::string& file : scene.files) fmt::print("file      {}\n", file);
}

int check(const std::string& typed) {
  const Result<std::filesystem::path> file = find_scene(typed);
  if (!file) return report_error(file.error()), kExitError;
  end_at_interrupts();
  SceneErrors errors;
  const Result<Scene> scene = load_scene(*file, &errors);
  if (!scene) return report_errors(errors), kExitError;
  // The world has the last word on what it can simulate.
  const Result<ScenePlayer> player = ScenePlayer::create(*scene);
  if (!player) return report_error(player.error()), kExitError;
  print_summary(*scene, player->world());
  return kExitOk;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  auto scene = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("check", "Check a scene and say what would be simulated");
  command->add_option("scene", *scene, "A scene file, or the name of a scene of the gallery")->required();
  command->callback([scene, &exit_code] { exit_code = check(*scene); });
}

}  // namespace pliant::app
