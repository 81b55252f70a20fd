#include "pliant/shapes.h"

#include <limits>

#include <gtest/gtest.h>

#include "pliant/generators.h"

#include "mesh_checks.h"

namespace pliant {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInf = std::numeric_limits<float>::infinity();

ConvexHull box_hull(Vec3 size) { return {tri_box(size, 1, 1, 1).vertices}; }

std::shared_ptr<const TriMesh> shared(TriMesh mesh) { return std::make_shared<const TriMesh>(std::move(mesh)); }

void expect_wrong(const Shape& shape, const char* field) {
  const Status status = validate(shape);
  ASSERT_FALSE(status) << field;
  EXPECT_EQ(status.error().field, field) << status.error().to_string();
  EXPECT_FALSE(status.error().message.empty());
  EXPECT_FALSE(mass_properties(shape, 1000));
  EXPECT_THROW(tessellate(shape), BadResult);
}

TEST(ShapeValidate, NamesTheFieldThatIsWrong) {
  expect_wrong(Sphere{0}, "radius");
  expect_wrong(Sphere{kNan}, "radius");
  expect_wrong(Sphere{-1}, "radius");
  expect_wrong(Box{{1, kInf, 1}}, "size");
  expect_wrong(Box{{1, 1, 0}}, "size");
  expect_wrong(Capsule{1, -1}, "height");
  expect_wrong(Cylinder{kInf, 1}, "radius");
  expect_wrong(Cone{1, kNan}, "height");
  expect_wrong(ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}}, "points");
  expect_wrong(ConvexHull{{{0, 0, 0}, {1, kNan, 0}, {0, 1, 0}, {1, 1, 1}}}, "points[1]");
  expect_wrong(TriangleMesh{}, "mesh");
  expect_wrong(TriangleMesh{shared({})}, "mesh");
  expect_wrong(TriangleMesh{shared({{{0, 0, 0}}, {{0, 1, 2}}, {}, {}})}, "mesh");
  expect_wrong(Heightfield{1, 2, 1, {0, 0}}, "columns");
  expect_wrong(Heightfield{2, 2, 1, {0, 0, 0}}, "heights");
  expect_wrong(Heightfield{2, 2, 0, {0, 0, 0, 0}}, "cell");
  expect_wrong(Heightfield{2, 2, 1, {0, 0, kNan, 0}}, "heights[2]");
  expect_wrong(Plane{{0, 0, 0}, 0}, "normal");
  expect_wrong(Plane{{0, 1, 0}, kNan}, "offset");
  expect_wrong(Compound{}, "parts");
  expect_wrong(Compound{{{Sphere{}, {}}, {Sphere{}, {}}, {Box{{1, -1, 1}}, {}}}}, "parts[2].shape.size");
  expect_wrong(Compound{{{Plane{}, {}}}}, "parts[0].shape");
  expect_wrong(Compound{{{Sphere{}, {{kNan, 0, 0}, {}}}}}, "parts[0].body_from_part.position");
  expect_wrong(Compound{{{Sphere{}, {{}, {0, 0, 0, 0}}}}}, "parts[0].body_from_part.rotation");
}

TEST(ShapeValidate, DeepNestingIsRefusedNotFollowed) {
  Shape shape = Sphere{};
  for (int i = 0; i < 8; ++i) shape = Compound{{{shape, {}}}};
  EXPECT_TRUE(validate(shape));
  for (int i = 0; i < 100; ++i) shape = Compound{{{shape, {}}}};
  EXPECT_FALSE(validate(shape));
}

TEST(ShapeValidate, EveryKindHasAName) {
  EXPECT_STREQ(shape_name(Sphere{}), "sphere");
  EXPECT_STREQ(shape_name(ConvexHull{}), "convex_hull");
  EXPECT_STREQ(shape_name(Compound{}), "compound");
}

// Mass ----------------------------------------------------------------------------------------------------------------

void expect_same_mass(const MassProperties& a, const MassProperties& b, float tolerance) {
  EXPECT_NEAR(a.mass, b.mass, tolerance * b.mass);
  EXPECT_LT(length(a.center_of_mass - b.center_of_mass), tolerance);
  const float scale = std::max({b.inertia(0, 0), b.inertia(1, 1), b.inertia(2, 2)});
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(a.inertia(r, c), b.inertia(r, c), tolerance * scale) << r << " " << c;
  }
}

