// Solids in a world: edits, reading, sleep, quarantine, determinism and snapshots.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

SolidDef soft_cube(Vec3 position) {
  return {.name = "cube",
          .mesh = tet_box({0.4f, 0.4f, 0.4f}, 0.1f),
          .material = {.young_modulus = 1e5f, .poisson_ratio = 0.4f, .stiffness_damping = 5e-3f},
          .position = position};
}

NodeSelection left_end() { return NodeHalfSpace{{-1, 0, 0}, 0.199f}; }

void step(World& world, int steps) {
  for (int i = 0; i < steps; ++i) world.step();
}

TEST(Solids, FallFreelyAsRigidBodiesDo) {
  World world;
  const BodyId solid = world.add(soft_cube({0, 100, 0})).value();
  step(world, 60);
  // Backward Euler: v grows by g dt a step, and so does x by v dt.
  EXPECT_NEAR(world.state(solid)->velocity.y, -9.81f, 1e-3f);
  EXPECT_NEAR(world.state(solid)->center_of_mass.y, 100 - 9.81f * 0.5f * 61 / 60, 2e-3f);
  EXPECT_LT(world.report().elastic_energy, 1e-3);
}

TEST(Solids, ADropNeverGainsEnergyHoweverHard) {
  // Very soft and fast: tets are pressed flat and inside out on the way.
  World world;
  world.add(GroundDef{}).value();
  SolidDef def = soft_cube({0, 1.2f, 0});
  def.material = material::jelly();
  world.add(def).value();
  world.step();
  double before = world.report().kinetic_energy + world.report().potential_energy + world.report().elastic_energy;
  for (int i = 0; i < 180; ++i) {
    const StepReport& report = world.step();
    const double now = report.kinetic_energy + report.potential_energy + report.elastic_energy;
    EXPECT_LT(now, before + 0.02 * std::abs(before)) << "step " << i;
    EXPECT_LT(report.max_penetration, 0.005f) << "step " << i;
    before = now;
  }
}

TEST(Solids, StiffAndTiltedTheyLandWithoutGainingEnergy) {
  for (const float size : {0.05f, 0.2f}) {
    for (const SolidMaterial& stuff : {material::glass(), material::steel(), material::ice()}) {
      World world;
      world.add(GroundDef{}).value();
      SolidDef def = soft_cube({0, 3 * size, 0});
      def.mesh = tet_box({size, size, size}, size / 4);
      def.material = stuff;
      def.rotation = Quat::axis_angle({1, 2, 3}, 0.7f);
      world.add(def).value();
      world.step();
      const auto energy = [](const StepReport& r) { return r.kinetic_energy + r.potential_energy + r.elastic_energy; };
      const double first = energy(world.report());
      for (int i = 0; i < 120; ++i) EXPECT_LT(energy(world.step()), 1.01 * first) << stuff.name << " " << size;
    }
  }
}

TEST(Solids, SpinWithoutStressOrFlow) {
  World world({.gravity = {0, 0, 0}});
  SolidDef def = soft_cube({});
  def.material = material::aluminium();
  def.angular_velocity = {5, 1, 0};
  const BodyId solid = world.add(def).value();
  step(world, 300);
  EXPECT_LT(world.report().elastic_energy, 1e-2 * world.report().kinetic_energy);
  for (const float flowed : *world.tet_values(solid, TetValue::PlasticStrain)) EXPECT_EQ(flowed, 0);
}

TEST(Solids, RestOnTheGroundWithTheirWeightAndSleep) {
  World world;
  const BodyId ground = world.add(GroundDef{}).value();
  const BodyId solid = world.add(soft_cube({0, 0.25f, 0})).value();
  float impulse = 0;
  for (int i = 0; i < 600 && world.state(solid)->awake; ++i) {
    world.step();
    if (world.events().contacts.empty()) continue;
    impulse = 0;
    for (const Contact& contact : world.events().contacts) {
      EXPECT_EQ(contact.a, solid);
      EXPECT_EQ(contact.b, ground);
      impulse += contact.normal_impulse;
    }
  }
  const float weight = world.state(solid)->mass * 9.81f;
  EXPECT_NEAR(impulse * 60, weight, 0.02f * weight);
  EXPECT_FALSE(world.state(solid)->awake);
  EXPECT_EQ(world.report().awake_bodies, 0u);
  // What it lies on is taken away.
  ASSERT_TRUE(world.remove(ground).ok());
  step(world, 30);
  EXPECT_TRUE(world.state(solid)->awake);
  EXPECT_LT(world.state(solid)->center_of_mass.y, 0.0f);
}

