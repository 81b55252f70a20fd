// Coulomb friction of solids: braking, slopes and grips.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

constexpr float kGravity = 9.81f;

void step(World& world, int steps) {
  for (int i = 0; i < steps; ++i) world.step();
}

SolidDef plate(float friction, float young_modulus) {
  return {.mesh = tet_box({0.6f, 0.15f, 0.4f}, 0.075f),
          .material = {.density = 800, .young_modulus = young_modulus, .poisson_ratio = 0.3f},
          .position = {0, 0.075f, 0},
          .friction = friction};
}

TEST(SolidFriction, ALaunchedSolidIsBrakedByMuG) {
  for (const float young : {3e5f, 1e7f}) {
    for (const float friction : {0.2f, 0.4f}) {
      World world({.allow_sleep = false});
      world.add(GroundDef{.friction = friction}).value();
      SolidDef def = plate(friction, young);
      def.material.stiffness_damping = 0.01f;
      def.velocity = {2, 0, 0};
      const BodyId body = world.add(def).value();
      step(world, 6);
      const float before = world.state(body)->velocity.x;
      step(world, 18);
      const float braking = (before - world.state(body)->velocity.x) / 0.3f;
      EXPECT_NEAR(braking, friction * kGravity, 0.02f * friction * kGravity) << young << " Pa, " << friction;
      // Then it stops, after v² / (2 μ g), less v dt / 2 by backward Euler, and stays.
      step(world, 150);
      const float way = world.state(body)->center_of_mass.x, expected = 4 / (2 * friction * kGravity) - 1.0f / 60;
      EXPECT_NEAR(way, expected, 0.03f * expected) << young << " Pa, " << friction;
      step(world, 60);
      EXPECT_NEAR(world.state(body)->center_of_mass.x, way, 1e-4f) << young << " Pa, " << friction;
    }
  }
}

// Gravity leans by 26.565°, whose tangent is 1/2.
TEST(SolidFriction, ASolidOnASlopeHoldsOrSlidesAsMuSays) {
  const float angle = std::atan(0.5f);
  for (const float young : {3e5f, 1e7f}) {
    for (const float friction : {0.48f, 0.52f}) {
      World world({.gravity = {kGravity * std::sin(angle), -kGravity * std::cos(angle), 0}, .allow_sleep = false});
      world.add(GroundDef{.friction = friction}).value();
      SolidDef def = plate(friction, young);
      def.material.stiffness_damping = 0.01f;
      const BodyId body = world.add(def).value();
      step(world, 60);
      const Vec3 start = world.state(body)->center_of_mass;
      const float speed = world.state(body)->velocity.x;
      step(world, 180);
      const float way = world.state(body)->center_of_mass.x - start.x;
      if (friction > 0.5f) {
        EXPECT_LT(std::abs(way), 1e-4f) << young;
      } else {
        const float pull = kGravity * (std::sin(angle) - friction * std::cos(angle));
        EXPECT_NEAR(way, 3 * speed + 4.5f * pull, 0.1f * way) << young;
        EXPECT_GT(way, 0.6f) << young;
      }
    }
  }
}

