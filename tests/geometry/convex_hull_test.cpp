#include "geometry/convex_hull.h"

#include <limits>

#include <gtest/gtest.h>

#include "pliant/generators.h"

#include "mesh_checks.h"

namespace pliant {
namespace {

/// Closed, of the topology of a ball, and with every point of the cloud below every face.
void expect_hull_of(const TriMesh& hull, const std::vector<Vec3>& cloud) {
  expect_closed(hull);
  EXPECT_EQ(euler_characteristic(hull), 2);
  Aabb box;
  for (const Vec3 p : cloud) box.include(p);
  const double tolerance = 4e-6 * length(Vec3d(box.size()));
  for (const Face& f : hull.faces) {
    const Vec3d a(hull.vertices[f[0]]);
    const Vec3d n = normalized(cross(Vec3d(hull.vertices[f[1]]) - a, Vec3d(hull.vertices[f[2]]) - a));
    for (const Vec3 p : cloud) ASSERT_LE(dot(n, Vec3d(p) - a), tolerance);
  }
}

std::vector<Vec3> random_cloud(int count, unsigned seed, Vec3 scale = {1, 1, 1}) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<Vec3> cloud;
  for (int i = 0; i < count; ++i) {
    const float x = normal(random), y = normal(random), z = normal(random);
    cloud.push_back({x * scale.x, y * scale.y, z * scale.z});
  }
  return cloud;
}

TEST(ConvexHull, HoldsRandomClouds) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto cloud = random_cloud(4 + int(seed) * 10, seed);
    const auto hull = convex_hull(cloud);
    ASSERT_TRUE(hull);
    expect_hull_of(*hull, cloud);
  }
}

TEST(ConvexHull, HoldsThinAndFarClouds) {
  for (const Vec3 scale : {Vec3{1, 1, 1e-3f}, Vec3{1000, 1, 1}, Vec3{1e-4f, 1e-4f, 1e-4f}, Vec3{1e6f, 1e6f, 1e6f}}) {
    const auto cloud = random_cloud(200, 7, scale);
    const auto hull = convex_hull(cloud);
    ASSERT_TRUE(hull) << hull.error().to_string();
    expect_hull_of(*hull, cloud);
  }
  auto far = random_cloud(200, 8);
  for (Vec3& p : far) p += {500, -700, 900};
  const auto hull = convex_hull(far);
  ASSERT_TRUE(hull);
  expect_hull_of(*hull, far);
}

TEST(ConvexHull, AGridOfPointsGivesABoxOfEightCorners) {
  std::vector<Vec3> cloud;
  for (int i = 0; i <= 8; ++i) {
    for (int j = 0; j <= 8; ++j) {
      for (int k = 0; k <= 8; ++k) cloud.push_back({float(i), float(j) * 0.5f, float(k) * 0.25f});
    }
  }
  std::mt19937 random(3);
  for (int round = 0; round < 10; ++round) {
    std::shuffle(cloud.begin(), cloud.end(), random);
    const auto hull = convex_hull(cloud);
    ASSERT_TRUE(hull);
    EXPECT_EQ(hull->vertices.size(), 8u);
    EXPECT_EQ(hull->faces.size(), 12u);
    expect_hull_of(*hull, cloud);
    EXPECT_NEAR(enclosed_volume(*hull), 8 * 4 * 2, 1e-4);
    // Turned, its points are in one plane only up to the rounding of floats.
    std::vector<Vec3> turned = cloud;
    const Quat turn = Quat::axis_angle({1, 2, 3}, 0.3f + float(round));
    for (Vec3& p : turned) p = turn.rotate(p);
    const auto turned_hull = convex_hull(turned);
    ASSERT_TRUE(turned_hull);
    EXPECT_EQ(turned_hull->vertices.size(), 8u);
    expect_hull_of(*turned_hull, turned);
  }
}

