#include <limits>

#include <gtest/gtest.h>

#include "pliant/generators.h"

#include "mesh_checks.h"

namespace pliant {
namespace {

using Kind = MeshProblem::Kind;

TriMesh one_face(Vec3 a, Vec3 b, Vec3 c) { return {{a, b, c}, {{0, 1, 2}}, {}, {}}; }
TetMesh one_tet(float scale, float height = 1) {
  return {{{0, 0, 0}, {scale, 0, 0}, {0, scale, 0}, {0, 0, scale * height}}, {{0, 1, 2, 3}}, {}, {}};
}

TEST(Mesh, BoundsAndVolumeOfOneTet) {
  const TetMesh mesh = one_tet(2);
  EXPECT_EQ(mesh.bounds().lower, (Vec3{0, 0, 0}));
  EXPECT_EQ(mesh.bounds().upper, (Vec3{2, 2, 2}));
  EXPECT_DOUBLE_EQ(mesh.volume(), 8.0 / 6);
  EXPECT_TRUE(TetMesh{}.bounds().is_empty());
  EXPECT_EQ(TetMesh{}.volume(), 0);
}

TEST(Mesh, SurfaceOfOneTetIsClosedAndFacesOutward) {
  std::vector<std::uint32_t> nodes;
  const TriMesh surface = extract_surface(one_tet(1), &nodes);
  EXPECT_EQ(nodes, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  expect_closed(surface);
  EXPECT_NEAR(enclosed_volume(surface), 1.0 / 6, 1e-12);
}

TEST(Mesh, SurfaceNamesItsNodesInAscendingOrder) {
  TetMesh mesh = tet_box({1, 1, 1}, 3, 3, 3);
  std::vector<std::uint32_t> nodes;
  const TriMesh surface = extract_surface(mesh, &nodes);
  EXPECT_EQ(nodes.size(), 64u - 8u);
  EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end()));
  for (std::size_t v = 0; v < nodes.size(); ++v) {
    EXPECT_EQ(surface.vertices[v], mesh.nodes[nodes[v]]);
    const Vec3 p = surface.vertices[v];
    EXPECT_FLOAT_EQ(std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}), 0.5f);
  }
}

TEST(Mesh, EnclosedVolumeDoesNotSufferFarFromTheOrigin) {
  TriMesh mesh = tri_box({1, 2, 3}, 2, 2, 2);
  for (Vec3& v : mesh.vertices) v += {4096, -2048, 1024};
  EXPECT_NEAR(enclosed_volume(mesh), 6, 1e-9);
  for (Face& f : mesh.faces) std::swap(f[0], f[1]);
  EXPECT_NEAR(enclosed_volume(mesh), -6, 1e-9);
}

TEST(Mesh, NormalsOfASphereAreItsRadii) {
  const TriMesh mesh = tri_sphere(2, 64);
  const std::vector<Vec3> normals = compute_normals(mesh);
  for (std::size_t v = 0; v < normals.size(); ++v) {
    EXPECT_NEAR(length(normals[v]), 1, 1e-6);
    EXPECT_GT(dot(normals[v], mesh.vertices[v]) / 2, 0.998f);
  }
}

TEST(Mesh, NormalsOfBrokenMeshesAreStillUnitVectors) {
  TriMesh mesh = one_face({0, 0, 0}, {0, 0, 0}, {1, 0, 0});
  mesh.faces.push_back({7, 8, 9});
  for (const Vec3 n : compute_normals(mesh)) EXPECT_NEAR(length(n), 1, 1e-6);
  EXPECT_EQ(enclosed_volume(mesh), 0);
}

TEST(MeshValidate, AValidMeshHasNoProblems) {
  EXPECT_TRUE(validate(tri_sphere(1), {.require_closed = true}).empty());
  EXPECT_TRUE(validate(tet_box({1, 1, 1}, 2, 2, 2), {.require_closed = true}).empty());
  EXPECT_TRUE(validate(TriMesh{}).empty());
  EXPECT_TRUE(validate(TetMesh{}).empty());
}

TEST(MeshValidate, NamesThePointThatIsNotFinite) {
  TriMesh mesh = tri_box({1, 1, 1}, 1, 1, 1);
  mesh.vertices[5].y = std::numeric_limits<float>::quiet_NaN();
  const auto problems = validate(mesh);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, Kind::NotFinite);
  EXPECT_EQ(problems[0].element, 5u);
  EXPECT_NE(problems[0].message.find("vertex 5 is not finite"), std::string::npos) << problems[0].message;

  TetMesh solid = one_tet(1);
  solid.nodes[2].z = std::numeric_limits<float>::infinity();
  EXPECT_EQ(validate(solid).at(0).kind, Kind::NotFinite);
}

