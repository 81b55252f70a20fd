// The layer's matrix and masses against independent sums, and statics against a direct solve.
#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>

#include "geometry/layer_core.h"
#include "layered/layered_system.h"

#include "layered_support.h"

namespace pliant {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Vector = Eigen::VectorXd;

/// K column by column from the layer's own product.
Vector product(const LayeredLayer& layer, const Vector& x) {
  QuadVectors in;
  in.assign(layer.node_count());
  for (std::uint32_t i = 0; i < layer.node_count(); ++i) {
    in.set(i, {float(x[3 * i]), float(x[3 * i + 1]), float(x[3 * i + 2])});
  }
  Vector y(x.size());
  for (std::uint32_t i = 0; i < layer.node_count(); ++i) {
    const LaneVec3<Float8> f = layer.stiffness_times(i / 8, in);
    y[3 * i] = double(f.x[i % 8]), y[3 * i + 1] = double(f.y[i % 8]), y[3 * i + 2] = double(f.z[i % 8]);
  }
  return y;
}

/// The stiffness of all tets over surface and core nodes by B and the matrix of elasticity, then without the core.
Matrix oracle_matrix(const LayeredDef& def) {
  const TriMesh& surface = def.atlas.surface;
  const auto count = std::uint32_t(surface.vertices.size());
  const float t[1] = {def.thickness};
  const LayerCore core = *make_layer_core(surface, t);
  const auto at = [&](std::uint32_t i) {
    const Vec3 p = i < count ? surface.vertices[i] : core.points[i - count];
    return Eigen::Vector3d(double(p.x), double(p.y), double(p.z));
  };
  const double e = double(def.material.young_modulus), nu = double(def.material.poisson_ratio);
  Eigen::Matrix<double, 6, 6> elasticity = Eigen::Matrix<double, 6, 6>::Zero();
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) elasticity(i, k) = i == k ? 1 - nu : nu;
    elasticity(i + 3, i + 3) = (1 - 2 * nu) / 2;
  }
  elasticity *= e / ((1 + nu) * (1 - 2 * nu));
  std::vector<Eigen::Triplet<double>> entries;
  for (const Face& face : surface.faces) {
    for (const Tet& tet : layer_tets(face, count)) {
      Eigen::Matrix4d places;
      for (int k = 0; k < 4; ++k) places.row(k) << 1, at(tet[k]).transpose();
      const double volume = std::abs(places.determinant()) / 6;
      const Eigen::Matrix4d shapes = places.inverse();  // columns: the linear functions of the corners
      Eigen::Matrix<double, 6, 12> b = Eigen::Matrix<double, 6, 12>::Zero();
      for (int k = 0; k < 4; ++k) {
        const double x = shapes(1, k), y = shapes(2, k), z = shapes(3, k);
        b(0, 3 * k) = x, b(1, 3 * k + 1) = y, b(2, 3 * k + 2) = z;
        b(3, 3 * k) = y, b(3, 3 * k + 1) = x, b(4, 3 * k + 1) = z, b(4, 3 * k + 2) = y, b(5, 3 * k) = z,
                 b(5, 3 * k + 2) = x;
      }
      const Eigen::Matrix<double, 12, 12> k = volume * b.transpose() * elasticity * b;
      for (int i = 0; i < 12; ++i) {
        for (int j = 0; j < 12; ++j) {
          if (tet[i / 3] >= count || tet[j / 3] >= count) continue;
          entries.emplace_back(3 * int(tet[i / 3]) + i % 3, 3 * int(tet[j / 3]) + j % 3, k(i, j));
        }
      }
    }
  }
  Matrix matrix(3 * count, 3 * count);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

