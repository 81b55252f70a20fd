// The block matrices against dense ones in double.
#include <random>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "math/block_cholesky.h"
#include "math/sliced_matrix.h"

namespace pliant {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A random connected graph: a chain with shortcuts.
Pairs random_pairs(std::uint32_t count, std::mt19937& random) {
  Pairs pairs;
  for (std::uint32_t i = 0; i + 1 < count; ++i) pairs.push_back({i, i + 1});
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t a = random() % count, b = random() % count;
    const std::pair pair = std::minmax(a, b);
    if (a != b && std::find(pairs.begin(), pairs.end(), Pairs::value_type(pair)) == pairs.end()) pairs.push_back(pair);
  }
  return pairs;
}

/// Fills both with a positive definite matrix of springs and masses: Σ Bᵀ B over pairs, plus `mass` on the diagonal.
template <typename Cholesky>
Eigen::MatrixXd fill(Cholesky& cholesky, std::uint32_t count, const Pairs& pairs, double mass, std::mt19937& random) {
  std::normal_distribution<double> normal;
  constexpr int kSize = Cholesky::kSize;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(kSize * count, kSize * count);
  using Block = Eigen::Matrix<double, kSize, kSize, Eigen::RowMajor>;
  cholesky.analyze(count, pairs);
  cholesky.clear();
  const auto random_block = [&] { return Block::NullaryExpr([&] { return normal(random); }).eval(); };
  for (std::uint32_t a = 0; a < count; ++a) {
    const Block block = mass * Block::Identity();
    cholesky.add_diagonal(a, block.data());
    dense.template block<kSize, kSize>(kSize * a, kSize * a) += block;
  }
  for (const auto& [a, b] : pairs) {
    const Block p = random_block(), q = random_block();
    const Block aa = p.transpose() * p, bb = q.transpose() * q, ab = p.transpose() * q;
    cholesky.add_diagonal(a, aa.data());
    cholesky.add_diagonal(b, bb.data());
    cholesky.add(a, b, ab.data());
    dense.template block<kSize, kSize>(kSize * a, kSize * a) += aa;
    dense.template block<kSize, kSize>(kSize * b, kSize * b) += bb;
    dense.template block<kSize, kSize>(kSize * a, kSize * b) += ab;
    dense.template block<kSize, kSize>(kSize * b, kSize * a) += ab.transpose();
  }
  return dense;
}

template <typename Cholesky, typename Real>
void expect_dense_solution(double tolerance) {
  constexpr std::uint32_t kSize = Cholesky::kSize, kStride = Cholesky::kStride;
  std::mt19937 random(1);
  std::normal_distribution<Real> normal;
  for (const std::uint32_t count : {1u, 2u, 7u, 60u, 150u}) {
    const Pairs pairs = random_pairs(count, random);
    Cholesky cholesky;
    const Eigen::MatrixXd dense = fill(cholesky, count, pairs, 1.0, random);
    cholesky.factor();
    std::vector<Real> x(kStride * count, Real(0));
    Eigen::VectorXd b(kSize * count);
    for (std::uint32_t i = 0; i < count; ++i) {
      // Also what acts in a few places only.
      const bool is_pushed = count < 60 || i % 20 == 3;
      for (std::uint32_t k = 0; k < kSize; ++k) {
        x[kStride * i + k] = is_pushed ? normal(random) : Real(0);
        b[kSize * i + k] = static_cast<double>(x[kStride * i + k]);
      }
    }
    // The two halves of a solve, of three right-hand sides at a time.
    constexpr std::size_t kColumns = 3;
    std::vector<Real> columns(kColumns * x.size()), lower(columns.size()), one(x.size()), halves(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        columns[(i / kStride * kColumns + c) * kStride + i % kStride] = x[i] * static_cast<Real>(c + 1);
      }
    }
    cholesky.solve_lower(columns.data(), kColumns, lower.data());
    for (std::size_t i = 0; i < x.size(); ++i) one[i] = lower[(i / kStride * kColumns + 1) * kStride + i % kStride];
    cholesky.solve_upper(one.data(), halves.data());

    cholesky.solve(x.data());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(halves[i], 2 * x[i], tolerance);
    const Eigen::VectorXd expected = dense.llt().solve(b);
    Eigen::VectorXd found(kSize * count);
    for (std::uint32_t i = 0; i < kSize * count; ++i) {
      found[i] = static_cast<double>(x[i / kSize * kStride + i % kSize]);
    }
    EXPECT_LT((found - expected).norm(), tolerance * expected.norm()) << count << " blocks";
    EXPECT_LT((dense * found - b).norm(), tolerance * b.norm());
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(x[kStride * i + kSize], Real(0));
  }
}

TEST(BlockCholesky, SolvesWhatADenseFactorSolves) {
  expect_dense_solution<BlockCholesky, float>(1e-4);
  expect_dense_solution<BlockCholeskyDouble, double>(1e-10);
  expect_dense_solution<BlockCholesky3, double>(1e-10);
}

