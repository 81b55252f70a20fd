// Layered bodies against each other, solids and cloth: momentum, rest, sleep, mass ratios, threads and snapshots.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "geometry/layer_core.h"
#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

LayeredDef ball(Vec3 position, float density = 1000) {
  LayeredDef def;
  def.atlas = atlas_sphere(0.3f, 12);
  def.material.young_modulus = 1e5f;
  def.material.density = def.core_density = density;
  def.material.stiffness_damping = 0.005f;
  def.thickness = 0.08f;
  def.position = position;
  return def;
}

LayeredDef ring(Vec3 position) {
  LayeredDef def;
  def.atlas = atlas_torus(0.5f, 0.2f, 36, 18);
  def.material.young_modulus = 1e5f;
  def.material.stiffness_damping = 0.01f;
  def.thickness = 0.08f;
  def.position = position;
  return def;
}

/// The speed at which all mass together would have the kinetic energy.
double mean_speed(const World& world, double mass) { return std::sqrt(2 * world.report().kinetic_energy / mass); }

TEST(LayeredContacts, TwoThatCollideKeepMomentumAndGainNoEnergy) {
  World world(WorldDef{.gravity = {}});
  LayeredDef left = ball({-0.32f, 0, 0}), right = ball({0.32f, 0.15f, 0});
  left.velocity = {1.5f, 0, 0}, right.velocity = {-1, 0, 0};
  left.friction = right.friction = 0.6f;
  const BodyId a = world.add(left).value(), b = world.add(right).value();
  world.commit_edits();
  const double mass = double(world.state(a)->mass);
  const double momentum = 0.5 * mass, spin = 0.15 * mass, energy = 0.5 * mass * (1.5 * 1.5 + 1);
  double most = 0;
  std::size_t contacts = 0;
  for (int i = 0; i < 40; ++i) {
    world.step();
    const StepReport& report = world.report();
    contacts = std::max(contacts, report.contacts);
    most = std::max(most, report.kinetic_energy + report.elastic_energy);
    EXPECT_NEAR(report.linear_momentum[0], momentum, 1e-5 * mass);
    EXPECT_NEAR(report.linear_momentum[1], 0, 1e-5 * mass);
    EXPECT_NEAR(report.linear_momentum[2], 0, 1e-5 * mass);
    EXPECT_NEAR(report.angular_momentum[2], spin, 0.01 * spin);
  }
  EXPECT_GT(contacts, 20u);
  EXPECT_LE(most, 1.01 * energy);
  // They have parted, and friction has set both spinning the same way.
  EXPECT_LT(world.state(a)->velocity.x, world.state(b)->velocity.x);
  EXPECT_GT(world.state(a)->angular_velocity.z * world.state(b)->angular_velocity.z, 0);
  EXPECT_GT(std::abs(world.state(a)->angular_velocity.z), 0.1f);
}

TEST(LayeredContacts, APairRestsCalmlyForHalfAMinute) {
  World world(WorldDef{.allow_sleep = false});
  world.add(GroundDef{});
  const BodyId below = world.add(ring({0, 0.195f, 0})).value(), above = world.add(ring({0.05f, 0.57f, 0})).value();
  for (int i = 0; i < 240; ++i) world.step();
  const double mass = double(world.state(below)->mass + world.state(above)->mass);
  const Vec3 place = world.state(above)->center_of_mass, under = world.state(below)->center_of_mass;
  double squared = 0;
  for (int i = 0; i < 1800; ++i) {
    world.step();
    squared += mean_speed(world, mass) * mean_speed(world, mass) / 1800;
  }
  EXPECT_LT(std::sqrt(squared), 1e-3);
  EXPECT_LT(length(world.state(above)->center_of_mass - place), 1e-3f);
  EXPECT_LT(length(world.state(below)->center_of_mass - under), 1e-3f);
  EXPECT_GT(place.y, 0.5f);
}

