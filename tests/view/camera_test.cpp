// The camera that a hand moves, and the way from the window to the world and back.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "view/orbit_camera.h"
#include "view/screen.h"

namespace pliant {
namespace {

View sample_view() { return {{3, 4, 5}, {0, 1, 0}, {0, 1, 0}, 40}; }

/// A picture of 800x600 somewhere in a window.
Screen sample_screen() { return {sample_view(), {100, 50, 800, 600}}; }

TEST(Screen, MiddleLooksAtTheTarget) {
  const Screen screen = sample_screen();
  const Ray ray = screen.ray_at({500, 350});
  EXPECT_LT(length(ray.direction - normalized(screen.view.target - screen.view.eye)), 1e-5f);
  const auto place = screen.place_of(screen.view.target);
  ASSERT_TRUE(place);
  EXPECT_NEAR(place->x, 500, 1e-3f);
  EXPECT_NEAR(place->y, 350, 1e-3f);
}

TEST(Screen, UpperEdgeIsHalfTheAngleUp) {
  const Screen screen = sample_screen();
  const Ray middle = screen.ray_at({500, 350}), top = screen.ray_at({500, 50});
  EXPECT_NEAR(std::acos(dot(middle.direction, top.direction)), 20 * kPi / 180, 1e-4f);
  EXPECT_GT(top.direction.y, middle.direction.y);
}

TEST(Screen, RaysMeetWhatIsDrawnThere) {
  const Screen screen = sample_screen();
  std::mt19937 random(7);
  std::uniform_real_distribution<float> anywhere(-3, 3);
  int seen = 0;
  for (int i = 0; i < 200; ++i) {
    const Vec3 p{anywhere(random), anywhere(random), anywhere(random)};
    const auto place = screen.place_of(p);
    if (!place) continue;
    ++seen;
    const Ray ray = screen.ray_at(*place);
    EXPECT_LT(length(cross(ray.direction, p - ray.from)), 1e-3f);
  }
  EXPECT_GT(seen, 100);
  EXPECT_FALSE(screen.place_of(screen.view.eye + (screen.view.eye - screen.view.target)));
  EXPECT_FALSE(screen.place_of({NAN, 0, 0}));
}

TEST(Screen, AgreesWithTheRenderersMatrix) {
  const Screen screen = sample_screen();
  const Mat4 m = screen.view.clip_from_world(screen.rect.aspect());
  const Vec3 p{0.5f, 1.5f, -0.7f};
  const auto row = [&](int r) { return m.at(r, 0) * p.x + m.at(r, 1) * p.y + m.at(r, 2) * p.z + m.at(r, 3); };
  const Vec2 place = screen.place_of(p).value();
  EXPECT_NEAR(place.x, 100 + 800 * (0.5f + 0.5f * row(0) / row(3)), 0.01f);
  EXPECT_NEAR(place.y, 50 + 600 * (0.5f - 0.5f * row(1) / row(3)), 0.01f);
}

TEST(Screen, PixelIsAsLargeAsItLooks) {
  const Screen screen = sample_screen();
  const Vec3 p = screen.view.target;
  const Vec2 a = *screen.place_of(p), b = *screen.place_of(p + 10 * screen.pixel_size(p) * screen.view.axes().right);
  EXPECT_NEAR(b.x - a.x, 10, 0.05f);
}

TEST(ScreenRect, FitsWithinAnother) {
  const ScreenRect wide = fitted({0, 0, 1000, 400}, 1.5f), tall = fitted({10, 20, 300, 900}, 1.5f);
  EXPECT_EQ(wide, (ScreenRect{200, 0, 600, 400}));
  EXPECT_EQ(tall, (ScreenRect{10, 370, 300, 200}));
}

TEST(OrbitCamera, TurnsAboutItsTarget) {
  OrbitCamera camera;
  camera.set(sample_view());
  const float distance = camera.view().distance();
  camera.orbit(kPi / 2, 0);
  EXPECT_NEAR(camera.view().distance(), distance, 1e-4f);
  EXPECT_EQ(camera.view().target, sample_view().target);
  EXPECT_NEAR(camera.view().eye.y, 4, 1e-4f);
  EXPECT_NEAR(camera.view().eye.x, 5, 1e-3f);  // a quarter turn about Y takes (3, 5) to (5, -3)
  EXPECT_NEAR(camera.view().eye.z, -3, 1e-3f);
  camera.orbit(0, 0.2f);
  EXPECT_GT(camera.view().eye.y, 4);
}

TEST(OrbitCamera, NeverPassesThePoles) {
  OrbitCamera camera;
  camera.set(sample_view());
  for (int i = 0; i < 100; ++i) camera.orbit(0.01f, 0.3f);
  EXPECT_GT(camera.view().eye.y, 1 + 0.99f * camera.view().distance());
  EXPECT_GT(camera.view().axes().up.y, 0.01f);
  for (int i = 0; i < 100; ++i) camera.orbit(0.01f, -0.3f);
  EXPECT_LT(camera.view().eye.y, 1 - 0.99f * camera.view().distance());
  EXPECT_GT(camera.view().axes().up.y, 0.01f);
}

TEST(OrbitCamera, StaysAboveTheFloor) {
  OrbitCamera camera;
  camera.set(sample_view());
  camera.set_floor(0.5f);
  for (int i = 0; i < 20; ++i) camera.orbit(0.1f, -0.2f);
  EXPECT_GT(camera.view().eye.y, 0.5f);
  EXPECT_LT(camera.view().eye.y, 1);
  camera.pan(0, -10);
  EXPECT_GT(camera.view().eye.y, 0.5f);
  camera.orbit(0, 0.5f);  // and can leave it again
  EXPECT_GT(camera.view().eye.y, 0.6f);
}

TEST(OrbitCamera, PansWithThePictureAndZoomsWithinLimits) {
  OrbitCamera camera;
  camera.set(sample_view());
  const Axes axes = camera.view().axes();
  camera.pan(2, -1);
  EXPECT_LT(length(camera.view().target - (Vec3{0, 1, 0} + 2 * axes.right - axes.up)), 1e-5f);
  EXPECT_NEAR(camera.view().distance(), sample_view().distance(), 1e-4f);
  camera.zoom(0.5f);
  EXPECT_NEAR(camera.view().distance(), 0.5f * sample_view().distance(), 1e-4f);
  for (int i = 0; i < 200; ++i) camera.zoom(0.5f);
  EXPECT_GT(camera.view().distance(), 0.01f);
  for (int i = 0; i < 200; ++i) camera.zoom(2);
  EXPECT_LT(camera.view().distance(), 1e5f);
  const View before = camera.view();
  for (const float bad : {0.0f, -1.0f, NAN, INFINITY}) camera.zoom(bad);
  camera.orbit(NAN, 0), camera.pan(0, INFINITY);
  EXPECT_EQ(camera.view().eye, before.eye);
}

}  // namespace
}  // namespace pliant
