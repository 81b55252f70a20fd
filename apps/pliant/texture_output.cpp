#include "texture_output.h"

#include <cctype>
#include <set>

#include <fmt/format.h>

#include "io/mesh_format.h"
#include "io/texture_format.h"

#include "output.h"

namespace pliant::app {
namespace {

/// A name that can be a file's: others' letters become underscores, and names that are taken get a number.
std::string file_name(std::string_view name, std::size_t index, std::set<std::string>& taken) {
  std::string out;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
    out.push_back(plain ? c : '_');
  }
  if (out.empty()) out = fmt::format("body{}", index);
  if (!taken.insert(out).second) out += fmt::format("_{}", index), taken.insert(out);
  return out;
}

}  // namespace

Result<TextureOutput> TextureOutput::create(const std::filesystem::path& folder, int resolution, TextureFormat format,
                                            const ScenePlayer& player) {
  const World& world = player.world();
  Result<AtomicFolder> made = AtomicFolder::create(folder);
  if (!made) return made.error();
  TextureOutput out(std::move(*made), format);
  std::set<std::string> taken;
  std::string left_out;
  for (const BodyId body : world.bodies()) {
    if (world.kind(body) != BodyKind::Layered) continue;
    Result<LayeredTextures> textures = LayeredTextures::create(world, body, resolution);
    if (!textures) {
      left_out += fmt::format("{}`{}`", left_out.empty() ? "" : ", ", world.name(body));
      continue;
    }
    const std::string name = file_name(world.name(body), body.index, taken);
    if (Status s = out.write_mesh(name, (*world.layered_def(body))->atlas); !s.ok()) return s.error();
    out.bodies_.push_back({name, std::move(*textures)});
  }
  if (!left_out.empty()) {
    left_out += ": no texture coordinates; give the `surface` a `resolution`, or one of the built-in forms";
  }
  if (out.bodies_.empty()) {
    return Error{.message = left_out.empty() ? "no body of the scene is layered" : left_out, .field = "--textures"};
  }
  if (!left_out.empty()) report_warning("--textures: left out " + left_out);
  return out;
}

Status TextureOutput::write_mesh(const std::string& name, const Atlas& atlas) {
  Result<OutputFile> file = folder_.create_file(name + ".obj");
  if (!file) return file.error();
  write_obj(*file, cut_open(atlas));
  return folder_.close_file(*file);
}

VectorTexture TextureOutput::in_range(const std::string& name, const VectorTexture& texture, const TexelMap& map) {
  Aabb box;
  for (std::size_t i = 0; i < texture.values.size(); ++i) {
    if (map.texels[i].face != kNoFace) box.include(texture.values[i]);
  }
  // What is the same everywhere has no range; what shows nothing is black.
  const Vec3 low = box.lower, size = max_each(box.size(), Vec3{1e-30f, 1e-30f, 1e-30f});
  VectorTexture out = texture;
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const Vec3 v = out.values[i] - low;
    out.values[i] = map.texels[i].face != kNoFace ? Vec3{v.x / size.x, v.y / size.y, v.z / size.z} : Vec3{};
  }
  const Vec3 high = box.upper;
  ranges_ += fmt::format("{},{},{},{},{},{},{}\n", name, low.x, low.y, low.z, high.x, high.y, high.z);
  return out;
}

Status TextureOutput::write(const Entry& entry, const char* what, const VectorTexture& texture, int frame) {
  const bool is_png = format_ == TextureFormat::Png;
  const std::string name = fmt::format("{}.{}.{:05}.{}", entry.name, what, frame, is_png ? "png" : "exr");
  const VectorTexture scaled = is_png ? in_range(name, texture, entry.textures.map()) : VectorTexture{};
  const Result<std::string> bytes = encode_texture(name, view_of(is_png ? scaled : texture));
  if (!bytes) return bytes.error();
  return write_file(name, *bytes);
}

Status TextureOutput::write_file(const std::string& name, const std::string& bytes) {
  Result<OutputFile> file = folder_.create_file(name);
  if (!file) return file.error();
  file->write(bytes);
  return folder_.close_file(*file);
}

Status TextureOutput::add_frame(const ScenePlayer& player, int frame) {
  for (Entry& entry : bodies_) {
    if (Status s = entry.textures.update(player.world()); !s.ok()) return s;
    if (Status s = write(entry, "position", entry.textures.positions(), frame); !s.ok()) return s;
    if (Status s = write(entry, "normal", entry.textures.normals(), frame); !s.ok()) return s;
    if (Status s = write(entry, "contact", entry.textures.contacts(), frame); !s.ok()) return s;
  }
  return {};
}

Status TextureOutput::finish() {
  if (format_ == TextureFormat::Png) {
    if (Status s = write_file("ranges.csv", ranges_); !s.ok()) return s;
  }
  return folder_.commit();
}

}  // namespace pliant::app
