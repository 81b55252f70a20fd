// Distances against what other code says of the same shapes: membership by formula or by counting crossings, the
// nearest of all triangles, the nearest of many points of the surface.
#include "geometry/shape_distance.h"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "geometry/primitives.h"
#include "pliant/generators.h"

#include "mesh_checks.h"

namespace pliant {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInf = std::numeric_limits<float>::infinity();
constexpr float kFar = 1e6f;

std::vector<Vec3> points_around(const Aabb& box, int count, unsigned seed, float share = 0.5f) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-0.5f - share, 0.5f + share);
  std::vector<Vec3> points;
  for (int i = 0; i < count; ++i) {
    const Vec3 at{uniform(random), uniform(random), uniform(random)};
    points.push_back(box.center() + multiply_each(at, box.size()));
  }
  return points;
}

double nearest_of_all(const TriMesh& mesh, Vec3 p) {
  double best = std::numeric_limits<double>::infinity();
  for (const Face& f : mesh.faces) {
    const TrianglePoint q = closest_on_triangle(p, mesh.vertices[f[0]], mesh.vertices[f[1]], mesh.vertices[f[2]]);
    best = std::min(best, std::sqrt(double(q.squared_distance)));
  }
  return best;
}

/// What holds for every answer, whatever the shape.
void expect_consistent(const ShapeDistance& d, Vec3 p, float scale) {
  EXPECT_NEAR(length(d.normal), 1, 1e-5f);
  EXPECT_LT(length(d.point + d.distance * d.normal - p), 2e-6f * scale);
}

/// Where the distance is smooth, its gradient is the normal. Returns the share of the points where it is.
double check_gradient(const ShapeProbe& probe, const std::vector<Vec3>& points, float h) {
  int smooth = 0;
  for (const Vec3 p : points) {
    const auto here = probe.nearest(p, kFar);
    if (!here) continue;
    Vec3 gradient;
    bool is_smooth = true;
    for (std::size_t a = 0; a < 3; ++a) {
      Vec3 step;
      step[a] = h;
      const auto ahead = probe.nearest(p + step, kFar), behind = probe.nearest(p - step, kFar);
      if (!ahead || !behind) return 0;
      gradient[a] = (ahead->distance - behind->distance) / (2 * h);
      is_smooth &= length(ahead->normal - here->normal) < 0.05f && length(behind->normal - here->normal) < 0.05f;
    }
    if (!is_smooth) continue;
    ++smooth;
    EXPECT_LT(length(gradient - here->normal), 0.02f) << p.x << " " << p.y << " " << p.z;
  }
  return double(smooth) / double(points.size());
}

// Solids by formula ---------------------------------------------------------------------------------------------------

struct Solid {
  const char* name;
  Shape shape;
  std::function<bool(Vec3d)> contains;
};

void PrintTo(const Solid& solid, std::ostream* out) { *out << solid.name; }

bool in_cylinder(Vec3d p, double r, double h) { return std::abs(p.y) < h / 2 && std::hypot(p.x, p.z) < r; }

std::vector<Solid> solids() {
  return {
      {"sphere", Sphere{0.7f}, [](Vec3d p) { return length(p) < double(0.7f); }},
      {"box", Box{{2, 0.5f, 1}},
       [](Vec3d p) { return std::abs(p.x) < 1 && std::abs(p.y) < 0.25 && std::abs(p.z) < 0.5; }},
      {"capsule", Capsule{0.3f, 1.2f},
       [](Vec3d p) { return length(p - Vec3d(0, std::clamp(p.y, -0.6, 0.6), 0)) < double(0.3f); }},
      {"cylinder", Cylinder{0.5f, 0.8f}, [](Vec3d p) { return in_cylinder(p, 0.5, double(0.8f)); }},
      {"disk", Cylinder{2, 0.01f}, [](Vec3d p) { return in_cylinder(p, 2, double(0.01f)); }},
      {"cone", Cone{0.5f, 1.5f},
       [](Vec3d p) { return std::abs(p.y) < 0.75 && std::hypot(p.x, p.z) < 0.5 * (0.5 - p.y / 1.5); }},
      {"flat_cone", Cone{1, 0.2f},
       [](Vec3d p) { return std::abs(p.y) < 0.1 && std::hypot(p.x, p.z) < 0.5 - p.y / double(0.2f); }},
      {"hull_box", ConvexHull{tri_box({2, 0.5f, 1}, 2, 2, 2).vertices},
       [](Vec3d p) { return std::abs(p.x) < 1 && std::abs(p.y) < 0.25 && std::abs(p.z) < 0.5; }},
  };
}

