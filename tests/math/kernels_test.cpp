// Rotations, eigenvectors and singular values: eight lanes against one, and both against Eigen in double.
#include <cstring>
#include <random>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "math/eigen_kernel.h"
#include "math/element_rotation.h"

namespace pliant {
namespace {

using Mat = LaneMat3<float>;
using Mat8 = LaneMat3<Float8>;

Eigen::Matrix3d to_eigen(const Mat& m) {
  Eigen::Matrix3d out;
  const LaneVec3<float> columns[3] = {m.c0, m.c1, m.c2};
  for (int c = 0; c < 3; ++c) {
    out.col(c) << static_cast<double>(columns[c].x), static_cast<double>(columns[c].y),
        static_cast<double>(columns[c].z);
  }
  return out;
}
Mat from_eigen(const Eigen::Matrix3d& m) {
  const auto column = [&](int c) {
    return LaneVec3<float>{static_cast<float>(m(0, c)), static_cast<float>(m(1, c)), static_cast<float>(m(2, c))};
  };
  return {column(0), column(1), column(2)};
}

Eigen::Matrix3d random_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Eigen::Quaterniond q(normal(random), normal(random), normal(random), normal(random));
  return q.normalized().toRotationMatrix();
}
/// Rotation times stretch: from nearly rigid to flat and inside out, at any scale.
Eigen::Matrix3d random_matrix(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const Eigen::Matrix3d u = random_rotation(random), v = random_rotation(random);
  const double spread = std::pow(10.0, 2 * uniform(random) - 1);
  Eigen::Vector3d s(1 + spread * uniform(random), 1 + spread * uniform(random), 1 + spread * uniform(random));
  return u * s.asDiagonal() * v.transpose();
}

void set_lane(Mat8& to, std::size_t lane, const Mat& m) {
  to.c0.x[lane] = m.c0.x, to.c0.y[lane] = m.c0.y, to.c0.z[lane] = m.c0.z;
  to.c1.x[lane] = m.c1.x, to.c1.y[lane] = m.c1.y, to.c1.z[lane] = m.c1.z;
  to.c2.x[lane] = m.c2.x, to.c2.y[lane] = m.c2.y, to.c2.z[lane] = m.c2.z;
}
LaneVec3<float> lane(const LaneVec3<Float8>& v, std::size_t l) { return {v.x[l], v.y[l], v.z[l]}; }
Mat lane(const Mat8& m, std::size_t l) { return {lane(m.c0, l), lane(m.c1, l), lane(m.c2, l)}; }
template <typename T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

TEST(RotationKernel, EightLanesGiveTheBitsOfOne) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Mat8 f8;
    Mat f[8];
    for (std::size_t l = 0; l < 8; ++l) {
      f[l] = round % 10 == 0 && l == 3 ? Mat{} : from_eigen(random_matrix(random));
      set_lane(f8, l, f[l]);
    }
    const Float8 one = broadcast(1), zero{};
    const LaneQuat<Float8> q8 = element_rotation<Float8>(f8, {zero, zero, zero, one}, broadcast(kFlatVolume));
    const LaneEigen<Float8> e8 = symmetric_eigen(symmetric_part(f8));
    const LaneSvd<Float8> s8 = signed_svd(f8, q8.to_matrix());
    for (std::size_t l = 0; l < 8; ++l) {
      const LaneQuat<float> q = element_rotation<float>(f[l], {0, 0, 0, 1}, kFlatVolume);
      EXPECT_TRUE(same_bits(q, LaneQuat<float>{q8.x[l], q8.y[l], q8.z[l], q8.w[l]}));
      const LaneEigen<float> e = symmetric_eigen(symmetric_part(f[l]));
      EXPECT_TRUE(same_bits(e.values, lane(e8.values, l)) && same_bits(e.vectors, lane(e8.vectors, l)));
      const LaneSvd<float> s = signed_svd(f[l], q.to_matrix());
      EXPECT_TRUE(same_bits(s.u, lane(s8.u, l)) && same_bits(s.v, lane(s8.v, l)) &&
                  same_bits(s.values, lane(s8.values, l)));
    }
    if (HasFailure()) return;
  }
}

