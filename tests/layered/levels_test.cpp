// The layer's compact matrix and the levels of its preconditioner, against sums in doubles.
#include <algorithm>
#include <cmath>
#include <random>

#include <Eigen/Dense>

#include "layered/layered_levels.h"

#include "layered_support.h"

namespace pliant {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// A symmetric matrix over a line of nodes and some chords, whose rows differ in size by `ratio`.
BlockRows line_matrix(std::uint32_t nodes, double ratio) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<std::vector<std::pair<std::uint32_t, std::array<double, 9>>>> rows(nodes);
  const auto add = [&](std::uint32_t a, std::uint32_t b) {
    std::array<double, 9> block, other;
    const double size = std::pow(ratio, double(std::min(a, b)) / nodes);
    for (std::size_t k = 0; k < 9; ++k) block[k] = size * any(random);
    for (std::size_t k = 0; k < 9; ++k) other[k] = block[k % 3 * 3 + k / 3];
    rows[a].emplace_back(b, block), rows[b].emplace_back(a, other);
  };
  for (std::uint32_t i = 0; i + 1 < nodes; ++i) add(i, i + 1);
  for (std::uint32_t i = 0; i + 7 < nodes; i += 3) add(i, i + 7);
  BlockRows out;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const double d = 10 * std::pow(ratio, double(i) / nodes);
    rows[i].push_back({i, {d, 0.1 * d, 0, 0.1 * d, d, 0.2 * d, 0, 0.2 * d, d}});
    for (const auto& [column, block] : rows[i]) out.columns.push_back(column), out.blocks.push_back(block);
    out.starts.push_back(std::uint32_t(out.columns.size()));
  }
  return out;
}

Matrix dense(const BlockRows& rows) {
  Matrix m = Matrix::Zero(Eigen::Index(3 * rows.size()), Eigen::Index(3 * rows.size()));
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    for (std::uint32_t k = rows.starts[i]; k < rows.starts[i + 1]; ++k) {
      for (std::uint32_t e = 0; e < 9; ++e) m(3 * i + e / 3, 3 * rows.columns[k] + e % 3) += rows.blocks[k][e];
    }
  }
  return m;
}

/// A matrix by its products with unit vectors.
Matrix dense(const LayerMatrix& matrix, std::uint32_t nodes) {
  Matrix m(3 * nodes, 3 * nodes);
  QuadVectors x;
  for (std::uint32_t column = 0; column < 3 * nodes; ++column) {
    x.assign(nodes);
    Vec3 unit;
    unit[column % 3] = 1;
    x.set(column / 3, unit);
    for (std::uint32_t i = 0; i < nodes; ++i) {
      const LaneVec3<Float8> y = matrix.rounded_times(i / 8, x);
      m(3 * i, column) = double(y.x[i % 8]), m(3 * i + 1, column) = double(y.y[i % 8]);
      m(3 * i + 2, column) = double(y.z[i % 8]);
    }
  }
  return m;
}

TEST(LayerMatrix, IsSymmetricAndNearToWhatItWasMadeFrom) {
  for (const double ratio : {1.0, 1e4, 1e12}) {
    constexpr std::uint32_t kNodes = 61;
    const BlockRows rows = line_matrix(kNodes, ratio);
    LayerMatrix matrix;
    matrix.build(rows);
    EXPECT_EQ(matrix.blocks(), rows.columns.size() - kNodes);
    const Matrix wanted = dense(rows), found = dense(matrix, kNodes);
    EXPECT_EQ((found - found.transpose()).cwiseAbs().maxCoeff(), 0) << ratio;
    for (Eigen::Index i = 0; i < wanted.rows(); ++i) {
      // Neighbours differ in size: a number is rounded as in the larger of both rows.
      const double allowed = 3e-5 * wanted.row(i).cwiseAbs().maxCoeff() * std::pow(ratio, 8.0 / kNodes);
      EXPECT_LT((wanted.row(i) - found.row(i)).cwiseAbs().maxCoeff(), allowed) << ratio << " row " << i;
    }
  }
}

