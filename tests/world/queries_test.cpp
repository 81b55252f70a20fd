// Rays, overlaps and closest points against what geometry says.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "geometry/shape_distance.h"
#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

struct Fixture {
  World world;
  BodyId ground, ball, box;

  Fixture() {
    ground = world.add(GroundDef{}).value();
    ball = world.add(RigidDef{.shape = Sphere{0.5f}, .motion = Motion::Static, .position = {3, 2, 0}}).value();
    box = world
              .add(RigidDef{
                  .shape = Box{{1, 2, 1}}, .motion = Motion::Static, .position = {6, 2, 0}, .filter = {.category = 4}})
              .value();
    world.commit_edits();
  }
};

TEST(RayCast, FindsTheFirstSurfaceWithItsNormal) {
  Fixture f;
  const auto hit = f.world.ray_cast({0, 2, 0}, {10, 0, 0}, 100);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->body, f.ball);
  EXPECT_NEAR(hit->distance, 2.5f, 1e-4f);
  EXPECT_LT(length(hit->normal - Vec3{-1, 0, 0}), 1e-3f);
  EXPECT_LT(length(hit->position - Vec3{2.5f, 2, 0}), 1e-3f);
  EXPECT_FALSE(f.world.ray_cast({0, 2, 0}, {1, 0, 0}, 2));
  EXPECT_FALSE(f.world.ray_cast({0, 2, 0}, {0, 1, 0}, 1000));
  EXPECT_FALSE(f.world.ray_cast({0, 2, 0}, {0, 0, 0}, 1000));
}

TEST(RayCast, AllComeInOrderAndFiltersHide) {
  Fixture f;
  const auto hits = f.world.ray_cast_all({0, 2, 0}, {1, 0, 0}, 100);
  ASSERT_EQ(hits.size(), 2u);
  EXPECT_EQ(hits[0].body, f.ball);
  EXPECT_EQ(hits[1].body, f.box);
  EXPECT_NEAR(hits[1].distance, 5.5f, 1e-4f);
  EXPECT_EQ(f.world.ray_cast({0, 2, 0}, {1, 0, 0}, 100, {.mask = 4})->body, f.box);
  EXPECT_EQ(f.world.ray_cast({0, 2, 0}, {1, 0, 0}, 100, {.ignore = f.ball})->body, f.box);
  EXPECT_EQ(f.world.ray_cast({0, 2, 0}, {0, -1, 0}, 100)->body, f.ground);
}

