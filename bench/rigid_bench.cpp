// Rigid bodies beside plain Bullet: the same boxes, the same step, the same number of sweeps, nothing asleep. Then the
// two searches that all kinds of bodies share: which boxes overlap, and how near a point is to a mesh.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include <btBulletDynamicsCommon.h>

#include "collide/broad_phase.h"
#include "geometry/shape_distance.h"
#include "pliant/generators.h"
#include "pliant/world.h"

#include "bench/suite.h"

namespace pliant {
namespace {

constexpr float kStep = 1.0f / 60;
constexpr int kIterations = 10;
constexpr int kWarmUp = 60;  // the boxes have fallen onto each other
constexpr int kSteps = 240;
constexpr float kBoxSize = 0.5f;

struct BoxStart {
  Vec3 position;
  Quat rotation;
};

/// A tall heap in a square pit, the same for both engines.
std::vector<BoxStart> pile(int count) {
  std::mt19937 random(42);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<BoxStart> boxes;
  for (int i = 0; i < count; ++i) {
    const auto x = static_cast<float>(i % 10), y = static_cast<float>(i / 100), z = static_cast<float>(i / 10 % 10);
    boxes.push_back(
        {{0.6f * (x - 4.5f) + 0.02f * uniform(random), 0.4f + 0.6f * y, 0.6f * (z - 4.5f) + 0.02f * uniform(random)},
         Quat::axis_angle({uniform(random), uniform(random), uniform(random)}, 0.25f * uniform(random))});
  }
  return boxes;
}

/// Walls of the pit: position and size.
std::vector<std::pair<Vec3, Vec3>> pit() {
  return {{{0, -0.5f, 0}, {20, 1, 20}},
          {{3.75f, 5, 0}, {0.5f, 10, 8}},
          {{-3.75f, 5, 0}, {0.5f, 10, 8}},
          {{0, 5, 3.75f}, {8, 10, 0.5f}},
          {{0, 5, -3.75f}, {8, 10, 0.5f}}};
}

/// Calls `step` for the warm-up and then measures it.
template <typename Step>
std::vector<double> measure_after_warm_up(Step&& step) {
  measure(kWarmUp, step);
  return measure(kSteps, step);
}

BenchResult run_pliant(int count, const BenchContext& context) {
  BenchResult result;
  result.threads = context.threads;
  std::vector<std::vector<double>> times;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    World world({.dt = kStep, .iterations = kIterations, .threads = context.threads, .allow_sleep = false});
    for (const auto& [position, size] : pit()) {
      world.add(RigidDef{.shape = Box{size}, .motion = Motion::Static, .position = position});
    }
    for (const BoxStart& box : pile(count)) {
      world.add(
          RigidDef{.shape = Box{{kBoxSize, kBoxSize, kBoxSize}}, .position = box.position, .rotation = box.rotation});
    }
    times.push_back(measure_after_warm_up([&] { world.step(); }));
    const StepReport& report = world.report();
    result.counts = {{"bodies", static_cast<double>(count)},
                     {"contacts", static_cast<double>(report.contacts)},
                     {"rows", static_cast<double>(report.rows)}};
    double mass = 0;
    for (const BodyId id : world.bodies()) mass += static_cast<double>(world.state(id)->mass);
    result.figures = {{"max_penetration", static_cast<double>(report.max_penetration)},
                      {"rms_speed", std::sqrt(2 * report.kinetic_energy / mass)}};
  }
  summarize(times, result);
  return result;
}

/// Bullet as its own examples set it up.
struct PlainBullet {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;

  ~PlainBullet() {
    for (auto& body : bodies) world.removeRigidBody(body.get());
  }
  void add(Vec3 size, float mass, Vec3 position, Quat rotation) {
    shapes.push_back(std::make_unique<btBoxShape>(btVector3(size.x / 2, size.y / 2, size.z / 2)));
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shapes.back()->calculateLocalInertia(mass, inertia);
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shapes.back().get(), inertia);
    info.m_startWorldTransform = btTransform(btQuaternion(rotation.x, rotation.y, rotation.z, rotation.w),
                                             btVector3(position.x, position.y, position.z));
    bodies.push_back(std::make_unique<btRigidBody>(info));
    if (mass > 0) bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  }
};

