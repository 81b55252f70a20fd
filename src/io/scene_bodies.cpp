// The list of body kinds. A new kind is one file like scene_body_rigid.cpp and one line here.
#include <fmt/format.h>

#include "io/scene_node_body.h"

namespace pliant {
namespace {

const std::vector<Kind<SceneBuilder>>& body_kinds() {
  static const std::vector<Kind<SceneBuilder>> kinds = {ground_body_kind(), rigid_body_kind(), solid_body_kind(),
                                                        cloth_body_kind(),  rope_body_kind(),  jelly_body_kind(),
                                                        layered_body_kind()};
  return kinds;
}

}  // namespace

void read_bodies(const SceneReader& r) {
  const auto* items = r.value().as<JsonValue::Array>();
  if (items && !r.builder().has_room(r, static_cast<double>(items->size()))) return;
  r.for_elements("an array of bodies", [](const SceneReader& e) {
    if (read_kinds(e, "body", body_kinds(), e.builder())) return;
    const JsonValue* name = e.value().find("name");
    if (const auto* text = name ? name->as<std::string>() : nullptr) e.builder().note_refused_body(*text);
  });
}

bool read_name(const SceneReader& r, std::string& out) {
  constexpr std::size_t kLongest = 200;
  std::string name;
  if (!read(r, name)) return false;
  if (name.empty() || name.size() > kLongest) {
    return r.refuse(fmt::format("a name must have between 1 and {} letters", kLongest)), false;
  }
  if (name.ends_with("[*]")) return r.refuse("a name may not end with `[*]`, which stands for all copies"), false;
  out = std::move(name);
  return true;
}

void describe_bodies(std::vector<FieldSet>& sets) {
  for (const Kind<SceneBuilder>& k : body_kinds()) sets.push_back({"body_" + k.name, k.fields});
  sets.push_back({"filter", infos(filter_fields())});
  describe_solids(sets);
  describe_cloths(sets);
  describe_ropes(sets);
  describe_tet_meshes(sets);
  describe_layered(sets);
  describe_selections(sets);
  sets.push_back({"mass_properties", infos(mass_properties_fields())});
}

const Fields<CollisionFilter>& filter_fields() {
  static const Fields<CollisionFilter> fields = {field("category", &CollisionFilter::category, between(0, 65535)),
                                                 field("mask", &CollisionFilter::mask, between(0, 65535))};
  return fields;
}

}  // namespace pliant
