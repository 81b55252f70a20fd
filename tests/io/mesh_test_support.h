// Meshes, folders and comparisons shared by the tests of the mesh formats.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "pliant/mesh_io.h"

namespace pliant::test {

/// A fresh folder for one test, removed with all that is in it.
class MeshFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(info->test_suite_name()) + "_" + info->name() + "_" + std::to_string(::getpid());
    for (char& c : name)
      if (c == '/') c = '_';
    folder_ = std::filesystem::temp_directory_path() / ("pliant_" + name);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    std::error_code ec;
    std::filesystem::remove_all(folder_, ec);
  }

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  std::filesystem::path put(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  /// Names in the folder, sorted; hidden ones too.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& e : std::filesystem::directory_iterator(folder_)) result.push_back(e.path().filename().string());
    std::sort(result.begin(), result.end());
    return result;
  }

  std::filesystem::path folder_;
};

inline std::string slurp(const std::filesystem::path& file) {
  std::ostringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  return content.str();
}

/// Numbers that are hard on text formats: long, tiny, huge, denormal, negative zero.
inline const std::vector<float>& awkward_floats() {
  static const std::vector<float> values{0.1f,       -1.0f / 3,  1e-30f,      3.4028235e38f, 1.17549435e-38f, 1e-45f,
                                         16777217.f, 0.3000001f, -123456.79f, 5.0000003f,    9.8765434e-12f,  -0.0f};
  return values;
}

/// A closed tetrahedral surface whose coordinates are awkward, vertices in the order in which the faces use them.
inline TriMesh awkward_surface() {
  const auto& a = awkward_floats();
  TriMesh mesh;
  mesh.vertices = {{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}, {a[9], a[10], 7}};
  mesh.faces = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  return mesh;
}

inline TriMesh with_normals_and_uvs(TriMesh mesh) {
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const float s = std::sin(0.3f + static_cast<float>(i)), c = std::cos(0.3f + static_cast<float>(i));
    mesh.normals.push_back({s, 0, c});
    mesh.uvs.push_back({0.1f * static_cast<float>(i + 1), 1.0f / (3 + static_cast<float>(i))});
  }
  return mesh;
}

/// Two tets with a common face, with regions and node sets.
inline TetMesh awkward_solid() {
  const auto& a = awkward_floats();
  TetMesh mesh;
  mesh.nodes = {{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}, {a[9], a[10], 7}, {-8, 9.5f, a[0]}};
  mesh.tets = {{0, 1, 2, 3}, {1, 2, 3, 4}, {4, 3, 2, 0}};
  mesh.regions = {7, 3, 7};
  mesh.node_sets = {{"left end", {0, 1}}, {"right", {1, 3, 4}}};
  return mesh;
}

/// Equal bit by bit, except that -0 equals 0.
inline void expect_equal(const TriMesh& a, const TriMesh& b) {
  EXPECT_TRUE(a.vertices == b.vertices);
  EXPECT_TRUE(a.faces == b.faces);
  EXPECT_TRUE(a.normals == b.normals);
  EXPECT_TRUE(a.uvs == b.uvs);
}
inline void expect_equal(const TetMesh& a, const TetMesh& b) {
  EXPECT_TRUE(a.nodes == b.nodes);
  EXPECT_TRUE(a.tets == b.tets);
  EXPECT_EQ(a.regions, b.regions);
  EXPECT_EQ(a.node_sets, b.node_sets);
}

inline MeshFile load(const std::filesystem::path& file) {
  const Result<MeshFile> result = load_mesh(file);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  return result.ok() ? *result : MeshFile{};
}

/// The error of a load that must fail. Every error names a file and says something.
inline Error load_error(const std::filesystem::path& file) {
  const Result<MeshFile> result = load_mesh(file);
  EXPECT_FALSE(result.ok()) << file;
  if (result.ok()) return {};
  EXPECT_FALSE(result.error().message.empty());
  EXPECT_FALSE(result.error().file.empty());
  return result.error();
}

inline void expect_message(const Error& error, const std::string& part) {
  EXPECT_NE(error.to_string().find(part), std::string::npos) << error.to_string() << "\n  lacks: " << part;
}

/// What every successful load promises.
inline void expect_sound(const MeshFile& mesh) {
  EXPECT_FALSE(mesh.surface.faces.empty() && mesh.solid.tets.empty());
  for (const Vec3 v : mesh.surface.vertices) EXPECT_TRUE(is_finite(v));
  for (const Vec3 v : mesh.surface.normals) EXPECT_TRUE(is_finite(v));
  for (const Vec3 v : mesh.solid.nodes) EXPECT_TRUE(is_finite(v));
  for (const Face& f : mesh.surface.faces)
    for (const std::uint32_t v : f) EXPECT_LT(v, mesh.surface.vertices.size());
  for (const Tet& t : mesh.solid.tets)
    for (const std::uint32_t v : t) EXPECT_LT(v, mesh.solid.nodes.size());
  for (const auto& [name, set] : mesh.solid.node_sets)
    for (const std::uint32_t v : set) EXPECT_LT(v, mesh.solid.nodes.size());
  EXPECT_TRUE(mesh.solid.regions.empty() || mesh.solid.regions.size() == mesh.solid.tets.size());
  EXPECT_TRUE(mesh.surface.normals.empty() || mesh.surface.normals.size() == mesh.surface.vertices.size());
  EXPECT_TRUE(mesh.surface.uvs.empty() || mesh.surface.uvs.size() == mesh.surface.vertices.size());
}

}  // namespace pliant::test
