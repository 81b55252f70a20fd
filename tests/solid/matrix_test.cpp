// The step's forces, matrix and preconditioner against a dense reference in double.
#include <cstdio>
#include <limits>

#include <Eigen/Dense>

#include "solid/solid_support.h"
#include "solid/solid_system.h"

namespace pliant {
namespace {

constexpr float kStep = 0.02f;

Eigen::Vector3d to_eigen(Vec3 v) {
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}

/// Elements whose rotations are frozen at the places given first.
class Reference {
 public:
  Reference(const TetMesh& mesh, const std::vector<Vec3>& places, const SolidMaterial& material) : mesh_(mesh) {
    const double e = static_cast<double>(material.young_modulus), nu = static_cast<double>(material.poisson_ratio);
    lambda_ = e * nu / ((1 + nu) * (1 - 2 * nu)), mu_ = e / (2 * (1 + nu));
    for (const Tet& tet : mesh.tets) {
      const auto edges = [&](const std::vector<Vec3>& x) {
        Eigen::Matrix3d m;
        for (int i = 0; i < 3; ++i) m.col(i) = to_eigen(x[tet[static_cast<std::size_t>(i) + 1]]) - to_eigen(x[tet[0]]);
        return m;
      };
      const Eigen::Matrix3d inverse = edges(mesh.nodes).inverse();
      const Eigen::JacobiSVD<Eigen::Matrix3d> svd(edges(places) * inverse, Eigen::ComputeFullU | Eigen::ComputeFullV);
      elements_.push_back({inverse, svd.matrixU() * svd.matrixV().transpose(), edges(mesh.nodes).determinant() / 6});
    }
    x_.resize(3 * static_cast<Eigen::Index>(places.size()));
    for (std::size_t i = 0; i < places.size(); ++i)
      x_.segment<3>(3 * static_cast<Eigen::Index>(i)) = to_eigen(places[i]);
  }

  Eigen::VectorXd forces(const Eigen::VectorXd& x) const {
    Eigen::VectorXd f = Eigen::VectorXd::Zero(x.size());
    for (std::size_t t = 0; t < elements_.size(); ++t) {
      const Tet& tet = mesh_.tets[t];
      const auto& [inverse, r, volume] = elements_[t];
      Eigen::Matrix3d edges;
      for (int i = 0; i < 3; ++i)
        edges.col(i) = x.segment<3>(3 * tet[static_cast<std::size_t>(i) + 1]) - x.segment<3>(3 * tet[0]);
      const Eigen::Matrix3d s = r.transpose() * edges * inverse;
      const Eigen::Matrix3d strain = 0.5 * (s + s.transpose()) - Eigen::Matrix3d::Identity();
      const Eigen::Matrix3d stress = 2 * mu_ * strain + lambda_ * strain.trace() * Eigen::Matrix3d::Identity();
      const Eigen::Matrix3d on_corners = -volume * r * stress * inverse.transpose();
      for (int i = 0; i < 3; ++i) {
        f.segment<3>(3 * tet[static_cast<std::size_t>(i) + 1]) += on_corners.col(i);
        f.segment<3>(3 * tet[0]) -= on_corners.col(i);
      }
    }
    return f;
  }
  Eigen::VectorXd forces() const { return forces(x_); }
  /// −∂f/∂x by central differences.
  Eigen::MatrixXd stiffness() const {
    Eigen::MatrixXd k(x_.size(), x_.size());
    constexpr double kSmall = 1e-4;
    for (Eigen::Index c = 0; c < x_.size(); ++c) {
      Eigen::VectorXd more = x_, less = x_;
      more[c] += kSmall, less[c] -= kSmall;
      k.col(c) = (forces(less) - forces(more)) / (2 * kSmall);
    }
    return k;
  }

