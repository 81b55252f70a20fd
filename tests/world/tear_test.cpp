// Cloth and rope that tear.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "pliant/pliant.h"

namespace pliant {
namespace {

double mass_of(const World& world, BodyId body) { return static_cast<double>(world.state(body)->mass); }

/// A sheet that is held at two opposite rims, which are drawn apart.
struct PulledSheet {
  explicit PulledSheet(float strength, int threads = 0)
      : world({.gravity = {}, .threads = threads, .allow_sleep = false}) {
    ClothDef def{.shape = ClothSheet{1, 1, 12, 12},
                 .held = {{.nodes = NodeHalfSpace{{-1, 0, 0}, 0.499f}}, {.nodes = NodeHalfSpace{{1, 0, 0}, 0.499f}}}};
    def.material.strength = strength;
    def.material.stretch_stiffness = 1000;
    cloth = *world.add(def);
    world.commit_edits();
  }
  void pull(int steps, float speed) {
    world.drive(cloth, NodeHalfSpace{{1, 0, 0}, 0.499f}, Vec3{speed, 0, 0}).require();
    for (int i = 0; i < steps; ++i) {
      world.step();
      for (const Tear& tear : world.events().tears) tears.push_back(tear);
    }
  }
  World world;
  BodyId cloth;
  std::vector<Tear> tears;
};

/// Sets of nodes that faces join.
std::size_t piece_count(std::span<const Face> faces, std::size_t nodes) {
  std::vector<std::size_t> piece(nodes);
  for (std::size_t i = 0; i < nodes; ++i) piece[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Face& f : faces) {
      const std::size_t least = std::min({piece[f[0]], piece[f[1]], piece[f[2]]});
      for (const std::uint32_t node : f) changed |= piece[node] != least, piece[node] = least;
    }
  }
  return std::set<std::size_t>(piece.begin(), piece.end()).size();
}

/// Its faces are those of the nodes that it has now.
void expect_whole_surface(std::span<const Face> faces, std::size_t nodes) {
  std::vector<bool> is_used(nodes, false);
  for (const Face& face : faces) {
    for (const std::uint32_t node : face) {
      ASSERT_LT(node, nodes);
      is_used[node] = true;
    }
  }
  EXPECT_EQ(std::count(is_used.begin(), is_used.end(), false), 0) << "nodes without a face";
}

TEST(Tearing, OfASheetBeginsAtItsStrengthAndPartsIt) {
  PulledSheet sheet(100);
  const double mass = mass_of(sheet.world, sheet.cloth);
  // 100 N/m at 1000 N/m per strain: at a tenth.
  sheet.pull(50, 0.1f);
  EXPECT_TRUE(sheet.tears.empty()) << "at a strain of 8.3 %";
  sheet.pull(60, 0.1f);
  ASSERT_FALSE(sheet.tears.empty()) << "at a strain of 18 %";
  for (const Tear& tear : sheet.tears) {
    EXPECT_EQ(tear.body, sheet.cloth);
    EXPECT_LT(std::abs(tear.position.z), 0.51f);
    EXPECT_GT(tear.force, 0.5f * 100 / 12);
  }
  sheet.pull(120, 0.5f);
  const auto faces = *sheet.world.surface_faces(sheet.cloth);
  const auto nodes = *sheet.world.node_positions(sheet.cloth);
  EXPECT_EQ(faces.size(), 288u);
  EXPECT_GT(nodes.size(), 169u);
  expect_whole_surface(faces, nodes.size());
  EXPECT_GE(piece_count(faces, nodes.size()), 2u);
  EXPECT_NEAR(mass_of(sheet.world, sheet.cloth), mass, 1e-6 * mass);
  float longest = 0;
  for (const Face& f : faces) {
    for (std::size_t k = 0; k < 3; ++k) longest = std::max(longest, length(nodes[f[k]] - nodes[f[(k + 1) % 3]]));
  }
  EXPECT_LT(longest, 1.15f * std::sqrt(2.0f) / 12) << "nothing pulls any more";
  EXPECT_EQ(sheet.world.report().quarantined, 0u);
}

TEST(Tearing, IsTheSameForAnyNumberOfThreadsAndAfterASnapshot) {
  PulledSheet one(100, 1), two(100, 2);
  one.pull(70, 0.1f), two.pull(70, 0.1f);
  ASSERT_FALSE(one.tears.empty());
  EXPECT_EQ(one.world.hash(), two.world.hash());
  const Snapshot torn = one.world.snapshot();
  one.pull(40, 0.2f);
  const std::uint64_t expected = one.world.hash();
  // Into a world that is torn more, one that is torn as much, and one that is whole.
  PulledSheet whole(100, 1);
  for (World* world : {&one.world, &two.world, &whole.world}) {
    world->restore(torn).require();
    world->drive(one.cloth, NodeHalfSpace{{1, 0, 0}, 0.499f}, Vec3{0.2f, 0, 0}).require();
    for (int i = 0; i < 40; ++i) world->step();
    EXPECT_EQ(world->hash(), expected);
  }
}

TEST(Tearing, KeepsMomentum) {
  // Two heavy balls fly apart and tear the cloth between them.
  World world({.gravity = {}, .allow_sleep = false});
  ClothDef def{.shape = ClothSheet{1, 0.5f, 16, 8}};
  def.material.strength = 200;
  const BodyId cloth = *world.add(def);
  for (const float side : {-1.0f, 1.0f}) {
    const BodyId ball = *world.add(RigidDef{.shape = Sphere{0.1f},
                                            .position = {0.65f * side, 0, 0},
                                            .velocity = {(side > 0 ? 3.0f : -2.0f), 0.5f * side, 0},
                                            .mass = 2.0f});
    world.add(AnchorDef{.body = cloth, .nodes = NodeHalfSpace{{side, 0, 0}, 0.499f}, .to = ball});
  }
  std::size_t tears = 0;
  for (int i = 0; i < 120; ++i) tears += (world.step(), world.events().tears.size());
  EXPECT_GT(tears, 4u);
  const double momentum[3] = {2 * 3.0 - 2 * 2.0, 0, 0};
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(world.report().linear_momentum[k], momentum[k], 1e-4 * 10);
  EXPECT_LT(world.report().kinetic_energy, 2 * (3 * 3 + 2 * 2 + 2 * 0.25) / 2);
  // Something has come between them.
  EXPECT_GE(piece_count(*world.surface_faces(cloth), world.node_positions(cloth)->size()), 2u);
}

TEST(Tearing, OfARopeMakesTwo) {
  World world({.allow_sleep = false});
  RopeDef def{.path = {{0, 2, 0}, {0, 1, 0}}, .held = {{.nodes = NearestNodes{{0, 2, 0}}}}};
  def.material.strength = 150;
  const BodyId rope = *world.add(def);
  const BodyId ball = *world.add(RigidDef{.shape = Sphere{0.1f}, .position = {0, 0.9f, 0}, .mass = 9.0f});
  world.add(AnchorDef{.body = rope, .nodes = NearestNodes{{0, 1, 0}}, .to = ball});
  for (int i = 0; i < 120; ++i) {
    world.step();
    ASSERT_TRUE(world.events().tears.empty()) << "88 N are not enough, step " << i;
  }
  world.apply_force(ball, {0, -120, 0});
  world.step();
  ASSERT_FALSE(world.events().tears.empty());
  EXPECT_GT(world.events().tears[0].force, 150);
  for (int i = 0; i < 30; ++i) world.step();
  EXPECT_LT(world.state(ball)->center_of_mass.y, 0);
  EXPECT_EQ(world.rope_segments(rope)->size(), 20u);
  EXPECT_GT(world.node_positions(rope)->size(), 21u);
  // What hangs on still hangs, what fell falls freely.
  EXPECT_NEAR((*world.node_positions(rope))[0].y, 2, 1e-5f);
  EXPECT_NEAR((*world.node_positions(rope))[20].y, world.state(ball)->center_of_mass.y + 0.1f, 0.02f);
  EXPECT_NEAR(world.state(ball)->velocity.y, -9.81f * 0.5f - 120 / 9.0f / 60, 0.2f);
}

TEST(Tearing, OfAClosedRopeOpensIt) {
  World world({.gravity = {}, .allow_sleep = false});
  RopeDef def{.path = {{-0.5f, 0, 0}, {0.5f, 0, 0}, {0.5f, 0.3f, 0}, {-0.5f, 0.3f, 0}}, .closed = true};
  def.material.strength = 50;
  def.material.stretch_stiffness = 300;
  def.held = {{.nodes = NearestNodes{{-0.5f, 0, 0}}}, {.nodes = NearestNodes{{0.5f, 0, 0}}}};
  const BodyId band = *world.add(def);
  const std::size_t nodes = world.node_positions(band)->size();
  world.drive(band, NearestNodes{{0.5f, 0, 0}}, Vec3{1, 0, 0}).require();
  std::size_t tears = 0;
  for (int i = 0; i < 60; ++i) tears += (world.step(), world.events().tears.size());
  EXPECT_GE(tears, 1u);
  EXPECT_GT(world.node_positions(band)->size(), nodes);
}

TEST(Tearing, LetsTheGasOut) {
  World world({.gravity = {}, .allow_sleep = false});
  ClothMaterial material = cloth_material::rubber_sheet();
  material.strength = 60;
  const BodyId balloon = *world.add(ClothDef{.shape = tri_sphere(0.2f, 16), .material = material, .pressure = 300});
  EXPECT_TRUE(world.gas(balloon).ok());
  for (int i = 0; i < 60; ++i) {
    world.step();
    ASSERT_TRUE(world.events().tears.empty()) << "300 Pa x 0.2 m / 2 are 30 N/m, step " << i;
  }
  world.apply_impulse(balloon, {0, 0, 0.05f}, {0, 0, 0.3f});
  world.explode({.center = {0.21f, 0, 0}, .radius = 0.2f, .impulse_per_area = 600});
  std::size_t tears = 0;
  for (int i = 0; i < 60; ++i) tears += (world.step(), world.events().tears.size());
  ASSERT_GT(tears, 0u);
  EXPECT_FALSE(world.gas(balloon).ok());
  EXPECT_EQ(world.report().quarantined, 0u);
}

TEST(Tearing, OfAMeshFollowsItsEdgesAndKeepsItsFaces) {
  TriMesh mesh;
  // A plain of triangles in rows that are shifted against each other.
  const int n = 10;
  for (int k = 0; k <= n; ++k) {
    for (int i = 0; i <= n; ++i) {
      mesh.vertices.push_back(
          {0.1f * (static_cast<float>(i) + (k % 2 ? 0.5f : 0.0f)), 0, 0.0866f * static_cast<float>(k)});
    }
  }
  const auto at = [&](int i, int k) { return static_cast<std::uint32_t>(i + k * (n + 1)); };
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < n; ++i) {
      if (k % 2 == 0) {
        mesh.faces.push_back({at(i, k), at(i, k + 1), at(i + 1, k)});
        mesh.faces.push_back({at(i + 1, k), at(i, k + 1), at(i + 1, k + 1)});
      } else {
        mesh.faces.push_back({at(i, k), at(i + 1, k + 1), at(i + 1, k)});
        mesh.faces.push_back({at(i, k), at(i, k + 1), at(i + 1, k + 1)});
      }
    }
  }
  World world({.gravity = {}, .allow_sleep = false});
  ClothDef def{.shape = mesh,
               .held = {{.nodes = NodeHalfSpace{{0, 0, 1}, 0.86f}}, {.nodes = NodeHalfSpace{{0, 0, -1}, -0.001f}}}};
  def.material.strength = 100;
  def.material.stretch_stiffness = 1000;
  const BodyId cloth = *world.add(def);
  world.commit_edits();
  const double mass = mass_of(world, cloth);
  world.drive(cloth, NodeHalfSpace{{0, 0, 1}, 0.86f}, Vec3{0, 0, 0.3f}).require();
  std::size_t tears = 0;
  for (int i = 0; i < 200; ++i) tears += (world.step(), world.events().tears.size());
  EXPECT_GT(tears, 5u);
  EXPECT_EQ(world.surface_faces(cloth)->size(), mesh.faces.size());
  EXPECT_GE(piece_count(*world.surface_faces(cloth), world.node_positions(cloth)->size()), 2u);
  EXPECT_NEAR(mass_of(world, cloth), mass, 1e-6 * mass);
  EXPECT_EQ(world.report().quarantined, 0u);
}

}  // namespace
}  // namespace pliant