TEST(RayCast, HitsClothRopeAndJellyWhereTheyAre) {
  World world({.gravity = {}});
  const BodyId sheet = world.add(ClothDef{.shape = ClothSheet{1, 1, 10, 10}, .position = {0, 3, 0}}).value();
  const BodyId rope = world.add(RopeDef{.path = {{-1, 2, 0}, {1, 2, 0}}, .radius = 0.03f}).value();
  const BodyId jelly = world.add(JellyDef{.mesh = tet_box({1, 1, 1}, 0.25f), .position = {0, 0.5f, 0}}).value();
  world.commit_edits();
  const auto hits = world.ray_cast_all({0.03f, 5, 0.02f}, {0, -2, 0}, 10);
  ASSERT_EQ(hits.size(), 3u);
  EXPECT_EQ(hits[0].body, sheet);
  EXPECT_NEAR(hits[0].distance, 2, 1e-5f);
  EXPECT_LT(length(hits[0].normal - Vec3{0, 1, 0}), 1e-5f);
  // The rope is round: beside its middle it is hit lower.
  const float up = std::sqrt(0.03f * 0.03f - 0.02f * 0.02f);
  EXPECT_EQ(hits[1].body, rope);
  EXPECT_NEAR(hits[1].distance, 3 - up, 1e-5f);
  EXPECT_LT(length(hits[1].normal - Vec3{0, up, 0.02f} / 0.03f), 1e-3f);
  EXPECT_EQ(hits[2].body, jelly);
  EXPECT_NEAR(hits[2].distance, 4, 1e-5f);
  EXPECT_LT(length(hits[2].normal - Vec3{0, 1, 0}), 1e-5f);

  EXPECT_EQ(world.ray_cast({0.03f, 5, 0.02f}, {0, -1, 0}, 10)->body, sheet);
  EXPECT_EQ(world.ray_cast({0.03f, 5, 0.02f}, {0, -1, 0}, 10, {.ignore = sheet})->body, rope);
  const auto below = world.ray_cast({0.03f, 2.5f, 0.02f}, {0, 1, 0}, 10);
  ASSERT_TRUE(below);
  EXPECT_LT(length(below->normal - Vec3{0, -1, 0}), 1e-5f) << "of cloth, on the side that the ray comes from";
  // Into the round end of the rope, past it, along it from within, and away from it.
  EXPECT_NEAR(world.ray_cast({-3, 2, 0}, {1, 0, 0}, 10)->distance, 2 - 0.03f, 1e-5f);
  EXPECT_FALSE(world.ray_cast({-3, 2.031f, 0}, {1, 0, 0}, 10));
  EXPECT_EQ(world.ray_cast({0, 2.01f, 0}, {1, 0, 0}, 10)->distance, 0);
  EXPECT_FALSE(world.ray_cast({0, 2.2f, 0}, {0, 0, 1}, 10));
  EXPECT_FALSE(world.ray_cast({-2, 2, 0}, {-1, 0, 0}, 10));

  world.set_transform(rope, {{0, 0, 1}, {}}).require();
  world.commit_edits();
  EXPECT_EQ(world.ray_cast({0, 2.5f, 1}, {0, -1, 0}, 10)->body, rope);
}

TEST(Overlap, NamesWhatTouchesTheShape) {
  Fixture f;
  const auto at = [&](Vec3 position) { return f.world.overlap(Sphere{0.4f}, {position, {}}).value(); };
  EXPECT_EQ(at({3.6f, 2, 0}), std::vector<BodyId>{f.ball});
  EXPECT_TRUE(at({4.5f, 2, 0}).empty());
  EXPECT_EQ(at({6, 0.8f, 0}), std::vector<BodyId>{f.box});
  EXPECT_EQ(at({0, 0.3f, 0}), std::vector<BodyId>{f.ground});
  EXPECT_FALSE(f.world.overlap(Plane{}, {}).ok());
  EXPECT_FALSE(f.world.overlap(Sphere{-1}, {}).ok());
}

TEST(ClosestPoint, MeasuresToTheSurface) {
  Fixture f;
  const auto near_ball = f.world.closest_point({3, 4, 0}, 5);
  ASSERT_TRUE(near_ball);
  EXPECT_EQ(near_ball->body, f.ball);
  EXPECT_NEAR(near_ball->distance, 1.5f, 2e-3f);
  EXPECT_LT(length(near_ball->position - Vec3{3, 2.5f, 0}), 5e-3f);
  const auto near_box = f.world.closest_point({8, 3.5f, 0}, 5);
  ASSERT_TRUE(near_box);
  EXPECT_EQ(near_box->body, f.box);
  EXPECT_NEAR(near_box->distance, std::hypot(1.5f, 0.5f), 3e-3f);  // edges are rounded by half a percent of the size
  EXPECT_FALSE(f.world.closest_point({3, 8, 0}, 1));
  EXPECT_LT(f.world.closest_point({6, 2.9f, 0}, 1)->distance, 0) << "inside the box";
}

TEST(Queries, SeeMovedBodies) {
  World world({.gravity = {0, 0, 0}});
  const BodyId ball = world.add(RigidDef{.shape = Sphere{0.5f}, .velocity = {6, 0, 0}}).value();
  for (int i = 0; i < 60; ++i) world.step();
  const auto hit = world.ray_cast({6, 5, 0}, {0, -1, 0}, 10);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->body, ball);
  EXPECT_FALSE(world.ray_cast({0, 5, 0}, {0, -1, 0}, 10));
}

