// Solids in touch with rigid bodies, with each other and with particle bodies.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

constexpr float kGravity = 9.81f;

SolidDef soft_box(Vec3 size, float cell, Vec3 position, float young_modulus = 2e5f) {
  return {.mesh = tet_box(size, cell),
          .material = {.density = 500, .young_modulus = young_modulus, .poisson_ratio = 0.3f},
          .position = position,
          .friction = 0.6f};
}

RigidDef rigid_box(Vec3 size, Vec3 position, float mass) {
  return {.shape = Box{size}, .position = position, .mass = mass, .friction = 0.6f};
}

double total_energy(const StepReport& report) {
  return report.kinetic_energy + report.potential_energy + report.elastic_energy;
}

void step(World& world, int steps) {
  for (int i = 0; i < steps; ++i) world.step();
}

// A block as wide as the slab, which does not bulge: it sinks by F L / (E A).
TEST(SolidIslands, ABlockSinksByItsWeightAtAnyRatioOfMasses) {
  for (const float ratio : {10.0f, 100.0f, 1000.0f, 10'000.0f}) {
    World world({.allow_sleep = false});
    world.add(GroundDef{.friction = 0.6f}).value();
    SolidDef slab = soft_box({0.8f, 0.4f, 0.8f}, 0.1f, {0, 0.2f, 0});
    const float slab_mass = 500 * 0.256f, mass = ratio * slab_mass, sinks = 0.004f;
    slab.material.young_modulus = mass * kGravity * 0.4f / (0.64f * sinks);
    slab.material.poisson_ratio = 0;
    slab.material.stiffness_damping = 0.01f;
    const BodyId soft = world.add(slab).value();
    const BodyId block = world.add(rigid_box({0.9f, 0.4f, 0.9f}, {0, 0.6005f, 0}, mass)).value();
    const double start = total_energy(world.step());
    for (int i = 0; i < 200; ++i) {
      EXPECT_LT(total_energy(world.step()), start + 0.02 * std::abs(start)) << ratio << ", step " << i;
      EXPECT_LT(world.report().max_penetration, 0.001f * 0.8f) << ratio << ", step " << i;
    }
    // Half of the slab's own weight rests on its middle.
    const float expected = sinks * (1 + 0.5f / ratio);
    EXPECT_NEAR(0.6f - world.state(block)->center_of_mass.y, expected, 0.03f * expected) << ratio;
    EXPECT_LT(length(world.state(block)->velocity), 1e-3f) << ratio;
    for (const Vec3 v : world.node_velocities(soft).value()) EXPECT_LT(length(v), 2e-3f) << ratio;
  }
}

TEST(SolidIslands, TenRigidBoxesOnASoftCubeStandForAMinute) {
  World world({.allow_sleep = false});
  world.add(GroundDef{.friction = 0.6f}).value();
  world.add(soft_box({0.5f, 0.5f, 0.5f}, 0.1f, {0, 0.25f, 0}, 1e6f)).value();
  std::vector<BodyId> boxes;
  for (int i = 0; i < 10; ++i) {
    boxes.push_back(world.add(rigid_box({0.3f, 0.2f, 0.3f}, {0, 0.6f + 0.201f * float(i), 0}, 4)).value());
  }
  // The top of the tower sways by a millimetre or two, for up to twenty seconds.
  step(world, 1200);
  std::vector<Vec3> before;
  for (const BodyId box : boxes) before.push_back(world.state(box)->center_of_mass);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    EXPECT_LT(length(Vec3{before[i].x, 0, before[i].z}), 4e-3f) << "box " << i;
  }
  step(world, 3600);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    EXPECT_LT(length(world.state(boxes[i])->center_of_mass - before[i]), 1e-3f) << "box " << i;
  }
}

