#include "render/view.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

/// Where a point falls in the picture, -1 to 1.
Vec3 project(const View& view, float aspect, Vec3 p) {
  const Mat4 m = view.clip_from_world(aspect);
  float c[4];
  for (int r = 0; r < 4; ++r) c[r] = m.at(r, 0) * p.x + m.at(r, 1) * p.y + m.at(r, 2) * p.z + m.at(r, 3);
  return {c[0] / c[3], c[1] / c[3], c[2] / c[3]};
}

void expect_near(Vec3 a, Vec3 b, float tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

RenderSurface box_at(Vec3 position, Vec3 size, bool moves) {
  RenderSurface surface;
  surface.mesh = std::make_shared<const TriMesh>(tessellate(Box{size}));
  surface.world_from_body.position = surface.center_of_mass = position;
  surface.moves = moves;
  return surface;
}

TEST(View, ProjectsByThePinholeFormula) {
  const View view{{0, 0, 5}, {0, 0, 0}, {0, 1, 0}, 90};
  // At 90 degrees half the height is as large as the distance.
  expect_near(project(view, 2, {0, 2.5f, 0}), {0, 0.5f, project(view, 2, {0, 0, 0}).z}, 1e-5f);
  EXPECT_NEAR(project(view, 2, {2.5f, 0, 0}).x, 0.25f, 1e-5f);
  EXPECT_NEAR(project(view, 2, {0, 0, 5 - view.near()}).z, -1, 1e-4f);
  EXPECT_LT(project(view, 2, {0, 0, 1}).z, project(view, 2, {0, 0, 0}).z);
}

TEST(View, StraightDownStillHasAnUp) {
  const View view{{0, 5, 0}, {0, 0, 0}, {0, 1, 0}, 45};
  const Vec3 p = project(view, 1, {0.3f, 0, 0.2f});
  EXPECT_TRUE(is_finite(p));
  EXPECT_GT(length(Vec3{p.x, p.y, 0}), 0.05f);
}

TEST(View, FramesBoxesOfAnyShapeTightly) {
  for (const Vec3 size : {Vec3{1, 1, 1}, Vec3{100, 0.1f, 3}, Vec3{0.01f, 0.05f, 0.01f}, Vec3{2, 30, 2}}) {
    for (const float aspect : {0.5f, 1.0f, 16.0f / 9}) {
      const Aabb box{Vec3{3, 4, 5} - 0.5f * size, Vec3{3, 4, 5} + 0.5f * size};
      const View view = frame_bounds(box, aspect);
      float largest = 0;
      for (int i = 0; i < 8; ++i) {
        const Vec3 corner{i & 1 ? box.upper.x : box.lower.x, i & 2 ? box.upper.y : box.lower.y,
                          i & 4 ? box.upper.z : box.lower.z};
        const Vec3 p = project(view, aspect, corner);
        largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
        EXPECT_LT(std::abs(p.z), 1);
      }
      EXPECT_LT(largest, 1);
      EXPECT_GT(largest, 0.6f);
    }
  }
}

TEST(View, InterestIsWhatMoves) {
  std::vector<RenderSurface> surfaces = {box_at({0, 0, 0}, {1000, 1, 1000}, false), box_at({2, 3, 4}, {1, 1, 1}, true)};
  surfaces.push_back(box_at({0, 0, 0}, {100, 0.1f, 100}, false));
  surfaces.back().endless = true;
  expect_near(bounds_of_interest(surfaces).lower, {1.5f, 2.5f, 3.5f}, 1e-5f);
  surfaces.erase(surfaces.begin() + 1);
  expect_near(bounds_of_interest(surfaces).upper, {500, 0.5f, 500}, 1e-3f);  // nothing moves: what is finite
  EXPECT_FALSE(bounds_of_interest({}).is_empty());
}

TEST(CameraMan, OrbitsAtItsDistance) {
  SceneCamera camera{.from = {4, 2, 0}, .look_at = {0, 1, 0}, .orbit_degrees_per_second = 90, .automatic = false};
  CameraMan man(camera, 1);
  expect_near(man.at(0, {}).eye, {4, 2, 0}, 1e-5f);
  expect_near(man.at(1, {}).eye, {0, 2, -4}, 1e-4f);
  expect_near(man.at(4000, {}).eye, {4, 2, 0}, 1e-2f);
}

TEST(CameraMan, FollowsItsBodyAndStaysWhenItIsGone) {
  SceneCamera camera{.from = {0, 2, 5}, .look_at = {0, 0, 0}, .follow = "ball", .automatic = false};
  CameraMan man(camera, 1);
  std::vector<RenderSurface> surfaces = {box_at({1, 1, 1}, {1, 1, 1}, true)};
  surfaces[0].name = "ball";
  expect_near(man.at(0, surfaces).eye, {0, 2, 5}, 1e-5f);
  surfaces[0].center_of_mass = {3, 1, 0};
  expect_near(man.at(1, surfaces).eye, {2, 2, 4}, 1e-5f);
  expect_near(man.at(1, surfaces).target, {2, 0, -1}, 1e-5f);
  expect_near(man.at(2, {}).eye, {2, 2, 4}, 1e-5f);
  surfaces[0].center_of_mass.x = std::nanf("");
  EXPECT_TRUE(is_finite(man.at(3, surfaces).eye));
}

TEST(CameraMan, FramesOnceWhereTheSceneHasNoCamera) {
  CameraMan man(SceneCamera{}, 1);
  std::vector<RenderSurface> surfaces = {box_at({50, 1, 0}, {1, 1, 1}, true)};
  const View first = man.at(0, surfaces);
  expect_near(first.target, {50, 1, 0}, 1e-4f);
  surfaces[0].world_from_body.position.x = 90;
  expect_near(man.at(1, surfaces).eye, first.eye, 0);
}

TEST(Lighting, ComesFromTheScene) {
  const Lighting own = lighting_of({});
  EXPECT_GT(own.sun.x, 0);
  EXPECT_FLOAT_EQ(own.sky, 1);
  std::vector<SceneLight> lights(3);
  lights[0] = {.kind = SceneLight::Kind::Sun, .direction = {0, -2, 0}, .intensity = 0.5f, .shadows = false};
  lights[1] = {.kind = SceneLight::Kind::Sun, .direction = {1, 0, 0}, .color = {1, 0, 0}};
  lights[2] = {.kind = SceneLight::Kind::Ambient, .intensity = 0.15f};
  const Lighting light = lighting_of(lights);
  expect_near(light.to_sun, {-1, 0, 0}, 1e-6f);  // the one that casts shadows
  EXPECT_EQ(light.sun.y, 0);
  EXPECT_FLOAT_EQ(light.sky, 0.5f);
  ASSERT_EQ(light.lamps.size(), 1u);
  expect_near(light.lamps[0].place, {0, 1, 0}, 1e-6f);
  lights.assign(100, {.kind = SceneLight::Kind::Point});
  EXPECT_EQ(lighting_of(lights).lamps.size(), Lighting::kMaxLamps);
}

}  // namespace
}  // namespace pliant