TEST(LayerMatrix, ResistsACommonMotionAsBefore) {
  constexpr std::uint32_t kNodes = 61;
  const BlockRows rows = line_matrix(kNodes, 1);
  LayerMatrix matrix;
  matrix.build(rows);
  const Matrix wanted = dense(rows), found = dense(matrix, kNodes);
  for (int axis = 0; axis < 3; ++axis) {
    Vector motion = Vector::Zero(3 * kNodes);
    for (std::uint32_t i = 0; i < kNodes; ++i) motion[3 * i + axis] = 1;
    // Along the motion; across it the diagonal can only take half of an error that is not symmetric.
    const Vector error = (found - wanted) * motion;
    for (std::uint32_t i = 0; i < kNodes; ++i) EXPECT_LT(std::abs(error[3 * i + axis]), 3e-6) << i;
  }
}

/// P from the coarsest level to the nodes, for one component.
Matrix interpolation(const LevelHierarchy& hierarchy, std::uint32_t nodes) {
  Matrix total = Matrix::Identity(nodes, nodes);
  Eigen::Index fine = nodes;
  for (const LevelHierarchy::Level& level : hierarchy.levels()) {
    Matrix p = Matrix::Zero(fine, Eigen::Index(level.count));
    for (Eigen::Index i = 0; i < fine; ++i) {
      for (const auto& [patch, weight] : level.parents_of(std::size_t(i))) p(i, patch) += double(weight);
    }
    total = (total * p).eval();
    fine = Eigen::Index(level.count);
  }
  return total;
}

TEST(LevelHierarchy, KeepsMassAndTheMatrixOfSlowMotions) {
  const auto body = make_body(torus_def(3e5f, 60, 30));
  const LevelHierarchy& hierarchy = body->layer().hierarchy();
  ASSERT_EQ(hierarchy.levels().size(), 2u);  // 1800 nodes, 200 patches, 24
  EXPECT_NEAR(double(hierarchy.levels()[0].count), 200, 60);
  EXPECT_LE(hierarchy.levels()[1].count, 48u);
  const std::uint32_t nodes = body->node_count();
  double mass = 0;
  for (std::uint32_t i = 0; i < nodes; ++i) mass += double(body->layer().masses()[i]);
  for (const LevelHierarchy::Level& level : hierarchy.levels()) {
    double sum = 0;
    for (std::size_t i = 0; i < level.count; ++i) sum += double(level.masses[i]);
    EXPECT_NEAR(sum, mass, 1e-5 * mass);
  }
  const Matrix p = interpolation(hierarchy, nodes);
  EXPECT_LT((p.rowwise().sum() - Vector::Ones(nodes)).cwiseAbs().maxCoeff(), 1e-5);
  // xᵀ K_c x against (P x)ᵀ K (P x).
  const Eigen::Index count = p.cols();
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(-1, 1);
  for (int trial = 0; trial < 5; ++trial) {
    Vector x(3 * count);
    for (double& value : x) value = any(random);
    QuadVectors fine;
    fine.assign(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) {
      Vec3 v;
      for (Eigen::Index c = 0; c < count; ++c) {
        for (int k = 0; k < 3; ++k) v[std::size_t(k)] += float(p(i, c) * x[3 * c + k]);
      }
      fine.set(i, v);
    }
    double wanted = 0, found = 0;
    for (std::size_t g = 0; g < fine.groups(); ++g) {
      wanted += double(sum(dot(fine.group(g), body->layer().stiffness_times(g, fine))));
    }
    for (Eigen::Index i = 0; i < 3 * count; ++i) {
      for (Eigen::Index k = 0; k < 3 * count; ++k) {
        found += x[i] * x[k] * hierarchy.coarsest()[std::size_t(i * 3 * count + k)];
      }
    }
    EXPECT_NEAR(found, wanted, 1e-3 * wanted);
  }
}

TEST(LevelHierarchy, ManySmallPiecesMakeFewPatches) {
  // Nodes without edges cannot be joined by them.
  constexpr std::uint32_t kNodes = 3000;
  std::vector<Vec3> places;
  BlockRows rows;
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    places.push_back({float(i % 17), float(i % 31), float(i)});
    rows.columns.push_back(i), rows.blocks.push_back({2, 0, 0, 0, 2, 0, 0, 0, 2});
    rows.starts.push_back(i + 1);
  }
  LevelHierarchy hierarchy;
  hierarchy.build(places, {}, std::vector<double>(kNodes, 1.0), rows);
  EXPECT_LE(hierarchy.levels().back().count, 48u);
}

struct Answer {
  LaneVectors z;
  Vector6 core;
  double product;
};