TEST(LayeredContacts, APairFallsAsleepAndWakesTogether) {
  World world;
  world.add(GroundDef{});
  const BodyId below = world.add(ring({0, 0.195f, 0})).value(), above = world.add(ring({0, 0.57f, 0})).value();
  int steps = 0;
  while (steps < 600 && (world.state(below)->awake || world.state(above)->awake)) world.step(), ++steps;
  EXPECT_LT(steps, 600);
  EXPECT_FALSE(world.state(above)->awake);
  for (int i = 0; i < 10; ++i) world.step();
  const Vec3 place = world.state(above)->center_of_mass;
  world.apply_impulse(below, {2000, 0, 0});
  world.step();
  world.step();
  EXPECT_TRUE(world.state(above)->awake);
  for (int i = 0; i < 30; ++i) world.step();
  EXPECT_GT(length(world.state(above)->center_of_mass - place), 1e-3f);
  // What lay on a body that is taken away falls.
  world.remove(below);
  for (int i = 0; i < 120; ++i) world.step();
  EXPECT_LT(world.state(above)->center_of_mass.y, 0.25f);
}

TEST(LayeredContacts, RestsOnASolidAtAnyRatioOfMasses) {
  for (const float density : {20.0f, 1000.0f, 10'000.0f}) {
    World world(WorldDef{.allow_sleep = false});
    world.add(GroundDef{});
    SolidDef block;
    block.mesh = tet_box({1.6f, 0.3f, 1.6f}, 8, 2, 8);
    block.material.young_modulus = 5e5f;
    block.material.stiffness_damping = 0.01f;
    block.position = {0, 0.15f, 0};
    const BodyId solid = world.add(block).value();
    LayeredDef on_top = ring({0, 0.51f, 0});
    on_top.material.young_modulus = 5e5f;
    on_top.material.density = on_top.core_density = density;
    const BodyId layered = world.add(on_top).value();
    double most = 0;
    for (int i = 0; i < 150; ++i) {
      world.step();
      const StepReport& report = world.report();
      if (i == 0) most = report.kinetic_energy + report.elastic_energy + report.potential_energy;
      EXPECT_LE(report.kinetic_energy + report.elastic_energy + report.potential_energy, 1.001 * most);
    }
    // It has sunk in by its weight, not through.
    EXPECT_LT(world.state(layered)->center_of_mass.y, 0.5f);
    EXPECT_GT(world.state(layered)->center_of_mass.y, 0.42f) << density;
    EXPECT_LT(mean_speed(world, double(world.state(layered)->mass + world.state(solid)->mass)), 2e-3) << density;
    EXPECT_EQ(world.report().quarantined, 0u);
  }
}

TEST(LayeredContacts, ClothLiesOnABall) {
  World world(WorldDef{.allow_sleep = false});
  world.add(GroundDef{});
  const BodyId layered = world.add(ball({0, 0.3f, 0})).value();
  ClothDef sheet;
  sheet.shape = ClothSheet{.width = 1, .length = 1, .cells_x = 16, .cells_z = 16};
  sheet.position = {0, 0.62f, 0};
  const BodyId cloth = world.add(sheet).value();
  for (int i = 0; i < 90; ++i) world.step();
  // The middle of the cloth lies on the ball, less what the ball has sunk in.
  const std::span<const Vec3> nodes = world.node_positions(cloth).value();
  float highest = 0;
  for (const Vec3 x : nodes) highest = std::max(highest, x.y);
  EXPECT_GT(highest, 0.55f);
  EXPECT_LT(highest, 0.61f);
  EXPECT_LT(length(world.state(cloth)->velocity), 0.05f);
  EXPECT_GT(world.state(layered)->center_of_mass.y, 0.25f);
}

TEST(LayeredContacts, ATowerOfRigidAndLayeredBodiesIsOneIsland) {
  // The box on the box on the ring stands by forces that pass through all three in the same substep.
  World world(WorldDef{.allow_sleep = false});
  world.add(GroundDef{});
  const BodyId soft = world.add(ring({0, 0.195f, 0})).value();
  const BodyId low = world.add(RigidDef{.shape = Box{{1.2f, 0.2f, 1.2f}}, .position = {0, 0.49f, 0}}).value();
  const BodyId high =
      world.add(RigidDef{.shape = Box{{0.6f, 0.6f, 0.6f}}, .density = 2000, .position = {0, 0.89f, 0}}).value();
  for (int i = 0; i < 180; ++i) world.step();
  EXPECT_NEAR(world.state(high)->world_from_body.position.y - world.state(low)->world_from_body.position.y, 0.4f,
              2e-3f);
  EXPECT_LT(length(world.state(high)->velocity), 2e-3f);
  EXPECT_LT(length(world.state(soft)->velocity), 2e-3f);
  EXPECT_LT(world.state(low)->world_from_body.position.y, 0.49f);
}

/// How far a weight that slides along Y sinks into a ball whose core is fixed.
template <typename Def>
float indentation(const Def& ball_def) {
  World world(WorldDef{.allow_sleep = false});
  world.add(ball_def).value();
  const BodyId weight =
      world.add(RigidDef{.shape = Box{{0.5f, 0.1f, 0.5f}}, .density = 4000, .position = {0, 0.3501f, 0}}).value();
  world.add(JointDef{.kind = JointKind::Slider, .b = weight, .axis = {0, 1, 0}}).value();
  for (int i = 0; i < 100; ++i) world.step();
  EXPECT_LT(length(world.state(weight)->velocity), 2e-3f);
  return 0.35f - world.state(weight)->world_from_body.position.y;
}

/// The layer of a layered ball as a solid, cut into `layers`, its inside held.
SolidDef solid_of(const LayeredDef& layered, std::uint32_t layers) {
  const TriMesh& surface = layered.atlas.surface;
  const auto count = static_cast<std::uint32_t>(surface.vertices.size());
  SolidDef solid;
  solid.material = layered.material;
  solid.gravity_scale = 0;
  NodeList inner;
  for (std::uint32_t k = 0; k <= layers; ++k) {
    const float scale = 1 - float(k) / float(layers) * layered.thickness / 0.3f;
    for (const Vec3 v : surface.vertices) solid.mesh.nodes.push_back(v * scale);
  }
  for (std::uint32_t i = 0; i < count; ++i) inner.nodes.push_back(layers * count + i);
  solid.held.push_back({.nodes = inner});
  for (std::uint32_t k = 0; k < layers; ++k) {
    for (const Face& face : surface.faces) {
      for (Tet tet : layer_tets(face, count)) {
        for (std::uint32_t& node : tet) node += k * count;
        solid.mesh.tets.push_back(tet);
      }
    }
  }
  return solid;
}

TEST(LayeredContacts, AWeightSinksInAsFarAsIntoASolidOfFineTetsRoundAFixedCore) {
  LayeredDef layered;
  layered.atlas = atlas_sphere(0.3f, 12);
  layered.material.young_modulus = 2e5f;
  layered.material.stiffness_damping = 0.01f;
  layered.thickness = 0.05f;
  layered.core_is_fixed = true;
  layered.gravity_scale = 0;
  const float soft = indentation(layered), truth = indentation(solid_of(layered, 3));
  EXPECT_GT(truth, 0.005f);
  EXPECT_NEAR(soft, truth, 0.1f * truth);
  // With one tet through its thickness the solid is the same thing, but for its rotations.
  const float same = indentation(solid_of(layered, 1));
  EXPECT_NEAR(soft, same, 0.03f * same);
}

/// The middle of the face that is highest: as far from nodes as can be.
Vec3 highest_face(const World& world, BodyId body) {
  const std::span<const Vec3> x = *world.node_positions(body);
  Vec3 highest{0, -1e9f, 0};
  for (const Face& face : (*world.layered_def(body))->atlas.surface.faces) {
    const Vec3 middle = (x[face[0]] + x[face[1]] + x[face[2]]) / 3;
    if (middle.y > highest.y) highest = middle;
  }
  return highest;
}

TEST(LayeredContacts, ASpikePressesTheSkinInBetweenItsNodes) {
  World world(WorldDef{.gravity = {}});
  LayeredDef def = ball({});
  def.core_is_fixed = true;
  const BodyId skin = world.add(def).value();
  world.commit_edits();
  const Vec3 aim = highest_face(world, skin);
  // A needle, thinner than a cell.
  const float speed = 0.3f, length = 0.3f;
  const BodyId spike = world
                           .add(RigidDef{.shape = Cone{0.01f, length},
                                         .motion = Motion::Kinematic,
                                         .position = aim + Vec3{0, 0.5f * length + 0.003f, 0},
                                         .rotation = Quat::axis_angle({1, 0, 0}, kPi),
                                         .velocity = {0, -speed, 0}})
                           .value();
  for (int i = 0; i < 6; ++i) world.step();
  const float tip = world.state(spike)->world_from_body.position.y - 0.5f * length;
  EXPECT_LT(tip, aim.y - 0.02f);
  const auto hit = world.ray_cast({aim.x, 1, aim.z}, {0, -1, 0}, 2, {.ignore = spike});
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->body, skin);
  EXPECT_LT(hit->position.y, tip + 0.002f) << "the tip is inside";
  EXPECT_GT(hit->position.y, tip - 0.01f);
  EXPECT_EQ(world.report().unconverged_solids, 0u);
}

