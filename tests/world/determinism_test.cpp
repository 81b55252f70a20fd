// The same run, bit for bit: with any number of threads, and after a snapshot is restored.
#include <random>

#include <gtest/gtest.h>

#include "pliant/world.h"

namespace pliant {
namespace {

/// Every shape, joints, a kinematic pusher, continuous bodies: all that a snapshot must carry.
World busy_world(int threads) {
  World world({.substeps = 2, .threads = threads});
  world.add(GroundDef{});
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const Shape shapes[] = {
      Sphere{0.25f},
      Box{{0.5f, 0.3f, 0.4f}},
      Capsule{0.15f, 0.4f},
      Cylinder{0.25f, 0.3f},
      Cone{0.3f, 0.5f},
      ConvexHull{{{0, 0, 0}, {0.5f, 0, 0}, {0, 0.5f, 0}, {0, 0, 0.5f}, {0.4f, 0.4f, 0.4f}}},
      Compound{{{Box{{0.6f, 0.1f, 0.1f}}, {}}, {Box{{0.1f, 0.6f, 0.1f}}, {}}, {Sphere{0.15f}, {{0.3f, 0, 0}, {}}}}}};
  std::vector<BodyId> bodies;
  for (int i = 0; i < 84; ++i) {
    bodies.push_back(
        world
            .add(RigidDef{.shape = shapes[i % 7],
                          .position = {uniform(random), 0.5f + 0.35f * static_cast<float>(i / 3), uniform(random)},
                          .rotation = Quat::axis_angle({uniform(random), 1, uniform(random)}, 2),
                          .velocity = {uniform(random), 0, uniform(random)},
                          .rolling_friction = 0.01f,
                          .restitution = 0.2f,
                          .continuous = i % 5 == 0})
            .value());
  }
  for (std::size_t i = 0; i + 1 < 20; i += 4) {
    const Vec3 anchor = world.state(bodies[i])->world_from_body.position;
    world.add(
        JointDef{.kind = static_cast<JointKind>(i / 4 % 4), .a = bodies[i], .b = bodies[i + 3], .anchor = anchor});
  }
  world.add(RigidDef{
      .name = "pusher", .shape = Box{{3, 0.4f, 0.2f}}, .motion = Motion::Kinematic, .position = {0, 0.3f, -4}});
  return world;
}

/// Drives the pusher and, now and then, the rest.
void drive(World& world) {
  const BodyId pusher = world.find("pusher");
  const auto t = static_cast<float>(world.time());
  world.move_to(pusher, {{0, 0.3f, -4 + 0.8f * t}, Quat::axis_angle({0, 1, 0}, 0.2f * t)}).require();
  if (world.report().step % 50 == 49) world.explode({.center = {0, 0, 0}, .radius = 3, .impulse_per_area = 200});
}

std::vector<std::uint64_t> run(World& world, int steps) {
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < steps; ++i) {
    drive(world);
    hashes.push_back(world.step().hash);
  }
  return hashes;
}

TEST(Determinism, ThreadsDoNotChangeTheRun) {
  World one = busy_world(1), two = busy_world(2), four = busy_world(4);
  const auto hashes = run(one, 300);
  EXPECT_EQ(hashes, run(two, 300));
  EXPECT_EQ(hashes, run(four, 300));
  EXPECT_EQ(one.hash(), two.hash());
}

TEST(Determinism, HashNoticesTheSmallestChange) {
  World a = busy_world(1), b = busy_world(1);
  b.commit_edits();
  const BodyId any = b.bodies()[5];
  Transform moved = b.state(any)->world_from_body;
  moved.position.x = std::nextafter(moved.position.x, 10.0f);
  b.set_transform(any, moved).require();
  a.step(), b.step();
  EXPECT_NE(a.hash(), b.hash());
}

TEST(Snapshot, ContinuesBitForBitInTheSameWorld) {
  World world = busy_world(2);
  run(world, 120);
  const Snapshot snapshot = world.snapshot();
  const std::uint64_t hash = world.hash();
  const auto first = run(world, 180);
  ASSERT_TRUE(world.restore(snapshot).ok());
  EXPECT_EQ(world.hash(), hash);
  EXPECT_EQ(run(world, 180), first);
}

TEST(Snapshot, ContinuesBitForBitInAnotherWorld) {
  World world = busy_world(1);
  run(world, 90);
  const Snapshot snapshot = world.snapshot();
  World other;
  ASSERT_TRUE(other.restore(snapshot).ok());
  EXPECT_EQ(run(other, 150), run(world, 150));
}

TEST(Snapshot, TakingOneChangesNothing) {
  World plain = busy_world(1), watched = busy_world(1);
  for (int i = 0; i < 100; ++i) {
    drive(plain), drive(watched);
    if (i % 7 == 0) (void)watched.snapshot();
    ASSERT_EQ(plain.step().hash, watched.step().hash) << "step " << i;
  }
}

TEST(Snapshot, BringsBackBodiesThatWereRemovedAndForgetsNewOnes) {
  World world;
  world.add(GroundDef{});
  const BodyId kept = world.add(RigidDef{.name = "kept", .position = {0, 1, 0}}).value();
  world.step();
  const Snapshot snapshot = world.snapshot();
  world.remove(kept).require();
  const BodyId added = world.add(RigidDef{.position = {3, 1, 0}}).value();
  world.step();
  EXPECT_FALSE(world.contains(kept));
  ASSERT_TRUE(world.restore(snapshot).ok());
  EXPECT_TRUE(world.contains(kept));
  EXPECT_FALSE(world.contains(added));
  EXPECT_EQ(world.find("kept"), kept);
  world.step();
}

TEST(Snapshot, AnEmptyOneIsRefused) {
  World world;
  EXPECT_FALSE(world.restore(Snapshot{}).ok());
}

TEST(Snapshot, SleepersStayAsleep) {
  World world;
  world.add(GroundDef{});
  for (int i = 0; i < 4; ++i) world.add(RigidDef{.position = {0, 0.5f + static_cast<float>(i), 0}});
  for (int i = 0; i < 240; ++i) world.step();
  ASSERT_EQ(world.report().awake_bodies, 0u);
  const Snapshot snapshot = world.snapshot();
  const std::uint64_t after = world.step().hash;
  world.restore(snapshot).require();
  EXPECT_EQ(world.step().hash, after);
  EXPECT_EQ(world.report().awake_bodies, 0u);
}

}  // namespace
}  // namespace pliant
