#include "io/glb_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/base64.h"

namespace pliant {

namespace {

using nlohmann::json;

constexpr int kUnsignedShort = 5123, kUnsignedInt = 5125, kFloat = 5126;
constexpr int kArrayBuffer = 34962, kElementArrayBuffer = 34963, kNoTarget = 0;
constexpr std::uint32_t kJsonChunk = 0x4E4F534A, kBinChunk = 0x004E4942, kGlbMagic = 0x46546C67;
constexpr std::size_t kCopyBytes = std::size_t{3}
                                   << 18;  ///< a multiple of 3, so that base64 pieces join without padding

template <typename T>
std::span<const float> as_floats(std::span<const T> values) {
  static_assert(sizeof(T) % sizeof(float) == 0);
  return {reinterpret_cast<const float*>(values.data()), values.size_bytes() / sizeof(float)};
}

bool is_unit(float squared_length) { return std::abs(squared_length - 1) < 1e-5f; }

Vec3 unit(Vec3 n) { return is_unit(length_squared(n)) ? n : normalized(n, {0, 1, 0}); }
Quat unit(Quat q) { return is_unit(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) ? q : q.normalized(); }

template <typename T>
std::vector<T> made_unit(std::span<const T> values) {
  std::vector<T> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [](const T& v) { return unit(v); });
  return result;
}

}  // namespace

struct GlbWriter::Content {
  Content(AtomicFile target_file, OutputFile data_file, bool text)
      : target(std::move(target_file)), data(std::move(data_file)), is_text(text) {}

  AtomicFile target;
  OutputFile data;  ///< the binary data, joined to the text by `finish`
  bool is_text;     ///< .gltf
  Status misuse;    ///< the first one

  json views = json::array(), accessors = json::array(), materials = json::array(), meshes = json::array(),
       nodes = json::array(), samplers = json::array(), channels = json::array(), roots = json::array();
  std::vector<std::size_t> counts;                ///< of each accessor
  std::vector<std::uint32_t> largest_index;       ///< of each accessor that holds indices
  std::vector<std::size_t> target_counts;         ///< morph targets of each mesh
  std::map<std::vector<float>, int> time_access;  ///< tracks of bodies that move all the time share their times

  void refuse(std::string message) {
    if (misuse) misuse = file_error(Error::Code::InvalidArgument, target.target(), std::move(message));
  }

  int add_view(const void* bytes, std::size_t size, int target_kind) {
    const char zeros[4] = {};
    data.write(zeros, (4 - data.size() % 4) % 4);
    json view{{"buffer", 0}, {"byteOffset", data.size()}, {"byteLength", size}};
    if (target_kind != kNoTarget) view["target"] = target_kind;
    views.push_back(std::move(view));
    data.write(bytes, size);
    return static_cast<int>(views.size() - 1);
  }

  int add_accessor(json accessor, const void* bytes, std::size_t size, std::size_t count, int target_kind,
                   std::uint32_t largest = 0) {
    accessor["bufferView"] = add_view(bytes, size, target_kind);
    accessor["count"] = count;
    accessors.push_back(std::move(accessor));
    counts.push_back(count);
    largest_index.push_back(largest);
    return static_cast<int>(accessors.size() - 1);
  }

