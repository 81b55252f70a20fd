#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "io/file.h"
#include "io/scene_builder.h"
#include "io/suggest.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

const Fields<SceneBuilder>& scene_fields() {
  static const Fields<SceneBuilder> fields = {
      passed_over<SceneBuilder>("$schema"),
      field<SceneBuilder>("include",
                          [](const SceneReader& r, SceneBuilder& b) {
                            r.for_elements("an array of file names", [&](const SceneReader& e) { b.include(e); });
                          }),
      field<SceneBuilder>("title", [](const SceneReader& r, SceneBuilder& b) { read(r, b.scene.title); }),
      field<SceneBuilder>("description", [](const SceneReader& r, SceneBuilder& b) { read(r, b.scene.description); }),
      field<SceneBuilder>("world", [](const SceneReader& r, SceneBuilder& b) { read_world(r, b.scene.world); }),
      [] {
        const Range range = between(1, 10'000'000);
        Field<SceneBuilder> frames = field<SceneBuilder>(
            "frames", [range](const SceneReader& r, SceneBuilder& b) { read(r, b.scene.frames, range); });
        frames.info.range = range;
        return frames;
      }(),
      field<SceneBuilder>("materials", [](const SceneReader& r, SceneBuilder&) { read_materials(r); }),
      field<SceneBuilder>("meshes", [](const SceneReader& r, SceneBuilder&) { read_meshes(r); }),
      field<SceneBuilder>("bodies", [](const SceneReader& r, SceneBuilder&) { read_bodies(r); }),
      field<SceneBuilder>("joints", [](const SceneReader& r, SceneBuilder&) { read_joints(r); }),
      field<SceneBuilder>("anchors", [](const SceneReader& r, SceneBuilder&) { read_anchors(r); }),
      field<SceneBuilder>("motions", [](const SceneReader& r, SceneBuilder&) { read_motions(r); }),
      field<SceneBuilder>("events", [](const SceneReader& r, SceneBuilder&) { read_events(r); }),
      field<SceneBuilder>("camera", [](const SceneReader& r, SceneBuilder& b) { read_camera(r, b.scene.camera); }),
      field<SceneBuilder>("lights", [](const SceneReader& r, SceneBuilder& b) { read_lights(r, b.scene.lights); })};
  return fields;
}

/// One name for one file, however it is written.
fs::path one_name(const fs::path& file) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(file, error), error);
  return error ? file.lexically_normal() : path;
}

Result<Scene> finish(SceneBuilder& builder, SceneErrors& errors, SceneErrors* all) {
  if (all) *all = errors;
  if (errors.empty()) return std::move(builder.scene);
  Error first = errors.list.front();
  if (errors.list.size() > 1) first.message += fmt::format(" (and {} more)", errors.list.size() - 1);
  return first;
}

}  // namespace

std::string SceneErrors::to_string() const {
  std::string text;
  for (const Error& error : list) text += error.to_string() + "\n";
  if (more) text += fmt::format("… only the first {} are listed\n", kLimit);
  return text;
}

void SceneBuilder::fail(Error error) {
  if (errors_.list.size() < SceneErrors::kLimit) {
    errors_.list.push_back(std::move(error));
  } else {
    errors_.more = true;
  }
}

fs::path SceneBuilder::resolve(const std::string& path) const {
  return open_files_.empty() ? fs::path(path) : open_files_.back().parent_path() / path;
}

void SceneBuilder::read_file(const fs::path& file) {
  const Result<std::string> text = pliant::read_file(file, kMaxSceneBytes);
  if (!text) return fail(text.error());
  read_text(*text, file);
}

void SceneBuilder::read_text(std::string_view json, const fs::path& file) {
  const std::string name = file.string();
  Result<JsonValue> tree = parse_json(json);
  if (!tree) {
    Error error = tree.error();
    error.file = name;
    return fail(std::move(error));
  }
  open_files_.push_back(file);
  read_files_.insert(one_name(file));
  scene.files.push_back(name);
  read_fields(SceneReader(*tree, *this, name, errors_), *this, scene_fields());
  open_files_.pop_back();
}

void SceneBuilder::include(const SceneReader& mention) {
  std::string name;
  if (!read(mention, name)) return;
  const fs::path file = resolve(name);
  const fs::path path = one_name(file);
  const auto same = [&](const fs::path& open) { return one_name(open) == path; };
  if (const auto cycle = std::find_if(open_files_.begin(), open_files_.end(), same); cycle != open_files_.end()) {
    std::string chain;
    for (auto f = cycle; f != open_files_.end(); ++f) chain += f->string() + " -> ";
    return mention.refuse("the files include each other in a circle: " + chain + file.string());
  }
  if (read_files_.contains(path)) return;
  if (static_cast<int>(open_files_.size()) > kMaxSceneIncludeDepth) {
    return mention.refuse(fmt::format("files include each other more than {} deep", kMaxSceneIncludeDepth),
                          Error::Code::CapacityExceeded);
  }
  std::error_code error;
  if (!fs::exists(file, error)) {
    return mention.refuse(fmt::format("there is no file {}", file.string()), Error::Code::NotFound);
  }
  read_file(file);
}