TEST(Islands, AreWhatTouches) {
  World world;
  const BodyId ground = world.add(GroundDef{}).value();
  std::vector<BodyId> left, right;  // two stacks of boxes, far apart
  for (int i = 0; i < 3; ++i) {
    const float y = 0.5f + static_cast<float>(i);
    left.push_back(world.add(RigidDef{.position = {-5, y, 0}}).value());
    right.push_back(world.add(RigidDef{.position = {5, y, 0}}).value());
  }
  const BodyId flying = world.add(RigidDef{.position = {0, 50, 0}}).value();
  EXPECT_FALSE(world.island(flying));
  for (int i = 0; i < 5; ++i) world.step();
  EXPECT_EQ(world.report().islands, 3u);
  EXPECT_FALSE(world.island(ground));
  EXPECT_FALSE(world.island(BodyId{}));
  ASSERT_TRUE(world.island(left[0]) && world.island(right[0]) && world.island(flying));
  for (const BodyId body : left) EXPECT_EQ(world.island(body), world.island(left[0]));
  for (const BodyId body : right) EXPECT_EQ(world.island(body), world.island(right[0]));
  EXPECT_NE(*world.island(left[0]), *world.island(right[0]));
  EXPECT_NE(*world.island(flying), *world.island(right[0]));
  const Snapshot then = world.snapshot();
  ASSERT_TRUE(world.restore(then));
  EXPECT_FALSE(world.island(left[0]));
}

Heightfield rugged_field() {
  Heightfield field{7, 6, 1, {}};
  for (int i = 0; i < field.columns * field.rows; ++i)
    field.heights.push_back(0.04f * static_cast<float>(i * i * i * 5 % 17));
  return field;
}

/// In the middle of a cell: the means of the ends of the cut, and of the other diagonal.
std::pair<float, float> middle_heights(const Heightfield& field, int column, int row) {
  const auto at = [&](int c, int r) { return field.heights[static_cast<std::size_t>(r * field.columns + c)]; };
  return {(at(column + 1, row) + at(column, row + 1)) / 2, (at(column, row) + at(column + 1, row + 1)) / 2};
}

/// Calls `visit` with the middle of each cell's cut.
template <typename Visit>
void for_cut_middles(const Heightfield& field, Visit visit) {
  for (int row = 0; row + 1 < field.rows; ++row) {
    for (int column = 0; column + 1 < field.columns; ++column) {
      visit(Vec3{static_cast<float>(column) - 2.5f, middle_heights(field, column, row).first,
                 static_cast<float>(row) - 2.0f});
    }
  }
}

constexpr Vec3 kSides[] = {{0.3f, 0, 0.1f}, {-0.3f, 0, -0.1f}, {0.1f, 0, -0.3f}, {-0.1f, 0, 0.3f}};

TEST(Heightfields, AreCutAsTheySayForRaysAndProbes) {
  const Heightfield field = rugged_field();
  World world;
  world.add(RigidDef{.shape = field, .motion = Motion::Static}).value();
  world.commit_edits();
  const ShapeProbe probe(field);
  for_cut_middles(field, [&](Vec3 middle) {
    const auto seen = world.ray_cast({middle.x, 5, middle.z}, {0, -1, 0}, 10);
    ASSERT_TRUE(seen);
    EXPECT_NEAR(seen->position.y, middle.y, 1e-5f) << middle.x << ' ' << middle.z;
    EXPECT_NEAR(probe.nearest(middle, 1)->distance, 0, 1e-5f) << middle.x << ' ' << middle.z;
    for (const Vec3 side : kSides) {  // in one triangle of the cell, and in the other
      const auto hit = world.ray_cast(middle + side + Vec3{0, 5, 0}, {0, -1, 0}, 10);
      ASSERT_TRUE(hit);
      EXPECT_NEAR(probe.nearest(hit->position, 1)->distance, 0, 1e-5f) << middle.x << ' ' << middle.z;
    }
  });
  // The other cut would be seen: it lies above in some cells and below in others.
  int above = 0, below = 0;
  for (int row = 0; row + 1 < field.rows; ++row) {
    for (int column = 0; column + 1 < field.columns; ++column) {
      const auto [cut, other] = middle_heights(field, column, row);
      above += other > cut + 0.1f;
      below += other < cut - 0.1f;
    }
  }
  EXPECT_GT(above, 5);
  EXPECT_GT(below, 5);
}

