#include "particle/position_based.h"

#include "collide/counting_allocator.h"
#include "particle/position_kernel.h"

#include "jelly_support.h"

namespace pliant {
namespace {

struct Rig {
  explicit Rig(const TetMesh& mesh_, JellyMaterial material = {}, int iterations = 2, float damping = 0,
               int threads = 1)
      : mesh(mesh_),
        workers(threads),
        model(make(mesh, material, iterations, damping)),
        state(mesh.nodes, node_masses(mesh, 1000)) {}

  static PositionBased make(const TetMesh& mesh, JellyMaterial material, int iterations, float damping) {
    PositionBasedRest rest = *position_based_rest(mesh, material);
    rest.iterations = iterations;
    rest.deviation_damping = damping;
    return *PositionBased::create(std::move(rest));
  }
  void step(float h, Vec3 gravity = {}) {
    state.accelerate(gravity * h);
    model.free_velocity(workers, state.x, state.v, h);
    state.advance(h);
  }

  TetMesh mesh;
  Workers workers;
  PositionBased model;
  JellyState state;
};

TEST(PositionBased, AHangingBarStretchesAsTheContinuumSays) {
  for (const int cells : {2, 3}) {
    for (const int iterations : {2, 10, 60}) {
      const float length = 0.5f, young = 2e5f;
      Rig rig(tet_box({0.1f, length, 0.1f}, cells, 5 * cells, cells), {young, 0.25f}, iterations, 5);
      rig.state.hold_where([&](Vec3 p) { return p.y > length / 2 - 1e-4f; });
      for (int i = 0; i < 480; ++i) rig.step(1.0f / 240, {0, -9.81f, 0});
      double low = 0, count = 0;
      for (std::size_t i = 0; i < rig.mesh.nodes.size(); ++i) {
        if (rig.mesh.nodes[i].y < -length / 2 + 1e-4f) low += double(rig.mesh.nodes[i].y - rig.state.x[i].y), ++count;
      }
      const double expected = 1000 * 9.81 * 0.25 / (2 * double(young));
      if (iterations == 60) {
        EXPECT_NEAR(low / count / expected, 1, 0.1);
      }
    }
  }
}

TEST(PositionBased, MomentumOfAFreeBodyIsKept) {
  for (const float h : {1.0f / 240, 1.0f / 15}) {
    Rig rig(figure_jelly());
    expect_momentum_kept(
        rig.state, [&](JellyState& s, float dt) { rig.model.free_velocity(rig.workers, s.x, s.v, dt); }, h);
  }
}

TEST(PositionBased, KineticEnergyIsNotMade) {
  for (const float young : {1e3f, 1e5f, 1e7f, 1e9f}) {
    for (const float h : {1.0f / 240, 1.0f / 15}) {
      Rig rig(tet_box({0.2f, 0.2f, 0.2f}, 3, 3, 3), {young, 0.4f});
      rig.state.stir(0.1f, {1, 0, 0}, {2, 1, 0}, 3);
      const double start = rig.state.kinetic_energy();
      double most = 0;
      for (int i = 0; i < 200; ++i) {
        rig.step(h);
        most = std::max(most, rig.state.kinetic_energy());
      }
      EXPECT_LT(most, start * 1.001) << young << " " << h;
    }
  }
}

TEST(PositionBased, ASquashedBodyRecovers) {
  for (const float squash : {0.2f, 0.0f, -1.0f}) {
    Rig rig(tet_box({0.2f, 0.2f, 0.2f}, 3, 3, 3), {3e4f, 0.4f}, 2, 5);
    rig.state.map([&](Vec3 p) { return Vec3{p.x, squash * p.y, p.z}; });
    for (int i = 0; i < 1200; ++i) rig.step(1.0f / 240);
    ASSERT_TRUE(rig.state.is_finite());
    int inverted = 0;
    const double volume = volume_of(rig.mesh, rig.state, &inverted) / rig.mesh.volume();
    if (squash < 0.2f) continue;
    EXPECT_EQ(inverted, 0);
    EXPECT_NEAR(volume, 1, 0.01);
    EXPECT_LT(edge_error(rig.mesh, rig.state), 0.01);
  }
}

TEST(PositionBased, TheFoldAngleHasTheDerivativesOfFiniteDifferences) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-0.4f, 0.4f);
  for (int trial = 0; trial < 50; ++trial) {
    std::array<Vec3, 4> p{Vec3{0, 0, 0}, Vec3{1, 0, 0}, Vec3{0.5f, 1, 0}, Vec3{0.5f, -1, 0}}, gradient;
    for (Vec3& a : p) a += Vec3{uniform(random), uniform(random), uniform(random)};
    fold_angle(p, &gradient);
    for (std::size_t n = 0; n < 4; ++n) {
      for (std::size_t c = 0; c < 3; ++c) {
        auto more = p, less = p;
        more[n][c] += 1e-2f, less[n][c] -= 1e-2f;
        EXPECT_NEAR((fold_angle(more) - fold_angle(less)) / 2e-2f, gradient[n][c], 5e-3f) << n << " " << c;
      }
    }
  }
  EXPECT_NEAR(fold_angle({Vec3{0, 0, 0}, Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}), -kPi / 2, 1e-5f);
}

TEST(PositionBased, AJellyUnderItsWeightIsFast) {
  Rig rig(figure_jelly());
  rig.state.hold_where([](Vec3 p) { return p.y < -0.0299f; });
  const double ms = median_ms([&] { rig.step(1.0f / 240, {0, -9.81f, 0}); });
  RecordProperty("microseconds", static_cast<int>(1000 * ms));
  EXPECT_LT(ms, 1) << "0.09 on a quiet machine";
}

}  // namespace
}  // namespace pliant