  /// Floats in groups of `components`; `bounds` asks for the smallest and largest value of each component.
  int add_floats(std::span<const float> values, std::size_t components, const char* type, int target_kind,
                 bool bounds) {
    if (values.empty()) return -1;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]))
        return refuse(fmt::format("element {} of an array is not finite; glTF has no such number", i / components)), -1;
    json accessor{{"componentType", kFloat}, {"type", type}};
    if (bounds) {
      std::vector<float> lower(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(components));
      std::vector<float> upper = lower;
      for (std::size_t i = 0; i < values.size(); ++i) {
        lower[i % components] = std::min(lower[i % components], values[i]);
        upper[i % components] = std::max(upper[i % components], values[i]);
      }
      accessor["min"] = lower;
      accessor["max"] = upper;
    }
    return add_accessor(std::move(accessor), values.data(), values.size_bytes(), values.size() / components,
                        target_kind);
  }

  int add_times(std::span<const float> times) {
    for (std::size_t i = 0; i < times.size(); ++i)
      if (!(times[i] >= 0) || (i > 0 && !(times[i] > times[i - 1])))
        return refuse(fmt::format("key {} of a track is at {} s; times start at 0 or later and increase", i, times[i])),
               -1;
    const auto [place, is_new] = time_access.try_emplace({times.begin(), times.end()}, -1);
    if (is_new) place->second = add_floats(times, 1, "SCALAR", kNoTarget, true);
    return place->second;
  }

  void animate(int node, const char* path, std::span<const float> times, std::span<const float> values,
               std::size_t components, const char* type, GlbInterpolation how) {
    if (times.empty()) return;
    if (node < 0 || static_cast<std::size_t>(node) >= nodes.size())
      return refuse(fmt::format("a track moves node {}, which was not added", node));
    const int input = add_times(times);
    const int output = add_floats(values, components, type, kNoTarget, false);
    channels.push_back({{"sampler", samplers.size()}, {"target", {{"node", node}, {"path", path}}}});
    samplers.push_back(
        {{"input", input}, {"output", output}, {"interpolation", how == GlbInterpolation::Step ? "STEP" : "LINEAR"}});
  }

  bool has_accessor(int accessor) const {
    return accessor >= 0 && static_cast<std::size_t>(accessor) < accessors.size();
  }
  /// Adds `name` to `attributes` if there is such an accessor; it must have as many values as there are positions.
  void attribute(json& attributes, const char* name, int accessor, std::size_t vertices) {
    if (accessor == -1) return;
    if (!has_accessor(accessor) || counts[static_cast<std::size_t>(accessor)] != vertices)
      return refuse(fmt::format("{} of a mesh are not as many as its positions", name));
    attributes[name] = accessor;
  }
  json primitive(const GlbPrimitive& p);
  json document() const;
  void write_glb(const std::string& text, std::uint64_t data_bytes);
  void write_gltf(const std::string& text, std::uint64_t data_bytes);
};

json GlbWriter::Content::primitive(const GlbPrimitive& p) {
  json result{{"mode", 4}, {"attributes", json::object()}};
  if (!has_accessor(p.positions)) return refuse("a mesh has no positions"), result;
  const std::size_t vertices = counts[static_cast<std::size_t>(p.positions)];
  attribute(result["attributes"], "POSITION", p.positions, vertices);
  attribute(result["attributes"], "NORMAL", p.normals, vertices);
  attribute(result["attributes"], "TEXCOORD_0", p.uvs, vertices);
  attribute(result["attributes"], "COLOR_0", p.colors, vertices);
  if (p.indices != -1) {
    if (!has_accessor(p.indices) || largest_index[static_cast<std::size_t>(p.indices)] >= vertices)
      return refuse("a face of a mesh names a vertex that does not exist"), result;
    result["indices"] = p.indices;
  }
  if (p.material != -1) {
    if (p.material < 0 || static_cast<std::size_t>(p.material) >= materials.size())
      return refuse(fmt::format("material {} of a mesh was not added", p.material)), result;
    result["material"] = p.material;
  }
  for (const GlbMorphTarget& t : p.targets) {
    json target_attributes = json::object();
    attribute(target_attributes, "POSITION", t.positions, vertices);
    attribute(target_attributes, "NORMAL", t.normals, vertices);
    result["targets"].push_back(std::move(target_attributes));
  }
  return result;
}

