// `pliant view`: a window in which a scene is simulated, looked at and played with.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pliant/result.h"
#include "pliant/scene.h"

namespace pliant {

struct ViewerScene {
  std::string name;
  std::filesystem::path file;
};

struct ViewerOptions {
  std::filesystem::path scene;
  std::string material{};              ///< of the library: a panel of it is shown instead of a scene
  std::vector<ViewerScene> gallery;    ///< those that can be chosen in the window
  int width = 1280, height = 720;      ///< of the window
  int threads = 0;                     ///< 0: as the scene says
  bool paused = false;                 ///< at the start
  std::string quality = "auto";        ///< or "full", "light"
  std::filesystem::path output = ".";  ///< folder for pictures and videos
  std::filesystem::path log;           ///< see docs/viewer.md; empty: none
  std::function<bool()> stop;          ///< asked once per frame; true closes the window
};

/// Returns when the window is closed. Errors: the scene's (all of them in `errors`), no display, no driver, a folder or
/// log that cannot be written.
Status run_viewer(const ViewerOptions& options, SceneErrors& errors);

}  // namespace pliant
