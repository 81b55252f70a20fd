// Solids that break, in a world: what is kept, what is told, and that it happens again the same way.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "pliant/pliant.h"

namespace pliant {
namespace {

SolidMaterial brittle(float young, float strength) {
  SolidMaterial material;
  material.young_modulus = young;
  material.poisson_ratio = 0.25f;
  material.strength = strength;
  return material;
}

/// A wall that a heavy cube flies into.
struct Wall {
  explicit Wall(int threads = 1, int cells = 8, float strength = 3e4f) : world(WorldDef{.threads = threads}) {
    world.add(GroundDef{});
    SolidDef def{.name = "wall", .mesh = tet_box({3, 3, 0.3f}, cells, cells, 1), .material = brittle(4e6f, strength)};
    def.position = {0, 1.5f, 0};
    def.held = {{.name = "foot", .nodes = NodeBox{{{-2, -1.6f, -1}, {2, -1.49f, 1}}}}};
    wall = world.add(def).value();
    cube = world
               .add(RigidDef{.shape = Box{{0.5f, 0.5f, 0.5f}},
                             .density = 16000,
                             .position = {0, 1.6f, 0.6f},
                             .velocity = {0, 0, -30}})
               .value();
    world.commit_edits();
  }
  double mass() const {
    double total = 0;
    for (const BodyId id : world.bodies()) {
      if (world.kind(id) == BodyKind::Solid) total += static_cast<double>(world.state(id)->mass);
    }
    return total;
  }
  std::vector<BodyId> solids() const {
    std::vector<BodyId> out;
    for (const BodyId id : world.bodies()) {
      if (world.kind(id) == BodyKind::Solid) out.push_back(id);
    }
    return out;
  }

  World world;
  BodyId wall, cube;
};

TEST(Fracture, AWallBreaksAndNothingIsLost) {
  Wall s;
  const double mass = s.mass();
  const std::size_t tets = (*s.world.solid_def(s.wall))->mesh.tets.size();
  const double volume = (*s.world.solid_def(s.wall))->mesh.volume();
  std::size_t cracks = 0, fractures = 0, pieces = 0;
  for (int i = 0; i < 60; ++i) {
    const StepReport& report = s.world.step();
    fractures += report.fractures;
    ASSERT_EQ(report.tets, tets);
    ASSERT_EQ(report.quarantined, 0u);
    for (const Crack& crack : s.world.events().cracks) {
      ++cracks;
      EXPECT_TRUE(is_finite(crack.position));
      EXPECT_NEAR(length(crack.normal), 1, 1e-3f);
      EXPECT_GT(crack.area, 0);
      EXPECT_GT(crack.energy, 0);
    }
    for (const BreakOff& off : s.world.events().break_offs) {
      ++pieces;
      EXPECT_TRUE(s.world.contains(off.body));
      EXPECT_EQ(s.world.ancestor(off.body), s.wall);
      EXPECT_TRUE(s.world.contains(off.parent));
      EXPECT_TRUE(s.world.state(off.body)->bounds.expanded(1).contains(off.position));
    }
  }
  EXPECT_EQ(cracks, fractures);
  EXPECT_GT(pieces, 5u);
  EXPECT_EQ(s.solids().size(), pieces + 1);
  EXPECT_NEAR(s.mass(), mass, 1e-4 * mass);
  double volume_now = 0;
  std::size_t tets_now = 0;
  for (const BodyId id : s.solids()) {
    const SolidDef& def = **s.world.solid_def(id);
    EXPECT_TRUE(validate(def.mesh).empty());
    EXPECT_GE(def.mesh.tets.size(), 3u);
    volume_now += def.mesh.volume();
    tets_now += def.mesh.tets.size();
  }
  EXPECT_EQ(tets_now, tets);
  EXPECT_NEAR(volume_now, volume, 1e-9);
}

TEST(Fracture, PiecesKnowWhereTheyComeFrom) {
  Wall s;
  const std::vector<Vec3> rest = (*s.world.solid_def(s.wall))->mesh.nodes;
  for (int i = 0; i < 40; ++i) s.world.step();
  ASSERT_GT(s.solids().size(), 2u);
  std::set<std::uint32_t> seen;
  for (const BodyId id : s.solids()) {
    const auto origins = s.world.origin_nodes(id).value();
    const TetMesh& mesh = (*s.world.solid_def(id))->mesh;
    ASSERT_EQ(origins.size(), mesh.nodes.size());
    for (std::size_t n = 0; n < origins.size(); ++n) {
      EXPECT_EQ(mesh.nodes[n], rest[origins[n]]);
      seen.insert(origins[n]);
    }
    EXPECT_EQ(s.world.parent(id).is_null(), id == s.wall);
  }
  EXPECT_EQ(seen.size(), rest.size());
}

TEST(Fracture, ABarThatFliesApartKeepsItsMomentum) {
  World world(WorldDef{.gravity = {}});
  SolidDef def{.mesh = tet_box({2, 0.3f, 0.3f}, 20, 3, 3), .material = brittle(1e6f, 2e4f)};
  def.velocity = {1, 2, 0};
  def.stretch = {1.03f, 1, 1};  // above the strength: it breaks at once
  world.add(def).value();
  world.step();
  const StepReport first = world.report();
  double highest = first.kinetic_energy + first.elastic_energy;
  for (int i = 0; i < 60; ++i) {
    const StepReport& now = world.step();
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(now.linear_momentum[k], first.linear_momentum[k], 2e-5 * 180 * 2);
      EXPECT_NEAR(now.angular_momentum[k], first.angular_momentum[k], 0.05);
    }
    EXPECT_LT(now.kinetic_energy + now.elastic_energy, highest * 1.001) << "step " << i;
    highest = std::min(highest, now.kinetic_energy + now.elastic_energy);
  }
  EXPECT_GT(world.bodies().size(), 1u);
}

/// Walls with one and with two threads give the same hashes, and so do the first and another that go on from the
/// snapshot taken when `is_middle(step)` first says so.
template <typename IsMiddle>
void expect_same_run(Wall& one, Wall& two, Wall& other, IsMiddle&& is_middle) {
  Snapshot middle;
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < 50; ++i) {
    one.world.step(), two.world.step();
    ASSERT_EQ(one.world.hash(), two.world.hash()) << "step " << i;
    hashes.push_back(one.world.hash());
    if (!middle.is_empty() || !is_middle(i)) continue;
    middle = one.world.snapshot();
    hashes = {one.world.hash()};
  }
  ASSERT_FALSE(middle.is_empty());
  ASSERT_GT(one.solids().size(), 2u);
  ASSERT_TRUE(one.world.restore(middle));
  ASSERT_TRUE(other.world.restore(middle));
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    ASSERT_EQ(one.world.hash(), hashes[i]) << i;
    ASSERT_EQ(other.world.hash(), hashes[i]) << i;
    one.world.step(), other.world.step();
  }
}

