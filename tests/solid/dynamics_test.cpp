// Solids in motion: vibration, damping, free flight, and sameness on one thread and two.
#include <cstdio>
#include <cstring>

#include "solid/solid_measures.h"
#include "solid/solid_support.h"

namespace pliant {
namespace {

TEST(SolidDynamics, TheFirstBendingFrequencyIsThatOfABeam) {
  const double young = 1e6, height = 0.08, density = 1000;
  const auto h = static_cast<float>(height);
  Rig rig({.mesh = beam_mesh({1, h, h}, 72, 12, 12), .material = elastic(static_cast<float>(young), 0.0f)});
  rig.hold_where([](Vec3 x) { return at(x.x, 0); });
  const auto tip = rig.nodes_where([](Vec3 x) { return at(x.x, 1); });
  const double expected = 0.5596 * std::sqrt(young * height * height / 12 / density);
  ASSERT_GT(rig.find_rest(10, {0, -0.2f, 0}, 1e-6), 0);
  const double start = rig.displacement(tip).y;
  const double dt = 1 / (300 * expected);
  // The tip passes zero a quarter of a period after its release, and then every half.
  std::vector<double> passes;
  double before = start;
  for (int step = 1; passes.size() < 3 && step < 1000; ++step) {
    rig.step(static_cast<float>(dt));
    const double now = rig.displacement(tip).y;
    if (before * now < 0) passes.push_back(dt * (step - now / (now - before)));
    before = now;
  }
  ASSERT_EQ(passes.size(), 3u);
  const double measured = 1 / (passes[2] - passes[0]);
  std::printf("first bending frequency %.4f Hz, expected %.4f Hz (%.2f %%)\n", measured, expected,
              100 * (measured / expected - 1));
  EXPECT_NEAR(measured, expected, 0.03 * expected);
}

/// The amplitude left after one period of a bar that is stretched and let go, without the integrator's own damping.
double amplitude_after_a_period(float mass_damping, float stiffness_damping) {
  SolidMaterial material = elastic(1e6f, 0.0f);
  material.mass_damping = mass_damping;
  material.stiffness_damping = stiffness_damping;
  Rig rig({.mesh = beam_mesh({1, 0.1f, 0.1f}, 20, 2, 2), .material = material});
  rig.hold_where([](Vec3 x) { return at(x.x, 0); });
  for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
    const Vec3 x = rig.mesh().nodes[node];
    rig.body.set_position(node, x + Vec3{0.01f * std::sin(kPi / 2 * x.x), 0, 0});
  }
  const auto tip = rig.nodes_where([](Vec3 x) { return at(x.x, 1); });
  const double period = 4 / std::sqrt(1e6 / 1000);
  constexpr int kSteps = 400;
  for (int step = 0; step < kSteps; ++step) rig.step(static_cast<float>(period / kSteps));
  return rig.displacement(tip).x / 0.01;
}

TEST(SolidDynamics, RayleighDampingTakesWhatItSays) {
  const double none = amplitude_after_a_period(0, 0);
  const double omega = 2 * kPiD * std::sqrt(1e6 / 1000) / 4;
  for (const auto& [alpha, beta] : {std::pair(4.0, 0.0), std::pair(0.0, 2e-3), std::pair(2.0, 1e-3)}) {
    const double left = amplitude_after_a_period(static_cast<float>(alpha), static_cast<float>(beta)) / none;
    const double expected = std::exp(-kPiD * (alpha / omega + beta * omega));
    std::printf("damping %.0f 1/s, %.0e s: %.4f left, expected %.4f (undamped %.4f)\n", alpha, beta, left, expected,
                none);
    EXPECT_NEAR(left, expected, 0.02);
  }
}

struct Drift {
  double momentum = 0, spin = 0;
  double least_energy = 1, most_energy = 1;  ///< kinetic, over that at the start
};

Drift fly(SolidDef def, int steps, int threads) {
  Rig rig(std::move(def), threads);
  const SolidTotals before = rig.body.totals();
  Drift drift;
  const auto size = [](const double* v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); };
  for (int step = 0; step < steps; ++step) {
    rig.step(1.0f / 60);
    const SolidTotals now = rig.body.totals();
    double p[3], l[3];
    for (std::size_t k = 0; k < 3; ++k)
      p[k] = now.momentum[k] - before.momentum[k], l[k] = now.spin[k] - before.spin[k];
    drift.momentum = std::max(drift.momentum, size(p) / size(before.momentum));
    drift.spin = std::max(drift.spin, size(l) / size(before.spin));
    drift.least_energy = std::min(drift.least_energy, now.kinetic / before.kinetic);
    drift.most_energy = std::max(drift.most_energy, now.kinetic / before.kinetic);
  }
  EXPECT_TRUE(rig.is_finite());
  return drift;
}