void SceneBuilder::add_body(const SceneReader& r, SceneBody body) {
  const std::string& name = body_name(body.def);
  if (!name.empty() && !body_index_.emplace(name, scene.bodies.size()).second) {
    return r.refuse(fmt::format("there is already a body `{}`; names must be unique", shown(name)));
  }
  scene.bodies.push_back(std::move(body));
}

bool SceneBuilder::has_room(const SceneReader& r, double count) const {
  const double total = static_cast<double>(scene.bodies.size()) + count;
  if (total <= static_cast<double>(kMaxSceneBodies)) return true;
  r.refuse(fmt::format("that makes {} bodies; a scene may have at most {}", total, kMaxSceneBodies),
           Error::Code::CapacityExceeded);
  return false;
}

const SceneBody* SceneBuilder::find_body(std::string_view name) const {
  const auto found = body_index_.find(name);
  return found == body_index_.end() ? nullptr : &scene.bodies[found->second];
}

bool SceneBuilder::is_refused_body(std::string_view name) const {
  if (refused_bodies_.contains(name)) return true;
  // `name[3]` and `name[*]` are copies of what was written as `name`.
  return name.ends_with("]") && refused_bodies_.contains(name.substr(0, name.rfind('[')));
}

std::vector<const SceneBody*> SceneBuilder::bodies_named(const SceneReader& r, const std::string& name) const {
  std::vector<const SceneBody*> found;
  if (name.ends_with("[*]")) {
    const std::string base = name.substr(0, name.size() - 3);
    while (const SceneBody* copy = find_body(fmt::format("{}[{}]", base, found.size()))) found.push_back(copy);
  } else if (const SceneBody* body = find_body(name)) {
    found.push_back(body);
  }
  if (found.empty() && is_refused_body(name)) {
    r.refuse(fmt::format("the body `{}` was refused: see the error about it", shown(name)));
  } else if (found.empty()) {
    std::vector<std::string> names;
    for (const auto& [key, index] : body_index_) {
      if (names.size() < 1000) names.push_back(key);
    }
    r.refuse(fmt::format("there is no body `{}`{}", shown(name), suggestion(name, names)), Error::Code::NotFound);
  }
  return found;
}

namespace {

/// Appends something with a name of its own, unless there are too many or the name is taken.
template <typename T>
void append_named(const SceneReader& r, T item, const char* what, const char* plural, std::vector<T>& list,
                  std::set<std::string, std::less<>>& names) {
  if (list.size() >= kMaxSceneBodies) {
    return r.refuse(fmt::format("a scene may have at most {} {}", kMaxSceneBodies, plural),
                    Error::Code::CapacityExceeded);
  }
  if (!item.def.name.empty() && !names.insert(item.def.name).second) {
    return r.refuse(fmt::format("there is already {} `{}`; names must be unique", what, shown(item.def.name)));
  }
  list.push_back(std::move(item));
}

}  // namespace

void SceneBuilder::add_joint(const SceneReader& r, SceneJoint joint) {
  append_named(r, std::move(joint), "a joint", "joints", scene.joints, joint_names_);
}

void SceneBuilder::add_anchor(const SceneReader& r, SceneAnchor anchor) {
  append_named(r, std::move(anchor), "an anchor", "anchors", scene.anchors, anchor_names_);
}

std::vector<FieldSet> scene_field_sets() {
  std::vector<FieldSet> sets = {{"scene", infos(scene_fields())}};
  describe_world(sets);
  describe_view(sets);
  describe_materials(sets);
  describe_meshes(sets);
  describe_shapes(sets);
  describe_repeats(sets);
  describe_bodies(sets);
  describe_joints(sets);
  describe_anchors(sets);
  describe_timeline(sets);
  return sets;
}

const std::string& body_name(const BodyDef& def) {
  return std::visit([](const auto& d) -> const std::string& { return d.name; }, def);
}

Result<Scene> load_scene(const fs::path& file, SceneErrors* errors) {
  SceneErrors found;
  SceneBuilder builder(found);
  builder.read_file(file);
  return finish(builder, found, errors);
}

Result<Scene> parse_scene(std::string_view json, const fs::path& file, SceneErrors* errors) {
  SceneErrors found;
  SceneBuilder builder(found);
  if (json.size() > kMaxSceneBytes) {
    found.list.push_back(
        file_error(Error::Code::CapacityExceeded, file,
                   fmt::format("the text has {} bytes; at most {} are read", json.size(), kMaxSceneBytes)));
  } else {
    builder.read_text(json, file);
  }
  return finish(builder, found, errors);
}

}  // namespace pliant