TEST(Fracture, ThreadsSnapshotsAndOtherWorldsGiveTheSame) {
  Wall one(1), two(2), other(1);
  // A step whose pieces are not yet bodies.
  expect_same_run(one, two, other, [&](int) { return !one.world.events().cracks.empty(); });
}

TEST(Fracture, WhatIsSaidOfNodesReachesThePieces) {
  // A bar pulled in two by its ends: both ends go on as they are told.
  World world(WorldDef{.gravity = {}});
  SolidDef def{.mesh = tet_box({2, 0.3f, 0.3f}, 16, 2, 2), .material = brittle(1e6f, 2e4f)};
  def.held = {{.name = "left", .nodes = NodeHalfSpace{{-1, 0, 0}, 0.99f}},
              {.name = "right", .nodes = NodeHalfSpace{{1, 0, 0}, 0.99f}}};
  const BodyId bar = world.add(def).value();
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(world.drive(bar, def.held[0].nodes, {{-0.002f * static_cast<float>(i), 0, 0}, {}}));
    ASSERT_TRUE(world.drive(bar, def.held[1].nodes, {{0.002f * static_cast<float>(i), 0, 0}, {}}));
    world.step();
  }
  ASSERT_GE(world.bodies().size(), 2u);
  int ends = 0;
  for (const BodyId id : world.bodies()) {
    const auto origins = world.origin_nodes(id).value();
    const auto positions = world.node_positions(id).value();
    for (std::size_t n = 0; n < origins.size(); ++n) {
      const Vec3 rest = def.mesh.nodes[origins[n]];
      if (std::abs(rest.x) < 0.99f) continue;
      ++ends;
      EXPECT_NEAR(positions[n].x, rest.x + (rest.x > 0 ? 0.118f : -0.118f), 1e-4f);
    }
  }
  EXPECT_GE(ends, 18);
}

