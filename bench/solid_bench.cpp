// Solids alone: beams of four sizes, soft and stiff, a Neo-Hookean one, and many small bodies.
//
// `mean_ms` is the mean over the steps of the best time of each. The residual is recomputed from the matrix as
// |b − A v| / |b| of Parker and O'Brien's eq. 5: its median over the steps, and its largest. The largest may pass the
// solver's tolerance where a large beam turns back: b is then small, and v is known to float accuracy only.
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/clock.h"
#include "pliant/generators.h"
#include "solid/solid_body.h"

#include "bench/suite.h"

namespace pliant {
namespace {

constexpr float kStep = 1.0f / 60;
constexpr int kSteps = 60;
constexpr Vec3 kGravity{0, -9.81f, 0};

/// A beam that is held at its low end of x.
SolidDef beam(Vec3 size, int nx, int ny, int nz, const SolidMaterial& material) {
  SolidDef def{.mesh = tet_box(size, nx, ny, nz), .material = material};
  const Aabb bounds = def.mesh.bounds();
  const float edge = bounds.lower.x + 0.25f * size.x / static_cast<float>(nx);
  def.held.push_back({.nodes = NodeHalfSpace{{-1, 0, 0}, -edge}});
  return def;
}

SolidMaterial soft(float poisson) {
  SolidMaterial material;
  material.young_modulus = 1e6f;
  material.poisson_ratio = poisson;
  return material;
}
SolidMaterial stiff() {
  SolidMaterial material;
  material.young_modulus = 1e7f;
  material.mass_damping = 0.15f;
  material.stiffness_damping = 0.004f;
  return material;
}

/// |b − A v| / |b| of a step that has been solved and not yet advanced, from the matrix and the elements' forces.
double true_residual(const SolidBody& body, const LaneVectors& before) {
  const SolidLayout& layout = body.layout();
  const double damping = static_cast<double>(body.def().material.mass_damping * kStep);
  const double h = static_cast<double>(kStep);
  double of_r = 0, of_b = 0;
  for (std::size_t g = 0; g < layout.slot_count / 8; ++g) {
    LaneVec3<Float8> force;
    for (std::size_t k = layout.sum_starts[g]; k < layout.sum_starts[g + 1]; ++k) {
      force = force + load_nodes(body.elements().forces(), layout.sum_corners.data() + 8 * k).xyz;
    }
    const LaneVec3<Float8> stretched = layout.matrix.differences(g, body.state().velocities.data());
    for (std::uint32_t l = 0; l < 8; ++l) {
      const std::uint32_t node = layout.node_of_slot[8 * g + l];
      if (node == SolidLayout::kNone || body.is_held(node)) continue;
      const Vec3 v0 = before.get(static_cast<std::uint32_t>(8 * g + l)), v1 = body.velocity(node);
      const float f[3] = {force.x[l], force.y[l], force.z[l]}, s[3] = {stretched.x[l], stretched.y[l], stretched.z[l]};
      const double m = static_cast<double>(body.mass(node));
      for (std::size_t k = 0; k < 3; ++k) {
        const double push = h * (m * static_cast<double>(kGravity[k]) + static_cast<double>(f[k]));
        const double b = push + m * static_cast<double>(v0[k]);
        const double r = b - m * (1 + damping) * static_cast<double>(v1[k]) - static_cast<double>(s[k]);
        of_b += b * b, of_r += r * r;
      }
    }
  }
  return std::sqrt(of_r / of_b);
}

struct BeamRun {
  std::vector<std::vector<double>> times;  ///< ms, per repeat and step
  std::vector<double> residuals;           ///< per step
  double iterations = 0;
  int unconverged = 0;
};

BeamRun run_beam(const std::shared_ptr<const SolidDef>& def, int threads, int repeats) {
  BeamRun run;
  Workers workers(threads);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    SolidBody body(def);
    std::vector<double> times;
    run.iterations = run.unconverged = 0;
    for (int step = 0; step < kSteps; ++step) {
      const LaneVectors before = body.state().velocities;
      const Stopwatch watch;
      body.assemble(workers, kStep);
      const SolveResult result = body.solve(workers, kGravity, kStep);
      double ms = watch.ms();
      run.iterations += static_cast<double>(result.iterations) / kSteps;
      run.unconverged += !result.converged;
      if (repeat == 0) run.residuals.push_back(true_residual(body, before));
      const Stopwatch rest;
      body.advance(workers, kStep);
      body.settle(workers, kStep);
      times.push_back(ms + rest.ms());
      end_if_stopped();
    }
    run.times.push_back(std::move(times));
  }
  std::sort(run.residuals.begin(), run.residuals.end());
  return run;
}

/// The best time of one call in seconds, over several.
template <typename Call>
double best_seconds(int times, Call&& call) {
  double best = 1e30;
  for (int i = 0; i < times; ++i) {
    const Stopwatch watch;
    call();
    best = std::min(best, watch.ms() / 1000);
    end_if_stopped();
  }
  return best;
}

/// What the parts of a step cost, each by itself on the beam at rest.
void measure_parts(const SolidDef& def, int threads, BenchResult& result) {
  Workers workers(threads);
  const auto kind = static_cast<std::uint8_t>(element_kind(def.material));
  SolidLayout layout = make_solid_layout(def.mesh, std::vector<std::uint8_t>(def.mesh.tets.size(), kind));
  SolidElements elements(def.mesh, layout, [&](std::size_t) -> const SolidMaterial& { return def.material; });
  SolidSystem system(layout, def.mesh);
  LaneVectors x, y;
  x.assign(layout.slot_count), y.assign(layout.slot_count);
  std::vector<float> ones(layout.slot_count, 0.0f);
  for (std::uint32_t node = 0; node < layout.node_count; ++node) {
    x.set(layout.slot_of_node[node], def.mesh.nodes[node]);
    ones[layout.slot_of_node[node]] = 1;
  }
  const auto tets = static_cast<double>(layout.tet_count);
  result.figures["ns_per_tet_update"] =
      1e9 / tets * best_seconds(20, [&] { elements.update(workers, layout, x.data(), kStep); });
  result.figures["ns_per_tet_assembly"] =
      1e9 / tets * best_seconds(20, [&] { system.assemble(workers, layout, elements, x, ones, ones); });
  const std::size_t groups = layout.slot_count / 8;
  std::vector<Vec4> nodes(layout.slot_count);
  for (std::size_t g = 0; g < groups; ++g) store_nodes(nodes.data() + 8 * g, {x.group(g)});
  const double product = best_seconds(30, [&] {
    parallel_for(workers, groups, 96, [&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) y.set_group(g, layout.matrix.differences(g, x.group(g), nodes.data()));
    });
  });
  // The same bytes read in order, and no more than added up.
  const std::size_t bytes = layout.matrix.bytes();
  const std::vector<float> stream(bytes / sizeof(float) / 64 * 64, 1.0f);
  std::vector<Float8> sums(64);
  const double reading = best_seconds(30, [&] {
    const std::size_t piece = (stream.size() / 64 + 63) / 64;
    parallel_for(workers, stream.size() / 64, piece, [&](std::size_t begin, std::size_t end) {
      Float8 parts[8] = {};
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t k = 0; k < 8; ++k) parts[k] += load8(stream.data() + 64 * i + 8 * k);
      }
      for (std::size_t k = 0; k < 8; ++k) sums[begin / piece] += parts[k];
    });
  });
  result.figures["ns_per_block_product"] = 1e9 * product / static_cast<double>(layout.matrix.blocks());
  result.figures["bandwidth_share"] = reading / product;
}