TEST(SolidDynamics, FreeFlightKeepsMomentumAndSpin) {
  for (const Elasticity elasticity : {Elasticity::Corotational, Elasticity::NeoHookean}) {
    for (const float young : {1e4f, 1e6f, 1e8f, 2e11f}) {
      for (const Vec3 size : {Vec3{0.6f, 0.3f, 0.2f}, Vec3{0.4f, 0.4f, 0.4f}}) {
        const Drift drift = fly({.mesh = tet_box(size, 6, 4, 3),
                                 .material = elastic(young, 0.3f, elasticity),
                                 .velocity = {3, 1, -2},
                                 .angular_velocity = {2, 5, 1}},
                                1000, 1);
        std::printf("E %.0e, %s: momentum %.1e, spin %.1e, energy %.4f to %.4f\n", static_cast<double>(young),
                    elasticity == Elasticity::NeoHookean ? "Neo-Hookean" : "corotational", drift.momentum, drift.spin,
                    drift.least_energy, drift.most_energy);
        EXPECT_LT(drift.momentum, 1e-5);
        EXPECT_LT(drift.spin, 1e-3);
        EXPECT_LT(drift.most_energy, 1.001);
        if (young >= 1e6f) {
          EXPECT_GT(drift.least_energy, 0.9);
        }
      }
    }
  }
}

std::vector<float> state_after(int steps, int threads, const SolidMaterial& material) {
  Rig rig({.mesh = tet_box({1, 0.4f, 0.4f}, 20, 8, 8), .material = material, .angular_velocity = {1, 2, 3}}, threads);
  rig.body.hold(0, true);
  std::vector<NodeTouch> touches;
  for (int step = 0; step < steps; ++step) {
    touches.clear();
    for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
      const float gap = rig.body.position(node).y + 0.4f;
      if (gap < 0.1f) touches.push_back({.node = node, .normal = {0, 1, 0}, .gap = gap});
    }
    rig.step(1.0f / 60, {0, -9.81f, 0}, touches);
  }
  std::vector<float> state = rig.body.state().positions.floats();
  const std::vector<float>& v = rig.body.state().velocities.floats();
  state.insert(state.end(), v.begin(), v.end());
  return state;
}

TEST(SolidDynamics, TwoThreadsGiveTheSameBitsAsOne) {
  SolidMaterial plastic = elastic(2e5f, 0.4f);
  plastic.yield_strain = 0.02f;
  for (const SolidMaterial& material : {plastic, elastic(2e5f, 0.45f, Elasticity::NeoHookean)}) {
    const std::vector<float> one = state_after(100, 1, material), two = state_after(100, 2, material);
    ASSERT_EQ(one.size(), two.size());
    EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(float)), 0);
    bool finite = true;
    for (const float value : one) finite &= std::isfinite(value);
    EXPECT_TRUE(finite);
  }
}

TEST(SolidDynamics, ASolidTakesLessThanAKilobyteATet) {
  for (const int n : {4, 12}) {
    Rig rig({.mesh = tet_box({1, 1, 1}, n, n, n), .material = elastic(1e6f, 0.3f)});
    rig.step(1.0f / 60, {0, -9.81f, 0});
    const double bytes = static_cast<double>(rig.body.bytes()) / rig.body.tet_count();
    std::printf("%u tets: %.0f bytes a tet (layout %.0f, elements %.0f)\n", rig.body.tet_count(), bytes,
                static_cast<double>(rig.body.layout().bytes()) / rig.body.tet_count(),
                static_cast<double>(rig.body.elements().bytes()) / rig.body.tet_count());
    EXPECT_LT(bytes, 1024);
  }
}

