// What solids are made of: Neo-Hookean, grained, plastic and mixed ones, and meshes with slivers.
#include <cstdio>
#include <cstring>

#include <Eigen/Dense>

#include "solid/principal_kernel.h"
#include "solid/solid_support.h"

namespace pliant {
namespace {

Eigen::Matrix3d random_gradient(std::mt19937& random, double amount) {
  std::uniform_real_distribution<double> uniform(-amount, amount);
  return Eigen::Matrix3d::Identity() + Eigen::Matrix3d::NullaryExpr([&] { return uniform(random); });
}
LaneMat3<float> from_eigen(const Eigen::Matrix3d& m) {
  const auto column = [&](int c) {
    return LaneVec3<float>{static_cast<float>(m(0, c)), static_cast<float>(m(1, c)), static_cast<float>(m(2, c))};
  };
  return {column(0), column(1), column(2)};
}
Eigen::Matrix3d to_eigen(const LaneMat3<float>& m) {
  Eigen::Matrix3d out;
  const LaneVec3<float> columns[3] = {m.c0, m.c1, m.c2};
  for (int c = 0; c < 3; ++c) {
    out.col(c) << static_cast<double>(columns[c].x), static_cast<double>(columns[c].y),
        static_cast<double>(columns[c].z);
  }
  return out;
}

/// Stable Neo-Hookean energy (Smith, de Goes and Kim 2018, eq. 14) with the constants that fit small strains.
struct Energy {
  double lambda, mu;
  double m() const { return 4 * mu / 3; }
  double l() const { return lambda + 5 * mu / 6; }
  double alpha() const { return 1 + 3 * m() / (4 * l()); }
  double operator()(const Eigen::Matrix3d& f) const {
    const double ic = f.squaredNorm(), j = f.determinant();
    return m() / 2 * (ic - 3) + l() / 2 * (j - alpha()) * (j - alpha()) - m() / 2 * std::log(ic + 1);
  }
  Eigen::Matrix3d stress(const Eigen::Matrix3d& f) const {
    Eigen::Matrix3d p;
    constexpr double kSmall = 1e-5;
    for (int i = 0; i < 9; ++i) {
      Eigen::Matrix3d more = f, less = f;
      more(i / 3, i % 3) += kSmall, less(i / 3, i % 3) -= kSmall;
      p(i / 3, i % 3) = ((*this)(more) - (*this)(less)) / (2 * kSmall);
    }
    return p;
  }
};

TEST(NeoHookean, StressIsTheGradientOfTheEnergy) {
  std::mt19937 random(1);
  const Energy energy{3.0, 1.0};
  for (int i = 0; i < 1000; ++i) {
    const Eigen::Matrix3d f = random_gradient(random, 0.25);
    const Eigen::Matrix3d expected = energy.stress(f);
    const auto found = neo_hookean<float>(from_eigen(f), from_eigen(Eigen::Matrix3d::Identity()), 3.0f, 1.0f);
    EXPECT_LT((to_eigen(found.stress) - expected).norm(), 2e-4 * (1 + expected.norm()));
  }
}

TEST(NeoHookean, TheTangentIsTheDerivativeOfTheStress) {
  std::mt19937 random(2);
  const Energy energy{3.0, 1.0};
  std::normal_distribution<double> normal;
  int compared = 0;
  for (int i = 0; i < 400; ++i) {
    const Eigen::Matrix3d f = random_gradient(random, 0.2);
    Eigen::Matrix<double, 9, 9> hessian;
    constexpr double kSmall = 1e-3;
    for (int k = 0; k < 9; ++k) {
      Eigen::Matrix3d more = f, less = f;
      more(k / 3, k % 3) += kSmall, less(k / 3, k % 3) -= kSmall;
      const Eigen::Matrix3d d = (energy.stress(more) - energy.stress(less)) / (2 * kSmall);
      for (int r = 0; r < 9; ++r) hessian(r, k) = d(r / 3, r % 3);
    }
    const Eigen::Matrix<double, 9, 9> symmetric = 0.5 * (hessian + hessian.transpose());
    if (Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 9, 9>>(symmetric).eigenvalues()[0] < 0.02) continue;
    ++compared;
    const Eigen::Vector3d p(normal(random), normal(random), normal(random)),
        q(normal(random), normal(random), normal(random));
    Eigen::Matrix3d expected;  // K_ab = Σ_ij p_i H_(ai)(bj) q_j
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        double sum = 0;
        for (int r = 0; r < 3; ++r) {
          for (int c = 0; c < 3; ++c) sum += p[r] * hessian(3 * a + r, 3 * b + c) * q[c];
        }
        expected(a, b) = sum;
      }
    }
    const auto element = neo_hookean<float>(from_eigen(f), from_eigen(Eigen::Matrix3d::Identity()), 3.0f, 1.0f);
    const auto vec = [](const Eigen::Vector3d& v) {
      return LaneVec3<float>{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
    };
    const Eigen::Matrix3d found = to_eigen(tangent_block(element.tangent, vec(p), vec(q)));
    EXPECT_LT((found - expected).norm(), 2e-3 * expected.norm() + 1e-3);
  }
  std::printf("%d tangents compared\n", compared);
  EXPECT_GT(compared, 50);
}

TEST(ElementKernels, StressOfWoodIsTheGradientOfItsEnergy) {
  // ½ λ tr(S − I)² + μ |S − I|² + ½ E (|F g| − 1)², with F = R S by an SVD of its own.
  const double lambda = 3, mu = 1, extra = 20;
  std::mt19937 random(11);
  const auto energy = [&](const Eigen::Matrix3d& f, const Eigen::Vector3d& g) {
    const Eigen::Vector3d e = Eigen::JacobiSVD<Eigen::Matrix3d>(f).singularValues() - Eigen::Vector3d::Ones();
    return 0.5 * lambda * e.sum() * e.sum() + mu * e.squaredNorm() + 0.5 * extra * std::pow((f * g).norm() - 1, 2);
  };
  for (int round = 0; round < 100; ++round) {
    const Eigen::Matrix3d f = random_gradient(random, 0.5);
    if (f.determinant() < 0.2) continue;
    const Eigen::Vector3d g = random_gradient(random, 1).col(0).normalized();
    Eigen::Matrix3d expected;
    for (int i = 0; i < 9; ++i) {
      Eigen::Matrix3d more = f, less = f;
      more(i) += 1e-5, less(i) -= 1e-5;
      expected(i) = (energy(more, g) - energy(less, g)) / 2e-5;
    }
    const LaneMat3<float> f_lane = from_eigen(f);
    const LaneMat3<float> r = element_rotation<float>(f_lane, {0, 0, 0, 1}, kFlatVolume).to_matrix();
    const LaneVec3<float> grain{static_cast<float>(g.x()), static_cast<float>(g.y()), static_cast<float>(g.z())};
    const auto found = grained(f_lane, r, LaneSym3<float>{}, static_cast<float>(lambda), static_cast<float>(mu),
                               static_cast<float>(extra), grain);
    EXPECT_LT((to_eigen(found.stress) - expected).norm(), 1e-3 * (1 + expected.norm()));
  }
}

TEST(ElementKernels, EightLanesGiveTheBitsOfOne) {
  std::mt19937 random(3);
  const auto lane = [](const LaneMat3<Float8>& m, std::size_t l) {
    return LaneMat3<float>{
        {m.c0.x[l], m.c0.y[l], m.c0.z[l]}, {m.c1.x[l], m.c1.y[l], m.c1.z[l]}, {m.c2.x[l], m.c2.y[l], m.c2.z[l]}};
  };
  for (int round = 0; round < 500; ++round) {
    LaneMat3<Float8> f8, g8;
    LaneMat3<float> f[8], g[8];
    for (std::size_t l = 0; l < 8; ++l) {
      f[l] = from_eigen(random_gradient(random, round % 3 ? 0.3 : 1.5)),
      g[l] = from_eigen(random_gradient(random, 0.3));
      const auto set = [l](LaneMat3<Float8>& to, const LaneMat3<float>& m) {
        to.c0.x[l] = m.c0.x, to.c0.y[l] = m.c0.y, to.c0.z[l] = m.c0.z, to.c1.x[l] = m.c1.x, to.c1.y[l] = m.c1.y;
        to.c1.z[l] = m.c1.z, to.c2.x[l] = m.c2.x, to.c2.y[l] = m.c2.y, to.c2.z[l] = m.c2.z;
      };
      set(f8, f[l]), set(g8, g[l]);
    }
    const Float8 one = broadcast(1), zero{}, lambda = broadcast(3), flat = broadcast(kFlatVolume);
    const LaneMat3<Float8> r8 = element_rotation<Float8>(f8, {zero, zero, zero, one}, flat).to_matrix();
    const auto hookean8 = neo_hookean(f8, r8, lambda, one);
    const auto grained8 = grained(f8, r8, LaneSym3<Float8>{}, lambda, one, broadcast(5), {zero, one, zero});
    const auto strain8 = corotational_strain(r8, f8, LaneSym3<Float8>{});
    const auto out8 = corotational_output<Float8>({g8, broadcast(0.1f), lambda, one, zero, flat}, r8,
                                                  linear_stress(strain8, lambda, one), broadcast(0.01f));
    const auto flow8 =
        plastic_flow(strain8, strain8 * broadcast(0.1f), broadcast(0.01f), broadcast(0.3f), broadcast(0.05f));
    for (std::size_t l = 0; l < 8; ++l) {
      const auto same = [&](const LaneMat3<Float8>& a, const LaneMat3<float>& b) {
        const LaneMat3<float> part = lane(a, l);
        return std::memcmp(&part, &b, sizeof b) == 0;
      };
      const LaneMat3<float> r = element_rotation<float>(f[l], {0, 0, 0, 1}, kFlatVolume).to_matrix();
      const auto hookean = neo_hookean(f[l], r, 3.0f, 1.0f);
      const auto fibre = grained(f[l], r, LaneSym3<float>{}, 3.0f, 1.0f, 5.0f, {0, 1, 0});
      EXPECT_TRUE(same(hookean8.stress, hookean.stress) && same(grained8.stress, fibre.stress));
      EXPECT_TRUE(
          same(tangent_block(hookean8.tangent, g8.c0, g8.c1), tangent_block(hookean.tangent, g[l].c0, g[l].c1)));
      EXPECT_TRUE(same(tangent_block(grained8.tangent, g8.c0, g8.c1), tangent_block(fibre.tangent, g[l].c0, g[l].c1)));
      const auto strain = corotational_strain(r, f[l], LaneSym3<float>{});
      const auto out =
          corotational_output<float>({g[l], 0.1f, 3, 1, 0, kFlatVolume}, r, linear_stress(strain, 3.0f, 1.0f), 0.01f);
      EXPECT_TRUE(same({out8.force[0], out8.force[1], out8.h[0]}, {out.force[0], out.force[1], out.h[0]}));
      const auto flow = plastic_flow(strain, strain * 0.1f, 0.01f, 0.3f, 0.05f);
      EXPECT_EQ(flow8.xx[l], flow.xx);
      EXPECT_EQ(flow8.yz[l], flow.yz);
    }
    if (testing::Test::HasFailure()) return;
  }
}

/// The stretch, at rest, of a free bar along x that is pulled at both ends by `stress` of its first area.
double pulled_stretch(const SolidMaterial& material, double stress, double from = -1, double to = 1,
                      const std::vector<SolidMaterial>& regions = {}) {
  constexpr int kAcross = 3;
  constexpr float kHeight = 0.2f;
  SolidDef def{
      .mesh = tet_box({2, kHeight, kHeight}, 20, kAcross, kAcross), .material = material, .region_materials = regions};
  if (!regions.empty()) {
    for (const Tet& tet : def.mesh.tets) {
      float x = 0;
      for (const std::uint32_t node : tet) x += def.mesh.nodes[node].x;
      def.mesh.regions.push_back(x > 0 ? 1 : 0);
    }
  }
  def.solver = {.tolerance = 1e-5f, .max_iterations = 1000};
  Rig rig(std::move(def));
  // The shares of a face's tets: a third of every triangle on the end to each of its corners.
  std::vector<std::uint32_t> nodes;
  const TriMesh surface = extract_surface(rig.mesh(), &nodes);
  for (const Face& face : surface.faces) {
    const Vec3 a = surface.vertices[face[0]], b = surface.vertices[face[1]], c = surface.vertices[face[2]];
    if (std::abs(a.x) < 0.999f || a.x != b.x || a.x != c.x) continue;
    const float share = 0.5f * length(cross(b - a, c - a)) / 3 * static_cast<float>(stress) * (a.x > 0 ? 1.0f : -1.0f);
    for (const std::uint32_t vertex : face) rig.body.add_force(nodes[vertex], {share, 0, 0});
  }
  // Steps short enough for the swing of the bar between its pulls, which are forces given beforehand.
  EXPECT_GT(rig.find_rest(0.02f, {}, 1e-6, 400), 0);
  const auto place = [&](double x) {
    const auto section = rig.nodes_where([&](Vec3 n) { return at(n.x, static_cast<float>(x)); });
    return rig.displacement(section).x + x;
  };
  return (place(to) - place(from)) / (to - from);
}

TEST(SolidMaterials, APulledBarStretchesByYoungsModulus) {
  for (const float poisson : {0.0f, 0.3f, 0.45f}) {
    const double stretch = pulled_stretch(elastic(1e6f, poisson), 1e4);
    std::printf("nu %.2f: strain %.5f at 0.01 E\n", static_cast<double>(poisson), stretch - 1);
    EXPECT_NEAR(stretch - 1, 0.01, 2e-4);
  }
}

TEST(SolidMaterials, WoodIsStifferAlongItsGrain) {
  SolidMaterial wood = elastic(1e6f, 0.3f);
  wood.grain_modulus = 1.2e7f;
  const double along = 1e4 / (pulled_stretch(wood, 1e4) - 1);
  wood.grain_direction = {0, 3, 0};
  const double across = 1e4 / (pulled_stretch(wood, 1e4) - 1);
  std::printf("E along the grain %.4g, across %.4g Pa\n", along, across);
  EXPECT_NEAR(along, 1.2e7, 0.02 * 1.2e7);
  // The grain hardly thins: for σ_y = 0 across it, E_x = E / (1 − ν² (1 − E / E_grain)).
  EXPECT_NEAR(across, 1e6 / (1 - 0.09 * 11 / 12), 0.01e6);
}

TEST(SolidMaterials, ANeoHookeanBarStretchesToTwice) {
  const double young = 1e6;
  for (const double poisson : {0.3, 0.45}) {
    const Energy energy{young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))};
    // Uniaxial: the sides are free, P_yy(2, s, s) = 0, by bisection in the closed form.
    double low = 0.3, high = 1.0;
    const auto stress = [&](double s) { return energy.stress(Eigen::Vector3d(2, s, s).asDiagonal()); };
    for (int i = 0; i < 60; ++i) (stress((low + high) / 2)(1, 1) < 0 ? low : high) = (low + high) / 2;
    const double pull = stress(low)(0, 0);
    const double stretch =
        pulled_stretch(elastic(static_cast<float>(young), static_cast<float>(poisson), Elasticity::NeoHookean), pull);
    std::printf("nu %.2f: %.4g Pa stretch it to %.4f\n", poisson, pull, stretch);
    EXPECT_NEAR(stretch, 2, 0.01);
  }
}

