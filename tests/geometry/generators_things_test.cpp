// Teapot, gear, pumpkin, tire, terrain.
#include <limits>

#include <gtest/gtest.h>

#include "geometry/bvh.h"
#include "geometry/primitives.h"
#include "pliant/generators.h"

#include "mesh_checks.h"

namespace pliant {
namespace {

/// No two faces cross, except where they share a vertex.
void expect_no_self_intersection(const TriMesh& mesh) {
  std::vector<Aabb> boxes(mesh.faces.size());
  for (std::size_t f = 0; f < boxes.size(); ++f) {
    for (const std::uint32_t v : mesh.faces[f]) boxes[f].include(mesh.vertices[v]);
  }
  Bvh bvh;
  bvh.build(boxes);
  int crossings = 0;
  bvh.for_each_self_pair([&](std::uint32_t f, std::uint32_t g) {
    const Face &a = mesh.faces[f], &b = mesh.faces[g];
    for (const std::uint32_t v : a) {
      if (std::find(b.begin(), b.end(), v) != b.end()) return;
    }
    const auto corners = [&](const Face& t) {
      return std::array<Vec3, 3>{mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]};
    };
    crossings += triangles_overlap(corners(a), corners(b));
  });
  EXPECT_EQ(crossings, 0);
}

void expect_thing(const TriMesh& mesh, int euler) {
  expect_closed(mesh);
  EXPECT_EQ(euler_characteristic(mesh), euler);
  expect_no_self_intersection(mesh);
  EXPECT_LT(length(mesh.bounds().center()), 1e-3f * length(mesh.bounds().size()));
}

/// The volume changes less and less with refinement, at about second order.
template <typename Make>
void expect_volume_settles(Make&& make, int coarse) {
  const double v0 = enclosed_volume(make(coarse)), v1 = enclosed_volume(make(2 * coarse)),
               v2 = enclosed_volume(make(4 * coarse));
  EXPECT_LT(std::abs(v1 - v0), 0.05 * v2);
  EXPECT_LT(std::abs(v2 - v1), 0.6 * std::abs(v1 - v0));
}

TEST(Things, TeapotIsOneClosedSurfaceWithAHandle) {
  for (const int segments : {24, 31, 48, 96, 150}) {
    SCOPED_TRACE(segments);
    const TriMesh mesh = tri_teapot(2, segments);
    expect_thing(mesh, 0);
    EXPECT_NEAR(mesh.bounds().size().x, 2, 1e-4);
    EXPECT_NEAR(mesh.bounds().size().y, 1, 0.15);
  }
  const double fine = enclosed_volume(tri_teapot(1, 192));  // where the tubes start jumps with the grid, so: no order
  for (const int segments : {48, 96, 150}) EXPECT_NEAR(enclosed_volume(tri_teapot(1, segments)), fine, 0.01 * fine);
}

TEST(Things, TeapotHasASpoutAndAnOpenHandle) {
  const TriMesh mesh = tri_teapot(3.5f);
  const Aabb box = mesh.bounds();
  EXPECT_TRUE(contains(mesh, {0, -0.1, 0}));                                                 // the belly
  EXPECT_FALSE(contains(mesh, {double(box.lower.x) + 0.3, -0.15, 0}));                       // within the handle's arch
  EXPECT_FALSE(contains(mesh, {double(box.upper.x) - 0.05, double(box.lower.y) + 0.2, 0}));  // below the spout
}

TEST(Things, GearHasItsTeethAndBore) {
  for (const float cell : {0.2f, 0.05f, 0.02f}) {
    expect_thing(tri_gear({.cell = cell}), 0);
    expect_thing(tri_gear({.teeth = 6, .bore_radius = 0, .cell = cell}), 2);
  }
  const GearShape shape{.teeth = 20, .root_radius = 0.8f, .tip_radius = 1, .bore_radius = 0.3f, .thickness = 0.5f};
  const TriMesh mesh = tri_gear(shape);
  double cap_area = 0;
  int tips = 0;
  bool on_tip = false;
  for (const Face& f : mesh.faces) {
    const Vec3d a(mesh.vertices[f[0]]), n = cross(Vec3d(mesh.vertices[f[1]]) - a, Vec3d(mesh.vertices[f[2]]) - a);
    if (n.y > 0.999 * length(n)) cap_area += n.y / 2;
  }
  // A prism: its volume is the area of its cap times its thickness.
  EXPECT_NEAR(enclosed_volume(mesh), cap_area * 0.5, 1e-5);
  EXPECT_GT(cap_area, kPiD * (0.64 - 0.09) * 0.99);
  EXPECT_LT(cap_area, kPiD * (1 - 0.09));
  // Once around the outer rim of the cap: out to the tips as often as there are teeth.
  std::map<double, double> outer;
  for (const Vec3 v : mesh.vertices) {
    if (v.y < 0.249f) continue;
    double& r = outer[std::round(1e4 * std::atan2(-v.z, v.x))];
    r = std::max(r, double(std::hypot(v.x, v.z)));
  }
  for (const auto& [angle, r] : outer) {
    const bool is_tip = r > 0.95;
    tips += is_tip && !on_tip;
    on_tip = is_tip;
  }
  EXPECT_EQ(tips, 20);
}

TEST(Things, PumpkinIsClosedAndRidged) {
  expect_thing(tri_pumpkin(), 2);
  expect_thing(tri_pumpkin({.ridges = 0, .segments = 48}), 2);
  expect_thing(tri_pumpkin({.ridges = 7, .ridge_depth = 0.5f, .segments = 60}), 2);
  expect_thing(tri_pumpkin({.radius = 3, .flatness = 2}), 2);
  EXPECT_NEAR(tri_pumpkin().bounds().size().x, 1, 0.01);
  const auto volume = [](float depth) { return enclosed_volume(tri_pumpkin({.ridge_depth = depth})); };
  EXPECT_LT(volume(0.2f), volume(0.1f));
  EXPECT_LT(volume(0.1f), volume(0));
  expect_volume_settles([](int n) { return tri_pumpkin({.segments = n}); }, 48);
}

TEST(Things, TireIsClosedAndTreaded) {
  const TriMesh mesh = tri_tire();
  expect_thing(mesh, 0);
  expect_thing(tri_tire({.treads = 7, .segments = 20}), 0);
  float outermost = 0, innermost = 1;
  for (const Vec3 v : mesh.vertices) {
    outermost = std::max(outermost, std::hypot(v.x, v.z));
    innermost = std::min(innermost, std::hypot(v.x, v.z));
  }
  EXPECT_LE(outermost, 0.5f + 1e-6f);
  EXPECT_GT(outermost, 0.5f - 0.3f * 0.025f);
  EXPECT_NEAR(innermost, 0.28f, 1e-5);
  EXPECT_NEAR(mesh.bounds().size().y, 0.28f, 1e-4);
  EXPECT_EQ(mesh.uvs.size(), mesh.vertices.size());
}

TEST(Things, ATireWithoutTreadsHasTheVolumeOfPappus) {
  const TireShape shape{
      .radius = 0.5f, .rim_radius = 0.3f, .width = 0.3f, .treads = 1, .tread_depth = 1e-6f, .segments = 400};
  // Area of the superellipse |x/a|^p + |y/b|^p = 1 with p = 2 / 0.6, carried around the circle of its centre.
  const double p = 2 / 0.6, area = 4 * 0.1 * 0.15 * std::pow(std::tgamma(1 + 1 / p), 2) / std::tgamma(1 + 2 / p);
  const double exact = 2 * kPiD * 0.4 * area;
  EXPECT_NEAR(enclosed_volume(tri_tire(shape)), exact, 0.005 * exact);
}

TEST(Things, TerrainIsSeededAndBounded) {
  const TerrainShape shape{
      .columns = 50, .rows = 30, .cell = 0.25f, .height = 3, .feature = 4, .octaves = 6, .seed = 5};
  const Heightfield field = heightfield_terrain(shape), again = heightfield_terrain(shape);
  EXPECT_TRUE(validate(field));
  EXPECT_EQ(field.heights, again.heights);
  TerrainShape other = shape;
  other.seed = 6;
  EXPECT_NE(field.heights, heightfield_terrain(other).heights);
  const auto [least, most] = std::minmax_element(field.heights.begin(), field.heights.end());
  EXPECT_GE(*least, -1.5f);
  EXPECT_LE(*most, 1.5f);
  EXPECT_GT(*most - *least, 0.5f);

  const TriMesh mesh = tri_terrain(shape), tessellated = tessellate(field);
  EXPECT_TRUE(validate(mesh).empty());
  EXPECT_EQ(mesh.uvs.size(), mesh.vertices.size());
  ASSERT_EQ(mesh.vertices.size(), tessellated.vertices.size());
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    EXPECT_LT(length(mesh.vertices[i] - tessellated.vertices[i]), 1e-5f);
  }
}