TEST(LayeredContacts, AShotSmallerThanACellDoesNotPass) {
  World world(WorldDef{.gravity = {}});
  const BodyId skin = world.add(ball({})).value();
  world.commit_edits();
  const Vec3 aim = highest_face(world, skin);
  const BodyId shot =
      world
          .add(RigidDef{
              .shape = Sphere{0.01f}, .density = 7800, .position = aim + Vec3{0, 0.06f, 0}, .velocity = {0, -2, 0}})
          .value();
  world.step();
  const double before = world.report().linear_momentum[1];
  const double energy = world.report().kinetic_energy;
  for (int i = 0; i < 30; ++i) {
    world.step();
    EXPECT_NEAR(world.report().linear_momentum[1], before, 1e-4 * std::abs(before));
    EXPECT_LE(world.report().kinetic_energy + world.report().elastic_energy, 1.01 * energy);
  }
  EXPECT_GT(world.state(shot)->world_from_body.position.y, aim.y);
  EXPECT_GT(world.state(shot)->velocity.y, -0.1f);
}

TEST(LayeredContacts, SnapshotsContinueBitForBitOnAnyNumberOfThreads) {
  std::uint64_t hashes[2];
  for (const int threads : {1, 2}) {
    World world(WorldDef{.threads = threads});
    world.add(GroundDef{});
    world.add(ring({0, 0.2f, 0}));
    world.add(ball({0, 0.5f, 0}));
    SolidDef cube;
    cube.mesh = tet_box({0.3f, 0.3f, 0.3f}, 3, 3, 3);
    cube.position = {0.5f, 0.58f, 0};
    world.add(cube);
    ClothDef sheet;
    sheet.shape = ClothSheet{.width = 0.6f, .length = 0.6f, .cells_x = 10, .cells_z = 10};
    sheet.position = {0, 0.82f, 0};
    world.add(sheet);
    // Fine enough to be looked at by textures.
    LayeredDef fine = ball({2, 0.3f, 0});
    fine.atlas = atlas_sphere(0.3f, 21);
    ASSERT_GT(fine.atlas.surface.faces.size(), 5000u);
    world.add(fine);
    fine.position = {2.05f, 0.91f, 0};
    world.add(fine);
    for (int i = 0; i < 15; ++i) world.step();
    const Snapshot snapshot = world.snapshot();
    for (int i = 0; i < 15; ++i) world.step();
    hashes[threads - 1] = world.hash();
    ASSERT_TRUE(world.restore(snapshot).ok());
    for (int i = 0; i < 15; ++i) world.step();
    EXPECT_EQ(world.hash(), hashes[threads - 1]);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

// A force of a hundred times its weight, from one step to the next: what it will do is looked for before it does it.
// The ball lies on its core then, and shakes; it went in by half its radius.
TEST(LayeredContacts, ASuddenForceDoesNotPushABodyIntoTheGround) {
  constexpr float kThickness = 0.06f;
  World world;
  world.add(GroundDef{}).value();
  const LayeredDef def{.atlas = atlas_sphere(0.3f, 6),
                       .material = {.young_modulus = 1e5f, .stiffness_damping = 2e-3f},
                       .thickness = kThickness,
                       .position = {0, 0.3f, 0}};
  const BodyId ball = world.add(def).value();
  for (int i = 0; i < 30; ++i) world.step();
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(world.apply_force(ball, {0, -1e5f, 0}).ok());
    world.step();
    EXPECT_GT(world.state(ball)->bounds.lower.y, -kThickness) << "step " << i;
  }
}

}  // namespace
}  // namespace pliant