TEST(BlockCholesky, TwoThreadsGiveTheSameBits) {
  // A long bar of 3 x 3 blocks a layer, which halves well, and two bars that do not touch.
  Pairs pairs;
  constexpr std::uint32_t kLayers = 40, kLayer = 9;
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    for (std::uint32_t k = 0; k < kLayer; ++k) {
      const std::uint32_t i = kLayer * layer + k;
      if (k + 1 < kLayer) pairs.push_back({i, i + 1});
      if (layer + 1 < kLayers && layer != 15) pairs.push_back({i, i + kLayer});
    }
  }
  Workers workers(2);
  for (const bool is_cut : {true, false}) {
    if (!is_cut) pairs.push_back({kLayer * 16 - 1, kLayer * 17 - 1});
    BlockCholesky one, two;
    std::mt19937 first(5), second(5);
    const Eigen::MatrixXd dense = fill(one, kLayers * kLayer, pairs, 1.0, first);
    fill(two, kLayers * kLayer, pairs, 1.0, second);
    one.factor();
    two.factor(&workers);
    std::vector<float> x(8 * kLayers * kLayer, 0.0f);
    Eigen::VectorXd b(6 * kLayers * kLayer);
    std::normal_distribution<float> normal;
    for (std::uint32_t i = 0; i < 6 * kLayers * kLayer; ++i) {
      x[i / 6 * 8 + i % 6] = normal(first);
      b[i] = static_cast<double>(x[i / 6 * 8 + i % 6]);
    }
    std::vector<float> y = x;
    one.solve(x.data());
    two.solve(y.data(), &workers);
    EXPECT_EQ(x, y);
    const Eigen::VectorXd expected = dense.llt().solve(b);
    double error = 0;
    for (std::uint32_t i = 0; i < 6 * kLayers * kLayer; ++i) {
      error += std::pow(static_cast<double>(x[i / 6 * 8 + i % 6]) - expected[i], 2);
    }
    EXPECT_LT(std::sqrt(error), 1e-4 * expected.norm());
  }
}

TEST(BlockCholesky, DropsModesThatPlayNoPart) {
  // A single block that resists three of its six motions only, as a lone node does.
  BlockCholesky cholesky;
  cholesky.analyze(1, {});
  cholesky.clear();
  double block[36] = {};
  for (std::size_t k = 0; k < 3; ++k) block[7 * k] = 4;
  cholesky.add_diagonal(0, block);
  cholesky.factor();
  float x[8] = {1, 2, 3, 4, 5, 6, 0, 0};
  cholesky.solve(x);
  const float expected[6] = {0.25f, 0.5f, 0.75f, 0, 0, 0};
  for (std::size_t k = 0; k < 6; ++k) EXPECT_FLOAT_EQ(x[k], expected[k]);
}

TEST(SlicedMatrix, MultipliesAsADenseMatrixDoes) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  constexpr std::uint32_t kRows = 64;
  Pairs entries;
  for (const auto& [a, b] : random_pairs(kRows - 5, random)) entries.push_back({a, b}), entries.push_back({b, a});
  SlicedMatrix matrix;
  matrix.build(kRows, entries);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(3 * kRows, 3 * kRows);
  for (const auto& [row, column] : entries) {
    const std::uint32_t at = matrix.find(row, column);
    ASSERT_NE(at, SlicedMatrix::kNone);
    for (std::uint32_t e = 0; e < 9; ++e) {
      const float value = normal(random);
      matrix.values()[at + 8 * e] = value;
      dense(3 * row + e / 3, 3 * column + e % 3) = static_cast<double>(value);
      dense(3 * row + e / 3, 3 * row + e % 3) -= static_cast<double>(value);
    }
  }
  EXPECT_EQ(matrix.find(0, 0), SlicedMatrix::kNone);
  EXPECT_EQ(matrix.find(0, kRows - 1), SlicedMatrix::kNone);
  LaneVectors x;
  x.assign(kRows);
  Eigen::VectorXd dense_x(3 * kRows);
  for (std::uint32_t i = 0; i < kRows; ++i) {
    const Vec3 v{normal(random), normal(random), normal(random)};
    x.set(i, v);
    for (std::uint32_t k = 0; k < 3; ++k) dense_x[3 * i + k] = static_cast<double>(v[k]);
  }
  std::vector<Vec4> nodes(kRows);
  for (std::size_t g = 0; g < x.groups(); ++g) store_nodes(nodes.data() + 8 * g, {x.group(g)});
  const Eigen::VectorXd expected = dense * dense_x;
  for (std::uint32_t slice = 0; slice < matrix.slices(); ++slice) {
    const LaneVec3<Float8> y = matrix.differences(slice, x.data());
    const LaneVec3<Float8> from_nodes = matrix.differences(slice, x.group(slice), nodes.data());
    const LaneSym3<Float8> d = matrix.diagonal(slice);
    for (std::uint32_t l = 0; l < 8; ++l) {
      const std::uint32_t i = 3 * (8 * slice + l);
      EXPECT_NEAR(static_cast<double>(y.x[l]), expected[i], 1e-4);
      EXPECT_NEAR(static_cast<double>(y.y[l]), expected[i + 1], 1e-4);
      EXPECT_NEAR(static_cast<double>(y.z[l]), expected[i + 2], 1e-4);
      EXPECT_EQ(from_nodes.x[l], y.x[l]);
      EXPECT_EQ(from_nodes.y[l], y.y[l]);
      EXPECT_EQ(from_nodes.z[l], y.z[l]);
      EXPECT_NEAR(static_cast<double>(d.xx[l]), dense(i, i), 1e-4);
      EXPECT_NEAR(static_cast<double>(d.xy[l]), (dense(i, i + 1) + dense(i + 1, i)) / 2, 1e-4);
      EXPECT_NEAR(static_cast<double>(d.yz[l]), (dense(i + 1, i + 2) + dense(i + 2, i + 1)) / 2, 1e-4);
    }
  }
}

}  // namespace
}  // namespace pliant
