// Solids at rest against closed forms: the patch test, bending, torsion, large deflection, and the size of things.
#include <cstdio>

#include "solid/solid_support.h"

namespace pliant {
namespace {

TEST(SolidStatics, AnAffineMotionOfTheBoundaryIsReproducedInside) {
  const auto affine = [](Vec3 x) {
    return x + Vec3{0.05f * x.x + 0.02f * x.y + 0.01f * x.z, 0.03f * x.x - 0.03f * x.y + 0.02f * x.z,
                    0.01f * x.x + 0.02f * x.y + 0.04f * x.z};
  };
  for (const float poisson : {0.0f, 0.3f, 0.45f}) {
    TetMesh mesh = tet_box({1, 1, 1}, 5, 5, 5);
    jitter_inside(mesh, 0.04f, 3);
    const Aabb bounds = mesh.bounds();
    Rig rig({.mesh = mesh, .material = elastic(1e6f, poisson), .solver = {.tolerance = 1e-5f}});
    rig.hold_where([&](Vec3 x) {
      return at(x.x, bounds.lower.x) || at(x.x, bounds.upper.x) || at(x.y, bounds.lower.y) || at(x.y, bounds.upper.y) ||
             at(x.z, bounds.lower.z) || at(x.z, bounds.upper.z);
    });
    double worst = 0;
    for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
      if (rig.body.is_held(node)) rig.body.set_position(node, affine(mesh.nodes[node]));
    }
    ASSERT_GT(rig.find_rest(10, {}, 1e-7), 0);
    for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
      worst = std::max(worst, static_cast<double>(length(rig.body.position(node) - affine(mesh.nodes[node]))));
    }
    std::printf("patch test, nu %.2f: largest error %.2e m\n", static_cast<double>(poisson), worst);
    EXPECT_LT(worst, 1e-5);
  }
}

/// A cantilever of 1 m with a square section.
struct Cantilever {
  double young = 1e6, poisson = 0.3, height = 0.1;
  double area() const { return height * height; }
  double inertia() const { return std::pow(height, 4) / 12; }
  /// Timoshenko's tip deflection under an end load, with Cowper's shear coefficient.
  double tip_deflection(double load) const {
    const double shear = young / (2 * (1 + poisson)), kappa = 10 * (1 + poisson) / (12 + 11 * poisson);
    return load / (3 * young * inertia()) + load / (kappa * shear * area());
  }
};

double measured_deflection(const Cantilever& c, double load, int across) {
  const auto h = static_cast<float>(c.height);
  Rig rig({.mesh = beam_mesh({1, h, h}, 8 * across, across, across),
           .material = elastic(static_cast<float>(c.young), static_cast<float>(c.poisson)),
           .solver = {.tolerance = 1e-4f, .max_iterations = 2000}});
  rig.hold_where([](Vec3 x) { return at(x.x, 0); });
  const auto tip = rig.nodes_where([](Vec3 x) { return at(x.x, 1); });
  for (const std::uint32_t node : tip) {
    // Shares of a uniform traction on a grid of squares: corners a quarter, edges a half.
    const Vec3 x = rig.mesh().nodes[node];
    const float share = (at(std::abs(x.y), h / 2) ? 0.5f : 1.0f) * (at(std::abs(x.z), h / 2) ? 0.5f : 1.0f);
    rig.body.add_force(node, {0, -share * static_cast<float>(load) / static_cast<float>(across * across), 0});
  }
  const int steps = rig.find_rest(10, {}, 1e-6);
  EXPECT_GT(steps, 0);
  const double down = -rig.displacement(tip).y;
  std::printf("  %2d cells across, %6u tets: %.6f m in %d steps, %d iterations\n", across, rig.body.tet_count(), down,
              steps, rig.iterations);
  return down;
}

TEST(SolidStatics, ATipLoadBendsASlenderBeamAsTimoshenkoSays) {
  const Cantilever c;
  const double load = 0.1, expected = c.tip_deflection(load);
  std::printf("Timoshenko: %.6f m\n", expected);
  double before = 0, error = 1;
  for (const int across : {2, 4, 8, 14}) {
    error = 1 - measured_deflection(c, load, across) / expected;
    std::printf("     %.2f %% too stiff%s", 100 * error, before > 0 ? "" : "\n");
    if (before > 0) std::printf(", rate %.2f\n", std::log(before / error) / std::log(across == 14 ? 1.75 : 2.0));
    if (before > 0) {
      EXPECT_LT(error, 0.5 * before);
    }
    before = error;
  }
  EXPECT_LT(std::abs(error), 0.05);
}

