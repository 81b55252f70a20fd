#include "gallery.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "io/suggest.h"

namespace pliant::app {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> scene_folders() {
  std::vector<fs::path> folders;
  if (const char* own = std::getenv("PLIANT_SCENES"); own && *own) folders.emplace_back(own);
  folders.emplace_back(PLIANT_SOURCE_SCENES);
  std::error_code error;
  // The installation may have been moved: its share folder is found from the program's own place.
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path().parent_path() / PLIANT_INSTALL_DATADIR / "pliant" / "scenes");
  return folders;
}

}  // namespace

std::vector<GalleryEntry> gallery() {
  std::vector<GalleryEntry> found;
  for (const fs::path& folder : scene_folders()) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const fs::path& file = at->path();
      const std::string name = file.stem().string();
      const bool known = std::any_of(found.begin(), found.end(), [&](const auto& e) { return e.name == name; });
      if (file.extension() == ".json" && !known) found.push_back({name, file});
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

Result<fs::path> find_scene(const std::string& typed) {
  std::error_code error;
  const bool is_path = typed.find('/') != std::string::npos || typed.ends_with(".json");
  if (is_path || fs::is_regular_file(typed, error)) return fs::path(typed);
  std::vector<std::string> names;
  for (const GalleryEntry& entry : gallery()) {
    if (entry.name == typed) return entry.file;
    names.push_back(entry.name);
  }
  return Error{Error::Code::NotFound,
               fmt::format("there is no scene `{}`{}; `pliant scenes` lists the gallery, and a path works too", typed,
                           suggestion(typed, names)),
               {},
               {}};
}

}  // namespace pliant::app
