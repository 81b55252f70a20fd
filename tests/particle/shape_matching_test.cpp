#include "particle/shape_matching.h"

#include <Eigen/Dense>

#include "collide/counting_allocator.h"

#include "jelly_support.h"

namespace pliant {
namespace {

struct Look {
  ShapeMode mode = ShapeMode::Linear;
  float stretch = 0.5f, stiffness = 0.5f, damping = 0;
  std::size_t clusters = 1;
};

struct Rig {
  explicit Rig(const TetMesh& mesh_, Look look, int threads = 1)
      : mesh(mesh_), workers(threads), model(make(mesh, look)), state(mesh.nodes, node_masses(mesh, 1000)) {}

  static ShapeMatching make(const TetMesh& mesh, Look look) {
    ShapeMatchingRest rest = *shape_matching_rest(mesh, look.clusters);
    rest.mode = look.mode, rest.stretch = look.stretch, rest.stiffness = look.stiffness;
    rest.deviation_damping = look.damping;
    return *ShapeMatching::create(std::move(rest));
  }
  void solve(float h) { model.free_velocity(workers, state.x, state.v, h); }
  void step(float h, Vec3 gravity = {}) {
    state.accelerate(gravity * h);
    solve(h);
    state.advance(h);
  }
  double largest_speed() const {
    double most = 0;
    for (const Vec4& v : state.v) most = std::max(most, double(length(v.xyz())));
    return most;
  }

  TetMesh mesh;
  Workers workers;
  ShapeMatching model;
  JellyState state;
};

const Look kLooks[] = {{ShapeMode::Rigid},
                       {ShapeMode::Linear},
                       {ShapeMode::Quadratic},
                       {ShapeMode::Linear, 0.5f, 0.5f, 0, 12},
                       {ShapeMode::Quadratic, 0.8f, 0.9f, 2, 6}};

TEST(ShapeMatching, MapsOfItsKindAreLeftAlone) {
  const Quat turn = Quat::axis_angle({1, 2, 3}, 2.5f);
  const auto rigid = [&](Vec3 p) { return turn.rotate(p) + Vec3{0.1f, 0.2f, 0.3f}; };
  const auto linear = [&](Vec3 p) { return rigid({p.x * 1.25f + 0.4f * p.y, p.y * 0.8f, p.z + 0.1f * p.x}); };
  const auto quadratic = [&](Vec3 p) { return linear({p.x + 0.5f * p.y * p.y, p.y + 0.7f * p.z * p.x, p.z}); };
  const std::function<Vec3(Vec3)> maps[] = {rigid, linear, quadratic};
  const ShapeMode modes[] = {ShapeMode::Rigid, ShapeMode::Linear, ShapeMode::Quadratic};
  for (int mode = 0; mode < 3; ++mode) {
    for (int map = 0; map < 3; ++map) {
      for (const std::size_t clusters : {1u, 5u}) {
        Rig rig(figure_jelly(), {modes[mode], 1, 1, 0, clusters});
        rig.state.map(maps[map]);
        rig.solve(1.0f / 240);
        // Speeds to the goal are distances times 240.
        if (map <= mode) {
          EXPECT_LT(rig.largest_speed(), 240 * 1e-6) << mode << " " << map;
        } else {
          EXPECT_GT(rig.largest_speed(), 240 * 1e-5) << mode << " " << map;
        }
      }
    }
  }
}

TEST(ShapeMatching, TheGoalIsTheLeastSquaresRotation) {
  Rig rig(tet_box({0.3f, 0.2f, 0.1f}, 3, 2, 2), {ShapeMode::Rigid, 0, 1});
  // Random places and no velocity: towards the nearest rotation no momentum is made, so none is given back.
  rig.state.stir(0.02f, {}, {}, 11);
  rig.state.advance(1);
  rig.state.stir(0, {}, {}, 0);
  rig.state.map([](Vec3 p) { return Vec3{1.2f * p.x + 0.3f * p.y, p.y - 0.2f * p.z, 0.9f * p.z}; });
  const std::vector<Vec4> v = rig.state.v;
  const float h = 0.02f;
  rig.solve(h);
  Eigen::Matrix3d a = Eigen::Matrix3d::Zero();
  const auto eigen = [](Vec3 p) { return Eigen::Vector3d(double(p.x), double(p.y), double(p.z)); };
  Eigen::Vector3d p_center = Eigen::Vector3d::Zero(), q_center = p_center;
  double mass = 0;
  const auto p = [&](std::size_t i) { return eigen(rig.state.x[i].xyz() + h * v[i].xyz()); };
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double m = 1 / double(v[i].w);
    mass += m, p_center += m * p(i), q_center += m * eigen(rig.mesh.nodes[i]);
  }
  p_center /= mass, q_center /= mass;
  for (std::size_t i = 0; i < v.size(); ++i) {
    a += (p(i) - p_center) * (eigen(rig.mesh.nodes[i]) - q_center).transpose() / double(v[i].w);
  }
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Eigen::Matrix3d r = svd.matrixU() * svd.matrixV().transpose();
  ASSERT_GT(r.determinant(), 0);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const Eigen::Vector3d expected = r * (eigen(rig.mesh.nodes[i]) - q_center) + p_center;
    EXPECT_LT((eigen(rig.state.x[i].xyz() + h * rig.state.v[i].xyz()) - expected).norm(), 1e-6);
  }
}