TEST(SolidIslands, AHundredTonsStandOnFourLightBoxes) {
  World world;
  world.add(GroundDef{.friction = 0.6f}).value();
  world.add(soft_box({2, 0.5f, 2}, 0.25f, {0, 0.25f, 0}, 1e7f)).value();
  std::vector<BodyId> legs;
  for (const Vec3 at : {Vec3{-0.5f, 0, -0.5f}, {0.5f, 0, -0.5f}, {-0.5f, 0, 0.5f}, {0.5f, 0, 0.5f}}) {
    legs.push_back(world.add(rigid_box({0.5f, 0.5f, 0.5f}, at + Vec3{0, 0.751f, 0}, 125)).value());
  }
  const BodyId top = world.add(rigid_box({2, 0.5f, 2}, {0, 1.26f, 0}, 125'000)).value();
  step(world, 300);
  const float height = world.state(top)->center_of_mass.y;
  EXPECT_GT(height, 1.1f);
  for (const BodyId leg : legs) EXPECT_NEAR(world.state(leg)->center_of_mass.y, height - 0.5f, 1e-3f);
  EXPECT_LT(length(world.state(top)->velocity), 1e-3f);
}

TEST(SolidIslands, CollisionsKeepMomentumAndLoseEnergy) {
  World world({.gravity = {}, .allow_sleep = false});
  SolidDef cube = soft_box({0.4f, 0.4f, 0.4f}, 0.1f, {0, 0, 0});
  world.add(cube).value();
  cube.position = {1.2f, 0.15f, 0.1f};
  cube.velocity = {-3, 0, 0};
  world.add(cube).value();
  RigidDef ball{.shape = Sphere{0.2f}, .position = {-1, 0.1f, -0.05f}, .velocity = {4, 0, 0}, .mass = 50.0f};
  world.add(ball).value();
  const StepReport first = world.step();
  double before = total_energy(first);
  for (int i = 0; i < 120; ++i) {
    const StepReport& now = world.step();
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(now.linear_momentum[k], first.linear_momentum[k], 1e-5 * 50 * 4 * 2) << "step " << i;
      EXPECT_NEAR(now.angular_momentum[k], first.angular_momentum[k], 0.02 * 50 * 4 * 0.2) << "step " << i;
    }
    EXPECT_LT(total_energy(now), 1.02 * before) << "step " << i;
    before = total_energy(now);
  }
  EXPECT_LT(before, 0.95 * total_energy(first));
}

TEST(SolidIslands, AStackOfSoftCubesStandsStill) {
  World world({.allow_sleep = false});
  world.add(GroundDef{.friction = 0.6f}).value();
  std::vector<BodyId> cubes;
  for (int i = 0; i < 4; ++i) {
    SolidDef cube = soft_box({0.4f, 0.4f, 0.4f}, 0.1f, {0, 0.201f + 0.403f * float(i), 0}, 1e6f);
    cube.material.stiffness_damping = 0.01f;
    cubes.push_back(world.add(cube).value());
  }
  step(world, 300);
  double sum = 0, count = 0;
  for (const BodyId cube : cubes) {
    for (const Vec3 v : world.node_velocities(cube).value()) sum += double(length_squared(v)), ++count;
  }
  EXPECT_LT(std::sqrt(sum / count), 1e-3);
  EXPECT_LT(world.report().max_penetration, 0.004f);
  for (std::size_t i = 0; i < cubes.size(); ++i) {
    const Vec3 at = world.state(cubes[i])->center_of_mass;
    EXPECT_NEAR(at.y, 0.2f + 0.4f * float(i), 0.02f) << i;
    EXPECT_NEAR(at.x, 0, 0.005f) << i;
  }
}

// Gravity leans by 26.565°, whose tangent is 1/2.
TEST(SolidIslands, ABoxOnASoftSlopeHoldsWhatFrictionSays) {
  for (const float friction : {0.48f, 0.52f}) {
    World world({.gravity = {kGravity * std::sin(-0.46364761f), kGravity * -std::cos(0.46364761f), 0}});
    world.add(GroundDef{.friction = 10}).value();
    SolidDef slab = soft_box({2, 0.2f, 1}, 0.1f, {0, 0.1f, 0}, 1e7f);
    slab.friction = friction;
    slab.held = {{.nodes = NodeHalfSpace{{0, -1, 0}, 0.099f}}};
    world.add(slab).value();
    RigidDef box = rigid_box({0.3f, 0.3f, 0.3f}, {0.5f, 0.35f, 0}, 20);
    box.friction = friction;
    const BodyId body = world.add(box).value();
    step(world, 30);
    const float start = world.state(body)->center_of_mass.x;
    step(world, 60);
    const float way = start - world.state(body)->center_of_mass.x;
    // Sliding for a second from rest, or more: ½ (sin − μ cos) g t².
    const float slide = 0.5f * kGravity * (std::sin(0.46364761f) - friction * std::cos(0.46364761f));
    if (friction > 0.5f) {
      EXPECT_LT(std::abs(way), 1e-3f);
    } else {
      EXPECT_GT(way, 0.9f * slide);
    }
  }
}

// A box wider than the gap that it is in cannot come out of both walls: asked to do so it would be pushed ever harder
// by both, and no number of rounds would be enough.
TEST(SolidIslands, WhatIsJammedSettlesForWhatItHas) {
  World world({.allow_sleep = false});
  world.add(GroundDef{}).value();
  for (const float side : {-1.0f, 1.0f}) {
    const Vec3 place{side * 0.74f, 0.5f, 0};
    world.add(RigidDef{.shape = Box{{1, 1, 1}}, .motion = Motion::Static, .position = place}).value();
  }
  const BodyId soft = world.add(soft_box({0.3f, 0.3f, 0.3f}, 0.1f, {0, 0.15f, 0})).value();
  const BodyId box = world.add(rigid_box({0.5f, 0.2f, 0.2f}, {0, 0.399f, 0}, 10)).value();
  for (int i = 0; i < 60; ++i) {
    const StepReport& report = world.step();
    EXPECT_EQ(report.unconverged_solids, 0u) << "step " << i;
    EXPECT_LT(report.kinetic_energy, 0.01) << "step " << i;
  }
  EXPECT_LT(length(world.state(box)->velocity), 1e-3f);
  for (const Vec3 v : world.node_velocities(soft).value()) EXPECT_LT(length(v), 2e-3f);
}

TEST(SolidIslands, JointsHoldBesideSolids) {
  World world;
  world.add(GroundDef{}).value();
  world.add(soft_box({0.4f, 0.4f, 0.4f}, 0.1f, {-0.5f, 0.2f, 0}, 5e5f)).value();
  const BodyId plank = world.add(rigid_box({1.5f, 0.1f, 0.4f}, {0, 0.5f, 0}, 10)).value();
  const JointId hinge =
      world.add(JointDef{.kind = JointKind::Hinge, .b = plank, .anchor = {0.75f, 0.5f, 0}, .axis = {0, 0, 1}}).value();
  step(world, 240);
  const BodyState state = world.state(plank).value();
  const Vec3 end = state.world_from_body * Vec3{0.75f, 0, 0};
  EXPECT_LT(length(end - Vec3{0.75f, 0.5f, 0}), 1e-3f);
  EXPECT_LT(length(state.velocity), 1e-3f);
  // The hinge and the cube carry the plank between them.
  const float carried = world.state(hinge)->force.y;
  EXPECT_GT(carried, 0.2f * 10 * kGravity);
  EXPECT_LT(carried, 0.8f * 10 * kGravity);
}

TEST(SolidIslands, SleepTogetherAndWakeWhenHit) {
  World world;
  world.add(GroundDef{}).value();
  SolidDef cube = soft_box({0.4f, 0.4f, 0.4f}, 0.1f, {0, 0.2f, 0}, 1e6f);
  cube.material.stiffness_damping = 0.01f;
  const BodyId soft = world.add(cube).value();
  const BodyId box = world.add(rigid_box({0.3f, 0.3f, 0.3f}, {0, 0.551f, 0}, 20)).value();
  step(world, 400);
  ASSERT_FALSE(world.state(soft)->awake);
  ASSERT_FALSE(world.state(box)->awake);
  const float height = world.state(box)->center_of_mass.y;
  world.add(RigidDef{.shape = Sphere{0.05f}, .position = {0, 1.2f, 0}, .velocity = {0, -4, 0}, .mass = 2.0f}).value();
  bool both_woke = false;
  for (int i = 0; i < 60; ++i) {
    world.step();
    both_woke |= world.state(soft)->awake && world.state(box)->awake;
    // Nobody sinks into the other in the step in which they wake.
    EXPECT_GT(world.state(box)->center_of_mass.y, height - 0.03f) << "step " << i;
  }
  EXPECT_TRUE(both_woke);
}

// All kinds in one world; also what the next test repeats.
World mixed_pile(int threads, unsigned seed) {
  std::mt19937 random(seed);
  const auto within = [&](float a, float b) { return std::uniform_real_distribution<float>(a, b)(random); };
  World world({.threads = threads});
  world.add(GroundDef{.friction = 0.5f}).value();
  for (int i = 0; i < 6; ++i) {
    const Vec3 at{within(-0.3f, 0.3f), 0.4f + 0.55f * float(i), within(-0.3f, 0.3f)};
    const Quat turned = Quat::axis_angle(normalized(Vec3{within(-1, 1), within(-1, 1), 1}), within(-0.5f, 0.5f));
    if (i % 3 == 0) {
      SolidDef solid = soft_box({0.4f, 0.3f, 0.4f}, 0.13f, at, within(5e4f, 1e6f));
      solid.rotation = turned;
      world.add(solid).value();
    } else if (i % 3 == 1) {
      RigidDef box = rigid_box({0.3f, 0.3f, 0.3f}, at, within(1, 100));
      box.rotation = turned;
      world.add(box).value();
    } else {
      world.add(JellyDef{.mesh = tet_box({0.3f, 0.3f, 0.3f}, 0.1f), .position = at, .rotation = turned}).value();
    }
  }
  RopeDef rope;
  rope.path = {{-0.5f, 4, 0}, {0.5f, 4, 0}};
  world.add(rope).value();
  ClothDef cloth;
  cloth.shape = ClothSheet{.width = 1, .length = 1, .cells_x = 12, .cells_z = 12};
  cloth.position = {0, 4.3f, 0};
  world.add(cloth).value();
  return world;
}

TEST(SolidIslands, GiveTheSameHashForAnyNumberOfThreadsAndAfterASnapshot) {
  World one = mixed_pile(1, 5), two = mixed_pile(2, 5);
  Snapshot snapshot;
  for (int i = 0; i < 150; ++i) {
    if (i == 70) snapshot = two.snapshot();
    one.step(), two.step();
    ASSERT_EQ(one.report().hash, two.report().hash) << "step " << i;
  }
  World other = mixed_pile(2, 5);
  ASSERT_TRUE(other.restore(snapshot).ok());
  for (int i = 70; i < 150; ++i) other.step();
  EXPECT_EQ(other.report().hash, two.report().hash);
}

// Cubes that fly one above the other do not approach each other until the lowest is stopped: then the next is to be
// stopped by it in the same step, in which it would get a quarter of a cube further.
TEST(SolidIslands, CubesThatFallTogetherDoNotEnterEachOther) {
  constexpr float kSide = 0.5f;
  for (const float apart : {0.02f, 0.06f, 0.1f, 0.13f}) {
    World world;
    world.add(GroundDef{}).value();
    std::vector<BodyId> cubes;
    for (int i = 0; i < 3; ++i) {
      const float y = 0.5f * kSide + 0.05f + static_cast<float>(i) * (kSide + apart);
      SolidDef cube = soft_box({kSide, kSide, kSide}, 0.1f, {0, y, 0});
      cube.velocity = {0, -8, 0};
      cubes.push_back(world.add(cube).value());
    }
    const std::vector<Vec3> rest = (*world.solid_def(cubes[0]))->mesh.nodes;
    const auto heights = [&](BodyId cube, float at) {
      std::vector<float> out;
      const auto x = world.node_positions(cube).value();
      for (std::size_t i = 0; i < rest.size(); ++i) {
        if (std::abs(rest[i].y - at) < 1e-4f) out.push_back(x[i].y);
      }
      return out;
    };
    float deepest = 0;
    for (int step_index = 0; step_index < 40; ++step_index) {
      world.step();
      for (std::size_t i = 0; i + 1 < cubes.size(); ++i) {
        const std::vector<float> top = heights(cubes[i], 0.5f * kSide), bottom = heights(cubes[i + 1], -0.5f * kSide);
        ASSERT_EQ(top.size(), 36u);
        for (std::size_t k = 0; k < top.size(); ++k) deepest = std::max(deepest, top[k] - bottom[k]);
      }
    }
    EXPECT_LT(deepest, 0.01f * kSide) << apart;
  }
}

TEST(SolidIslands, RandomPilesOfAllKindsComeToNoHarm) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    World world = mixed_pile(2, seed);
    const auto energy = [&] {
      return world.report().kinetic_energy + world.report().potential_energy + world.report().elastic_energy;
    };
    world.step();
    const double start = energy();
    for (int i = 1; i < 300; ++i) {
      world.step();
      ASSERT_LT(energy(), 1.01 * start) << "seed " << seed << ", step " << i;
    }
    EXPECT_EQ(world.report().quarantined, 0u) << seed;
    EXPECT_TRUE(std::isfinite(world.report().kinetic_energy)) << seed;
    for (const BodyId body : world.bodies()) {
      const BodyState state = world.state(body).value();
      if (state.bounds.lower.y < -1e6f) continue;  // the ground
      EXPECT_GT(state.center_of_mass.y, 0) << seed << " " << body.index;
      EXPECT_GT(state.bounds.lower.y, -0.03f) << seed << " " << body.index;
    }
  }
}

}  // namespace
}  // namespace pliant
