// The gas in closed cloth against Boyle's and Laplace's laws.
#include <cmath>

#include <gtest/gtest.h>

#include "pliant/pliant.h"

namespace pliant {
namespace {

/// A box of 0.2 m x 0.3 m x 0.2 m without nodes between its lid and its bottom: its walls fold without resistance.
TriMesh bellows() {
  TriMesh mesh;
  for (const float y : {0.0f, 0.3f}) {
    for (const Vec3 corner : {Vec3{-0.1f, y, -0.1f}, Vec3{0.1f, y, -0.1f}, Vec3{0.1f, y, 0.1f}, Vec3{-0.1f, y, 0.1f}}) {
      mesh.vertices.push_back(corner);
    }
  }
  mesh.faces = {{0, 1, 2}, {0, 2, 3}, {4, 6, 5}, {4, 7, 6}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t j = (i + 1) % 4;
    mesh.faces.push_back({i, i + 4, j + 4}), mesh.faces.push_back({i, j + 4, j});
  }
  return mesh;
}

TEST(Gas, UnderAPistonHasTheVolumeThatBoylesLawGives) {
  for (const float mass : {1.0f, 4.0f, 8.0f}) {
    World world({.allow_sleep = false});
    ClothMaterial material;
    material.density = 5, material.damping = 30;
    material.shear_stiffness = 0, material.bend_stiffness = 0;
    ClothDef def{.shape = bellows(), .material = material};
    def.pressure = 1, def.outside_pressure = 1000;
    def.gravity_scale = 0;
    def.held = {{.nodes = NodeHalfSpace{{0, -1, 0}, -0.01f}}};
    def.filter = {.category = 2, .mask = 0};
    const BodyId cloth = *world.add(def);
    const BodyId piston =
        *world.add(RigidDef{.shape = Box{{0.2f, 0.02f, 0.2f}}, .position = {0, 0.31f, 0}, .mass = mass});
    world.add(JointDef{.kind = JointKind::Slider, .b = piston, .anchor = {0, 0.31f, 0}, .axis = {0, 1, 0}});
    world.add(AnchorDef{.body = cloth, .nodes = NodeHalfSpace{{0, 1, 0}, 0.29f}, .to = piston});
    for (int i = 0; i < 600; ++i) world.step();
    const double area = 0.04, weight = static_cast<double>(mass) * 9.81;
    const double height = 0.3 * 1001 / (1000 + weight / area);
    EXPECT_NEAR(static_cast<double>(world.state(piston)->center_of_mass.y) - 0.01, height, 0.01 * height) << mass;
    EXPECT_NEAR(static_cast<double>(world.gas(cloth)->pressure), weight / area, 0.02 * weight / area) << mass;
  }
}

TEST(Gas, InABalloonHasTheExcessThatTheSkinsTensionGives) {
  // Cut a sphere in two: the excess on the disc is the pull of the skin round it, p π r² = 2 π r T. The skin's pull is
  // read from what holds one half: nothing else does.
  World world({.gravity = {}, .allow_sleep = false});
  ClothMaterial material = cloth_material::rubber_sheet();
  material.damping = 5;
  const BodyId balloon = *world.add(ClothDef{.shape = tri_sphere(0.3f, 24), .material = material, .pressure = 300});
  const float rest = world.gas(balloon)->volume;
  for (int i = 0; i < 240; ++i) world.step();
  const GasState gas = *world.gas(balloon);
  // It grows until the skin holds the excess, but by little: the whole pressure is 300 times the excess.
  EXPECT_GT(gas.volume, rest);
  EXPECT_LT(gas.volume, 1.003f * rest);
  // p V of the whole pressure stays what it was.
  EXPECT_NEAR((gas.pressure + 101325) * gas.volume, 101625 * rest, 1e-4f * 101625 * rest);
  EXPECT_GT(gas.pressure, 0);
  float fastest = 0;
  for (const Vec3& v : *world.node_velocities(balloon)) fastest = std::max(fastest, length(v));
  EXPECT_LT(fastest, 0.05f);
}

TEST(Gas, KeepsABalloonsVolumeUnderAWeight) {
  World world({.allow_sleep = false});
  world.add(GroundDef{});
  const BodyId balloon = *world.add(ClothDef{.shape = tri_sphere(0.3f, 24),
                                             .material = cloth_material::rubber_sheet(),
                                             .position = {0, 0.3f, 0},
                                             .pressure = 300});
  const float rest = world.gas(balloon)->volume;
  world.add(RigidDef{.shape = Box{{0.6f, 0.05f, 0.6f}}, .position = {0, 0.65f, 0}, .mass = 2.0f});
  for (int i = 0; i < 300; ++i) {
    world.step();
    ASSERT_NEAR(world.gas(balloon)->volume, rest, 0.03f * rest) << i;
  }
  EXPECT_EQ(world.report().quarantined, 0u);
}

}  // namespace
}  // namespace pliant
