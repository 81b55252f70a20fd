// Rays, overlaps and closest points against what geometry says.
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

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