BenchResult run_plain_bullet(int count, const BenchContext& context) {
  BenchResult result;
  result.threads = 1;
  std::vector<std::vector<double>> times;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    PlainBullet bullet;
    bullet.world.setGravity(btVector3(0, -9.81f, 0));
    bullet.world.getSolverInfo().m_numIterations = kIterations;
    for (const auto& [position, size] : pit()) bullet.add(size, 0, position, {});
    const float mass = 1000 * kBoxSize * kBoxSize * kBoxSize;
    for (const BoxStart& box : pile(count))
      bullet.add({kBoxSize, kBoxSize, kBoxSize}, mass, box.position, box.rotation);
    times.push_back(measure_after_warm_up([&] { bullet.world.stepSimulation(kStep, 0); }));
    double contacts = 0, deepest = 0, squares = 0;
    for (int i = 0; i < bullet.dispatcher.getNumManifolds(); ++i) {
      const btPersistentManifold* manifold = bullet.dispatcher.getManifoldByIndexInternal(i);
      contacts += manifold->getNumContacts();
      for (int k = 0; k < manifold->getNumContacts(); ++k) {
        deepest = std::max(deepest, -static_cast<double>(manifold->getContactPoint(k).getDistance()));
      }
    }
    for (const auto& body : bullet.bodies) squares += static_cast<double>(body->getLinearVelocity().length2());
    result.counts = {{"bodies", static_cast<double>(count)}, {"contacts", contacts}};
    result.figures = {{"max_penetration", deepest}, {"rms_speed", std::sqrt(squares / count)}};
  }
  summarize(times, result);
  return result;
}

/// A dense heap of unit cubes that move a little in each step.
BenchResult run_broad_phase(int side, const BenchContext& context) {
  BenchResult result;
  result.threads = 1;
  std::vector<std::vector<double>> times;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> apart(-0.1f, 0.1f), moved(-0.01f, 0.01f);
    const auto any = [&](auto& within) { return Vec3{within(random), within(random), within(random)}; };
    std::vector<Aabb> boxes;
    for (int i = 0; i < side * side * side; ++i) {
      const Vec3 at = Vec3{float(i % side), float(i / side % side), float(i / side / side)} + any(apart);
      boxes.push_back({at, at + Vec3{1, 1, 1}});
    }
    std::shuffle(boxes.begin(), boxes.end(), random);
    const std::vector<BroadPhaseProxy> proxies(boxes.size());
    BroadPhase broad_phase;
    std::size_t pairs = 0;
    std::vector<double> of_steps;
    for (int step = 0; step < kSteps; ++step) {
      for (Aabb& box : boxes) {
        const Vec3 by = any(moved);
        box = {box.lower + by, box.upper + by};
      }
      of_steps.push_back(measure(1, [&] { pairs = broad_phase.update(boxes, proxies).size(); })[0]);
    }
    times.push_back(std::move(of_steps));
    result.counts = {{"boxes", static_cast<double>(boxes.size())}, {"pairs", static_cast<double>(pairs)}};
  }
  summarize(times, result);
  return result;
}

/// Points near a sphere of 180,000 triangles ask it for the nearest point.
BenchResult run_mesh_distance(const BenchContext& context) {
  constexpr int kPoints = 1000;
  BenchResult result;
  result.threads = 1;
  const ShapeProbe probe(TriangleMesh{std::make_shared<TriMesh>(tri_sphere(1, 300))});
  std::vector<std::vector<double>> times;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    std::mt19937 random(17);
    std::normal_distribution<float> normal;
    double near = 0;
    times.push_back(measure(20, [&] {
      for (int i = 0; i < kPoints; ++i) {
        const Vec3 out = normalized(Vec3{normal(random), normal(random), normal(random)});
        near += probe.nearest(out * (1 + 0.03f * normal(random)), 0.05f).has_value();
      }
    }));
    result.counts = {{"points", kPoints}, {"near", near / 20}};
  }
  summarize(times, result);
  return result;
}

}  // namespace

void add_rigid_benchmarks(std::vector<Benchmark>& suite) {
  suite.push_back({"rigid_pile_1000", [](const BenchContext& context) { return run_pliant(1000, context); }});
  suite.push_back({"rigid_pile_1000_one_thread", [](const BenchContext& context) {
                     return run_pliant(1000, {1, context.repeats});
                   }});
  suite.push_back(
      {"rigid_pile_1000_plain_bullet", [](const BenchContext& context) { return run_plain_bullet(1000, context); }});
  suite.push_back({"broad_phase_1000", [](const BenchContext& context) { return run_broad_phase(10, context); }});
  suite.push_back({"broad_phase_8000", [](const BenchContext& context) { return run_broad_phase(20, context); }});
  suite.push_back({"mesh_distance", run_mesh_distance});
}

}  // namespace pliant
