// Layered bodies in the world: with rigid bodies, asleep, in snapshots, and what is refused.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "pliant/world.h"

namespace pliant {
namespace {

LayeredDef ring(Vec3 position) {
  LayeredDef def;
  def.name = "ring";
  def.atlas = atlas_torus(0.5f, 0.2f, 48, 24);
  def.material.young_modulus = 1e5f;
  def.material.stiffness_damping = 0.01f;
  def.thickness = 0.08f;
  def.position = position;
  return def;
}

/// A ring on the ground with a box on top.
BodyId add_ring_and_box(World& world, BodyId& box) {
  world.add(GroundDef{});
  const BodyId body = world.add(ring({0, 0.25f, 0})).value();
  box = world.add(RigidDef{.shape = Box{{1.2f, 0.2f, 1.2f}}, .density = 500, .position = {0, 0.7f, 0}}).value();
  return body;
}

TEST(LayeredWorld, CarriesABoxAndFallsAsleep) {
  World world;
  BodyId box;
  const BodyId body = add_ring_and_box(world, box);
  EXPECT_EQ(world.kind(body), BodyKind::Layered);
  std::size_t slept = 0;
  for (int i = 0; i < 360; ++i) slept += (world.step(), world.events().fell_asleep.size());
  const BodyState on_top = *world.state(box), below = *world.state(body);
  // The box lies on the ring, a little deeper than it would on a hard one.
  EXPECT_LT(on_top.world_from_body.position.y, 0.5f);
  EXPECT_GT(on_top.world_from_body.position.y, 0.44f);
  EXPECT_LT(std::hypot(below.center_of_mass.x, below.center_of_mass.z), 0.01f);
  EXPECT_EQ(slept, 2u);
  EXPECT_EQ(world.report().quarantined, 0u);
  // A push wakes both.
  world.apply_impulse(box, {20, 0, 0});
  world.step();
  EXPECT_TRUE(world.state(body)->awake);
}

TEST(LayeredWorld, GivesARigidBodyWhatItTakes) {
  World world(WorldDef{.gravity = {}});
  const BodyId body = world.add(ring({})).value();
  const BodyId ball =
      world.add(RigidDef{.shape = Sphere{0.15f}, .position = {0.5f, 0.5f, 0}, .velocity = {0, -2, 0}}).value();
  world.step();
  const double before[3] = {world.report().linear_momentum[0], world.report().linear_momentum[1],
                            world.report().linear_momentum[2]};
  const double spin = world.report().angular_momentum[2];
  double energy = world.report().kinetic_energy, most = 0;
  for (int i = 0; i < 60; ++i) {
    world.step();
    most = std::max(most, world.report().kinetic_energy + world.report().elastic_energy);
  }
  EXPECT_GT(world.state(ball)->velocity.y, -0.5f);  // it bounced
  EXPECT_LT(world.state(body)->velocity.y, -0.01f);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(world.report().linear_momentum[k], before[k], 1e-3 * std::abs(before[1]));
  EXPECT_NEAR(world.report().angular_momentum[2], spin, 0.01 * std::abs(spin));
  EXPECT_LE(most, 1.01 * energy);
}

TEST(LayeredWorld, ForcesAndImpulsesAddUp) {
  World world(WorldDef{.gravity = {}});
  const BodyId body = world.add(ring({1, 2, 3})).value();
  world.commit_edits();
  const float mass = world.state(body)->mass;
  world.apply_force(body, {60 * mass, 0, 0});
  world.step(1.0f / 60);
  EXPECT_NEAR(world.state(body)->velocity.x, 1, 1e-4);
  world.apply_impulse(body, {0, mass, 0});
  world.step(1.0f / 60);
  EXPECT_NEAR(world.state(body)->velocity.y, 1, 1e-4);
  // On the surface: the same momentum, and a spin.
  world.apply_impulse(body, {0, 0, 0.1f * mass}, {1.7f, 2, 3});
  world.step(1.0f / 60);
  EXPECT_NEAR(world.state(body)->velocity.z, 0.1f, 1e-4);
  EXPECT_LT(world.state(body)->angular_velocity.y, 0);
  world.apply_node_force(body, AllNodes{}, {0.01f, 0, 0});
  EXPECT_TRUE(world.apply_pressure(body, 100).ok());
  world.step();
  EXPECT_TRUE(world.report().errors.empty());
}

TEST(LayeredWorld, SnapshotsContinueBitForBitOnAnyNumberOfThreads) {
  std::uint64_t hashes[2];
  for (const int threads : {1, 2}) {
    World world(WorldDef{.threads = threads});
    BodyId box;
    add_ring_and_box(world, box);
    for (int i = 0; i < 20; ++i) world.step();
    const Snapshot snapshot = world.snapshot();
    for (int i = 0; i < 20; ++i) world.step();
    hashes[threads - 1] = world.hash();
    ASSERT_TRUE(world.restore(snapshot).ok());
    for (int i = 0; i < 20; ++i) world.step();
    EXPECT_EQ(world.hash(), hashes[threads - 1]);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(LayeredWorld, NonsenseIsRefused) {
  World world;
  LayeredDef def;
  EXPECT_FALSE(world.add(def));  // no surface
  def = ring({});
  def.thickness = -1;
  EXPECT_FALSE(world.add(def));
  def = ring({});
  def.stiffness_factors = {1, 2};
  EXPECT_FALSE(world.add(def));
  def = ring({});
  def.atlas.surface.vertices[5].x = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(world.add(def));
  def = ring({});
  def.core.assign(def.atlas.node_count(), {0, 5, 0});
  EXPECT_FALSE(world.add(def));
  def = ring({});
  def.material.young_modulus = 1e30f;
  EXPECT_EQ(world.add(def).error().message, "1e+30 is more than 1e+14 Pa");
  def = ring({0, 1e9f, 0});
  EXPECT_EQ(world.add(def).error().message, "(0, 1e+09, 0) is more than 1e+07 m from the origin");
  const BodyId body = world.add(ring({0, 1, 0})).value();
  EXPECT_EQ(world.set_restitution(body, 0.5f).error().message, "only rigid bodies have a restitution");
  EXPECT_EQ(world.set_friction(body, -1).error().message, "the friction must be 0 or more");
  EXPECT_FALSE(world.hold(body, AllNodes{}).ok());
  EXPECT_FALSE(world.held_force(body));
  EXPECT_FALSE(world.add(JointDef{.a = body}));
  EXPECT_FALSE(world.solid_def(body));
  EXPECT_TRUE(world.layered_def(body));
  world.step();
  EXPECT_EQ(world.report().quarantined, 0u);
}

TEST(LayeredWorld, ALostBodyIsQuarantined) {
  World world;
  const BodyId body = world.add(ring({0, 1, 0})).value();
  world.step();
  world.set_velocity(body, {1e30f, 0, 0}, {});
  world.step();
  EXPECT_EQ(world.report().quarantined, 1u);
  EXPECT_TRUE(is_finite(world.state(body)->center_of_mass));
  world.release_from_quarantine(body);
  world.step();
  EXPECT_EQ(world.report().quarantined, 0u);
}

TEST(LayeredWorld, RaysMeetTheSurface) {
  World world;
  const BodyId body = world.add(ring({0, 1, 0})).value();
  world.commit_edits();
  const auto hit = world.ray_cast({0.5f, 5, 0}, {0, -1, 0}, 10);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->body, body);
  EXPECT_NEAR(hit->position.y, 1.2f, 0.01f);
  EXPECT_FALSE(world.ray_cast({0, 5, 0}, {0, -1, 0}, 10));  // through the hole
}

}  // namespace
}  // namespace pliant
