// The bridge to other programs that read and write meshes (tests/tools/): not a test by itself.
//
//   mesh_samples write FOLDER           writes every format in every variant, and samples.json that tells what is in
//   them mesh_samples expect KIND FILE...    loads files that must hold the sample called KIND: surface, solid or both
//   mesh_samples near KIND FILE...      the same, for files whose coordinates were printed with six digits
//   mesh_samples same KIND FILE...      the same, for programs that change the order of nodes and tets
//   mesh_samples refuse FILE...         loads files that must be refused as unsupported
//   mesh_samples convert FROM TO...     loads a mesh and saves it under other names
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/glb_writer.h"
#include "io/vtu_writer.h"
#include "pliant/mesh_io.h"

namespace pliant {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

TriMesh sample_surface() {
  TriMesh mesh;
  mesh.vertices = {{0.1f, -1.0f / 3, 1e-20f}, {3.4e20f, 0.25f, -7}, {16777217.f, 0.3000001f, 2}, {5.0000003f, 9, 7}};
  mesh.faces = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  for (int i = 0; i < 4; ++i) {
    const auto a = 0.3f + static_cast<float>(i);
    mesh.normals.push_back({std::sin(a), 0, std::cos(a)});
    mesh.uvs.push_back({0.1f * static_cast<float>(i + 1), 1.0f / (3 + static_cast<float>(i))});
  }
  return mesh;
}

TetMesh sample_solid() {
  TetMesh mesh;
  mesh.nodes = {{0.1f, 0, 0}, {1, -1.0f / 3, 0}, {0, 1, 1e-20f}, {0.25f, 0.25f, 1}, {16777217.f, 1, 1}};
  mesh.tets = {{0, 1, 2, 3}, {1, 4, 2, 3}, {4, 1, 0, 3}};
  mesh.regions = {7, 3, 7};
  mesh.node_sets = {{"left", {0, 1}}, {"right", {1, 3, 4}}};
  return mesh;
}

bool report(const Status& status) {
  if (!status.ok()) std::cerr << status.error().to_string() << "\n";
  return status.ok();
}

json points_json(const std::vector<Vec3>& points) {
  json list = json::array();
  for (const Vec3 p : points) list.push_back({p.x, p.y, p.z});
  return list;
}

template <typename Cell>
json cells_json(const std::vector<Cell>& cells, int type) {
  json list = json::array();
  for (const Cell& c : cells) {
    list.push_back(json::array({type}));
    for (const std::uint32_t v : c) list.back().push_back(v);
  }
  return list;
}

/// A file as the recorder writes them: faces and tets, vectors and scalars of several types, a time.
Status write_mixed_vtu(const fs::path& file, VtuEncoding encoding, json& expected) {
  const std::vector<Vec3> points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  const std::vector<Face> faces{{0, 1, 2}};
  const std::vector<Tet> tets{{0, 1, 2, 3}, {1, 2, 3, 4}};
  const std::vector<Vec3> velocity{{0.1f, 0.2f, 0.3f}, {1, 2, 3}, {4, 5, 6}, {-7, 8, 9}, {1e-7f, 0, 3e8f}};
  const std::vector<double> pressure{0.1, -2.5, 1e-300, 4, 5};
  const std::vector<std::int32_t> body{-1, 0, 7};
  const std::vector<std::int64_t> id{9007199254740993, 2, 3};
  const std::vector<std::uint8_t> awake{1, 0, 1};
  const std::vector<std::uint32_t> hash{4294967295u, 1, 2};
  VtuGrid grid{.points = points, .faces = faces, .tets = tets, .time = 0.125};
  grid.point_data.push_back({"velocity", 3, VtuArray::of(velocity)});
  grid.point_data.push_back({"pressure <Pa> & \"more\"", 1, std::span<const double>(pressure)});
  grid.cell_data.push_back({"body", 1, std::span<const std::int32_t>(body)});
  grid.cell_data.push_back({"id", 1, std::span<const std::int64_t>(id)});
  grid.cell_data.push_back({"awake", 1, std::span<const std::uint8_t>(awake)});
  grid.cell_data.push_back({"hash", 1, std::span<const std::uint32_t>(hash)});
  expected = {{"points", points_json(points)},
              {"cells", cells_json(faces, 5)},
              {"point_data", {{"velocity", points_json(velocity)}, {"pressure <Pa> & \"more\"", pressure}}},
              {"cell_data", {{"body", body}, {"id", id}, {"awake", awake}, {"hash", hash}}},
              {"time", 0.125}};
  for (const json& c : cells_json(tets, 10)) expected["cells"].push_back(c);
  return save_vtu(file, grid, encoding);
}

/// A glTF file with everything the recorder may use.
Status write_animated_gltf(const fs::path& file) {
  Result<GlbWriter> out = GlbWriter::create(file);
  if (!out) return out.error();
  const TriMesh mesh = sample_surface();
  TriMesh small = mesh;
  for (Vec3& v : small.vertices) v = {std::fmod(v.x, 3.f), std::fmod(v.y, 3.f), std::fmod(v.z, 3.f)};
  const int steel =
      out->add_material({.name = "steel", .base_color = {0.5f, 0.5f, 0.6f, 1}, .metalness = 1, .roughness = 0.3f});
  const int glass =
      out->add_material({.name = "gläss \"\xff", .base_color = {0.9f, 1, 1, 0.25f}, .double_sided = true});
  GlbPrimitive soft = out->add_primitive(small, glass);
  std::vector<Vec3> shift(small.vertices.size(), Vec3{0, 0.5f, 0});
  soft.targets.push_back({out->add_displacements(shift), out->add_displacements(shift)});
  shift[1] = {1, 0, 0};
  soft.targets.push_back({out->add_displacements(shift), out->add_displacements(shift)});
  const int hard =
      out->add_mesh({.name = "hard", .primitives = {out->add_primitive(mesh, steel), out->add_primitive(small)}});
  const int bending = out->add_mesh({.name = "bending", .primitives = {soft}, .weights = {0, 1}});
  const int parent = out->add_node({.name = "group", .translation = {0, 1, 0}});
  const int moving =
      out->add_node({.name = "moving", .mesh = hard, .parent = parent, .rotation = Quat::axis_angle({0, 1, 0}, 1)});
  const int morphing = out->add_node({.name = "morphing", .mesh = bending, .scale = {2, 2, 2}});
  GlbTrack<Vec3> path, size;
  GlbTrack<Quat> turn;
  for (int i = 0; i <= 600; ++i) {
    const float t = static_cast<float>(i) / 60;
    path.append(t, t < 5 ? Vec3{t, 0, 0} : Vec3{5, 0, 0});
    turn.append(t, Quat::axis_angle({0, 1, 1}, t));
    size.append(t, t < 3 ? Vec3{1, 1, 1} : Vec3{0, 0, 0});
  }
  out->animate_translation(moving, path);
  out->animate_rotation(moving, turn);
  out->animate_scale(moving, size, GlbInterpolation::Step);
  const std::vector<float> times{0, 0.5f, 1}, weights{0, 1, 0.5f, 0.5f, 1, 0};
  out->animate_weights(morphing, times, weights);
  return out->finish();
}

int write_all(const fs::path& folder) {
  bool good = true;
  json expected = json::object();
  const TriMesh surface = sample_surface();
  const TetMesh solid = sample_solid();
  json surface_json{{"points", points_json(surface.vertices)}, {"cells", cells_json(surface.faces, 5)}};
  surface_json["point_data"]["Normals"] = points_json(surface.normals);
  for (const Vec2 t : surface.uvs) surface_json["point_data"]["TCoords"].push_back({t.x, 1 - double{t.y}});
  json solid_json{{"points", points_json(solid.nodes)}, {"cells", cells_json(solid.tets, 10)}};
  solid_json["cell_data"]["region"] = solid.regions;
  solid_json["point_data"]["node_set:left"] = {1, 1, 0, 0, 0};
  for (const bool binary : {false, true}) {
    const std::string kind = binary ? "binary" : "text";
    for (const char* ending : {"stl", "vtk", "vtu"}) {
      const std::string name = fmt::format("surface_{}.{}", kind, ending);
      good &= report(save_mesh(folder / name, surface, {binary, 4.1}));
      expected[name] = surface_json;
    }
    for (const char* ending : {"vtk", "vtu"}) {
      const std::string name = fmt::format("solid_{}.{}", kind, ending);
      good &= report(save_mesh(folder / name, solid, {binary, 4.1}));
      expected[name] = solid_json;
    }
    for (const double version : {2.2, 4.1}) {
      good &= report(save_mesh(folder / fmt::format("surface_{}_{}.msh", version, kind), surface, {binary, version}));
      good &= report(save_mesh(folder / fmt::format("solid_{}_{}.msh", version, kind), solid, {binary, version}));
    }
    const std::string mixed = fmt::format("mixed_{}.vtu", kind);
    good &= report(
        write_mixed_vtu(folder / mixed, binary ? VtuEncoding::AppendedRaw : VtuEncoding::Ascii, expected[mixed]));
  }
  for (const char* name : {"surface.obj", "surface.gltf", "surface.glb"})
    good &= report(save_mesh(folder / name, surface));
  good &= report(save_mesh(folder / "solid.node", solid));
  for (const char* name : {"animated.glb", "animated.gltf"}) good &= report(write_animated_gltf(folder / name));
  std::ofstream(folder / "samples.json") << expected.dump(1);
  return good ? 0 : 1;
}

using Coordinates = std::array<float, 3>;

Coordinates at(const TetMesh& mesh, std::uint32_t node) {
  return {mesh.nodes[node].x, mesh.nodes[node].y, mesh.nodes[node].z};
}

/// Nodes in the order of their coordinates, tets in the order of their nodes.
TetMesh in_order(const TetMesh& mesh) {
  TetMesh result;
  std::map<Coordinates, std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < mesh.nodes.size(); ++i) numbers[at(mesh, i)] = 0;
  std::uint32_t next = 0;
  for (auto& [p, number] : numbers) {
    number = next++;
    result.nodes.push_back({p[0], p[1], p[2]});
  }
  const auto renumber = [&](auto list) {
    for (std::uint32_t& n : list) n = numbers[at(mesh, n)];
    return list;
  };
  std::vector<std::pair<Tet, std::int32_t>> tets;
  for (std::size_t i = 0; i < mesh.tets.size(); ++i)
    tets.emplace_back(renumber(mesh.tets[i]), mesh.regions.empty() ? 0 : mesh.regions[i]);
  std::sort(tets.begin(), tets.end());
  for (const auto& [tet, region] : tets) result.tets.push_back(tet), result.regions.push_back(region);
  for (const auto& [name, set] : mesh.node_sets) {
    result.node_sets[name] = renumber(set);
    std::sort(result.node_sets[name].begin(), result.node_sets[name].end());
  }
  return result;
}