json GlbWriter::Content::document() const {
  json result{{"asset", {{"version", "2.0"}, {"generator", "pliant"}}}, {"scene", 0}};
  json scene = json::object();
  if (!roots.empty()) scene["nodes"] = roots;
  result["scenes"] = json::array({std::move(scene)});
  const auto add = [&](const char* name, const json& list) {
    if (!list.empty()) result[name] = list;
  };
  add("bufferViews", views);
  add("accessors", accessors);
  add("materials", materials);
  add("meshes", meshes);
  add("nodes", nodes);
  if (!channels.empty()) result["animations"] = json::array({{{"channels", channels}, {"samplers", samplers}}});
  return result;
}

void GlbWriter::Content::write_glb(const std::string& text, std::uint64_t data_bytes) {
  const auto put = [this](std::uint64_t value) {
    const auto word = static_cast<std::uint32_t>(value);
    target.write(&word, sizeof word);
  };
  const std::uint64_t text_padding = (4 - text.size() % 4) % 4, data_padding = (4 - data_bytes % 4) % 4;
  const std::uint64_t text_bytes = text.size() + text_padding, chunk_bytes = data_bytes + data_padding;
  const std::uint64_t total = 12 + 8 + text_bytes + (data_bytes > 0 ? 8 + chunk_bytes : 0);
  if (total > std::numeric_limits<std::uint32_t>::max()) {
    misuse = file_error(Error::Code::CapacityExceeded, target.target(),
                        fmt::format("would have {} bytes, but a .glb holds at most 4 GiB; record fewer frames", total));
    return;
  }
  put(kGlbMagic), put(2), put(total);
  put(text_bytes), put(kJsonChunk);
  target.write(text);
  target.write(std::string(text_padding, ' '));
  if (data_bytes == 0) return;
  put(chunk_bytes), put(kBinChunk);
  std::vector<char> buffer(kCopyBytes);
  for (std::uint64_t at = 0; at < data_bytes; at += kCopyBytes) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, data_bytes - at));
    if (!data.read_back(at, buffer.data(), n)) return;
    target.write(buffer.data(), n);
  }
  target.write(std::string(data_padding, '\0'));
}

void GlbWriter::Content::write_gltf(const std::string& text, std::uint64_t data_bytes) {
  if (data_bytes == 0) return target.write(text);
  target.write(
      fmt::format("{{\"buffers\":[{{\"byteLength\":{},\"uri\":\"data:application/octet-stream;base64,", data_bytes));
  std::vector<char> buffer(kCopyBytes);
  for (std::uint64_t at = 0; at < data_bytes; at += kCopyBytes) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, data_bytes - at));
    if (!data.read_back(at, buffer.data(), n)) return;
    target.write(base64_encode(buffer.data(), n));
  }
  target.write("\"}],");
  target.write(std::string_view(text).substr(1));
}

GlbWriter::GlbWriter(std::unique_ptr<Content> content) : content_(std::move(content)) {}
GlbWriter::GlbWriter(GlbWriter&&) noexcept = default;
GlbWriter::~GlbWriter() = default;

Result<GlbWriter> GlbWriter::create(const std::filesystem::path& target) {
  const std::string ending = lower_ending(target);
  if (ending != ".glb" && ending != ".gltf")
    return file_error(Error::Code::InvalidArgument, target, "a glTF file is named .glb or .gltf");
  Result<AtomicFile> file = AtomicFile::create(target);
  if (!file) return file.error();
  Result<OutputFile> data = OutputFile::create(hidden_neighbour(file->target()));
  if (!data) return error_about(target, data.error());
  // Nameless from the start: it vanishes however the program ends.
  data->unlink();
  return GlbWriter(std::make_unique<Content>(std::move(*file), std::move(*data), ending == ".gltf"));
}

