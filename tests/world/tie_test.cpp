// Anchors between bodies of nodes, and closed ropes, against closed forms and conservation laws.
#include <cmath>

#include <gtest/gtest.h>

#include "pliant/pliant.h"

namespace pliant {
namespace {

Vec3 node(const World& world, BodyId body, std::size_t i) { return (*world.node_positions(body))[i]; }

TEST(Ties, TwoRopesEndToEndCarryAWeightAndTellIt) {
  for (const float mass : {0.05f, 1.0f, 10.0f}) {
    World world({.allow_sleep = false});
    const BodyId upper = *world.add(RopeDef{.path = {{0, 2, 0}, {0, 1.5f, 0}}});
    const BodyId lower = *world.add(RopeDef{.path = {{0, 1.5f, 0}, {0, 1, 0}}});
    const BodyId ball = *world.add(RigidDef{.shape = Sphere{0.1f}, .position = {0, 0.9f, 0}, .mass = mass});
    world.add(AnchorDef{.body = upper, .nodes = NearestNodes{{0, 2, 0}}});
    const AnchorId knot = *world.add(AnchorDef{
        .body = lower, .nodes = NearestNodes{{0, 1.5f, 0}}, .to = upper, .to_nodes = NearestNodes{{0, 1.5f, 0}}});
    world.add(AnchorDef{.body = lower, .nodes = NearestNodes{{0, 1, 0}}, .to = ball});
    for (int i = 0; i < 300; ++i) world.step();
    EXPECT_NEAR(world.state(ball)->center_of_mass.y, 0.9f, 0.01f) << mass;
    EXPECT_LT(length(node(world, upper, 10) - node(world, lower, 0)), 1e-3f) << mass;
    // On the lower rope's end: the ball and the lower rope, 0.05 kg.
    EXPECT_NEAR(world.state(knot)->force.y, (mass + 0.05f) * 9.81f, 0.06f * (mass + 0.05f) * 9.81f) << mass;
    EXPECT_LT(world.report().max_stretch, 0.01f) << mass;
  }
}

TEST(Ties, ToAPointOfAFaceFollowsItAndBreaksAtItsForce) {
  // A rope hangs on the middle of a face of a sheet that is held all around.
  World world({.allow_sleep = false});
  ClothDef sheet{.shape = ClothSheet{1, 1, 5, 5}, .position = {0, 2, 0}, .held = {{.nodes = AllNodes{}}}};
  const BodyId cloth = *world.add(sheet);
  const BodyId rope = *world.add(RopeDef{.path = {{0.03f, 2, 0.05f}, {0.03f, 1.5f, 0.05f}}});
  const AnchorId tie =
      *world.add(AnchorDef{.body = rope, .nodes = NearestNodes{{0.03f, 2, 0.05f}}, .to = cloth, .break_force = 2});
  for (int i = 0; i < 120; ++i) world.step();
  EXPECT_NEAR(world.state(tie)->force.y, 0.05f * 9.81f, 0.02f);
  EXPECT_LT(length(node(world, rope, 0) - Vec3{0.03f, 2, 0.05f}), 1e-4f);
  // It goes where the face goes.
  world.drive(cloth, AllNodes{}, Vec3{0.5f, 0, 0}).require();
  for (int i = 0; i < 60; ++i) world.step();
  EXPECT_NEAR(node(world, rope, 0).x, 0.53f, 0.01f);
  world.apply_node_force(rope, NearestNodes{{0.03f, 1.5f, 0.05f}}, {0, -5, 0}).require();
  world.step();
  ASSERT_EQ(world.events().anchor_breaks.size(), 1u);
  EXPECT_EQ(world.events().anchor_breaks[0].anchor, tie);
  EXPECT_GT(world.events().anchor_breaks[0].force, 2);
  EXPECT_EQ(world.state(tie)->nodes, 0u);
}

TEST(Ties, KeepMomentumInFreeFlight) {
  World world({.gravity = {}, .allow_sleep = false});
  const BodyId left = *world.add(ClothDef{.shape = ClothSheet{1, 1, 10, 10}, .velocity = {0.5f, 1, 0}});
  const BodyId right =
      *world.add(ClothDef{.shape = ClothSheet{1, 1, 8, 8}, .position = {1, 0, 0}, .angular_velocity = {1, 0, 2}});
  // A seam: nodes of one rim at points of the faces of the other.
  world.add(AnchorDef{.body = right, .nodes = NodeHalfSpace{{-1, 0, 0}, 0.499f}, .to = left});
  world.step();
  const StepReport first = world.report();
  for (int i = 0; i < 600; ++i) world.step();
  const StepReport& last = world.report();
  const double mass = 0.4, speed = 1.2;
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(last.linear_momentum[k], first.linear_momentum[k], 1e-4 * mass * speed);
    EXPECT_NEAR(last.angular_momentum[k], first.angular_momentum[k], 0.02 * mass * speed);
  }
  EXPECT_LT(last.kinetic_energy, 1.02 * first.kinetic_energy);
}

TEST(Ties, WakeWhatSleeps) {
  World world;
  world.add(GroundDef{});
  const BodyId a = *world.add(RopeDef{.path = {{0, 0.01f, 0}, {1, 0.01f, 0}}});
  const BodyId b = *world.add(RopeDef{.path = {{1, 0.01f, 0}, {2, 0.01f, 0}}});
  world.add(AnchorDef{.body = a, .nodes = NearestNodes{{1, 0, 0}}, .to = b, .to_nodes = NearestNodes{{1, 0, 0}}});
  for (int i = 0; i < 300 && (world.state(a)->awake || world.state(b)->awake); ++i) world.step();
  ASSERT_FALSE(world.state(a)->awake);
  ASSERT_FALSE(world.state(b)->awake);
  world.apply_impulse(a, {0, 0.2f, 0});
  world.step();
  EXPECT_TRUE(world.state(a)->awake);
  EXPECT_TRUE(world.state(b)->awake);
}

TEST(Ties, AreTheSameAfterASnapshot) {
  const auto make = [](World& world) {
    const BodyId a = *world.add(RopeDef{.path = {{0, 2, 0}, {1, 2, 0}}, .held = {{.nodes = NearestNodes{{0, 2, 0}}}}});
    const BodyId b = *world.add(RopeDef{.path = {{1, 2, 0}, {2, 2, 0.5f}}});
    world.add(AnchorDef{.body = b, .nodes = NearestNodes{{1, 2, 0}}, .to = a});
  };
  World one({.threads = 1}), two({.threads = 2});
  make(one), make(two);
  for (int i = 0; i < 30; ++i) one.step(), two.step();
  EXPECT_EQ(one.hash(), two.hash());
  const Snapshot snapshot = one.snapshot();
  for (int i = 0; i < 30; ++i) one.step();
  two.restore(snapshot).require();
  for (int i = 0; i < 30; ++i) two.step();
  EXPECT_EQ(one.hash(), two.hash());
}

TEST(Ties, OfWhatCannotBeTiedAreRefused) {
  World world;
  const BodyId rope = *world.add(RopeDef{});
  const BodyId ball = *world.add(RigidDef{.shape = Sphere{0.1f}, .position = {5, 0, 0}});
  EXPECT_EQ(world.add(AnchorDef{.body = rope, .to = rope}).error().field, "add: to_nodes");
  EXPECT_EQ(world.add(AnchorDef{.body = rope, .to = ball, .to_nodes = AllNodes{}}).error().field, "add: to_nodes");
  EXPECT_EQ(world.add(AnchorDef{.body = rope, .to_nodes = AllNodes{}}).error().field, "add: to_nodes");
}

/// A ring of `segments` pieces about the origin, across z.
RopeDef ring(float radius, int points) {
  RopeDef def{.path = {}, .closed = true, .segment = 10};
  for (int i = 0; i < points; ++i) {
    const float angle = 2 * kPi * static_cast<float>(i) / static_cast<float>(points);
    def.path.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
  }
  return def;
}

TEST(ClosedRopes, HaveAsManySegmentsAsNodesAndTheMassOfAllOfThem) {
  World world;
  const BodyId band = *world.add(ring(1, 60));
  EXPECT_EQ(world.node_positions(band)->size(), 60u);
  EXPECT_EQ(world.rope_segments(band)->size(), 60u);
  EXPECT_NEAR(world.state(band)->mass, 0.1f * 120 * std::sin(kPi / 60), 1e-5f);
}

TEST(ClosedRopes, HangOnAPegAndCarryAWeightOnBothStrands) {
  World world({.allow_sleep = false});
  // Two strands that hang almost straight: each half of the way round.
  RopeDef def{.path = {{0, 0.8f, 0}, {0.02f, 0, 0}, {0, -0.8f, 0}, {-0.02f, 0, 0}}, .closed = true};
  def.material.damping = 3;
  const BodyId band = *world.add(def);
  const AnchorId peg = *world.add(AnchorDef{.body = band, .nodes = NearestNodes{{0, 0.8f, 0}}});
  const BodyId ball = *world.add(RigidDef{.shape = Sphere{0.05f}, .position = {0, -0.87f, 0}, .mass = 20.0f});
  world.add(AnchorDef{.body = band, .nodes = NearestNodes{{0, -0.8f, 0}}, .to = ball});
  for (int i = 0; i < 600; ++i) world.step();
  const float half = 2 * std::hypot(0.8f, 0.02f);
  EXPECT_NEAR(world.state(ball)->center_of_mass.y, 0.73f - half, 0.005f * half);
  EXPECT_LT(world.report().max_stretch, 0.01f);
  EXPECT_NEAR(world.state(peg)->force.y, 20.3f * 9.81f, 0.03f * 200);
}

TEST(ClosedRopes, OfRubberPullTogetherAsHookesLawSays) {
  // A band of rest length l around two held nodes at a distance d, both strands pulled: F = 2 k (2d/l − 1).
  World world({.gravity = {}, .allow_sleep = false});
  RopeDef def{.path = {{-0.25f, 0, 0}, {0, -0.02f, 0}, {0.25f, 0, 0}, {0, 0.02f, 0}}, .closed = true};
  def.material.stretch_stiffness = 100;
  def.material.damping = 5;
  def.held = {{.nodes = NearestNodes{{-0.25f, 0, 0}}}, {.nodes = NearestNodes{{0.25f, 0, 0}}}};
  const BodyId band = *world.add(def);
  world.drive(band, NearestNodes{{0.25f, 0, 0}}, Vec3{0.25f, 0, 0}).require();
  for (int i = 0; i < 60; ++i) world.step();
  world.drive(band, NearestNodes{{0.25f, 0, 0}}, Vec3{}).require();
  for (int i = 0; i < 300; ++i) world.step();
  const float expected = 2 * 100 * (1.5f / 1.00319f - 1);
  EXPECT_NEAR(world.held_force(band, NearestNodes{{0.25f, 0, 0}})->x, expected, 0.02f * expected);
}

}  // namespace
}  // namespace pliant
