#include <limits>

#include <gtest/gtest.h>

#include "pliant/generators.h"

#include "mesh_checks.h"

namespace pliant {
namespace {

constexpr double kPi = kPiD;

TEST(Generators, BoxesAreClosedAndExact) {
  for (const TriMesh& mesh : {tri_box({1, 2, 3}, 1, 1, 1), tri_box({1, 2, 3}, 0.4f), tri_box({1, 2, 3}, 1, 5, 2),
                              tri_box({1, 2, 3}, 3, 1, 4)}) {
    expect_closed(mesh);
    EXPECT_EQ(euler_characteristic(mesh), 2);
    EXPECT_NEAR(enclosed_volume(mesh), 6, 1e-6);
    EXPECT_EQ(mesh.bounds().lower, (Vec3{-0.5f, -1, -1.5f}));
    EXPECT_EQ(mesh.bounds().upper, (Vec3{0.5f, 1, 1.5f}));
  }
  EXPECT_EQ(tri_box({1, 2, 3}, 0.5f).faces.size(), 4u * (2 * 4 + 4 * 6 + 6 * 2));
}

/// Closed and of the right topology at three refinements, with a volume that converges to `exact` at second order.
template <typename Make>
void expect_converging_volume(Make&& make, int euler, double exact) {
  double last_error = 0;
  for (const int segments : {16, 32, 64}) {
    const TriMesh mesh = make(segments);
    expect_closed(mesh);
    EXPECT_EQ(euler_characteristic(mesh), euler);
    const double error = exact - enclosed_volume(mesh);
    EXPECT_GT(error, 0);  // inscribed
    if (segments > 16) {
      EXPECT_NEAR(last_error / error, 4, 0.5);
    }
    last_error = error;
  }
  EXPECT_LT(last_error, 0.01 * exact);
}

TEST(Generators, SphereConverges) {
  expect_converging_volume([](int n) { return tri_sphere(2, n); }, 2, 4.0 / 3 * kPi * 8);
}
TEST(Generators, CylinderConverges) {
  expect_converging_volume([](int n) { return tri_cylinder(2, 3, n, 3); }, 2, kPi * 4 * 3);
}
TEST(Generators, CapsuleConverges) {
  expect_converging_volume([](int n) { return tri_capsule(2, 3, n, 2); }, 2, kPi * 4 * 3 + 4.0 / 3 * kPi * 8);
}
TEST(Generators, ConeConverges) {
  expect_converging_volume([](int n) { return tri_cone(2, 3, n); }, 2, kPi * 4 * 3 / 3);
}
TEST(Generators, TorusConverges) {
  expect_converging_volume([](int n) { return tri_torus(2, 0.5f, n, n); }, 0, 2 * kPi * kPi * 2 * 0.25);
}

TEST(Generators, RoundShapesKeepTheirSizes) {
  const Aabb capsule = tri_capsule(0.5f, 1, 16).bounds();
  EXPECT_FLOAT_EQ(capsule.upper.y, 1);
  EXPECT_FLOAT_EQ(capsule.upper.x, 0.5f);
  const Aabb cone = tri_cone(0.5f, 2, 16).bounds();
  EXPECT_FLOAT_EQ(cone.lower.y, -1);
  EXPECT_FLOAT_EQ(cone.upper.y, 1);
  for (const Vec3 v : tri_sphere(3, 20).vertices) EXPECT_NEAR(length(v), 3, 1e-5);
  for (const Vec3 v : tri_torus(3, 1, 20, 10).vertices) EXPECT_NEAR(std::hypot(std::hypot(v.x, v.z) - 3, v.y), 1, 1e-5);
}

TEST(Generators, UvsCoverTheUnitSquareAndHaveNoSeam) {
  for (const TriMesh& mesh : {tri_sphere(1, 32), tri_torus(1, 0.3f, 32, 16), tri_cylinder(1, 1, 32)}) {
    ASSERT_EQ(mesh.uvs.size(), mesh.vertices.size());
    for (const Vec2 uv : mesh.uvs) {
      EXPECT_GE(std::min(uv.x, uv.y), 0);
      EXPECT_LE(std::max(uv.x, uv.y), 1);
    }
    for (const Face& f : mesh.faces) {
      for (int i = 0; i < 3; ++i) EXPECT_LE(std::abs(mesh.uvs[f[i]].x - mesh.uvs[f[(i + 1) % 3]].x), 0.51f);
    }
  }
}

TEST(Generators, SheetsAreOpenAndFaceUp) {
  const TriMesh grid = tri_grid({2, 3}, 0.5f);
  EXPECT_EQ(grid.faces.size(), 2u * 4 * 6);
  EXPECT_EQ(euler_characteristic(grid), 1);
  EXPECT_TRUE(validate(grid).empty());
  double area = 0;
  for (const Face& f : grid.faces) {
    const Vec3 n = cross(grid.vertices[f[1]] - grid.vertices[f[0]], grid.vertices[f[2]] - grid.vertices[f[0]]);
    EXPECT_GT(n.y, 0);
    area += n.y / 2;
  }
  EXPECT_NEAR(area, 6, 1e-5);
  EXPECT_EQ(grid.uvs.size(), grid.vertices.size());

  const TriMesh strip = tri_rope_strip(4, 0.1f, 40);
  EXPECT_EQ(strip.faces.size(), 80u);
  EXPECT_EQ(strip.vertices.size(), 82u);
  EXPECT_TRUE(validate(strip).empty());
}

TEST(Generators, TetBoxesAreSoundAndExact) {
  for (const TetMesh& mesh : {tet_box({1, 2, 3}, 1, 1, 1), tet_box({1, 2, 3}, 2, 4, 6), tet_box({1, 2, 3}, 3, 5, 7)}) {
    expect_sound_solid(mesh, 18);  // atan(1/3) in a cell of 1 x 2 x 3
    EXPECT_NEAR(mesh.volume(), 6, 1e-6);
    EXPECT_EQ(euler_characteristic(extract_surface(mesh)), 2);
  }
  EXPECT_EQ(tet_box({1, 1, 1}, 4, 5, 6).tets.size(), 6u * 4 * 5 * 6);
  const auto angles = dihedral_range(tet_box({1, 1, 1}, 3, 3, 3));
  EXPECT_NEAR(angles[0], 45, 1e-3);
  EXPECT_NEAR(angles[1], 90, 1e-3);
}

TEST(Generators, TheHelloPaneHasOneLayer) {
  const TetMesh pane = tet_box({2, 2, 0.1f}, 0.1f);
  EXPECT_EQ(pane.tets.size(), 6u * 20 * 20 * 1);
  EXPECT_NEAR(pane.volume(), 0.4, 1e-6);
}

TEST(Generators, ATetBoxOfEvenCountsIsItsOwnMirrorImage) {
  const TetMesh mesh = tet_box({1, 1, 1}, 4, 4, 4);
  const auto key = [](Vec3 a, Vec3 b) {
    std::array<std::array<float, 3>, 2> k{{{a.x + 0.0f, a.y, a.z}, {b.x + 0.0f, b.y, b.z}}};
    std::sort(k.begin(), k.end());
    return k;
  };
  std::set<std::array<std::array<float, 3>, 2>> edges, mirrored;
  for (const Tet& t : mesh.tets) {
    for (int i = 0; i < 4; ++i) {
      for (int j = i + 1; j < 4; ++j) {
        Vec3 a = mesh.nodes[t[i]], b = mesh.nodes[t[j]];
        edges.insert(key(a, b));
        a.x = -a.x, b.x = -b.x;
        mirrored.insert(key(a, b));
      }
    }
  }
  EXPECT_EQ(edges, mirrored);
}

template <typename Make>
void expect_refused(Make&& make, Error::Code code, const char* field) {
  try {
    make();
    ADD_FAILURE() << "accepted nonsense in " << field;
  } catch (const BadResult& bad) {
    EXPECT_EQ(bad.error().code, code) << bad.what();
    EXPECT_EQ(bad.error().field, field) << bad.what();
  }
}

TEST(Generators, NonsenseIsRefusedByName) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto bad = Error::Code::InvalidArgument, too_many = Error::Code::CapacityExceeded;
  expect_refused([&] { tri_box({1, -1, 1}, 0.1f); }, bad, "size.y");
  expect_refused([&] { tri_box({1, 1, nan}, 0.1f); }, bad, "size.z");
  expect_refused([&] { tri_box({1, 1, 1}, nan); }, bad, "cell");
  expect_refused([&] { tri_box({1, 1, 1}, 0.0f); }, bad, "cell");
  expect_refused([&] { tri_box({1, 1, 1}, 1e-30f); }, too_many, "");
  expect_refused([&] { tri_box({1, 1, 1}, 0, 1, 1); }, bad, "nx");
  expect_refused([&] { tri_sphere(inf, 8); }, bad, "radius");
  expect_refused([&] { tri_sphere(1, 2); }, bad, "segments");
  expect_refused([&] { tri_sphere(1, 1000000); }, too_many, "");
  expect_refused([&] { tri_sphere(1, std::numeric_limits<int>::max()); }, too_many, "");
  expect_refused([&] { tri_torus(1, 1, 8, 8); }, bad, "tube_radius");
  expect_refused([&] { tri_cylinder(1, 0, 8); }, bad, "height");
  expect_refused([&] { tri_grid({1, 1}, 0, 4); }, bad, "nx");
  expect_refused([&] { tri_rope_strip(1, 1, -5); }, bad, "segments");
  expect_refused([&] { tet_box({1, 1, 1}, 1e-3f); }, too_many, "");
  expect_refused([&] { tet_box({1, 1, 1}, 1, 1, std::numeric_limits<int>::max()); }, too_many, "");
  expect_refused([&] { tet_box({nan, 1, 1}, 0.1f); }, bad, "size.x");
}

TEST(Generators, CoarseCellsGiveAtLeastOne) {
  EXPECT_EQ(tet_box({1, 1, 1}, 50.0f).tets.size(), 6u);
  EXPECT_EQ(tri_box({1, 1, 1}, 50.0f).faces.size(), 12u);
}

}  // namespace
}  // namespace pliant