 private:
  struct Element {
    Eigen::Matrix3d inverse, rotation;
    double volume;
  };
  const TetMesh& mesh_;
  std::vector<Element> elements_;
  Eigen::VectorXd x_;
  double lambda_ = 0, mu_ = 0;
};

/// The parts of a step on a small deformed and turned box of several aggregates, some nodes held or none.
struct Parts {
  explicit Parts(bool with_held) : workers(1) {
    mesh = tet_box({1, 0.4f, 0.4f}, 10, 4, 4);
    jitter_inside(mesh, 0.02f, 2);
    material = elastic(1e5f, 0.35f);
    std::mt19937 random(3);
    std::uniform_real_distribution<float> uniform(-0.02f, 0.02f);
    const Quat turn = Quat::axis_angle({1, 2, 3}, 1.1f);
    for (const Vec3 x : mesh.nodes) {
      const Vec3 noise{uniform(random), uniform(random), uniform(random)};
      places.push_back(turn.rotate(Vec3{1.1f * x.x, x.y + 0.2f * x.x * x.x, 0.95f * x.z} + noise) + Vec3{3, 1, 2});
    }
    layout = make_solid_layout(mesh, std::vector<std::uint8_t>(mesh.tets.size(), 0));
    elements =
        std::make_unique<SolidElements>(mesh, layout, [&](std::size_t) -> const SolidMaterial& { return material; });
    system = std::make_unique<SolidSystem>(layout, mesh);
    positions.assign(layout.slot_count);
    free.assign(layout.slot_count, 0.0f);
    tied.assign(layout.slot_count, 0.0f);
    for (std::uint32_t node = 0; node < mesh.nodes.size(); ++node) {
      const std::uint32_t slot = layout.slot_of_node[node];
      positions.set(slot, places[node]);
      const bool held = with_held && mesh.nodes[node].x < -0.35f;
      free[slot] = held ? 0.0f : 1.0f;
      tied[slot] = 1.0f + 0.1f * static_cast<float>(node % 7);
    }
    elements->update(workers, layout, positions.data(), kStep);
    system->assemble(workers, layout, *elements, positions, free, tied);
    system->clear_extras();
    system->invert_diagonals(workers, layout);
    system->factor_coarse(workers, layout);
  }
  std::uint32_t slot(std::size_t node) const { return layout.slot_of_node[node]; }
  /// A by the reference, held rows and columns struck.
  Eigen::MatrixXd reference_matrix() const {
    Eigen::MatrixXd a =
        static_cast<double>(kStep) * static_cast<double>(kStep) * Reference(mesh, places, material).stiffness();
    for (std::size_t node = 0; node < mesh.nodes.size(); ++node) {
      for (Eigen::Index k = 0; k < 3; ++k) {
        const Eigen::Index i = 3 * static_cast<Eigen::Index>(node) + k;
        a(i, i) += static_cast<double>(tied[slot(node)]);
        if (free[slot(node)] == 0) a.row(i).setZero(), a.col(i).setZero();
      }
    }
    return a;
  }
  Eigen::VectorXd random_vector(LaneVectors& lanes, unsigned seed) const {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    lanes.assign(layout.slot_count);
    Eigen::VectorXd v(3 * static_cast<Eigen::Index>(mesh.nodes.size()));
    for (std::size_t node = 0; node < mesh.nodes.size(); ++node) {
      Vec3 x{normal(random), normal(random), normal(random)};
      if (free[slot(node)] == 0) x = {};
      lanes.set(slot(node), x);
      v.segment<3>(3 * static_cast<Eigen::Index>(node)) = to_eigen(x);
    }
    return v;
  }
  Eigen::VectorXd to_dense(const LaneVectors& lanes) const {
    Eigen::VectorXd v(3 * static_cast<Eigen::Index>(mesh.nodes.size()));
    for (std::size_t node = 0; node < mesh.nodes.size(); ++node) {
      v.segment<3>(3 * static_cast<Eigen::Index>(node)) = to_eigen(lanes.get(slot(node)));
    }
    return v;
  }
  /// Six rigid motions for each group of nodes; `group_of` names it.
  template <typename GroupOf>
  Eigen::MatrixXd rigid_modes(std::size_t groups, GroupOf&& group_of) const {
    Eigen::MatrixXd w =
        Eigen::MatrixXd::Zero(3 * static_cast<Eigen::Index>(mesh.nodes.size()), 6 * static_cast<Eigen::Index>(groups));
    for (std::size_t node = 0; node < mesh.nodes.size(); ++node) {
      if (free[slot(node)] == 0) continue;
      const auto row = 3 * static_cast<Eigen::Index>(node), column = 6 * static_cast<Eigen::Index>(group_of(node));
      const Eigen::Vector3d x = to_eigen(places[node]) - to_eigen(places[0]);
      w.block<3, 3>(row, column).setIdentity();
      w.block<3, 3>(row, column + 3) << 0, x[2], -x[1], -x[2], 0, x[0], x[1], -x[0], 0;
    }
    return w;
  }

