#include "io/gltf_document.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "io/base64.h"
#include "io/file.h"
#include "io/text_reader.h"

namespace pliant {

namespace {

using nlohmann::json;

constexpr std::uint32_t kGlbMagic = 0x46546C67, kJsonChunk = 0x4E4F534A, kBinChunk = 0x004E4942;
/// A JSON value takes many times the memory of its text; so many are more than any sensible file has.
constexpr std::ptrdiff_t kMaxJsonValues = 20'000'000;
/// Elements of an accessor without data, which are all zero and so cost nothing in the file.
constexpr std::uint64_t kMaxZeros = 1 << 20;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 31;

std::string element(const char* list, std::size_t i) { return fmt::format("{}[{}]", list, i); }

/// Extensions that change how a file looks, not where its triangles are.
bool leaves_geometry_alone(const std::string& extension) {
  for (const char* prefix : {"KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "EXT_lights_"})
    if (extension.compare(0, std::strlen(prefix), prefix) == 0) return true;
  return extension == "KHR_mesh_quantization" || extension == "KHR_xmp_json_ld" || extension == "KHR_animation_pointer";
}

std::string percent_decoded(const std::string& uri) {
  std::string result;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    unsigned value = 0;
    if (uri[i] == '%' && i + 2 < uri.size() && std::sscanf(uri.substr(i + 1, 2).c_str(), "%2x", &value) == 1) {
      result += static_cast<char>(value);
      i += 2;
    } else {
      result += uri[i];
    }
  }
  return result;
}

}  // namespace

GltfDocument::GltfDocument(const std::filesystem::path& file, std::string_view content) : file_(file) {
  parse(content);
  if (ok()) check_asset();
  if (!ok()) return;
  accessors_ = array(root_, "accessors", "accessors");
  views_ = array(root_, "bufferViews", "bufferViews");
  read_buffers();
}

void GltfDocument::fail(const std::string& field, std::string message, Error::Code code) {
  if (ok()) status_ = file_error(code, file_, std::move(message), 0, field);
}

// --- the document ---

void GltfDocument::parse(std::string_view content) {
  const bool binary = content.size() >= 4 && load_number<std::uint32_t>(content.data(), false) == kGlbMagic;
  if (!binary && lower_ending(file_) == ".glb") return fail("", "is not a .glb: it does not begin with \"glTF\"");
  parse_json(binary ? split_glb(content) : content);
}

/// The text of a .glb; `bin_` gets the binary chunk.
std::string_view GltfDocument::split_glb(std::string_view content) {
  const auto word = [&](std::size_t at) { return load_number<std::uint32_t>(content.data() + at, false); };
  if (content.size() < 20) return fail("", "ends too early for a .glb"), std::string_view();
  if (word(4) != 2)
    return fail("", fmt::format("is a .glb of version {}; only 2 can be read", word(4)), Error::Code::Unsupported),
           std::string_view();
  if (word(8) > content.size() || word(8) < 20)
    return fail("", fmt::format("tells a length of {} bytes, but has {}", word(8), content.size())), std::string_view();
  content = content.substr(0, word(8));
  const std::size_t text_bytes = word(12);
  if (word(16) != kJsonChunk || text_bytes > content.size() - 20)
    return fail("", "does not begin with a JSON chunk that fits the file"), std::string_view();
  const std::string_view text = content.substr(20, text_bytes);
  const std::size_t rest = 20 + text_bytes;
  if (content.size() - rest >= 8 && word(rest + 4) == kBinChunk) {
    if (word(rest) > content.size() - rest - 8) return fail("", "the binary chunk is longer than the file"), text;
    bin_ = content.substr(rest + 8, word(rest));
    has_bin_ = true;
  }
  return text;
}

void GltfDocument::parse_json(std::string_view text) {
  if (!ok()) return;
  const auto values = std::count_if(text.begin(), text.end(), [](char c) { return c == ',' || c == '[' || c == '{'; });
  if (values > kMaxJsonValues)
    return fail("", fmt::format("has more than {} JSON values", kMaxJsonValues), Error::Code::CapacityExceeded);
  try {
    root_ = json::parse(text.begin(), text.end());
  } catch (const json::exception& e) {
    return fail("", fmt::format("is not valid JSON: {}", printable(e.what(), 200)));
  }
  if (!root_.is_object()) fail("", "is not a glTF document: the JSON is not an object");
}

void GltfDocument::check_asset() {
  const json* asset = object(root_, "asset", "asset");
  const bool known = asset && asset->contains("version") && (*asset)["version"].is_string();
  if (ok() && !known) return fail("asset.version", "is missing: not a glTF document");
  if (ok() && (*asset)["version"].get<std::string>().compare(0, 2, "2.") != 0)
    return fail("asset.version", "is not 2.x, the only version that can be read", Error::Code::Unsupported);
  const json* required = array(root_, "extensionsRequired", "extensionsRequired");
  for (std::size_t i = 0; required && i < required->size() && ok(); ++i) {
    const json& name = (*required)[i];
    if (!name.is_string() || !leaves_geometry_alone(name.get<std::string>()))
      fail(element("extensionsRequired", i),
           fmt::format("is {}, which pliant cannot read; save the file without it", printable(name.dump())),
           Error::Code::Unsupported);
  }
}

const json* GltfDocument::object(const json& of, const char* name, const std::string& field) {
  if (!ok() || !of.is_object()) return nullptr;
  const auto found = of.find(name);
  if (found == of.end()) return nullptr;
  if (!found->is_object()) return fail(field, "must be an object"), nullptr;
  return &*found;
}

const json* GltfDocument::array(const json& of, const char* name, const std::string& field) {
  if (!ok() || !of.is_object()) return nullptr;
  const auto found = of.find(name);
  if (found == of.end()) return nullptr;
  if (!found->is_array()) return fail(field, "must be an array"), nullptr;
  return &*found;
}

std::uint64_t GltfDocument::integer(const json& of, const char* name, std::uint64_t fallback,
                                    const std::string& field) {
  if (!ok() || !of.is_object()) return fallback;
  const auto found = of.find(name);
  if (found == of.end()) return fallback;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  if (found->is_number_float()) {
    const double value = found->get<double>();
    if (value >= 0 && value < 1e15 && value == std::floor(value)) return static_cast<std::uint64_t>(value);
  }
  fail(fmt::format("{}.{}", field, name),
       fmt::format("is {}, but must be a whole number of at least 0", printable(found->dump())));
  return fallback;
}

std::size_t GltfDocument::index(const json& of, const char* name, std::size_t size, const std::string& field) {
  if (!of.is_object() || !of.contains(name)) return kNone;
  const std::uint64_t value = integer(of, name, 0, field);
  if (ok() && value >= size)
    fail(fmt::format("{}.{}", field, name), fmt::format("is {}, but there are only {}", value, size));
  return ok() ? static_cast<std::size_t>(value) : kNone;
}

std::vector<double> GltfDocument::numbers(const json& of, const std::string& field, std::size_t count) {
  std::vector<double> result(count, 0.0);
  const bool fits = of.is_array() && of.size() == count;
  for (std::size_t i = 0; fits && i < count; ++i) {
    if (of[i].is_number()) result[i] = of[i].get<double>();
    if (!of[i].is_number() || !std::isfinite(result[i])) return fail(field, "must hold finite numbers"), result;
  }
  if (!fits) fail(field, fmt::format("must be an array of {} numbers", count));
  return result;
}

// --- buffers ---

void GltfDocument::read_buffers() {
  const json* buffers = array(root_, "buffers", "buffers");
  for (std::size_t i = 0; buffers && i < buffers->size() && ok(); ++i) {
    owned_.reserve(buffers->size());  // views into the strings must stay
    read_buffer((*buffers)[i], i);
  }
}

void GltfDocument::read_buffer(const json& buffer, std::size_t i) {
  const std::string field = element("buffers", i);
  const std::uint64_t length = integer(buffer, "byteLength", 0, field);
  std::string_view data;
  if (!buffer.is_object() || !buffer.contains("uri")) {
    if (i != 0 || !has_bin_) return fail(field, "has no uri, and there is no binary chunk for it");
    data = bin_;
  } else if (!buffer["uri"].is_string()) {
    return fail(field + ".uri", "must be a string");
  } else {
    const auto& uri = buffer["uri"].get_ref<const std::string&>();
    owned_.push_back(uri.compare(0, 5, "data:") == 0 ? decode_data(uri, field) : read_external(uri, field));
    data = owned_.back();
  }
  total_bytes_ += data.size();
  if (ok() && length > data.size())
    fail(field + ".byteLength", fmt::format("is {}, but the data has only {} bytes", length, data.size()));
  if (ok() && total_bytes_ > kMaxMeshFileBytes) fail(field, "the buffers are too large", Error::Code::CapacityExceeded);
  buffers_.push_back(ok() ? data.substr(0, static_cast<std::size_t>(length)) : std::string_view());
}

std::string GltfDocument::decode_data(const std::string& uri, const std::string& field) {
  const std::size_t comma = uri.find(',');
  if (comma == std::string::npos || comma < 7 || uri.compare(comma - 7, 7, ";base64") != 0)
    return fail(field + ".uri", "is a data URI, but not in base64", Error::Code::Unsupported), std::string();
  std::optional<std::string> data = base64_decode(std::string_view(uri).substr(comma + 1));
  if (!data) return fail(field + ".uri", "is not valid base64"), std::string();
  return std::move(*data);
}

/// A scene from a stranger must not make pliant read files elsewhere.
std::string GltfDocument::read_external(const std::string& uri, const std::string& field) {
  const std::filesystem::path relative(percent_decoded(uri));
  const bool escapes = relative.is_absolute() || uri.find(':') != std::string::npos ||
                       std::any_of(relative.begin(), relative.end(), [](const auto& part) { return part == ".."; }) ||
                       relative.string().find('\\') != std::string::npos ||
                       relative.string().find('\0') != std::string::npos;
  if (escapes || relative.empty())
    return fail(field + ".uri",
                fmt::format("is \"{}\"; only files inside the folder of the glTF file are read", printable(uri))),
           std::string();
  const std::uint64_t left = kMaxMeshFileBytes - std::min(total_bytes_, kMaxMeshFileBytes);
  Result<std::string> content = read_file(file_.parent_path() / relative, left);
  if (content) return std::move(*content);
  if (ok()) status_ = content.error();
  return {};
}

// --- accessors ---

NumberType GltfDocument::component_type(const json& of, const std::string& field) {
  const std::uint64_t code = integer(of, "componentType", 0, field);
  switch (code) {
    case 5120:
      return NumberType::I8;
    case 5121:
      return NumberType::U8;
    case 5122:
      return NumberType::I16;
    case 5123:
      return NumberType::U16;
    case 5125:
      return NumberType::U32;
    case 5126:
      return NumberType::F32;
    default:
      fail(field + ".componentType", fmt::format("is {}, which glTF does not have", code));
      return NumberType::U8;
  }
}

/// Finds the bytes through the buffer view named in `of`, which may be missing (all zero).
void GltfDocument::locate(Elements& e, const json& of, const std::string& field, bool may_stride) {
  const std::size_t view_index = index(of, "bufferView", views_ ? views_->size() : 0, field);
  if (!ok()) return;
  if (view_index == kNone) {
    if (e.count > kMaxZeros)
      fail(field + ".count", fmt::format("is {} without a bufferView", e.count), Error::Code::CapacityExceeded);
    return;
  }
  const json& view = (*views_)[view_index];
  const std::string view_field = element("bufferViews", view_index);
  const std::size_t buffer = index(view, "buffer", buffers_.size(), view_field);
  const std::uint64_t view_offset = integer(view, "byteOffset", 0, view_field);
  const std::uint64_t view_length = integer(view, "byteLength", 0, view_field);
  const std::uint64_t stride = may_stride ? integer(view, "byteStride", 0, view_field) : 0;
  const std::uint64_t offset = integer(of, "byteOffset", 0, field);
  if (!ok()) return;
  if (buffer == kNone) return fail(view_field + ".buffer", "is missing");
  const std::string_view data = buffers_[buffer];
  if (view_offset > data.size() || view_length > data.size() - view_offset)
    return fail(view_field, fmt::format("goes from byte {} over {} bytes, but buffers[{}] has {}", view_offset,
                                        view_length, buffer, data.size()));
  const std::uint64_t bytes = size_of(e.type) * e.components;
  if (stride != 0 && (stride < bytes || stride > 252))
    return fail(view_field + ".byteStride", fmt::format("is {}, but must be from {} to 252", stride, bytes));
  e.stride = stride != 0 ? stride : bytes;
  // `count` is below 2^31 and the stride below 2^8: no overflow.
  const std::uint64_t needed = (e.count - 1) * e.stride + bytes;
  if (offset > view_length || needed > view_length - offset)
    return fail(field, fmt::format("needs {} bytes from byte {} on, but bufferViews[{}] has {}", needed, offset,
                                   view_index, view_length));
  e.data = data.data() + view_offset + offset;
}

GltfDocument::Elements GltfDocument::accessor(std::size_t i, std::size_t components) {
  static constexpr std::pair<const char*, std::size_t> kTypes[] = {
      {"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}};
  Elements e;
  if (!ok()) return e;
  const std::string field = element("accessors", i);
  const json& a = (*accessors_)[i];
  const std::string type =
      a.is_object() && a.contains("type") && a["type"].is_string() ? a["type"].get<std::string>() : "";
  const auto* found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return t.first == type; });
  if (found == std::end(kTypes) || found->second != components)
    return fail(field + ".type", fmt::format("is \"{}\", but must have {} components", printable(type), components)), e;
  e.components = components;
  e.type = component_type(a, field);
  e.count = integer(a, "count", 0, field);
  e.normalized = a.contains("normalized") && a["normalized"].is_boolean() && a["normalized"].get<bool>();
  if (ok() && (e.count == 0 || e.count >= kMaxElements))
    return fail(field + ".count", fmt::format("is {}, but must be from 1 to {}", e.count, kMaxElements - 1)), e;
  locate(e, a, field, true);
  return e;
}

std::vector<std::uint64_t> GltfDocument::sparse_indices(const json& sparse, std::uint64_t count,
                                                        const std::string& field) {
  std::vector<std::uint64_t> result;
  const json* indices = object(sparse, "indices", field + ".indices");
  if (!indices) return fail(field + ".indices", "is missing"), result;
  Elements e;
  e.components = 1;
  e.count = integer(sparse, "count", 0, field);
  e.type = component_type(*indices, field + ".indices");
  if (ok() && (e.count == 0 || e.count > count))
    return fail(field + ".count", fmt::format("is {}, but must be from 1 to {}", e.count, count)), result;
  locate(e, *indices, field + ".indices", false);
  if (ok() && !e.data) fail(field + ".indices.bufferView", "is missing");
  for (std::uint64_t k = 0; k < e.count && ok(); ++k) {
    const double value = load_as_double(e.type, e.data + k * e.stride, false);
    if (!(value >= 0 && value < static_cast<double>(count)))
      fail(field + ".indices", fmt::format("entry {} is {}, but there are {} elements", k, value, count));
    else
      result.push_back(static_cast<std::uint64_t>(value));
  }
  return result;
}

/// Calls `store(k, at)` for each element that has bytes, the sparse ones last.
template <typename Store>
void GltfDocument::visit(std::size_t i, const Elements& e, Store store) {
  if (!ok()) return;
  for (std::uint64_t k = 0; k < e.count && e.data; ++k) store(k, e.data + k * e.stride);
  const std::string field = element("accessors", i) + ".sparse";
  const json* sparse = object((*accessors_)[i], "sparse", field);
  if (!sparse) return;
  const std::vector<std::uint64_t> indices = sparse_indices(*sparse, e.count, field);
  const json* values = object(*sparse, "values", field + ".values");
  if (ok() && !values) fail(field + ".values", "is missing");
  if (!ok()) return;
  Elements v = e;
  v.data = nullptr;
  v.count = indices.size();
  locate(v, *values, field + ".values", false);
  if (ok() && !v.data) fail(field + ".values.bufferView", "is missing");
  for (std::size_t k = 0; k < indices.size() && ok(); ++k) store(indices[k], v.data + k * v.stride);
}

std::vector<float> GltfDocument::read_floats(std::size_t i, std::size_t components) {
  const Elements e = accessor(i, components);
  if (!ok()) return {};
  double scale = 1;
  if (e.normalized && e.type != NumberType::F32) {
    const bool is_signed = e.type == NumberType::I8 || e.type == NumberType::I16;
    scale = std::pow(2.0, static_cast<double>(8 * size_of(e.type)) - (is_signed ? 1 : 0)) - 1;
  }
  std::vector<float> result(static_cast<std::size_t>(e.count) * components, 0.0f);
  visit(i, e, [&](std::uint64_t k, const char* at) {
    for (std::size_t c = 0; c < components; ++c) {
      const double value = load_as_double(e.type, at + c * size_of(e.type), false);
      if (!std::isfinite(value)) fail(element("accessors", i), fmt::format("element {} is not finite", k));
      // The most negative integer stands for -1 too.
      result[static_cast<std::size_t>(k) * components + c] =
          static_cast<float>(scale == 1 ? value : std::max(value / scale, -1.0));
    }
  });
  return ok() ? result : std::vector<float>();
}

std::vector<std::uint32_t> GltfDocument::read_indices(std::size_t i) {
  const Elements e = accessor(i, 1);
  if (!ok()) return {};
  if (e.type != NumberType::U8 && e.type != NumberType::U16 && e.type != NumberType::U32)
    return fail(element("accessors", i) + ".componentType", "must be an unsigned integer for indices"),
           std::vector<std::uint32_t>();
  std::vector<std::uint32_t> result(static_cast<std::size_t>(e.count), 0);
  visit(i, e, [&](std::uint64_t k, const char* at) {
    result[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(load_as_double(e.type, at, false));
  });
  return ok() ? result : std::vector<std::uint32_t>();
}

}  // namespace pliant