TEST(SolidMaterials, RegionsHaveTheirOwnMaterial) {
  const std::vector<SolidMaterial> two = {elastic(1e6f, 0.0f), elastic(4e6f, 0.0f)};
  EXPECT_NEAR(pulled_stretch({}, 2e4, -0.9, -0.1, two) - 1, 0.02, 4e-4);
  EXPECT_NEAR(pulled_stretch({}, 2e4, 0.1, 0.9, two) - 1, 0.005, 1e-4);
}

/// The plastic strain xx of a cube that is held stretched by `strain`, after each step.
std::vector<double> plastic_strains(const SolidMaterial& material, float strain, int steps, float dt) {
  Rig rig({.mesh = tet_box({1, 1, 1}, 2, 2, 2), .material = material});
  for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
    const Vec3 x = rig.mesh().nodes[node];
    rig.body.set_position(node, {x.x * (1 + strain), x.y, x.z});
    rig.body.hold(node, true);
  }
  std::vector<double> strains;
  for (int step = 0; step < steps; ++step) {
    rig.step(dt);
    strains.push_back(static_cast<double>(rig.body.elements().rest_strains()[0]));
  }
  return strains;
}

TEST(SolidPlasticity, FlowsAsEquationThreeSays) {
  SolidMaterial clay = elastic(1e6f, 0.3f);
  clay.yield_strain = 0.02f, clay.creep_rate = 10, clay.max_plastic_strain = 1;
  EXPECT_EQ(plastic_strains(clay, 0.019f, 10, 0.01f).back(), 0.0);
  const std::vector<double> strains = plastic_strains(clay, 0.1f, 50, 0.01f);
  for (std::size_t n = 0; n < strains.size(); ++n) {
    EXPECT_NEAR(strains[n], 0.08 * (1 - std::exp(-10 * 0.01 * static_cast<double>(n + 1))), 1e-5);
  }
  // The way does not depend on the steps.
  EXPECT_NEAR(plastic_strains(clay, 0.1f, 5, 0.1f).back(), strains.back(), 1e-5);
  clay.creep_rate = std::numeric_limits<float>::infinity();
  EXPECT_NEAR(plastic_strains(clay, 0.1f, 1, 0.01f).back(), 0.08, 1e-5);
  clay.max_plastic_strain = 0.03f;
  EXPECT_NEAR(plastic_strains(clay, 0.1f, 20, 0.01f).back(), 0.03, 1e-5);
}

