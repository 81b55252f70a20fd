// One solid that comes apart: what the moment of breaking keeps, and which nodes break.
#include "solid/solid_fracture.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "solid/solid_engine.h"
#include "solid/solid_support.h"

namespace pliant {
namespace {

SolidDef brittle_bar(float strength) {
  SolidDef def{.mesh = tet_box({2, 0.4f, 0.4f}, 20, 4, 4), .material = elastic(1e6f, 0.3f)};
  def.material.strength = strength;
  return def;
}

/// Where a bar cracks that is stretched by `stretch` along X at once.
std::vector<Crack> cracks_of(const SolidDef& def, Vec3 stretch) {
  Rig rig(def);
  for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) {
    rig.body.set_position(n, multiply_each(rig.mesh().nodes[n], stretch));
  }
  rig.body.assemble(rig.workers, kStep);
  SolidFracture fracture(rig.body.def());
  std::vector<Crack> cracks;
  fracture.run(rig.workers, rig.body, {}, cracks);
  return cracks;
}

struct Sums {
  double kinetic = 0, potential = 0, elastic = 0;
  double linear[3] = {}, angular[3] = {};
};
Sums sums_of(const SolidEngine& engine) {
  Sums s;
  engine.add_momenta({}, s.kinetic, s.potential, s.linear, s.angular);
  s.elastic = engine.elastic_energy();
  return s;
}

TEST(SolidFracture, BreakingKeepsMassMomentumAndEnergy) {
  Workers workers(1);
  SolidEngine engine(workers);
  SolidDef def = brittle_bar(1e4f);
  def.stretch = {1.05f, 0.99f, 1.01f};
  def.velocity = {3, -1, 2};
  def.angular_velocity = {5, 3, -4};
  engine.add_body({0, 1}, std::make_unique<SolidBody>(std::make_shared<const SolidDef>(def)));
  std::uint32_t next = 1;
  std::vector<Crack> cracks;
  for (int round = 0; round < 6; ++round) {
    engine.predict({}, kStep);
    engine.fracture(cracks);
    const Sums before = sums_of(engine);
    for (auto& fragment : engine.break_up()) {
      if (!fragment.stays) engine.add_fragment({next++, 1}, fragment);
    }
    const Sums after = sums_of(engine);
    EXPECT_NEAR(after.kinetic, before.kinetic, 1e-6 * before.kinetic);
    EXPECT_NEAR(after.elastic, before.elastic, 1e-5 * before.elastic);
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(after.linear[k], before.linear[k], 1e-5 * 320 * 3);
      EXPECT_NEAR(after.angular[k], before.angular[k], 1e-4);
    }
    double mass = 0;
    for (const std::uint32_t slot : engine.slots()) mass += engine.body(slot).mass();
    EXPECT_NEAR(mass, 320, 1e-3);
  }
  EXPECT_GT(cracks.size(), 10u);
  EXPECT_GT(engine.slots().size(), 1u);
}

TEST(SolidFracture, AnEvenlyPulledBarDoesNotBreakEverywhere) {
  const SolidDef def = brittle_bar(1e4f);
  const std::vector<Crack> cracks = cracks_of(def, {1.02f, 1, 1});
  // Every inner node is beyond its strength; but none breaks right before or behind one that has broken.
  ASSERT_FALSE(cracks.empty());
  EXPECT_LT(cracks.size(), def.mesh.nodes.size() / 2);
  for (const Crack& a : cracks) {
    for (const Crack& b : cracks) {
      const Vec3 way = a.position - b.position;
      const bool is_in_line = &a != &b && std::abs(way.y) < 0.01f && std::abs(way.z) < 0.01f;
      EXPECT_FALSE(is_in_line && std::abs(way.x) < 0.15f) << a.position.x << " and " << b.position.x;
    }
  }
}

TEST(SolidFracture, OtherSeedsBreakOtherwiseAndTheSameSeedTheSame) {
  const auto places = [](std::uint64_t seed) {
    SolidDef def = brittle_bar(1e4f);
    def.fracture.seed = seed;
    std::vector<float> out;
    for (const Crack& crack : cracks_of(def, {1.02f, 1, 1})) out.push_back(crack.position.x);
    return out;
  };
  EXPECT_EQ(places(1), places(1));
  EXPECT_NE(places(1), places(2));
}

TEST(SolidFracture, SplitsPerStepAreLimited) {
  SolidDef def = brittle_bar(1e4f);
  def.fracture.max_splits = 5;
  EXPECT_EQ(cracks_of(def, {1.05f, 1.05f, 1.05f}).size(), 5u);
}

TEST(SolidFracture, WhatNeverBreaksStaysInOnePiece) {
  // A bar with a core that never breaks: the core's tets stay joined by their faces.
  SolidDef def = brittle_bar(1e4f);
  def.region_materials = {def.material, elastic(1e6f, 0.3f)};
  def.mesh.regions.assign(def.mesh.tets.size(), 0);
  for (std::size_t t = 0; t < def.mesh.tets.size(); ++t) {
    Vec3 center;
    for (const std::uint32_t node : def.mesh.tets[t]) center += def.mesh.nodes[node] / 4;
    if (std::abs(center.y) < 0.1f && std::abs(center.z) < 0.1f) def.mesh.regions[t] = 1;
  }
  Workers workers(1);
  SolidEngine engine(workers);
  def.stretch = {1.05f, 1, 1};
  engine.add_body({0, 1}, std::make_unique<SolidBody>(std::make_shared<const SolidDef>(def)));
  std::uint32_t next = 1;
  std::vector<Crack> cracks;
  for (int round = 0; round < 20; ++round) {
    engine.predict({}, kStep);
    engine.fracture(cracks);
    for (auto& fragment : engine.break_up()) {
      if (!fragment.stays) engine.add_fragment({next++, 1}, fragment);
    }
  }
  EXPECT_GT(cracks.size(), 20u);
  int with_core = 0;
  for (const std::uint32_t slot : engine.slots()) {
    const auto& regions = engine.body(slot).def().mesh.regions;
    with_core += std::find(regions.begin(), regions.end(), 1) != regions.end() ? 1 : 0;
  }
  EXPECT_EQ(with_core, 1);
}

}  // namespace
}  // namespace pliant
