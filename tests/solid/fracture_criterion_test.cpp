// What pulls nodes apart, against a plain computation in doubles and against closed forms.
#include "solid/fracture_criterion.h"

#include <random>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "solid/solid_fracture.h"
#include "solid/solid_support.h"

namespace pliant {
namespace {

using Matrix = Eigen::Matrix3d;
using Vector = Eigen::Vector3d;

Vector as_double(Vec3 v) { return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)}; }

Matrix m(const Vector& a) { return a.norm() > 0 ? Matrix(a * a.transpose() / a.norm()) : Matrix::Zero(); }

/// The part of a symmetric matrix with positive eigenvalues.
Matrix positive(const Matrix& a) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(a);
  Matrix out = Matrix::Zero();
  for (int i = 0; i < 3; ++i) {
    out +=
        std::max(0.0, eigen.eigenvalues()[i]) * eigen.eigenvectors().col(i) * eigen.eigenvectors().col(i).transpose();
  }
  return out;
}

/// The tensor of every node by the formula of O'Brien and Hodgins, in doubles, tet by tet; compression only holds
/// together.
std::vector<Matrix> reference(const SolidBody& body) {
  const TetMesh& mesh = body.def().mesh;
  const auto lame = lame_parameters(body.def().material);
  const double lambda = static_cast<double>(lame.lambda), mu = static_cast<double>(lame.mu);
  std::vector<Matrix> outer(mesh.nodes.size(), Matrix::Zero());
  std::vector<Matrix> squeezed = outer;
  std::vector<Vector> pull(mesh.nodes.size(), Vector::Zero()), push = pull;
  for (const Tet& tet : mesh.tets) {
    Matrix rest, now;
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t n = tet[static_cast<std::size_t>(i) + 1];
      rest.col(i) = as_double(mesh.nodes[n]) - as_double(mesh.nodes[tet[0]]);
      now.col(i) = as_double(body.position(n)) - as_double(body.position(tet[0]));
    }
    const Matrix f = now * rest.inverse();
    const Eigen::JacobiSVD<Matrix> svd(f, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Matrix r = svd.matrixU() * svd.matrixV().transpose();
    const Matrix strain = 0.5 * (r.transpose() * f + f.transpose() * r) - Matrix::Identity();
    const Matrix stress = 2 * mu * strain + lambda * strain.trace() * Matrix::Identity();
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(stress);
    Matrix tension = Matrix::Zero();
    for (int i = 0; i < 3; ++i) {
      tension +=
          std::max(0.0, eigen.eigenvalues()[i]) * eigen.eigenvectors().col(i) * eigen.eigenvectors().col(i).transpose();
    }
    const double volume = rest.determinant() / 6;
    const Matrix gradients = rest.inverse().transpose();  // columns
    for (int c = 0; c < 4; ++c) {
      const Vector g = c == 0 ? Vector(-gradients.rowwise().sum()) : Vector(gradients.col(c - 1));
      const Vector plus = -volume * r * tension * g, minus = -volume * r * (stress - tension) * g;
      const std::uint32_t node = tet[static_cast<std::size_t>(c)];
      outer[node] += m(plus), squeezed[node] += m(minus);
      pull[node] += plus, push[node] += minus;
    }
  }
  for (std::size_t n = 0; n < outer.size(); ++n) {
    outer[n] = 0.5 * (outer[n] - m(pull[n]) - positive(squeezed[n] - m(push[n])));
  }
  return outer;
}

Matrix as_matrix(const LaneSym3<float>& s) {
  Matrix out;
  out << static_cast<double>(s.xx), static_cast<double>(s.xy), static_cast<double>(s.xz), static_cast<double>(s.xy),
      static_cast<double>(s.yy), static_cast<double>(s.yz), static_cast<double>(s.xz), static_cast<double>(s.yz),
      static_cast<double>(s.zz);
  return out;
}

SolidMaterial brittle(float young, float poisson, float strength) {
  SolidMaterial material = elastic(young, poisson);
  material.strength = strength;
  return material;
}

TEST(Separation, TensorsAreThoseOfAPlainComputation) {
  SolidDef def{.mesh = tet_box({1, 0.7f, 0.5f}, 5, 4, 3), .material = brittle(1e6f, 0.3f, 1e4f)};
  jitter_inside(def.mesh, 0.03f, 3);
  Rig rig(def);
  std::mt19937 random(7);
  std::normal_distribution<float> noise(0, 0.01f);
  const Quat turn = Quat::axis_angle(normalized(Vec3{1, 2, 3}), 0.8f);
  for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) {
    rig.body.set_position(n, turn.rotate(rig.mesh().nodes[n]) + Vec3{noise(random), noise(random), noise(random)});
  }
  rig.body.assemble(rig.workers, kStep);
  FractureCriterion criterion(rig.body.def(), {});
  const FractureTopology topology(rig.mesh().tets, rig.body.node_count());
  criterion.measure(rig.workers, rig.body, topology);
  const std::vector<Matrix> expected = reference(rig.body);
  for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) {
    const Matrix found = as_matrix(criterion.tensor(rig.body, topology, n));
    EXPECT_LT((found - expected[n]).norm(), 2e-4 * expected[n].norm() + 0.05) << "node " << n;
  }
}