TEST(ShapeMatching, ABodyBreathesAtTheFrequencyOfItsStiffness) {
  const float k = 1e-3f;
  Rig rig(tet_box({0.2f, 0.2f, 0.2f}, 2, 2, 2), {ShapeMode::Rigid, 0, k});
  const double omega = std::sqrt(double(k) / (1 - double(k))) * 240;
  for (const float h : {1.0f / 2000, 1.0f / 8000}) {
    rig.state = JellyState(rig.mesh.nodes, node_masses(rig.mesh, 1000));
    rig.state.map([](Vec3 p) { return 1.02f * p; });
    double quarter = 0;
    for (int i = 1; quarter == 0 && i < 100000; ++i) {
      rig.step(h);
      if (rig.state.x[0].x > rig.mesh.nodes[0].x) quarter = i * double(h);
    }
    EXPECT_NEAR(quarter * omega, double(kPi) / 2, 2 * omega * double(h) + 0.01) << h;
  }
}

TEST(ShapeMatching, MomentumOfAFreeBodyIsKept) {
  for (const Look& look : kLooks) {
    for (const float h : {1.0f / 240, 1.0f / 15}) {
      Rig rig(figure_jelly(), look);
      expect_momentum_kept(
          rig.state, [&](JellyState& s, float dt) { rig.model.free_velocity(rig.workers, s.x, s.v, dt); }, h);
    }
  }
}

TEST(ShapeMatching, KineticEnergyIsNotMade) {
  for (const Look& look : kLooks) {
    for (const float h : {1.0f / 240, 1.0f / 15}) {
      Rig rig(tet_box({0.2f, 0.2f, 0.2f}, 3, 3, 3), look);
      rig.state.stir(0.1f, {1, 0, 0}, {2, 1, 0}, 3);
      const double start = rig.state.kinetic_energy();
      double most = 0;
      for (int i = 0; i < 500; ++i) {
        rig.step(h);
        most = std::max(most, rig.state.kinetic_energy());
      }
      EXPECT_LT(most, start * 1.001);
    }
  }
}

TEST(ShapeMatching, ASquashedBodyRecovers) {
  for (const Look& look : kLooks) {
    for (const float squash : {0.2f, 0.0f, -1.0f}) {
      Look damped = look;
      damped.damping = 5;
      Rig rig(tet_box({0.2f, 0.2f, 0.2f}, 3, 3, 3), damped);
      rig.state.map([&](Vec3 p) { return Vec3{p.x, squash * p.y, p.z}; });
      for (int i = 0; i < 1200; ++i) rig.step(1.0f / 240);
      ASSERT_TRUE(rig.state.is_finite());
      expect_rest_shape(rig.mesh, rig.state);
    }
  }
}

}  // namespace
}  // namespace pliant
