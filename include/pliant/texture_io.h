// Textures from and to files: maps of thickness or stiffness, and what a layered body shows.
//
//   .png   read: grey, coloured or with a palette, 1 to 16 bits a channel; written: 16 bits a channel, values of 0 to 1
//   .exr   written: OpenEXR, 32-bit floats as they are, for positions, normals and forces
//
// A file is written whole or not at all.
#pragma once

#include <filesystem>
#include <vector>

#include "pliant/atlas.h"

namespace pliant {

/// A texture of three numbers a texel, row by row from the upper left.
struct VectorTexture {
  int width = 0, height = 0;
  std::vector<Vec3> values{};
};

/// The brightness of a PNG picture, 0 for black and 1 for white, as it is stored: no gamma is undone. Alpha is left
/// out.
Result<ScalarTexture> load_texture(const std::filesystem::path& file);

/// Errors: an ending that names no format, a texture whose size does not fit its values, a file that cannot be written.
Status save_texture(const std::filesystem::path& file, const VectorTexture& texture);
Status save_texture(const std::filesystem::path& file, const ScalarTexture& texture);

}  // namespace pliant
