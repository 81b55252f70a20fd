// Layered bodies at the counts of Galoppo et al. 2006: a soft ring that lands on the ground, slides and comes to rest;
// two treaded tires that roll into each other and fall (their Figure 1).
//
// Whole steps of a world, with contact and friction. Their paper's figures, on a Pentium 4 and a GeForce 7800, are 120K
// nodes, 1M tets and 15K contacts a second.
#include <algorithm>
#include <cmath>

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

/// Times steps of a world of layered bodies; `build` fills it.
template <typename Build>
BenchResult run_world(const BenchContext& context, int steps, double nodes, double tets, Build&& build) {
  BenchResult result;
  std::vector<std::vector<double>> times;
  double contacts = 0, iterations = 0, unconverged = 0;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    World world(WorldDef{.threads = context.threads, .allow_sleep = false});
    build(world);
    world.step();  // memory
    contacts = iterations = unconverged = 0;
    times.push_back(measure(steps, [&] {
      const StepReport& report = world.step();
      contacts += static_cast<double>(report.contacts) / steps;
      iterations += static_cast<double>(report.cg_iterations) / steps;
      unconverged += static_cast<double>(report.unconverged_solids);
    }));
  }
  result.threads = context.threads;
  summarize(times, result);
  const double mean = mean_of_best(times);
  result.counts = {{"nodes", nodes}, {"tets", tets}, {"contacts", contacts}};
  result.figures = {{"mean_ms", mean},
                    {"iterations", iterations},
                    {"unconverged", unconverged},
                    {"nodes_per_s", 1e3 * nodes / mean},
                    {"tets_per_s", 1e3 * tets / mean},
                    {"contacts_per_s", 1e3 * contacts / mean}};
  return result;
}

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
  const double nodes = static_cast<double>(def.atlas.node_count());
  const double tets = 3 * static_cast<double>(def.atlas.surface.faces.size());
  return run_world(context, kSteps, nodes, tets, [&](World& world) {
    world.add(GroundDef{});
    world.add(def).value();
  });
}

LayeredDef tire(float x, float speed) {
  LayeredDef def;
  def.atlas = displaced(atlas_torus(0.26f, 0.13f, 300, 104), [](Vec3 p, Vec3 n) {
    const Vec3 outward = normalized({p.x, 0, p.z});
    const float wave = std::cos(24 * std::atan2(p.z, p.x));
    return n * (0.02f * std::clamp(0.5f + 2 * wave, 0.0f, 1.0f) * std::max(dot(n, outward), 0.0f));
  });
  def.material = {.density = 1100, .young_modulus = 1.5e5f, .stiffness_damping = 4e-3f};
  def.thickness = 0.06f;
  def.core_density = 300;
  def.rotation = Quat::axis_angle({1, 0, 0}, kPi / 2);
  def.position = {x, 0.42f, 0.2f * x};
  def.velocity = {speed, 0, 0};
  def.angular_velocity = {0, 0, -speed / 0.41f};
  def.friction = 0.9f;
  def.tolerance = 1e-2f;
  return def;
}

/// 31K nodes and 187K tets each.
BenchResult run_tires(const BenchContext& context) {
  const LayeredDef left = tire(-0.55f, 2), right = tire(0.55f, -2.5f);
  const double nodes = 2 * static_cast<double>(left.atlas.node_count());
  const double tets = 6 * static_cast<double>(left.atlas.surface.faces.size());
  return run_world(context, 90, nodes, tets, [&](World& world) {
    world.add(GroundDef{});
    world.add(left).value(), world.add(right).value();
  });
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
  suite.push_back({"tires", run_tires});
}

}  // namespace pliant
