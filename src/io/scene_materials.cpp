#include <fmt/format.h>

#include "io/scene_builder.h"
#include "io/suggest.h"

namespace pliant {
namespace {

const Fields<SceneMaterial>& material_fields() {
  static const Fields<SceneMaterial> fields =
      Fields<SceneMaterial>{field("density", &SceneMaterial::density, kPositive),
                            field("friction", &SceneMaterial::friction, kNotNegative),
                            field("rolling_friction", &SceneMaterial::rolling_friction, kNotNegative),
                            field("restitution", &SceneMaterial::restitution, kShare)} +
      appearance_fields<SceneMaterial>([](SceneMaterial& m) -> Appearance& { return m.appearance; });
  return fields;
}

}  // namespace

const std::map<std::string, SceneMaterial, std::less<>>& builtin_materials() {
  // Densities are handbook values. Friction and restitution are those of the stuff against itself, dry; a pair of
  // bodies takes the geometric mean and the larger one.
  static const std::map<std::string, SceneMaterial, std::less<>> materials = {
      {"brick", {1900, 0.7f, 0, 0.1f, {{0.38f, 0.11f, 0.06f}, 1, 0.9f, 0}}},
      {"concrete", {2400, 0.7f, 0, 0.05f, {{0.42f, 0.41f, 0.38f}, 1, 0.9f, 0}}},
      {"glass", {2500, 0.4f, 0, 0.5f, {{0.70f, 0.85f, 0.85f}, 0.35f, 0.05f, 0}}},
      {"ice", {917, 0.03f, 0, 0.1f, {{0.62f, 0.80f, 0.90f}, 0.8f, 0.15f, 0}}},
      {"plastic", {1050, 0.35f, 0, 0.4f, {{0.03f, 0.22f, 0.60f}, 1, 0.4f, 0}}},
      {"rubber", {1100, 0.9f, 0, 0.7f, {{0.03f, 0.03f, 0.035f}, 1, 0.8f, 0}}},
      {"steel", {7850, 0.45f, 0, 0.4f, {{0.56f, 0.57f, 0.58f}, 1, 0.3f, 1}}},
      {"stone", {2600, 0.65f, 0, 0.05f, {{0.45f, 0.40f, 0.33f}, 1, 0.95f, 0}}},
      {"wood", {650, 0.45f, 0, 0.15f, {{0.46f, 0.25f, 0.10f}, 1, 0.75f, 0}}}};
  return materials;
}

void read_materials(const SceneReader& r) {
  r.for_members("an object of named materials", [](const std::string& name, const SceneReader& value) {
    SceneMaterial material;
    read_fields(value, material, material_fields());
    // Also one that was refused: what is made of it is not told that it does not exist.
    value.builder().scene.materials[name] = material;
  });
}

const SceneMaterial* read_material_name(const SceneReader& r) {
  std::string name;
  if (!read(r, name)) return nullptr;
  const auto& own = r.builder().scene.materials;
  if (const auto found = own.find(name); found != own.end()) return &found->second;
  const auto& builtin = builtin_materials();
  if (const auto found = builtin.find(name); found != builtin.end()) return &found->second;
  std::vector<std::string> names;
  for (const auto& entry : own) names.push_back(entry.first);
  for (const auto& entry : builtin) {
    if (!own.contains(entry.first)) names.push_back(entry.first);
  }
  r.refuse(fmt::format("there is no material `{}`{}", shown(name), suggestion(name, names)), Error::Code::NotFound);
  return nullptr;
}

void describe_materials(std::vector<FieldSet>& sets) { sets.push_back({"material", infos(material_fields())}); }

}  // namespace pliant
