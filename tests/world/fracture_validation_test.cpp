// The load at which things break, against closed forms, for meshes of several sizes.
//
// Without gravity; loads grow so slowly that inertia plays no part.
#include <cmath>
#include <functional>
#include <numbers>

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

}  // namespace
}  // namespace pliant
