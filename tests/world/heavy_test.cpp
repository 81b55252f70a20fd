// Rigid bodies that are much heavier than the cloth, rope or jelly that carries them.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/pliant.h"

namespace pliant {
namespace {

constexpr float kGravity = 9.81f;
constexpr float kRatios[] = {10, 100, 1000};

float rms_speed(const World& world, BodyId body) {
  double sum = 0;
  const std::span<const Vec3> v = *world.node_velocities(body);
  for (const Vec3& node : v) sum += static_cast<double>(length_squared(node));
  return static_cast<float>(std::sqrt(sum / static_cast<double>(v.size())));
}

/// The mean force along y that contacts with a body put on it in the last step.
float carried(const World& world, BodyId body) {
  float sum = 0;
  for (const Contact& contact : world.events().contacts) {
    const Vec3 impulse = contact.normal * contact.normal_impulse + contact.friction_impulse;
    if (contact.a == body) sum += impulse.y;
    if (contact.b == body) sum -= impulse.y;
  }
  return 60 * sum;
}

/// A sheet of 0.2 kg that sags between two rails.
BodyId add_hammock(World& world) {
  ClothDef def{.shape = ClothSheet{1, 1, 10, 10}, .thickness = 0.02f};
  def.held = {{.nodes = NodeHalfSpace{{1, 0, 0}, 0.499f}}, {.nodes = NodeHalfSpace{{-1, 0, 0}, 0.499f}}};
  const BodyId cloth = *world.add(def);
  std::vector<Vec3> x(world.node_positions(cloth)->begin(), world.node_positions(cloth)->end());
  for (Vec3& node : x) node = {0.9f * node.x, -0.19f * (1 - 4 * node.x * node.x), node.z};
  world.set_nodes(cloth, x).require();
  return cloth;
}

TEST(HeavyLoad, LiesInASheetAndIsCarried) {
  for (const float ratio : kRatios) {
    World world({.allow_sleep = false});
    const BodyId cloth = add_hammock(world);
    const float mass = 0.2f * ratio;
    const BodyId ball = *world.add(RigidDef{.shape = Sphere{0.2f}, .position = {0, 0.05f, 0}, .mass = mass});
    for (int i = 0; i < 120; ++i) {
      world.step();
      ASSERT_GT(world.state(ball)->center_of_mass.y, -0.06f) << ratio << ", step " << i;
      ASSERT_LT(length(world.state(ball)->velocity), 1.2f) << ratio << ", step " << i;
    }
    EXPECT_LT(length(world.state(ball)->velocity), 0.15f) << ratio;
    EXPECT_LT(rms_speed(world, cloth), 0.15f) << ratio;
    EXPECT_LT(world.report().max_stretch, 0.01f) << ratio;
    EXPECT_NEAR(carried(world, ball), mass * kGravity, 0.1f * mass * kGravity) << ratio;
    EXPECT_EQ(world.report().quarantined, 0u);
  }
}

TEST(HeavyLoad, ASolidLiesInASheetAndIsCarried) {
  for (const float ratio : kRatios) {
    World world({.allow_sleep = false});
    const BodyId cloth = add_hammock(world);
    const float mass = 0.2f * ratio;
    const SolidDef def{.mesh = tet_box({0.3f, 0.2f, 0.3f}, 0.1f),
                       .material = {.density = mass / 0.018f, .young_modulus = 1e6f, .poisson_ratio = 0.3f}};
    const BodyId box = *world.add(def);
    float weight = 0;  // over the last half second: the cloth shivers
    for (int i = 0; i < 90; ++i) {
      world.step();
      ASSERT_GT(world.state(box)->center_of_mass.y, -0.12f) << ratio << ", step " << i;
      ASSERT_LT(length(world.state(box)->velocity), 1.2f) << ratio << ", step " << i;
      if (i >= 60) weight += carried(world, box) / 30;
    }
    EXPECT_LT(length(world.state(box)->velocity), 0.15f) << ratio;
    EXPECT_LT(rms_speed(world, cloth), 0.6f) << ratio;
    EXPECT_LT(world.report().max_stretch, 0.01f) << ratio;
    EXPECT_NEAR(weight, mass * kGravity, 0.1f * mass * kGravity) << ratio;
    EXPECT_EQ(world.report().quarantined, 0u);
  }
}

float top_speed(const World& world, BodyId body) {
  float top = 0;
  for (const Vec3& v : *world.node_velocities(body)) top = std::max(top, length(v));
  return top;
}

// The impulses of the last substep are of rows that are gone: what is left of them must not be where the next begins.
TEST(HeavyLoad, ThatIsTakenAwayDoesNotThrowWhatCarriedIt) {
  const float mass = 200;
  const RigidDef ball{.shape = Sphere{0.2f}, .position = {0, 0.05f, 0}, .mass = mass};
  const SolidDef box{.mesh = tet_box({0.3f, 0.2f, 0.3f}, 0.1f),
                     .material = {.density = mass / 0.018f, .young_modulus = 1e6f, .poisson_ratio = 0.3f}};
  for (const bool is_solid : {false, true}) {
    World world({.allow_sleep = false});
    const BodyId cloth = add_hammock(world);
    const BodyId load = is_solid ? *world.add(box) : *world.add(ball);
    for (int i = 0; i < 60; ++i) world.step();
    world.remove(load).require();
    for (int i = 0; i < 30; ++i) {
      world.step();
      ASSERT_LT(top_speed(world, cloth), 3.0f) << (is_solid ? "solid" : "rigid") << ", step " << i;
      ASSERT_LT(world.report().max_stretch, 0.02f) << (is_solid ? "solid" : "rigid") << ", step " << i;
    }
  }
}

// Between heavy bodies a cloth is solved now in one way, now in another. How they meet is left to chance: of these
// sixteen throws four once made it fly at 200 to 4600 m/s.
TEST(HeavyLoad, ClothThatIsCaughtIsNotThrown) {
  std::minstd_rand dice(1);
  const auto near = [&](Vec3 place) {
    std::uniform_real_distribution<float> shift(-0.06f, 0.06f);
    return place + Vec3{shift(dice), shift(dice), shift(dice)};
  };
  for (int round = 0; round < 16; ++round) {
    World world({.allow_sleep = false});
    world.add(GroundDef{});
    world.add(RigidDef{.shape = Capsule{0.08f, 0.236f},
                       .position = near({-0.13f, 1.4f, -0.15f}),
                       .rotation = Quat::axis_angle({0.2f, -1, 1.1f}, 0.56f),
                       .mass = 61,
                       .friction = 0.3f});
    world.add(RigidDef{.shape = Cylinder{0.147f, 0.41f},
                       .position = near({-0.2f, 2.4f, 0.26f}),
                       .rotation = Quat::axis_angle({0.25f, 0.9f, 1.1f}, -1.2f),
                       .mass = 372,
                       .friction = 0.71f});
    const BodyId cloth = *world.add(ClothDef{.shape = ClothSheet{0.8f, 0.8f, 10, 10},
                                             .material = cloth_material::denim(),
                                             .position = near({-0.155f, 3.4f, 0.05f}),
                                             .rotation = Quat::axis_angle({-0.29f, 0.17f, 1.1f}, -1.46f),
                                             .friction = 0.8f});
    const SolidMaterial soft{.density = 1033, .young_modulus = 9.5e4f, .poisson_ratio = 0.37f};
    world.add(SolidDef{.mesh = tet_sphere(0.133f, 0.1f),
                       .material = soft,
                       .position = near({-0.02f, 3.9f, 0.22f}),
                       .friction = 0.96f});
    for (int i = 0; i < 90; ++i) {
      world.step();
      ASSERT_LT(top_speed(world, cloth), 60.0f) << "round " << round << ", step " << i;
    }
    EXPECT_EQ(world.report().quarantined, 0u);
  }
}

TEST(HeavyLoad, LiesOnARopeAndIsCarried) {
  for (const float ratio : kRatios) {
    World world({.allow_sleep = false});
    RopeDef def{.path = {{-0.6f, 0, 0}, {0, -0.25f, 0}, {0.6f, 0, 0}}, .segment = 0.05f, .radius = 0.02f};
    def.held = {{.nodes = NearestNodes{{-0.6f, 0, 0}}}, {.nodes = NearestNodes{{0.6f, 0, 0}}}};
    const BodyId rope = *world.add(def);
    const float mass = 0.13f * ratio;
    const BodyId ball = *world.add(RigidDef{.shape = Sphere{0.2f}, .position = {0, -0.02f, 0}, .mass = mass});
    for (int i = 0; i < 150; ++i) {
      world.step();
      ASSERT_GT(world.state(ball)->center_of_mass.y, -0.06f) << ratio << ", step " << i;
    }
    EXPECT_LT(length(world.state(ball)->velocity), 0.02f) << ratio;
    EXPECT_LT(rms_speed(world, rope), 0.02f) << ratio;
    EXPECT_LT(world.report().max_stretch, 0.01f) << ratio;
    EXPECT_NEAR(carried(world, ball), mass * kGravity, 0.03f * mass * kGravity) << ratio;
  }
}

TEST(HeavyLoad, RestsOnJellyThatGivesWayAndHolds) {
  for (const JellyMethod method : {JellyMethod::MassSpring, JellyMethod::PositionBased, JellyMethod::ShapeMatching}) {
    for (const float ratio : kRatios) {
      World world({.allow_sleep = false});
      world.add(GroundDef{.friction = 0.6f});
      // 16 kg; the box would squash a column of its own width by a tenth.
      const float mass = 16 * ratio, modulus = 10 * mass * kGravity / (0.3f * 0.3f);
      const BodyId jelly = *world.add(JellyDef{.mesh = tet_box({0.4f, 0.2f, 0.4f}, 0.1f),
                                               .method = method,
                                               .density = 500,
                                               .young_modulus = modulus,
                                               .damping = 5,
                                               .position = {0, 0.1f, 0}});
      const BodyId box = *world.add(
          RigidDef{.shape = Box{{0.3f, 0.3f, 0.3f}}, .position = {0, 0.36f, 0}, .mass = mass, .friction = 0.6f});
      const std::string what = "method " + std::to_string(int(method)) + ", " + std::to_string(ratio);
      for (int i = 0; i < 60; ++i) {
        world.step();
        ASSERT_GT(world.state(box)->center_of_mass.y, 0.25f) << what << ", step " << i;
      }
      EXPECT_LT(world.state(box)->center_of_mass.y, 0.352f) << what;
      EXPECT_GT(world.state(box)->center_of_mass.y, 0.31f) << what;
      EXPECT_LT(length(world.state(box)->velocity), 0.3f) << what;
      EXPECT_GT(world.state(jelly)->bounds.lower.y, -0.01f) << what;
      EXPECT_LT(world.state(jelly)->bounds.upper.y, 0.3f) << what;
      EXPECT_EQ(world.report().quarantined, 0u) << what;
    }
  }
}

TEST(HeavyLoad, KeepsMomentumWhenItHitsAFreeSheet) {
  for (const float ratio : kRatios) {
    World world({.gravity = {}, .allow_sleep = false});
    world.add(ClothDef{.shape = ClothSheet{1, 1, 10, 10}, .thickness = 0.02f});
    world.add(RigidDef{.shape = Sphere{0.2f}, .position = {0, 0.3f, 0}, .velocity = {0, -2, 0}, .mass = 0.2f * ratio});
    world.step();
    const StepReport first = world.report();
    for (int i = 0; i < 60; ++i) world.step();
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(world.report().linear_momentum[k], first.linear_momentum[k], 1e-4 * 0.4 * double(ratio)) << ratio;
    }
    EXPECT_LT(world.report().kinetic_energy, 1.001 * first.kinetic_energy) << ratio;
  }
}

TEST(HeavyLoad, IsTheSameForAnyNumberOfThreadsAndAfterASnapshot) {
  const auto make = [](int threads) {
    World world({.threads = threads, .allow_sleep = false});
    add_hammock(world);
    world.add(RigidDef{.shape = Sphere{0.2f}, .position = {0.02f, 0.05f, 0.01f}, .mass = 50.0f});
    return world;
  };
  World one = make(1), two = make(2);
  Snapshot saved;
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < 24; ++i) {
    if (i == 12) saved = one.snapshot();
    hashes.push_back(one.step().hash);
    ASSERT_EQ(two.step().hash, hashes.back()) << i;
  }
  one.restore(saved).require();
  for (std::size_t i = 12; i < 24; ++i) ASSERT_EQ(one.step().hash, hashes[i]) << i;
}

}  // namespace
}  // namespace pliant
