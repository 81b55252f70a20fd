// Soft solids that are hit hard: nothing gains energy, and momentum is kept.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "pliant/pliant.h"

namespace pliant {
namespace {

double energy_of(const StepReport& report) {
  return report.kinetic_energy + report.potential_energy + report.elastic_energy;
}

class Strike {
 public:
  explicit Strike(unsigned seed) : random_(seed) {
    SolidDef rubber{.mesh = tet_box({within(0.5f, 1), within(0.5f, 1), within(0.5f, 1)}, 0.15f),
                    .material = material::rubber(),
                    .position = {0, within(-0.3f, 0.3f), within(-0.3f, 0.3f)},
                    .rotation = Quat::axis_angle(direction(), within(0, 3))};
    world_.add(rubber).value();
    RigidDef body{.density = std::pow(10.0f, within(2, 3.9f)),
                  .position = {-1.4f, 0, 0},
                  .rotation = Quat::axis_angle(direction(), within(0, 3)),
                  .velocity = {within(4, 12), 0, 0},
                  .angular_velocity = direction() * within(0, 4)};
    if (random_() % 2 == 0) {
      body.shape = Sphere{0.5f};
    } else {
      body.shape = Box{{within(0.3f, 1), within(0.3f, 1), within(0.3f, 1)}};
    }
    world_.add(body).value();
    world_.commit_edits();
  }
  World& world() { return world_; }

 private:
  float within(float low, float high) { return std::uniform_real_distribution<float>(low, high)(random_); }
  Vec3 direction() { return normalized(Vec3{within(-1, 1), within(-1, 1), within(-1, 1) + 1e-3f}); }

  std::mt19937 random_;
  World world_{WorldDef{.gravity = {}, .substeps = 4}};  // as cloth anywhere in the world would have it
};

// Rubber hardly changes its volume: its rounds of contact take many iterations.
TEST(SolidsStruck, RubberInShortSubstepsGainsNoEnergyAndKeepsMomentum) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    Strike strike(seed);
    const StepReport start = strike.world().step();
    for (int i = 0; i < 40; ++i) {
      const StepReport& report = strike.world().step();
      ASSERT_EQ(report.quarantined, 0u) << "strike " << seed << ", step " << i;
      ASSERT_LT(energy_of(report), 1.02 * energy_of(start)) << "strike " << seed << ", step " << i;
      for (std::size_t k = 0; k < 3; ++k) {
        ASSERT_NEAR(report.linear_momentum[k], start.linear_momentum[k], 1e-3 * std::abs(start.linear_momentum[0]))
            << "strike " << seed << ", step " << i;
      }
    }
  }
}

// Without gravity nothing pushes a rigid body but what it touches: that is what its residual must be measured by.
TEST(SolidsStruck, WithoutGravityContactsAreSolvedToTheEnd) {
  World world({.gravity = {}});
  const BodyId cube =
      world.add(SolidDef{.mesh = tet_box({0.5f, 0.5f, 0.5f}, 0.1f), .material = material::flesh()}).value();
  world.add(RigidDef{.shape = Sphere{0.2f}, .density = 1000, .position = {-0.5f, 0.1f, 0}, .velocity = {3, 0, 0}})
      .value();
  std::size_t unconverged = 0;
  for (int i = 0; i < 60; ++i) unconverged += world.step().unconverged_solids;
  EXPECT_GT(world.state(cube)->velocity.x, 0.1f);
  EXPECT_LE(unconverged, 3u);  // the blow itself; every step of contact was
}

// Jelly is crushed to nothing under a block of oak, and some of its nodes come to be inside that: contacts that push
// them to the wrong sides must not strain it more and more.
TEST(SolidsStruck, JellyThatIsEntangledWithOakIsNotStrainedMoreAndMore) {
  World world;
  world.add(GroundDef{}).value();
  world
      .add(
          SolidDef{.mesh = tet_box({0.8f, 0.4f, 0.8f}, 0.1f), .material = material::jelly(), .position = {0, 0.21f, 0}})
      .value();
  world
      .add(SolidDef{.mesh = tet_box({0.5f, 0.5f, 0.5f}, 0.125f),
                    .material = material::oak(),
                    .position = {0.05f, 1, 0.02f},
                    .velocity = {0, -6, 0}})
      .value();
  const double start = energy_of(world.step());
  double lowest = start;
  for (int i = 0; i < 360; ++i) {
    const double now = energy_of(world.step());
    lowest = std::min(lowest, now);
    ASSERT_LT(now, lowest + 0.05 * start) << "step " << i;
  }
}

TEST(SolidsStruck, SolidsThatBeginInEachOtherPartWithinSeconds) {
  World world;
  world.add(GroundDef{}).value();
  SolidDef cube{.mesh = tet_box({0.5f, 0.5f, 0.5f}, 0.1f),
                .material = {.density = 500, .young_modulus = 2e5f, .poisson_ratio = 0.3f},
                .position = {0, 0.25f, 0}};
  world.add(cube).value();
  cube.position = {0.03f, 0.67f, 0.02f};
  world.add(cube).value();
  for (int i = 0; i < 90; ++i) world.step();
  EXPECT_LT(world.report().max_penetration, 1e-3f);
}

}  // namespace
}  // namespace pliant