int GlbWriter::add_positions(std::span<const Vec3> positions) {
  return content_->add_floats(as_floats(positions), 3, "VEC3", kArrayBuffer, true);
}
int GlbWriter::add_normals(std::span<const Vec3> normals) {
  const std::vector<Vec3> units = made_unit(normals);
  return content_->add_floats(as_floats(std::span<const Vec3>(units)), 3, "VEC3", kArrayBuffer, false);
}
int GlbWriter::add_uvs(std::span<const Vec2> uvs) {
  return content_->add_floats(as_floats(uvs), 2, "VEC2", kArrayBuffer, false);
}
int GlbWriter::add_colors(std::span<const Vec3> colors) {
  std::vector<Vec3> within(colors.begin(), colors.end());
  for (Vec3& color : within) {
    for (std::size_t i = 0; i < 3; ++i) color[i] = std::clamp(color[i], 0.0f, 1.0f);
  }
  return content_->add_floats(as_floats(std::span<const Vec3>(within)), 3, "VEC3", kArrayBuffer, false);
}
int GlbWriter::add_displacements(std::span<const Vec3> displacements) {
  return content_->add_floats(as_floats(displacements), 3, "VEC3", kArrayBuffer, true);
}

int GlbWriter::add_indices(std::span<const Face> faces) {
  if (faces.empty()) return -1;
  std::uint32_t largest = 0;
  for (const Face& f : faces) largest = std::max({largest, f[0], f[1], f[2]});
  const std::size_t count = 3 * faces.size();
  // The largest number of each width means "restart" and is not an index.
  if (largest < std::numeric_limits<std::uint16_t>::max()) {
    std::vector<std::uint16_t> narrow;
    narrow.reserve(count);
    for (const Face& f : faces)
      for (const std::uint32_t v : f) narrow.push_back(static_cast<std::uint16_t>(v));
    return content_->add_accessor({{"componentType", kUnsignedShort}, {"type", "SCALAR"}}, narrow.data(),
                                  count * sizeof(std::uint16_t), count, kElementArrayBuffer, largest);
  }
  return content_->add_accessor({{"componentType", kUnsignedInt}, {"type", "SCALAR"}}, faces.data(), faces.size_bytes(),
                                count, kElementArrayBuffer, largest);
}

int GlbWriter::add_material(const GlbMaterial& m) {
  const auto in_range = [](float x) { return x >= 0 && x <= 1; };
  if (!std::all_of(m.base_color.begin(), m.base_color.end(), in_range) || !in_range(m.metalness) ||
      !in_range(m.roughness))
    content_->refuse(fmt::format("material \"{}\" has a colour, metalness or roughness outside 0 to 1", m.name));
  json material{
      {"pbrMetallicRoughness",
       {{"baseColorFactor", m.base_color}, {"metallicFactor", m.metalness}, {"roughnessFactor", m.roughness}}}};
  if (!m.name.empty()) material["name"] = m.name;
  if (m.base_color[3] < 1) material["alphaMode"] = "BLEND";
  if (m.double_sided) material["doubleSided"] = true;
  content_->materials.push_back(std::move(material));
  return static_cast<int>(content_->materials.size() - 1);
}

GlbPrimitive GlbWriter::add_primitive(const TriMesh& mesh, int material) {
  GlbPrimitive p;
  p.positions = add_positions(mesh.vertices);
  p.normals = add_normals(mesh.normals);
  p.uvs = add_uvs(mesh.uvs);
  p.indices = add_indices(mesh.faces);
  p.material = material;
  return p;
}

int GlbWriter::add_mesh(const GlbMesh& mesh) {
  json result = json::object();
  if (!mesh.name.empty()) result["name"] = mesh.name;
  if (mesh.primitives.empty()) content_->refuse(fmt::format("mesh \"{}\" has no primitives", mesh.name));
  for (const GlbPrimitive& p : mesh.primitives) {
    if (p.targets.size() != mesh.primitives[0].targets.size())
      content_->refuse(fmt::format("the primitives of mesh \"{}\" differ in their number of morph targets", mesh.name));
    result["primitives"].push_back(content_->primitive(p));
  }
  const std::size_t targets = mesh.primitives.empty() ? 0 : mesh.primitives[0].targets.size();
  if (!mesh.weights.empty()) {
    if (mesh.weights.size() != targets)
      content_->refuse(
          fmt::format("mesh \"{}\" has {} weights for {} morph targets", mesh.name, mesh.weights.size(), targets));
    result["weights"] = mesh.weights;
  }
  content_->meshes.push_back(std::move(result));
  content_->target_counts.push_back(targets);
  return static_cast<int>(content_->meshes.size() - 1);
}

