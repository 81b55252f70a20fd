// pliant scenes
#include <algorithm>

#include <fmt/format.h>

#include "pliant/scene.h"

#include "commands.h"
#include "gallery.h"
#include "output.h"

namespace pliant::app {
namespace {

int list_scenes() {
  const std::vector<GalleryEntry> entries = gallery();
  if (entries.empty()) {
    report_error("there are no scenes; set PLIANT_SCENES to a folder that has some");
    return kExitError;
  }
  std::size_t width = 0;
  for (const GalleryEntry& entry : entries) width = std::max(width, entry.name.size());
  int exit_code = kExitOk;
  for (const GalleryEntry& entry : entries) {
    const Result<Scene> scene = load_scene(entry.file);
    if (!scene) {
      report_error(scene.error());
      exit_code = kExitError;
      continue;
    }
    fmt::print("{:<{}}  {}\n", entry.name, width, scene->title.empty() ? entry.file.string() : scene->title);
  }
  return exit_code;
}

}  // namespace

void add_scenes_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("scenes", "List the gallery: the scenes that `run` knows by name");
  command->callback([&exit_code] { exit_code = list_scenes(); });
}

}  // namespace pliant::app