TEST(MeshValidate, NamesTheElementWhoseIndexIsOutOfRange) {
  TriMesh mesh = one_face({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  mesh.faces.push_back({0, 1, 9});
  const auto problems = validate(mesh);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, Kind::IndexOutOfRange);
  EXPECT_EQ(problems[0].message, "face 1 names vertex 9, but there are only 3");

  TetMesh solid = one_tet(1);
  solid.tets.push_back({0, 1, 2, 0xffffffffu});
  EXPECT_EQ(validate(solid).at(0).kind, Kind::IndexOutOfRange);
  EXPECT_EQ(extract_surface(solid).faces.size(), 4u);  // the good tet's
  solid.tets.pop_back();
  solid.node_sets["grip"] = {1, 4};
  EXPECT_EQ(validate(solid).at(0).message, "node set \"grip\" names node 4, but there are only 4");
  solid.node_sets.clear();
  solid.regions = {1, 2};
  EXPECT_EQ(validate(solid).at(0).kind, Kind::IndexOutOfRange);
}

TEST(MeshValidate, SaysThatATetIsInvertedWithItsVolume) {
  TetMesh mesh = one_tet(0.05f);
  std::swap(mesh.tets[0][0], mesh.tets[0][1]);
  const auto problems = validate(mesh);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, Kind::Inverted);
  EXPECT_EQ(problems[0].message, "tet 0 is inverted: its volume is -2.1e-05 m³");
}

TEST(MeshValidate, JudgesElementsRelativeToTheirOwnSize) {
  for (const float scale : {1e-4f, 1.0f, 1e4f}) {
    EXPECT_TRUE(validate(one_tet(scale)).empty()) << scale;
    EXPECT_TRUE(validate(one_tet(scale, 1e-4f)).empty()) << scale;
    EXPECT_EQ(validate(one_tet(scale, 1e-8f)).at(0).kind, Kind::Degenerate) << scale;
    EXPECT_TRUE(validate(one_face({0, 0, 0}, {scale, 0, 0}, {0, scale * 1e-4f, 0})).empty());
    EXPECT_EQ(validate(one_face({0, 0, 0}, {scale, 0, 0}, {scale / 2, scale * 1e-8f, 0})).at(0).kind, Kind::Degenerate);
  }
}

TEST(MeshValidate, FindsElementsThatNameAPointTwice) {
  TriMesh mesh = one_face({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  mesh.faces[0] = {0, 1, 1};
  EXPECT_EQ(validate(mesh).at(0).message, "face 0 names vertex 1 twice");
  TetMesh solid = one_tet(1);
  solid.tets[0] = {0, 3, 2, 3};
  EXPECT_EQ(validate(solid).at(0).message, "tet 0 names node 3 twice");
}

TEST(MeshValidate, FindsAnEdgeWithThreeFaces) {
  const TriMesh mesh{
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}}, {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}}, {}, {}};
  const auto problems = validate(mesh);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, Kind::NonManifold);
  EXPECT_EQ(problems[0].element, 2u);
}

TEST(MeshValidate, FindsATetFaceWithThreeTets) {
  const TetMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}, {0, 0, 2}},
                     {{0, 1, 2, 3}, {1, 0, 2, 4}, {0, 1, 2, 5}},
                     {},
                     {}};
  const auto problems = validate(mesh);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, Kind::NonManifold);
  EXPECT_EQ(problems[0].element, 2u);
}

TEST(MeshValidate, FindsTetsOnTheSameSideOfTheirFace) {
  const TetMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 2}}, {{0, 1, 2, 3}, {0, 1, 2, 4}}, {}, {}};
  EXPECT_TRUE(validate(mesh).empty());
  EXPECT_EQ(validate(mesh, {.require_closed = true}).at(0).kind, Kind::InconsistentFaces);
}

TEST(MeshValidate, ReportsHolesAndTurnedFacesOnlyWhereAClosedSurfaceIsAskedFor) {
  TriMesh open = tri_box({1, 1, 1}, 1, 1, 1);
  open.faces.pop_back();
  EXPECT_TRUE(validate(open).empty());
  const auto holes = validate(open, {.require_closed = true});
  EXPECT_EQ(holes.size(), 3u);
  for (const auto& p : holes) EXPECT_EQ(p.kind, Kind::Open);

  TriMesh turned = tri_box({1, 1, 1}, 1, 1, 1);
  std::swap(turned.faces[4][0], turned.faces[4][1]);
  const auto problems = validate(turned, {.require_closed = true});
  EXPECT_EQ(problems.size(), 3u);
  for (const auto& p : problems) EXPECT_EQ(p.kind, Kind::InconsistentFaces);
}

TEST(MeshValidate, StopsAfterTheLargestNumberOfProblems) {
  TriMesh mesh = tri_box({1, 1, 1}, 8, 8, 8);
  for (Face& f : mesh.faces) f[0] = 1000000;
  EXPECT_EQ(validate(mesh).size(), 20u);
  EXPECT_EQ(validate(mesh, {.max_problems = 3}).size(), 3u);
  EXPECT_EQ(validate(mesh, {.max_problems = 0}).size(), 0u);
}

}  // namespace
}  // namespace pliant
