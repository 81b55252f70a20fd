// The scenes that come with pliant, found by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pliant/result.h"

namespace pliant::app {

struct GalleryEntry {
  std::string name;  ///< the file's name without its ending
  std::filesystem::path file;
};

/// All scenes in $PLIANT_SCENES (where that is set), in the source tree the command was built from, and in the share
/// folder of the installation, by name. Of two with the same name the first found counts.
std::vector<GalleryEntry> gallery();

/// The file for what a user typed: a path, or the name of a scene of the gallery.
Result<std::filesystem::path> find_scene(const std::string& typed);

}  // namespace pliant::app