TEST(Solids, HeldNodesCarryTheWeightAndGoWhereTheyAreDriven) {
  World world({.allow_sleep = false});
  SolidDef def = soft_cube({0, 1, 0});
  def.material.stiffness_damping = 0.05f;
  def.held = {{.name = "left", .nodes = left_end()}};
  const BodyId solid = world.add(def).value();
  step(world, 300);
  const float weight = world.state(solid)->mass * 9.81f;
  const Vec3 force = *world.held_force(solid);
  EXPECT_NEAR(force.y, weight, 2e-3f * weight);
  EXPECT_NEAR(force.x, 0, 2e-3f * weight);

  for (int i = 1; i <= 60; ++i) {
    ASSERT_TRUE(world.drive(solid, left_end(), Transform{{0, 1 + 0.01f * static_cast<float>(i), 0}, {}}).ok());
    world.step();
  }
  const auto nodes = *world.node_positions(solid);
  const SolidDef& kept = **world.solid_def(solid);
  for (const std::uint32_t node : *select_nodes(kept.mesh, left_end())) {
    EXPECT_NEAR(nodes[node].y, kept.mesh.nodes[node].y + 1.6f, 1e-4f);
  }
  ASSERT_TRUE(world.release(solid, left_end()).ok());
  step(world, 10);
  EXPECT_LT(world.state(solid)->velocity.y, -1.0f);
}

TEST(Solids, ForcesPressureAndImpulsesMoveThemAsNewtonSays) {
  World world({.gravity = {0, 0, 0}});
  const BodyId solid = world.add(soft_cube({})).value();
  const float mass = 0.4f * 0.4f * 0.4f * 1000;
  ASSERT_TRUE(world.apply_impulse(solid, {mass, 0, 0}).ok());
  world.step();
  EXPECT_NEAR(world.state(solid)->velocity.x, 1, 1e-4f);
  ASSERT_TRUE(world.apply_impulse(solid, {0, mass, 0}, {0.2f, 0, 0}).ok());
  world.step();
  EXPECT_NEAR(world.state(solid)->velocity.y, 1, 1e-4f);
  ASSERT_TRUE(world.apply_force(solid, {0, 0, 60 * mass}).ok());
  world.step();
  EXPECT_NEAR(world.state(solid)->velocity.z, 1, 1e-3f);
  // Pressure from all sides moves nothing; from one side it pushes with area times pressure.
  World other({.gravity = {0, 0, 0}});
  const BodyId cube = other.add(soft_cube({})).value();
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(other.apply_pressure(cube, 1000).ok());
    other.step();
  }
  EXPECT_NEAR(length(other.state(cube)->velocity), 0, 1e-4f);
  EXPECT_LT(other.state(cube)->bounds.size().x, 0.4f);
  ASSERT_TRUE(other.apply_pressure(cube, -1000, left_end()).ok());
  const float area = other.state(cube)->bounds.size().y * other.state(cube)->bounds.size().z;
  other.step();
  EXPECT_NEAR(other.state(cube)->velocity.x * mass * 60, -1000 * area, 0.02f * 1000 * area);
}