class SolidDistance : public testing::TestWithParam<Solid> {};

TEST_P(SolidDistance, AnswersAreOnTheSurfaceAndNoSurfacePointIsNearer) {
  const Solid& solid = GetParam();
  const ShapeProbe probe(solid.shape);
  const TriMesh surface = tessellate(solid.shape, 200);
  const Aabb box = surface.bounds();
  const float scale = length(box.size());
  for (const Vec3 p : points_around(box, 1500, 1)) {
    const auto d = probe.nearest(p, kFar);
    ASSERT_TRUE(d);
    expect_consistent(*d, p, scale);
    EXPECT_EQ(d->distance < 0, solid.contains(Vec3d(p)));
    EXPECT_TRUE(solid.contains(0.9999 * Vec3d(d->point)));
    EXPECT_FALSE(solid.contains(1.0001 * Vec3d(d->point)));
    for (const Vec3 v : surface.vertices) ASSERT_GT(length(v - p), std::abs(d->distance) - 1e-5f * scale);
  }
}

TEST_P(SolidDistance, TheNormalIsTheGradient) {
  const ShapeProbe probe(GetParam().shape);
  const Aabb box = tessellate(GetParam().shape, 16).bounds();
  const float thinnest = std::min({box.size().x, box.size().y, box.size().z});
  EXPECT_GT(check_gradient(probe, points_around(box, 2000, 2), 1e-2f * thinnest), 0.8);
}

TEST_P(SolidDistance, ReachesAsFarAsAskedForAndAnyDepth) {
  const ShapeProbe probe(GetParam().shape);
  int near = 0;
  const Aabb box = tessellate(GetParam().shape, 16).bounds();
  EXPECT_LT(length(probe.bounds().lower - box.lower) + length(probe.bounds().upper - box.upper), 0.05f);
  for (const Vec3 p : points_around(box, 2000, 3)) {
    const float all = probe.nearest(p, kInf)->distance;
    for (const float reach : {-0.01f, 0.0f, 0.05f}) {
      const auto d = probe.nearest(p, reach);
      ASSERT_EQ(d.has_value(), all < reach);
      if (d) {
        ASSERT_EQ(d->distance, all);
        ++near;
      }
    }
  }
  EXPECT_GT(near, 100);
}

TEST_P(SolidDistance, SpecialPointsHaveFiniteAnswers) {
  const ShapeProbe probe(GetParam().shape);
  for (const Vec3 p : {Vec3{}, Vec3{0, 0.1f, 0}, Vec3{0, 5, 0}, Vec3{0, -5, 0}, Vec3{1e15f, -1e15f, 3}}) {
    const auto d = probe.nearest(p, kInf);
    ASSERT_TRUE(d);
    EXPECT_TRUE(std::isfinite(d->distance) && is_finite(d->point));
    EXPECT_NEAR(length(d->normal), 1, 1e-5f);
  }
  for (const Vec3 p : {Vec3{kNan, 0, 0}, Vec3{0, kInf, 0}, Vec3{0, 0, -kInf}}) EXPECT_FALSE(probe.nearest(p, kInf));
}

