// Soft bodies that come to rest, and sleep.
#include <cstdio>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/tetrahedralize.h"
#include "pliant/world.h"

namespace pliant {
namespace {

/// The step after which nothing in the world is awake, or −1.
int steps_to_sleep(World& world, int most) {
  for (int i = 1; i <= most; ++i) {
    world.step();
    if (world.report().awake_bodies == 0) return i;
  }
  return -1;
}

SolidMaterial jelly(float young) {
  SolidMaterial material = material::jelly();
  material.young_modulus = young;
  return material;
}

TEST(SolidRest, JellyOverABallSleeps) {
  // Its faces sag between nodes that lie on the ball, and where they touch it changes with every tilt.
  World world;
  world.add(RigidDef{.shape = Sphere{0.5f}, .motion = Motion::Static, .friction = 0.6f}).value();
  world
      .add(SolidDef{.mesh = tet_box({0.36f, 0.36f, 0.36f}, 0.06f),
                    .material = jelly(3e4f),
                    .position = {0, 0.7f, 0},
                    .rotation = Quat::axis_angle({0, 1, 0}, 0.4f)})
      .value();
  const int steps = steps_to_sleep(world, 300);
  std::printf("asleep after %d steps\n", steps);
  EXPECT_GT(steps, 0);
}

TEST(SolidRest, ALightStemOnAHeavyPuddingSleeps) {
  // A thousandth of the pudding's weight, which is what solves leave, throws its stem about.
  const TriMesh surface =
      tri_pumpkin({.radius = 0.34f, .flatness = 0.75f, .ridges = 10, .ridge_depth = 0.12f, .segments = 160});
  World world;
  world.add(GroundDef{.friction = 0.6f}).value();
  world
      .add(SolidDef{.mesh = tetrahedralize(surface, {.cell = 0.08f}).value(),
                    .material = jelly(2.5e4f),
                    .position = {0.1f, 0.4f, 0}})
      .value();
  const int steps = steps_to_sleep(world, 400);
  std::printf("asleep after %d steps\n", steps);
  EXPECT_GT(steps, 0);
}

}  // namespace
}  // namespace pliant
