// What the kinds of bodies that have nodes share: solids, cloth, rope and jelly.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "io/scene_builder.h"

namespace pliant {

/// A body of nodes while it is read.
template <typename Def>
struct NodeBodyDraft : Def {
  std::optional<Repeat> repeat;
};

template <typename Draft>
Field<Draft> name_field() {
  return field<Draft>("name", [](const SceneReader& r, Draft& d) { read_name(r, d.name); });
}

/// Tets, and the surface that they were made from, if they were.
struct TetMeshSource {
  TetMesh mesh;
  std::shared_ptr<const TriMesh> model;
};
void read_tet_mesh(const SceneReader& r, TetMeshSource& out);
void describe_tet_meshes(std::vector<FieldSet>& sets);

/// What a solid is to be cut into, once its mesh and its look are known.
struct SplinterSource {
  SplinterDef def;
  bool has_grain = false;       ///< else wood has that of the material
  std::vector<TriMesh> pieces;  ///< from a file; then the def is of no meaning
};
void read_splinters(const SceneReader& r, std::optional<SplinterSource>& out);
bool make_splinters(const SceneReader& r, const SplinterSource& source, SolidDef& solid);
void describe_splinters(std::vector<FieldSet>& sets);

/// Two positive numbers.
void read_pair(const SceneReader& r, std::optional<Vec2>& out);
template <typename T>
Field<T> pair_field(const char* name, std::optional<Vec2> T::*member) {
  Field<T> f = field<T>(name, [=](const SceneReader& r, T& out) { read_pair(r, out.*member); });
  f.info.range = kPositive;
  return f;
}

/// A name of the library, or an object that may start from one.
bool read_solid_material(const SceneReader& r, SolidMaterial& out);

void read_held(const SceneReader& r, std::vector<HeldNodes>& out);

/// Where it is, how it moves and what it meets. The look is read after the kind's own fields, so that it wins over the
/// look of a material.
template <typename Draft, typename Def>
Fields<Draft> node_body_fields() {
  return appearance_fields<Draft>([](Draft& d) -> Appearance& { return d.appearance; }) +
         Fields<Draft>{
             inherited<Draft>("position", &Def::position),
             inherited<Draft>("rotation", &Def::rotation),
             inherited<Draft>("velocity", &Def::velocity),
             inherited<Draft>("angular_velocity", &Def::angular_velocity),
             field<Draft>("held", [](const SceneReader& r, Draft& d) { read_held(r, d.held); }),
             inherited<Draft>("friction", &Def::friction, kNotNegative),
             inherited<Draft>("gravity_scale", &Def::gravity_scale),
             inherited<Draft>("drag", &Def::drag, kNotNegative),
             field<Draft>("filter", [](const SceneReader& r, Draft& d) { read_fields(r, d.filter, filter_fields()); }),
             inherited<Draft>("allow_sleep", &Def::allow_sleep),
             field<Draft>("repeat", [](const SceneReader& r, Draft& d) {
               Repeat repeat;
               if (read_repeat(r, repeat)) d.repeat = std::move(repeat);
             })};
}

/// Adds the body, or its copies, unless that makes too much of it: `size` elements of the name `elements` in each.
template <typename Def>
bool add_copies(const SceneReader& r, const NodeBodyDraft<Def>& draft, std::size_t size, const char* elements,
                SceneBuilder& out) {
  constexpr double kMost = 20e6;
  const double copies = draft.repeat ? static_cast<double>(draft.repeat->places.size()) : 1;
  if (copies * static_cast<double>(size) > kMost) {
    r.refuse(fmt::format("{:.0f} copies of {} {} are more than {:.0f}", copies, size, elements, kMost),
             Error::Code::CapacityExceeded);
    return false;
  }
  if (!out.has_room(r, copies)) return false;
  const Def& def = draft;
  if (!draft.repeat) return out.add_body(r, {def, r.source()}), true;
  for (std::size_t i = 0; i < draft.repeat->places.size() && !r.full(); ++i) {
    Def copy = def;
    place_copy(copy, def, *draft.repeat, i);
    out.add_body(r, {std::move(copy), r.source()});
  }
  return true;
}

// --- Bodies of tets: solids and jelly --------------------------------------------------------------------------------

template <typename Def>
struct TetBodyDraft : NodeBodyDraft<Def> {
  TetMeshSource source;
  bool carry = true;                              ///< the surface that the tets were made from is what is seen
  std::optional<SplinterSource> splinter_source;  ///< of a solid
};

/// The fields of any body of tets round those of the kind itself.
template <typename Def>
Fields<TetBodyDraft<Def>> tet_body_fields(Fields<TetBodyDraft<Def>> own) {
  using Draft = TetBodyDraft<Def>;
  return Fields<Draft>{
             name_field<Draft>(),
             field<Draft>("mesh", [](const SceneReader& r, Draft& d) { read_tet_mesh(r, d.source); }).required()} +
         std::move(own) +
         Fields<Draft>{field<Draft>("carry", [](const SceneReader& r, Draft& d) { read(r, d.carry); })} +
         node_body_fields<Draft, Def>();
}

template <typename Def>
bool finish_tet_body(const SceneReader& r, TetBodyDraft<Def>& draft, SceneBuilder& out) {
  draft.mesh = std::move(draft.source.mesh);
  if (draft.carry) draft.surface = draft.source.model;
  if constexpr (std::is_same_v<Def, SolidDef>) {
    if (draft.splinter_source && !make_splinters(r, *draft.splinter_source, draft)) return false;
  }
  return add_copies<Def>(r, draft, draft.mesh.tets.size(), "tets", out);
}

}  // namespace pliant
