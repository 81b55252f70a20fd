// The load at which things break, against closed forms, for meshes of several sizes.
//
// Without gravity; loads grow so slowly that inertia plays no part.
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "pliant/pliant.h"

namespace pliant {
namespace {

constexpr float kStrength = 1e5f, kYoung = 2e7f;

SolidMaterial brittle(float poisson) {
  SolidMaterial material;
  material.young_modulus = kYoung;
  material.poisson_ratio = poisson;
  material.strength = kStrength;
  // Calm against ringing.
  material.mass_damping = 5;
  material.stiffness_damping = 0.01f;
  return material;
}

struct FirstCrack {
  float load = 0;  ///< share of what the formula says
  Crack crack{};
};

/// Steps of growing load until the body cracks: `push(world, body, share)` applies that share of what should break it.
FirstCrack find_first_crack(const SolidDef& def, const std::function<void(World&, BodyId, float)>& push) {
  World world(WorldDef{.gravity = {}, .threads = 1});
  const BodyId body = world.add(def).value();
  for (int i = 0; i < 160; ++i) {
    const float share = 0.01f * static_cast<float>(i);
    push(world, body, share);
    world.step();
    EXPECT_TRUE(world.report().errors.empty());
    if (!world.events().cracks.empty()) return {share, world.events().cracks[0]};
  }
  return {};
}

/// A force spread evenly over some nodes.
void spread(World& world, BodyId body, const NodeSelection& nodes, Vec3 force) {
  const auto count = static_cast<float>(world.select_nodes(body, nodes)->size());
  ASSERT_TRUE(world.apply_node_force(body, nodes, force / count));
}

TEST(FractureLoad, ABarInTensionBreaksAtItsStrength) {
  for (const int cells : {2, 3, 5}) {
    const SolidDef def{.mesh = tet_box({1, 0.25f, 0.25f}, 4 * cells, cells, cells), .material = brittle(0.3f)};
    const FirstCrack first = find_first_crack(def, [](World& world, BodyId body, float share) {
      for (const float side : {-1.0f, 1.0f}) {
        ASSERT_TRUE(world.apply_pressure(body, -share * kStrength, NodeHalfSpace{{side, 0, 0}, 0.499f}));
      }
    });
    EXPECT_NEAR(first.load, 1, 0.1f) << cells << " cells";
    EXPECT_GT(std::abs(first.crack.normal.x), 0.95f);
  }
}

TEST(FractureLoad, ABentBeamBreaksBelowTheLoad) {
  constexpr float kSpan = 1, kHeight = 0.2f, kWidth = 0.1f;
  for (const int cells : {4, 6, 8}) {
    const int along = 6 * cells, across = cells / 2;
    const float cell = kHeight / static_cast<float>(cells);
    SolidDef def{.mesh = tet_box({1.2f, kHeight, kWidth}, along, cells, across), .material = brittle(0.2f)};
    // σ = 3 P L / (2 b h²).
    const float load = kStrength * 2 * kWidth * kHeight * kHeight / (3 * kSpan);
    const auto line = [&](float x, float y) {
      return NodeBox{{{x - 0.5f * cell, y - 0.01f, -1}, {x + 0.5f * cell, y + 0.01f, 1}}};
    };
    // Held below the press, pushed at the supports: free of what rollers and friction add.
    def.held = {{.nodes = line(0, kHeight / 2)}};
    const FirstCrack first = find_first_crack(def, [&](World& world, BodyId body, float share) {
      for (const float side : {-0.5f, 0.5f}) {
        spread(world, body, line(side * kSpan, -kHeight / 2), {0, share * load / 2, 0});
      }
    });
    EXPECT_NEAR(first.load, 1, 0.15f) << cells << " cells over the height";
    EXPECT_LT(std::abs(first.crack.position.x), 1.5f * cell) << "below the load";
    EXPECT_LT(first.crack.position.y, 0) << "where it is pulled";
    EXPECT_GT(std::abs(first.crack.normal.x), 0.9f);
  }
}

TEST(FractureLoad, ABrazilianDiskBreaksFromItsCentre) {
  constexpr float kRadius = 0.5f, kThickness = 0.2f;
  for (const float cell : {0.1f, 0.07f, 0.05f}) {
    SolidDef def{.mesh = tet_cylinder(kRadius, kThickness, cell), .material = brittle(0.2f)};
    const NodeHalfSpace left{{-1, 0, 0}, 0.975f * kRadius}, right{{1, 0, 0}, 0.975f * kRadius};
    def.held = {{.nodes = left}, {.nodes = right}};
    // σ = 2 P / (π D t) along the line between the plates, which go together by 0.3 mm in a step.
    const float load = kStrength * std::numbers::pi_v<float> * kRadius * kThickness;
    World world(WorldDef{.gravity = {}, .threads = 1});
    const BodyId body = world.add(def).value();
    float reached = 0;
    for (int i = 0; i < 300 && world.events().cracks.empty(); ++i) {
      reached = std::abs(world.held_force(body, left)->x);
      ASSERT_TRUE(world.drive(body, right, Vec3{-0.018f, 0, 0}));
      world.step();
    }
    ASSERT_FALSE(world.events().cracks.empty());
    const Crack first = world.events().cracks[0];
    EXPECT_NEAR(reached / load, 1, 0.15f) << "cells of " << cell << " m";
    EXPECT_LT(std::abs(first.position.x), 0.5f * kRadius) << "between the plates";
    EXPECT_LT(std::abs(first.position.z), 1.5f * cell) << "on the line between the plates";
    EXPECT_GT(std::abs(first.normal.z), 0.9f);
  }
}

TEST(FractureLoad, ANotchedPlateCracksFromTheTip) {
  for (const int cells : {10, 16, 24}) {
    SolidDef def{.mesh = tet_box({1, 1, 0.1f}, cells, cells, 1), .material = brittle(0.2f)};
    const float cell = 1 / static_cast<float>(cells);
    // A slot of one cell from the left to a third of the width.
    std::erase_if(def.mesh.tets, [&](const Tet& tet) {
      Vec3 center;
      for (const std::uint32_t node : tet) center += def.mesh.nodes[node] / 4;
      return center.x < -0.2f && center.y > 0 && center.y < cell;
    });
    const FirstCrack first = find_first_crack(def, [](World& world, BodyId body, float share) {
      for (const float side : {-1.0f, 1.0f}) {
        ASSERT_TRUE(world.apply_pressure(body, -share * kStrength, NodeHalfSpace{{0, side, 0}, 0.499f}));
      }
    });
    EXPECT_GT(first.load, 0);
    EXPECT_LT(first.load, 0.7f) << "the notch weakens it";
    EXPECT_NEAR(first.crack.position.x, -0.2f, 1.6f * cell);
    EXPECT_NEAR(first.crack.position.y, 0.5f * cell, 1.1f * cell);
  }
}

TEST(FractureSpeed, ACrackIsSlowerThanRayleighWaves) {
  // A strip that is stretched between two held edges: what drives the crack is the same all along its way. The steps
  // are so short that a crack that opened a cell in each would be five times as fast.
  constexpr float kDensity = 1000, kSoft = 1e6f, kPoisson = 0.25f, kStrain = 0.05f;
  const float shear_wave = std::sqrt(kSoft / (2 * (1 + kPoisson)) / kDensity);
  const float rayleigh = shear_wave * (0.862f + 1.14f * kPoisson) / (1 + kPoisson);  // Viktorov 1967
  for (const int cells : {10, 16}) {
    const float cell = 1 / static_cast<float>(cells), dt = 0.2f * cell / rayleigh;
    SolidDef def{.mesh = tet_box({2, 1, cell}, 2 * cells, cells, 1)};
    def.material = {.density = kDensity, .young_modulus = kSoft, .poisson_ratio = kPoisson};
    def.material.strength = 2.2f * kSoft * kStrain;
    std::erase_if(def.mesh.tets, [&](const Tet& tet) {
      Vec3 center;
      for (const std::uint32_t node : tet) center += def.mesh.nodes[node] / 4;
      return center.x < -0.7f && center.y > 0 && center.y < cell;
    });
    def.stretch = {1, 1 + kStrain, 1};
    def.held = {{.nodes = NodeHalfSpace{{0, 1, 0}, 0.499f}}, {.nodes = NodeHalfSpace{{0, -1, 0}, 0.499f}}};
    World world(WorldDef{.gravity = {}, .dt = dt, .threads = 1});
    world.add(def).value();
    float tip = -0.7f, began_at = 0;
    double began = 0, ended = 0;
    for (int i = 0; i < 40 * cells && tip < 0.7f; ++i) {
      world.step();
      for (const Crack& crack : world.events().cracks) {
        if (std::abs(crack.position.y) < 3 * cell) tip = std::max(tip, crack.position.x);
      }
      if (tip > -0.4f && began == 0) began = world.time(), began_at = tip;
      ended = world.time();
    }
    ASSERT_GE(tip, 0.7f) << "it runs through";
    const float speed = (tip - began_at) / static_cast<float>(ended - began);
    EXPECT_LT(speed, rayleigh) << cells << " cells";
    EXPECT_GT(speed, 0.1f * rayleigh) << cells << " cells";
    RecordProperty("speed_over_rayleigh_" + std::to_string(cells), std::to_string(speed / rayleigh));
  }
}

}  // namespace
}  // namespace pliant