TEST(Things, TerrainIsSmoothBetweenPoints) {
  // A finer grid over the same hills: neighbours differ by about half as much.
  const auto largest_step = [](float cell) {
    const Heightfield f = heightfield_terrain({.columns = 100, .rows = 100, .cell = cell, .octaves = 1});
    float step = 0;
    for (std::size_t i = 1; i < 100; ++i) step = std::max(step, std::abs(f.heights[i] - f.heights[i - 1]));
    return step;
  };
  EXPECT_NEAR(largest_step(0.1f) / largest_step(0.05f), 2, 0.5);
}

TEST(Things, NonsenseIsRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const int many = std::numeric_limits<int>::max();
  EXPECT_THROW(tri_teapot(0), BadResult);
  EXPECT_THROW(tri_teapot(1, 8), BadResult);
  EXPECT_THROW(tri_teapot(1, many), BadResult);
  EXPECT_THROW(tri_gear({.teeth = 2}), BadResult);
  EXPECT_THROW(tri_gear({.teeth = many}), BadResult);
  EXPECT_THROW(tri_gear({.tip_radius = 0.1f}), BadResult);
  EXPECT_THROW(tri_gear({.bore_radius = nan}), BadResult);
  EXPECT_THROW(tri_gear({.cell = 1e-6f}), BadResult);
  EXPECT_THROW(tri_pumpkin({.ridge_depth = 2}), BadResult);
  EXPECT_THROW(tri_pumpkin({.ridges = many}), BadResult);
  EXPECT_THROW(tri_pumpkin({.segments = many}), BadResult);
  EXPECT_THROW(tri_tire({.rim_radius = 0.6f}), BadResult);
  EXPECT_THROW(tri_tire({.treads = many}), BadResult);
  EXPECT_THROW(tri_tire({.segments = 100000}), BadResult);
  EXPECT_THROW(tri_tire({.width = 1e30f}), BadResult);
  EXPECT_THROW(tri_duck(0, 0.1f), BadResult);
  EXPECT_THROW(tri_duck(1, 0.1f), BadResult);
  EXPECT_THROW(tri_duck(1, nan), BadResult);
  EXPECT_THROW(tri_duck(1, 1e-4f), BadResult);
  EXPECT_THROW(tri_terrain({.columns = 1}), BadResult);
  EXPECT_THROW(tri_terrain({.columns = many, .rows = many}), BadResult);
  EXPECT_THROW(tri_terrain({.feature = 1e-30f}), BadResult);
  EXPECT_THROW(heightfield_terrain({.height = nan}), BadResult);
  EXPECT_THROW(heightfield_terrain({.octaves = 100}), BadResult);
}