TEST(SolidPlasticity, FlowLeavesMomentumAlone) {
  SolidMaterial clay = elastic(1e5f, 0.4f);
  clay.yield_strain = 0.01f, clay.creep_rate = 30;
  Rig rig({.mesh = tet_box({0.6f, 0.3f, 0.3f}, 6, 3, 3),
           .material = clay,
           .stretch = {1.5f, 1, 0.8f},
           .velocity = {1, 0, 0},
           .angular_velocity = {0, 12, 3}});
  const SolidTotals before = rig.body.totals();
  for (int step = 0; step < 120; ++step) rig.step(1.0f / 60);
  const SolidTotals after = rig.body.totals();
  double flowed = 0;
  for (const float strain : rig.body.elements().rest_strains()) flowed = std::max(flowed, static_cast<double>(strain));
  std::printf("largest plastic strain %.3f\n", flowed);
  EXPECT_GT(flowed, 0.02);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(after.momentum[k], before.momentum[k], 1e-5 * before.momentum[0]);
    EXPECT_NEAR(after.spin[k], before.spin[k], 1e-3 * before.spin[1]);
  }
}

TEST(SolidSlivers, StayAtRestAndAreSolvedQuickly) {
  TetMesh mesh = beam_mesh({1, 0.25f, 0.25f}, 12, 3, 3);
  // Every inner node nearly into the plane of one of its tets: volumes from a hundredth to a millionth.
  std::mt19937 random(5);
  int slivers = 0;
  std::vector<bool> moved(mesh.nodes.size(), false);
  for (const Tet& tet : mesh.tets) {
    const std::uint32_t node = tet[3];
    const Vec3 x = mesh.nodes[node];
    const bool inside = x.x > 0.01f && x.x < 0.99f && std::abs(x.y) < 0.12f && std::abs(x.z) < 0.12f;
    if (!inside || moved[node] || moved[tet[0]] || moved[tet[1]] || moved[tet[2]]) continue;
    const Vec3 a = mesh.nodes[tet[0]], n = normalized(cross(mesh.nodes[tet[1]] - a, mesh.nodes[tet[2]] - a));
    const float height = dot(x - a, n), left = std::pow(10.0f, -2 - 4 * static_cast<float>(random() % 1000) / 1000);
    TetMesh tried = mesh;
    tried.nodes[node] = x - n * (height * (1 - left));
    if (!validate(tried, {.max_problems = 1}).empty()) continue;
    mesh.nodes[node] = tried.nodes[node];
    moved[node] = true, ++slivers;
  }
  ASSERT_GT(slivers, 5);
  Rig still({.mesh = mesh, .material = elastic(1e6f, 0.3f)});
  for (int step = 0; step < 60; ++step) still.step(1.0f / 60);
  double drift = 0;
  for (std::uint32_t node = 0; node < still.body.node_count(); ++node) {
    drift = std::max(drift, static_cast<double>(length(still.body.position(node) - mesh.nodes[node])));
  }
  Rig held({.mesh = mesh, .material = elastic(1e6f, 0.3f)});
  held.hold_where([](Vec3 x) { return at(x.x, 0); });
  int unconverged = 0;
  for (int step = 0; step < 60; ++step) unconverged += !held.step(1.0f / 60, {0, -9.81f, 0}).converged;
  std::printf("%d slivers: drift at rest %.1e m; under load %.1f iterations a step\n", slivers, drift,
              held.iterations / 60.0);
  EXPECT_LT(drift, 1e-6);
  EXPECT_EQ(unconverged, 0);
  EXPECT_LT(held.iterations, 60 * 120);
}