  Workers workers;
  TetMesh mesh;
  std::vector<Vec3> places;
  SolidMaterial material;
  SolidLayout layout;
  std::unique_ptr<SolidElements> elements;
  std::unique_ptr<SolidSystem> system;
  LaneVectors positions;
  std::vector<float> free, tied;
};

TEST(SolidMatrix, ForcesAreThoseOfTheReference) {
  const Parts parts(false);
  const Eigen::VectorXd expected = Reference(parts.mesh, parts.places, parts.material).forces();
  Eigen::VectorXd found = Eigen::VectorXd::Zero(expected.size());
  for (std::uint32_t lane = 0; lane < parts.layout.tet_of_lane.size(); ++lane) {
    if (!parts.layout.lane_is_real[lane]) continue;
    for (std::uint32_t c = 0; c < 4; ++c) {
      const Vec4& at = parts.elements->forces()[4 * lane + c];
      found.segment<3>(3 * parts.mesh.tets[parts.layout.tet_of_lane[lane]][c]) += to_eigen(at.xyz());
    }
  }
  std::printf("forces: relative error %.1e\n", (found - expected).norm() / expected.norm());
  EXPECT_LT((found - expected).norm(), 2e-5 * expected.norm());
}

TEST(SolidMatrix, TheMatrixIsTheDerivativeOfTheForce) {
  const Parts parts(false);
  const Eigen::MatrixXd a = parts.reference_matrix();
  double worst = 0;
  for (unsigned seed = 0; seed < 5; ++seed) {
    LaneVectors x, y;
    const Eigen::VectorXd dense = parts.random_vector(x, seed);
    y.assign(parts.layout.slot_count);
    for (std::size_t g = 0; g < parts.layout.slot_count / 8; ++g) {
      y.set_group(g, parts.system->tied_part(g, x.group(g)) + parts.system->internal(parts.layout, g, x));
    }
    const Eigen::VectorXd expected = a * dense;
    worst = std::max(worst, (parts.to_dense(y) - expected).norm() / expected.norm());
  }
  std::printf("product: relative error %.1e\n", worst);
  EXPECT_LT(worst, 1e-5);
}

TEST(SolidMatrix, TheCoarseLevelsAreExactOnTheirMotions) {
  for (const bool with_held : {false, true}) {
    Parts parts(with_held);
    const Eigen::MatrixXd a = parts.reference_matrix();
    const std::vector<std::uint32_t>& starts = parts.layout.aggregate_starts;
    const auto aggregate_of = [&](std::size_t node) {
      const std::uint32_t group = parts.slot(node) / 8;
      return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), group) - starts.begin()) - 1;
    };
    ASSERT_GE(starts.size(), 4u);
    LaneVectors r, x;
    const Eigen::VectorXd dense = parts.random_vector(r, 9);
    x.assign(parts.layout.slot_count);
    parts.system->solve(parts.workers, parts.layout, x, r, {}, 0);
    parts.system->correct_coarse(parts.workers, parts.layout, x);
    const auto project = [&](const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& w) -> Eigen::VectorXd {
      // An aggregate may be held whole: its motions are no motions then.
      const Eigen::MatrixXd e = w.transpose() * matrix * w;
      return w * e.completeOrthogonalDecomposition().solve(w.transpose() * dense);
    };
    Eigen::VectorXd expected = project(a, parts.rigid_modes(starts.size() - 1, aggregate_of));
    if (!with_held) {
      // No element resists a motion of the whole: its matrix is that of the masses.
      Eigen::VectorXd masses(a.rows());
      for (Eigen::Index i = 0; i < a.rows(); ++i) {
        masses[i] = static_cast<double>(parts.tied[parts.slot(static_cast<std::size_t>(i / 3))]);
      }
      expected += project(masses.asDiagonal(), parts.rigid_modes(1, [](std::size_t) { return 0; }));
    }
    const double error = (parts.to_dense(x) - expected).norm() / expected.norm();
    std::printf("%zu aggregates%s: relative error %.1e\n", starts.size() - 1, with_held ? ", some held" : "", error);
    EXPECT_LT(error, 1e-3);
  }
}

TEST(SolidMatrix, ConjugateGradientsSolveTheSystem) {
  for (const bool with_held : {false, true}) {
    Parts parts(with_held);
    Eigen::MatrixXd a = parts.reference_matrix();
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      if (a(i, i) == 0) a(i, i) = 1;
    }
    LaneVectors r, x;
    const Eigen::VectorXd b = parts.random_vector(r, 4);
    x.assign(parts.layout.slot_count);
    const ImpulseSize threshold{1e-5 * b.norm(), std::numeric_limits<double>::infinity()};
    const SolveResult result = parts.system->solve(parts.workers, parts.layout, x, r, threshold, 400);
    const Eigen::VectorXd expected = a.ldlt().solve(b);
    std::printf("%d iterations, true residual %.1e, error %.1e\n", result.iterations,
                (b - a * parts.to_dense(x)).norm() / b.norm(), (parts.to_dense(x) - expected).norm() / expected.norm());
    EXPECT_TRUE(result.converged);
    EXPECT_LT((b - a * parts.to_dense(x)).norm(), 1e-4 * b.norm());
    EXPECT_LT((parts.to_dense(x) - expected).norm(), 1e-4 * expected.norm());
  }
}

}  // namespace
}  // namespace pliant
