// Solids on a plane: where they rest, what carries them, when they slide.
#include <cstdio>

#include "solid/solid_measures.h"
#include "solid/solid_support.h"

namespace pliant {
namespace {

SolidDef cube(float size, int cells, float young, float height, float poisson = 0.3f) {
  return {.mesh = tet_box({size, size, size}, cells, cells, cells),
          .material = elastic(young, poisson),
          .position = {0, size / 2 + height, 0}};
}

TEST(SolidContact, ADroppedCubeComesToRestOnTheGround) {
  for (const float young : {3e4f, 1e6f, 1e8f, 2e11f}) {
    GroundedRig rig(cube(0.5f, 4, young, 0.3f));
    const double weight = 125 * 9.81, start = 125 * 9.81 * (0.25 + 0.3);
    double most_energy = 0;
    int unconverged = 0;
    for (int step = 0; step < 360; ++step) {
      unconverged += !rig.step_on_ground({0, -9.81f, 0}).converged;
      const SolidTotals totals = rig.body.totals();
      most_energy = std::max(most_energy, totals.kinetic + weight * totals.center[1]);
    }
    const SolidTotals rest = rig.body.totals();
    const Vec3d impulse = rig.contact_impulse();
    std::printf(
        "E %.0e: lowest node %.2e m, centre %.4f m, energy at most %.4f of the first, at rest %.1e J, impulse "
        "%.5f of the weight, %d iterations, %d unconverged\n",
        static_cast<double>(young), rig.lowest(), rest.center[1], most_energy / start, rest.kinetic,
        impulse.y / (weight / 60), rig.iterations, unconverged);
    EXPECT_GT(rig.lowest(), -1e-3);
    EXPECT_LT(rig.lowest(), 1e-4);
    EXPECT_LT(most_energy, 1.001 * start);
    EXPECT_LT(rest.kinetic, 1e-6 * start);
    EXPECT_NEAR(impulse.y, weight / 60, 2e-3 * weight / 60);
    EXPECT_NEAR(impulse.x, 0, 1e-3 * weight / 60);
    // The column under its own weight is shorter by ρ g h² / 2 E; its centre sinks by a third of ρ g h² / E.
    const double sink = 1000 * 9.81 * 0.25 / static_cast<double>(young) / 3;
    EXPECT_NEAR(rest.center[1], 0.25 - sink, 0.3 * sink + 1e-3);
    EXPECT_LT(unconverged, 10);
  }
}

/// How near the surface of a mesh comes to its middle, the origin: a body at rest on a face of it is that high at
/// least.
double least_height(const TetMesh& mesh) {
  const TriMesh surface = extract_surface(mesh);
  double least = 1e30;
  for (const Face& face : surface.faces) {
    const Vec3d a(surface.vertices[face[0]]), b(surface.vertices[face[1]]), c(surface.vertices[face[2]]);
    const Vec3d n = cross(b - a, c - a);
    least = std::min(least, std::abs(dot(n, a)) / std::sqrt(dot(n, n)));
  }
  return least;
}

/// A body of steel falls from `height` above the ground, at 60 steps a second.
void drop_steel(const char* what, TetMesh mesh, float size, float height, Quat rotation = {}) {
  SolidMaterial steel = elastic(2e11f, 0.3f);
  steel.density = 7850;
  SolidDef def{.mesh = std::move(mesh), .material = steel, .rotation = rotation};
  float lowest = 0;
  for (const Vec3 node : def.mesh.nodes) lowest = std::min(lowest, rotation.rotate(node).y);
  def.position.y = height - lowest;
  GroundedRig rig(std::move(def));
  const double least = least_height(rig.mesh());
  const double weight = rig.body.totals().mass * 9.81, start = weight * rig.body.totals().center[1];
  std::vector<double> scratch;
  double most = 0;
  int unconverged = 0;
  for (int step = 0; step < 120; ++step) {
    rig.watch_motion(0.02f * size, {0, -9.81f, 0}, kStep);
    unconverged += !rig.step_on_ground({0, -9.81f, 0}).converged;
    const SolidTotals totals = rig.body.totals();
    const double elastic_energy = measure_energy(rig.workers, rig.body, scratch);
    most = std::max(most, totals.kinetic + weight * totals.center[1] + elastic_energy);
  }
  const SolidTotals rest = rig.body.totals();
  std::printf(
      "%s of %g m: energy at most %.4f of the first, centre %.4f of the size, lowest %.1e, kinetic %.1e of the "
      "fall, %d iterations, %d unconverged\n",
      what, static_cast<double>(size), most / start, rest.center[1] / static_cast<double>(size),
      rig.lowest() / static_cast<double>(size), rest.kinetic / start, rig.iterations, unconverged);
  EXPECT_LT(most, 1.02 * start);
  EXPECT_GT(rest.center[1], least - 0.005 * static_cast<double>(size));
  EXPECT_LT(rest.center[1], 0.505 * static_cast<double>(size));
  EXPECT_NEAR(rig.lowest(), 0, 0.005 * static_cast<double>(size));
  EXPECT_LT(rest.kinetic, 1e-6 * start);
  EXPECT_LE(unconverged, 3);
}

TEST(SolidContact, SmallThingsOfSteelLandWithoutGainingEnergy) {
  for (const float size : {0.001f, 0.01f, 0.05f}) {
    drop_steel("cube", tet_box({size, size, size}, 4, 4, 4), size, 0.5f * size);
    drop_steel("cube, coarse", tet_box({size, size, size}, 2, 2, 2), size, 0.5f * size);
    drop_steel("cube, aslant", tet_box({size, size, size}, 4, 4, 4), size, 20 * size,
               Quat::axis_angle({1, 2, 3}, 0.7f));
  }
  for (const float size : {0.002f, 0.02f, 0.1f}) drop_steel("ball", tet_sphere(size / 2, size / 6), size, 0.5f * size);
}

TEST(SolidContact, ASmallThingOfSteelIsTheSameOnAnyNumberOfThreads) {
  const auto land = [](int threads) {
    SolidMaterial steel = elastic(2e11f, 0.3f);
    steel.density = 7850;
    GroundedRig rig({.mesh = tet_box({0.02f, 0.02f, 0.02f}, 10, 10, 10),
                     .material = steel,
                     .position = {0, 0.03f, 0},
                     .rotation = Quat::axis_angle({1, 2, 3}, 0.7f),
                     .angular_velocity = {5, 2, 1}},
                    threads);
    for (int step = 0; step < 20; ++step) {
      rig.watch_motion(2e-4f, {0, -9.81f, 0}, kStep);
      rig.step_on_ground({0, -9.81f, 0});
    }
    return rig.body.state().positions.floats();
  };
  const std::vector<float> alone = land(1);
  EXPECT_EQ(alone, land(2));
  EXPECT_EQ(alone, land(3));
}

TEST(SolidContact, AThinRodOfSteelLandsWithoutGainingEnergy) {
  // Stiff enough for floats to lose its mass, and slender enough to bend.
  const Quat slant = Quat::axis_angle({0, 0, 1}, 0.5f);
  drop_steel("rod", tet_box({0.2f, 0.003f, 0.003f}, 50, 1, 1), 0.003f, 0.02f, slant);
}

TEST(SolidContact, SizesDoNotMatter) {
  for (const float size : {0.005f, 0.05f, 5.0f, 50.0f}) {
    // The same shape, with times as the square root of the size.
    const float dt = kStep * std::sqrt(size / 0.5f);
    GroundedRig rig(cube(size, 4, 2e5f * size / 0.5f, 0.5f * size));
    rig.margin = 0.2f * size;
    const double start = rig.body.totals().center[1];
    for (int step = 0; step < 300; ++step) rig.step_on_ground({0, -9.81f, 0}, dt);
    const SolidTotals rest = rig.body.totals();
    const double energy = rest.kinetic / (rest.mass * 9.81 * start);
    std::printf("size %g m: centre at %.4f of the size, lowest %.1e, kinetic %.1e of the fall\n",
                static_cast<double>(size), rest.center[1] / static_cast<double>(size),
                rig.lowest() / static_cast<double>(size), energy);
    EXPECT_NEAR(rest.center[1] / static_cast<double>(size), 0.492, 0.005);
    EXPECT_LT(energy, 1e-6);
  }
}

struct Slide {
  double way = 0, speed_up = 0;
};
/// How far a cube slides down a slope of 1 in 2 between one second and three, and how much faster it gets.
Slide slide(float friction, float young, int settling = 60) {
  GroundedRig rig(cube(0.3f, 3, young, 0));
  rig.friction = friction;
  const float angle = std::atan(0.5f);
  const Vec3 gravity{9.81f * std::sin(angle), -9.81f * std::cos(angle), 0};
  SolidTotals start;
  for (int step = 0; step < settling + 120; ++step) {
    if (step == settling) start = rig.body.totals();
    rig.step_on_ground(gravity);
  }
  const SolidTotals end = rig.body.totals();
  return {end.center[0] - start.center[0], (end.momentum[0] - start.momentum[0]) / end.mass};
}

TEST(SolidContact, ASlopeHoldsWhatFrictionSays) {
  for (const float young : {2e5f, 1e8f}) {
    // While the soft cube still wobbles, nodes at the edge of their cone slip by some micrometres, and may.
    const Slide held = slide(0.51f, young, 300), slid = slide(0.49f, young);
    // a = g (sin − μ cos), over two seconds.
    const double expected = 9.81 * std::cos(std::atan(0.5)) * 0.01 * 2;
    std::printf("E %.0e: held %.1e m at 0.51, slid %.4f m at 0.49 and got %.4f m/s faster (%.4f expected)\n",
                static_cast<double>(young), held.way, slid.way, slid.speed_up, expected);
    EXPECT_LT(std::abs(held.way), 1e-5);
    EXPECT_NEAR(slid.speed_up, expected, 0.05 * expected);
  }
}

TEST(SolidContact, AWarmBodyAtRestDoesNotCreep) {
  GroundedRig rig(cube(0.4f, 4, 1e5f, 0));
  for (int step = 0; step < 240; ++step) rig.step_on_ground({0, -9.81f, 0});
  const SolidTotals before = rig.body.totals();
  for (int step = 0; step < 600; ++step) rig.step_on_ground({0, -9.81f, 0});
  const SolidTotals after = rig.body.totals();
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(after.center[k], before.center[k], 1e-5);
  std::printf("moved (%.1e, %.1e, %.1e) m in ten seconds\n", after.center[0] - before.center[0],
              after.center[1] - before.center[1], after.center[2] - before.center[2]);
}

TEST(SolidContact, AFrictionlessPushGivesItsMomentum) {
  // A cube that slides over ice: momentum along the plane is not touched, that across it is what contacts gave.
  GroundedRig rig([] {
    SolidDef def = cube(0.4f, 4, 1e6f, 0.05f);
    def.velocity = {2, 0, 1};
    def.angular_velocity = {0, 3, 0};
    return def;
  }());
  rig.friction = 0;
  const SolidTotals before = rig.body.totals();
  double given = 0;
  for (int step = 0; step < 120; ++step) {
    rig.step_on_ground({0, -9.81f, 0});
    given += rig.contact_impulse().y;
  }
  const SolidTotals after = rig.body.totals();
  EXPECT_NEAR(after.momentum[0], before.momentum[0], 1e-5 * before.momentum[0]);
  EXPECT_NEAR(after.momentum[2], before.momentum[2], 1e-5 * before.momentum[0]);
  EXPECT_NEAR(after.spin[1], before.spin[1], 1e-3 * before.spin[1]);
  EXPECT_NEAR(after.momentum[1] - before.momentum[1], given - before.mass * 9.81 * 2, 1e-3 * before.mass * 9.81 * 2);
}

}  // namespace
}  // namespace pliant
