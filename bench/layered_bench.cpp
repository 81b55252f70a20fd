// Layered bodies at the counts of Galoppo et al. 2006: a soft ring that lands on the ground, slides and comes to rest;
// two treaded tires that roll into each other and fall (their Figure 1).
//
// Whole steps of a world, with contact and friction; and the search for contacts by textures alone, on atlases of 64²
// to 512² texels. Their paper's figures, on a Pentium 4 and a GeForce 7800, are 120K nodes, 1M tets and 15K contacts a
// second.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "collide/texture_contacts.h"
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

/// Two rings of the same atlas, one moved: what a search for their contacts takes.
struct RingPair {
  TriMesh low, high;
  std::vector<Vec3> still;
  TexturedSurface a, b;
  TextureContacts contacts;

  RingPair(int texels, Vec3 apart)
      : low(atlas_torus(0.5f, 0.2f, texels, texels).surface),
        high(low),
        still(low.vertices.size()),
        a(high.faces, high.vertices),
        b(low.faces, low.vertices) {
    for (Vec3& v : high.vertices) v += apart;
  }
  void fit(Workers& workers) {
    a.fit(high.vertices, still, {}, 1, workers), b.fit(low.vertices, still, {}, 1, workers);
  }
  std::size_t find(Workers& workers) {
    return contacts.find(a, b, {.reach = 0.08f, .margin = 2e-3f * a.edge()}, workers).size();
  }
};

double median_ms(int repeats, const std::function<void()>& run) {
  run();  // memory
  std::vector<double> times = measure(repeats, run);
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[static_cast<std::size_t>(repeats / 2)];
}

/// The same area of contact, all around, on finer and finer atlases: contacts grow with the texels. Then a spot of some
/// hundred contacts, whatever the atlas: what is left is the price of the mesh.
BenchResult run_detection(int texels, const BenchContext& context) {
  constexpr float kOverlap = 2e-3f, kSpotContacts = 100;
  const int searches = 4 * context.repeats + 1;
  Workers workers(context.threads);
  RingPair wide(texels, {0, 0.4f - kOverlap, 0});
  // Its lens has an area of 1.18 times the overlap, with 0.18 n² nodes of each ring a square metre.
  RingPair spot(texels, {1.4f - kSpotContacts / (0.4255f * static_cast<float>(texels * texels)), 0, 0});
  BenchResult result;
  result.threads = context.threads;
  std::size_t found = 0, of_spot = 0;
  std::vector<std::vector<double>> times;
  wide.fit(workers), wide.find(workers);  // memory
  times.push_back(measure(searches, [&] { wide.fit(workers), found = wide.find(workers); }));
  summarize(times, result);
  const double fit = median_ms(searches, [&] { spot.fit(workers); });
  const double at_spot = median_ms(searches, [&] { of_spot = spot.find(workers); });
  const auto contacts = static_cast<double>(found);
  result.counts = {{"nodes", 2 * static_cast<double>(texels) * texels},
                   {"contacts", contacts},
                   {"spot_contacts", static_cast<double>(of_spot)}};
  result.figures = {{"us_per_contact", 1e3 * result.median_ms / std::max(contacts, 1.0)},
                    {"fit_ms", fit},
                    {"fit_ns_per_node", 1e6 * fit / (2.0 * texels * texels)},
                    {"spot_ms", at_spot}};
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
  suite.push_back({"tires", run_tires});
  for (const int texels : {64, 128, 256, 512}) {
    suite.push_back({fmt::format("layered_detection_{}", texels),
                     [texels](const BenchContext& context) { return run_detection(texels, context); }});
  }
}

}  // namespace pliant
