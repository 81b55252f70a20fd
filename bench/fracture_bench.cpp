// Walls that a heavy cube flies into and that break to pieces.
//
// 3 m by 3 m, fixed at the bottom, E = 4e6 Pa, ν = 0.25, 1000 kg/m³, hit by a 0.5 m cube of 2000 kg at 60 m/s; 90 steps
// of 1/60 s. FEMFX takes 13 ms on average and 38 at worst for the wall of 2K tets (200 pieces), 48 and 165 for that of
// 10K (545 pieces), on one core of such a machine. Strengths are chosen so that there are about as many pieces.
#include <algorithm>

#include "pliant/generators.h"
#include "pliant/world.h"

#include "bench/suite.h"

namespace pliant {
namespace {

struct Wall {
  int cells, layers;
  float thickness;     ///< m
  float strength;      ///< Pa
  int rigid_tets = 0;  ///< pieces of at most so many tets turn rigid at once
};

World make_wall(const Wall& wall, int threads) {
  World world({.threads = threads});
  world.add(GroundDef{}).value();
  SolidDef def{.mesh = tet_box({3, 3, wall.thickness}, wall.cells, wall.cells, wall.layers),
               .material = {.density = 1000, .young_modulus = 4e6f, .poisson_ratio = 0.25f},
               .position = {0, 1.5f, 0}};
  def.material.strength = wall.strength;
  if (wall.rigid_tets > 0) def.fracture.small_pieces = {.max_tets = wall.rigid_tets, .rigid_after = 0};
  def.held = {{.name = "foot", .nodes = NodeHalfSpace{{0, -1, 0}, 1.49f}}};
  world.add(def).value();
  world
      .add(RigidDef{
          .shape = Box{{0.5f, 0.5f, 0.5f}}, .density = 16000, .position = {0.1f, 1.6f, 1.5f}, .velocity = {0, 0, -60}})
      .value();
  world.commit_edits();
  return world;
}

BenchResult run(const Wall& wall, const BenchContext& context) {
  constexpr int kSteps = 90;
  BenchResult result;
  result.threads = context.threads;
  std::vector<std::vector<double>> times;
  double pieces = 0, fractures = 0, contacts = 0, iterations = 0, adopting = 0;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    World world = make_wall(wall, context.threads);
    fractures = contacts = iterations = adopting = 0;
    times.push_back(measure(kSteps, [&] {
      const StepReport& report = world.step();
      fractures += static_cast<double>(report.fractures);
      contacts = std::max(contacts, static_cast<double>(report.contacts));
      iterations += static_cast<double>(report.cg_iterations) / kSteps;
      adopting += report.times.ms[static_cast<std::size_t>(Stage::AdoptFragments)] / kSteps;
      result.counts["tets"] = static_cast<double>(report.tets);
      result.counts["nodes"] = static_cast<double>(report.nodes);
    }));
    pieces = static_cast<double>(world.bodies().size()) - 2;
  }
  summarize(times, result);
  result.counts["pieces"] = pieces;
  result.counts["fractures"] = fractures;
  result.counts["contacts"] = contacts;
  result.figures["mean_ms"] = mean_of_best(times);
  result.figures["cg_iterations"] = iterations;
  result.figures["adopt_ms"] = adopting;
  return result;
}

}  // namespace

void add_fracture_benchmarks(std::vector<Benchmark>& suite) {
  const Wall small{20, 1, 0.15f, 7e4f}, large{29, 2, 0.2f, 9.3e4f};
  suite.push_back({"wall_2k", [small](const BenchContext& context) { return run(small, context); }});
  suite.push_back({"wall_10k", [large](const BenchContext& context) { return run(large, context); }});
  Wall rigid = small;
  rigid.rigid_tets = 30;
  suite.push_back({"wall_2k_rigid", [rigid](const BenchContext& context) { return run(rigid, context); }});
}

}  // namespace pliant
