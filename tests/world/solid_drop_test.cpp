// A soft body that is dropped: its energy, and how far it is compressed, against solves that leave nothing open.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

constexpr float kSide = 0.4f, kYoung = 3e5f, kPoisson = 0.3f, kDensity = 1000, kImpactSpeed = 3;
constexpr double kGravity = 9.81;

SolidDef falling_cube() {
  return {.mesh = tet_box({kSide, kSide, kSide}, 0.1f),
          .material = {.density = kDensity, .young_modulus = kYoung, .poisson_ratio = kPoisson},
          .position = {0, 0.5f * kSide + 0.002f, 0},
          .velocity = {0, -kImpactSpeed, 0},
          .friction = 0};
}

/// How far the centre of mass sinks below where it is at rest, m. The first bounce is over within 0.3 s.
double compression(int substeps) {
  World world({.substeps = substeps});
  world.add(GroundDef{.friction = 0}).value();
  const BodyId cube = world.add(falling_cube()).value();
  float lowest = 1;
  for (int i = 0; i < 18; ++i) {
    world.step();
    lowest = std::min(lowest, world.state(cube)->center_of_mass.y);
  }
  return static_cast<double>(0.5f * kSide - lowest);
}

/// The same body by the textbook: dense matrices, doubles, and an active set that is iterated until no node of it pulls
/// and no other is below the ground.
class DenseCube {
 public:
  explicit DenseCube(const SolidDef& def) : tets_(def.mesh.tets) {
    const auto count = static_cast<Eigen::Index>(def.mesh.nodes.size());
    rest_.resize(3, count), x_.resize(3, count), mass_ = Eigen::VectorXd::Zero(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const Vec3 p = def.mesh.nodes[static_cast<std::size_t>(i)], at = p + def.position;
      rest_.col(i) << double(p.x), double(p.y), double(p.z);
      x_.col(i) << double(at.x), double(at.y), double(at.z);
    }
    v_ = Eigen::VectorXd::Zero(3 * count);
    for (Eigen::Index i = 0; i < count; ++i) v_[3 * i + 1] = double(def.velocity.y);
    for (const Tet& tet : tets_) add_element(tet);
  }

  void step(double dt) {
    const Eigen::Index size = v_.size();
    Eigen::MatrixXd stiffness = Eigen::MatrixXd::Zero(size, size);
    Eigen::VectorXd force = Eigen::VectorXd::Zero(size);
    for (std::size_t e = 0; e < tets_.size(); ++e) add_forces(e, stiffness, force);
    Eigen::MatrixXd a = dt * dt * stiffness;
    Eigen::VectorXd b = dt * force;
    for (Eigen::Index i = 0; i < mass_.size(); ++i) {
      for (Eigen::Index k = 0; k < 3; ++k)
        a(3 * i + k, 3 * i + k) += mass_[i], b[3 * i + k] += mass_[i] * v_[3 * i + k];
      b[3 * i + 1] -= dt * mass_[i] * kGravity;
    }
    v_ = solve_with_ground(a, b, dt);
    Eigen::Map<Eigen::VectorXd>(x_.data(), size) += dt * v_;
  }

  double center() const { return x_.row(1).dot(mass_) / mass_.sum(); }

 private:
  using Block12 = Eigen::Matrix<double, 12, 12>;

  void add_element(const Tet& tet) {
    Eigen::Matrix3d edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = rest_.col(tet[std::size_t(k + 1)]) - rest_.col(tet[0]);
    const Eigen::Matrix3d inverse = edges.inverse();
    const double volume = edges.determinant() / 6;
    Eigen::Matrix<double, 3, 4> gradients;
    for (int k = 0; k < 3; ++k) gradients.col(k + 1) = inverse.row(k).transpose();
    gradients.col(0) = -gradients.rightCols<3>().rowwise().sum();
    Eigen::Matrix<double, 6, 12> strain = Eigen::Matrix<double, 6, 12>::Zero();
    for (int n = 0; n < 4; ++n) {
      const Eigen::Vector3d g = gradients.col(n);
      strain.block<6, 3>(0, 3 * n) << g[0], 0, 0, 0, g[1], 0, 0, 0, g[2], g[1], g[0], 0, 0, g[2], g[1], g[2], 0, g[0];
    }
    const double young = double(kYoung), nu = double(kPoisson);
    const double lambda = young * nu / ((1 + nu) * (1 - 2 * nu)), mu = young / (2 * (1 + nu));
    Eigen::Matrix<double, 6, 6> law = Eigen::Matrix<double, 6, 6>::Zero();
    law.topLeftCorner<3, 3>().setConstant(lambda);
    law.diagonal() << lambda + 2 * mu, lambda + 2 * mu, lambda + 2 * mu, mu, mu, mu;
    elements_.push_back(volume * strain.transpose() * law * strain);
    inverses_.push_back(inverse);
    for (const std::uint32_t node : tet) mass_[Eigen::Index(node)] += volume * double(kDensity) / 4;
  }

