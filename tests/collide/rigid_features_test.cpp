// Corners and edges of rigid shapes against sheets and closed surfaces.
#include "collide/rigid_features.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "math/vec3d.h"
#include "pliant/generators.h"

#include "surface_meshes.h"

namespace pliant {
namespace {

constexpr float kH = 1.0f / 60;

std::shared_ptr<const RigidFeatures> features_of(const Shape& shape) { return std::make_shared<RigidFeatures>(shape); }

ConvexHull wedge() { return {{{-0.1f, 0, -0.1f}, {0.1f, 0, -0.1f}, {0, 0, 0.15f}, {0.02f, 0.2f, 0}}}; }

std::vector<Shape> all_kinds() {
  Compound compound;
  compound.parts.push_back({Sphere{0.05f}, {{0.1f, 0, 0}, {}}});
  compound.parts.push_back({Box{{0.1f, 0.08f, 0.06f}}, {{-0.05f, 0, 0}, Quat::axis_angle({0, 0, 1}, 0.3f)}});
  auto mesh = std::make_shared<TriMesh>();
  for (const Vec3 p : {Vec3{0, -0.1f, 0}, {0.1f, 0.1f, 0.1f}, {-0.1f, 0.1f, 0.1f}, {0, 0.1f, -0.1f}}) {
    mesh->vertices.push_back(p);
  }
  mesh->faces = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  return {Sphere{0.05f},        Box{{0.1f, 0.2f, 0.15f}},
          Capsule{0.03f, 0.1f}, Cylinder{0.08f, 0.1f},
          Cone{0.08f, 0.15f},   wedge(),
          TriangleMesh{mesh},   compound};
}

/// The lowest point of a shape that has been turned, by its features: exact for all but rims, which are sampled.
float lowest_of(const RigidFeatures& features, const Transform& place) {
  float lowest = 1e9f;
  for (const RigidFeatures::Piece& piece : features.pieces()) {
    for (const Vec3 p : piece.points) lowest = std::min(lowest, (place * p).y - piece.radius);
  }
  return lowest;
}

struct Sheet {
  SurfaceScene scene;
  SurfaceTree tree;
  SurfaceContacts::Scratch scratch;
  explicit Sheet(std::uint32_t n, float depth = 0)
      : tree(depth > 0 ? add_block(depth) : scene.add_sheet(n, 0.002f, [](float u, float w) {
          return Vec3{w - 0.5f, 0, u - 0.5f};
        })) {}
  /// A closed box with its top at 0, of two triangles a side.
  SurfaceTree add_block(float depth) {
    const RigidFeatures box(Box{});
    for (const Vec3 p : box.pieces()[0].points) scene.x.push_back({p.x, p.y - 0.5f, p.z, 0});
    const std::vector<Face>& faces = box.pieces()[0].faces;
    scene.v.resize(8);
    scene.rest = scene.x;
    return SurfaceTree(
        make_surface_topology({.faces = faces, .free_edges = {}, .rest = scene.rest, .radius = 0.002f, .depth = depth})
            .value());
  }
  void refit() { tree.refit(scene.x, scene.v, kH, 0.003f, scene.workers); }
};

/// A shape above the middle of a large triangle, by `gap`; turned at random.
RigidPath above(const RigidFeatures& features, float gap, std::mt19937& random) {
  std::normal_distribution<float> normal;
  RigidPath motion;
  motion.world_from_shape.rotation = Quat{normal(random), normal(random), normal(random), normal(random)}.normalized();
  motion.world_from_shape.position.y = gap - lowest_of(features, motion.world_from_shape);
  motion.world_from_shape.position.x = 0.2f, motion.world_from_shape.position.z = -0.1f;
  motion.center_of_mass = motion.world_from_shape.position;
  return motion;
}

void expect_sound(const RigidContact& c, const Sheet& sheet) {
  Vec3 q{};
  float sum = 0;
  for (std::uint32_t k = 0; k < c.count; ++k) {
    q += c.weights[k] * sheet.scene.x[c.nodes[k]].xyz();
    sum += c.weights[k];
  }
  EXPECT_NEAR(sum, 1, 1e-4f);
  EXPECT_NEAR(length(c.normal), 1, 1e-4f);
  EXPECT_NEAR(dot(q - c.point, c.normal) - 0.002f, c.gap, 1e-5f);
}

TEST(RigidFeatures, EveryShapeTouchesASheetAndABlockWithItsLowestPoint) {
  std::mt19937 random(1);
  for (const Shape& shape : all_kinds()) {
    const auto features = features_of(shape);
    for (int round = 0; round < 40; ++round) {
      for (const float depth : {0.0f, 0.1f}) {
        for (const float apart : {0.003f, 0.0005f, depth > 0 ? -0.02f : 0.001f}) {
          Sheet sheet(2, depth);
          sheet.refit();
          const RigidPath motion = above(*features, apart, random);
          RigidContacts contacts(features);
          float least = 1e9f;
          for (const RigidContact& c : contacts.find(sheet.tree, motion, 0.1f, sheet.scene.workers, sheet.scratch)) {
            expect_sound(c, sheet);
            EXPECT_LT(c.normal.y, -0.9f) << shape_name(shape);
            least = std::min(least, c.gap);
          }
          EXPECT_NEAR(least, apart - 0.002f, 2e-5f) << shape_name(shape) << " at " << apart << " round " << round;
        }
      }
    }
  }
}

/// By brute force: every corner that is nearer to a face of a crumpled sheet than the radii, right above or below it,
/// has a row for that face.
TEST(RigidFeatures, NoCornerNearAFaceIsMissed) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> unit(-1, 1);
  std::size_t expected = 0;
  for (int round = 0; round < 300; ++round) {
    Sheet sheet(6);
    for (Vec4& p : sheet.scene.x) p = {p.x, 0.05f * unit(random), p.z, 0};
    const auto features = features_of(round % 2 ? Shape{Box{{0.1f, 0.2f, 0.15f}}} : Shape{wedge()});
    const RigidPath motion = above(*features, 0.05f * unit(random), random);
    sheet.refit();
    RigidContacts contacts(features);
    const auto found = contacts.find(sheet.tree, motion, 0.02f, sheet.scene.workers, sheet.scratch);
    for (const Vec3 point : features->pieces()[0].points) {
      const Vec3d p(motion.world_from_shape * point);
      for (const SurfaceElement& e : sheet.tree.topology().elements) {
        const Vec3d a(sheet.scene.x[e.nodes[0]].xyz()), b(sheet.scene.x[e.nodes[1]].xyz()),
            c(sheet.scene.x[e.nodes[2]].xyz()), n = normalized(cross(b - a, c - a));
        const double height = dot(p - a, n);
        const bool is_before = dot(cross(b - a, p - a), n) > 1e-5 && dot(cross(c - b, p - b), n) > 1e-5 &&
                               dot(cross(a - c, p - c), n) > 1e-5;
        if (!is_before || std::abs(height) > 0.004) continue;
        ++expected;
        EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const RigidContact& r) {
          return r.count == 3 && r.nodes == e.nodes && std::abs(double(r.gap) - std::abs(height) + 0.002) < 1e-5;
        })) << round;
      }
    }
  }
  EXPECT_GT(expected, 20u);
}