TEST(Fracture, APaneComesOutOfItsFrameWhereItMayLetGo) {
  for (const bool lets_go : {false, true}) {
    World world(WorldDef{.gravity = {}});
    SolidDef def{.mesh = tet_box({1, 0.2f, 0.2f}, 10, 2, 2), .material = brittle(1e6f, 5e3f)};
    def.held = {{.nodes = NodeHalfSpace{{-1, 0, 0}, 0.49f}}};
    def.weakened = {{NodeHalfSpace{{1, 0, 0}, -0.49f}, 100}};  // only what is held is weak
    def.fracture.lets_go = lets_go;
    const BodyId bar = world.add(def).value();
    for (int i = 0; i < 90; ++i) {
      (void)world.apply_node_force(bar, NodeHalfSpace{{1, 0, 0}, 0.49f}, {60, 0, 0});
      world.step();
    }
    const float moved = world.state(bar)->center_of_mass.x;
    EXPECT_EQ(moved > 0.3f, lets_go) << moved;
  }
}

/// Sums over all bodies but the ground, from what the world tells of each.
struct Sums {
  double mass = 0, momentum[3] = {};
};
Sums sums_of(const World& world) {
  Sums sums;
  for (const BodyId id : world.bodies()) {
    const BodyState state = *world.state(id);
    sums.mass += static_cast<double>(state.mass);
    for (std::size_t k = 0; k < 3; ++k) sums.momentum[k] += static_cast<double>(state.mass * state.velocity[k]);
  }
  return sums;
}

TEST(SmallPieces, TurnRigidWithTheirMassMomentumAndSpin) {
  // A spinning bar flies apart in nothing; its pieces become rigid after a while.
  World world(WorldDef{.gravity = {}});
  SolidDef def{.name = "bar", .mesh = tet_box({2, 0.3f, 0.3f}, 20, 3, 3), .material = brittle(1e6f, 2e4f)};
  def.velocity = {1, 2, 0};
  def.angular_velocity = {0, 0, 3};
  def.stretch = {1.03f, 1, 1};
  def.fracture.small_pieces = {.max_size = 1.9f, .rigid_after = 0.1f};
  const BodyId bar = world.add(def).value();
  world.step();
  const Sums before = sums_of(world);
  std::size_t rigid = 0;
  for (int i = 0; i < 30; ++i) {
    const StepReport last = world.report();
    const StepReport& now = world.step();
    rigid += world.events().retirements.size();
    for (const Retirement& r : world.events().retirements) {
      EXPECT_FALSE(world.contains(r.piece));
      ASSERT_EQ(world.kind(r.rigid), BodyKind::Rigid);
      EXPECT_EQ(world.ancestor(r.rigid), bar);
      EXPECT_EQ(world.name(r.rigid), "bar");
      EXPECT_LT(length(world.state(r.rigid)->center_of_mass - r.position), 0.2f);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(now.linear_momentum[k], last.linear_momentum[k], 0.01);
      EXPECT_NEAR(now.angular_momentum[k], last.angular_momentum[k], 0.05) << "step " << i;
    }
    EXPECT_LT(now.kinetic_energy, 1.001 * (last.kinetic_energy + last.elastic_energy));
  }
  EXPECT_GT(rigid, 0u);
  EXPECT_EQ(world.kind(bar), BodyKind::Solid) << "the id that was given stays what it is";
  for (const BodyId id : world.bodies()) EXPECT_EQ(world.kind(id) == BodyKind::Solid, id == bar);
  const Sums after = sums_of(world);
  EXPECT_NEAR(after.mass, before.mass, 1e-4 * before.mass);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(after.momentum[k], before.momentum[k], 0.05);
}

