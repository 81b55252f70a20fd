// A bar on four jellies in a dish, each of another method: scene `jelly`, 004 Figure 2.
//
// 1708 nodes, a bar of 3 kg that falls by 3 cm, 250 steps of 20 ms, nothing falls asleep. 004 takes 6 ms on average and
// 14 at worst. `tilt` is the sine of the bar's slope at the end, `volume_error` the largest share by which a jelly's
// volume differs from that at rest, `inverted` the number of tets that were inside out when any step ended.
#include <algorithm>
#include <cmath>

#include "pliant/generators.h"
#include "pliant/world.h"

#include "bench/suite.h"

namespace pliant {
namespace {

constexpr float kStep = 0.02f;
constexpr int kSteps = 250;
constexpr float kModulus = 4e4f, kFriction = 0.6f;

float tet_volume(std::span<const Vec3> x, const Tet& tet) {
  return dot(cross(x[tet[1]] - x[tet[0]], x[tet[2]] - x[tet[0]]), x[tet[3]] - x[tet[0]]) / 6;
}

struct Jellies {
  World world;
  std::vector<BodyId> bodies;
  BodyId bar;
};

Jellies make_jellies(const TetMesh& mesh, int threads) {
  Jellies out{.world = World({.threads = threads, .allow_sleep = false}), .bodies = {}, .bar = {}};
  out.world.add(GroundDef{.friction = kFriction}).value();
  out.world
      .add(RigidDef{.shape = Compound{{{Cylinder{0.38f, 0.02f}, {}}, {Cylinder{0.22f, 0.02f}, {{0, -0.02f, 0}, {}}}}},
                    .position = {0, 0.03f, 0},
                    .mass = 2.0f,
                    .friction = kFriction})
      .value();
  const auto add_jelly = [&](JellyMethod method, float modulus, float x, float z) {
    out.bodies.push_back(out.world
                             .add(JellyDef{.mesh = mesh,
                                           .method = method,
                                           .young_modulus = modulus,
                                           .damping = 3,
                                           .position = {x, 0.124f, z},
                                           .friction = kFriction})
                             .value());
  };
  add_jelly(JellyMethod::MassSpring, kModulus, -0.16f, 0.16f);
  add_jelly(JellyMethod::PositionBased, kModulus, -0.16f, -0.16f);
  add_jelly(JellyMethod::ShapeMatching, 3e5f, 0.16f, -0.16f);
  SolidDef solid{.mesh = mesh, .material = material::jelly(), .position = {0.16f, 0.1215f, 0.16f}};
  solid.material.young_modulus = kModulus;
  solid.friction = kFriction;
  out.bodies.push_back(out.world.add(solid).value());
  out.bar = out.world
                .add(RigidDef{
                    .shape = Box{{0.5f, 0.04f, 0.42f}}, .position = {0, 0.28f, 0}, .mass = 3.0f, .friction = kFriction})
                .value();
  out.world.commit_edits();
  return out;
}

BenchResult run_jelly(const BenchContext& context) {
  const TetMesh mesh = tet_cylinder(0.09f, 0.16f, 0.025f);
  double rest = 0;
  for (const Tet& tet : mesh.tets) rest += static_cast<double>(tet_volume(mesh.nodes, tet));
  BenchResult result;
  result.threads = context.threads;
  std::vector<std::vector<double>> times;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    Jellies jellies = make_jellies(mesh, context.threads);
    double inverted = 0, fastest = 0, error = 0, rows = 0;
    times.emplace_back();
    for (int i = 0; i < kSteps; ++i) {
      const Stopwatch watch;
      jellies.world.step(kStep);
      times.back().push_back(watch.ms());
      for (const BodyId body : jellies.bodies) {
        const std::span<const Vec3> x = *jellies.world.node_positions(body);
        for (const Tet& tet : mesh.tets) inverted += tet_volume(x, tet) <= 0 ? 1 : 0;
      }
      end_if_stopped();
    }
    for (const BodyId body : jellies.bodies) {
      double volume = 0;
      for (const Tet& tet : mesh.tets) {
        volume += static_cast<double>(tet_volume(*jellies.world.node_positions(body), tet));
      }
      error = std::max(error, std::abs(volume / rest - 1));
      for (const Vec3& v : *jellies.world.node_velocities(body)) {
        fastest = std::max(fastest, static_cast<double>(length(v)));
      }
    }
    rows = static_cast<double>(jellies.world.report().rows);
    const BodyState bar = *jellies.world.state(jellies.bar);
    const Vec3 up = bar.world_from_body.rotation.rotate({0, 1, 0});
    result.counts = {{"nodes", static_cast<double>(4 * mesh.nodes.size())},
                     {"tets", static_cast<double>(4 * mesh.tets.size())},
                     {"rows", rows}};
    result.figures = {{"tilt", static_cast<double>(std::hypot(up.x, up.z))},
                      {"bar_height", static_cast<double>(bar.center_of_mass.y)},
                      {"volume_error", error},
                      {"inverted", inverted},
                      {"fastest_node", fastest}};
  }
  result.figures["mean_ms"] = mean_of_best(times);
  summarize(times, result);
  return result;
}

}  // namespace

void add_jelly_benchmarks(std::vector<Benchmark>& suite) { suite.push_back({"jelly", run_jelly}); }

}  // namespace pliant
