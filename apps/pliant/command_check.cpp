// pliant check SCENE
#include <memory>
#include <string>

#include <fmt/format.h>

#include "pliant/scene.h"

#include "commands.h"
#include "gallery.h"
#include "output.h"

namespace pliant::app {
namespace {

/// What would be simulated.
struct Summary {
  std::size_t dynamic = 0, kinematic = 0, still = 0, solids = 0;
  std::size_t nodes = 0, tets = 0;
  double mass = 0;  ///< kg
  Aabb extent;      ///< of all but endless ground
};

Summary summarize(const World& world) {
  Summary summary;
  for (const BodyId body : world.bodies()) {
    const BodyState state = *world.state(body);
    summary.mass += double{state.mass};
    if (const Result<const SolidDef*> solid = world.solid_def(body)) {
      ++summary.solids;
      summary.nodes += (*solid)->mesh.nodes.size();
      summary.tets += (*solid)->mesh.tets.size();
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
  if (s.solids > 0) fmt::print("solids    {} ({} nodes, {} tets)\n", s.solids, s.nodes, s.tets);
  fmt::print("joints    {}\n", scene.joints.size());
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