INSTANTIATE_TEST_SUITE_P(Shapes, SolidDistance, testing::ValuesIn(solids()),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(ShapeDistance, KnownPlaces) {
  // The foot on the slant of a cone of radius 3 and height 4, from its axis at the middle: 2 · 3/5.
  EXPECT_NEAR(ShapeProbe(Cone{3, 4}).nearest({0, 0, 0}, 1)->distance, -1.2f, 1e-6f);
  const auto rim = ShapeProbe(Cylinder{1, 2}).nearest({4, 5, 0}, 10);
  EXPECT_NEAR(rim->distance, 5, 1e-6f);
  EXPECT_LT(length(rim->normal - Vec3{0.6f, 0.8f, 0}), 1e-6f);
  const auto corner = ShapeProbe(Box{{2, 2, 2}}).nearest({2, 3, 3}, 10);
  EXPECT_NEAR(corner->distance, 3, 1e-6f);
  EXPECT_EQ(corner->point, (Vec3{1, 1, 1}));
}

TEST(ShapeDistance, CloseToAFaceTheNormalIsExact) {
  const ShapeProbe hull(ConvexHull{tri_box({2, 2, 2}, 1, 1, 1).vertices});
  const ShapeProbe mesh(TriangleMesh{std::make_shared<const TriMesh>(tri_box({2, 2, 2}, 5, 5, 5))});
  for (const float gap : {1e-6f, -1e-6f, 1e-5f, 0.0f}) {
    for (const ShapeProbe* probe : {&hull, &mesh}) {
      const auto d = probe->nearest({0.123f, 1 + gap, 0.456f}, 0.1f);
      ASSERT_TRUE(d);
      EXPECT_LT(length(d->normal - Vec3{0, 1, 0}), 1e-6f);
      EXPECT_NEAR(d->distance, (1 + gap) - 1, 1e-9f);
    }
  }
}

TEST(ShapeDistance, APlaneAnswersAtAnyDepth) {
  const ShapeProbe probe(Plane{{0, 3, 4}, 2});
  const auto deep = probe.nearest({7, -1000, 5}, 0.1f);
  ASSERT_TRUE(deep);
  EXPECT_NEAR(deep->distance, -1000 * 0.6f + 5 * 0.8f - 2, 1e-3f);
  EXPECT_LT(length(deep->normal - Vec3{0, 0.6f, 0.8f}), 1e-6f);
  EXPECT_FALSE(probe.nearest({0, 5, 0}, 0.9f));
  EXPECT_TRUE(probe.nearest({0, 5, 0}, 1.1f));
  EXPECT_TRUE(probe.bounds().contains({1e30f, -1e30f, 1e30f}));
}

TEST(ShapeDistance, HullsOfManyPointsAgreeWithTheirTriangles) {
  for (const int count : {8, 60, 2000}) {
    std::mt19937 random(count);
    std::normal_distribution<float> normal;
    ConvexHull hull;
    for (int i = 0; i < count; ++i) hull.points.push_back({3 * normal(random), normal(random), 0.3f * normal(random)});
    const ShapeProbe probe(hull);
    const TriMesh surface = welded(tessellate(hull));
    for (const Vec3 p : points_around(surface.bounds(), 500, 4)) {
      const auto d = probe.nearest(p, kFar);
      ASSERT_TRUE(d);
      expect_consistent(*d, p, 20);
      ASSERT_NEAR(std::abs(d->distance), nearest_of_all(surface, p), 2e-5);
      if (std::abs(d->distance) > 1e-4f) {
        ASSERT_EQ(d->distance < 0, contains(surface, Vec3d(p)));
      }
    }
    EXPECT_GT(check_gradient(probe, points_around(surface.bounds(), 300, 5), 1e-3f), 0.8);
  }
}

TEST(ShapeDistance, AHullWithNeedlesKeepsItsInside) {
  // Rings of points that nearly coincide: sides of hardly any width, whose normals are noise.
  ConvexHull hull;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> noise(-2e-6f, 2e-6f);
  for (int i = 0; i < 3000; ++i) {
    const Vec3 corner{i & 1 ? 1.0f : -1.0f, i & 2 ? 1.0f : -1.0f, i & 4 ? 1.0f : -1.0f};
    hull.points.push_back(corner + Vec3{noise(random), noise(random), noise(random)});
  }
  const ShapeProbe probe(hull), box(Box{{2, 2, 2}});
  for (const Vec3 p : points_around({{-1, -1, -1}, {1, 1, 1}}, 2000, 6)) {
    EXPECT_NEAR(probe.nearest(p, kFar)->distance, box.nearest(p, kFar)->distance, 2e-5f);
  }
}

// Compounds -----------------------------------------------------------------------------------------------------------

TEST(ShapeDistance, ACompoundIsTheNearestOfItsParts) {
  const Transform turned{{1, 0.5f, -2}, Quat::axis_angle({1, 2, 3}, 0.8f)},
      moved{{-1, 0, 0.5f}, Quat::axis_angle({0, 1, 1}, 2)};
  const Shape inner = Compound{{{Capsule{0.3f, 1}, moved}, {Cone{0.6f, 1}, turned}}};
  Compound outer{{{inner, turned}, {Box{{1, 2, 0.5f}}, moved}, {Sphere{0.5f}, {}}}};
  const ShapeProbe whole(outer);
  const std::vector<std::pair<ShapeProbe, Transform>> parts = [&] {
    std::vector<std::pair<ShapeProbe, Transform>> list;
    list.emplace_back(ShapeProbe(Capsule{0.3f, 1}), turned * moved);
    list.emplace_back(ShapeProbe(Cone{0.6f, 1}), turned * turned);
    list.emplace_back(ShapeProbe(Box{{1, 2, 0.5f}}), moved);
    list.emplace_back(ShapeProbe(Sphere{0.5f}), Transform{});
    return list;
  }();
  int inside = 0;
  for (const Vec3 p : points_around(whole.bounds(), 3000, 8, 0.2f)) {
    float least = kFar;
    for (const auto& [part, body_from_part] : parts) {
      least = std::min(least, part.nearest(body_from_part.inverse() * p, kFar)->distance);
    }
    const auto d = whole.nearest(p, kFar);
    ASSERT_TRUE(d);
    expect_consistent(*d, p, 5);
    EXPECT_NEAR(d->distance, least, 2e-6f);
    EXPECT_EQ(whole.nearest(p, 0.1f).has_value(), d->distance < 0.1f);
    if (d->distance < 0) {
      EXPECT_TRUE(whole.bounds().contains(p));
      ++inside;
    }
  }
  EXPECT_GT(inside, 20);
  EXPECT_GT(check_gradient(whole, points_around(whole.bounds(), 1000, 9), 1e-3f), 0.9);
}

TEST(ShapeDistance, ACompoundOfManyParts) {
  Compound beads;
  for (int i = 0; i < 500; ++i) {
    beads.parts.push_back({Sphere{0.4f}, {{float(i % 10), float(i / 10 % 10), float(i / 100)}, {}}});
  }
  const ShapeProbe probe(beads);
  for (const Vec3 p : points_around(probe.bounds(), 2000, 10, 0.1f)) {
    float least = kFar;
    for (const CompoundPart& bead : beads.parts) {
      least = std::min(least, length(p - bead.body_from_part.position) - 0.4f);
    }
    EXPECT_NEAR(probe.nearest(p, kFar)->distance, least, 2e-6f);
  }
}

// Triangle meshes -----------------------------------------------------------------------------------------------------

ShapeProbe probe_of(const TriMesh& mesh) { return ShapeProbe(TriangleMesh{std::make_shared<const TriMesh>(mesh)}); }

void expect_signed_distance(const TriMesh& asked, const TriMesh& closed, int count) {
  const ShapeProbe probe = probe_of(asked);
  const float scale = length(closed.bounds().size());
  int inside = 0;
  for (const Vec3 p : points_around(closed.bounds(), count, 11, 0.1f)) {
    const auto d = probe.nearest(p, kFar);
    ASSERT_TRUE(d);
    expect_consistent(*d, p, scale);
    ASSERT_NEAR(std::abs(d->distance), nearest_of_all(closed, p), 1e-6 * double(scale));
    if (std::abs(d->distance) < 1e-5f * scale) continue;
    ASSERT_EQ(d->distance < 0, contains(closed, Vec3d(p))) << p.x << " " << p.y << " " << p.z;
    inside += d->distance < 0;
    const float reach = 0.05f * scale;
    const auto near = probe.nearest(p, reach);
    ASSERT_EQ(near.has_value(), std::abs(d->distance) < reach);
  }
  EXPECT_GT(inside, count / 50);
}

TEST(SurfaceDistance, ClosedMeshesHaveTheRightSignEverywhere) {
  for (const TriMesh& mesh : {tri_teapot(1, 24), tri_gear(), tri_torus(1, 0.3f, 12, 6)}) {
    expect_signed_distance(mesh, mesh, 1500);
  }
}

TEST(SurfaceDistance, SharpSpikesHaveTheRightSign) {
  // A star whose spikes are so sharp that the normal of a face next to an edge or tip would often tell the wrong side.
  TriMesh star = tri_sphere(1, 6);
  for (std::size_t i = 0; i < star.vertices.size(); i += 2) star.vertices[i] *= 6;
  expect_signed_distance(star, star, 6000);
}

TEST(SurfaceDistance, VerticesSplitAtSeamsAndRepeatedOrFlatFacesDoNoHarm) {
  TriMesh soup;
  const TriMesh gear = tri_gear();
  for (const Face& f : gear.faces) {
    const auto first = std::uint32_t(soup.vertices.size());
    for (const std::uint32_t v : f) soup.vertices.push_back(gear.vertices[v]);
    soup.faces.push_back({first, first + 1, first + 2});
    if (first % 5 == 0) soup.faces.push_back({first + 1, first + 2, first});
    if (first % 7 == 0) soup.faces.push_back({first, first + 1, first + 1});
  }
  expect_signed_distance(soup, gear, 1000);
}

TEST(SurfaceDistance, TheNormalIsTheGradient) {
  const TriMesh mesh = tri_torus(1, 0.3f, 24, 12);
  EXPECT_GT(check_gradient(probe_of(mesh), points_around(mesh.bounds(), 1000, 12), 1e-3f), 0.9);
}

TEST(SurfaceDistance, AnOpenSheetHasABackButNothingPastItsRim) {
  const ShapeProbe sheet = probe_of(tri_grid({2, 2}, 4, 4));
  EXPECT_NEAR(sheet.nearest({0.3f, 0.2f, 0.1f}, 1)->distance, 0.2f, 1e-6f);
  const auto below = sheet.nearest({0.3f, -0.2f, 0.1f}, 1);
  EXPECT_NEAR(below->distance, -0.2f, 1e-6f);
  EXPECT_LT(length(below->normal - Vec3{0, 1, 0}), 1e-6f);
  EXPECT_FALSE(sheet.nearest({0.3f, -0.2f, 0.1f}, 0.1f));
  for (const float y : {-0.4f, -0.01f, 0.01f}) {
    const auto past = sheet.nearest({1.3f, y, 0.1f}, 1);
    EXPECT_NEAR(past->distance, std::hypot(0.3f, y), 1e-6f);
    EXPECT_GT(past->normal.x, 0.5f);
  }
}

TEST(SurfaceDistance, ASheetWithFacesOnBothSidesHasNoInside) {
  TriMesh sheet = tri_grid({2, 2}, 4, 4);
  const std::vector<Face> front = sheet.faces;
  for (const Face& f : front) sheet.faces.push_back({f[0], f[2], f[1]});
  const ShapeProbe probe = probe_of(sheet);
  for (const Vec3 p : points_around({{-1, -0.5f, -1}, {1, 0.5f, 1}}, 500, 13)) {
    EXPECT_GE(probe.nearest(p, 10)->distance, 0);
  }
  EXPECT_LT(probe.nearest({0.3f, -0.2f, 0.1f}, 1)->normal.y, -0.99f);
}

TEST(SurfaceDistance, AMeshOfNothingButFlatFacesIsNowhere) {
  TriMesh flat;
  flat.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  flat.faces = {{0, 1, 2}, {1, 1, 2}};
  EXPECT_FALSE(probe_of(flat).nearest({0, 0, 0}, 10));
}

// Heightfields --------------------------------------------------------------------------------------------------------

TEST(HeightfieldDistance, AgreesWithTheDrawnSurfaceAndIsSolidBelow) {
  const TerrainShape terrain{.columns = 24, .rows = 17, .cell = 0.5f, .height = 3, .feature = 3};
  const Heightfield field = heightfield_terrain(terrain);
  const ShapeProbe probe(field);
  const TriMesh ground = tessellate(field);
  const Aabb box = ground.bounds();
  int inside = 0;
  for (const Vec3 p : points_around(box, 3000, 14, 0.4f)) {
    const auto d = probe.nearest(p, kFar);
    ASSERT_TRUE(d);
    expect_consistent(*d, p, 20);
    ASSERT_NEAR(std::abs(d->distance), nearest_of_all(ground, p), 1e-5);
    // Below: a ray straight up meets the ground.
    bool is_below = false;
    for (const Face& f : ground.faces) {
      is_below |= intersect_ray_triangle(p, {0, 1, 0}, kFar, ground.vertices[f[0]], ground.vertices[f[1]],
                                         ground.vertices[f[2]])
                      .has_value();
    }
    if (std::abs(d->distance) > 1e-5f) {
      ASSERT_EQ(d->distance < 0, is_below);
    }
    inside += is_below;
    const auto near = probe.nearest(p, 0.1f);
    ASSERT_EQ(near.has_value(), d->distance < 0.1f);
    if (near) {
      ASSERT_NEAR(near->distance, d->distance, 1e-6f);
    }
  }
  EXPECT_GT(inside, 300);
  EXPECT_GT(check_gradient(probe, points_around(box, 1000, 15, -0.1f), 1e-3f), 0.8);
}

TEST(HeightfieldDistance, AnEvenSlopeIsAPlane) {
  Heightfield slope{30, 20, 0.25f, {}};
  for (int row = 0; row < slope.rows; ++row) {
    for (int column = 0; column < slope.columns; ++column) slope.heights.push_back(0.75f * 0.25f * float(column));
  }
  const ShapeProbe probe(slope);
  const Vec3 normal = normalized(Vec3{-0.75f, 1, 0});
  const float middle = 0.75f * 0.25f * 14.5f;
  for (const Vec3 p : points_around({{-1, middle - 1, -1}, {1, middle + 1, 1}}, 500, 16, -0.1f)) {
    const auto d = probe.nearest(p, 10);
    EXPECT_NEAR(d->distance, dot(p - Vec3{0, middle, 0}, normal), 2e-6f);
    EXPECT_LT(length(d->normal - normal), 1e-5f);
  }
  EXPECT_LT(probe.nearest({0, -500, 0}, 0.01f)->distance, -100);
  EXPECT_TRUE(probe.bounds().contains({0, -1e30f, 0}));
}

TEST(ShapeDistance, RefusesWhatIsNoShape) {
  EXPECT_THROW(ShapeProbe(Sphere{-1}), BadResult);
  EXPECT_THROW(ShapeProbe(ConvexHull{}), BadResult);
  EXPECT_THROW(ShapeProbe(TriangleMesh{}), BadResult);
  EXPECT_THROW(ShapeProbe(Compound{}), BadResult);
}

}  // namespace
}  // namespace pliant
