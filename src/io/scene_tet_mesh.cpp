// Tet meshes of solids and jellies: from files, from surfaces, or generated.
#include <fmt/format.h>

#include "io/scene_node_body.h"
#include "pliant/mesh_io.h"
#include "pliant/tetrahedralize.h"

namespace pliant {
namespace {

/// Exactly one of the first seven says what it is.
struct MeshDraft {
  std::optional<std::string> file, surface;
  std::optional<Vec3> box;
  std::optional<float> sphere;
  std::optional<Vec2> cylinder, capsule, torus;
  std::optional<float> cell;
  float scale = 1;
};

const Fields<MeshDraft>& solid_mesh_fields() {
  static const Fields<MeshDraft> fields = {
      field<MeshDraft>("file", [](const SceneReader& r, MeshDraft& m) { read(r, m.file); }),
      field<MeshDraft>("surface", [](const SceneReader& r, MeshDraft& m) { read(r, m.surface); }),
      field("box", &MeshDraft::box, kPositive),
      field("sphere", &MeshDraft::sphere, kPositive),
      pair_field("cylinder", &MeshDraft::cylinder),
      pair_field("capsule", &MeshDraft::capsule),
      pair_field("torus", &MeshDraft::torus),
      field("cell", &MeshDraft::cell, kPositive),
      field("scale", &MeshDraft::scale, kPositive)};
  return fields;
}

/// Fills a surface with tets; the surface itself is what will be seen.
bool fill_surface(const SceneReader& r, const MeshDraft& draft, std::shared_ptr<const TriMesh> surface,
                  TetMeshSource& out) {
  Result<TetMesh> solid = tetrahedralize(*surface, {.cell = draft.cell.value_or(0)});
  if (!solid) return r.refuse(solid.error()), false;
  out.mesh = std::move(*solid);
  out.model = std::move(surface);
  return true;
}

bool load_solid_file(const SceneReader& r, const MeshDraft& draft, TetMeshSource& out) {
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

bool use_surface(const SceneReader& r, const MeshDraft& draft, TetMeshSource& out) {
  const SceneReader name = r.member("surface", *r.value().find("surface"));
  const SceneMesh* mesh = read_mesh_name(name);
  if (!mesh) return false;
  auto scaled = std::make_shared<TriMesh>(*mesh->surface);
  for (Vec3& v : scaled->vertices) v *= draft.scale;
  return fill_surface(r, draft, std::move(scaled), out);
}

bool generate(const SceneReader& r, const MeshDraft& draft, TetMesh& out) {
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

}  // namespace

void read_pair(const SceneReader& r, std::optional<Vec2>& out) {
  std::vector<float> numbers;
  if (!read_numbers(r, numbers, kPositive)) return;
  if (numbers.size() != 2) return r.refuse(fmt::format("expected two numbers, found {}", numbers.size()));
  out = Vec2{numbers[0], numbers[1]};
}

void read_tet_mesh(const SceneReader& r, TetMeshSource& out) {
  MeshDraft draft;
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

void describe_tet_meshes(std::vector<FieldSet>& sets) { sets.push_back({"solid_mesh", infos(solid_mesh_fields())}); }

}  // namespace pliant
