// Solids of any size, stiffness and density whose nodes are thrown about: whatever happens, numbers stay numbers.
//
// Few here; PLIANT_ABUSE_RUNS and PLIANT_ABUSE_SEED in the environment ask for more, as scripts/soak --abuse does.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pliant/pliant.h"
#include "world/soak_size.h"

namespace pliant {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  float within(float low, float high) { return std::uniform_real_distribution<float>(low, high)(random_); }
  float within_decades(float low, float high) { return std::pow(10.0f, within(std::log10(low), std::log10(high))); }
  bool coin() { return (random_() & 1) != 0; }
  Vec3 direction() { return normalized(Vec3{within(-1, 1), within(-1, 1), within(-1, 1) + 1e-3f}); }

 private:
  std::mt19937 random_;
};

SolidDef any_solid(Dice& dice, float size) {
  SolidDef def{.mesh = dice.coin() ? tet_box({size, size, size}, 3, 3, 3) : tet_sphere(size / 2, size / 5),
               .position = {0, size, 0},
               .rotation = Quat::axis_angle(dice.direction(), dice.within(0, 3)),
               .self_collision = dice.coin()};
  def.material.young_modulus = dice.within_decades(1e2f, 2e11f);
  def.material.density = dice.within_decades(1, 2e4f);
  def.material.poisson_ratio = dice.within(0, 0.45f);
  def.material.elasticity = dice.coin() ? Elasticity::NeoHookean : Elasticity::Corotational;
  return def;
}

/// Of motion and height, J. Not what is stored: a solve to a thousandth of the forces leaves a light body of steel more
/// than the energy of a slow throw, and a throw by many times its size strains Neo-Hookean rubber without bound.
double energy_of(const World& world, BodyId body) {
  const BodyState state = *world.state(body);
  return world.report().kinetic_energy +
         9.81 * static_cast<double>(state.mass) * static_cast<double>(state.center_of_mass.y);
}

struct Outcome {
  std::string problem{};
  double most_energy = 0;  ///< over that of the throw
};

Outcome throw_about(unsigned seed) {
  Dice dice(seed);
  const float size = dice.within_decades(1e-3f, 1e3f), speed = dice.within_decades(1, 1000);
  World world(WorldDef{.dt = dice.within_decades(1.0f / 240, 1.0f / 15), .threads = 1});
  if (dice.coin()) world.add(GroundDef{});
  const SolidDef def = any_solid(dice, size);
  const BodyId body = world.add(def).value();
  world.commit_edits();
  const std::vector<Vec3> positions(world.node_positions(body)->begin(), world.node_positions(body)->end());
  std::vector<Vec3> velocities(positions.size());
  for (Vec3& v : velocities) v = dice.direction() * speed;
  world.set_nodes(body, positions, velocities).require();
  const double mass = static_cast<double>(world.state(body)->mass);
  const double thrown = 0.5 * mass * std::pow(static_cast<double>(speed), 2) + 9.81 * mass * static_cast<double>(size);
  Outcome outcome;
  for (int step = 0; step < 60 && outcome.problem.empty(); ++step) {
    world.step();
    const double energy = energy_of(world, body);
    outcome.most_energy = std::max(outcome.most_energy, energy / thrown);
    if (world.report().quarantined > 0) outcome.problem = fmt::format("quarantined in step {}", step);
    if (!std::isfinite(energy + world.report().elastic_energy))
      outcome.problem = fmt::format("energy {} in step {}", energy, step);
  }
  if (outcome.most_energy > 1.05 && outcome.problem.empty()) {
    outcome.problem = fmt::format("{:.3g} times the energy of the throw", outcome.most_energy);
  }
  if (!outcome.problem.empty()) {
    outcome.problem += fmt::format(": size {:.3g} m, E {:.3g} Pa, density {:.3g}, ν {:.2f}, {:.3g} m/s{}{}", size,
                                   def.material.young_modulus, def.material.density, def.material.poisson_ratio, speed,
                                   def.material.elasticity == Elasticity::NeoHookean ? ", Neo-Hookean" : "",
                                   def.self_collision ? ", self-collision" : "");
  }
  return outcome;
}

TEST(SolidAbuse, NothingThrownAboutIsLostOrGainsEnergy) {
  const int runs = from_environment("PLIANT_ABUSE_RUNS", 60), first = from_environment("PLIANT_ABUSE_SEED", 1);
  int bad = 0;
  double most_energy = 0;
  for (int run = first; run < first + runs; ++run) {
    const Outcome outcome = throw_about(static_cast<unsigned>(run));
    EXPECT_TRUE(outcome.problem.empty()) << "run " << run << ": " << outcome.problem;
    most_energy = std::max(most_energy, outcome.most_energy);
    bad += outcome.problem.empty() ? 0 : 1;
  }
  std::printf("%d of %d throws went wrong, energy at most %.4g of the throw's\n", bad, runs, most_energy);
}

}  // namespace
}  // namespace pliant
