// Cloth on a sphere, beside Bullet's soft body, and hanging cloth of more and more rows.
//
// The cloth is 2 x 2 m and weighs 1 kg; the sphere is fixed, of radius 0.5 m; friction 0.5 on both; 300 steps of 1/60
// s. `stretch` is the largest share by which an edge along the yarns is too long at the end, `rms_speed` that of the
// nodes. Damping is 2/s, as of fabrics that lose a third of their energy in a swing: at 1/s, which is the default,
// folds of the finer cloths still swing at 0.03 to 0.1 m/s when the 5 s are over.
//
// A sheet under load is the same, held at two opposite rims, with a ball of 131 kg that falls 0.15 m onto it; 120
// steps.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include "pliant/world.h"

#include "bench/suite.h"

namespace pliant {
namespace {

constexpr float kStep = 1.0f / 60;
constexpr int kSteps = 300;
constexpr float kHeight = 0.55f;

/// The same square as a triangle mesh whose vertices are moved about and whose diagonals run either way.
TriMesh irregular_square(int cells) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> jitter(-0.25f, 0.25f);
  TriMesh mesh;
  const float cell = 2.0f / static_cast<float>(cells);
  for (int k = 0; k <= cells; ++k) {
    for (int i = 0; i <= cells; ++i) {
      const bool rim = i == 0 || k == 0 || i == cells || k == cells;
      const float dx = rim ? 0 : jitter(random) * cell, dz = rim ? 0 : jitter(random) * cell;
      mesh.vertices.push_back({static_cast<float>(i) * cell - 1 + dx, 0, static_cast<float>(k) * cell - 1 + dz});
    }
  }
  const auto at = [&](int i, int k) { return static_cast<std::uint32_t>(i + k * (cells + 1)); };
  for (int k = 0; k < cells; ++k) {
    for (int i = 0; i < cells; ++i) {
      const std::uint32_t a = at(i, k), b = at(i + 1, k), c = at(i + 1, k + 1), d = at(i, k + 1);
      if (random() % 2 == 0) {
        mesh.faces.push_back({a, c, b}), mesh.faces.push_back({a, d, c});
      } else {
        mesh.faces.push_back({a, d, b}), mesh.faces.push_back({b, d, c});
      }
    }
  }
  return mesh;
}

double rms_speed(const World& world, BodyId cloth) {
  double sum = 0;
  const std::span<const Vec3> velocities = *world.node_velocities(cloth);
  for (const Vec3& v : velocities) sum += static_cast<double>(length_squared(v));
  return std::sqrt(sum / static_cast<double>(velocities.size()));
}

/// `fill(world)` adds bodies and returns the one that `read(world, body, result)` asks after the last step.
template <typename Fill, typename Read>
BenchResult run_worlds(const BenchContext& context, int steps, float dt, Fill&& fill, Read&& read) {
  BenchResult result;
  result.threads = context.threads;
  std::vector<std::vector<double>> times;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    World world({.threads = context.threads, .allow_sleep = false});
    const BodyId body = fill(world);
    world.commit_edits();
    times.push_back(measure(steps, [&] { world.step(dt); }));
    result.counts = {{"nodes", static_cast<double>(world.report().nodes)},
                     {"rows", static_cast<double>(world.report().rows)},
                     {"contacts", static_cast<double>(world.report().contacts)}};
    result.figures = {{"stretch", static_cast<double>(world.report().max_stretch)}};
    read(world, body, result);
  }
  result.figures["mean_ms"] = mean_of_best(times);
  summarize(times, result);
  return result;
}

BenchResult run_cloth_sphere(const ClothDef& def, const BenchContext& context) {
  const auto fill = [&](World& world) {
    world.add(RigidDef{.shape = Sphere{0.5f}, .motion = Motion::Static, .friction = 0.5f});
    return *world.add(def);
  };
  return run_worlds(context, kSteps, kStep, fill, [](const World& world, BodyId cloth, BenchResult& result) {
    double deepest = 0;
    for (const Vec3& x : *world.node_positions(cloth))
      deepest = std::max(deepest, 0.5 - static_cast<double>(length(x)));
    result.figures["rms_speed"] = rms_speed(world, cloth);
    result.figures["inside"] = deepest;
  });
}

ClothDef cloth_sheet(int cells) {
  ClothDef def{.shape = ClothSheet{2, 2, cells, cells}, .position = {0, kHeight, 0}};
  def.material.density = 0.25f;
  def.material.damping = 2;
  return def;
}
ClothDef cloth_mesh(int cells) {
  ClothDef def = cloth_sheet(cells);
  def.shape = irregular_square(cells);
  return def;
}

