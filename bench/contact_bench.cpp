// Piles of soft cubes in a box: steps 75 to 149 at 1/60 s, when most have landed and all are awake.
//
// Cubes of 0.5 m, 5x5x5 cells of 6 tets, E = 2e5 Pa, ν = 0.3, 500 kg/m³, μ = 0.4, 0.65 m apart, layers 0.75 m apart,
// tilted at random by up to 0.25 rad. FEMFX takes 43 ms on one core and 30 on two for 27 of them, 336 ms on one core
// for 125 (measured on such a machine). `penetration` is the deepest of all steps from 75 on, in shares of a cube. The
// piles of 8 to 216 have from 1000 to 20,000 contacts and more: `us_per_contact` says how the cost grows with them.
//
// `solid_pile_27_asleep` is the pile of 27 when all of it sleeps.
#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>

#include "pliant/generators.h"
#include "pliant/world.h"

#include "bench/suite.h"

namespace pliant {
namespace {

constexpr float kSide = 0.5f, kFriction = 0.4f;

void add_walls(World& world, float half_width) {
  const float height = 4 * half_width, thickness = 0.2f, middle = half_width + thickness / 2;
  for (const float sign : {-1.0f, 1.0f}) {
    RigidDef wall{.motion = Motion::Static, .friction = kFriction};
    wall.shape = Box{{thickness, height, 2 * half_width + 2 * thickness}};
    wall.position = {sign * middle, height / 2, 0};
    world.add(wall).value();
    wall.shape = Box{{2 * half_width, height, thickness}};
    wall.position = {0, height / 2, sign * middle};
    world.add(wall).value();
  }
}

World make_pile(int side, int threads) {
  World world({.threads = threads});
  world.add(GroundDef{.friction = kFriction}).value();
  add_walls(world, 0.325f * static_cast<float>(side) + 0.15f);
  std::mt19937 random(7);
  const auto within = [&](float most) { return std::uniform_real_distribution<float>(-most, most)(random); };
  const SolidDef cube{.mesh = tet_box({kSide, kSide, kSide}, 5, 5, 5),
                      .material = {.density = 500, .young_modulus = 2e5f, .poisson_ratio = 0.3f},
                      .friction = kFriction};
  const auto place = [&](int i) { return (static_cast<float>(i) - 0.5f * static_cast<float>(side - 1)) * 0.65f; };
  for (int layer = 0; layer < side; ++layer) {
    for (int i = 0; i < side; ++i) {
      for (int k = 0; k < side; ++k) {
        SolidDef def = cube;
        def.position = {place(i) + within(0.02f), 0.45f + 0.75f * static_cast<float>(layer), place(k) + within(0.02f)};
        def.rotation = Quat::axis_angle(normalized(Vec3{within(1), within(1), within(1)}, {0, 1, 0}), within(0.25f));
        world.add(def).value();
      }
    }
  }
  return world;
}

BenchResult run(int side, const BenchContext& context) {
  constexpr int kFirst = 75, kSteps = 75;
  BenchResult result;
  result.threads = context.threads;
  std::vector<std::vector<double>> times;
  double iterations = 0, contacts = 0, penetration = 0;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    World world = make_pile(side, context.threads);
    measure(kFirst, [&] { world.step(); });  // until the cubes meet
    iterations = contacts = penetration = 0;
    times.push_back(measure(kSteps, [&] {
      const StepReport& report = world.step();
      iterations += static_cast<double>(report.cg_iterations) / kSteps;
      contacts += static_cast<double>(report.contacts) / kSteps;
      penetration = std::max(penetration, static_cast<double>(report.max_penetration) / kSide);
    }));
  }
  summarize(times, result);
  const double bodies = static_cast<double>(side) * side * side;
  result.counts = {{"bodies", bodies}, {"tets", 750 * bodies}, {"contacts", contacts}, {"iterations", iterations}};
  const double mean = mean_of_best(times);
  result.figures = {{"mean_ms", mean}, {"penetration", penetration}, {"us_per_contact", 1000 * mean / contacts}};
  return result;
}

double rms_speed(const World& world) {
  double sum = 0, count = 0;
  for (const BodyId body : world.bodies()) {
    if (world.kind(body) != BodyKind::Solid) continue;
    const std::span<const Vec3> velocities = world.node_velocities(body).value();
    for (const Vec3 v : velocities) sum += static_cast<double>(length_squared(v));
    count += static_cast<double>(velocities.size());
  }
  return std::sqrt(sum / count);
}

BenchResult run_asleep(const BenchContext& context) {
  constexpr int kFiveSeconds = 300, kMost = 1800, kSteps = 60;
  BenchResult result;
  result.threads = context.threads;
  World world = make_pile(3, context.threads);
  int steps = 0;
  double speed = 0;
  do {
    world.step();
    if (++steps == kFiveSeconds) speed = rms_speed(world);
    end_if_stopped();
  } while (steps < kMost && world.report().awake_bodies > 0);
  summarize({measure(kSteps, [&] { world.step(); })}, result);
  result.counts = {{"bodies", 27}, {"awake", static_cast<double>(world.report().awake_bodies)}};
  result.figures = {{"asleep_after_s", steps / 60.0}, {"rms_speed_after_5_s", speed}};
  return result;
}

}  // namespace

void add_contact_benchmarks(std::vector<Benchmark>& suite) {
  for (const int side : {2, 3, 4, 5, 6}) {
    suite.push_back({"solid_pile_" + std::to_string(side * side * side),
                     [side](const BenchContext& context) { return run(side, context); }});
  }
  suite.push_back({"solid_pile_27_asleep", run_asleep});
}

}  // namespace pliant