TEST(Solids, APressureNeedsAWholeTriangle) {
  World world({.gravity = {0, 0, 0}});
  const BodyId cube = world.add(soft_cube({})).value();
  const Face face = (*world.surface_faces(cube))[7];
  const Status refused = world.apply_pressure(cube, 100, NodeList{{face[0], face[1]}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().field, "apply_pressure");
  EXPECT_NE(refused.error().message.find("2 nodes, holds no whole triangle"), std::string::npos);
  world.step();
  EXPECT_EQ(world.report().errors.size(), 1u);
  EXPECT_EQ(world.state(cube)->velocity, Vec3{});

  // One triangle of the surface: its area times the pressure, against its normal.
  const std::span<const Vec3> x = *world.node_positions(cube);
  const Vec3 force = cross(x[face[1]] - x[face[0]], x[face[2]] - x[face[0]]) * (-0.5f * 100);
  ASSERT_TRUE(world.apply_pressure(cube, 100, NodeList{{face[0], face[1], face[2]}}).ok());
  const float dt = world.def().dt, mass = world.state(cube)->mass;
  world.step();
  EXPECT_LT(length(world.state(cube)->velocity * (mass / dt) - force), 1e-2f * length(force));
}

TEST(Solids, SelectionsCanBeAskedFor) {
  World world;
  const BodyId cube = world.add(soft_cube({5, 0, 0})).value();
  const BodyId ball = world.add(RigidDef{.shape = Sphere{0.1f}}).value();
  const std::vector<std::uint32_t> nodes = *world.select_nodes(cube, left_end());
  const std::span<const Vec3> rest = world.solid_def(cube).value()->mesh.nodes;
  for (std::uint32_t i = 0; i < rest.size(); ++i) {
    EXPECT_EQ(std::binary_search(nodes.begin(), nodes.end(), i), rest[i].x < -0.19f) << i;
  }
  EXPECT_FALSE(world.select_nodes(ball, AllNodes{}).ok());
  // Places in the world are not those of the mesh, and the message says where the mesh is.
  const auto nothing = world.select_nodes(cube, NodeBox{{{4, -1, -1}, {6, 1, 1}}});
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.error().message.find("between (-0.2, -0.2, -0.2) and (0.2, 0.2, 0.2)"), std::string::npos)
      << nothing.error().message;
}

TEST(Solids, DragSlowsThemToATerminalSpeed) {
  World world;
  SolidDef def = soft_cube({0, 1000, 0});
  def.mesh = tet_sphere(0.2f, 0.04f);
  def.material.density = 20;
  def.drag = 10;
  const BodyId solid = world.add(def).value();
  step(world, 300);
  // The air's pressure falls with the square of the cosine over a ball: half of what a disk would take.
  const float weight = world.state(solid)->mass * 9.81f;
  const float terminal = std::sqrt(weight / (0.25f * 10 * kPi * 0.2f * 0.2f));
  EXPECT_NEAR(-world.state(solid)->velocity.y, terminal, 0.05f * terminal);
}

/// A cube that weighs 1.28 kg, in air 1.2 times as dense as usual.
SolidDef light_cube() {
  SolidDef def = soft_cube({});
  def.material.density = 20;
  def.drag = 1.44f;
  return def;
}

TEST(Solids, WindCarriesThemAlongAsItsSquareSays) {
  const Vec3 wind{30, 0, 0};
  World world({.gravity = {}, .wind = wind, .dt = 1.0f / 240});
  const BodyId solid = world.add(light_cube()).value();
  // Of u, the speed of the air against the body: u' = -k u², so u = u0 / (1 + k u0 t).
  const float k = 0.5f * 1.44f * 0.16f / 1.28f;
  for (int second = 1; second <= 3; ++second) {
    step(world, 240);
    const float u = wind.x / (1 + k * wind.x * static_cast<float>(second));
    EXPECT_NEAR(world.state(solid)->velocity.x, wind.x - u, 0.01f * wind.x) << "after " << second << " s";
    EXPECT_LT(std::abs(world.state(solid)->velocity.y), 1e-3f);
  }
}

TEST(Solids, InWindMoveAsInStillAirSeenFromIt) {
  const Vec3 wind{-4, 7, 2};
  World windy({.gravity = {}, .wind = wind}), still({.gravity = {}});
  SolidDef def = light_cube();
  const BodyId calm = windy.add(SolidDef{def}).value();
  def.velocity = -wind;
  const BodyId moving = still.add(def).value();
  step(windy, 120), step(still, 120);
  EXPECT_LT(length(windy.state(calm)->velocity - (still.state(moving)->velocity + wind)), 1e-3f);
  // What goes with the wind feels none.
  def.velocity = wind;
  World along({.gravity = {}, .wind = wind});
  const BodyId carried = along.add(def).value();
  step(along, 120);
  EXPECT_LT(length(along.state(carried)->velocity - wind), 1e-3f);
}

