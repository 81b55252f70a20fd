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
      const double stretch = bar_stretch(rig.mesh, rig.state, young);
      // Too few iterations make a long bar softer.
      EXPECT_GT(stretch, 0.9) << cells << " " << iterations;
      EXPECT_LT(stretch, iterations == 2 ? 1.6 : 1.1) << cells << " " << iterations;
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
    expect_rest_shape(rig.mesh, rig.state);
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

TEST(PositionBased, AMassOnACompliantDistanceHangsWhereHookeSays) {
  for (const float h : {1.0f / 240, 1.0f / 30}) {
    for (const int iterations : {1, 5}) {
      PositionBasedRest rest;
      rest.node_count = 2;
      rest.distances = {{{0, 1}, 1.0f, 1e-3f}};
      rest.iterations = iterations;
      PositionBased model = *PositionBased::create(rest);
      Workers workers(1);
      std::vector<Vec4> x{{0, 0, 0, 0}, {0, -1, 0, 0}}, v{{0, 0, 0, 0}, {0, 0, 0, 1 / 2.0f}};
      for (int i = 0; i < 4000; ++i) {
        v[1].y -= 9.81f * h;
        model.free_velocity(workers, x, v, h);
        x[1].y += h * v[1].y;
      }
      EXPECT_NEAR(x[1].y, -1 - 1e-3f * 2 * 9.81f, 2e-4f) << h << " " << iterations;
    }
  }
}

TEST(PositionBased, AFoldOpensFromBothSides) {
  for (const float start : {-2.8f, -0.5f, 0.5f, 2.8f}) {
    for (const float rest_angle : {0.0f, 0.7f}) {
      PositionBasedRest rest;
      rest.node_count = 4;
      rest.bends = {{{0, 1, 2, 3}, rest_angle, 1e-2f}};
      for (const std::array<std::uint32_t, 2> pair :
           {std::array<std::uint32_t, 2>{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}}) {
        const bool spine = pair[0] == 0 && pair[1] == 1;
        rest.distances.push_back({pair, spine ? 1.0f : std::sqrt(1.25f), 0});
      }
      rest.iterations = 10;
      rest.deviation_damping = 5;
      PositionBased model = *PositionBased::create(rest);
      Workers workers(1);
      std::vector<Vec4> x{{0, 0, 0, 0},
                          {1, 0, 0, 0},
                          {0.5f, std::cos(start / 2), std::sin(start / 2), 0},
                          {0.5f, -std::cos(start / 2), std::sin(start / 2), 0}};
      std::vector<Vec4> v(4, {0, 0, 0, 1});
      const auto angle = [&] { return fold_angle({x[0].xyz(), x[1].xyz(), x[2].xyz(), x[3].xyz()}); };
      EXPECT_NEAR(std::abs(angle()), std::abs(start), 1e-4f);
      for (int i = 0; i < 2400; ++i) {
        model.free_velocity(workers, x, v, 1.0f / 240);
        for (std::size_t n = 0; n < 4; ++n) {
          x[n] = {x[n].x + v[n].x / 240, x[n].y + v[n].y / 240, x[n].z + v[n].z / 240, 0};
        }
      }
      EXPECT_NEAR(angle(), rest_angle, 0.01f) << start;
    }
  }
}

}  // namespace
}  // namespace pliant
