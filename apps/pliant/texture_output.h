// Textures of a run's layered bodies, for `pliant run --textures`.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/file.h"
#include "pliant/layered_textures.h"
#include "pliant/scene.h"

namespace pliant::app {

enum class TextureFormat { Exr, Png };

/// Writes NAME.position.FRAME.exr, NAME.normal.FRAME.exr and NAME.contact.FRAME.exr of each layered body and frame into
/// a folder, and NAME.obj with the texture coordinates. Nothing appears before `finish` succeeds.
///
/// PNG holds numbers of 0 to 1 only: `ranges.csv` then says for each file which values these stand for.
class TextureOutput {
 public:
  /// An error if no body of the scene is layered and laid out.
  static Result<TextureOutput> create(const std::filesystem::path& folder, int resolution, TextureFormat format,
                                      const ScenePlayer& player);

  /// After every frame, and with 0 before the first.
  Status add_frame(const ScenePlayer& player, int frame);
  Status finish();

 private:
  struct Entry {
    std::string name;
    LayeredTextures textures;
  };
  TextureOutput(AtomicFolder folder, TextureFormat format) : folder_(std::move(folder)), format_(format) {}
  Status write(const Entry& entry, const char* what, const VectorTexture& texture, int frame);
  /// The texture with what it holds brought to 0 to 1, and a line of `ranges_` for it.
  VectorTexture in_range(const std::string& name, const VectorTexture& texture, const TexelMap& map);
  Status write_file(const std::string& name, const std::string& bytes);
  Status write_mesh(const std::string& name, const Atlas& atlas);

  AtomicFolder folder_;
  TextureFormat format_;
  std::string ranges_ = "file,low_x,low_y,low_z,high_x,high_y,high_z\n";
  std::vector<Entry> bodies_;
};

}  // namespace pliant::app