/// Bullet's soft body as its own cloth examples set it up, with 10 position iterations.
BenchResult run_bullet_cloth(int nodes, const BenchContext& context) {
  BenchResult result;
  result.threads = 1;
  std::vector<std::vector<double>> times;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    btSoftBodyRigidBodyCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btSoftRigidDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
    world.setGravity(btVector3(0, -9.81f, 0));
    world.getWorldInfo().m_gravity.setValue(0, -9.81f, 0);
    world.getWorldInfo().m_sparsesdf.Initialize();
    btSphereShape shape(0.5f);
    btRigidBody sphere(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &shape));
    sphere.setFriction(0.5f);
    world.addRigidBody(&sphere);
    btSoftBody* cloth =
        btSoftBodyHelpers::CreatePatch(world.getWorldInfo(), btVector3(-1, kHeight, -1), btVector3(1, kHeight, -1),
                                       btVector3(-1, kHeight, 1), btVector3(1, kHeight, 1), nodes, nodes, 0, true);
    cloth->setTotalMass(1);
    cloth->m_cfg.piterations = 10;
    cloth->m_cfg.kDF = 0.5f;
    cloth->getCollisionShape()->setMargin(0.0025f);
    world.addSoftBody(cloth);
    times.push_back(measure(kSteps, [&] { world.stepSimulation(kStep, 0); }));
    double stretch = 0, squares = 0, deepest = 0;
    for (int i = 0; i < cloth->m_links.size(); ++i) {
      const btSoftBody::Link& link = cloth->m_links[i];
      // Along the yarns only, as for ours.
      if (link.m_rl > 2.1f / static_cast<float>(nodes - 1)) continue;
      stretch = std::max(stretch, static_cast<double>((link.m_n[1]->m_x - link.m_n[0]->m_x).length() / link.m_rl - 1));
    }
    for (int i = 0; i < cloth->m_nodes.size(); ++i) {
      squares += static_cast<double>(cloth->m_nodes[i].m_v.length2());
      deepest = std::max(deepest, 0.5 - static_cast<double>(cloth->m_nodes[i].m_x.length()));
    }
    result.counts = {{"nodes", static_cast<double>(cloth->m_nodes.size())},
                     {"rows", static_cast<double>(cloth->m_links.size())}};
    result.figures = {
        {"stretch", stretch}, {"rms_speed", std::sqrt(squares / cloth->m_nodes.size())}, {"inside", deepest}};
    world.removeSoftBody(cloth);
    world.removeRigidBody(&sphere);
    delete cloth;
  }
  result.figures["mean_ms"] = mean_of_best(times);
  summarize(times, result);
  return result;
}

BenchResult run_loaded(int cells, const BenchContext& context) {
  constexpr int kFewSteps = 120;
  const auto fill = [&](World& world) {
    ClothDef def = cloth_sheet(cells);
    for (const float side : {-1.0f, 1.0f}) def.held.push_back({.nodes = NodeHalfSpace{{0, 0, side}, 0.999f}});
    world.add(def);
    return *world.add(RigidDef{.shape = Sphere{0.25f}, .density = 2000, .position = {0, kHeight + 0.4f, 0}});
  };
  return run_worlds(context, kFewSteps, kStep, fill, [](const World& world, BodyId ball, BenchResult& result) {
    result.figures["ball_speed"] = static_cast<double>(length(world.state(ball)->velocity));
  });
}

/// A sheet that hangs from its upper rim, at a step of 20 ms: what rows alone cost.
BenchResult run_rows(int cells, const BenchContext& context) {
  constexpr float kLongStep = 0.02f;
  constexpr int kFewSteps = 50;
  const auto fill = [&](World& world) {
    ClothDef def = cloth_sheet(cells);
    def.held.push_back({.nodes = NodeHalfSpace{{0, 0, -1}, 0.999f}});
    return *world.add(def);
  };
  BenchResult result = run_worlds(context, kFewSteps, kLongStep, fill, [](const World&, BodyId, BenchResult& counted) {
    // The report counts the rows of all substeps.
    counted.counts["rows"] /= std::ceil(kLongStep * 240 * 0.999f);
  });
  result.figures["ns_per_row"] = 1e6 * result.figures["mean_ms"] / result.counts["rows"];
  return result;
}

}  // namespace

void add_cloth_benchmarks(std::vector<Benchmark>& suite) {
  for (const int cells : {50, 100, 200}) {
    suite.push_back({"cloth_sphere_" + std::to_string(cells + 1),
                     [cells](const BenchContext& context) { return run_cloth_sphere(cloth_sheet(cells), context); }});
  }
  suite.push_back(
      {"cloth_sphere_51_bullet", [](const BenchContext& context) { return run_bullet_cloth(51, context); }});
  for (const int cells : {50, 100, 200}) {
    suite.push_back({"cloth_sphere_mesh_" + std::to_string(cells + 1),
                     [cells](const BenchContext& context) { return run_cloth_sphere(cloth_mesh(cells), context); }});
  }
  for (const int cells : {20, 38}) {
    suite.push_back({"cloth_under_load_" + std::to_string(cells + 1),
                     [cells](const BenchContext& context) { return run_loaded(cells, context); }});
  }
  for (const int cells : {41, 91, 159, 224}) {
    suite.push_back({"cloth_rows_" + std::to_string(cells + 1),
                     [cells](const BenchContext& context) { return run_rows(cells, context); }});
  }
}

}  // namespace pliant
