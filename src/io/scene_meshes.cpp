// Meshes by name: from files or from the generators.
#include <fmt/format.h>

#include "io/scene_builder.h"
#include "io/suggest.h"
#include "pliant/generators.h"
#include "pliant/mesh_io.h"

namespace pliant {
namespace {

constexpr Range kSegments = between(3, 1024);

struct FileMesh {
  std::string path;
  float scale = 1;
};
struct BoxMesh {
  Vec3 size{1, 1, 1};
  float cell = 1;
};
/// Everything round and simple.
struct RoundMesh {
  float radius = 0.5f, tube_radius = 0.15f, height = 1, size = 1;
  int segments = 32, tube_segments = 24;
};
struct HeadMesh {
  float size = 1, cell = 0.03f;
};
struct GridMesh {
  float width = 1, depth = 1, cell = 0.1f;
};

template <typename Draft>
using Generate = TriMesh (*)(const Draft&);

/// The generators answer nonsense, and more elements than they make, by an exception with the argument's name.
template <typename Draft>
Kind<SceneMesh> generated(std::string name, Fields<Draft> fields, Generate<Draft> generate) {
  return kind<SceneMesh, Draft>(std::move(name), std::move(fields),
                                [generate](const SceneReader& r, Draft& draft, SceneMesh& out) {
                                  try {
                                    out.surface = std::make_shared<const TriMesh>(generate(draft));
                                    return true;
                                  } catch (const BadResult& bad) {
                                    r.refuse(bad.error());
                                    return false;
                                  }
                                });
}

bool load_file(const SceneReader& r, FileMesh& draft, SceneMesh& out) {
  Result<MeshFile> loaded = load_mesh(r.builder().resolve(draft.path));
  if (!loaded) return r.refuse(loaded.error()), false;
  for (Vec3& v : loaded->surface.vertices) v *= draft.scale;
  for (Vec3& v : loaded->solid.nodes) v *= draft.scale;
  if (loaded->surface.faces.empty()) loaded->surface = extract_surface(loaded->solid);
  if (loaded->surface.faces.empty()) {
    return r.refuse(fmt::format("{} holds neither triangles nor tetrahedra", draft.path)), false;
  }
  for (const Vec3& v : loaded->surface.vertices) {
    if (!is_finite(v)) return r.refuse(fmt::format("scaled by {}, the mesh is not finite", draft.scale)), false;
  }
  out.surface = std::make_shared<const TriMesh>(std::move(loaded->surface));
  if (!loaded->solid.tets.empty()) out.solid = std::make_shared<const TetMesh>(std::move(loaded->solid));
  return true;
}

std::vector<Kind<SceneMesh>> simple_meshes() {
  const auto radius = field("radius", &RoundMesh::radius, kPositive);
  const auto height = field("height", &RoundMesh::height, kPositive);
  const auto segments = field("segments", &RoundMesh::segments, kSegments);
  return {
      kind<SceneMesh, FileMesh>(
          "file", {field("path", &FileMesh::path).required(), field("scale", &FileMesh::scale, kPositive)}, load_file),
      generated<BoxMesh>("box", {field("size", &BoxMesh::size, kPositive), field("cell", &BoxMesh::cell, kPositive)},
                         [](const BoxMesh& m) { return tri_box(m.size, m.cell); }),
      generated<RoundMesh>("sphere", {radius, segments},
                           [](const RoundMesh& m) { return tri_sphere(m.radius, m.segments); }),
      generated<RoundMesh>("cylinder", {radius, height, segments},
                           [](const RoundMesh& m) { return tri_cylinder(m.radius, m.height, m.segments); }),
      generated<RoundMesh>("capsule", {radius, height, segments},
                           [](const RoundMesh& m) { return tri_capsule(m.radius, m.height, m.segments); }),
      generated<RoundMesh>("cone", {radius, height, segments},
                           [](const RoundMesh& m) { return tri_cone(m.radius, m.height, m.segments); }),
      generated<RoundMesh>(
          "torus",
          {radius, field("tube_radius", &RoundMesh::tube_radius, kPositive), segments,
           field("tube_segments", &RoundMesh::tube_segments, kSegments)},
          [](const RoundMesh& m) { return tri_torus(m.radius, m.tube_radius, m.segments, m.tube_segments); }),
      generated<RoundMesh>("teapot", {field("size", &RoundMesh::size, kPositive), segments},
                           [](const RoundMesh& m) { return tri_teapot(m.size, m.segments); }),
      generated<GridMesh>("grid",
                          {field("width", &GridMesh::width, kPositive), field("depth", &GridMesh::depth, kPositive),
                           field("cell", &GridMesh::cell, kPositive)},
                          [](const GridMesh& m) {
                            return tri_grid(Vec2{m.width, m.depth}, m.cell);
                          })};
}

std::vector<Kind<SceneMesh>> elaborate_meshes() {
  return {generated<GearShape>(
              "gear",
              {field("teeth", &GearShape::teeth, between(3, 1000)),
               field("root_radius", &GearShape::root_radius, kPositive),
               field("tip_radius", &GearShape::tip_radius, kPositive),
               field("bore_radius", &GearShape::bore_radius, kNotNegative),
               field("thickness", &GearShape::thickness, kPositive), field("cell", &GearShape::cell, kPositive)},
              [](const GearShape& s) { return tri_gear(s); }),
          generated<PumpkinShape>(
              "pumpkin",
              {field("radius", &PumpkinShape::radius, kPositive), field("flatness", &PumpkinShape::flatness, kPositive),
               field("ridges", &PumpkinShape::ridges, between(0, 1000)),
               field("ridge_depth", &PumpkinShape::ridge_depth, between(0, 0.5)),
               field("segments", &PumpkinShape::segments, kSegments)},
              [](const PumpkinShape& s) { return tri_pumpkin(s); }),
          generated<TireShape>(
              "tire",
              {field("radius", &TireShape::radius, kPositive), field("rim_radius", &TireShape::rim_radius, kPositive),
               field("width", &TireShape::width, kPositive), field("treads", &TireShape::treads, between(3, 1000)),
               field("tread_depth", &TireShape::tread_depth, kPositive),
               field("segments", &TireShape::segments, kSegments)},
              [](const TireShape& s) { return tri_tire(s); }),
          generated<HeadMesh>("head",
                              {field("size", &HeadMesh::size, kPositive), field("cell", &HeadMesh::cell, kPositive)},
                              [](const HeadMesh& m) { return tri_head(m.size, m.cell); }),
          generated<TerrainShape>("terrain", terrain_fields(), [](const TerrainShape& s) { return tri_terrain(s); })};
}

const std::vector<Kind<SceneMesh>>& mesh_kinds() {
  static const std::vector<Kind<SceneMesh>> kinds = [] {
    std::vector<Kind<SceneMesh>> all = simple_meshes();
    for (Kind<SceneMesh>& k : elaborate_meshes()) all.push_back(std::move(k));
    return all;
  }();
  return kinds;
}

}  // namespace

Fields<TerrainShape> terrain_fields() {
  return {field("columns", &TerrainShape::columns, between(2, 2049)),
          field("rows", &TerrainShape::rows, between(2, 2049)),
          field("cell", &TerrainShape::cell, kPositive),
          field("height", &TerrainShape::height, kNotNegative),
          field("feature", &TerrainShape::feature, kPositive),
          field("octaves", &TerrainShape::octaves, between(1, 12)),
          field("seed", &TerrainShape::seed, kNotNegative)};
}

void read_meshes(const SceneReader& r) {
  r.for_members("an object of named meshes", [](const std::string& name, const SceneReader& value) {
    SceneMesh mesh;
    if (read_kinds(value, "mesh", mesh_kinds(), mesh)) {
      value.builder().scene.meshes[name] = std::move(mesh);
    } else {
      value.builder().note_refused_mesh(name);
    }
  });
}

const SceneMesh* read_mesh_name(const SceneReader& r) {
  std::string name;
  if (!read(r, name)) return nullptr;
  const auto& meshes = r.builder().scene.meshes;
  if (const auto found = meshes.find(name); found != meshes.end()) return &found->second;
  if (r.builder().is_refused_mesh(name)) {
    return r.refuse(fmt::format("the mesh `{}` was refused: see the error about it", shown(name))), nullptr;
  }
  std::vector<std::string> names;
  for (const auto& entry : meshes) names.push_back(entry.first);
  r.refuse(fmt::format("there is no mesh `{}` among the scene's meshes{}", shown(name), suggestion(name, names)),
           Error::Code::NotFound);
  return nullptr;
}

void describe_meshes(std::vector<FieldSet>& sets) {
  for (const Kind<SceneMesh>& k : mesh_kinds()) sets.push_back({"mesh_" + k.name, k.fields});
}

}  // namespace pliant
