// Walls that a heavy cube flies into and that break to pieces.
//
// 3 m by 3 m, fixed at the bottom, E = 4e6 Pa, ν = 0.25, 1000 kg/m³, hit by a 0.5 m cube of 2000 kg at 60 m/s; 90 steps
// of 1/60 s. FEMFX takes 13 ms on average and 38 at worst for the wall of 2K tets (200 pieces), 48 and 165 for that of
// 10K (545 pieces), on one core of such a machine. Strengths are chosen so that there are about as many pieces.
//
// And a cell of glass that bursts, about 2400 tets: real time on four cores of 2009 (Parker and O'Brien).
#include <algorithm>

#include "pliant/generators.h"
#include "pliant/materials.h"
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

/// The scene of the same name without its splinters, which no step sees: four panes in posts, burst from within after
/// half a second.
class GlassCell {
 public:
  explicit GlassCell(int threads) : world_({.threads = threads}) {
    world_.add(GroundDef{}).value();
    for (const float x : {-0.82f, 0.82f}) {
      for (const float z : {-0.82f, 0.82f}) {
        world_.add(RigidDef{.shape = Box{{0.12f, 1.7f, 0.12f}}, .motion = Motion::Static, .position = {x, 0.85f, z}})
            .value();
      }
    }
    add_pane({1.5f, 1.5f, 0.05f}, {0, 0.85f, 0.82f}, 1);
    add_pane({1.5f, 1.5f, 0.05f}, {0, 0.85f, -0.82f}, 2);
    add_pane({0.05f, 1.5f, 1.5f}, {-0.82f, 0.85f, 0}, 3);
    add_pane({0.05f, 1.5f, 1.5f}, {0.82f, 0.85f, 0}, 4);
    world_.commit_edits();
  }
  World& world() { return world_; }

  const StepReport& step() {
    if (steps_++ == 30) {
      world_.explode({.center = {0.1f, 0.8f, 0.1f}, .radius = 2.5f, .impulse_per_area = 1500}).require();
    }
    return world_.step();
  }

 private:
  void add_pane(Vec3 size, Vec3 position, std::uint64_t seed) {
    SolidDef def{.mesh = tet_box(size, 0.15f), .material = material::glass(), .position = position};
    def.material.young_modulus = 1e7f;
    def.material.strength = 1.5e5f;
    def.fracture.lets_go = true;
    def.fracture.seed = seed;
    const Vec3 along = size.x < size.z ? Vec3{0, 0, 1} : Vec3{1, 0, 0};
    def.held = {{.nodes = NodeHalfSpace{-along, 0.74f}}, {.nodes = NodeHalfSpace{along, 0.74f}}};
    world_.add(def).value();
  }

  World world_;
  int steps_ = 0;
};

struct WallRun {
  WallRun(const Wall& wall, int threads) : world_(make_wall(wall, threads)) {}
  World& world() { return world_; }
  const StepReport& step() { return world_.step(); }

 private:
  World world_;
};

/// `make()` gives something with a world and a `step`; `breakable` of its bodies break.
template <typename Make>
BenchResult run(const BenchContext& context, int steps, std::size_t breakable, Make&& make) {
  BenchResult result;
  result.threads = context.threads;
  std::vector<std::vector<double>> times;
  double pieces = 0, fractures = 0, contacts = 0, iterations = 0, adopting = 0;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    auto broken = make();
    const auto others = static_cast<double>(broken.world().bodies().size() - breakable);
    fractures = contacts = iterations = adopting = 0;
    times.push_back(measure(steps, [&] {
      const StepReport& report = broken.step();
      fractures += static_cast<double>(report.fractures);
      contacts = std::max(contacts, static_cast<double>(report.contacts));
      iterations += static_cast<double>(report.cg_iterations) / steps;
      adopting += report.times.ms[static_cast<std::size_t>(Stage::AdoptFragments)] / steps;
      result.counts["tets"] = static_cast<double>(report.tets);
      result.counts["nodes"] = static_cast<double>(report.nodes);
    }));
    pieces = static_cast<double>(broken.world().bodies().size()) - others;
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
  const Wall small{20, 1, 0.15f, 6.5e4f}, large{29, 2, 0.2f, 9.3e4f};
  Wall rigid = small;
  rigid.rigid_tets = 30;
  const auto add_wall = [&](const char* name, const Wall& wall) {
    suite.push_back({name, [wall](const BenchContext& context) {
                       return run(context, 90, 1, [&] { return WallRun(wall, context.threads); });
                     }});
  };
  add_wall("wall_2k", small);
  add_wall("wall_10k", large);
  add_wall("wall_2k_rigid", rigid);
  suite.push_back({"glass_cell", [](const BenchContext& context) {
                     return run(context, 180, 4, [&] { return GlassCell(context.threads); });
                   }});
}

}  // namespace pliant