  /// The stiffness of one element in the frame of its polar rotation, and its force.
  void add_forces(std::size_t e, Eigen::MatrixXd& stiffness, Eigen::VectorXd& force) const {
    const Tet& tet = tets_[e];
    Eigen::Matrix3d edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = x_.col(tet[std::size_t(k + 1)]) - x_.col(tet[0]);
    const Eigen::JacobiSVD<Eigen::Matrix3d> svd(edges * inverses_[e], Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Eigen::Matrix3d rotation = svd.matrixU() * svd.matrixV().transpose();
    Block12 turn = Block12::Zero();
    Eigen::Matrix<double, 12, 1> moved;
    for (int n = 0; n < 4; ++n) {
      const auto node = Eigen::Index(tet[std::size_t(n)]);
      turn.block<3, 3>(3 * n, 3 * n) = rotation;
      moved.segment<3>(3 * n) = rotation.transpose() * x_.col(node) - rest_.col(node);
    }
    const Block12 turned = turn * elements_[e] * turn.transpose();
    const Eigen::Matrix<double, 12, 1> own = turn * (elements_[e] * moved);
    for (int n = 0; n < 4; ++n) {
      const auto row = 3 * Eigen::Index(tet[std::size_t(n)]);
      force.segment<3>(row) -= own.segment<3>(3 * n);
      for (int m = 0; m < 4; ++m) {
        stiffness.block<3, 3>(row, 3 * Eigen::Index(tet[std::size_t(m)])) += turned.block<3, 3>(3 * n, 3 * m);
      }
    }
  }

  /// a v = b + what the ground gives, with y + dt v ≥ 0: the pushed nodes are the right ones when none pulls.
  Eigen::VectorXd solve_with_ground(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, double dt) {
    pushed_.resize(static_cast<std::size_t>(mass_.size()));
    for (int round = 0; round < 60; ++round) {
      Eigen::MatrixXd held = a;
      Eigen::VectorXd right = b;
      for (Eigen::Index i = 0; i < mass_.size(); ++i) {
        if (!pushed_[std::size_t(i)]) continue;
        const Eigen::Index row = 3 * i + 1;
        right -= a.col(row) * (-x_(1, i) / dt);
      }
      for (Eigen::Index i = 0; i < mass_.size(); ++i) {
        if (!pushed_[std::size_t(i)]) continue;
        const Eigen::Index row = 3 * i + 1;
        held.row(row).setZero(), held.col(row).setZero();
        held(row, row) = 1, right[row] = -x_(1, i) / dt;
      }
      const Eigen::VectorXd v = held.llt().solve(right), given = a * v - b;
      bool settled = true;
      for (Eigen::Index i = 0; i < mass_.size(); ++i) {
        const Eigen::Index row = 3 * i + 1;
        const bool is_pushed = pushed_[std::size_t(i)];
        const bool should = is_pushed ? given[row] > 0 : x_(1, i) + dt * v[row] < -1e-12;
        settled &= should == is_pushed;
        pushed_[std::size_t(i)] = should;
      }
      if (settled) return v;
    }
    ADD_FAILURE() << "the reference did not settle";
    return v_;
  }

  std::vector<Tet> tets_;
  Eigen::Matrix3Xd rest_, x_;
  Eigen::VectorXd mass_, v_;
  std::vector<Block12> elements_;
  std::vector<Eigen::Matrix3d> inverses_;
  std::vector<bool> pushed_;
};

TEST(SolidDrop, NeverGainsEnergy) {
  for (const float height : {0.3f, 1.0f, 3.0f}) {
    for (const float angle : {0.0f, 0.5f, 0.9f}) {
      World world;
      world.add(GroundDef{}).value();
      SolidDef cube = falling_cube();
      cube.position.y = 0.35f + height;
      cube.velocity = {};
      cube.friction = 0.5f;
      cube.rotation = Quat::axis_angle(normalized(Vec3{1, 0.3f, 0.6f}), angle);
      world.add(cube).value();
      const double weight = double(kSide * kSide * kSide * kDensity) * kGravity;
      const double start = weight * double(cube.position.y);
      for (int i = 0; i < 180; ++i) {
        const StepReport& report = world.step();
        const double now = report.kinetic_energy + report.potential_energy + report.elastic_energy;
        EXPECT_LE(now, 1.02 * start) << height << " m, " << angle << " rad, step " << i;
      }
      EXPECT_LT(world.report().kinetic_energy, 0.01 * start);
    }
  }
}

TEST(SolidDrop, CompressesAsAFullyConvergedSolveOfTheSameStepDoes) {
  DenseCube dense(falling_cube());
  double lowest = 1;
  for (int i = 0; i < 12; ++i) {
    dense.step(1.0 / 60);
    lowest = std::min(lowest, dense.center());
  }
  const double expected = 0.5 * double(kSide) - lowest, found = compression(1);
  RecordProperty("reference_mm", std::to_string(1000 * expected));
  RecordProperty("found_mm", std::to_string(1000 * found));
  EXPECT_GT(expected, 0.015);
  EXPECT_NEAR(found, expected, 0.03 * expected);
}

TEST(SolidDrop, CompressionNearsThatOfAFineStepAsSubstepsGrow) {
  const double fine = compression(16), four = compression(4), eight = compression(8);
  RecordProperty("fine_mm", std::to_string(1000 * fine));
  RecordProperty("four_mm", std::to_string(1000 * four));
  RecordProperty("eight_mm", std::to_string(1000 * eight));
  EXPECT_NEAR(four, fine, 0.2 * fine);
  EXPECT_NEAR(eight, fine, 0.1 * fine);
}

/// Whether a small cube that flies down at `speed` is stopped by what lies at the origin. It meets it after `phase` of
/// a step.
bool is_stopped(const Shape& shape, float half_height, float size, float speed, float phase) {
  World world({.gravity = {}});
  const float way = speed / 60, height = half_height + size / 2 + 0.001f + (3 + phase) * way;
  world.add(RigidDef{.shape = shape, .motion = Motion::Static});
  const BodyId cube = *world.add(SolidDef{.mesh = tet_box({size, size, size}, size / 2),
                                          .material = {.density = 1000, .young_modulus = 1e7f, .poisson_ratio = 0.4f},
                                          .position = {0, height, 0},
                                          .velocity = {0, -speed, 0}});
  for (int i = 0; i < 12; ++i) world.step();
  return world.state(cube)->center_of_mass.y > 0;
}

TEST(SolidDrop, NothingThinIsPassedWhereverInTheStepItIsMet) {
  std::vector<Vec3> corners;
  for (int k = 0; k < 8; ++k) {
    corners.push_back({k & 1 ? 1.0f : -1.0f, k & 2 ? 0.01f : -0.01f, k & 4 ? 1.0f : -1.0f});
  }
  const std::pair<Shape, float> shapes[] = {
      {Box{{2, 0.02f, 2}}, 0.01f}, {Cylinder{1, 0.02f}, 0.01f}, {ConvexHull{corners}, 0.01f}, {Sphere{0.2f}, 0.2f}};
  for (const auto& [shape, half_height] : shapes) {
    for (const float size : {0.02f, 0.1f}) {
      for (const float speed : {8.0f, 30.0f, 100.0f, 1000.0f}) {
        for (int k = 0; k < 8; ++k) {
          const float phase = 0.03f + 0.12f * static_cast<float>(k);
          EXPECT_TRUE(is_stopped(shape, half_height, size, speed, phase))
              << "shape " << shape.index() << ", size " << size << " m, " << speed << " m/s, phase " << phase;
        }
      }
    }
  }
}

// A force of a hundred times its weight, from one step to the next: what it will do is looked for before it does it.
TEST(SolidDrop, ASuddenForceDoesNotPushABodyIntoTheGround) {
  World world;
  world.add(GroundDef{}).value();
  const SolidDef def{
      .mesh = tet_box({0.5f, 0.5f, 0.5f}, 0.1f), .material = {.young_modulus = 1e6f}, .position = {0, 0.25f, 0}};
  const BodyId cube = world.add(def).value();
  for (int i = 0; i < 30; ++i) world.step();
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(world.apply_force(cube, {0, -1e5f, 0}).ok());
    world.step();
    EXPECT_GT(world.state(cube)->bounds.lower.y, -0.01f) << "step " << i;
  }
}

}  // namespace
}  // namespace pliant
