// What is written comes back exactly: every format in every variant.
#include <clocale>

#include "io/mesh_test_support.h"

namespace pliant::test {
namespace {

struct Variant {
  const char* name;
  const char* file;
  SaveMeshOptions options;
  bool keeps_attributes;  ///< normals and uvs, or regions and node sets
};

void PrintTo(const Variant& v, std::ostream* out) { *out << v.name; }

class SurfaceRoundTrip : public MeshFolder, public ::testing::WithParamInterface<Variant> {};
class SolidRoundTrip : public MeshFolder, public ::testing::WithParamInterface<Variant> {};

constexpr SaveMeshOptions kText{false, 4.1}, kBinary{true, 4.1}, kText2{false, 2.2}, kBinary2{true, 2.2};

INSTANTIATE_TEST_SUITE_P(
    Formats, SurfaceRoundTrip,
    ::testing::Values(Variant{"obj", "m.obj", kBinary, true}, Variant{"OBJ", "M.OBJ", kBinary, true},
                      Variant{"stl_text", "m.stl", kText, false}, Variant{"stl_binary", "m.stl", kBinary, false},
                      Variant{"gltf", "m.gltf", kBinary, true}, Variant{"glb", "m.glb", kBinary, true},
                      Variant{"msh2_text", "m.msh", kText2, false}, Variant{"msh2_binary", "m.msh", kBinary2, false},
                      Variant{"msh4_text", "m.msh", kText, false}, Variant{"msh4_binary", "m.msh", kBinary, false},
                      Variant{"vtk_text", "m.vtk", kText, true}, Variant{"vtk_binary", "m.vtk", kBinary, true},
                      Variant{"vtu_text", "m.vtu", kText, true}, Variant{"vtu_raw", "m.vtu", kBinary, true}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Formats, SolidRoundTrip,
    ::testing::Values(Variant{"msh2_text", "m.msh", kText2, true}, Variant{"msh2_binary", "m.msh", kBinary2, true},
                      Variant{"msh4_text", "m.msh", kText, true}, Variant{"msh4_binary", "m.msh", kBinary, true},
                      Variant{"vtk_text", "m.vtk", kText, true}, Variant{"vtk_binary", "m.vtk", kBinary, true},
                      Variant{"vtu_text", "m.vtu", kText, true}, Variant{"vtu_raw", "m.vtu", kBinary, true},
                      Variant{"node", "m.node", kText, false}, Variant{"ele", "m.ele", kText, false},
                      Variant{"ELE", "M.ELE", kText, false}),
    [](const auto& test) { return test.param.name; });

TEST_P(SurfaceRoundTrip, GivesTheSameSurface) {
  const TriMesh mesh = awkward_surface();
  ASSERT_TRUE(save_mesh(path(GetParam().file), mesh, GetParam().options).ok());
  const MeshFile back = load(path(GetParam().file));
  expect_equal(back.surface, mesh);
  EXPECT_TRUE(back.solid.tets.empty());
  EXPECT_EQ(names().size(), 1u) << "something else was left behind";
}

TEST_P(SurfaceRoundTrip, KeepsNormalsAndUvsWhereTheFormatHasThem) {
  TriMesh mesh = with_normals_and_uvs(awkward_surface());
  ASSERT_TRUE(save_mesh(path(GetParam().file), mesh, GetParam().options).ok());
  const MeshFile back = load(path(GetParam().file));
  if (!GetParam().keeps_attributes) mesh.normals.clear(), mesh.uvs.clear();
  expect_equal(back.surface, mesh);
}

TEST_P(SurfaceRoundTrip, KeepsNormalsOrUvsAlone) {
  TriMesh normals = with_normals_and_uvs(awkward_surface()), uvs = normals;
  normals.uvs.clear();
  uvs.normals.clear();
  for (TriMesh* mesh : {&normals, &uvs}) {
    ASSERT_TRUE(save_mesh(path(GetParam().file), *mesh, GetParam().options).ok());
    if (!GetParam().keeps_attributes) mesh->normals.clear(), mesh->uvs.clear();
    expect_equal(load(path(GetParam().file)).surface, *mesh);
  }
}

TEST_P(SurfaceRoundTrip, DoesNotDependOnTheLocale) {
  const char* german = std::setlocale(LC_ALL, "de_DE.UTF-8");
  if (!german) german = std::setlocale(LC_ALL, "C.UTF-8");
  const TriMesh mesh = with_normals_and_uvs(awkward_surface());
  const Status saved = save_mesh(path(GetParam().file), mesh, GetParam().options);
  const Result<MeshFile> back = load_mesh(path(GetParam().file));
  std::setlocale(LC_ALL, "C");
  ASSERT_TRUE(saved.ok() && back.ok());
  EXPECT_TRUE(back->surface.vertices == mesh.vertices);
}

TEST_P(SolidRoundTrip, GivesTheSameSolid) {
  TetMesh mesh = awkward_solid();
  ASSERT_TRUE(save_mesh(path(GetParam().file), mesh, GetParam().options).ok());
  const MeshFile back = load(path(GetParam().file));
  if (!GetParam().keeps_attributes) mesh.node_sets.clear();
  expect_equal(back.solid, mesh);
  EXPECT_TRUE(back.surface.faces.empty());
}

TEST_P(SolidRoundTrip, GivesTheSameSolidWithoutRegionsAndSets) {
  TetMesh mesh = awkward_solid();
  mesh.regions.clear();
  mesh.node_sets.clear();
  ASSERT_TRUE(save_mesh(path(GetParam().file), mesh, GetParam().options).ok());
  expect_equal(load(path(GetParam().file)).solid, mesh);
}

TEST_P(SolidRoundTrip, KeepsAThousandRegionsInTheirOrder) {
  TetMesh mesh = awkward_solid();
  mesh.tets.clear();
  mesh.regions.clear();
  for (std::uint32_t i = 0; i < 3000; ++i) {
    mesh.tets.push_back({i % 5, (i + 1) % 5, (i + 2) % 5, (i + 3) % 5});
    mesh.regions.push_back(static_cast<std::int32_t>((i * 7919) % 1000));
  }
  if (!GetParam().keeps_attributes) mesh.node_sets.clear();
  ASSERT_TRUE(save_mesh(path(GetParam().file), mesh, GetParam().options).ok());
  expect_equal(load(path(GetParam().file)).solid, mesh);
}

class RoundTrip : public MeshFolder {};

TEST_F(RoundTrip, TetGenKeepsBoundaryMarkers) {
  TetMesh mesh = awkward_solid();
  mesh.node_sets = {{"marker_-2", {0}}, {"marker_5", {2, 4}}};
  ASSERT_TRUE(save_mesh(path("m.ele"), mesh).ok());
  expect_equal(load(path("m.node")).solid, mesh);
}

TEST_F(RoundTrip, NegativeRegionsSurviveWhereTheFormatHasThem) {
  TetMesh mesh = awkward_solid();
  mesh.regions = {-1, 2147483647, -2147483647 - 1};
  mesh.node_sets.clear();
  for (const char* file : {"m.vtu", "m.vtk", "m.ele"}) {
    ASSERT_TRUE(save_mesh(path(file), mesh).ok());
    expect_equal(load(path(file)).solid, mesh);
  }
  const Status s = save_mesh(path("m.msh"), mesh);
  ASSERT_FALSE(s.ok());
  expect_message(s.error(), "tet 0");
}

TEST_F(RoundTrip, LargeIndicesUseWideGltfIndices) {
  TriMesh mesh;
  for (int i = 0; i < 70000; ++i) mesh.vertices.push_back({static_cast<float>(i), static_cast<float>(i % 7), 0});
  for (std::uint32_t i = 0; i + 2 < 70000; ++i) mesh.faces.push_back({i, i + 1, i + 2});
  ASSERT_TRUE(save_mesh(path("m.glb"), mesh).ok());
  expect_equal(load(path("m.glb")).surface, mesh);
}

TEST_F(RoundTrip, SetNamesWithBlanksAndMarkupSurviveInVtk) {
  TetMesh mesh = awkward_solid();
  mesh.node_sets = {{"a b%20<&>\"'", {1, 2}}};
  for (const char* file : {"m.vtu", "m.vtk"})
    for (const bool binary : {true, false}) {
      ASSERT_TRUE(save_mesh(path(file), mesh, {binary, 4.1}).ok());
      expect_equal(load(path(file)).solid, mesh);
    }
}

}  // namespace
}  // namespace pliant::test
