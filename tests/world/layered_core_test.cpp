// Skins that are pressed flat: what presses them rests on the core, whatever it weighs, and nothing is given back.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

constexpr float kTube = 0.2f, kThickness = 0.08f;
/// Half of the height of a ring that is pressed flat: its core, and the fifth of the skin that is always left.
constexpr float kFlat = kTube - 0.8f * kThickness;
constexpr float kHeightOfBox = 0.3f;

LayeredDef ring(float height, float young_modulus) {
  LayeredDef def;
  def.atlas = atlas_torus(0.5f, kTube, 48, 24);
  def.material.young_modulus = young_modulus;
  def.material.stiffness_damping = 0.002f;
  def.thickness = kThickness;
  def.position = {0, height, 0};
  return def;
}

RigidDef box(float height, float mass) {
  RigidDef def;
  const Vec3 size{1.5f, kHeightOfBox, 1.5f};
  def.shape = Box{size};
  def.mass = mass;
  def.position = {0, height, 0};
  return def;
}

double energy_of(const World& world) {
  const StepReport& report = world.report();
  return report.kinetic_energy + report.elastic_energy + report.potential_energy;
}

/// Steps the world; returns the largest rise of its energy over the least that it had, over what it began with.
double largest_rise(World& world, int steps) {
  world.step();
  const double start = energy_of(world);
  double least = start, rise = 0;
  for (int i = 1; i < steps; ++i) {
    world.step();
    rise = std::max(rise, energy_of(world) - least);
    least = std::min(least, energy_of(world));
  }
  return rise / start;
}

/// Weights of so many times the ring's mass of 390 kg, dropped from 5 cm.
class LayeredCores : public testing::TestWithParam<float> {};

TEST_P(LayeredCores, CarryAnyWeight) {
  World world;
  world.add(GroundDef{});
  const BodyId below = world.add(ring(kTube, 1e5f)).value();
  const BodyId above = world.add(box(2 * kTube + 0.05f + kHeightOfBox / 2, 390 * GetParam())).value();
  EXPECT_LT(largest_rise(world, 240), 0.02);  // what has sunk in by millimetres is lifted again
  EXPECT_NEAR(world.state(above)->world_from_body.position.y, 2 * kFlat + kHeightOfBox / 2, 2e-3f);
  EXPECT_NEAR(world.state(below)->world_from_body.position.y, kFlat, 2e-3f);
  EXPECT_LT(length(world.state(above)->velocity), 1e-3f);
}

INSTANTIATE_TEST_SUITE_P(TimesTheBody, LayeredCores, testing::Values(100.0f, 1000.0f, 10000.0f, 100000.0f));

TEST(LayeredCore, TwoCarryAThousandTimesTheirWeight) {
  World world;
  world.add(GroundDef{});
  world.add(ring(kTube, 3e4f)).value();
  const BodyId upper = world.add(ring(3 * kTube, 3e4f)).value();
  const BodyId above = world.add(box(4 * kTube + 0.05f + kHeightOfBox / 2, 4e5f)).value();
  EXPECT_LT(largest_rise(world, 240), 0.02);
  EXPECT_NEAR(world.state(above)->world_from_body.position.y, 4 * kFlat + kHeightOfBox / 2, 5e-3f);
  EXPECT_NEAR(world.state(upper)->world_from_body.position.y, 3 * kFlat, 5e-3f);
  EXPECT_LT(length(world.state(above)->velocity), 1e-2f);
}

TEST(LayeredCore, CarriesASolid) {
  World world;
  world.add(GroundDef{});
  world.add(ring(kTube, 1e5f)).value();
  SolidDef block;
  block.mesh = tet_box({1.5f, 0.3f, 1.5f}, 8, 2, 8);
  block.material.young_modulus = 1e8f;
  block.material.density = 4e4f / 0.675f;
  block.position = {0, 2 * kTube + 0.05f + 0.15f, 0};
  const BodyId above = world.add(block).value();
  EXPECT_LT(largest_rise(world, 240), 0.01);
  const BodyState state = world.state(above).value();
  EXPECT_NEAR(state.center_of_mass.y, 2 * kFlat + 0.15f, 0.01f);
  EXPECT_LT(length(state.velocity), 1e-2f);
}

/// Thin and soft skins of balls that fall from a metre: they are flat within a step.
TEST(LayeredCore, ASkinThatIsPressedFlatInOneStepThrowsNothingUp) {
  for (const float young_modulus : {1e3f, 1e4f, 1e5f}) {
    for (const float thickness : {0.02f, 0.08f}) {
      World world;
      world.add(GroundDef{});
      LayeredDef def;
      def.atlas = atlas_sphere(0.3f, 12);
      def.material.young_modulus = young_modulus;
      def.material.stiffness_damping = 0.002f;
      def.thickness = thickness;
      def.position = {0, 1.3f, 0};
      world.add(def).value();
      EXPECT_LT(largest_rise(world, 120), 0.005) << young_modulus << " Pa, " << thickness << " m";
    }
  }
}

}  // namespace
}  // namespace pliant
