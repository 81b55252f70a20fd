// Nodes of rope, cloth and jelly tied to solids, against closed forms and conservation laws.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/pliant.h"

namespace pliant {
namespace {

constexpr float kGravity = 9.81f;

float rms_speed(const World& world, BodyId body) {
  double sum = 0;
  const std::span<const Vec3> v = *world.node_velocities(body);
  for (const Vec3& node : v) sum += static_cast<double>(length_squared(node));
  return static_cast<float>(std::sqrt(sum / static_cast<double>(v.size())));
}

/// A box of 0.4 m and 12.8 kg at density 200.
SolidDef box(Vec3 position, float density = 200, float young_modulus = 2e5f) {
  return {.mesh = tet_box({0.4f, 0.4f, 0.4f}, 0.1f),
          .material = {.density = density, .young_modulus = young_modulus, .poisson_ratio = 0.3f},
          .position = position};
}

/// A box that hangs on a rope of 1 m from each of its upper corners.
struct Hanging {
  explicit Hanging(float rope_mass, float density = 200, float young_modulus = 2e5f, int threads = 1,
                   float break_force = kInfinity)
      : world({.threads = threads, .allow_sleep = false}) {
    solid = *world.add(box({0, 0, 0}, density, young_modulus));
    for (const float x : {-0.2f, 0.2f}) {
      for (const float z : {-0.2f, 0.2f}) {
        const RopeDef def{.path = {{x, 1.2f, z}, {x, 0.2f, z}}, .segment = 0.1f, .material = {.density = rope_mass}};
        const BodyId rope = *world.add(def);
        hooks.push_back(*world.add(AnchorDef{.body = rope, .nodes = NearestNodes{{x, 1.2f, z}}}));
        ropes.push_back(rope);
        knots.push_back(*world.add(
            AnchorDef{.body = rope, .nodes = NearestNodes{{x, 0.2f, z}}, .to = solid, .break_force = break_force}));
      }
    }
    world.commit_edits();
  }
  Vec3 pull() const {
    Vec3 sum{};
    for (const AnchorId knot : knots) sum += world.state(knot)->force;
    return sum;
  }