TEST(RigidFeatures, NothingFastPassesThroughALargeTriangle) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> unit(0, 1);
  for (const Shape& shape : all_kinds()) {
    const auto features = features_of(shape);
    for (int round = 0; round < 40; ++round) {
      Sheet sheet(round % 2 ? 2 : 5, round % 4 < 2 ? 0.0f : 0.1f);
      sheet.refit();
      RigidPath motion = above(*features, 0.02f + 0.5f * unit(random), random);
      motion.velocity = {5 * unit(random), -100, 5 * unit(random)};
      RigidContacts contacts(features);
      const auto found = contacts.find(sheet.tree, motion, 0.1f, sheet.scene.workers, sheet.scratch);
      ASSERT_FALSE(found.empty()) << shape_name(shape) << " round " << round;
      for (const RigidContact& c : found) expect_sound(c, sheet);
      // The lowest point is held with its distance.
      const float lowest = lowest_of(*features, motion.world_from_shape);
      float least = 1e9f;
      for (const RigidContact& c : found) least = std::min(least, std::abs(c.gap - (lowest - 0.002f)));
      EXPECT_LT(least, 0.01f) << shape_name(shape) << " round " << round;
    }
  }
}

TEST(RigidFeatures, ASheetRemembersTheSideOfASmallBall) {
  const auto features = features_of(Sphere{0.004f});
  for (const float side : {1.0f, -1.0f}) {
    Sheet sheet(2);
    RigidContacts contacts(features);
    RigidPath motion;
    motion.world_from_shape.position = {0.2f, 0, -0.1f};
    for (const float height : {0.006f, 0.003f, 0.001f, -0.001f, -0.003f, -0.006f}) {
      motion.world_from_shape.position.y = side * height;
      sheet.refit();
      const auto found = contacts.find(sheet.tree, motion, 0.01f, sheet.scene.workers, sheet.scratch);
      ASSERT_EQ(found.size(), 1u) << height;
      EXPECT_NEAR(found[0].normal.y, -side, 1e-4f) << height;
      EXPECT_NEAR(found[0].gap, height - 0.006f, 1e-5f) << height;
      // What is saved and restored goes on alike.
      RigidContacts copy(features);
      copy.restore(contacts.memory(), sheet.scene.workers);
      sheet.refit();
      const auto again = copy.find(sheet.tree, motion, 0.01f, sheet.scene.workers, sheet.scratch);
      ASSERT_EQ(again.size(), 1u);
      EXPECT_EQ(again[0].normal.y, found[0].normal.y);
      EXPECT_EQ(again[0].key, found[0].key);
    }
  }
}