TEST(Heightfields, AreMetByBallsWhereProbesFindThem) {
  constexpr float kRadius = 0.05f;
  const Heightfield field = rugged_field();
  const ShapeProbe probe(field);
  for_cut_middles(field, [&](Vec3 middle) {
    World world({.gravity = {0, 0, 0}});
    world.add(RigidDef{.shape = field, .motion = Motion::Static, .friction = 0}).value();
    world.commit_edits();
    std::vector<BodyId> balls;
    for (const Vec3 side : kSides) {
      const Vec3 below = world.ray_cast(middle + side + Vec3{0, 5, 0}, {0, -1, 0}, 10)->position;
      balls.push_back(world
                          .add(RigidDef{.shape = Sphere{kRadius},
                                        .position = below + Vec3{0, 0.2f, 0},
                                        .velocity = {0, -0.2f, 0},
                                        .friction = 0,
                                        .restitution = 0})
                          .value());
    }
    std::vector<float> least(balls.size(), 1);
    for (int i = 0; i < 60; ++i) {
      world.step();
      for (std::size_t k = 0; k < balls.size(); ++k) {
        const auto near = probe.nearest(world.state(balls[k])->world_from_body.position, 1);
        if (near) least[k] = std::min(least[k], near->distance);
      }
    }
    for (const float distance : least) EXPECT_NEAR(distance, kRadius, 0.004f) << middle.x << ' ' << middle.z;
  });
}

TEST(Shapes, AllRestWhereTheyShould) {
  const struct {
    Shape shape;
    float height;  ///< of the origin above the ground at rest
  } cases[] = {
      {Sphere{0.3f}, 0.3f},
      {Box{{0.4f, 0.6f, 0.4f}}, 0.3f},
      {Cylinder{0.4f, 0.6f}, 0.3f},
      {Cone{0.5f, 0.6f}, 0.3f},
      {ConvexHull{
           {{-0.5f, -0.2f, -0.5f}, {0.5f, -0.2f, -0.5f}, {-0.5f, -0.2f, 0.5f}, {0.5f, -0.2f, 0.5f}, {0, 0.3f, 0}}},
       0.2f},
      {Compound{{{Box{{1, 0.2f, 1}}, {{0, -0.3f, 0}, {}}}, {Sphere{0.2f}, {{0, 0, 0}, {}}}}}, 0.4f},
  };
  std::vector<float> heights(64 * 64, 0.0f);
  auto floor_mesh = std::make_shared<TriMesh>(tri_box({20, 1, 20}, 2.0f));
  const RigidDef floors[] = {
      {.shape = Plane{}, .motion = Motion::Static},
      {.shape = Box{{20, 1, 20}}, .motion = Motion::Static, .position = {0, -0.5f, 0}},
      {.shape = TriangleMesh{floor_mesh}, .motion = Motion::Static, .position = {0, -0.5f, 0}},
      {.shape = Heightfield{64, 64, 0.5f, heights}, .motion = Motion::Static},
  };
  for (const RigidDef& floor : floors) {
    for (const auto& [shape, height] : cases) {
      World world;
      world.add(floor).value();
      const BodyId body = world.add(RigidDef{.shape = shape, .position = {0.3f, height + 0.05f, 0.2f}}).value();
      for (int i = 0; i < 240; ++i) world.step();
      const BodyState state = world.state(body).value();
      EXPECT_NEAR(state.world_from_body.position.y, height, 0.01f * (0.3f + height))
          << shape_name(shape) << " on " << shape_name(floor.shape);
      EXPECT_LT(length(state.velocity), 0.02f) << shape_name(shape) << " on " << shape_name(floor.shape);
    }
  }
}

}  // namespace
}  // namespace pliant