TEST(Solids, HeldInTheWindTakeItsPressure) {
  World world({.gravity = {}, .allow_sleep = true});
  SolidDef def = light_cube();
  def.held = {{.nodes = NodeHalfSpace{{1, 0, 0}, 0.199f}}};
  const BodyId solid = world.add(def).value();
  step(world, 120);
  ASSERT_FALSE(world.state(solid)->awake);
  world.set_wind({20, 0, 0});  // wakes it
  step(world, 120);
  EXPECT_NEAR(world.held_force(solid)->x, -0.5f * 1.44f * 0.16f * 400, 0.5f);
}

TEST(Solids, TractionPullsByTheAreaOfTheSurface) {
  World world({.gravity = {}, .allow_sleep = false});
  SolidDef def = soft_cube({});
  def.material = {.young_modulus = 1e6f, .poisson_ratio = 0, .stiffness_damping = 0.02f};
  def.held = {{.nodes = left_end()}};
  const BodyId bar = world.add(def).value();
  const NodeSelection right = NodeHalfSpace{{1, 0, 0}, 0.199f};
  for (int i = 0; i < 240; ++i) {
    ASSERT_TRUE(world.apply_traction(bar, {5000, 0, 0}, right));
    world.step();
  }
  // sigma L / E, and sigma everywhere within.
  EXPECT_NEAR(world.state(bar)->bounds.upper.x - 0.2f, 5000 * 0.4f / 1e6f, 2e-5f);
  for (const float tension : *world.tet_values(bar, TetValue::Tension)) EXPECT_NEAR(tension, 5000, 100);
  EXPECT_NEAR(world.held_force(bar)->x, -5000 * 0.16f, 1);

  // Along the surface too, and on bodies of other kinds.
  World flight({.gravity = {}, .allow_sleep = false});
  const BodyId cube = flight.add(soft_cube({})).value();
  const BodyId sheet =
      flight.add(ClothDef{.shape = ClothSheet{.width = 1, .length = 1}, .position = {0, 5, 0}}).value();
  step(flight, 1);
  const float mass = flight.state(cube)->mass, density = flight.state(sheet)->mass;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(flight.apply_traction(cube, {0, 0, 40}, NodeHalfSpace{{0, 1, 0}, 0.199f}));
    ASSERT_TRUE(flight.apply_traction(sheet, {0, 0, 0.1f}));
    flight.step();
  }
  EXPECT_NEAR(flight.state(cube)->velocity.z, 40 * 0.16f / mass * 0.5f, 2e-4f);
  EXPECT_NEAR(flight.state(sheet)->velocity.z, 0.1f / density * 0.5f, 1e-3f);
  EXPECT_FALSE(flight.apply_traction(cube, {kInfinity, 0, 0}));
  EXPECT_FALSE(flight.apply_traction(cube, {1, 0, 0}, NodeList{{0}}));
}

TEST(Solids, OnlyHeldNodesAreDriven) {
  World world({.gravity = {}});
  const BodyId cube = world.add(soft_cube({})).value();
  const BodyId rope = world.add(RopeDef{.path = {{3, 0, 0}, {4, 0, 0}}}).value();
  for (const BodyId body : {cube, rope}) {
    EXPECT_FALSE(world.drive(body, AllNodes{}, Vec3{1, 0, 0}));
    EXPECT_FALSE(world.drive(body, AllNodes{}, Transform{{5, 0, 0}, {}}));
  }
  EXPECT_EQ(world.step().errors.size(), 4u);
  // Held in the same breath; of all nodes the held ones are meant.
  ASSERT_TRUE(world.hold(cube, left_end()));
  EXPECT_TRUE(world.drive(cube, AllNodes{}, Vec3{1, 0, 0}));
  EXPECT_FALSE(world.drive(cube, NodeHalfSpace{{1, 0, 0}, 0.199f}, Vec3{1, 0, 0}));
  ASSERT_TRUE(world.release(cube, left_end()));
  EXPECT_FALSE(world.drive(cube, AllNodes{}, Vec3{1, 0, 0}));
}

