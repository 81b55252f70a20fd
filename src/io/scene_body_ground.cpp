// "kind": "ground"
#include "io/scene_builder.h"

namespace pliant {
namespace {

void read_material(const SceneReader& r, GroundDef& out) {
  const SceneMaterial* material = read_material_name(r);
  if (!material) return;
  out.friction = material->friction;
  out.restitution = material->restitution;
  out.appearance = material->appearance;
}

bool finish(const SceneReader& r, GroundDef& def, SceneBuilder& out) {
  // The name that nobody gave is the first one's alone.
  if (!r.value().find("name") && out.find_body(def.name)) def.name.clear();
  if (out.has_room(r, 1)) out.add_body(r, {std::move(def), r.source()});
  return true;
}

}  // namespace

Kind<SceneBuilder> ground_body_kind() {
  return kind<SceneBuilder, GroundDef>(
      "ground",
      Fields<GroundDef>{
          field<GroundDef>("name", [](const SceneReader& r, GroundDef& d) { read_name(r, d.name); }),
          field<GroundDef>("material", read_material), field("height", &GroundDef::height),
          field("friction", &GroundDef::friction, kNotNegative), field("restitution", &GroundDef::restitution, kShare),
          field<GroundDef>("filter",
                           [](const SceneReader& r, GroundDef& d) { read_fields(r, d.filter, filter_fields()); })} +
          appearance_fields<GroundDef>([](GroundDef& d) -> Appearance& { return d.appearance; }),
      finish);
}

}  // namespace pliant
