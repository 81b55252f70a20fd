// Damped contacts of solids (SolidContact::Damped): what they brake, what they hold, and that they only take energy.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

constexpr float kGravity = 9.81f;

SolidDef block(Vec3 size, float cell, Vec3 position, float young_modulus = 1e6f) {
  return {.mesh = tet_box(size, cell),
          .material = {.density = 500, .young_modulus = young_modulus, .poisson_ratio = 0.3f},
          .position = position,
          .friction = 0.5f};
}

double total_energy(const StepReport& report) {
  return report.kinetic_energy + report.potential_energy + report.elastic_energy;
}

void step(World& world, int steps) {
  for (int i = 0; i < steps; ++i) world.step();
}

// Two stiff cubes that overlap by a thin layer of area A: the force φ A v between them, implicit, leaves of their
// approach v the part 1 / (1 + dt φ A (1/m + 1/m)); and of their parting just as little.
TEST(SolidDamped, OverlapsBrakeApproachAndPartingByTheirArea) {
  for (const float speed : {-0.5f, 0.5f}) {
    const float phi = 5e3f;
    World world({.gravity = {}, .solid_contact = SolidContact::Damped, .contact_damping = phi});
    SolidDef cube = block({0.4f, 0.4f, 0.4f}, 0.1f, {}, 1e9f);
    const BodyId low = world.add(cube).value();
    cube.position = {0.013f, 0.3997f, 0.007f};  // deeper, the normals of single tets would lean
    cube.velocity = {0, speed, 0};
    const BodyId high = world.add(cube).value();
    world.step();
    const float mass = world.state(low)->mass, area = (0.4f - 0.013f) * (0.4f - 0.007f);
    const float expected = speed / (1 + phi * area / 60 * 2 / mass);
    EXPECT_NEAR(world.state(high)->velocity.y - world.state(low)->velocity.y, expected, 0.03f * std::abs(expected));
    EXPECT_NEAR(world.report().linear_momentum[1], double(mass * speed), 1e-4 * double(mass));
  }
}

// Friction is μ G times the mass of the island, whatever presses: the plate counts, though it is held.
TEST(SolidDamped, FrictionFollowsTheMassOfTheIsland) {
  World world({.solid_contact = SolidContact::Damped, .contact_damping = 1e7f});
  SolidDef plate = block({3, 0.1f, 0.6f}, 0.1f, {1, 0, 0}, 1e8f);
  plate.material.density = 10;
  plate.held = {{.nodes = AllNodes{}}};
  plate.friction = 0.3f;
  world.add(plate).value();
  SolidDef slab = block({0.4f, 0.1f, 0.4f}, 0.1f, {0, 0.09995f, 0}, 1e8f);
  slab.velocity = {2, 0, 0};
  slab.friction = 0.3f;
  const BodyId high = world.add(slab).value();
  const float most = 0.3f * kGravity * 500 * 0.016f + 0.3f * kGravity * 10 * 0.18f;
  float before = 2;
  for (int i = 0; i < 6; ++i) {
    world.step();
    const float after = world.state(high)->velocity.x;
    float force = 0;
    for (const Contact& contact : world.events().contacts) force += 60 * length(contact.friction_impulse);
    // Linear in the velocity that the substep ends with, and as strong as it should be at that with which it began.
    EXPECT_NEAR(force, most * after / before, 0.03f * most) << "step " << i;
    before = after;
  }
  EXPECT_GT(before, 0.1f);
}