TEST(Solids, SelectionsWithoutMeaningAreRefused) {
  World world;
  const BodyId cube = world.add(soft_cube({})).value();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const NodeSelection bad[] = {NodeHalfSpace{{0, 0, 0}, 0},        NodeHalfSpace{{kNan, 0, 0}, 0},
                               NodeHalfSpace{{0, 1, 0}, kNan},     NodeSlab{{0, 0, 0}, 0, 1},
                               NodeSlab{{0, 1, 0}, kNan, 1},       NearestNodes{{kNan, 0, 0}, 1},
                               NearestNodes{{kInfinity, 0, 0}, 1}, NodeBox{{{kNan, -1, -1}, {1, 1, 1}}}};
  for (const NodeSelection& nodes : bad) {
    EXPECT_FALSE(world.select_nodes(cube, nodes));
    SolidDef def = soft_cube({});
    def.held = {{.nodes = nodes}};
    EXPECT_FALSE(world.add(def));
  }
  EXPECT_TRUE(world.select_nodes(cube, NodeBox{{{-kInfinity, -1, -1}, {kInfinity, 1, 1}}}));
}

TEST(Solids, AreSolvedAsWellAsTheirMaterialSays) {
  const auto run = [](std::optional<SolidSolver> of_material, SolidSolver own, SolidSolver& resolved) {
    World world;
    SolidDef def = soft_cube({0, 1, 0});
    def.held = {{.nodes = left_end()}};
    def.material.solver = of_material;
    def.solver = own;
    const BodyId cube = world.add(def).value();
    step(world, 20);
    resolved = (*world.solid_def(cube))->solver;
    return world.hash();
  };
  SolidSolver found;
  const SolidSolver strict{.tolerance = 1e-6f, .max_iterations = 1000};
  const std::uint64_t usual = run({}, {}, found), own = run({}, strict, found);
  EXPECT_NE(usual, own);
  EXPECT_EQ(run(strict, {}, found), own);
  EXPECT_EQ(found.max_iterations, 1000);
  run(strict, {.tolerance = 0.01f}, found);
  EXPECT_EQ(found.tolerance, 0.01f);
  EXPECT_EQ(found.max_iterations, 1000);
  World world;
  SolidDef def = soft_cube({});
  def.material.solver = SolidSolver{.tolerance = 0};
  EXPECT_EQ(world.add(def).error().field, "add: material.solver.tolerance");
}

TEST(Solids, AreHitByRays) {
  World world;
  const BodyId solid = world.add(soft_cube({0, 1, 0})).value();
  world.add(RigidDef{.shape = Box{{1, 0.1f, 1}}, .motion = Motion::Static}).value();
  world.commit_edits();
  const auto hit = world.ray_cast({0.05f, 5, 0.02f}, {0, -1, 0}, 10);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->body, solid);
  EXPECT_NEAR(hit->distance, 3.8f, 1e-5f);
  EXPECT_NEAR(hit->normal.y, 1, 1e-5f);
  EXPECT_EQ(world.ray_cast_all({0.05f, 5, 0.02f}, {0, -1, 0}, 10).size(), 2u);
}

TEST(Solids, StressOfAHangingBarIsItsWeightOverItsSection) {
  World world({.allow_sleep = false});
  SolidDef def{.mesh = tet_box({0.1f, 1, 0.1f}, 0.05f),
               .material = {.young_modulus = 1e6f, .poisson_ratio = 0, .stiffness_damping = 0.05f},
               .held = {{.nodes = NodeHalfSpace{{0, 1, 0}, 0.499f}}}};
  const BodyId bar = world.add(def).value();
  step(world, 400);
  const std::vector<float> tension = *world.tet_values(bar, TetValue::Tension);
  for (std::size_t tet = 0; tet < tension.size(); ++tet) {
    float y = 0;
    for (const std::uint32_t node : def.mesh.tets[tet]) y += def.mesh.nodes[node].y / 4;
    EXPECT_NEAR(tension[tet], 1000 * 9.81f * (y + 0.5f), 600) << "at " << y;
  }
}