BenchResult run(SolidDef def, const BenchContext& context) {
  const auto shared = std::make_shared<const SolidDef>(std::move(def));
  BenchResult result;
  result.threads = context.threads;
  const BeamRun measured = run_beam(shared, context.threads, context.repeats);
  summarize(measured.times, result);
  const SolidBody body(shared);
  result.counts = {{"tets", static_cast<double>(body.tet_count())}, {"nodes", static_cast<double>(body.node_count())}};
  result.figures = {{"mean_ms", mean_of_best(measured.times)},
                    {"iterations", measured.iterations},
                    {"residual", measured.residuals[kSteps / 2]},
                    {"worst_residual", measured.residuals.back()},
                    {"unconverged", static_cast<double>(measured.unconverged)},
                    {"bytes_per_tet", static_cast<double>(body.bytes()) / body.tet_count()}};
  if (context.threads > 1) {
    result.figures["speed_up"] =
        mean_of_best(run_beam(shared, 1, context.repeats).times) / mean_of_best(measured.times);
  }
  measure_parts(*shared, context.threads, result);
  return result;
}

/// Many bodies of 162 tets, each solved whole by one thread.
BenchResult run_many(int count, const BenchContext& context) {
  const auto def = std::make_shared<const SolidDef>(beam({0.3f, 0.3f, 0.3f}, 3, 3, 3, soft(0.3f)));
  BenchResult result;
  result.threads = context.threads;
  std::vector<std::vector<double>> times;
  Workers workers(context.threads), serial(1);
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    std::vector<std::unique_ptr<SolidBody>> bodies;
    for (int i = 0; i < count; ++i) bodies.push_back(std::make_unique<SolidBody>(def));
    times.emplace_back();
    for (int step = 0; step < kSteps; ++step) {
      const Stopwatch watch;
      parallel_for(workers, bodies.size(), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          bodies[i]->assemble(serial, kStep);
          bodies[i]->solve(serial, kGravity, kStep);
          bodies[i]->advance(serial, kStep);
          bodies[i]->settle(serial, kStep);
        }
      });
      times.back().push_back(watch.ms());
      end_if_stopped();
    }
  }
  summarize(times, result);
  const double tets = static_cast<double>(count) * static_cast<double>(def->mesh.tets.size());
  result.counts = {{"bodies", static_cast<double>(count)}, {"tets", tets}};
  result.figures = {{"ns_per_tet", 1e6 * result.median_ms / tets}};
  return result;
}

