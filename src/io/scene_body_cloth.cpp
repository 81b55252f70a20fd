// "kind": "cloth"
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "io/scene_node_body.h"
#include "io/suggest.h"
#include "pliant/cloth_materials.h"

namespace pliant {
namespace {

struct ClothDraft : NodeBodyDraft<ClothDef> {
  std::shared_ptr<const TriMesh> model;  ///< the mesh as it was read
};

// --- The shape -------------------------------------------------------------------------------------------------------

struct MeshShape {
  const SceneMesh* mesh = nullptr;
  float scale = 1;
};

/// Vertices at one place become one node, or the cloth would fall apart along the seams of its texture.
TriMesh joined(const TriMesh& mesh, float scale) {
  TriMesh out;
  std::map<std::array<float, 3>, std::uint32_t> node_at;
  for (const Face& face : mesh.faces) {
    Face nodes{};
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3 v = scale * mesh.vertices[face[i]];
      const auto [found, is_new] =
          node_at.try_emplace({v.x, v.y, v.z}, static_cast<std::uint32_t>(out.vertices.size()));
      if (is_new) out.vertices.push_back(v);
      nodes[i] = found->second;
    }
    out.faces.push_back(nodes);
  }
  return out;
}

bool finish_mesh(const SceneReader& r, MeshShape& draft, ClothDraft& out) {
  if (!draft.mesh) return false;
  TriMesh nodes = joined(*draft.mesh->surface, draft.scale);
  for (const MeshProblem& problem : validate(nodes)) return r.refuse(problem.message), false;
  auto model = std::make_shared<TriMesh>(*draft.mesh->surface);
  for (Vec3& v : model->vertices) v *= draft.scale;
  out.model = std::move(model);
  out.shape = std::move(nodes);
  return true;
}

struct WeaveShape : ClothWeave {
  const SceneMesh* source = nullptr;
  float scale = 1;
};

bool finish_weave(const SceneReader& r, WeaveShape& draft, ClothDraft& out) {
  if (!draft.source) return false;
  draft.mesh = *draft.source->surface;
  for (Vec3& v : draft.mesh.vertices) v *= draft.scale;
  for (const MeshProblem& problem : validate(draft.mesh)) return r.refuse(problem.message), false;
  if (draft.uses_uvs && draft.mesh.uvs.empty()) return r.refuse("the mesh has no texture coordinates"), false;
  out.shape = static_cast<ClothWeave&>(draft);
  return true;
}

const std::vector<Kind<ClothDraft>>& shape_kinds() {
  constexpr Range kCells = between(1, 4000);
  static const std::vector<Kind<ClothDraft>> kinds = {
      kind<ClothDraft, ClothSheet>(
          "sheet",
          {field("width", &ClothSheet::width, kPositive), field("length", &ClothSheet::length, kPositive),
           field("cells_x", &ClothSheet::cells_x, kCells), field("cells_z", &ClothSheet::cells_z, kCells)},
          [](const SceneReader&, ClothSheet& sheet, ClothDraft& out) {
            out.shape = sheet;
            return true;
          }),
      kind<ClothDraft, MeshShape>(
          "mesh",
          {field<MeshShape>("mesh", [](const SceneReader& r, MeshShape& m) { m.mesh = read_mesh_name(r); }).required(),
           field("scale", &MeshShape::scale, kPositive)},
          finish_mesh),
      kind<ClothDraft, WeaveShape>(
          "woven",
          {field<WeaveShape>("mesh", [](const SceneReader& r, WeaveShape& w) { w.source = read_mesh_name(r); })
               .required(),
           field("scale", &WeaveShape::scale, kPositive), inherited<WeaveShape>("cell", &ClothWeave::cell, kPositive),
           inherited<WeaveShape>("uses_uvs", &ClothWeave::uses_uvs),
           inherited<WeaveShape>("uv_scale", &ClothWeave::uv_scale, kNotNegative)},
          finish_weave)};
  return kinds;
}

// --- The material ----------------------------------------------------------------------------------------------------

bool read_library_material(const SceneReader& r, ClothMaterial& out) {
  std::string name;
  if (!read(r, name)) return false;
  const Result<ClothMaterial> found = cloth_material::by_name(name);
  if (found) return out = *found, true;
  std::vector<std::string> names;
  for (const std::string_view known : cloth_material::names()) names.emplace_back(known);
  r.refuse(fmt::format("there is no cloth material `{}`{}", shown(name), suggestion(name, names)),
           Error::Code::NotFound);
  return false;
}

const Fields<ClothMaterial>& material_fields() {
  static const Fields<ClothMaterial> fields = {
      field<ClothMaterial>("base", [](const SceneReader& r, ClothMaterial& m) { read_library_material(r, m); }),
      field("density", &ClothMaterial::density, kPositive),
      field("bend_stiffness", &ClothMaterial::bend_stiffness, kNotNegative),
      field("shear_stiffness", &ClothMaterial::shear_stiffness, kNotNegative),
      field("stretch_stiffness", &ClothMaterial::stretch_stiffness, kPositive),
      field("damping", &ClothMaterial::damping, kNotNegative),
      field("strength", &ClothMaterial::strength, kPositive)};
  return fields;
}

/// A name of the library, or an object that may start from one.
void read_material(const SceneReader& r, ClothDraft& out) {
  if (r.value().as<std::string>()) {
    read_library_material(r, out.material);
  } else {
    read_fields(r, out.material, material_fields());
  }
}

// --- The body --------------------------------------------------------------------------------------------------------

Fields<ClothDraft> own_fields() {
  return {name_field<ClothDraft>(),
          field<ClothDraft>("shape",
                            [](const SceneReader& r, ClothDraft& d) { read_kinds(r, "cloth shape", shape_kinds(), d); })
              .required(),
          field<ClothDraft>("material", read_material),
          field<ClothDraft>("surface",
                            [](const SceneReader& r, ClothDraft& d) {
                              if (const SceneMesh* mesh = read_mesh_name(r)) d.surface = mesh->surface;
                            }),
          inherited<ClothDraft>("thickness", &ClothDef::thickness, kPositive),
          inherited<ClothDraft>("pressure", &ClothDef::pressure),
          inherited<ClothDraft>("outside_pressure", &ClothDef::outside_pressure, kNotNegative),
          inherited<ClothDraft>("self_collision", &ClothDef::self_collision)};
}

double area_of(const TriMesh& mesh) {
  double area = 0;
  for (const Face& f : mesh.faces) {
    const Vec3 a = mesh.vertices[f[0]];
    area += 0.5 * static_cast<double>(length(cross(mesh.vertices[f[1]] - a, mesh.vertices[f[2]] - a)));
  }
  return area;
}

std::size_t count_nodes(const ClothDef& def) {
  if (const auto* mesh = std::get_if<TriMesh>(&def.shape)) return mesh->vertices.size();
  if (const auto* weave = std::get_if<ClothWeave>(&def.shape)) {
    // No more than its area has cells, and a rim.
    const double cells = area_of(weave->mesh) / std::pow(static_cast<double>(weave->cell), 2);
    return static_cast<std::size_t>(std::min(2 * cells, 1e9) + 4 * static_cast<double>(weave->mesh.faces.size()));
  }
  const auto& sheet = std::get<ClothSheet>(def.shape);
  return (static_cast<std::size_t>(sheet.cells_x) + 1) * (static_cast<std::size_t>(sheet.cells_z) + 1);
}

bool finish(const SceneReader& r, ClothDraft& draft, SceneBuilder& out) {
  if (draft.pressure != 0 && !draft.model) {
    r.refuse(Error{Error::Code::InvalidArgument, "a sheet holds no gas: pressure needs a closed mesh", {}, "pressure"});
    return false;
  }
  // Seams and normals that the nodes do not have are seen on the mesh as it was read, which is carried along.
  if (!draft.surface && draft.model && draft.model->vertices.size() != count_nodes(draft)) draft.surface = draft.model;
  return add_copies<ClothDef>(r, draft, count_nodes(draft), "nodes", out);
}

}  // namespace

Kind<SceneBuilder> cloth_body_kind() {
  return kind<SceneBuilder, ClothDraft>("cloth", own_fields() + node_body_fields<ClothDraft, ClothDef>(), finish);
}

void describe_cloths(std::vector<FieldSet>& sets) {
  for (const Kind<ClothDraft>& k : shape_kinds()) sets.push_back({"cloth_shape_" + k.name, k.fields});
  sets.push_back({"cloth_material", infos(material_fields())});
}

}  // namespace pliant
