// What is drawn over the picture stands where it should.
#include "view/overlay.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace pliant {
namespace {

Screen front_view() { return {{{0, 0, 10}, {0, 0, 0}, {0, 1, 0}, 45}, {0, 0, 400, 300}}; }

TEST(Overlay, LinesJoinTheirPlaces) {
  const Screen screen = front_view();
  Overlay overlay(screen);
  overlay.line({-1, 0, 0}, {1, 2, 0}, {1, 0, 0});
  ASSERT_EQ(overlay.strokes().size(), 1u);
  const Stroke& s = overlay.strokes()[0];
  EXPECT_NEAR(s.a.x, screen.place_of({-1, 0, 0})->x, 1e-3f);
  EXPECT_NEAR(s.b.y, screen.place_of({1, 2, 0})->y, 1e-3f);
}

TEST(Overlay, LinesAreCutBeforeTheEye) {
  const Screen screen = front_view();
  Overlay overlay(screen);
  overlay.line({0, 0, 0}, {0, 1, 30}, {1, 0, 0});  // ends behind the eye
  ASSERT_EQ(overlay.strokes().size(), 1u);
  EXPECT_LT(overlay.strokes()[0].b.y, 0);  // leaves the picture upwards, not downwards as a mirrored point would
  overlay.line({0, 0, 20}, {0, 1, 30}, {1, 0, 0});
  overlay.line({NAN, 0, 0}, {0, 1, 0}, {1, 0, 0});
  EXPECT_EQ(overlay.strokes().size(), 1u);
}

TEST(Overlay, BoxesHaveTwelveEdges) {
  Overlay overlay(front_view());
  overlay.box({{-1, -1, -1}, {1, 1, 1}}, {1, 1, 1});
  EXPECT_EQ(overlay.strokes().size(), 12u);
}

TEST(Overlay, ImpulsesPointAlongTheirForce) {
  const Screen screen = front_view();
  Overlay overlay(screen);
  std::vector<Contact> contacts(3);
  contacts[0] = {.position = {-2, 0, 0}, .normal = {0, 1, 0}, .normal_impulse = 4};
  contacts[1] = {.position = {0, 0, 0}, .normal = {0, 1, 0}, .normal_impulse = 1};
  contacts[2] = {.position = {2, 0, 0}, .normal = {0, 1, 0}, .normal_impulse = 0};  // near, but not touching
  overlay.contacts(contacts, 1);
  ASSERT_EQ(overlay.strokes().size(), 5u);  // three dots, two impulses
  const float pixels_per_metre = 1 / screen.pixel_size({});
  const auto height = [](const Stroke& s) { return s.a.y - s.b.y; };
  EXPECT_NEAR(height(overlay.strokes()[1]), pixels_per_metre, 0.1f);
  EXPECT_NEAR(height(overlay.strokes()[3]), 0.5f * pixels_per_metre, 0.1f);
}

TEST(Overlay, BoundsShowWhoSleeps) {
  World world;
  world.add(GroundDef{});
  world.add(RigidDef{.position = {0, 5, 0}});
  world.add(RigidDef{.position = {3, 0.5f, 0}, .start_asleep = true});
  world.step();
  Overlay overlay(front_view());
  overlay.bounds(world);
  ASSERT_EQ(overlay.strokes().size(), 24u);  // the endless ground has none
  EXPECT_FALSE(overlay.strokes()[0].color == overlay.strokes()[12].color);
}

TEST(Strokes, CoverTheirLineAndNothingElse) {
  Image image(60, 40);
  // The rectangle is half as large as the picture: places and widths double.
  const Stroke stroke{{10 + 5, 20 + 10}, {10 + 25, 20 + 10}, {1, 1, 1}, 1, 2};
  draw_strokes(image, {&stroke, 1}, {10, 20, 30, 20});
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const bool inside = x >= 10 && x < 50 && y >= 18 && y < 22;
      const bool near = x >= 7 && x < 53 && y >= 17 && y < 23;
      if (inside) {
        EXPECT_EQ(image.at(x, y)[0], 255) << x << " " << y;
      }
      if (!near) {
        EXPECT_EQ(image.at(x, y)[0], 0) << x << " " << y;
      }
    }
  }
}

TEST(Strokes, OutsideThePictureDoNoHarm) {
  Image image(20, 20);
  const Stroke strokes[] = {{{-1e9f, 5}, {1e9f, 6}, {1, 1, 1}, 1, 2},
                            {{5, -1e9f}, {6, 1e9f}, {1, 1, 1}, 1, 2},
                            {{-50, -50}, {-40, -40}, {1, 1, 1}, 1, 3},
                            {{NAN, 1}, {2, 2}, {1, 1, 1}, 1, 1}};
  draw_strokes(image, strokes, {0, 0, 20, 20});
  EXPECT_EQ(image.at(10, 5)[0], 255);
  EXPECT_EQ(image.at(5, 10)[0], 255);
}

TEST(Coloring, TellsIslandsAndSleepersApart) {
  World world;
  world.add(GroundDef{});
  for (const float x : {-4.0f, 4.0f}) {
    for (int i = 0; i < 2; ++i) world.add(RigidDef{.position = {x, 0.5f + static_cast<float>(i), 0}});
  }
  world.add(RigidDef{.position = {20, 0.5f, 0}, .start_asleep = true});
  for (int i = 0; i < 5; ++i) world.step();
  SurfacePublisher publisher;
  const auto surfaces = publisher.update(world);
  const auto color = [](const RenderSurface& s) { return s.appearance.color; };

  const std::vector<RenderSurface> islands = colored(surfaces, world, Coloring::Islands);
  EXPECT_EQ(color(islands[1]), color(islands[2]));
  EXPECT_EQ(color(islands[3]), color(islands[4]));
  EXPECT_FALSE(color(islands[1]) == color(islands[3]));
  EXPECT_FALSE(color(islands[5]) == color(islands[1]));
  EXPECT_EQ(color(islands[0]), color(surfaces[0]));  // the ground is no part of it

  const std::vector<RenderSurface> sleep = colored(surfaces, world, Coloring::Sleep);
  EXPECT_EQ(color(sleep[1]), color(sleep[3]));
  EXPECT_FALSE(color(sleep[5]) == color(sleep[1]));
  const std::vector<RenderSurface> own = colored(surfaces, world, Coloring::Material);
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_EQ(color(own[i]), color(surfaces[i]));
}

}  // namespace
}  // namespace pliant