  World world;
  BodyId solid;
  std::vector<BodyId> ropes;
  std::vector<AnchorId> hooks, knots;
};

TEST(SolidTies, ASolidHangsOnRopesThatTellItsWeight) {
  // The solid is 1/100 to 100 times as heavy as the ropes together.
  for (const float ratio : {0.01f, 0.1f, 1.0f, 10.0f, 100.0f}) {
    Hanging s(12.8f / ratio / 4);
    for (int i = 0; i < 300; ++i) {
      s.world.step();
      ASSERT_LT(length(s.world.state(s.solid)->velocity), 1.0f) << ratio << ", step " << i;
    }
    const float weight = 12.8f * kGravity;
    EXPECT_NEAR(-s.pull().y, weight, 0.01f * weight) << ratio;
    for (const AnchorId knot : s.knots) EXPECT_NEAR(-s.world.state(knot)->force.y, weight / 4, 0.02f * weight) << ratio;
    EXPECT_LT(s.world.report().max_stretch, 0.01f) << ratio;
    EXPECT_LT(rms_speed(s.world, s.solid), 0.02f) << ratio;
    for (const BodyId rope : s.ropes) {
      EXPECT_LT(rms_speed(s.world, rope), 0.02f) << ratio;
      // The end is where the corner is.
      const Vec3 end = s.world.node_positions(rope)->back();
      float nearest = 1;
      for (const Vec3 x : *s.world.node_positions(s.solid)) nearest = std::min(nearest, length(x - end));
      EXPECT_LT(nearest, 1e-3f) << ratio;
    }
    EXPECT_EQ(s.world.report().quarantined, 0u);
  }
}

TEST(SolidTies, StiffAndSoftSolidsHangAlike) {
  for (const float young_modulus : {2e4f, 1e7f, 2e9f}) {
    Hanging s(0.1f, 200, young_modulus);
    for (int i = 0; i < 240; ++i) s.world.step();
    float pull = 0;  // the soft one still wobbles
    for (int i = 0; i < 120; ++i) s.world.step(), pull -= s.pull().y / 120;
    EXPECT_NEAR(pull, 12.8f * kGravity, 0.02f * 12.8f * kGravity) << young_modulus;
    EXPECT_LT(rms_speed(s.world, s.solid), 0.1f) << young_modulus;
  }
}

TEST(SolidTies, KeepMomentumInFreeFlight) {
  World world({.gravity = {}, .allow_sleep = false});
  SolidDef left = box({-0.7f, 0, 0}), right = box({0.7f, 0, 0}, 50);
  left.velocity = {0, 1, 0}, right.velocity = {0.5f, -1, 0.3f};
  const BodyId a = *world.add(left), b = *world.add(right);
  const BodyId rope = *world.add(RopeDef{.path = {{-0.5f, 0, 0}, {0.5f, 0, 0}}});
  world.add(AnchorDef{.body = rope, .nodes = NearestNodes{{-0.5f, 0, 0}}, .to = a});
  world.add(AnchorDef{.body = rope, .nodes = NearestNodes{{0.5f, 0, 0}}, .to = b});
  world.step();
  const StepReport first = world.report();
  for (int i = 0; i < 300; ++i) world.step();
  const StepReport& last = world.report();
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(last.linear_momentum[k], first.linear_momentum[k], 1e-3 * 12.8);
    EXPECT_NEAR(last.angular_momentum[k], first.angular_momentum[k], 0.05 * 12.8);
  }
  EXPECT_LT(last.kinetic_energy + last.elastic_energy, 1.02 * (first.kinetic_energy + first.elastic_energy));
  EXPECT_LT(world.report().max_stretch, 0.02f);
}

TEST(SolidTies, OneThreadAndTwoAreTheSameAndSnapshotsGoOn) {
  Hanging one(0.1f, 200, 2e5f, 1), two(0.1f, 200, 2e5f, 2);
  for (int i = 0; i < 40; ++i) one.world.step(), two.world.step();
  EXPECT_EQ(one.world.report().hash, two.world.report().hash);
  const auto saved = one.world.snapshot();
  for (int i = 0; i < 20; ++i) one.world.step();
  const std::uint64_t hash = one.world.report().hash;
  one.world.restore(saved);
  for (int i = 0; i < 20; ++i) one.world.step();
  EXPECT_EQ(one.world.report().hash, hash);
}

TEST(SolidTies, BreakAtTheirForce) {
  Hanging s(0.1f, 200, 2e5f, 1, 60);
  for (int i = 0; i < 120; ++i) {
    s.world.step();
    ASSERT_TRUE(s.world.events().anchor_breaks.empty());
  }
  s.world.apply_force(s.solid, {0, -300, 0}).require();
  std::size_t broken = 0;
  for (int i = 0; i < 60; ++i) {
    s.world.apply_force(s.solid, {0, -300, 0}).require();
    s.world.step();
    for (const AnchorBreak& event : s.world.events().anchor_breaks) {
      ++broken;
      EXPECT_GT(event.force, 60);
    }
  }
  EXPECT_EQ(broken, 4u);
  EXPECT_LT(s.world.state(s.solid)->center_of_mass.y, -1);
}

TEST(SolidTies, GoWithThePieceThatHasThePoint) {
  // A bar that hangs on two ropes breaks in the middle; each half stays on its rope.
  World world({.allow_sleep = false});
  SolidDef bar{.mesh = tet_box({1.2f, 0.1f, 0.1f}, 12, 1, 1),
               .material = {.density = 500, .young_modulus = 1e8f, .poisson_ratio = 0.3f, .strength = 5e6f}};
  bar.weakened = {{.nodes = NodeBox{{{-0.06f, -1, -1}, {0.06f, 1, 1}}}, .factor = 0.05f}};
  const BodyId solid = *world.add(bar);
  std::vector<BodyId> ropes;
  std::vector<AnchorId> knots;
  for (const float x : {-0.6f, 0.6f}) {
    ropes.push_back(*world.add(RopeDef{.path = {{x, 1, 0}, {x, 0, 0}}, .segment = 0.1f}));
    world.add(AnchorDef{.body = ropes.back(), .nodes = NearestNodes{{x, 1, 0}}});
    knots.push_back(*world.add(AnchorDef{.body = ropes.back(), .nodes = NearestNodes{{x, 0, 0}}, .to = solid}));
  }
  for (int i = 0; i < 60; ++i) world.step();
  ASSERT_EQ(world.bodies().size(), 3u);
  for (int i = 0; i < 400 && world.bodies().size() == 3; ++i) {
    world.apply_node_force(solid, NodeBox{{{-0.06f, -1, -1}, {0.06f, 1, 1}}}, {0, -2.0f * static_cast<float>(i), 0})
        .require();
    world.step();
  }
  ASSERT_GE(world.bodies().size(), 4u);
  float carried = 0;
  for (int i = 0; i < 240; ++i) {
    world.step();
    for (const AnchorId knot : knots) carried -= world.state(knot)->force.y / 240;
  }
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(world.state(knots[k])->nodes, 1u);
    const Vec3 end = world.node_positions(ropes[k])->back();
    float nearest = 1;
    for (const BodyId id : world.bodies()) {
      if (world.kind(id) != BodyKind::Solid) continue;
      for (const Vec3 x : *world.node_positions(id)) nearest = std::min(nearest, length(x - end));
    }
    EXPECT_LT(nearest, 0.08f);
  }
  // The halves fall until they hang upright, and swing.
  EXPECT_NEAR(carried, 6 * kGravity, 0.15f * 6 * kGravity);
}