struct Cells {
  const char* name;
  int x, y, z;
};

}  // namespace

void add_solid_benchmarks(std::vector<Benchmark>& suite) {
  constexpr Cells kSoft[] = {{"2k", 16, 5, 5}, {"10k", 26, 8, 8}, {"50k", 43, 14, 14}, {"100k", 58, 17, 17}};
  constexpr Cells kStiff[] = {{"2k", 20, 5, 4}, {"10k", 30, 8, 7}, {"50k", 50, 14, 12}, {"100k", 60, 20, 14}};
  const auto add = [&](const std::string& name, std::function<SolidDef()> make) {
    suite.push_back({name, [make](const BenchContext& context) { return run(make(), context); }});
  };
  for (const auto& [suffix, poisson] : {std::pair("", 0.3f), std::pair("_nu45", 0.45f)}) {
    for (const Cells& n : kSoft) {
      add(std::string("solid_beam_") + n.name + suffix, [n, p = poisson] {
        return beam({1, 0.25f, 0.25f}, n.x, n.y, n.z, soft(p));
      });
    }
  }
  for (const Cells& n : kStiff) {
    add(std::string("solid_beam_stiff_") + n.name, [n] {
      const Vec3 size{0.1f * static_cast<float>(n.x), 0.1f * static_cast<float>(n.y), 0.1f * static_cast<float>(n.z)};
      return beam(size, n.x, n.y, n.z, stiff());
    });
  }
  add("solid_beam_neo_hookean_10k", [] {
    SolidMaterial material = soft(0.45f);
    material.elasticity = Elasticity::NeoHookean;
    return beam({1, 0.25f, 0.25f}, 26, 8, 8, material);
  });
  suite.push_back({"solid_many_small", [](const BenchContext& context) { return run_many(100, context); }});
}

}  // namespace pliant