/// Twist per metre of a bar of 1 m with a square section of 0.2 m, in its middle half.
double measured_twist(double young, double poisson, double torque, int across) {
  constexpr float kHeight = 0.2f;
  Rig rig({.mesh = beam_mesh({1, kHeight, kHeight}, 4 * across, across, across),
           .material = elastic(static_cast<float>(young), static_cast<float>(poisson)),
           .solver = {.tolerance = 1e-4f, .max_iterations = 2000}});
  rig.hold_where([](Vec3 x) { return at(x.x, 0); });
  // Forces around the axis on the rim of the end. How they are spread is forgotten one height away (Saint-Venant).
  const auto end = rig.nodes_where([](Vec3 x) { return at(x.x, 1); });
  double arms = 0;
  for (const std::uint32_t node : end) arms += dot(Vec3d(rig.mesh().nodes[node]), Vec3d(rig.mesh().nodes[node])) - 1;
  for (const std::uint32_t node : end) {
    const Vec3 x = rig.mesh().nodes[node];
    rig.body.add_force(node, Vec3{0, -x.z, x.y} * static_cast<float>(torque / arms));
  }
  EXPECT_GT(rig.find_rest(10, {}, 1e-7), 0);
  const auto angle = [&](float where) {
    const auto section = rig.nodes_where([&](Vec3 x) { return at(x.x, where); });
    double turned = 0, size = 0;
    for (const std::uint32_t node : section) {
      const Vec3d x(rig.mesh().nodes[node]), u = Vec3d(rig.body.position(node)) - x;
      turned += x.y * u.z - x.z * u.y;
      size += x.y * x.y + x.z * x.z;
    }
    return turned / size;
  };
  return (angle(0.75f) - angle(0.25f)) / 0.5;
}

TEST(SolidStatics, ASquareBarTwistsAsSaintVenantSays) {
  const double young = 1e6, poisson = 0.3, torque = 0.2;
  const double rigidity = young / (2 * (1 + poisson)) * 0.140577 * std::pow(0.2, 4);
  double before = 0, error = 1;
  for (const int across : {2, 4, 8, 16}) {
    error = 1 - measured_twist(young, poisson, torque, across) / (torque / rigidity);
    std::printf("torsion, %2d cells across: %.2f %% too stiff\n", across, 100 * error);
    if (before > 0) {
      EXPECT_LT(error, 0.6 * before);
    }
    before = error;
  }
  EXPECT_LT(std::abs(error), 0.05);
}

/// The drop of the tip over the length, under self-weight.
double measured_drop(double gamma, double scale, int across) {
  const double height = 0.05, young = 1e6, density = 1000;
  // Γ = ρ g A L³ / (E I) with I = A h² / 12.
  const double gravity = gamma * young * height * height / 12 / density / scale;
  const auto l = static_cast<float>(scale), h = static_cast<float>(scale * height);
  Rig rig({.mesh = beam_mesh({l, h, h}, 12 * across, across, across),
           .material = elastic(static_cast<float>(young), 0.0f),
           .solver = {.tolerance = 1e-3f, .max_iterations = 2000}});
  rig.hold_where([&](Vec3 x) { return at(x.x, 0, l); });
  const auto tip = rig.nodes_where([&](Vec3 x) { return at(x.x, l, l); });
  const int steps = rig.find_rest(static_cast<float>(scale), {0, -static_cast<float>(gravity), 0}, 1e-4 * scale, 200);
  EXPECT_GT(steps, 0);
  const double drop = -rig.displacement(tip).y / scale;
  std::printf("Gamma %.0f, length %g m: drop / length %.4f after %d steps, %d iterations, %u tets\n", gamma, scale,
              drop, steps, rig.iterations, rig.body.tet_count());
  return drop;
}

TEST(SolidStatics, ABeamHangsUnderItsOwnWeightAsTheElasticaSays) {
  EXPECT_NEAR(measured_drop(5, 1, 12), 0.496, 0.05 * 0.496);
  EXPECT_NEAR(measured_drop(10, 1, 12), 0.700, 0.05 * 0.700);
}

TEST(SolidStatics, TheSameBeamBehavesTheSameAtAnySize) {
  const double drop = measured_drop(5, 1, 4);
  for (const double scale : {0.01, 0.1, 10.0, 1000.0}) EXPECT_NEAR(measured_drop(5, scale, 4), drop, 0.01 * drop);
}

TEST(SolidStatics, AHeldBeamsReactionsCarryItsWeight) {
  Rig rig({.mesh = beam_mesh({1, 0.2f, 0.2f}, 20, 4, 4), .material = elastic(1e6f, 0.3f)});
  rig.hold_where([](Vec3 x) { return at(x.x, 0); });
  ASSERT_GT(rig.find_rest(1, {0, -9.81f, 0}, 1e-6), 0);
  rig.step(1.0f / 60, {0, -9.81f, 0});
  Vec3d sum;
  for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) sum += Vec3d(rig.body.reaction(node));
  const double weight = 1000 * 0.04 * 9.81;
  std::printf("reactions (%.4f, %.4f, %.4f) N, weight %.4f N\n", sum.x, sum.y, sum.z, weight);
  EXPECT_NEAR(sum.y, weight, 1e-3 * weight);
  EXPECT_NEAR(sum.x, 0, 1e-3 * weight);
  EXPECT_NEAR(sum.z, 0, 1e-3 * weight);
}

}  // namespace
}  // namespace pliant