/// A bar stretched so that the stress is `stress` along X everywhere; the ratio is stress / strength at every node but
/// those of its ends, whatever the mesh.
TEST(Separation, EvenTensionIsTheSameAtEveryNodeOfEveryMesh) {
  constexpr float kYoung = 1e6f, kPoisson = 0.3f, kStress = 1e3f, kStrength = 2e3f;
  for (const int cells : {2, 3, 5}) {
    for (const float jitter : {0.0f, 0.2f}) {
      SolidDef def{.mesh = tet_box({2, 1, 1}, 2 * cells, cells, cells),
                   .material = brittle(kYoung, kPoisson, kStrength)};
      jitter_inside(def.mesh, jitter / static_cast<float>(cells), 5);
      Rig rig(def);
      const float strain = kStress / kYoung;
      for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) {
        const Vec3 x = rig.mesh().nodes[n];
        rig.body.set_position(n, {x.x * (1 + strain), x.y * (1 - kPoisson * strain), x.z * (1 - kPoisson * strain)});
      }
      rig.body.assemble(rig.workers, kStep);
      FractureCriterion criterion(rig.body.def(), {});
      const FractureTopology topology(rig.mesh().tets, rig.body.node_count());
      criterion.measure(rig.workers, rig.body, topology);
      double inner = 0;
      for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) {
        const float ratio = criterion.separation(rig.body, topology, n).ratio;
        if (std::abs(rig.mesh().nodes[n].x) > 0.99f) {
          // Nothing pulls at the end from outside; with jitter a few faces there look back at it.
          EXPECT_LT(ratio, jitter > 0 ? 0.15f : 0.01f);
        } else {
          EXPECT_NEAR(ratio, kStress / kStrength, 0.01f) << "node " << n << " of " << cells << " cells";
          inner += 1;
        }
      }
      EXPECT_GT(inner, 8);
      EXPECT_TRUE(criterion.find(rig.workers, rig.body, topology).empty());
    }
  }
}

TEST(Separation, CompressionPullsNothingApart) {
  Rig rig({.mesh = tet_box({1, 1, 1}, 4, 4, 4), .material = brittle(1e6f, 0.3f, 10.0f)});
  for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) rig.body.set_position(n, rig.mesh().nodes[n] * 0.95f);
  rig.body.assemble(rig.workers, kStep);
  FractureCriterion criterion(rig.body.def(), {});
  const FractureTopology topology(rig.mesh().tets, rig.body.node_count());
  EXPECT_TRUE(criterion.find(rig.workers, rig.body, topology).empty());
}

TEST(Separation, WoodSplitsAlongItsGrain) {
  // Pulled at 45 degrees to the grain, equally strong in itself either way: it breaks where it is weak.
  SolidMaterial wood = brittle(1e6f, 0.0f, 1e3f);
  wood.grain_strength = 2e4f;
  wood.grain_direction = {1, 0, 0};
  Rig rig({.mesh = tet_box({1, 1, 1}, 4, 4, 4), .material = wood});
  for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) {
    const Vec3 x = rig.mesh().nodes[n];
    const float along = 0.001f * (x.x + x.y);  // strain 0.002 along (1, 1, 0)
    rig.body.set_position(n, x + Vec3{along, along, 0});
  }
  rig.body.assemble(rig.workers, kStep);
  FractureCriterion criterion(rig.body.def(), {});
  const FractureTopology topology(rig.mesh().tets, rig.body.node_count());
  criterion.measure(rig.workers, rig.body, topology);
  for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) {
    if (length(rig.mesh().nodes[n]) > 0.3f) continue;
    const NodeSeparation at = criterion.separation(rig.body, topology, n);
    EXPECT_GT(std::abs(at.normal.y), 0.95f);
    EXPECT_GT(at.ratio, 0.9f);
  }
}

TEST(Separation, ANodeThatIsHeldFeelsWhatHoldsIt) {
  SolidDef def{.mesh = tet_box({2, 1, 1}, 4, 2, 2), .material = brittle(1e6f, 0.0f, 2e3f)};
  def.fracture.lets_go = true;
  Rig rig(def);
  rig.hold_where([](Vec3 x) { return x.x < -0.99f; });
  for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) {
    const Vec3 x = rig.mesh().nodes[n];
    rig.body.set_position(n, {x.x * 1.001f, x.y, x.z});
  }
  rig.body.assemble(rig.workers, kStep);
  FractureCriterion criterion(rig.body.def(), {});
  const FractureTopology topology(rig.mesh().tets, rig.body.node_count());
  criterion.measure(rig.workers, rig.body, topology);
  for (std::uint32_t n = 0; n < rig.body.node_count(); ++n) {
    const float ratio = criterion.separation(rig.body, topology, n).ratio;
    EXPECT_NEAR(ratio, rig.mesh().nodes[n].x > 0.99f ? 0.0f : 0.5f, 0.01f) << n;
  }
}

}  // namespace
}  // namespace pliant