bool is_inside(const Shape& shape, Vec3d p);

struct IsInside {
  Vec3d p;
  bool operator()(const Sphere& s) const { return length(p) < s.radius; }
  bool operator()(const Box& s) const {
    return std::abs(p.x) < s.size.x / 2 && std::abs(p.y) < s.size.y / 2 && std::abs(p.z) < s.size.z / 2;
  }
  bool operator()(const Capsule& s) const {
    const double y = std::clamp<double>(p.y, -s.height / 2, s.height / 2);
    return length(p - Vec3d(0, y, 0)) < s.radius;
  }
  bool operator()(const Cylinder& s) const { return std::abs(p.y) < s.height / 2 && std::hypot(p.x, p.z) < s.radius; }
  bool operator()(const Cone& s) const {
    return std::abs(p.y) < s.height / 2 && std::hypot(p.x, p.z) < s.radius * (0.5 - p.y / s.height);
  }
  bool operator()(const ConvexHull& s) const { return contains(welded(tessellate(s)), p); }
  bool operator()(const Compound& s) const {
    return std::any_of(s.parts.begin(), s.parts.end(), [&](const CompoundPart& part) {
      return is_inside(part.shape, Vec3d(part.body_from_part.inverse() * p.to_float()));
    });
  }
  template <typename Surface>
  bool operator()(const Surface&) const {
    return false;
  }
};

bool is_inside(const Shape& shape, Vec3d p) { return std::visit(IsInside{p}, shape); }

/// Mass properties by throwing points into a box that holds the shape.
MassProperties by_sampling(const Shape& shape, const Aabb& box, float density, int samples) {
  std::mt19937 random(42);
  std::uniform_real_distribution<double> uniform(0, 1);
  double count = 0;
  Vec3d sum;
  std::array<double, 6> second{};
  for (int i = 0; i < samples; ++i) {
    Vec3d p;
    for (std::size_t a = 0; a < 3; ++a) p[a] = box.lower[a] + uniform(random) * (double(box.upper[a]) - box.lower[a]);
    if (!is_inside(shape, p)) continue;
    ++count;
    sum += p;
    const std::array<double, 6> products{p.x * p.x, p.y * p.y, p.z * p.z, p.x * p.y, p.y * p.z, p.z * p.x};
    for (std::size_t k = 0; k < 6; ++k) second[k] += products[k];
  }
  const double volume = double(box.size().x) * box.size().y * box.size().z, unit = density * volume / samples;
  const Vec3d c = sum / count;
  const std::array<double, 6> shift{c.x * c.x, c.y * c.y, c.z * c.z, c.x * c.y, c.y * c.z, c.z * c.x};
  for (std::size_t k = 0; k < 6; ++k) second[k] = unit * (second[k] - count * shift[k]);
  MassProperties m;
  m.mass = float(unit * count);
  m.center_of_mass = c.to_float();
  m.inertia.rows[0] = {float(second[1] + second[2]), float(-second[3]), float(-second[5])};
  m.inertia.rows[1] = {float(-second[3]), float(second[2] + second[0]), float(-second[4])};
  m.inertia.rows[2] = {float(-second[5]), float(-second[4]), float(second[0] + second[1])};
  return m;
}

TEST(ShapeMass, MatchesSampling) {
  const Quat turn = Quat::axis_angle({1, 2, 3}, 0.8f);
  const std::vector<Shape> shapes{
      Sphere{0.7f},
      Box{{1, 2, 0.5f}},
      Capsule{0.4f, 0.9f},
      Cylinder{0.5f, 1.5f},
      Cone{0.8f, 1.2f},
      Compound{
          {{Box{{1, 1, 1}}, {{1, 0, 0}, turn}}, {Cone{0.5f, 1}, {{0, 1, 0}, turn}}, {Sphere{0.5f}, {{0, -1, 1}, {}}}}}};
  const Aabb box{{-2, -2, -2}, {2, 2, 2}};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape_name(shape));
    const auto m = mass_properties(shape, 250);
    ASSERT_TRUE(m);
    expect_same_mass(by_sampling(shape, box, 250, 4000000), *m, 0.02f);
  }
}