TEST(SoftenedMaterial, BearsTheSameSpeedOfABlow) {
  // The stress of a blow is v √(E ρ): the speed at which it reaches the strength, and the one at which it yields.
  const auto breaking_speed = [](const SolidMaterial& m) {
    return m.strength / std::sqrt(m.young_modulus * m.density);
  };
  const auto yield_speed = [](const SolidMaterial& m) {
    return m.yield_strain * m.young_modulus / std::sqrt(m.young_modulus * m.density);
  };
  for (const std::string_view name : material::names()) {
    SCOPED_TRACE(name);
    const SolidMaterial real = *material::by_name(name), soft = material::softened(real, 2e7f);
    EXPECT_LE(std::max(soft.young_modulus, soft.grain_modulus), 2.0001e7f);
    EXPECT_EQ(soft.density, real.density);
    EXPECT_NEAR(real.is_breakable() ? breaking_speed(soft) / breaking_speed(real) : 1, 1, 1e-4);
    EXPECT_NEAR(real.is_plastic() ? yield_speed(soft) / yield_speed(real) : 1, 1, 1e-4);
    EXPECT_FLOAT_EQ(soft.grain_modulus * real.young_modulus, real.grain_modulus * soft.young_modulus);
    EXPECT_EQ(soft.young_modulus == real.young_modulus, real.young_modulus < 2e7f);
    EXPECT_EQ(material::softened(real, std::nanf("")).young_modulus, real.young_modulus);
  }
}

}  // namespace
}  // namespace pliant
