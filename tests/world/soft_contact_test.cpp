// Cloth, rope and jelly in touch with solids.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/pliant.h"

namespace pliant {
namespace {

constexpr float kGravity = 9.81f;

SolidDef solid_box(Vec3 size, Vec3 position, float density = 500, float young_modulus = 1e6f) {
  return {.mesh = tet_box(size, 0.1f),
          .material = {.density = density, .young_modulus = young_modulus, .poisson_ratio = 0.3f},
          .position = position,
          .friction = 0.6f};
}

JellyDef jelly_box(Vec3 size, Vec3 position, JellyMethod method, float density = 500, float young_modulus = 3e4f) {
  return {.mesh = tet_box(size, 0.1f),
          .method = method,
          .density = density,
          .young_modulus = young_modulus,
          .position = position,
          .friction = 0.6f};
}

constexpr JellyMethod kMethods[] = {JellyMethod::MassSpring, JellyMethod::PositionBased, JellyMethod::ShapeMatching};

float fastest_node(const World& world, BodyId body) {
  float speed = 0;
  for (const Vec3 v : world.node_velocities(body).value()) speed = std::max(speed, length(v));
  return speed;
}

float rms_speed(const World& world, BodyId body) {
  double sum = 0;
  const std::span<const Vec3> v = *world.node_velocities(body);
  for (const Vec3& node : v) sum += static_cast<double>(length_squared(node));
  return static_cast<float>(std::sqrt(sum / static_cast<double>(v.size())));
}

float lowest(const World& world, BodyId body) { return world.state(body)->bounds.lower.y; }
float highest(const World& world, BodyId body) { return world.state(body)->bounds.upper.y; }

double distance(const double (&a)[3], const double (&b)[3]) {
  return std::sqrt(std::pow(a[0] - b[0], 2) + std::pow(a[1] - b[1], 2) + std::pow(a[2] - b[2], 2));
}

/// The deepest that any node of `body` is below the top of a box that lies flat, among those above it.
float depth_below(const World& world, BodyId body, float top, float half) {
  float depth = -1;
  for (const Vec3 x : world.node_positions(body).value()) {
    if (std::abs(x.x) < half && std::abs(x.z) < half) depth = std::max(depth, top - x.y);
  }
  return depth;
}

/// What flies at a solid of 32 kg in free space.
BodyId throw_at_solid(World& world, int kind, float ratio) {
  const Vec3 velocity{0.3f, -2, 0.1f};
  if (kind < 3) {
    JellyDef jelly =
        jelly_box({0.3f, 0.3f, 0.3f}, {0.02f, 0.4f, 0.03f}, kMethods[kind], 500 * ratio, 3e4f * std::max(ratio, 0.1f));
    jelly.velocity = velocity, jelly.damping = 0;
    return world.add(jelly).value();
  }
  if (kind == 3) {
    ClothDef cloth{.shape = ClothSheet{1, 1, 16, 16}, .thickness = 0.02f, .position = {0.02f, 0.3f, 0.03f}};
    cloth.material.density = 0.2f * ratio, cloth.velocity = velocity;
    return world.add(cloth).value();
  }
  RopeDef rope{.path = {{-0.5f, 0, 0}, {0.5f, 0, 0.2f}}, .radius = 0.02f, .position = {0.02f, 0.3f, 0.03f}};
  rope.material.density = 0.1f * ratio, rope.velocity = velocity;
  return world.add(rope).value();
}

TEST(SoftContact, ABlowKeepsMomentumAndAddsNoEnergyAtAnyRatioOfMasses) {
  for (int kind = 0; kind < 5; ++kind) {
    for (const float ratio : {1.0f, 1000.0f, 0.001f}) {
      World world({.gravity = {}, .allow_sleep = false});
      const BodyId solid = world.add(solid_box({0.4f, 0.4f, 0.4f}, {})).value();
      throw_at_solid(world, kind, ratio);
      const StepReport start = world.step();
      double most = 0;
      for (int i = 0; i < 120; ++i) {
        most = std::max(most, world.step().kinetic_energy);
      }
      const std::string what = "kind " + std::to_string(kind) + ", ratio " + std::to_string(ratio);
      const double zero[3] = {};
      const double size = distance(start.linear_momentum, zero);
      EXPECT_LT(distance(world.report().linear_momentum, start.linear_momentum), 1e-5 * size) << what;
      // Friction acts on two surfaces that are a thickness apart.
      EXPECT_LT(distance(world.report().angular_momentum, start.angular_momentum), 0.02 * size) << what;
      EXPECT_LT(most, 1.01 * start.kinetic_energy) << what;
      // It has been pushed.
      EXPECT_LT(world.state(solid)->velocity.y, -1e-6f) << what;
    }
  }
}

TEST(SoftContact, JellyRestsOnASolidAtAnyRatioOfMasses) {
  for (const JellyMethod method : kMethods) {
    for (const float ratio : {1.0f, 1000.0f, 0.001f}) {
      World world({.allow_sleep = false});
      world.add(GroundDef{.friction = 0.6f});
      const BodyId solid = world.add(solid_box({1, 0.3f, 1}, {0, 0.15f, 0}, 500, 2e6f * std::max(1.0f, ratio))).value();
      const BodyId jelly =
          world.add(jelly_box({0.4f, 0.4f, 0.4f}, {0, 0.52f, 0}, method, 500 * ratio, 3e4f * std::max(ratio, 0.03f)))
              .value();
      for (int i = 0; i < 150; ++i) world.step();
      const std::string what = "method " + std::to_string(int(method)) + ", ratio " + std::to_string(ratio);
      EXPECT_NEAR(lowest(world, jelly), 0.3f, 0.004f) << what;
      EXPECT_NEAR(highest(world, solid), 0.3f, 0.004f) << what;
      EXPECT_GT(highest(world, jelly), 0.6f) << what;
      EXPECT_LT(rms_speed(world, jelly), 0.1f) << what;
      // The solid carries it, and the ground both: together their weight.
      float pushed = 0;
      for (const Contact& contact : world.events().contacts) {
        const bool is_theirs = (contact.a == solid && contact.b == jelly) || (contact.a == jelly && contact.b == solid);
        if (is_theirs) pushed += contact.normal_impulse * std::abs(contact.normal.y);
      }
      const float weight = 0.064f * 500 * ratio * kGravity / 60;
      EXPECT_NEAR(pushed, weight, 0.15f * weight) << what;
    }
  }
}

TEST(SoftContact, ASolidRestsOnJelly) {
  for (const JellyMethod method : kMethods) {
    for (const float ratio : {1.0f, 30.0f}) {
      World world({.allow_sleep = false});
      world.add(GroundDef{.friction = 0.6f});
      world.add(jelly_box({0.8f, 0.4f, 0.8f}, {0, 0.2f, 0}, method, 500, 1e5f * ratio)).value();
      const BodyId solid = world.add(solid_box({0.4f, 0.4f, 0.4f}, {0, 0.62f, 0}, 500 * ratio, 2e6f * ratio)).value();
      for (int i = 0; i < 150; ++i) world.step();
      const std::string what = "method " + std::to_string(int(method)) + ", ratio " + std::to_string(ratio);
      EXPECT_GT(lowest(world, solid), 0.33f) << what;
      EXPECT_LT(lowest(world, solid), 0.41f) << what;
      EXPECT_LT(rms_speed(world, solid), 0.2f) << what;
    }
  }
}

TEST(SoftContact, ClothDrapesOverASoftBall) {
  World world({.allow_sleep = false});
  world.add(GroundDef{.friction = 0.6f});
  const BodyId ball = world
                          .add(SolidDef{.mesh = tet_sphere(0.4f, 0.14f),
                                        .material = {.density = 300, .young_modulus = 5e4f, .poisson_ratio = 0.3f},
                                        .position = {0, 0.4f, 0},
                                        .held = {{.nodes = NodeHalfSpace{{0, -1, 0}, 0.25f}}},
                                        .friction = 0.6f})
                          .value();
  ClothMaterial material;
  material.density = 0.25f;
  const BodyId cloth = world
                           .add(ClothDef{.shape = ClothSheet{1.4f, 1.4f, 20, 20},
                                         .material = material,
                                         .thickness = 0.02f,
                                         .position = {0, 0.85f, 0}})
                           .value();
  for (int i = 0; i < 240; ++i) world.step();
  EXPECT_LT(world.report().max_stretch, 0.01f);
  EXPECT_LT(rms_speed(world, cloth), 0.1f);
  EXPECT_LT(rms_speed(world, ball), 0.02f);
  // A thickness above the ball, and not within.
  EXPECT_NEAR(highest(world, cloth), highest(world, ball) + 0.01f, 0.02f);
  const Vec3 center = world.state(ball)->center_of_mass;
  for (const Vec3 x : world.node_positions(cloth).value()) EXPECT_GT(length(x - center), 0.33f);
}

TEST(SoftContact, ARopeHangsOverASolidBeamWhateverItsWeight) {
  for (const float ratio : {1.0f, 1000.0f, 0.001f}) {
    World world({.allow_sleep = false});
    SolidDef beam = solid_box({0.2f, 0.2f, 1.2f}, {0, 2, 0}, 500, 2e6f * std::max(ratio, 1.0f));
    beam.held = {{.nodes = NodeHalfSpace{{0, 0, 1}, 0.55f}}, {.nodes = NodeHalfSpace{{0, 0, -1}, 0.55f}}};
    const BodyId solid = world.add(beam).value();
    RopeDef def{.path = {{-1, 0, 0}, {1, 0, 0}}, .segment = 0.05f, .radius = 0.02f, .position = {0, 2.13f, 0}};
    def.material.density = 1.2f * ratio;
    const BodyId rope = world.add(def).value();
    for (int i = 0; i < 200; ++i) {
      world.step();
      ASSERT_LT(fastest_node(world, rope), 15) << ratio;
    }
    EXPECT_GT(lowest(world, rope), 1.0f) << ratio;
    EXPECT_NEAR(highest(world, rope), 2.13f, 0.05f) << ratio;
    EXPECT_LT(depth_below(world, rope, 2.1f, 0.09f), 0) << ratio;
    EXPECT_LT(world.report().max_stretch, 0.02f) << ratio;
    EXPECT_LT(rms_speed(world, solid), 0.05f) << ratio;
  }
}

TEST(SoftContact, ClothSticksToASolidSlopeOrSlidesAsCoulombSays) {
  for (const float friction : {0.52f, 0.48f}) {
    World world({.allow_sleep = false});
    const Quat tilt = Quat::axis_angle({0, 0, 1}, -std::atan(0.5f));
    SolidDef slope = solid_box({3, 0.2f, 1}, {}, 500, 1e8f);
    slope.rotation = tilt, slope.friction = friction;
    slope.held = {{.nodes = NodeHalfSpace{{0, -1, 0}, 0.09f}}};
    world.add(slope).value();
    ClothDef def{.shape = ClothSheet{0.5f, 0.5f, 10, 10}, .thickness = 0.01f, .rotation = tilt, .friction = friction};
    def.position = tilt.rotate({-0.8f, 0.108f, 0});
    const BodyId cloth = world.add(def).value();
    for (int i = 0; i < 30; ++i) world.step();
    const Vec3 from = world.state(cloth)->center_of_mass;
    for (int i = 0; i < 90; ++i) world.step();
    const float way = length(world.state(cloth)->center_of_mass - from);
    // g (sin α − μ cos α) t² / 2 and more, as it slides already.
    if (friction < 0.5f) {
      EXPECT_GT(way, 0.1f);
    } else {
      EXPECT_LT(way, 0.01f);
    }
  }
}

TEST(SoftContact, FastClothAndRopeDoNotPassThroughASolid) {
  for (const float speed : {10.0f, 60.0f}) {
    World world({.gravity = {}, .allow_sleep = false});
    SolidDef wall = solid_box({2, 0.2f, 2}, {}, 1000, 1e7f);
    wall.held = {{.nodes = NodeHalfSpace{{0, -1, 0}, 0.09f}}};
    world.add(wall).value();
    ClothDef def{.shape = ClothSheet{0.6f, 0.6f, 12, 12}, .thickness = 0.01f, .position = {0, 0.5f, 0}};
    def.velocity = {0, -speed, 0};
    const BodyId cloth = world.add(def).value();
    RopeDef line{.path = {{-0.3f, 0, 0.7f}, {0.3f, 0, 0.7f}}, .radius = 0.01f, .position = {0, 0.5f, 0}};
    line.velocity = {0, -speed, 0};
    const BodyId rope = world.add(line).value();
    for (int i = 0; i < 60; ++i) {
      world.step();
      EXPECT_LT(depth_below(world, cloth, 0.1f, 0.9f), 0.02f) << speed;
      EXPECT_LT(depth_below(world, rope, 0.1f, 0.9f), 0.02f) << speed;
    }
  }
}

/// A solid's corners fall between the nodes of a coarse cloth.
TEST(SoftContact, ASmallSolidDoesNotFallBetweenTheNodesOfACloth) {
  World world({.allow_sleep = false});
  ClothDef def{.shape = ClothSheet{2, 2, 5, 5}, .thickness = 0.02f, .position = {0, 1, 0}};
  def.material.density = 2;
  def.held = {{.nodes = NodeHalfSpace{{1, 0, 0}, 0.999f}}, {.nodes = NodeHalfSpace{{-1, 0, 0}, 0.999f}}};
  const BodyId cloth = world.add(def).value();
  SolidDef cube{.mesh = tet_box({0.1f, 0.1f, 0.1f}, 0.05f),
                .material = {.density = 300, .young_modulus = 1e5f, .poisson_ratio = 0.3f},
                .position = {0.05f, 1.2f, 0.1f}};
  const BodyId solid = world.add(cube).value();
  for (int i = 0; i < 180; ++i) world.step();
  EXPECT_GT(lowest(world, solid), lowest(world, cloth));
  EXPECT_GT(lowest(world, solid), 0.7f);
}

TEST(SoftContact, TheyFallAsleepTogetherAndWakeEachOther) {
  World world;
  world.add(GroundDef{.friction = 0.6f});
  const BodyId solid = world.add(solid_box({0.5f, 0.3f, 0.5f}, {0, 0.15f, 0})).value();
  JellyDef def = jelly_box({0.3f, 0.3f, 0.3f}, {0, 0.452f, 0}, JellyMethod::PositionBased);
  def.damping = 5;
  const BodyId jelly = world.add(def).value();
  const auto is_awake = [&](BodyId body) { return world.state(body)->awake; };
  int step = 0;
  while (step < 600 && (is_awake(solid) || is_awake(jelly))) world.step(), ++step;
  ASSERT_LT(step, 600);
  EXPECT_FALSE(is_awake(solid));
  world.apply_impulse(jelly, {0.5f, 0, 0});
  world.step();
  EXPECT_TRUE(is_awake(solid));
  EXPECT_TRUE(is_awake(jelly));
  for (step = 0; step < 600 && (is_awake(solid) || is_awake(jelly)); ++step) world.step();
  ASSERT_LT(step, 600);
  world.remove(solid);
  world.step();
  EXPECT_TRUE(is_awake(jelly));
  for (int i = 0; i < 60; ++i) world.step();
  EXPECT_LT(lowest(world, jelly), 0.05f);
}

World mixed_world(int threads) {
  World world({.threads = threads});
  world.add(GroundDef{.friction = 0.6f});
  world.add(solid_box({0.6f, 0.3f, 0.6f}, {0, 0.15f, 0}, 500, 2e5f));
  world.add(jelly_box({0.3f, 0.3f, 0.3f}, {0.05f, 0.5f, 0}, JellyMethod::MassSpring));
  world.add(ClothDef{.shape = ClothSheet{1, 1, 14, 14}, .thickness = 0.02f, .position = {0, 0.8f, 0}});
  world.add(RopeDef{.path = {{-0.6f, 0, 0.1f}, {0.6f, 0, 0}}, .radius = 0.02f, .position = {0, 1, 0}});
  world.add(RigidDef{.shape = Box{{0.2f, 0.2f, 0.2f}}, .position = {0.1f, 1.3f, 0.1f}, .mass = 3});
  return world;
}

TEST(SoftContact, TheSameOnAnyNumberOfThreadsAndAfterASnapshot) {
  World one = mixed_world(1), two = mixed_world(2);
  Snapshot saved;
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < 90; ++i) {
    if (i == 50) saved = one.snapshot();
    hashes.push_back(one.step().hash);
    ASSERT_EQ(two.step().hash, hashes.back()) << i;
  }
  one.restore(saved).require();
  for (std::size_t i = 50; i < 90; ++i) ASSERT_EQ(one.step().hash, hashes[i]) << i;
  World other({.threads = 1});
  other.restore(saved).require();
  for (std::size_t i = 50; i < 90; ++i) ASSERT_EQ(other.step().hash, hashes[i]) << i;
}

}  // namespace
}  // namespace pliant
