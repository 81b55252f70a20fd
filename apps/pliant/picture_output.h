// Pictures and videos of a run: `--image`, `--video`, `--gif` and how they look.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Option.hpp>

#include "pliant/result.h"
#include "pliant/scene.h"

namespace pliant::app {

struct PictureOptions {
  std::string video, image, gif;   ///< files to write; empty: none
  std::optional<int> image_frame;  ///< 0 is the start; left out: the last
  std::string size = "1280x720";
  std::string color = "none", camera = "scene";
  std::optional<double> fps;
  bool wireframe = false;

  bool any() const { return !video.empty() || !image.empty() || !gif.empty(); }
};

/// Adds the options to a command. A build without the renderer has none of them.
void add_picture_options(CLI::App& command, PictureOptions& options);

/// Looks on while a scene is simulated. Nothing appears under the files' names before `finish` succeeds.
class PictureOutput {
 public:
  /// Opens all files and the renderer, so that what cannot work is told before the first step.
  static Result<PictureOutput> create(const PictureOptions& options, const Scene& scene);
  PictureOutput(PictureOutput&&) noexcept;
  ~PictureOutput();

  /// After every frame, and with 0 before the first.
  Status add_frame(const ScenePlayer& player, int frame);
  Status finish();

  /// What was made and where it lies.
  std::vector<std::pair<std::string, std::filesystem::path>> paths() const;
  /// Things that the user should know before the run, such as a missing ffmpeg.
  std::vector<std::string> notices() const;

 private:
  struct Impl;
  explicit PictureOutput(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pliant::app
