// What the tests of pictures share: reading them with another program's code, and telling how different two look.
#pragma once

#include <filesystem>
#include <string>

#include "render/image.h"

namespace pliant {

/// Reads a PNG by stb_image; an empty picture where it cannot.
Image read_png(const std::filesystem::path& file);

/// How different two pictures look.
struct Difference {
  double mean = 0;        ///< CIE76 colour difference over the whole picture; 2.3 is just noticeable
  double worst_tile = 0;  ///< the greatest mean over a tile of 8x8 pixels
  int x = 0, y = 0;       ///< that tile's corner

  /// Another driver's rounding stays below this; a body, a shadow or a colour that is missing does not.
  bool noticeable() const { return mean > 2.0 || worst_tile > 6.0; }
  std::string to_string() const;
};
Difference difference(const Image& a, const Image& b);

/// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// Number of files and folders in it, hidden ones too.
  std::size_t count() const;

 private:
  std::filesystem::path path_;
};

}  // namespace pliant
