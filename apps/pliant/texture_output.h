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

/// Writes NAME.position.FRAME.exr, NAME.normal.FRAME.exr and NAME.contact.FRAME.exr of each layered body and frame into
/// a folder, and NAME.obj with the texture coordinates. Nothing appears before `finish` succeeds.
class TextureOutput {
 public:
  /// An error if no body of the scene is layered and laid out.
  static Result<TextureOutput> create(const std::filesystem::path& folder, int resolution, const ScenePlayer& player);

  /// After every frame, and with 0 before the first.
  Status add_frame(const ScenePlayer& player, int frame);
  Status finish() { return folder_.commit(); }

 private:
  explicit TextureOutput(AtomicFolder folder) : folder_(std::move(folder)) {}
  Status write(const std::string& name, const VectorTexture& texture);
  Status write_mesh(const std::string& name, const Atlas& atlas);

  struct Entry {
    std::string name;
    LayeredTextures textures;
  };
  AtomicFolder folder_;
  std::vector<Entry> bodies_;
};

}  // namespace pliant::app