TEST(SolidDynamics, AStiffBodyThatSpinsFastKeepsItsEnergy) {
  // At 1.5 rad a step the matrix of such a body has more rounding than mass in it.
  for (const float size : {0.05f, 0.005f}) {
    SolidMaterial glass = elastic(7e10f, 0.22f);
    glass.density = 2500;
    Rig rig({.mesh = tet_box({size, size, size}, 4, 4, 4), .material = glass, .angular_velocity = {90, 18, 9}});
    const double start = rig.body.totals().kinetic;
    std::vector<double> scratch;
    double most = 0;
    for (int step = 0; step < 120; ++step) {
      rig.step(1.0f / 60);
      most = std::max(most, rig.body.totals().kinetic + measure_energy(rig.workers, rig.body, scratch));
    }
    std::printf("size %g m: energy at most %.5f of the first, %.5f at the end\n", static_cast<double>(size),
                most / start, rig.body.totals().kinetic / start);
    EXPECT_LT(most, 1.01 * start);
    EXPECT_NEAR(rig.body.totals().kinetic, start, 1e-3 * start);
  }
}

TEST(SolidDynamics, ABarThatTumblesKeepsItsEnergy) {
  // 1/2 to 3/4 rad a step, about no axis of its own.
  for (const float young : {1e7f, 1e10f, 2e11f}) {
    for (const float rate : {30.0f, 45.0f}) {
      SolidMaterial material = elastic(young, 0.3f);
      material.density = 700;
      Rig rig({.mesh = tet_box({1, 0.1f, 0.1f}, 10, 1, 1),
               .material = material,
               .angular_velocity = Vec3{0.1f, 0.3f, 0.95f} * rate});
      const SolidTotals before = rig.body.totals();
      std::vector<double> scratch;
      double most = 0;
      for (int step = 0; step < 600; ++step) {
        rig.step(1.0f / 60);
        most = std::max(most, rig.body.totals().kinetic + measure_energy(rig.workers, rig.body, scratch));
      }
      const SolidTotals after = rig.body.totals();
      std::printf("E %.0e, %.0f rad/s: energy at most %.5f of the first, %.5f at the end\n", static_cast<double>(young),
                  static_cast<double>(rate), most / before.kinetic, after.kinetic / before.kinetic);
      // What is soft turns its stretch into other shapes, explicitly.
      const bool is_soft_and_fast = young < 1e8f && rate > 40;
      EXPECT_LT(most, (is_soft_and_fast ? 1.06 : 1.001) * before.kinetic);
      EXPECT_GT(after.kinetic, 0.9 * before.kinetic);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(after.spin[k], before.spin[k], 1e-3 * std::abs(before.spin[2]));
    }
  }
}

TEST(SolidDynamics, ABarThatSpinsIsStretchedByIt) {
  // A thin bar about its middle: tension ρ ω² (L²/4 − x²)/2, so it grows by ρ ω² L³/12E; the ends by half of it each.
  SolidMaterial rubber = elastic(4e6f, 0);
  rubber.stiffness_damping = 0.01f;
  const float rate = 20, length_at_rest = 1;
  Rig rig({.mesh = tet_box({length_at_rest, 0.05f, 0.05f}, 40, 2, 2),
           .material = rubber,
           .angular_velocity = {0, 0, rate}});
  const SolidTotals before = rig.body.totals();
  for (int step = 0; step < 600; ++step) rig.step(1.0f / 240);
  const SolidTotals after = rig.body.totals();
  float most = 0;
  for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
    most = std::max(most, length(rig.body.position(node)));
  }
  // As it grows it turns more slowly: the spin stays.
  const double turn = static_cast<double>(rate) * after.kinetic / before.kinetic;
  const double grown = 1000 * turn * turn / (12 * 4e6);
  const double found = 2 * std::sqrt(static_cast<double>(most) * static_cast<double>(most) - 2 * 0.025 * 0.025) - 1;
  std::printf("a bar at %.2f rad/s grows by %.5f, expected %.5f\n", turn, found, grown);
  EXPECT_NEAR(found, grown, 0.03 * grown);
}

}  // namespace
}  // namespace pliant
