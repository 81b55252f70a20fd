#include "particle/mass_spring.h"

#include <Eigen/Dense>

#include "collide/counting_allocator.h"

#include "jelly_support.h"

namespace pliant {
namespace {

MassSpring make(const TetMesh& mesh, JellyMaterial material, float damping = 0) {
  MassSpringRest rest = *mass_spring_rest(mesh, material);
  rest.damping_ratio = damping;
  return *MassSpring::create(std::move(rest));
}

struct Rig {
  explicit Rig(const TetMesh& mesh_, JellyMaterial material = {}, float damping = 0, int threads = 1)
      : mesh(mesh_),
        workers(threads),
        model(make(mesh, material, damping)),
        state(mesh.nodes, node_masses(mesh, 1000)) {}

  void step(float h, Vec3 gravity = {}) {
    state.accelerate(gravity * h);
    model.free_velocity(workers, state.x, state.v, h);
    state.advance(h);
  }
  double energy() { return state.kinetic_energy() + model.elastic_energy(workers, state.x); }

  TetMesh mesh;
  Workers workers;
  MassSpring model;
  JellyState state;
};

TEST(MassSpring, OneMassSwingsAtTheFrequencyOfItsSpring) {
  MassSpringRest rest;
  rest.node_count = 2;
  rest.springs = {{{0, 1}, 1.0f, 40.0f, {1, 0, 0}}};
  rest.damping_ratio = 0;
  rest.tolerance = 1e-6f;
  MassSpring model = *MassSpring::create(rest);
  Workers workers(1);
  std::vector<Vec4> x{{0, 0, 0, 0}, {1.01f, 0, 0, 0}}, v{{0, 0, 0, 0}, {0, 0, 0, 1 / 0.1f}};
  const float h = 1e-4f;
  double first_zero = 0;
  for (int i = 1; first_zero == 0 && i < 10000; ++i) {
    model.free_velocity(workers, x, v, h);
    x[1].x += h * v[1].x;
    if (x[1].x <= 1) first_zero = i * double(h);
  }
  EXPECT_NEAR(first_zero, double(kPi) / 2 / 20, 0.002 * double(kPi) / 40);
  EXPECT_EQ(x[0].x, 0);
  EXPECT_EQ(v[0].x, 0);
}

TEST(MassSpring, AHangingBarStretchesAsTheContinuumSays) {
  for (const int cells : {2, 3, 4}) {
    for (const float poisson : {0.25f, 0.4f}) {
      const float length = 0.5f, young = 2e5f;
      Rig rig(tet_box({0.1f, length, 0.1f}, cells, 5 * cells, cells), {young, poisson}, 1.0f);
      rig.state.hold_where([&](Vec3 p) { return p.y > length / 2 - 1e-4f; });
      for (int i = 0; i < 240; ++i) rig.step(1.0f / 30, {0, -9.81f, 0});
      EXPECT_NEAR(bar_stretch(rig.mesh, rig.state, young), 1, 0.15) << cells << " " << poisson;
    }
  }
}

TEST(MassSpring, MomentumOfAFreeBodyIsKept) {
  for (const float h : {1.0f / 240, 1.0f / 15}) {
    Rig rig(figure_jelly(), {}, 0.05f);
    expect_momentum_kept(
        rig.state, [&](JellyState& s, float dt) { rig.model.free_velocity(rig.workers, s.x, s.v, dt); }, h);
  }
}

TEST(MassSpring, EnergyNeverRises) {
  for (const float young : {1e3f, 1e5f, 1e7f, 1e9f}) {
    for (const float h : {1.0f / 240, 1.0f / 15}) {
      Rig rig(tet_box({0.2f, 0.2f, 0.2f}, 3, 3, 3), {young, 0.4f}, 0.05f);
      rig.state.stir(0.1f, {1, 0, 0}, {2, 1, 0}, 3);
      double last = rig.energy();
      const double start = last;
      double worst = 0;
      for (int i = 0; i < 200; ++i) {
        rig.step(h);
        const double now = rig.energy();
        worst = std::max(worst, (now - last) / start);
        last = now;
      }
      EXPECT_LT(worst, 1e-3) << young << " " << h;
    }
  }
}

/// Backward Euler by Newton's method in double with dense matrices and finite differences of the energy's gradient.
TEST(MassSpring, AStepIsBackwardEulersOfADenseSolver) {
  const TetMesh mesh = tet_box({0.2f, 0.15f, 0.1f}, 1, 1, 1);
  MassSpringRest rest = *mass_spring_rest(mesh, {2e4f, 0.4f});
  rest.damping_ratio = 0;
  rest.tolerance = 1e-6f;
  MassSpring model = *MassSpring::create(rest);
  JellyState state(mesh.nodes, node_masses(mesh, 1000));
  state.map([](Vec3 p) { return Vec3{1.05f * p.x, 0.97f * p.y + 0.05f * p.z, p.z}; });
  state.stir(0.1f, {}, {}, 8);
  const Eigen::Index n = 3 * Eigen::Index(mesh.nodes.size());
  const auto gather = [&](const std::vector<Vec4>& from) {
    Eigen::VectorXd all(n);
    for (std::size_t i = 0; i < from.size(); ++i) {
      all.segment<3>(3 * Eigen::Index(i)) << double(from[i].x), double(from[i].y), double(from[i].z);
    }
    return all;
  };
  const auto force = [&](const Eigen::VectorXd& x) {
    Eigen::VectorXd f = Eigen::VectorXd::Zero(n);
    const auto at = [&](std::uint32_t i) { return Eigen::Vector3d(x.segment<3>(3 * Eigen::Index(i))); };
    for (const SpringTerm& s : rest.springs) {
      const Eigen::Vector3d d = at(s.nodes[1]) - at(s.nodes[0]);
      const Eigen::Vector3d pull = double(s.stiffness) * (d.norm() - double(s.rest_length)) * d.normalized();
      f.segment<3>(3 * s.nodes[0]) += pull, f.segment<3>(3 * s.nodes[1]) -= pull;
    }
    for (const VolumeTerm& t : rest.volumes) {
      const Eigen::Vector3d a = at(t.nodes[1]) - at(t.nodes[0]), b = at(t.nodes[2]) - at(t.nodes[0]),
                            c = at(t.nodes[3]) - at(t.nodes[0]);
      const double push = -double(t.modulus) * (a.cross(b).dot(c) / 6 / double(t.rest_volume) - 1) / 6;
      const Eigen::Vector3d g[3] = {b.cross(c), c.cross(a), a.cross(b)};
      for (int k = 0; k < 3; ++k) {
        f.segment<3>(3 * t.nodes[std::size_t(k) + 1]) += push * g[k], f.segment<3>(3 * t.nodes[0]) -= push * g[k];
      }
    }
    return f;
  };
  const double h = 1.0 / 240;
  const Eigen::VectorXd x = gather(state.x), v0 = gather(state.v);
  Eigen::VectorXd mass(n), v = v0;
  for (Eigen::Index i = 0; i < n; ++i) mass[i] = 1 / double(state.v[std::size_t(i / 3)].w);
  for (int round = 0; round < 20; ++round) {
    Eigen::MatrixXd a = mass.asDiagonal();
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::VectorXd e = 1e-6 * Eigen::VectorXd::Unit(n, i);
      a.col(i) -= h * h * (force(x + h * v + e) - force(x + h * v - e)) / 2e-6;
    }
    v += a.partialPivLu().solve(h * force(x + h * v) - mass.cwiseProduct(v - v0));
  }
  Workers workers(1);
  model.free_velocity(workers, state.x, state.v, float(h));
  const Eigen::VectorXd got = gather(state.v);
  // One round of Newton's method, and spin given back: the rest of the difference is theirs.
  EXPECT_LT((got - v).norm(), 0.01 * (v - v0).norm());
}

TEST(MassSpring, ASquashedBodyRecovers) {
  for (const float squash : {0.2f, 0.0f, -1.0f}) {
    Rig rig(tet_box({0.2f, 0.2f, 0.2f}, 3, 3, 3), {3e4f, 0.4f}, 0.2f);
    rig.state.map([&](Vec3 p) { return Vec3{p.x, squash * p.y, p.z}; });
    for (int i = 0; i < 1200; ++i) rig.step(1.0f / 240);
    ASSERT_TRUE(rig.state.is_finite());
    if (squash >= 0) {
      expect_rest_shape(rig.mesh, rig.state);
      continue;
    }
    // From a mirror image it may come back folded, but it comes back.
    int inverted = 0;
    volume_of(rig.mesh, rig.state, &inverted);
    EXPECT_EQ(inverted, 0);
  }
}

TEST(MassSpring, AJellyUnderItsWeightIsCalm) {
  Rig rig(figure_jelly(), {}, 0.05f);
  rig.state.hold_where([](Vec3 p) { return p.y < -0.0299f; });
  for (int i = 0; i < 480; ++i) rig.step(1.0f / 240, {0, -9.81f, 0});
  double mass = 0, worst = 0;
  for (const Vec4& v : rig.state.v) mass += v.w > 0 ? 1 / double(v.w) : 0;
  for (int i = 0; i < 101; ++i) {
    rig.step(1.0f / 240, {0, -9.81f, 0});
    worst = std::max(worst, std::sqrt(2 * rig.state.kinetic_energy() / mass));
  }
  EXPECT_LT(worst, 0.003) << "m/s";
}

}  // namespace
}  // namespace pliant