TEST(SolidDamped, StacksOnlyLoseEnergyAndFallAsleep) {
  World world({.solid_contact = SolidContact::Damped});
  world.add(GroundDef{}).value();
  std::vector<BodyId> cubes;
  for (int i = 0; i < 4; ++i) {
    cubes.push_back(
        world.add(block({0.4f, 0.4f, 0.4f}, 0.1f, {0.02f * float(i % 2), 0.21f + 0.42f * float(i), 0})).value());
  }
  world.step();
  double before = total_energy(world.report());
  for (int i = 0; i < 600 && world.report().awake_bodies > 0; ++i) {
    const double now = total_energy(world.step());
    EXPECT_LT(now, before + 1e-3 * std::abs(before)) << "step " << i;
    before = now;
  }
  EXPECT_EQ(world.report().awake_bodies, 0u);
  for (std::size_t i = 0; i < cubes.size(); ++i) {
    EXPECT_NEAR(world.state(cubes[i])->center_of_mass.y, 0.2f + 0.4f * float(i), 0.06f) << i;
    EXPECT_NEAR(world.state(cubes[i])->center_of_mass.x, 0.02f * float(i % 2), 0.01f) << i;
  }
}

// Gravity leans by atan(0.3): less than μ = 0.5 holds.
TEST(SolidDamped, StaticFrictionHoldsASlope) {
  const float angle = std::atan(0.3f);
  World world({.gravity = {kGravity * std::sin(angle), -kGravity * std::cos(angle), 0},
               .allow_sleep = false,
               .solid_contact = SolidContact::Damped});
  SolidDef plate = block({1, 0.1f, 0.6f}, 0.1f, {});
  plate.held = {{.nodes = AllNodes{}}};
  world.add(plate).value();
  const BodyId slab = world.add(block({0.4f, 0.1f, 0.4f}, 0.1f, {0, 0.0995f, 0})).value();
  step(world, 60);
  const float before = world.state(slab)->center_of_mass.x;
  step(world, 300);
  EXPECT_NEAR(world.state(slab)->center_of_mass.x, before, 1e-3f);
}

TEST(SolidDamped, FastBodiesStopAtTheFirstThingOnTheirWay) {
  for (const float speed : {20.0f, 60.0f, 200.0f}) {
    World world({.gravity = {}, .solid_contact = SolidContact::Damped});
    SolidDef wall = block({1, 1, 0.1f}, 0.1f, {});
    wall.held = {{.nodes = AllNodes{}}};
    world.add(wall).value();
    SolidDef cube = block({0.3f, 0.3f, 0.3f}, 0.1f, {0, 0, 1});
    cube.velocity = {0, 0, -speed};
    const BodyId body = world.add(cube).value();
    step(world, 60);
    EXPECT_GT(world.state(body)->center_of_mass.z, 0) << speed;
    EXPECT_LT(length(world.state(body)->velocity), 0.1f * speed) << speed;
  }
}

World damped_pile(int threads) {
  World world({.threads = threads, .solid_contact = SolidContact::Damped});
  world.add(GroundDef{}).value();
  for (int i = 0; i < 6; ++i) {
    SolidDef cube = block({0.3f, 0.3f, 0.3f}, 0.1f, {0.05f * float(i % 3), 0.2f + 0.35f * float(i), 0.03f * float(i)});
    cube.rotation = Quat::axis_angle({0, 0, 1}, 0.2f * float(i));
    cube.self_collision = i % 2 == 0;
    world.add(cube).value();
  }
  world.add(RigidDef{.shape = Sphere{0.2f}, .position = {0, 2.8f, 0}, .mass = 20.0f}).value();
  return world;
}

TEST(SolidDamped, GiveTheSameHashForAnyNumberOfThreadsAndAfterASnapshot) {
  World one = damped_pile(1), two = damped_pile(2);
  Snapshot snapshot;
  for (int i = 0; i < 120; ++i) {
    if (i == 60) snapshot = two.snapshot();
    one.step(), two.step();
    ASSERT_EQ(one.report().hash, two.report().hash) << "step " << i;
  }
  EXPECT_EQ(one.report().quarantined, 0u);
  World other = damped_pile(2);
  ASSERT_TRUE(other.restore(snapshot).ok());
  for (int i = 60; i < 120; ++i) other.step();
  EXPECT_EQ(other.report().hash, two.report().hash);
}

TEST(SolidDamped, TheWorldRefusesANegativeDamping) { EXPECT_ANY_THROW(World({.contact_damping = -1})); }

}  // namespace
}  // namespace pliant