TEST(SmallPieces, FadeAndGo) {
  Wall s;
  const double mass = s.mass();
  SolidDef def = **s.world.solid_def(s.wall);
  def.fracture.small_pieces = {.max_tets = 12, .rigid_after = 0.2f, .gone_after = 0.5f, .fade = 0.25f};
  ASSERT_TRUE(s.world.remove(s.wall));
  s.wall = s.world.add(def).value();
  std::size_t gone = 0, turned = 0;
  float faintest = 1;
  std::set<BodyId> late;
  for (int i = 0; i < 120; ++i) {
    s.world.step();
    for (const BreakOff& off : s.world.events().break_offs) {
      if (i > 85) late.insert(off.body), late.insert(off.parent);
    }
    for (const Retirement& r : s.world.events().retirements) {
      (r.rigid.is_null() ? gone : turned) += 1;
      EXPECT_FALSE(s.world.contains(r.piece));
    }
    for (const BodyId id : s.world.bodies()) {
      const BodyState state = *s.world.state(id);
      EXPECT_GE(state.opacity, 0);
      faintest = std::min(faintest, state.opacity);
    }
  }
  EXPECT_GT(turned, 3u);
  EXPECT_GT(gone, 3u);
  EXPECT_LT(faintest, 0.3f);
  EXPECT_LT(s.mass(), mass);
  // What is small and still there is held, or has come off of late.
  for (const BodyId id : s.solids()) {
    const TetMesh& mesh = (*s.world.solid_def(id))->mesh;
    if (mesh.tets.size() > 12 || id == s.wall || late.contains(id)) continue;
    EXPECT_TRUE(s.world.select_nodes(id, NodeHalfSpace{{0, -1, 0}, 1.49f}).ok()) << mesh.tets.size();
  }
}

TEST(SmallPieces, ThreadsAndSnapshotsGiveTheSame) {
  const auto prepared = [](int threads) {
    Wall s(threads);
    SolidDef def = **s.world.solid_def(s.wall);
    def.fracture.small_pieces = {.max_tets = 20, .rigid_after = 0.1f, .gone_after = 0.4f};
    (void)s.world.remove(s.wall);
    s.wall = s.world.add(def).value();
    return s;
  };
  Wall one = prepared(1), two = prepared(2), other = prepared(1);
  expect_same_run(one, two, other, [](int step) { return step == 20; });
}

TEST(Fracture, WeakFacesOpenAcrossAndHoldAlong) {
  // A slab of mortar through a bar: pulled across it breaks there at a third of the strength; pulled along it, it
  // bears what the material bears.
  const auto first_crack = [](bool across) {
    World world(WorldDef{.gravity = {}});
    const Vec3 size = across ? Vec3{2, 0.4f, 0.4f} : Vec3{0.4f, 2, 0.4f};
    SolidDef def{.mesh = tet_box(size, 0.1f), .material = brittle(1e6f, 2e4f)};
    def.material.stiffness_damping = 0.02f;
    def.weak_faces = {{NodeSlab{.normal = {1, 0, 0}, .offset = 0, .thickness = 0.01f}, 1 / 3.0f}};
    const BodyId bar = world.add(def).value();
    const Vec3 along = across ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    std::pair<float, Crack> first{0, {}};
    for (int i = 1; i <= 250 && first.first == 0; ++i) {
      const float pull = 1e2f * static_cast<float>(i);
      for (const float side : {-1.0f, 1.0f}) {
        EXPECT_TRUE(world.apply_pressure(bar, -pull, NodeHalfSpace{along * side, 0.99f}));
      }
      world.step();
      if (!world.events().cracks.empty()) first = {pull / 2e4f, world.events().cracks.front()};
    }
    return first;
  };
  const auto [across_at, across_crack] = first_crack(true);
  EXPECT_NEAR(across_at, 1 / 3.0f, 0.04f);
  EXPECT_NEAR(across_crack.position.x, 0, 0.02f);
  EXPECT_GT(std::abs(across_crack.normal.x), 0.99f);
  EXPECT_NEAR(first_crack(false).first, 1, 0.1f);
}

TEST(Fracture, StrengthCanBeChangedWhileItRuns) {
  // A bar pulled by its ends at half of its strength holds, until a place of it is made weak; that is kept by
  // snapshots and by the pieces.
  World world(WorldDef{.gravity = {}});
  SolidDef def{.mesh = tet_box({2, 0.3f, 0.3f}, 20, 3, 3), .material = brittle(1e6f, 2e4f)};
  def.material.stiffness_damping = 0.02f;
  const BodyId bar = world.add(def).value();
  std::size_t cracks = 0;
  Vec3 first;
  const auto pull = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      for (const float side : {-1.0f, 1.0f}) {
        ASSERT_TRUE(world.apply_pressure(bar, -1e4f, NodeHalfSpace{{side, 0, 0}, 0.99f}));
      }
      world.step();
      if (cracks == 0 && !world.events().cracks.empty()) first = world.events().cracks[0].position;
      cracks += world.events().cracks.size();
    }
  };
  pull(60);
  EXPECT_EQ(cracks, 0u);
  const std::uint64_t before = world.hash();
  ASSERT_TRUE(world.set_strength_factor(bar, NodeBox{{{0.35f, -1, -1}, {0.45f, 1, 1}}}, 0.25f));
  const Snapshot painted = world.snapshot();
  EXPECT_NE(world.hash(), before);
  pull(20);
  EXPECT_GT(cracks, 0u);
  EXPECT_NEAR(first.x, 0.4f, 0.1f);
  std::size_t weak = 0;
  for (const BodyId id : world.bodies()) {
    const std::vector<float> factors = world.strength_factors(id).value();
    const std::vector<std::uint32_t> origins = world.origin_nodes(id).value();
    for (std::size_t n = 0; n < factors.size(); ++n) {
      const bool is_weak = std::abs(def.mesh.nodes[origins[n]].x - 0.4f) < 0.05f;
      EXPECT_EQ(factors[n], is_weak ? 0.25f : 1.0f);
      weak += is_weak ? 1 : 0;
    }
  }
  EXPECT_GE(weak, 16u);
  const std::uint64_t after = world.hash();
  ASSERT_TRUE(world.restore(painted));
  pull(20);
  EXPECT_EQ(world.hash(), after);
  EXPECT_FALSE(world.set_strength_factor(bar, AllNodes{}, 0));
  EXPECT_FALSE(world.set_strength_factor(bar, AllNodes{}, kInfinity));
}