TEST(RigidFeatures, AnEdgeLiesAcrossTheEdgesOfASheet) {
  // A long prism with its ridge down, above a sheet that is bent over an edge of its own, at right angles.
  Sheet sheet(3);
  for (Vec4& p : sheet.scene.x) p.y = -0.4f * std::abs(p.x);
  const auto features = features_of(Box{{0.1f, 0.1f, 2}});
  for (const float apart : {0.003f, 0.001f, -0.001f}) {
    RigidPath motion;
    motion.world_from_shape.rotation = Quat::axis_angle({0, 1, 0}, kPi / 2) * Quat::axis_angle({0, 0, 1}, kPi / 4);
    motion.world_from_shape.position = {0.01f, 0.05f * std::sqrt(2.0f) + apart, 0.22f};
    sheet.refit();
    RigidContacts contacts(features);
    const auto found = contacts.find(sheet.tree, motion, 0.02f, sheet.scene.workers, sheet.scratch);
    ASSERT_EQ(found.size(), 1u) << apart;
    EXPECT_EQ(found[0].count, 2u);
    EXPECT_NEAR(found[0].normal.y, -1, 1e-3f) << apart;
    EXPECT_NEAR(found[0].gap, apart - 0.002f, 1e-4f) << apart;
  }
}

// A spike on a large ground: found through the window, wherever the sheet is, and at the cost of what is near.
TEST(RigidFeatures, LargeGroundsAreLookedAtThroughAWindow) {
  Heightfield field{.columns = 301, .rows = 301, .cell = 0.1f, .heights = std::vector<float>(301 * 301, 0.0f)};
  const auto height_at = [&](int c, int r) -> float& { return field.heights[std::size_t(r * 301 + c)]; };
  for (int k = 20; k < 290; k += 30) height_at(k, k) = 0.3f;
  const auto features = features_of(field);
  ASSERT_TRUE(features->pieces()[0].is_large());
  Sheet sheet(2);
  RigidContacts contacts(features);
  for (int k = 20; k < 290; k += 30) {
    const Vec3 tip{0.1f * float(k - 150), 0.3f, 0.1f * float(k - 150)};
    for (std::size_t i = 0; i < sheet.scene.x.size(); ++i) {
      const Vec3 p = sheet.scene.rest[i].xyz() + tip + Vec3{0.17f, 0.003f, 0.08f};
      sheet.scene.x[i] = {p.x, p.y, p.z, 0};
    }
    sheet.refit();
    const auto found = contacts.find(sheet.tree, {}, 0.05f, sheet.scene.workers, sheet.scratch);
    ASSERT_GE(found.size(), 1u) << k;
    for (const RigidContact& c : found) {
      EXPECT_NEAR(c.normal.y, 1, 1e-3f);
      EXPECT_NEAR(c.gap, 0.001f, 1e-5f);
      EXPECT_LT(length(c.point - tip), 1e-5f);
    }
  }
}

