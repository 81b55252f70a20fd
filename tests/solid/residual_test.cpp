// Every step is solved to the residual that it says, recomputed in double from the matrix: not only to the residual
// that conjugate gradients carry along.
#include <cmath>
#include <cstdio>
#include <string>

#include "solid/solid_support.h"

namespace pliant {
namespace {

constexpr float kStep = 1.0f / 60;
constexpr Vec3 kGravity{0, -9.81f, 0};

/// |b − A v| / |b| of Parker and O'Brien's eq. 5 for a body that has been solved and not yet advanced.
double true_residual(const SolidBody& body, const LaneVectors& before) {
  const SolidLayout& layout = body.layout();
  const LaneVectors& after = body.state().velocities;
  const auto at = [](const LaneVectors& vectors, std::uint32_t slot) { return Vec3d(vectors.get(slot)); };
  double of_residual = 0, of_b = 0;
  for (std::uint32_t node = 0; node < body.node_count(); ++node) {
    if (body.is_held(node)) continue;
    const std::uint32_t slot = layout.slot_of_node[node], group = slot / 8, lane = slot % 8;
    Vec3d force, stretched;
    for (std::size_t k = layout.sum_starts[group]; k < layout.sum_starts[group + 1]; ++k) {
      const Vec4& corner = body.elements().forces()[layout.sum_corners[8 * k + lane]];
      force = force + Vec3d(Vec3{corner.x, corner.y, corner.z});
    }
    const Vec3d own = at(after, slot);
    for (std::size_t k = layout.matrix.start(group); k < layout.matrix.start(group + 1); ++k) {
      const float* block = layout.matrix.values() + k * SlicedMatrix::kBlockFloats + lane;
      const auto entry = [&](std::size_t i) { return static_cast<double>(block[8 * i]); };
      const Vec3d d = at(after, layout.matrix.columns()[8 * k + lane]) - own;
      stretched = stretched + Vec3d{entry(0) * d.x + entry(1) * d.y + entry(2) * d.z,
                                    entry(3) * d.x + entry(4) * d.y + entry(5) * d.z,
                                    entry(6) * d.x + entry(7) * d.y + entry(8) * d.z};
    }
    const double mass = static_cast<double>(body.mass(node));
    const Vec3d b = (force + Vec3d(kGravity) * mass) * static_cast<double>(kStep) + at(before, slot) * mass;
    const Vec3d residual = b - own * mass - stretched;
    of_residual += dot(residual, residual), of_b += dot(b, b);
  }
  return std::sqrt(of_residual / of_b);
}

/// A beam held at its low end of x that swings under its weight; b is small whenever it turns back.
double worst_of_a_second(float poisson) {
  SolidDef def{.mesh = tet_box({1, 0.25f, 0.25f}, 26, 8, 8), .material = elastic(1e6f, poisson)};
  def.held.push_back({.nodes = NodeHalfSpace{{-1, 0, 0}, 0.5f - 0.25f / 26}});
  Workers workers(1);
  SolidBody body(std::make_shared<const SolidDef>(std::move(def)));
  double worst = 0;
  for (int step = 0; step < 60; ++step) {
    const LaneVectors before = body.state().velocities;
    body.assemble(workers, kStep);
    EXPECT_TRUE(body.solve(workers, kGravity, kStep).converged) << "step " << step;
    worst = std::max(worst, true_residual(body, before));
    body.advance(workers, kStep);
  }
  return worst;
}

TEST(SolidResidual, NoStepOfASwingingBeamIsLeftWithMoreThanTheTolerance) {
  for (const float poisson : {0.3f, 0.45f}) {
    const double worst = worst_of_a_second(poisson);
    std::printf("Poisson's ratio %.2f: at worst %.2e\n", static_cast<double>(poisson), worst);
    EXPECT_LE(worst, 1e-3);
  }
}

}  // namespace
}  // namespace pliant
