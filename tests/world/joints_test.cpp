// Joints against the motions they should allow, with signs.
#include <cmath>

#include <gtest/gtest.h>

#include "pliant/world.h"

namespace pliant {
namespace {

constexpr float kGravity = 9.81f;

void run(World& world, int steps) {
  for (int i = 0; i < steps; ++i) world.step();
}

TEST(BallJoint, PendulumSwingsWithItsPeriodAndKeepsItsLength) {
  World world({.dt = 1.0f / 240, .allow_sleep = false});
  const float l = 2;
  const BodyId bob = world.add(RigidDef{.shape = Sphere{0.05f}, .position = {0.1f, -l, 0}}).value();
  world.add(JointDef{.a = bob, .anchor = {0, 0, 0}}).value();
  // Count zero crossings of x for ten periods of 2π √(l/g).
  const float period = 2 * kPi * std::sqrt(l / kGravity);
  int crossings = 0;
  float last = 0.1f;
  double first_crossing = 0, last_crossing = 0;
  for (int i = 0; i < static_cast<int>(10 * period * 240); ++i) {
    world.step();
    const Vec3 at = world.state(bob)->world_from_body.position;
    EXPECT_NEAR(length(at), std::hypot(0.1f, l), 0.01f);
    if (last > 0 && at.x <= 0) {
      if (++crossings == 1) first_crossing = world.time();
      last_crossing = world.time();
    }
    last = at.x;
  }
  ASSERT_GE(crossings, 9);
  EXPECT_NEAR((last_crossing - first_crossing) / (crossings - 1), period, 0.02 * period);
}

TEST(Hinge, PositionWrapsAtHalfATurn) {
  World world({.gravity = {0, 0, 0}});
  const BodyId wheel = world.add(RigidDef{.shape = Box{{1, 0.2f, 0.2f}}}).value();
  const JointId hinge =
      world.add(JointDef{.kind = JointKind::Hinge, .b = wheel, .axis = {0, 0, 1}, .motor = Motor{.speed = 2 * kPi}})
          .value();
  double turned = 0;
  for (int i = 0; i < 300; ++i) {
    world.step();
    const JointState state = *world.state(hinge);
    turned += double{state.speed} / 60;
    ASSERT_LE(std::abs(state.position), kPi + 1e-5f);
    ASSERT_NEAR(std::remainder(turned - double{state.position}, 2 * double{kPi}), 0, 0.05);
  }
  EXPECT_NEAR(turned, 5 * 2 * double{kPi}, 0.2);
}

double energy(const World& world) { return world.report().kinetic_energy + world.report().potential_energy; }

TEST(BallJoint, AFastPendulumOfASmallBobKeepsItsLengthAndGainsNoEnergy) {
  World world({.allow_sleep = false});
  const float l = 1, m = 1;
  const BodyId bob = world.add(RigidDef{.shape = Sphere{0.05f}, .position = {l, 0, 0}, .mass = m}).value();
  world.add(JointDef{.a = bob, .anchor = {0, 0, 0}}).value();
  for (int i = 0; i < 600; ++i) {
    world.step();
    ASSERT_NEAR(length(world.state(bob)->world_from_body.position), l, 0.01f * l) << i;
    ASSERT_LT(energy(world), 0.01 * m * kGravity * l) << i;
  }
  // It has swung for 10 s: what the steps took is less than a fifth.
  EXPECT_GT(energy(world), -0.2 * m * kGravity * l);
}

/// A chain of links of 0.2 m and half a kilogram, held at the origin, with a ball at its end, let go level.
class HeavyChain : public ::testing::TestWithParam<int> {};

TEST_P(HeavyChain, DoesNotStretchHoweverFewTheIterations) {
  for (const int links : {5, 20}) {
    World world({.iterations = GetParam(), .allow_sleep = false});
    BodyId last{};
    for (int i = 0; i < links; ++i) {
      const float x = 0.2f * static_cast<float>(i);
      const BodyId link =
          world.add(RigidDef{.shape = Box{{0.2f, 0.05f, 0.05f}}, .position = {x + 0.1f, 0, 0}, .mass = 0.5f}).value();
      world.add(JointDef{.a = last, .b = link, .anchor = {x, 0, 0}}).value();
      last = link;
    }
    const float end = 0.2f * static_cast<float>(links), reach = end + 0.2f;
    const BodyId ball =
        world.add(RigidDef{.shape = Sphere{0.2f}, .position = {reach, 0, 0}, .mass = links == 5 ? 10.0f : 0.5f})
            .value();
    world.add(JointDef{.a = last, .b = ball, .anchor = {end, 0, 0}}).value();
    for (int i = 0; i < 600; ++i) {
      world.step();
      ASSERT_LT(length(world.state(ball)->world_from_body.position), (links == 5 ? 1.02f : 1.05f) * reach) << i;
      ASSERT_LT(energy(world), 0) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Iterations, HeavyChain, ::testing::Values(3, 10, 100));

TEST(Hinge, PositionSpeedAndMotorShareOneSign) {
  World world({.gravity = {0, 0, 0}});
  const BodyId base = world.add(RigidDef{.motion = Motion::Static}).value();
  const BodyId arm = world.add(RigidDef{.shape = Box{{1, 0.2f, 0.2f}}, .position = {0.5f, 2, 0}}).value();
  const JointId hinge = world
                            .add(JointDef{.kind = JointKind::Hinge,
                                          .a = base,
                                          .b = arm,
                                          .anchor = {0, 2, 0},
                                          .axis = {0, 0, 1},
                                          .motor = Motor{.speed = 0.5f}})
                            .value();
  run(world, 60);
  EXPECT_NEAR(world.state(hinge)->speed, 0.5f, 0.01f);
  EXPECT_NEAR(world.state(hinge)->position, 0.5f, 0.02f);
  // A positive turn about +z takes +x towards +y.
  const Vec3 at = world.state(arm)->world_from_body.position;
  EXPECT_NEAR(std::atan2(at.y - 2, at.x), 0.5f, 0.02f);
  EXPECT_NEAR(std::hypot(at.x, at.y - 2), 0.5f, 1e-3f);
  EXPECT_NEAR(at.z, 0, 1e-4f);
}

TEST(Hinge, StopsAtItsLimits) {
  World world({.gravity = {0, 0, 0}});
  const BodyId arm = world.add(RigidDef{.shape = Box{{1, 0.2f, 0.2f}}, .position = {0.5f, 0, 0}}).value();
  const JointId hinge = world
                            .add(JointDef{.kind = JointKind::Hinge,
                                          .b = arm,
                                          .axis = {0, 0, 1},
                                          .limit = Limit{-0.3f, 0.8f},
                                          .motor = Motor{.speed = 3, .strength = 50}})
                            .value();
  for (int i = 0; i < 120; ++i) {
    world.step();
    EXPECT_LT(world.state(hinge)->position, 0.8f + 0.01f);
  }
  EXPECT_NEAR(world.state(hinge)->position, 0.8f, 0.01f);
  world.set_motor(hinge, {.speed = -3, .strength = 50}).require();
  run(world, 120);
  EXPECT_NEAR(world.state(hinge)->position, -0.3f, 0.01f);
}

TEST(Slider, MovesAlongItsAxisOnly) {
  World world;
  const BodyId cart = world.add(RigidDef{.shape = Box{{0.4f, 0.4f, 0.4f}}, .mass = 5.0f}).value();
  const JointId slider = world
                             .add(JointDef{.kind = JointKind::Slider,
                                           .b = cart,
                                           .axis = {1, 0, 0},
                                           .limit = Limit{-1, 2},
                                           .motor = Motor{.speed = 1, .strength = 200}})
                             .value();
  run(world, 60);
  EXPECT_NEAR(world.state(slider)->position, 1, 0.02f);
  const BodyState state = world.state(cart).value();
  EXPECT_NEAR(state.world_from_body.position.x, 1, 0.02f);
  EXPECT_NEAR(state.world_from_body.position.y, 0, 2e-3f);
  EXPECT_NEAR(std::abs(state.world_from_body.rotation.w), 1, 1e-4f);
  run(world, 120);
  EXPECT_NEAR(world.state(slider)->position, 2, 0.01f);
  // The rail carries the cart's weight.
  EXPECT_NEAR(world.state(slider)->force.y, 5 * kGravity, 0.02f * 5 * kGravity);
}

TEST(Fixed, CantileverHoldsForceAndTorque) {
  World world;
  const BodyId beam =
      world.add(RigidDef{.shape = Box{{1, 0.1f, 0.1f}}, .position = {0.5f, 0, 0}, .mass = 3.0f}).value();
  const JointId joint = world.add(JointDef{.kind = JointKind::Fixed, .b = beam}).value();
  run(world, 60);
  EXPECT_NEAR(world.state(joint)->force.y, 3 * kGravity, 0.01f * 3 * kGravity);
  EXPECT_LT(length(world.state(beam)->world_from_body.position - Vec3{0.5f, 0, 0}), 1e-3f);
}

TEST(Fixed, TorqueIsAboutTheCentreOfMassOfB) {
  // A bar whose end is at the origin, held by a wall whose centre is 0.1 m behind that.
  const float weight = 3 * kGravity;
  const auto reading = [](bool bar_is_b, bool is_world) {
    World world({.allow_sleep = false});
    const RigidDef block{.shape = Box{{0.2f, 0.2f, 0.2f}}, .motion = Motion::Static, .position = {-0.1f, 0, 0}};
    const BodyId wall = is_world ? BodyId{} : world.add(block).value();
    const BodyId bar =
        world.add(RigidDef{.shape = Box{{1, 0.1f, 0.1f}}, .position = {0.5f, 0, 0}, .mass = 3.0f}).value();
    const JointDef def{.kind = JointKind::Fixed, .a = bar_is_b ? wall : bar, .b = bar_is_b ? bar : wall};
    const JointId joint = world.add(def).value();
    run(world, 30);
    return *world.state(joint);
  };
  const JointState on_bar = reading(true, false), on_wall = reading(false, false), on_world = reading(false, true);
  EXPECT_NEAR(on_bar.force.y, weight, 0.01f * weight);
  EXPECT_NEAR(on_wall.force.y, -weight, 0.01f * weight);
  EXPECT_NEAR(on_bar.torque.z, 0, 0.01f * weight);
  EXPECT_NEAR(on_wall.torque.z, -0.6f * weight, 0.01f * weight);
  EXPECT_NEAR(on_world.torque.z, -0.5f * weight, 0.01f * weight);
  // All of them moved to the end of the bar, where half the weight times the length is to be held.
  const auto about_origin = [](const JointState& state, Vec3 from) { return state.torque + cross(from, state.force); };
  EXPECT_NEAR(about_origin(on_bar, {0.5f, 0, 0}).z, 0.5f * weight, 0.01f * weight);
  EXPECT_NEAR(about_origin(on_wall, {-0.1f, 0, 0}).z, -0.5f * weight, 0.01f * weight);
}

TEST(Joint, BreaksBeyondItsForceAndSaysSo) {
  World world;
  const BodyId ball = world.add(RigidDef{.shape = Sphere{0.2f}, .position = {0, -1, 0}, .mass = 10.0f}).value();
  const JointId joint = world.add(JointDef{.a = ball, .break_force = 150}).value();
  run(world, 30);
  ASSERT_TRUE(world.contains(joint)) << "98.1 N must not break it";
  for (int i = 0; i < 30 && world.contains(joint); ++i) {
    world.apply_force(ball, {0, -100, 0}).require();
    world.step();
  }
  ASSERT_FALSE(world.contains(joint));
  ASSERT_EQ(world.events().joint_breaks.size(), 1u);
  EXPECT_EQ(world.events().joint_breaks[0].joint, joint);
  EXPECT_GT(world.events().joint_breaks[0].force, 150);
  EXPECT_EQ(world.state(joint).error().code, Error::Code::StaleId);
  run(world, 30);
  EXPECT_LT(world.state(ball)->velocity.y, -3);
}

TEST(Joint, JointedBodiesPassThroughEachOtherUnlessAskedTo) {
  for (const bool collide : {false, true}) {
    World world({.gravity = {0, 0, 0}});
    const BodyId a = world.add(RigidDef{.shape = Sphere{0.5f}}).value();
    const BodyId b = world.add(RigidDef{.shape = Sphere{0.5f}, .position = {0.8f, 0, 0}}).value();
    world.add(JointDef{.kind = JointKind::Slider, .a = a, .b = b, .axis = {1, 0, 0}, .bodies_collide = collide})
        .value();
    run(world, 60);
    const float apart = length(world.state(b)->world_from_body.position - world.state(a)->world_from_body.position);
    if (collide) {
      EXPECT_GT(apart, 0.9f);
    } else {
      EXPECT_NEAR(apart, 0.8f, 1e-3f);
    }
  }
}

}  // namespace
}  // namespace pliant
