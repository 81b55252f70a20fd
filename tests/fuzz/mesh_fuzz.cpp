// libFuzzer on the readers of mesh files. The first byte chooses the format, the rest is the file.
//
//   cmake --preset debug -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DPLIANT_FUZZ=ON && ninja -C build/fuzz fuzz_mesh
//   build/fuzz/tests/mesh_samples write seeds      (any folder of mesh files will do)
//   build/fuzz/tests/fuzz_mesh seeds               (files without a leading format byte are tried as they are, too)
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "io/mesh_format.h"

namespace pliant {
namespace {

constexpr const char* kEndings[] = {".obj", ".stl", ".gltf", ".glb", ".msh", ".vtk", ".vtu", ".ele"};

void require(bool condition) {
  if (!condition) std::abort();
}

/// What `load_mesh` promises of all it returns.
void check(const Result<MeshFile>& result) {
  if (!result.ok()) return require(!result.error().message.empty() && !result.error().file.empty());
  const TriMesh& surface = result->surface;
  const TetMesh& solid = result->solid;
  require(!surface.faces.empty() || !solid.tets.empty());
  for (const Vec3 v : surface.vertices) require(is_finite(v));
  for (const Vec3 v : solid.nodes) require(is_finite(v));
  for (const Face& f : surface.faces)
    for (const std::uint32_t v : f) require(v < surface.vertices.size());
  for (const Tet& t : solid.tets)
    for (const std::uint32_t v : t) require(v < solid.nodes.size());
  for (const auto& [name, set] : solid.node_sets)
    for (const std::uint32_t v : set) require(v < solid.nodes.size());
  require(surface.normals.empty() || surface.normals.size() == surface.vertices.size());
  require(surface.uvs.empty() || surface.uvs.size() == surface.vertices.size());
  require(solid.regions.empty() || solid.regions.size() == solid.tets.size());
}

void load(std::string_view ending, std::string_view content) {
  if (ending != ".ele") return check(parse_mesh("f" + std::string(ending), content));
  // Two files in one: nodes, a zero byte, tets.
  const std::size_t cut = std::min(content.find('\0'), content.size());
  const std::string_view tets = content.substr(std::min(cut + 1, content.size()));
  check(not_empty("f.ele", read_tetgen("f.node", content.substr(0, cut), "f.ele", tets)));
}

}  // namespace
}  // namespace pliant

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  // A file as it is tells its format by its first letters.
  const auto begins = [&](std::string_view text) { return content.substr(0, text.size()) == text; };
  if (begins("$Mesh")) return pliant::load(".msh", content), 0;
  if (begins("# vtk")) return pliant::load(".vtk", content), 0;
  if (begins("<?xml")) return pliant::load(".vtu", content), 0;
  if (begins("glTF")) return pliant::load(".glb", content), 0;
  if (begins("{")) return pliant::load(".gltf", content), 0;
  pliant::load(pliant::kEndings[data[0] % std::size(pliant::kEndings)], content.substr(1));
  return 0;
}