TEST(LayeredLayer, MatrixIsThatOfTheTets) {
  const LayeredDef def = torus_def(1e5f, 20, 11);  // not a multiple of eight
  const auto body = make_body(def);
  const Matrix k = oracle_matrix(def);
  EXPECT_EQ(body->layer().tet_count(), 3 * def.atlas.surface.faces.size());
  EXPECT_EQ(body->layer().blocks(), 6u * 220);  // with the diagonal, seven points
  for (const unsigned seed : {1u, 2u, 3u}) {
    srand(seed);
    const Vector x = Vector::Random(k.cols());
    const Vector wanted = k * x, found = product(body->layer(), x);
    EXPECT_LT((wanted - found).norm(), 2e-6 * wanted.norm());
  }
}

// A thin layer that is pressed in everywhere by as much is in plain strain: p = (λ + 2 μ) δ / t.
TEST(LayeredLayer, FootingIsThatOfAThinLayer) {
  LayeredDef def;
  def.atlas = atlas_sphere(0.5f, 24);
  def.thickness = 0.02f;
  const auto body = make_body(def);
  const double e = double(def.material.young_modulus), nu = double(def.material.poisson_ratio);
  const double modulus = e * (1 - nu) / ((1 + nu) * (1 - 2 * nu)), area = 4 * kPiD * 0.25;
  double footing = 0;
  for (std::uint32_t i = 0; i < body->node_count(); ++i) footing += double(body->layer().footing(i));
  EXPECT_NEAR(footing, modulus * area / 0.02, 0.1 * modulus * area / 0.02);
}

TEST(LayeredLayer, MassesAreThoseOfTheSolid) {
  LayeredDef def;
  def.atlas = atlas_sphere(0.5f, 24);
  def.thickness = 0.1f;
  const auto body = make_body(def);
  Workers workers(1);
  const LayeredTotals totals = body->totals(workers);
  // Layer and core of the same density: a ball. A little less for its flat faces.
  const double mass = 1000 * 4 / 3.0 * kPiD * 0.125;
  EXPECT_NEAR(totals.mass, mass, 0.005 * mass);
  EXPECT_LT(length(totals.center), 1e-6);
}

TEST(LayeredLayer, RestsUnderItsWeightAsADirectSolveSays) {
  LayeredDef def = torus_def(3e4f, 40, 20);
  def.core_is_fixed = true;
  def.material.mass_damping = 20;
  def.tolerance = 1e-5f;
  const auto body = make_body(def);
  const Matrix k = oracle_matrix(def);
  Vector weight(k.cols());
  for (std::uint32_t i = 0; i < body->node_count(); ++i) {
    weight.segment<3>(3 * i) = Eigen::Vector3d(0, -9.81 * double(body->layer().masses()[i]), 0);
  }
  const Eigen::SimplicialLDLT<Matrix> factor(k);
  const Vector wanted = factor.solve(weight);
  Workers workers(2);
  for (int step = 0; step < 400; ++step)
    body->solve(workers, {0, -9.81f, 0}, 1.0f / 60), body->advance(workers, 1.0f / 60);
  double error = 0;
  for (std::uint32_t i = 0; i < body->node_count(); ++i) {
    const Vec3 q = body->state().displacement.get(i);
    error = std::max(error, (Eigen::Vector3d(double(q.x), double(q.y), double(q.z)) - wanted.segment<3>(3 * i)).norm());
  }
  EXPECT_LT(error, 1e-4 * wanted.lpNorm<Eigen::Infinity>());
}

/// Pushed on one side of its fixed core for a second, then let go for two.
float dent_after_push(float yield_strain, double& most_gain) {
  LayeredDef def = torus_def(2e4f, 40, 20);
  def.core_is_fixed = true;
  def.material.stiffness_damping = 0.01f;
  def.material.mass_damping = 5;
  def.material.yield_strain = yield_strain;
  const auto body = make_body(def);
  Workers workers(1);
  constexpr float kStep = 1.0f / 60;
  most_gain = 0;
  for (int step = 0; step < 180; ++step) {
    for (std::uint32_t i = 0; step < 60 && i < body->node_count(); ++i) {
      const Vec3 x = body->layer().rest().get(i);
      if (length(x - Vec3{0.7f, 0, 0}) < 0.12f) body->push_node(i, {-4 * kStep, 0, 0});
    }
    body->solve(workers, {}, kStep);
    body->advance(workers, kStep);
    const double before = body->elastic_energy(workers);
    body->settle(workers, kStep);
    most_gain = std::max(most_gain, body->elastic_energy(workers) - before);
  }
  float deepest = 0;
  for (std::uint32_t i = 0; i < body->node_count(); ++i) {
    deepest = std::max(deepest, length(body->state().displacement.get(i)));
  }
  return deepest;
}

