// "kind": "solid"
#include <fmt/format.h>

#include "io/scene_builder.h"
#include "io/suggest.h"
#include "pliant/mesh_io.h"
#include "pliant/tetrahedralize.h"

namespace pliant {
namespace {

struct SolidDraft : SolidDef {
  std::shared_ptr<const TriMesh> model;  ///< what the mesh was made from, if it was made from a surface
  bool carry = true;
  std::optional<Repeat> repeat;
};

// --- The mesh --------------------------------------------------------------------------------------------------------

/// Exactly one of the first seven says what it is.
struct SolidMeshDraft {
  std::optional<std::string> file, surface;
  std::optional<Vec3> box;
  std::optional<float> sphere;
  std::optional<Vec2> cylinder, capsule, torus;
  std::optional<float> cell;
  float scale = 1;
};

void read_pair(const SceneReader& r, std::optional<Vec2>& out) {
  std::vector<float> numbers;
  if (!read_numbers(r, numbers, kPositive)) return;
  if (numbers.size() != 2) return r.refuse(fmt::format("expected two numbers, found {}", numbers.size()));
  out = Vec2{numbers[0], numbers[1]};
}

Field<SolidMeshDraft> pair_field(const char* name, std::optional<Vec2> SolidMeshDraft::*member) {
  Field<SolidMeshDraft> f =
      field<SolidMeshDraft>(name, [=](const SceneReader& r, SolidMeshDraft& m) { read_pair(r, m.*member); });
  f.info.range = kPositive;
  return f;
}

const Fields<SolidMeshDraft>& solid_mesh_fields() {
  static const Fields<SolidMeshDraft> fields = {
      field<SolidMeshDraft>("file", [](const SceneReader& r, SolidMeshDraft& m) { read(r, m.file); }),
      field<SolidMeshDraft>("surface", [](const SceneReader& r, SolidMeshDraft& m) { read(r, m.surface); }),
      field("box", &SolidMeshDraft::box, kPositive),
      field("sphere", &SolidMeshDraft::sphere, kPositive),
      pair_field("cylinder", &SolidMeshDraft::cylinder),
      pair_field("capsule", &SolidMeshDraft::capsule),
      pair_field("torus", &SolidMeshDraft::torus),
      field("cell", &SolidMeshDraft::cell, kPositive),
      field("scale", &SolidMeshDraft::scale, kPositive)};
  return fields;
}

/// Fills a surface with tets; the surface itself is what will be seen.
bool fill_surface(const SceneReader& r, const SolidMeshDraft& draft, std::shared_ptr<const TriMesh> surface,
                  SolidDraft& out) {
  Result<TetMesh> solid = tetrahedralize(*surface, {.cell = draft.cell.value_or(0)});
  if (!solid) return r.refuse(solid.error()), false;
  out.mesh = std::move(*solid);
  out.model = std::move(surface);
  return true;
}

bool load_solid_file(const SceneReader& r, const SolidMeshDraft& draft, SolidDraft& out) {
  Result<MeshFile> loaded = load_mesh(r.builder().resolve(*draft.file));
  if (!loaded) return r.refuse(loaded.error()), false;
  for (Vec3& v : loaded->surface.vertices) v *= draft.scale;
  for (Vec3& v : loaded->solid.nodes) v *= draft.scale;
  if (!loaded->solid.tets.empty()) {
    if (draft.cell) return r.refuse("the file holds tets already: leave out `cell`"), false;
    out.mesh = std::move(loaded->solid);
    return true;
  }
  if (loaded->surface.faces.empty()) {
    return r.refuse(fmt::format("{} holds neither tetrahedra nor triangles", *draft.file)), false;
  }
  return fill_surface(r, draft, std::make_shared<const TriMesh>(std::move(loaded->surface)), out);
}

bool use_surface(const SceneReader& r, const SolidMeshDraft& draft, SolidDraft& out) {
  const SceneReader name = r.member("surface", *r.value().find("surface"));
  const SceneMesh* mesh = read_mesh_name(name);
  if (!mesh) return false;
  auto scaled = std::make_shared<TriMesh>(*mesh->surface);
  for (Vec3& v : scaled->vertices) v *= draft.scale;
  return fill_surface(r, draft, std::move(scaled), out);
}

bool generate(const SceneReader& r, const SolidMeshDraft& draft, TetMesh& out) {
  if (!draft.cell) return r.refuse("a mesh of this form needs a `cell`, the wished edge length"), false;
  try {
    if (draft.box) out = tet_box(*draft.box, *draft.cell);
    if (draft.sphere) out = tet_sphere(*draft.sphere, *draft.cell);
    if (draft.cylinder) out = tet_cylinder(draft.cylinder->x, draft.cylinder->y, *draft.cell);
    if (draft.capsule) out = tet_capsule(draft.capsule->x, draft.capsule->y, *draft.cell);
    if (draft.torus) out = tet_torus(draft.torus->x, draft.torus->y, *draft.cell);
  } catch (const BadResult& bad) {
    return r.refuse(bad.error()), false;
  }
  for (Vec3& v : out.nodes) v *= draft.scale;
  return true;
}

void read_mesh(const SceneReader& r, SolidDraft& out) {
  SolidMeshDraft draft;
  if (!read_fields(r, draft, solid_mesh_fields())) return;
  const int forms = (draft.file ? 1 : 0) + (draft.surface ? 1 : 0) + (draft.box ? 1 : 0) + (draft.sphere ? 1 : 0) +
                    (draft.cylinder ? 1 : 0) + (draft.capsule ? 1 : 0) + (draft.torus ? 1 : 0);
  if (forms != 1) {
    return r.refuse(fmt::format(
        "exactly one of `file`, `surface`, `box`, `sphere`, `cylinder`, `capsule` and `torus` is needed, found {}",
        forms));
  }
  if (draft.file) {
    load_solid_file(r, draft, out);
  } else if (draft.surface) {
    use_surface(r, draft, out);
  } else {
    generate(r, draft, out.mesh);
  }
}

// --- The material ----------------------------------------------------------------------------------------------------

bool read_library_material(const SceneReader& r, SolidMaterial& out) {
  std::string name;
  if (!read(r, name)) return false;
  const Result<SolidMaterial> found = material::by_name(name);
  if (found) return out = *found, true;
  std::vector<std::string> names;
  for (const std::string_view known : material::names()) names.emplace_back(known);
  r.refuse(fmt::format("there is no solid material `{}`{}", shown(name), suggestion(name, names)),
           Error::Code::NotFound);
  return false;
}

void read_elasticity(const SceneReader& r, SolidMaterial& out) {
  static const std::vector<std::string> words = {"corotational", "neo_hookean"};
  if (const auto index = read_word(r, words)) {
    out.elasticity = *index == 0 ? Elasticity::Corotational : Elasticity::NeoHookean;
  }
}

const Fields<SolidMaterial>& solid_material_fields() {
  static const Fields<SolidMaterial> fields = {
      field<SolidMaterial>("base", [](const SceneReader& r, SolidMaterial& m) { read_library_material(r, m); }),
      field("density", &SolidMaterial::density, kPositive),
      field("young_modulus", &SolidMaterial::young_modulus, kPositive),
      field("poisson_ratio", &SolidMaterial::poisson_ratio, between(-0.9, 0.495)),
      field<SolidMaterial>("elasticity", read_elasticity),
      field("grain_modulus", &SolidMaterial::grain_modulus, kNotNegative),
      field<SolidMaterial>("grain_direction",
                           [](const SceneReader& r, SolidMaterial& m) { read_direction(r, m.grain_direction); }),
      field("mass_damping", &SolidMaterial::mass_damping, kNotNegative),
      field("stiffness_damping", &SolidMaterial::stiffness_damping, kNotNegative),
      field("yield_strain", &SolidMaterial::yield_strain, kPositive),
      field("creep_rate", &SolidMaterial::creep_rate, kNotNegative),
      field("max_plastic_strain", &SolidMaterial::max_plastic_strain, kNotNegative)};
  return fields;
}

/// A name of the library, or an object that may start from one.
bool read_solid_material(const SceneReader& r, SolidMaterial& out) {
  if (r.value().as<std::string>()) return read_library_material(r, out);
  return read_fields(r, out, solid_material_fields());
}

/// How the library's materials look, where the scene says nothing of it.
Appearance look_of(const std::string& material) {
  struct Look {
    const char* name;
    Appearance appearance;
  };
  static const Look looks[] = {
      {"rubber", {{0.65f, 0.07f, 0.05f}, 1, 0.55f, 0}},    {"jelly", {{0.75f, 0.08f, 0.25f}, 0.8f, 0.15f, 0}},
      {"foam", {{0.85f, 0.75f, 0.35f}, 1, 0.95f, 0}},      {"flesh", {{0.72f, 0.42f, 0.34f}, 1, 0.5f, 0}},
      {"clay", {{0.50f, 0.24f, 0.14f}, 1, 0.9f, 0}},       {"oak", {{0.46f, 0.25f, 0.10f}, 1, 0.75f, 0}},
      {"glass", {{0.70f, 0.85f, 0.85f}, 0.35f, 0.05f, 0}}, {"ice", {{0.62f, 0.80f, 0.90f}, 0.8f, 0.15f, 0}},
      {"concrete", {{0.42f, 0.41f, 0.38f}, 1, 0.9f, 0}},   {"steel", {{0.56f, 0.57f, 0.58f}, 1, 0.3f, 1}},
      {"aluminium", {{0.75f, 0.76f, 0.77f}, 1, 0.35f, 1}}, {"lead", {{0.30f, 0.31f, 0.34f}, 1, 0.6f, 1}}};
  for (const Look& look : looks) {
    if (material == look.name) return look.appearance;
  }
  return SolidDef{}.appearance;
}

// --- Held nodes ------------------------------------------------------------------------------------------------------

struct HeldDraft {
  std::string name;
  NodeSelection nodes = AllNodes{};
};

const Fields<HeldDraft>& held_fields() {
  static const Fields<HeldDraft> fields = {
      field<HeldDraft>("name", [](const SceneReader& r, HeldDraft& h) { read_name(r, h.name); }),
      field<HeldDraft>("nodes", [](const SceneReader& r, HeldDraft& h) { read_selection(r, h.nodes); }).required()};
  return fields;
}

void read_held(const SceneReader& r, SolidDraft& out) {
  r.for_elements("an array of held parts", [&](const SceneReader& e) {
    HeldDraft held;
    if (read_fields(e, held, held_fields())) out.held.push_back({std::move(held.name), std::move(held.nodes)});
  });
}

// --- The body --------------------------------------------------------------------------------------------------------

const Fields<SolidSolver>& solver_fields() {
  static const Fields<SolidSolver> fields = {field("tolerance", &SolidSolver::tolerance, between(1e-7, 0.5)),
                                             field("max_iterations", &SolidSolver::max_iterations, between(1, 100000))};
  return fields;
}

template <typename M>
Field<SolidDraft> own(std::string name, M SolidDef::*member, Range range = kAny) {
  return inherited<SolidDraft>(std::move(name), member, range);
}

Fields<SolidDraft> what_fields() {
  return {field<SolidDraft>("name", [](const SceneReader& r, SolidDraft& d) { read_name(r, d.name); }),
          field<SolidDraft>("mesh", read_mesh).required(),
          field<SolidDraft>("material",
                            [](const SceneReader& r, SolidDraft& d) {
                              if (read_solid_material(r, d.material)) d.appearance = look_of(d.material.name);
                            })
              .required(),
          field<SolidDraft>("region_materials",
                            [](const SceneReader& r, SolidDraft& d) {
                              r.for_elements("an array of materials", [&](const SceneReader& e) {
                                SolidMaterial material;
                                if (read_solid_material(e, material)) d.region_materials.push_back(material);
                              });
                            }),
          field<SolidDraft>("carry", [](const SceneReader& r, SolidDraft& d) { read(r, d.carry); })};
}

Fields<SolidDraft> how_fields() {
  return {own("position", &SolidDef::position),
          own("rotation", &SolidDef::rotation),
          own("stretch", &SolidDef::stretch, kNotNegative),
          own("velocity", &SolidDef::velocity),
          own("angular_velocity", &SolidDef::angular_velocity),
          field<SolidDraft>("held", read_held),
          own("friction", &SolidDef::friction, kNotNegative),
          own("gravity_scale", &SolidDef::gravity_scale),
          own("drag", &SolidDef::drag, kNotNegative),
          field<SolidDraft>("filter",
                            [](const SceneReader& r, SolidDraft& d) { read_fields(r, d.filter, filter_fields()); }),
          own("allow_sleep", &SolidDef::allow_sleep),
          field<SolidDraft>("solver",
                            [](const SceneReader& r, SolidDraft& d) { read_fields(r, d.solver, solver_fields()); }),
          field<SolidDraft>("repeat", [](const SceneReader& r, SolidDraft& d) {
            Repeat repeat;
            if (read_repeat(r, repeat)) d.repeat = std::move(repeat);
          })};
}

SolidDef copy_of(const SolidDef& def, const Repeat& repeat, std::size_t index) {
  SolidDef copy = def;
  place_copy(copy, def, repeat, index);
  return copy;
}

bool finish(const SceneReader& r, SolidDraft& draft, SceneBuilder& out) {
  if (draft.carry) draft.surface = draft.model;
  constexpr double kMostTets = 20e6;
  const double copies = draft.repeat ? static_cast<double>(draft.repeat->places.size()) : 1;
  if (copies * static_cast<double>(draft.mesh.tets.size()) > kMostTets) {
    return r.refuse(
               fmt::format("{:.0f} copies of {} tets are more than {:.0f}", copies, draft.mesh.tets.size(), kMostTets),
               Error::Code::CapacityExceeded),
           false;
  }
  if (!out.has_room(r, copies)) return false;
  const SceneSource source = r.source();
  if (!draft.repeat) return out.add_body(r, {static_cast<SolidDef&>(draft), source}), true;
  for (std::size_t i = 0; i < draft.repeat->places.size() && !r.full(); ++i) {
    out.add_body(r, {copy_of(draft, *draft.repeat, i), source});
  }
  return true;
}

}  // namespace

Kind<SceneBuilder> solid_body_kind() {
  return kind<SceneBuilder, SolidDraft>("solid",
                                        what_fields() + appearance_fields<SolidDraft>([](SolidDraft& d) -> Appearance& {
                                          return d.appearance;
                                        }) + how_fields(),
                                        finish);
}

void describe_solids(std::vector<FieldSet>& sets) {
  sets.push_back({"solid_mesh", infos(solid_mesh_fields())});
  sets.push_back({"solid_material", infos(solid_material_fields())});
  sets.push_back({"solid_solver", infos(solver_fields())});
  sets.push_back({"held", infos(held_fields())});
  describe_selections(sets);
}

}  // namespace pliant
