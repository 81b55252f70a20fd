// Layered bodies at the counts of Galoppo et al. 2006: a soft ring that lands on the ground, slides and comes to rest.
//
// Whole steps of a world, with contact and friction. Their paper's figures, on a Pentium 4 and a GeForce 7800, are 120K
// nodes, 1M tets and 15K contacts a second.
#include <algorithm>

#include <fmt/format.h>

#include "pliant/generators.h"
#include "pliant/world.h"

#include "bench/suite.h"

namespace pliant {
namespace {

constexpr int kSteps = 60;

struct LayeredRun {
  const char* name;
  int texels;  ///< along each side of the atlas
  float young_modulus;
};

LayeredDef ring_def(const LayeredRun& run) {
  LayeredDef def;
  def.atlas = atlas_torus(0.5f, 0.2f, run.texels, run.texels);
  def.thickness = 0.08f;
  def.material.young_modulus = run.young_modulus;
  def.material.stiffness_damping = 2e-3f;
  def.position = {0, 0.21f, 0};
  def.velocity = {1, 0, 0};
  def.tolerance = 1e-2f;
  return def;
}

/// The head of their Fig. 7 (40K nodes, 240K tets): a mesh with charts of our own, dropped on its side.
LayeredDef head_def() {
  LayeredDef def;
  def.atlas = make_atlas(tri_head(0.6f, 0.01f), {.resolution = 296, .crease_angle = 180}).value();
  def.thickness = 0.06f;
  def.material.young_modulus = 1.5e4f;
  def.material.stiffness_damping = 4e-3f;
  def.position = {0, 0.22f, 0};
  def.rotation = Quat::axis_angle({1, 0, 0}, 1.5708f);
  def.tolerance = 1e-2f;
  return def;
}

BenchResult run_body(const LayeredDef& def, const BenchContext& context) {
  BenchResult result;
  std::vector<std::vector<double>> times;
  double contacts = 0, iterations = 0, unconverged = 0;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    World world(WorldDef{.threads = context.threads, .allow_sleep = false});
    world.add(GroundDef{});
    world.add(def).value();
    world.step();  // memory
    contacts = iterations = unconverged = 0;
    times.push_back(measure(kSteps, [&] {
      const StepReport& report = world.step();
      contacts += static_cast<double>(report.contacts) / kSteps;
      iterations += static_cast<double>(report.cg_iterations) / kSteps;
      unconverged += static_cast<double>(report.unconverged_solids);
    }));
  }
  result.threads = context.threads;
  summarize(times, result);
  const double nodes = static_cast<double>(def.atlas.node_count());
  const double tets = 3 * static_cast<double>(def.atlas.surface.faces.size()), mean = mean_of_best(times);
  result.counts = {{"nodes", nodes}, {"tets", tets}, {"contacts", contacts}};
  result.figures = {{"mean_ms", mean},
                    {"iterations", iterations},
                    {"unconverged", unconverged},
                    {"nodes_per_s", 1e3 * nodes / mean},
                    {"tets_per_s", 1e3 * tets / mean},
                    {"contacts_per_s", 1e3 * contacts / mean}};
  return result;
}

}  // namespace

void add_layered_benchmarks(std::vector<Benchmark>& suite) {
  static constexpr LayeredRun kRuns[] = {{"layered_8k_soft", 88, 6e4f},
                                         {"layered_31k_soft", 176, 6e4f},
                                         {"layered_31k_firm", 176, 1e6f},
                                         {"layered_65k_soft", 256, 6e4f}};
  for (const LayeredRun& run : kRuns) {
    suite.push_back({run.name, [run](const BenchContext& context) { return run_body(ring_def(run), context); }});
  }
  suite.push_back({"layered_40k_head", [](const BenchContext& context) { return run_body(head_def(), context); }});
}

}  // namespace pliant