TEST(Things, DuckIsOneClosedEvenSurface) {
  for (const float cell : {0.1f, 0.06f}) {
    const TriMesh duck = tri_duck(2, cell);
    expect_closed(duck);
    EXPECT_EQ(euler_characteristic(duck), 2);
    EXPECT_NEAR(duck.bounds().size().x, 2, 1e-5);
    EXPECT_LT(duck.bounds().size().z, duck.bounds().size().y);
    double sum = 0;
    for (const Face& f : duck.faces) {
      const float edge = length(duck.vertices[f[0]] - duck.vertices[f[1]]);
      sum += double(edge);
      EXPECT_LT(edge, 2 * cell);
    }
    EXPECT_NEAR(sum / double(duck.faces.size()), cell, 0.35 * cell);
  }
  // It looks towards +X: the head, its highest part, is in front, and has a beak at its tip.
  const TriMesh duck = tri_duck(1, 0.04f);
  Vec3 highest, foremost;
  for (const Vec3 v : duck.vertices) {
    if (v.y > highest.y) highest = v;
    if (v.x > foremost.x) foremost = v;
  }
  EXPECT_GT(highest.x, 0.1f);
  EXPECT_GT(foremost.y, 0.1f);
}

TEST(Things, SameArgumentsGiveTheSameMesh) {
  EXPECT_EQ(tri_teapot(1).vertices, tri_teapot(1).vertices);
  EXPECT_EQ(tri_tire().vertices, tri_tire().vertices);
  EXPECT_EQ(tet_sphere(1, 0.2f).tets, tet_sphere(1, 0.2f).tets);
}

}  // namespace
}  // namespace pliant