TEST(RotationKernel, SoundElementsTurnAsThePolarDecompositionSays) {
  std::mt19937 random(2);
  double worst = 0;
  int count = 0, wrong = 0;
  while (count < 20000) {
    const Eigen::Matrix3d f = random_matrix(random);
    const Eigen::JacobiSVD<Eigen::Matrix3d> svd(f, Eigen::ComputeFullU | Eigen::ComputeFullV);
    if (f.determinant() < 0.1 || svd.singularValues()[2] < 0.1) continue;
    ++count;
    const Eigen::Matrix3d expected = svd.matrixU() * svd.matrixV().transpose();
    const LaneQuat<float> q = element_rotation<float>(from_eigen(f), {0, 0, 0, 1}, kFlatVolume);
    const double error = (to_eigen(q.to_matrix()) - expected).norm();
    wrong += error > 1e-3;
    worst = std::max(worst, error);
  }
  std::printf("polar rotation from any start: largest error %.1e, %d wrong\n", worst, wrong);
  EXPECT_LT(worst, 1e-5);
}

TEST(RotationKernel, AnyMatrixHasAProperRotation) {
  std::mt19937 random(3);
  std::vector<Eigen::Matrix3d> hard = {Eigen::Matrix3d::Zero(),
                                       Eigen::Matrix3d::Ones(),
                                       -Eigen::Matrix3d::Identity(),
                                       Eigen::Vector3d(1, 0, 0).asDiagonal(),
                                       Eigen::Vector3d(0, 0, 1).asDiagonal(),
                                       Eigen::Vector3d(1, 1, -1).asDiagonal()};
  for (int i = 0; i < 5000; ++i) hard.push_back(random_matrix(random));
  for (const Eigen::Matrix3d& base : hard) {
    for (const double scale : {1e-15, 1e-6, 1.0, 1e6, 1e12}) {
      const LaneQuat<float> last = quaternion_of(from_eigen(random_rotation(random)));
      const LaneQuat<float> q = element_rotation<float>(from_eigen(scale * base), last, kFlatVolume);
      const Eigen::Matrix3d r = to_eigen(q.to_matrix());
      ASSERT_TRUE(r.allFinite()) << scale << "\n" << base;
      EXPECT_LT((r.transpose() * r - Eigen::Matrix3d::Identity()).norm(), 1e-5) << scale << "\n" << base;
      EXPECT_GT(r.determinant(), 0);
    }
  }
}

TEST(EigenKernel, EigenvaluesAndVectorsAreThoseOfEigen) {
  std::mt19937 random(4);
  for (int i = 0; i < 20000; ++i) {
    const double scale = std::pow(10.0, i % 21 - 10);
    const Eigen::Matrix3d a = random_matrix(random), m = scale * (a + a.transpose());
    const Eigen::Vector3d expected = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(m).eigenvalues();
    const LaneEigen<float> e = symmetric_eigen(symmetric_part(from_eigen(m)));
    const double size = m.norm();
    EXPECT_NEAR(static_cast<double>(e.values.x), expected[2], 2e-6 * size);
    EXPECT_NEAR(static_cast<double>(e.values.y), expected[1], 2e-6 * size);
    EXPECT_NEAR(static_cast<double>(e.values.z), expected[0], 2e-6 * size);
    const Eigen::Matrix3d v = to_eigen(e.vectors);
    const Eigen::Vector3d values(static_cast<double>(e.values.x), static_cast<double>(e.values.y),
                                 static_cast<double>(e.values.z));
    EXPECT_LT((v * values.asDiagonal() * v.transpose() - m).norm(), 5e-6 * size);
    EXPECT_NEAR(v.determinant(), 1, 1e-5);
    if (HasFailure()) return;
  }
}

TEST(EigenKernel, SignedSingularValuesRebuildTheMatrix) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    const Eigen::Matrix3d f = random_matrix(random);
    const Eigen::Vector3d expected = Eigen::JacobiSVD<Eigen::Matrix3d>(f).singularValues();
    const LaneSvd<float> s = signed_svd(from_eigen(f), {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
    const Eigen::Matrix3d u = to_eigen(s.u), v = to_eigen(s.v);
    const Eigen::Vector3d values(static_cast<double>(s.values.x), static_cast<double>(s.values.y),
                                 static_cast<double>(s.values.z));
    // The eigenvectors of fᵀ f know the smallest value only to the root of the rounding.
    EXPECT_LT((u * values.asDiagonal() * v.transpose() - f).norm(), 2e-3 * f.norm());
    EXPECT_NEAR(u.determinant(), 1, 1e-5);
    EXPECT_NEAR(v.determinant(), 1, 1e-5);
    EXPECT_NEAR(values[0], expected[0], 1e-5 * expected[0]);
    if (std::abs(f.determinant()) > 1e-3) {
      EXPECT_EQ(values[2] < 0, f.determinant() < 0);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace pliant