TEST(ShapeMass, OfAHullMatchesSampling) {
  const ConvexHull hull{{{0, 0, 0}, {1, 0.2f, 0}, {0.1f, 1.4f, 0}, {0.3f, 0.2f, 0.8f}, {1, 1, 1}}};
  const auto m = mass_properties(hull, 250);
  ASSERT_TRUE(m);
  expect_same_mass(by_sampling(hull, {{0, 0, 0}, {1, 1.4f, 1}}, 250, 100000), *m, 0.02f);
}

TEST(ShapeMass, ClosedForms) {
  const auto sphere = mass_properties(Sphere{2}, 3);
  EXPECT_FLOAT_EQ(sphere->mass, float(3 * 4.0 / 3 * kPiD * 8));
  EXPECT_FLOAT_EQ(sphere->inertia(1, 1), 0.4f * sphere->mass * 4);
  const auto box = mass_properties(Box{{1, 2, 3}}, 2);
  EXPECT_FLOAT_EQ(box->mass, 12);
  EXPECT_FLOAT_EQ(box->inertia(0, 0), 12.0f / 12 * (4 + 9));
  EXPECT_FLOAT_EQ(box->inertia(1, 1), 12.0f / 12 * (1 + 9));
  const auto cylinder = mass_properties(Cylinder{1, 2}, 1);
  EXPECT_FLOAT_EQ(cylinder->inertia(1, 1), cylinder->mass / 2);
  EXPECT_FLOAT_EQ(cylinder->inertia(0, 0), cylinder->mass * (3 + 4) / 12);
  const auto cone = mass_properties(Cone{1, 2}, 1);
  EXPECT_FLOAT_EQ(cone->center_of_mass.y, -0.5f);
  EXPECT_FLOAT_EQ(cone->inertia(1, 1), cone->mass * 0.3f);
  EXPECT_FLOAT_EQ(cone->inertia(0, 0), cone->mass * (0.15f + 3.0f / 80 * 4));
}

TEST(ShapeMass, AHullOfABoxWeighsWhatTheBoxDoes) {
  const auto box = mass_properties(Box{{1, 2, 3}}, 700), hull = mass_properties(box_hull({1, 2, 3}), 700);
  ASSERT_TRUE(box && hull);
  expect_same_mass(*hull, *box, 1e-6f);
}

TEST(ShapeMass, AFarHullKeepsItsInertia) {
  ConvexHull hull = box_hull({1, 2, 3});
  for (Vec3& p : hull.points) p += {1024, 512, -2048};
  const auto far = mass_properties(hull, 700), near = mass_properties(Box{{1, 2, 3}}, 700);
  ASSERT_TRUE(far);
  EXPECT_LT(length(far->center_of_mass - Vec3{1024, 512, -2048}), 1e-4f);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(far->inertia(i, i), near->inertia(i, i), 1e-5f * near->inertia(i, i));
}

TEST(ShapeMass, ACompoundOfHalvesIsTheWhole) {
  const Quat turn = Quat::axis_angle({0, 0, 1}, kPi / 2);
  // Two halves of a 4 x 2 x 1 box, one of them given lying on its side.
  const Compound halves{
      {{Box{{2, 2, 1}}, {{1, 0, 0}, {}}}, {Compound{{{Box{{2, 2, 1}}, {{}, turn}}}}, {{-1, 0, 0}, turn}}}};
  const auto whole = mass_properties(Box{{4, 2, 1}}, 500), sum = mass_properties(halves, 500);
  ASSERT_TRUE(sum);
  expect_same_mass(*sum, *whole, 1e-6f);
}

TEST(ShapeMass, RefusesWhatHasNone) {
  EXPECT_FALSE(mass_properties(Plane{}, 1000));
  EXPECT_FALSE(mass_properties(Heightfield{2, 2, 1, {0, 0, 0, 0}}, 1000));
  EXPECT_FALSE(mass_properties(TriangleMesh{shared(tri_sphere(1))}, 1000));
  EXPECT_EQ(mass_properties(Sphere{1}, 0).error().field, "density");
  EXPECT_EQ(mass_properties(Sphere{1}, kNan).error().field, "density");
  EXPECT_FALSE(mass_properties(Sphere{1e30f}, 1000));
  EXPECT_FALSE(mass_properties(Sphere{1e-30f}, 1000));
}