TEST(Solids, WrongDefsAreRefusedWithTheField) {
  World world;
  const auto field_of = [&](const SolidDef& def) {
    const Result<BodyId> id = world.add(def);
    return id ? std::string("accepted") : id.error().field;
  };
  EXPECT_EQ(field_of({}), "add: mesh");
  SolidDef def = soft_cube({});
  def.material.poisson_ratio = 0.5f;
  EXPECT_EQ(field_of(def), "add: material.poisson_ratio");
  def = soft_cube({});
  def.mesh.nodes[3].x = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(field_of(def), "add: mesh");
  def = soft_cube({});
  std::swap(def.mesh.tets[7][0], def.mesh.tets[7][1]);
  EXPECT_EQ(field_of(def), "add: mesh");
  def = soft_cube({});
  def.held = {{.nodes = NodeSet{"nowhere"}}};
  EXPECT_EQ(field_of(def), "add: held[0].nodes");
  def = soft_cube({});
  def.material = material::steel();
  def.material.elasticity = Elasticity::NeoHookean;
  EXPECT_EQ(field_of(def), "add: material.elasticity");

  const BodyId rigid = world.add(RigidDef{}).value();
  EXPECT_FALSE(world.hold(rigid, AllNodes{}).ok());
  EXPECT_FALSE(world.node_positions(rigid).ok());
  const BodyId solid = world.add(soft_cube({})).value();
  EXPECT_FALSE(world.def(solid).ok());
  EXPECT_FALSE(world.add(JointDef{.a = solid, .b = rigid}).ok());
  EXPECT_EQ(world.kind(solid), BodyKind::Solid);
  EXPECT_EQ(world.name(solid), "cube");
  EXPECT_EQ(world.find("cube"), solid);
}

TEST(Solids, AThousandMetresPerSecondAtOneNodeIsNoDisaster) {
  World world;
  world.add(GroundDef{}).value();
  const BodyId solid = world.add(soft_cube({0, 1, 0})).value();
  world.commit_edits();
  std::vector<Vec3> positions((*world.node_positions(solid)).begin(), (*world.node_positions(solid)).end());
  std::vector<Vec3> velocities(positions.size());
  velocities[5] = {1000, -1000, 300};
  ASSERT_TRUE(world.set_nodes(solid, positions, velocities).ok());
  step(world, 120);
  EXPECT_EQ(world.report().quarantined, 0u);
  const Vec3 size = world.state(solid)->bounds.size();
  EXPECT_LT(std::max({size.x, size.y, size.z}), 1.0f);
}

struct Mixed {
  World world;
  BodyId held;
};

Mixed mixed_world(int threads) {
  Mixed m{World({.threads = threads}), {}};
  m.world.add(GroundDef{}).value();
  m.world.add(RigidDef{.shape = Sphere{0.4f}, .motion = Motion::Static, .position = {0.2f, 0, 0}}).value();
  m.world.add(RigidDef{.shape = Box{{1, 1, 1}}, .position = {5, 3, 0}}).value();
  m.world.add(soft_cube({0, 1, 0})).value();
  SolidDef metal = soft_cube({2, 0.6f, 0});
  metal.material = material::clay();
  m.world.add(metal).value();
  SolidDef rubber{.mesh = tet_box({1.2f, 0.5f, 0.5f}, 0.07f), .material = material::rubber(), .position = {-2, 1, 0}};
  rubber.held = {{.nodes = NodeHalfSpace{{-1, 0, 0}, 0.59f}}};
  m.held = m.world.add(rubber).value();
  return m;
}

void drive(Mixed& m, int i) {
  const float angle = 0.01f * static_cast<float>(i);
  m.world.drive(m.held, NodeHalfSpace{{-1, 0, 0}, 0.59f}, Transform{{-2, 1, 0}, Quat::axis_angle({1, 0, 0}, angle)})
      .require();
  m.world.step();
}

TEST(Solids, GiveTheSameHashForAnyNumberOfThreadsAndAfterASnapshot) {
  Mixed one = mixed_world(1), two = mixed_world(2);
  Snapshot snapshot;
  for (int i = 0; i < 150; ++i) {
    if (i == 60) snapshot = two.world.snapshot();
    drive(one, i);
    drive(two, i);
    ASSERT_EQ(one.world.report().hash, two.world.report().hash) << "step " << i;
  }
  Mixed other = mixed_world(2);
  ASSERT_TRUE(other.world.restore(snapshot).ok());
  ASSERT_TRUE(one.world.restore(snapshot).ok());
  for (int i = 60; i < 150; ++i) drive(other, i), drive(one, i);
  EXPECT_EQ(other.world.report().hash, two.world.report().hash);
  EXPECT_EQ(one.world.report().hash, two.world.report().hash);
}

}  // namespace
}  // namespace pliant