TEST(RigidFeatures, AGroundAsLargeAsTheWorldCostsNothingFarFromItsRim) {
  const auto features = features_of(Box{{200, 1, 200}});
  Sheet sheet(60);
  RigidPath motion;
  motion.world_from_shape.position = {0, -0.501f, 0};
  RigidContacts contacts(features);
  sheet.refit();
  EXPECT_TRUE(contacts.find(sheet.tree, motion, 0.02f, sheet.scene.workers, sheet.scratch).empty());
  EXPECT_LT(contacts.tests(), 100u);
  EXPECT_FALSE(contacts.overflowed());
}

// A cube's volume by the divergence theorem: all faces of the pieces look outward, and none is missing.
TEST(RigidFeatures, PiecesAreClosed) {
  const auto volume_of = [](const Shape& shape) {
    const RigidFeatures features(shape);
    double volume = 0;
    for (const Face& f : features.pieces()[0].faces) {
      const std::vector<Vec3>& p = features.pieces()[0].points;
      volume += six_volumes({}, Vec3d(p[f[0]]), Vec3d(p[f[1]]), Vec3d(p[f[2]])) / 6;
    }
    return volume;
  };
  const double n = RigidFeatures::kRimSegments, disc = 0.5 * n * std::sin(2 * double(kPi) / n);
  EXPECT_NEAR(volume_of(Box{{1, 2, 3}}), 6, 1e-5);
  EXPECT_NEAR(volume_of(Cylinder{2, 3}), 4 * disc * 3, 1e-4);
  EXPECT_NEAR(volume_of(Cone{2, 3}), 4 * disc, 1e-4);
  EXPECT_GT(volume_of(wedge()), 0.001);
}

TEST(RigidFeatures, BadNumbersAndPlanesDoNoHarm) {
  EXPECT_TRUE(RigidFeatures(Plane{}).pieces().empty());
  const auto features = features_of(Box{});
  Sheet sheet(4);
  sheet.scene.x[3].y = std::numeric_limits<float>::quiet_NaN();
  sheet.refit();
  RigidContacts contacts(features);
  RigidPath motion;
  motion.world_from_shape.position = {0, 0.501f, 0};
  motion.velocity = {std::numeric_limits<float>::infinity(), 0, 0};
  for (const RigidContact& c : contacts.find(sheet.tree, motion, 0.1f, sheet.scene.workers, sheet.scratch)) {
    EXPECT_TRUE(std::isfinite(c.gap));
  }
  motion.world_from_shape.position.x = std::numeric_limits<float>::quiet_NaN();
  contacts.find(sheet.tree, motion, 0.1f, sheet.scene.workers, sheet.scratch);
}

TEST(RigidFeatures, ThinAndSharpOnesMayPassBetweenNodes) {
  const float cell = 0.02f;
  const auto may_pass = [&](const Shape& shape) { return RigidFeatures(shape).may_pass_between(cell); };
  EXPECT_FALSE(may_pass(Box{{1, 0.5f, 2}}));
  EXPECT_FALSE(may_pass(Sphere{0.3f}));
  EXPECT_FALSE(may_pass(Capsule{0.1f, 1}));
  EXPECT_FALSE(may_pass(Cylinder{0.2f, 0.5f}));
  EXPECT_FALSE(may_pass(Plane{}));
  EXPECT_TRUE(may_pass(Box{{1, 0.01f, 2}}));
  EXPECT_TRUE(may_pass(Sphere{0.01f}));
  EXPECT_TRUE(may_pass(Capsule{0.005f, 1}));
  EXPECT_TRUE(may_pass(Cone{0.1f, 0.5f}));
  EXPECT_TRUE(may_pass(wedge()));
  // A blade: two sides that meet at 20 degrees, with no tip.
  const float half = 0.3f * std::tan(0.1745f);
  EXPECT_TRUE(may_pass(
      ConvexHull{{{-1, 0, 0}, {1, 0, 0}, {-1, -0.3f, half}, {1, -0.3f, half}, {-1, -0.3f, -half}, {1, -0.3f, -half}}}));
  EXPECT_TRUE(may_pass(Compound{{{Box{{1, 1, 1}}, {}}, {Sphere{0.01f}, {{0, 1, 0}, {}}}}}));
}

}  // namespace
}  // namespace pliant