// Tessellation --------------------------------------------------------------------------------------------------------

TEST(ShapeTessellate, SurfacesAreClosedOnceWeldedAndHaveOutwardNormals) {
  for (const Shape& shape : std::vector<Shape>{Sphere{}, Box{}, Capsule{}, Cylinder{}, Cone{}, box_hull({1, 1, 1})}) {
    SCOPED_TRACE(shape_name(shape));
    const TriMesh mesh = tessellate(shape, 24);
    expect_closed(welded(mesh));
    ASSERT_EQ(mesh.normals.size(), mesh.vertices.size());
    for (const Face& f : mesh.faces) {
      const Vec3 a = mesh.vertices[f[0]], b = mesh.vertices[f[1]], c = mesh.vertices[f[2]];
      const Vec3 n = normalized(cross(b - a, c - a));
      // The tip of the cone is the one point that has no normal.
      for (const std::uint32_t v : f) EXPECT_GT(dot(n, mesh.normals[v]), 0.4f);
    }
  }
}

TEST(ShapeTessellate, ABoxHasFlatSides) {
  const TriMesh mesh = tessellate(Box{{1, 2, 3}});
  EXPECT_EQ(mesh.vertices.size(), 24u);
  for (const Vec3 n : mesh.normals) EXPECT_FLOAT_EQ(std::max({std::abs(n.x), std::abs(n.y), std::abs(n.z)}), 1);
}

TEST(ShapeTessellate, VolumesMatchMass) {
  for (const Shape& shape : std::vector<Shape>{Sphere{}, Box{}, Capsule{}, Cylinder{}, Cone{}, box_hull({1, 1, 1})}) {
    const double mass = mass_properties(shape, 1)->mass;
    EXPECT_NEAR(enclosed_volume(tessellate(shape, 128)), mass, 2e-3 * mass);
  }
}

TEST(ShapeTessellate, HeightfieldsAndPlanesLieWhereTheySay) {
  const TriMesh field = tessellate(Heightfield{3, 2, 2, {0, 1, 2, 3, 4, 5}});
  ASSERT_EQ(field.vertices.size(), 6u);
  EXPECT_EQ(field.vertices[0], (Vec3{-2, 0, -1}));
  EXPECT_EQ(field.vertices[5], (Vec3{2, 5, 1}));
  for (const Vec3 n : field.normals) EXPECT_GT(n.y, 0);

  const Vec3 up = normalized(Vec3{1, 2, -1});
  const TriMesh plane = tessellate(Plane{{2, 4, -2}, 3});
  for (const Vec3 v : plane.vertices) EXPECT_NEAR(dot(v, up), 3, 1e-4);
  for (const Vec3 n : plane.normals) EXPECT_NEAR(dot(n, up), 1, 1e-6);
  const Vec3 face = cross(plane.vertices[plane.faces[0][1]] - plane.vertices[plane.faces[0][0]],
                          plane.vertices[plane.faces[0][2]] - plane.vertices[plane.faces[0][0]]);
  EXPECT_GT(dot(face, up), 0);
}

TEST(ShapeTessellate, ACompoundIsTheSumOfItsParts) {
  const Compound pair{{{Sphere{0.5f}, {{2, 0, 0}, {}}}, {Box{}, {{-2, 0, 0}, Quat::axis_angle({0, 1, 0}, 0.5f)}}}};
  const TriMesh mesh = tessellate(pair, 32);
  EXPECT_NEAR(enclosed_volume(mesh), 1 + enclosed_volume(tri_sphere(0.5f, 32)), 1e-5);
  EXPECT_EQ(mesh.normals.size(), mesh.vertices.size());
}

TEST(ShapeTessellate, DetailIsKeptWithinReason) {
  EXPECT_GT(tessellate(Sphere{}, -7).faces.size(), 0u);
  EXPECT_LE(tessellate(Cylinder{}, 1 << 30).faces.size(), 4u * 1024);
}

}  // namespace
}  // namespace pliant