TEST(ConvexHull, HoldsCloudsFullOfCollinearAndCoplanarPoints) {
  std::mt19937 random(9);
  std::uniform_int_distribution<int> lattice(0, 3);
  int solid = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Vec3> cloud(4 + random() % 20);
    for (Vec3& p : cloud) p = {float(lattice(random)), float(lattice(random)), float(lattice(random))};
    // Flat or not, in whole numbers: some tet of the cloud has a volume.
    bool is_solid = false;
    for (std::size_t i = 1; i < cloud.size() && !is_solid; ++i) {
      for (std::size_t j = 1; j < i && !is_solid; ++j) {
        for (std::size_t k = 1; k < j; ++k)
          is_solid |= dot(cross(cloud[i] - cloud[0], cloud[j] - cloud[0]), cloud[k] - cloud[0]) != 0;
      }
    }
    const auto hull = convex_hull(cloud);
    ASSERT_EQ(hull.ok(), is_solid);
    if (!is_solid) continue;
    ++solid;
    expect_hull_of(*hull, cloud);
    // Every vertex is a corner: without it the hull is smaller or gone.
    for (std::size_t v = 0; v < hull->vertices.size(); ++v) {
      std::vector<Vec3> fewer = hull->vertices;
      fewer.erase(fewer.begin() + std::ptrdiff_t(v));
      const auto smaller = convex_hull(fewer);
      EXPECT_LT(smaller ? enclosed_volume(*smaller) : 0, enclosed_volume(*hull) - 1e-3);
    }
  }
  EXPECT_GT(solid, 2000);
}

TEST(ConvexHull, APointCloudOnASphereKeepsAllItsPoints) {
  auto cloud = random_cloud(20000, 13);
  for (Vec3& p : cloud) p = normalized(p);
  const auto hull = convex_hull(cloud);
  ASSERT_TRUE(hull);
  EXPECT_GT(hull->vertices.size(), 19800u);
  EXPECT_EQ(euler_characteristic(*hull), 2);
  EXPECT_TRUE(validate(*hull, {.require_closed = true}).empty());
}

TEST(ConvexHull, DuplicatesChangeNothing) {
  auto cloud = random_cloud(100, 11);
  const auto once = convex_hull(cloud);
  const std::size_t n = cloud.size();
  for (std::size_t i = 0; i < n; ++i) cloud.push_back(cloud[i]);
  const auto twice = convex_hull(cloud);
  ASSERT_TRUE(once && twice);
  EXPECT_EQ(once->vertices, twice->vertices);
  EXPECT_EQ(once->faces, twice->faces);
}

TEST(ConvexHull, ManyCocircularAndCosphericalPoints) {
  for (const TriMesh& mesh : {tri_cylinder(1, 2, 64, 10), tri_sphere(1, 48), tri_cone(1, 1, 100)}) {
    const auto hull = convex_hull(mesh.vertices);
    ASSERT_TRUE(hull);
    expect_hull_of(*hull, mesh.vertices);
    EXPECT_NEAR(enclosed_volume(*hull), enclosed_volume(mesh), 2e-3 * enclosed_volume(mesh));
  }
}

TEST(ConvexHull, AMillionPointsInABox) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Vec3> cloud(1000000);
  for (Vec3& p : cloud) p = {uniform(random), uniform(random), uniform(random)};
  const auto hull = convex_hull(cloud);
  ASSERT_TRUE(hull);
  EXPECT_NEAR(enclosed_volume(*hull), 8, 0.02);
}

TEST(ConvexHull, RefusesWhatEnclosesNoVolume) {
  const auto refused = [](std::vector<Vec3> cloud, const char* field) {
    const auto hull = convex_hull(cloud);
    ASSERT_FALSE(hull);
    EXPECT_EQ(hull.error().field, field) << hull.error().to_string();
  };
  refused({}, "points");
  refused({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, "points");
  refused({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, "points");
  refused({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, "points");
  refused({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}, "points");
  refused({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, std::numeric_limits<float>::quiet_NaN()}}, "points[3]");
  refused({{0, 0, 0}, {3e38f, 0, 0}, {-3e38f, 1, 0}, {0, 0, 1}}, "points");
  // A tilted plane, rounded to floats.
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Vec3> tilted;
  for (int i = 0; i < 100; ++i) {
    const float u = uniform(random), v = uniform(random);
    tilted.push_back({u, v, 0.3f * u - 0.7f * v});
  }
  refused(tilted, "points");
}

}  // namespace
}  // namespace pliant
