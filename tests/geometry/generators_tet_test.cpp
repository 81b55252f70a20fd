#include <limits>

#include <gtest/gtest.h>

#include "pliant/generators.h"

#include "mesh_checks.h"

namespace pliant {
namespace {

/// Sound at several refinements, of the right topology, with a volume that converges to `exact` at second order.
template <typename Make>
void expect_converging_solid(Make&& make, int euler, double exact, double min_dihedral) {
  double last_error = 0;
  for (const float cell : {0.25f, 0.125f, 0.0625f}) {
    const TetMesh mesh = make(cell);
    expect_sound_solid(mesh, min_dihedral);
    EXPECT_EQ(euler_characteristic(extract_surface(mesh)), euler);
    const double error = exact - mesh.volume();
    EXPECT_GT(error, 0);  // inscribed
    if (last_error > 0) {
      EXPECT_NEAR(last_error / error, 4, 0.6);
    }
    last_error = error;
  }
  EXPECT_LT(last_error, 0.015 * exact);
}

TEST(TetGenerators, Sphere) {
  expect_converging_solid([](float cell) { return tet_sphere(0.5f, cell); }, 2, 4.0 / 3 * kPiD * 0.125, 30);
  EXPECT_EQ(tet_sphere(1, 0.25f).tets.size(), 20u * 64);
  for (const Vec3 p : extract_surface(tet_sphere(2, 0.5f)).vertices) EXPECT_NEAR(length(p), 2, 1e-5);
}

TEST(TetGenerators, Cylinder) {
  expect_converging_solid([](float cell) { return tet_cylinder(0.5f, 1, cell); }, 2, kPiD * 0.25, 30);
  EXPECT_EQ(tet_cylinder(1, 2, 0.5f).tets.size(), 18u * 4 * 4);
}

TEST(TetGenerators, Torus) {
  expect_converging_solid([](float cell) { return tet_torus(1, 0.25f, cell / 2); }, 0, 2 * kPiD * kPiD * 0.0625, 25);
}

TEST(TetGenerators, Capsule) {
  expect_converging_solid([](float cell) { return tet_capsule(0.5f, 0.5f, cell); }, 2,
                          kPiD * 0.25 * 0.5 + 4.0 / 3 * kPiD * 0.125, 20);
  const Aabb box = tet_capsule(0.5f, 1, 0.1f).bounds();
  EXPECT_FLOAT_EQ(box.upper.y, 1);
  EXPECT_FLOAT_EQ(box.lower.y, -1);
  EXPECT_FLOAT_EQ(box.upper.x, 0.5f);
}

TEST(TetGenerators, CoarsestSolidsAreSound) {
  for (const TetMesh& mesh :
       {tet_sphere(1, 5), tet_cylinder(1, 1, 5), tet_capsule(1, 1, 5), tet_torus(1, 0.3f, 5), tet_torus(1, 0.95f, 5)}) {
    expect_sound_solid(mesh, 2);  // the fat torus has its tets pinched at the inner side
  }
}

TEST(TetGenerators, NonsenseIsRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(tet_sphere(-1, 0.1f), BadResult);
  EXPECT_THROW(tet_sphere(1, nan), BadResult);
  EXPECT_THROW(tet_sphere(1, 1e-3f), BadResult);
  EXPECT_THROW(tet_cylinder(1, nan, 0.1f), BadResult);
  EXPECT_THROW(tet_cylinder(1, 1, 1e-38f), BadResult);
  EXPECT_THROW(tet_torus(1, 2, 0.1f), BadResult);
  EXPECT_THROW(tet_capsule(0, 1, 0.1f), BadResult);
  EXPECT_THROW(tet_capsule(1, 1, 1e-3f), BadResult);
}

TEST(TetGenerators, FineSolidsAreWellShaped) {
  const auto expect_within = [](const char* name, const TetMesh& mesh, double least, double most) {
    const auto angles = dihedral_range(mesh);
    std::printf("%-8s %6zu tets, dihedral angles %.1f to %.1f degrees\n", name, mesh.tets.size(), angles[0], angles[1]);
    EXPECT_GE(angles[0], least);
    EXPECT_LE(angles[1], most);
  };
  expect_within("sphere", tet_sphere(1, 0.1f), 35, 132);
  expect_within("cylinder", tet_cylinder(1, 1, 0.1f), 33, 132);
  expect_within("torus", tet_torus(1, 0.3f, 0.05f), 28, 132);
  expect_within("capsule", tet_capsule(1, 1, 0.1f), 24, 132);
}

}  // namespace
}  // namespace pliant
