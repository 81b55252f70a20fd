// Hertz: a rigid sphere pressed on a soft block, whose contact is much smaller than both.
#include <cmath>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

/// Cells that grow from the middle of the upper side, where they are finest, to the others.
TetMesh graded_block(float half_width, float depth, int cells, int layers, float finest) {
  TetMesh mesh = tet_box({2, 1, 2}, 2 * cells, layers, 2 * cells);
  const auto graded = [&](float share, float reach, int count) {
    // finest · share · count, plus what is missing at the end as a power.
    const float steps = share * float(count), rest = reach - finest * float(count);
    return finest * steps + rest * std::pow(share, 3.0f);
  };
  for (Vec3& p : mesh.nodes) {
    p.x = std::copysign(graded(std::abs(p.x), half_width, cells), p.x);
    p.z = std::copysign(graded(std::abs(p.z), half_width, cells), p.z);
    p.y = -graded(0.5f - p.y, depth, layers);
  }
  return mesh;
}

TEST(Hertz, ARigidSphereSinksIntoASoftBlock) {
  constexpr float kRadius = 0.1f, kForce = 10, kYoung = 1e6f, kPoisson = 0.3f;
  World world({.gravity = {0, -10, 0}, .allow_sleep = false});
  SolidDef block{.mesh = graded_block(0.12f, 0.12f, 12, 12, 1.5e-3f),
                 .material = {.density = 1000, .young_modulus = kYoung, .poisson_ratio = kPoisson},
                 .friction = 0,
                 .gravity_scale = 0};
  block.held = {{.nodes = NodeHalfSpace{{0, -1, 0}, 0.1199f}}};
  world.add(block).value();
  const BodyId ball =
      world.add(RigidDef{.shape = Sphere{kRadius}, .position = {0, kRadius, 0}, .mass = kForce / 10, .friction = 0})
          .value();
  for (int i = 0; i < 40; ++i) world.step();
  const float sunk = kRadius - world.state(ball)->center_of_mass.y;
  const float modulus = kYoung / (1 - kPoisson * kPoisson);
  const float expected = std::cbrt(9 * kForce * kForce / (16 * modulus * modulus * kRadius));  // 7.75e-4 m
  RecordProperty("sunk_mm", std::to_string(1000 * sunk));
  EXPECT_NEAR(expected, 7.75e-4f, 1e-6f);
  EXPECT_NEAR(sunk, expected, 0.1f * expected);
  EXPECT_LT(length(world.state(ball)->velocity), 1e-4f);
}

}  // namespace
}  // namespace pliant