int GlbWriter::add_node(const GlbNode& node) {
  Content& c = *content_;
  const int index = static_cast<int>(c.nodes.size());
  if (node.mesh < -1 || node.mesh >= static_cast<int>(c.meshes.size()) || node.parent < -1 || node.parent >= index)
    return c.refuse(fmt::format("node \"{}\" names a mesh or parent that was not added", node.name)), -1;
  if (!is_finite(node.translation) || !is_finite(node.rotation) || !is_finite(node.scale))
    return c.refuse(fmt::format("the transform of node \"{}\" is not finite", node.name)), -1;
  json result = json::object();
  if (!node.name.empty()) result["name"] = node.name;
  if (node.mesh >= 0) result["mesh"] = node.mesh;
  const Quat r = unit(node.rotation);
  if (!(node.translation == Vec3{}))
    result["translation"] = {node.translation.x, node.translation.y, node.translation.z};
  if (!(r == Quat{})) result["rotation"] = {r.x, r.y, r.z, r.w};
  if (!(node.scale == Vec3{1, 1, 1})) result["scale"] = {node.scale.x, node.scale.y, node.scale.z};
  c.nodes.push_back(std::move(result));
  if (node.parent >= 0)
    c.nodes[static_cast<std::size_t>(node.parent)]["children"].push_back(index);
  else
    c.roots.push_back(index);
  return index;
}

void GlbWriter::animate_translation(int node, const GlbTrack<Vec3>& track, GlbInterpolation how) {
  content_->animate(node, "translation", track.times(), as_floats(track.values()), 3, "VEC3", how);
}
void GlbWriter::animate_rotation(int node, const GlbTrack<Quat>& track, GlbInterpolation how) {
  const std::vector<Quat> units = made_unit(track.values());
  content_->animate(node, "rotation", track.times(), as_floats(std::span<const Quat>(units)), 4, "VEC4", how);
}
void GlbWriter::animate_scale(int node, const GlbTrack<Vec3>& track, GlbInterpolation how) {
  content_->animate(node, "scale", track.times(), as_floats(track.values()), 3, "VEC3", how);
}

void GlbWriter::animate_weights(int node, std::span<const float> times, std::span<const float> weights,
                                GlbInterpolation how) {
  Content& c = *content_;
  const bool exists = node >= 0 && static_cast<std::size_t>(node) < c.nodes.size();
  const auto mesh = exists ? c.nodes[static_cast<std::size_t>(node)].value("mesh", -1) : -1;
  const std::size_t targets = mesh < 0 ? 0 : c.target_counts[static_cast<std::size_t>(mesh)];
  if (targets == 0 || weights.size() != targets * times.size())
    return c.refuse(fmt::format("node {} has {} morph targets, but {} weights for {} times", node, targets,
                                weights.size(), times.size()));
  c.animate(node, "weights", times, weights, 1, "SCALAR", how);
}

std::uint64_t GlbWriter::data_size() const { return content_->data.size(); }

Status GlbWriter::finish() {
  Content& c = *content_;
  if (!c.misuse) return c.misuse;
  json document = c.document();
  const std::uint64_t bytes = c.data.size();
  if (!c.is_text && bytes > 0) document["buffers"] = json::array({{{"byteLength", bytes}}});
  // Names come from users and may not be UTF-8: replace what is not, instead of throwing.
  const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  c.is_text ? c.write_gltf(text, bytes) : c.write_glb(text, bytes);
  if (!c.misuse) return c.misuse;
  if (c.data.failed()) return error_about(c.target.target(), c.data.status().error());
  return c.target.commit();
}

}  // namespace pliant