TEST(Fracture, NonsenseIsRefusedByName) {
  const auto refused = [](const std::function<void(SolidDef&)>& spoil) {
    World world;
    SolidDef def{.mesh = tet_box({1, 1, 1}, 2, 2, 2)};
    spoil(def);
    const auto id = world.add(def);
    return id ? std::string() : id.error().field;
  };
  EXPECT_EQ(refused([](SolidDef&) {}), "");
  EXPECT_EQ(refused([](SolidDef& d) { d.material.strength = 0; }), "add: material.strength");
  EXPECT_EQ(refused([](SolidDef& d) { d.material.strength = std::nanf(""); }), "add: material.strength");
  EXPECT_EQ(refused([](SolidDef& d) { d.material.toughness = -1; }), "add: material.toughness");
  EXPECT_EQ(refused([](SolidDef& d) { d.material.grain_strength = -1; }), "add: material.grain_strength");
  EXPECT_EQ(refused([](SolidDef& d) { d.fracture.min_tets = 0; }), "add: fracture.min_tets");
  EXPECT_EQ(refused([](SolidDef& d) { d.fracture.max_splits = -1; }), "add: fracture.max_splits");
  EXPECT_EQ(refused([](SolidDef& d) { d.weakened = {{AllNodes{}, 0}}; }), "add: weakened[0].factor");
  EXPECT_EQ(refused([](SolidDef& d) { d.weakened = {{NodeSet{"none"}, 2}}; }), "add: weakened[0].nodes");
  EXPECT_EQ(refused([](SolidDef& d) { d.weak_faces = {{AllNodes{}, -1}}; }), "add: weak_faces[0].factor");
  EXPECT_EQ(refused([](SolidDef& d) { d.weak_faces = {{NodeSlab{{1, 0, 0}, 9}, 2}}; }), "add: weak_faces[0].nodes");
  EXPECT_EQ(refused([](SolidDef& d) { d.fracture.small_pieces.max_tets = -1; }), "add: fracture.small_pieces.max_tets");
  EXPECT_EQ(refused([](SolidDef& d) { d.fracture.small_pieces.gone_after = std::nanf(""); }),
            "add: fracture.small_pieces.gone_after");
}

TEST(Fracture, PressureReachesThePieces) {
  // A bar that is pulled by its ends in opposite directions goes on being pulled apart when it has broken.
  World world(WorldDef{.gravity = {}});
  const BodyId bar =
      world.add(SolidDef{.mesh = tet_box({2, 0.3f, 0.3f}, 16, 2, 2), .material = brittle(1e6f, 2e4f)}).value();
  for (int i = 0; i < 40; ++i) {
    for (const float side : {-1.0f, 1.0f}) {
      ASSERT_TRUE(world.apply_pressure(bar, -4e4f, NodeHalfSpace{{side, 0, 0}, 0.99f}));
    }
    ASSERT_TRUE(world.step().errors.empty());
  }
  float left = 0, right = 0;
  for (const BodyId id : world.bodies()) {
    const float x = world.state(id)->center_of_mass.x;
    left = std::min(left, x), right = std::max(right, x);
  }
  EXPECT_LT(left, -0.7f);
  EXPECT_GT(right, 0.7f);
}

}  // namespace
}  // namespace pliant