TEST(LayeredBody, DentsStayInWhatYields) {
  double gain = 0;
  EXPECT_LT(dent_after_push(std::numeric_limits<float>::infinity(), gain), 5e-4f);
  EXPECT_GT(dent_after_push(0.02f, gain), 5e-3f);
  EXPECT_LE(gain, 1e-6);  // flowing never adds energy
}

TEST(LayeredBody, SpringsCarryTheCore) {
  LayeredDef def = torus_def(1e5f, 40, 20);
  def.position = {0, 2, 0};
  def.springs = {{.point = {0.4f, 0, 0}, .place = {0.4f, 2, 0}, .stiffness = 2e4f, .damping = 800},
                 {.point = {-0.4f, 0, 0}, .place = {-0.4f, 2, 0}, .stiffness = 2e4f, .damping = 800}};
  const auto body = make_body(def);
  Workers workers(1);
  for (int i = 0; i < 300; ++i) body->solve(workers, {0, -9.81f, 0}, 1.0f / 60), body->advance(workers, 1.0f / 60);
  const double mass = body->totals(workers).mass;
  EXPECT_NEAR(body->state().position.y, 2 - mass * 9.81 / 4e4, 1e-4);
  // (m g)² / 2 k in the springs; the layer, that hangs from the core, holds little beside it.
  const double wanted = 0.5 * mass * mass * 9.81 * 9.81 / 4e4;
  EXPECT_NEAR(body->elastic_energy(workers), wanted, 0.02 * wanted);
}

TEST(LayeredBody, APushOnTheSurfaceMovesTheCoreInTheSameStep) {
  const auto body = make_body(torus_def(1e5f));
  Workers workers(1);
  body->push_node(3, {0.5f, -1, 2});
  body->solve(workers, {}, 1.0f / 60);
  EXPECT_GT(length(part_of(body->state().velocity, 0)), 1e-4);
  const LayeredTotals pushed = body->totals(workers);
  EXPECT_LT(length(pushed.momentum - Vec3d(0.5, -1, 2)), 1e-5 * 2.3);
  const Vec3d arm = Vec3d(body->node_position(3)) - pushed.center;
  EXPECT_LT(length(pushed.spin - cross(arm, Vec3d(0.5, -1, 2))), 1e-5 * length(pushed.spin));
  body->advance(workers, 1.0f / 60);
  EXPECT_LT(length(body->totals(workers).momentum - Vec3d(0.5, -1, 2)), 1e-5 * 2.3);
}

TEST(LayeredLayer, TextureCoordinatesOfAnotherSurfaceAreRefused) {
  LayeredDef def;
  def.atlas = atlas_sphere(0.3f, 6);
  def.thickness = 0.08f;
  const auto refused = [](const LayeredDef& wrong) {
    const auto layer = LayeredLayer::make(wrong);
    return !layer && layer.error().field.rfind("atlas", 0) == 0;
  };
  EXPECT_TRUE(LayeredLayer::make(def));
  LayeredDef wrong = def;
  wrong.atlas.charts[0].nodes[3] = 99999999;
  EXPECT_TRUE(refused(wrong));
  wrong = def;
  wrong.atlas.charts.pop_back();
  EXPECT_TRUE(refused(wrong));
  def.atlas.layout = layout_of(def.atlas);
  EXPECT_TRUE(LayeredLayer::make(def));
  wrong = def;
  wrong.atlas.layout.nodes[0] = 99999999;
  EXPECT_TRUE(refused(wrong));
  wrong = def;
  wrong.atlas.layout.faces[5] = {1, 2, 88888888};
  EXPECT_TRUE(refused(wrong));
  wrong = def;
  wrong.atlas.layout.faces.pop_back();
  EXPECT_TRUE(refused(wrong));
  wrong = def;
  wrong.atlas.layout.uvs[0].x = NAN;
  EXPECT_TRUE(refused(wrong));
}