// Two fingers press on a cube of which friction can hold several times the weight, lift it, and hold it for a minute.
TEST(SolidFriction, AGripHoldsForAMinute) {
  World world({.allow_sleep = false});
  world.add(GroundDef{}).value();
  const BodyId cube = world
                          .add(SolidDef{.mesh = tet_box({0.3f, 0.3f, 0.3f}, 0.075f),
                                        .material = {.density = 500, .young_modulus = 2e5f, .poisson_ratio = 0.4f},
                                        .position = {0, 0.15f, 0},
                                        .friction = 0.8f})
                          .value();
  std::vector<BodyId> fingers;
  for (const float side : {-1.0f, 1.0f}) {
    RigidDef finger{.shape = Box{{0.04f, 0.26f, 0.2f}}, .motion = Motion::Kinematic, .friction = 0.8f};
    finger.position = {side * 0.172f, 0.17f, 0};
    fingers.push_back(world.add(finger).value());
  }
  const auto move = [&](float closed, float lifted) {
    for (std::size_t i = 0; i < 2; ++i) {
      const float side = i == 0 ? -1.0f : 1.0f;
      ASSERT_TRUE(world.move_to(fingers[i], {{side * (0.172f - closed), 0.17f + lifted, 0}, {}}).ok());
    }
    world.step();
  };
  for (int i = 1; i <= 60; ++i) move(0.015f * float(i) / 60, 0);
  for (int i = 1; i <= 60; ++i) move(0.015f, 0.5f * float(i) / 60);
  for (int i = 0; i < 60; ++i) move(0.015f, 0.5f);
  // The nodes of the grip: those at the fingers' middle.
  const auto grip = [&] {
    const std::span<const Vec3> nodes = world.node_positions(cube).value();
    Vec3 sum;
    float count = 0;
    const TetMesh& mesh = (*world.solid_def(cube))->mesh;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Vec3 rest = mesh.nodes[i];
      if (std::abs(rest.x) > 0.149f && std::abs(rest.y) < 0.08f && std::abs(rest.z) < 0.08f) sum += nodes[i], ++count;
    }
    return sum / count;
  };
  const Vec3 before = grip(), center = world.state(cube)->center_of_mass;
  EXPECT_GT(center.y, 0.6f);
  float fastest = 0;
  for (int i = 0; i < 3600; ++i) {
    world.step();
    fastest = std::max(fastest, length(world.state(cube)->velocity));
  }
  RecordProperty("slip_mm", std::to_string(1000 * length(grip() - before)));
  EXPECT_LT(length(grip() - before), 1e-3f);
  EXPECT_LT(length(world.state(cube)->center_of_mass - center), 1e-3f);
  EXPECT_LT(fastest, 0.05f);
}

struct SoftGround {
  World world{{.gravity = {0, -kGravity, 0}, .allow_sleep = false}};
  BodyId box{};

  /// A light rigid box that moves over a soft slab of coarse cells, whose nodes stand in its way.
  SoftGround(float cell, float friction, float speed) {
    world.add(GroundDef{}).value();
    world
        .add(SolidDef{.mesh = tet_box({4, 0.3f, 1}, cell),
                      .material = {.density = 1000, .young_modulus = 1e6f, .poisson_ratio = 0.3f},
                      .position = {0, 0.15f, 0},
                      .friction = friction})
        .value();
    box = world
              .add(RigidDef{.shape = Box{{0.2f, 0.1f, 0.2f}},
                            .density = 500,
                            .position = {-1.4f, 0.35f, 0},
                            .velocity = {speed, 0, 0},
                            .friction = friction})
              .value();
  }
};

TEST(SolidFriction, ABoxDoesNotCatchOnTheNodesOfASoftGround) {
  for (const float speed : {1.0f, 4.0f}) {
    SoftGround scene(0.1f, 0, speed);
    step(scene.world, static_cast<int>(60 * 2 / speed));
    EXPECT_GT(scene.world.state(scene.box)->velocity.x, 0.95f * speed) << speed << " m/s";
    EXPECT_NEAR(scene.world.state(scene.box)->center_of_mass.y, 0.35f, 0.005f) << speed << " m/s";
  }
}

TEST(SolidFriction, ABoxOnASoftGroundIsBrakedByMuG) {
  for (const float cell : {0.1f, 0.06f}) {
    SoftGround scene(cell, 0.6f, 4);
    std::size_t unconverged = 0;
    for (int i = 0; i < 60; ++i) {
      scene.world.step();
      unconverged += scene.world.report().unconverged_solids;
    }
    const float way = scene.world.state(scene.box)->center_of_mass.x + 1.4f;
    const float expected = 16 / (2 * 0.6f * kGravity) - 2.0f / 60;
    EXPECT_NEAR(way, expected, 0.05f * expected) << cell << " m";
    EXPECT_LE(unconverged, 3u) << cell << " m";
  }
}

}  // namespace
}  // namespace pliant
