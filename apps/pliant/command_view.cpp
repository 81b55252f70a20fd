// pliant view [SCENE]
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "gallery.h"
#include "interrupt.h"
#include "output.h"
#include "picture_size.h"
#include "view/viewer.h"

namespace pliant::app {
namespace {

struct Options {
  std::string scene, size = "1280x720", output = ".", log;
  ViewerOptions viewer;
};

int view(Options options) {
  watch_for_interrupts();
  for (const GalleryEntry& entry : gallery()) options.viewer.gallery.push_back({entry.name, entry.file});
  const bool needs_scene = options.viewer.material.empty();
  if (needs_scene && options.scene.empty() && options.viewer.gallery.empty()) {
    return report_error("there are no scenes; name a file, or set PLIANT_SCENES to a folder that has some"), kExitError;
  }
  if (needs_scene) {
    if (options.scene.empty()) options.scene = options.viewer.gallery.front().name;
    const Result<std::filesystem::path> file = find_scene(options.scene);
    if (!file) return report_error(file.error()), kExitError;
    options.viewer.scene = *file;
  }

  const PictureSize size = parse_size(options.size).value_or(PictureSize{1280, 720});
  options.viewer.width = size.width, options.viewer.height = size.height;
  options.viewer.output = options.output;
  options.viewer.log = options.log;
  options.viewer.stop = interrupted;
  SceneErrors errors;
  const Status ended = run_viewer(options.viewer, errors);
  if (!errors.empty()) return report_errors(errors), kExitError;
  if (!ended.ok()) return report_error(ended.error()), kExitError;
  return interrupted() ? kExitInterrupted : kExitOk;
}

}  // namespace

void add_view_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("view", "Show a scene in a window and play with it");
  CLI::Option* scene = command->add_option(
      "scene", options->scene, "A scene file, or the name of a scene of the gallery; the gallery's first if left out");
  command
      ->add_option("--material", options->viewer.material,
                   "Instead of a scene: try out a material of the library on a panel at which balls are thrown")
      ->excludes(scene);
  command->add_option("--size", options->size, "Of the window; 1280x720 if left out")->check(check_size);
  command->add_option("--threads", options->viewer.threads, "Threads; as many as the machine has if left out")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--paused", options->viewer.paused, "Wait at the start");
  command
      ->add_option("--quality", options->viewer.quality,
                   "full or light; auto (the default) draws as well as the machine can without making you wait")
      ->check(CLI::IsMember({"auto", "full", "light"}));
  command->add_option("--output", options->output,
                      "Folder for screenshots and recordings; the current one if left out");
  command->add_option("--log", options->log, "Write the window's state to this file, in lines of JSON");
  command->callback([options, &exit_code] { exit_code = view(*options); });
}

}  // namespace pliant::app