/// Coordinates that agree to six digits become those of the sample.
void snap(std::vector<Vec3>& points, const std::vector<Vec3>& to) {
  for (std::size_t i = 0; i < points.size() && i < to.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      if (std::abs(points[i][k] - to[i][k]) <= 1e-5f * std::abs(to[i][k])) points[i][k] = to[i][k];
}

/// Not a test framework: the first difference is enough.
std::string difference(MeshFile mesh, const std::string& kind, const std::string& how) {
  const TriMesh surface = sample_surface();
  TetMesh solid = sample_solid();
  if (how == "same") {
    mesh.solid = in_order(mesh.solid);
    solid = in_order(solid);
  }
  if (how == "near") {
    snap(mesh.surface.vertices, surface.vertices);
    snap(mesh.surface.normals, surface.normals);
    snap(mesh.solid.nodes, solid.nodes);
    mesh.surface.uvs.clear();
  }
  if (kind != "solid") {
    if (!(mesh.surface.vertices == surface.vertices)) return "the vertices differ";
    if (!(mesh.surface.faces == surface.faces)) return "the faces differ";
    if (!mesh.surface.normals.empty() && !(mesh.surface.normals == surface.normals)) return "the normals differ";
    if (!mesh.surface.uvs.empty() && !(mesh.surface.uvs == surface.uvs)) return "the uvs differ";
  }
  if (kind != "surface") {
    if (!(mesh.solid.nodes == solid.nodes)) return "the nodes differ";
    if (!(mesh.solid.tets == solid.tets)) return "the tets differ";
    if (mesh.solid.regions != solid.regions) return "the regions differ";
    if (mesh.solid.node_sets != solid.node_sets) return "the node sets differ";
  }
  return {};
}

int expect(const std::string& kind, const fs::path& file, const std::string& how) {
  const Result<MeshFile> mesh = load_mesh(file);
  const std::string problem = mesh.ok() ? difference(*mesh, kind, how) : mesh.error().to_string();
  if (!problem.empty()) std::cerr << file.string() << ": " << problem << "\n";
  return problem.empty() ? 0 : 1;
}

int refuse(const fs::path& file) {
  const Result<MeshFile> mesh = load_mesh(file);
  if (!mesh.ok() && mesh.error().code == Error::Code::Unsupported) return 0;
  std::cerr << file.string() << ": " << (mesh.ok() ? "was read" : mesh.error().to_string()) << "\n";
  return 1;
}

int convert(const fs::path& from, const fs::path& to) {
  const Result<MeshFile> mesh = load_mesh(from);
  if (!mesh.ok()) return report(mesh.error()), 1;
  const bool is_solid = !mesh->solid.tets.empty();
  return report(is_solid ? save_mesh(to, mesh->solid) : save_mesh(to, mesh->surface)) ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return 2;
  const std::string& what = arguments[0];
  if (what == "write") return write_all(arguments[1]);
  int result = 0;
  for (std::size_t i = what == "refuse" ? 1 : 2; i < arguments.size(); ++i) {
    if (what == "refuse")
      result |= refuse(arguments[i]);
    else if (what == "convert")
      result |= convert(arguments[1], arguments[i]);
    else
      result |= expect(arguments[1], arguments[i], what);
  }
  return result;
}

}  // namespace
}  // namespace pliant

int main(int argc, char** argv) { return pliant::run({argv + 1, argv + argc}); }