Answer apply(LayeredLevels& levels, Workers& workers, const QuadVectors& r, const Vector6& core, std::uint32_t nodes) {
  Answer answer;
  answer.product = levels.precondition(workers, r, core);
  answer.z.assign(nodes);
  for (std::size_t g = 0; g < r.groups(); ++g) answer.z.set_group(g, levels.correction(g));
  answer.core = levels.core_motion();
  return answer;
}

TEST(LayeredLevels, AreASymmetricPreconditioner) {
  const auto body = make_body(torus_def(3e5f, 60, 30));
  const LayeredLayer& layer = body->layer();
  const std::uint32_t nodes = body->node_count();
  LayeredLevels levels;
  levels.begin(layer.hierarchy(), 6e-4f, 0, false);
  std::vector<NodeBlock> contacts;
  for (std::uint32_t i = 100; i < 400; i += 3) contacts.push_back({i, {0.1f, 5, 0.1f, 0.05f, 0, 0.05f}});
  std::array<double, 36> core = layer.core_stiffness();
  for (double& value : core) value *= 6e-4;
  for (std::size_t k = 0; k < 6; ++k) core[7 * k] += k < 3 ? layer.core_mass() : layer.core_inertia()[4 * (k - 3)];
  levels.set_blocks(contacts, core);
  Workers workers(2), alone(1);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> any(-1, 1);
  QuadVectors r[2];
  Vector6 c[2];
  for (int k = 0; k < 2; ++k) {
    r[k].assign(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) r[k].set(i, {any(random), any(random), any(random)});
    for (double& value : c[k]) value = double(any(random));
  }
  const Answer a = apply(levels, workers, r[0], c[0], nodes), b = apply(levels, workers, r[1], c[1], nodes);
  const auto product = [&](const QuadVectors& u, const Vector6& uc, const Answer& v) {
    double sum = 0;
    for (std::uint32_t i = 0; i < nodes; ++i) sum += double(dot(u.get(i), v.z.get(i)));
    for (std::size_t k = 0; k < 6; ++k) sum += uc[k] * v.core[k];
    return sum;
  };
  EXPECT_GT(a.product, 0);
  EXPECT_NEAR(product(r[0], c[0], a), a.product, 1e-4 * a.product);
  EXPECT_NEAR(product(r[1], c[1], a), product(r[0], c[0], b), 1e-4 * std::sqrt(a.product * b.product));
  const Answer again = apply(levels, alone, r[0], c[0], nodes);
  EXPECT_EQ(again.product, a.product);
  EXPECT_EQ(again.z.floats(), a.z.floats());
}

TEST(LayeredLevels, IterationsHardlyGrowWithTheResolution) {
  const auto iterations = [](int segments) {
    LayeredDef def = torus_def(3e5f, segments, segments);
    def.tolerance = 1e-3f;
    const auto body = make_body(def);
    Workers workers(2);
    // A push on a patch, as a contact gives.
    for (std::uint32_t i = 0; i < body->node_count(); ++i) {
      const Vec3 x = body->node_position(i);
      if (length(x - Vec3{0.5f, 0.2f, 0}) < 0.1f) body->push_node(i, Vec3{0.3f, -1, 0} * body->layer().masses()[i]);
    }
    const SolveResult result = body->solve(workers, {}, 1.0f / 60);
    EXPECT_TRUE(result.converged);
    return result.iterations;
  };
  const int coarse = iterations(40), fine = iterations(160);
  EXPECT_LE(fine, 2 * coarse) << coarse;  // four times without levels
  EXPECT_LE(fine, 30);
}

TEST(DenseCholesky, SolvesAndDropsWhatIsNotThere) {
  constexpr std::size_t kSize = 20;
  std::mt19937 random(9);
  std::uniform_real_distribution<double> any(-1, 1);
  Matrix half(kSize, kSize);
  for (double& value : half.reshaped()) value = any(random);
  half.col(5) = half.col(3);
  const Matrix m = half.transpose() * half;  // without the motion e5 − e3
  DenseCholesky factor;
  factor.resize(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t k = i; k < kSize; ++k) factor.row(i)[k] = m(Eigen::Index(i), Eigen::Index(k));
  }
  factor.factor();
  Vector x(kSize);
  for (double& value : x) value = any(random);
  x[5] = 0;
  Vector b = m * x;
  factor.solve(b.data());
  EXPECT_LT((b - x).cwiseAbs().maxCoeff(), 1e-6);
}

}  // namespace
}  // namespace pliant
