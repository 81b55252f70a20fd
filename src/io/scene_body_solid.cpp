// "kind": "solid"
#include <fmt/format.h>

#include "io/material_look.h"
#include "io/scene_node_body.h"
#include "io/suggest.h"

namespace pliant {
namespace {

using SolidDraft = TetBodyDraft<SolidDef>;

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

const Fields<SolidSolver>& solver_fields() {
  static const Fields<SolidSolver> fields = {field("tolerance", &SolidSolver::tolerance, between(1e-7, 0.5)),
                                             field("max_iterations", &SolidSolver::max_iterations, between(1, 100000))};
  return fields;
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
      field("max_plastic_strain", &SolidMaterial::max_plastic_strain, kNotNegative),
      field("strength", &SolidMaterial::strength, kPositive),
      field("grain_strength", &SolidMaterial::grain_strength, kNotNegative),
      field("toughness", &SolidMaterial::toughness, kPositive),
      field<SolidMaterial>("solver",
                           [](const SceneReader& r, SolidMaterial& m) {
                             SolidSolver solver = m.solver.value_or(SolidSolver{});
                             if (read_fields(r, solver, solver_fields())) m.solver = solver;
                           }),
      // The last: it changes what the others gave.
      field<SolidMaterial>("soften_to", [](const SceneReader& r, SolidMaterial& m) {
        float modulus = 0;
        if (read(r, modulus, kPositive)) m = material::softened(std::move(m), modulus);
      })};
  return fields;
}

// --- The body --------------------------------------------------------------------------------------------------------

void read_seed(const SceneReader& r, FractureRules& out) {
  std::uint32_t seed = 0;
  if (read(r, seed, kNotNegative)) out.seed = seed;
}

const Fields<SmallPieces>& small_fields() {
  static const Fields<SmallPieces> fields = {field("max_tets", &SmallPieces::max_tets, between(0, 1e9)),
                                             field("max_volume", &SmallPieces::max_volume, kNotNegative),
                                             field("max_size", &SmallPieces::max_size, kNotNegative),
                                             field("rigid_after", &SmallPieces::rigid_after, kNotNegative),
                                             field("gone_after", &SmallPieces::gone_after, kNotNegative),
                                             field("fade", &SmallPieces::fade, kNotNegative)};
  return fields;
}

const Fields<FractureRules>& fracture_fields() {
  static const Fields<FractureRules> fields = {
      field("max_splits", &FractureRules::max_splits, between(0, 1e6)),
      field("min_tets", &FractureRules::min_tets, between(1, 64)), field("lets_go", &FractureRules::lets_go),
      field<FractureRules>("seed", read_seed),
      field<FractureRules>("small_pieces", [](const SceneReader& r, FractureRules& f) {
        read_fields(r, f.small_pieces, small_fields());
      })};
  return fields;
}

/// Of nodes or of faces.
template <typename Weak>
const Fields<Weak>& weak_fields() {
  static const Fields<Weak> fields = {
      field<Weak>("nodes", [](const SceneReader& r, Weak& w) { read_selection(r, w.nodes); }).required(),
      field("factor", &Weak::factor, kPositive)};
  return fields;
}

template <typename Weak>
void read_weak(const SceneReader& r, std::vector<Weak>& out) {
  r.for_elements("an array of weak parts", [&](const SceneReader& e) {
    Weak weak;
    if (read_fields(e, weak, weak_fields<Weak>())) out.push_back(std::move(weak));
  });
}

template <typename M>
Field<SolidDraft> own(std::string name, M SolidDef::*member, Range range = kAny) {
  return inherited<SolidDraft>(std::move(name), member, range);
}

Fields<SolidDraft> what_fields() {
  return {field<SolidDraft>("material",
                            [](const SceneReader& r, SolidDraft& d) {
                              if (read_solid_material(r, d.material)) d.appearance = look_of_material(d.material.name);
                            })
              .required(),
          field<SolidDraft>("region_materials", [](const SceneReader& r, SolidDraft& d) {
            r.for_elements("an array of materials", [&](const SceneReader& e) {
              SolidMaterial material;
              if (read_solid_material(e, material)) d.region_materials.push_back(material);
            });
          })};
}

/// What the body says wins over its materials, also where it says the default.
void read_solver(const SceneReader& r, SolidDraft& d) {
  d.solver = solver_of(d.solver, d.material, d.region_materials);
  d.material.solver.reset();
  for (SolidMaterial& material : d.region_materials) material.solver.reset();
  read_fields(r, d.solver, solver_fields());
}

Fields<SolidDraft> how_fields() {
  return {
      own("stretch", &SolidDef::stretch, kNotNegative),
      own("self_collision", &SolidDef::self_collision),
      field<SolidDraft>("solver", read_solver),
      field<SolidDraft>("fracture",
                        [](const SceneReader& r, SolidDraft& d) { read_fields(r, d.fracture, fracture_fields()); }),
      field<SolidDraft>("weakened", [](const SceneReader& r, SolidDraft& d) { read_weak(r, d.weakened); }),
      field<SolidDraft>("weak_faces", [](const SceneReader& r, SolidDraft& d) { read_weak(r, d.weak_faces); }),
      field<SolidDraft>("splinters", [](const SceneReader& r, SolidDraft& d) { read_splinters(r, d.splinter_source); }),
      field<SolidDraft>("interior_color", [](const SceneReader& r, SolidDraft& d) {
        Vec3 color;
        if (read_color(r, color)) d.interior_color = color;
      })};
}

}  // namespace

bool read_solid_material(const SceneReader& r, SolidMaterial& out) {
  if (r.value().as<std::string>()) return read_library_material(r, out);
  return read_fields(r, out, solid_material_fields());
}

Kind<SceneBuilder> solid_body_kind() {
  return kind<SceneBuilder, SolidDraft>("solid", tet_body_fields<SolidDef>(what_fields() + how_fields()),
                                        finish_tet_body<SolidDef>);
}

void describe_solids(std::vector<FieldSet>& sets) {
  sets.push_back({"solid_material", infos(solid_material_fields())});
  sets.push_back({"solid_solver", infos(solver_fields())});
  sets.push_back({"fracture", infos(fracture_fields())});
  sets.push_back({"small_pieces", infos(small_fields())});
  sets.push_back({"weak", infos(weak_fields<WeakNodes>())});
  describe_splinters(sets);
}

}  // namespace pliant
