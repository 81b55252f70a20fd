// A scene while its files are read: what is known so far, by name, and the tables of the format, one per source file.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/scene_reader.h"
#include "pliant/generators.h"
#include "pliant/scene.h"

namespace pliant {

class SceneBuilder {
 public:
  explicit SceneBuilder(SceneErrors& errors) : errors_(errors) {}

  /// Reads a file and, before the rest of it, what it includes. A file that was read before is not read again.
  void read_file(const std::filesystem::path& file);
  void read_text(std::string_view json, const std::filesystem::path& file);
  /// The same for a file that the value of `mention` names.
  void include(const SceneReader& mention);
  /// A path in the file that is being read now is relative to that file's folder.
  std::filesystem::path resolve(const std::string& path) const;

  // Bodies. Names must be new.
  void add_body(const SceneReader& r, SceneBody body);
  /// Whether `count` more bodies fit; refuses if not.
  bool has_room(const SceneReader& r, double count) const;
  const SceneBody* find_body(std::string_view name) const;
  /// The bodies that `name` or `name[*]` stands for; refuses a name that no body has.
  std::vector<const SceneBody*> bodies_named(const SceneReader& r, const std::string& name) const;

  void add_joint(const SceneReader& r, SceneJoint joint);
  bool has_joint(std::string_view name) const { return joint_names_.contains(name); }
  std::vector<std::string> joint_names() const { return {joint_names_.begin(), joint_names_.end()}; }

  void add_anchor(const SceneReader& r, SceneAnchor anchor);
  bool has_anchor(std::string_view name) const { return anchor_names_.contains(name); }
  std::vector<std::string> anchor_names() const { return {anchor_names_.begin(), anchor_names_.end()}; }

  // What was refused under a name: what uses that name later is told so, not that there is no such thing.
  void note_refused_body(std::string name) { refused_bodies_.insert(std::move(name)); }
  void note_refused_mesh(std::string name) { refused_meshes_.insert(std::move(name)); }
  bool is_refused_mesh(std::string_view name) const { return refused_meshes_.contains(name); }

  /// False if a motion of that body was read before.
  bool claim_motion(const std::string& body) { return moved_.insert(body).second; }

  Scene scene;

 private:
  void fail(Error error);
  bool is_refused_body(std::string_view name) const;

  SceneErrors& errors_;
  std::vector<std::filesystem::path> open_files_;  ///< the one being read last, those that include it before
  std::set<std::filesystem::path> read_files_;
  std::map<std::string, std::size_t, std::less<>> body_index_;
  std::set<std::string, std::less<>> joint_names_, anchor_names_, refused_bodies_, refused_meshes_;
  std::set<std::string> moved_;
};

/// Copies of a body: where each stands relative to the body's own position, in world axes.
struct Repeat {
  std::vector<Transform> places;
  std::vector<Vec3> color_shifts;  ///< added to the colour; as many as places, or none
};

/// Names of the format's objects, as schema/scene.schema.json has them in its `definitions`.
struct FieldSet {
  std::string definition;
  std::vector<FieldInfo> fields;
};
/// Every object that scene files may hold.
std::vector<FieldSet> scene_field_sets();

// The parts of the format. The readers refuse what is wrong; the `describe_*` add to the list above.
void read_world(const SceneReader& r, WorldDef& out);
void read_camera(const SceneReader& r, SceneCamera& out);
void read_lights(const SceneReader& r, std::vector<SceneLight>& out);
void read_materials(const SceneReader& r);
void read_meshes(const SceneReader& r);
void read_bodies(const SceneReader& r);
void read_joints(const SceneReader& r);
void read_anchors(const SceneReader& r);
void read_motions(const SceneReader& r);
void read_events(const SceneReader& r);
bool read_shape(const SceneReader& r, Shape& out);
bool read_repeat(const SceneReader& r, Repeat& out);
/// Some nodes of a body; refuses what is no selection.
bool read_selection(const SceneReader& r, NodeSelection& out);
/// A name for a body or a joint.
bool read_name(const SceneReader& r, std::string& out);
/// The material of that name, of the scene or built in; refuses an unknown one.
const SceneMaterial* read_material_name(const SceneReader& r);
/// The mesh of that name; refuses an unknown one.
const SceneMesh* read_mesh_name(const SceneReader& r);

void describe_world(std::vector<FieldSet>& sets);
void describe_view(std::vector<FieldSet>& sets);
void describe_materials(std::vector<FieldSet>& sets);
void describe_meshes(std::vector<FieldSet>& sets);
void describe_bodies(std::vector<FieldSet>& sets);
void describe_joints(std::vector<FieldSet>& sets);
void describe_timeline(std::vector<FieldSet>& sets);
void describe_shapes(std::vector<FieldSet>& sets);
void describe_repeats(std::vector<FieldSet>& sets);
void describe_solids(std::vector<FieldSet>& sets);
void describe_cloths(std::vector<FieldSet>& sets);
void describe_ropes(std::vector<FieldSet>& sets);
void describe_layered(std::vector<FieldSet>& sets);
void describe_anchors(std::vector<FieldSet>& sets);
void describe_selections(std::vector<FieldSet>& sets);

// The kinds of bodies: one file each, listed in scene_bodies.cpp.
Kind<SceneBuilder> ground_body_kind();
Kind<SceneBuilder> rigid_body_kind();
Kind<SceneBuilder> solid_body_kind();
Kind<SceneBuilder> cloth_body_kind();
Kind<SceneBuilder> rope_body_kind();
Kind<SceneBuilder> jelly_body_kind();
Kind<SceneBuilder> layered_body_kind();

/// The fields of a look, for every T with a member `appearance` that `get` finds.
template <typename T>
Fields<T> appearance_fields(Appearance& (*get)(T&)) {
  const auto number = [get](const char* name, float Appearance::*member) {
    Field<T> f = field<T>(name, [=](const SceneReader& r, T& out) { read(r, get(out).*member, kShare); });
    f.info.range = kShare;
    return f;
  };
  return {field<T>("color", [get](const SceneReader& r, T& out) { read_color(r, get(out).color); }),
          number("opacity", &Appearance::opacity), number("roughness", &Appearance::roughness),
          number("metalness", &Appearance::metalness)};
}

/// Gives a copy of a body its own name, place and colour.
template <typename Def>
void place_copy(Def& copy, const Def& def, const Repeat& repeat, std::size_t index) {
  if (!def.name.empty()) copy.name = def.name + "[" + std::to_string(index) + "]";
  copy.position = def.position + repeat.places[index].position;
  copy.rotation = (repeat.places[index].rotation * def.rotation).normalized();
  if (repeat.color_shifts.empty()) return;
  const Vec3 color = def.appearance.color + repeat.color_shifts[index];
  copy.appearance.color = min_each(max_each(color, {0, 0, 0}), {1, 1, 1});
}

template <typename T>
Fields<T> operator+(Fields<T> a, Fields<T> b) {
  a.insert(a.end(), std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()));
  return a;
}

const Fields<CollisionFilter>& filter_fields();
const Fields<MassProperties>& mass_properties_fields();
Fields<TerrainShape> terrain_fields();

}  // namespace pliant