TEST(SolidTies, ARopeJoinsASolidAndARigidBody) {
  World world({.allow_sleep = false});
  const BodyId solid = *world.add(box({0, 2, 0}));
  const BodyId upper = *world.add(RopeDef{.path = {{0, 3, 0}, {0, 2.2f, 0}}, .segment = 0.1f});
  const BodyId lower = *world.add(RopeDef{.path = {{0, 1.8f, 0}, {0, 1, 0}}, .segment = 0.1f});
  const BodyId ball = *world.add(RigidDef{.shape = Sphere{0.1f}, .position = {0, 0.9f, 0}, .mass = 20.0f});
  world.add(AnchorDef{.body = upper, .nodes = NearestNodes{{0, 3, 0}}});
  const AnchorId top = *world.add(AnchorDef{.body = upper, .nodes = NearestNodes{{0, 2.2f, 0}}, .to = solid});
  world.add(AnchorDef{.body = lower, .nodes = NearestNodes{{0, 1.8f, 0}}, .to = solid});
  const AnchorId bottom = *world.add(AnchorDef{.body = lower, .nodes = NearestNodes{{0, 1, 0}}, .to = ball});
  for (int i = 0; i < 300; ++i) world.step();
  EXPECT_NEAR(-world.state(bottom)->force.y, 20 * kGravity, 0.02f * 20 * kGravity);
  EXPECT_NEAR(-world.state(top)->force.y, 32.9f * kGravity, 0.02f * 32.9f * kGravity);
  EXPECT_LT(world.report().max_stretch, 0.01f);
}

TEST(SolidTies, ClothCarriesASolidAtItsRim) {
  World world({.allow_sleep = false});
  const BodyId solid = *world.add(box({0, 0, 0}));
  // A sheet that is held along one rim and carries the solid at the other.
  ClothDef sheet{.shape = ClothSheet{0.4f, 0.8f, 8, 16}, .position = {0, 0.6f, 0.2f}};
  sheet.rotation = Quat::axis_angle({1, 0, 0}, 0.5f * kPi);
  sheet.held = {{.nodes = NodeHalfSpace{{0, 0, -1}, 0.399f}}};
  const BodyId cloth = *world.add(sheet);
  const AnchorId rim = *world.add(AnchorDef{.body = cloth, .nodes = NodeHalfSpace{{0, 0, 1}, 0.399f}, .to = solid});
  float pull = 0;  // it swings: its centre is not below the rim
  for (int i = 0; i < 360; ++i) {
    world.step();
    if (i >= 120) pull -= world.state(rim)->force.y / 240;
  }
  EXPECT_EQ(world.state(rim)->nodes, 9u);
  EXPECT_NEAR(pull, 12.8f * kGravity, 0.05f * 12.8f * kGravity);
  EXPECT_LT(world.report().max_stretch, 0.01f);
}

TEST(SolidTies, SleepWakeAndGo) {
  World world;
  const BodyId solid = *world.add(box({0, 0, 0}));
  const BodyId rope = *world.add(RopeDef{.path = {{0, 1.2f, 0}, {0, 0.2f, 0}}, .segment = 0.1f});
  world.add(AnchorDef{.body = rope, .nodes = NearestNodes{{0, 1.2f, 0}}});
  const AnchorId knot = *world.add(AnchorDef{.body = rope, .nodes = NearestNodes{{0, 0.2f, 0}}, .to = solid});
  for (int i = 0; i < 900 && world.state(solid)->awake; ++i) world.step();
  EXPECT_FALSE(world.state(solid)->awake);
  EXPECT_FALSE(world.state(rope)->awake);
  world.apply_impulse(solid, {5, 0, 0}).require();
  for (int i = 0; i < 30; ++i) world.step();
  EXPECT_TRUE(world.state(rope)->awake);
  EXPECT_GT(world.state(solid)->center_of_mass.x, 0.05f);
  EXPECT_NEAR(length(world.node_positions(rope)->back() - world.node_positions(rope)->front()), 1, 0.02f);
  world.remove(solid).require();
  world.step();
  EXPECT_FALSE(world.contains(knot));
  for (int i = 0; i < 30; ++i) world.step();
  EXPECT_EQ(world.report().quarantined, 0u);
}

}  // namespace
}  // namespace pliant