TEST(LayeredLayer, ASurfaceWithItsInsideOutIsRefused) {
  LayeredDef def;
  def.atlas.surface = atlas_sphere(0.3f, 6).surface;
  EXPECT_TRUE(LayeredLayer::make(def));
  for (Face& face : def.atlas.surface.faces) std::swap(face[1], face[2]);
  EXPECT_FALSE(LayeredLayer::make(def));
}

/// The skin is between its core and where it may go, and the body is finite.
void expect_within_limits(const LayeredBody& body) {
  ASSERT_TRUE(body.is_finite());
  for (std::uint32_t i = 0; i < body.node_count(); ++i) {
    const Vec3 inward = body.layer().inward().get(i), q = body.state().displacement.get(i);
    EXPECT_LE(dot(q, inward), 0.901f * length_squared(inward));
    EXPECT_LE(length(q), 2.001f * body.layer().thickness());
  }
}

TEST(LayeredBody, NothingPushesTheSkinThroughItsCoreOrAway) {
  LayeredDef def;
  def.atlas = atlas_sphere(0.3f, 8);
  def.thickness = 0.08f;
  def.material.young_modulus = 3e5f, def.material.stiffness_damping = 0.002f;
  Workers workers(1);
  constexpr float kStep = 1.0f / 60;
  for (const bool is_fixed : {true, false}) {
    def.core_is_fixed = is_fixed;
    // 10 kN on one node, then all of them pulled outward and inward by 1 MPa.
    for (const float pressure : {0.0f, 1e6f, -1e6f}) {
      const auto body = make_body(def);
      const float area = 4 * kPi * 0.09f / static_cast<float>(body->node_count());
      Vec3d given;
      double most = 0;
      for (int step = 0; step < 60; ++step) {
        for (std::uint32_t i = 0; i < body->node_count(); ++i) {
          // From the core's centre, so that it does not turn.
          const Vec3 outward = normalized(body->node_position(i) - body->state().position.to_float());
          const Vec3 push = pressure != 0 ? outward * (pressure * area * kStep)
                            : i == 0      ? outward * (-1e4f * kStep)
                                          : Vec3{};
          body->push_node(i, push), given += Vec3d(push);
        }
        body->solve(workers, {}, kStep);
        body->advance(workers, kStep);
        expect_within_limits(*body);
      }
      const LayeredTotals totals = body->totals(workers);
      if (!is_fixed) {
        EXPECT_LT(length(totals.momentum - given), 1e-3 * length(given) + 1) << pressure;
      }
      // Left alone, it never has more energy than when it was let go.
      const double energy = totals.kinetic + body->elastic_energy(workers);
      for (int step = 0; step < 60; ++step) {
        body->solve(workers, {}, kStep);
        body->advance(workers, kStep);
        const double now = body->totals(workers).kinetic + body->elastic_energy(workers);
        most = std::max(most, now / energy);
      }
      EXPECT_LT(most, 1.001) << pressure;
    }
  }
}

TEST(LayeredBody, ASkinTooSoftForItsWeightHangsOnItsCore) {
  const auto body = make_body(torus_def(100));
  Workers workers(1);
  for (int i = 0; i < 120; ++i) body->solve(workers, {0, -9.81f, 0}, 1.0f / 60), body->advance(workers, 1.0f / 60);
  expect_within_limits(*body);
  const auto held_def = [] {
    LayeredDef def = torus_def(100);
    def.core_is_fixed = true;
    return def;
  };
  const auto held = make_body(held_def());
  for (int i = 0; i < 120; ++i) held->solve(workers, {0, -9.81f, 0}, 1.0f / 60), held->advance(workers, 1.0f / 60);
  expect_within_limits(*held);
}

}  // namespace
}  // namespace pliant
