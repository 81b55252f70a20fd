// Energy that was not there does not appear: in splinters that spin by radians a step, alone and beside others.
//
// The oracle is conservation: nothing acts from outside, so kinetic and elastic energy together may only become less.
#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "pliant/pliant.h"

namespace pliant {
namespace {

/// Three tets in a row, as a blow leaves them: of 1 kg.
TetMesh splinter() {
  TetMesh mesh;
  mesh.nodes = {{0, 0, 0}, {0.15f, 0, 0}, {0, 0.15f, 0}, {0, 0, 0.15f}, {0.15f, 0.15f, 0.1f}, {0.1f, 0.2f, 0.2f}};
  mesh.tets = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}};
  for (Tet& tet : mesh.tets) {
    const Vec3 a = mesh.nodes[tet[0]];
    const Vec3 normal = cross(mesh.nodes[tet[1]] - a, mesh.nodes[tet[2]] - a);
    if (dot(normal, mesh.nodes[tet[3]] - a) < 0) std::swap(tet[2], tet[3]);
  }
  return mesh;
}

SolidDef spinning(Vec3 position, float speed, float young_modulus) {
  SolidDef def{.mesh = splinter(), .position = position, .angular_velocity = Vec3{0.3f, 1, 0.2f} * speed};
  def.material.young_modulus = young_modulus;
  return def;
}

/// The most energy that the world has in so many steps, over what it has at first.
double largest_gain(World& world, int steps) {
  world.commit_edits();
  double first = 0, most = 0;
  for (int i = 0; i < steps; ++i) {
    world.step();
    const double energy = world.report().kinetic_energy + world.report().elastic_energy;
    if (i == 0) first = energy;
    most = std::max(most, energy);
    EXPECT_EQ(world.report().quarantined, 0u);
  }
  return most / first;
}

struct Spin {
  float speed;  ///< rad/s
  float young_modulus;
};

class SpinningSplinters : public ::testing::TestWithParam<Spin> {};

TEST_P(SpinningSplinters, GainNothingInFlight) {
  World world(WorldDef{.gravity = {}});
  world.add(spinning({}, GetParam().speed, GetParam().young_modulus)).value();
  EXPECT_LT(largest_gain(world, 300), 1.05);
}

/// Near enough to be solved together, and to touch now and then.
TEST_P(SpinningSplinters, GainNothingBesideEachOther) {
  World world(WorldDef{.gravity = {}});
  for (int i = 0; i < 4; ++i) {
    const float x = 0.28f * static_cast<float>(i);
    world.add(spinning({x, 0, 0}, i % 2 == 0 ? GetParam().speed : 0, GetParam().young_modulus)).value();
  }
  EXPECT_LT(largest_gain(world, 300), 1.05);
}

INSTANTIATE_TEST_SUITE_P(Speeds, SpinningSplinters,
                         ::testing::Values(Spin{60, 1e6f}, Spin{200, 1e6f}, Spin{600, 1e6f}, Spin{200, 3e5f},
                                           Spin{600, 1e7f}, Spin{2000, 1e7f}));

}  // namespace
}  // namespace pliant
