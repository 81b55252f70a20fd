// Colouring, springs, bending and contact rows against what they promise.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "solve/bend_lines.h"
#include "solve/contact_rows.h"
#include "solve/soft_rows.h"

namespace pliant {
namespace {

TEST(Coloring, NeverPutsRowsThatShareANodeIntoOneColour) {
  std::mt19937 random(4);
  std::uniform_int_distribution<std::uint32_t> node(0, 199);
  std::vector<std::uint32_t> nodes, starts{0};
  for (int row = 0; row < 1000; ++row) {
    std::vector<std::uint32_t> mine;
    while (mine.size() < 4) {
      const std::uint32_t n = node(random);
      if (std::find(mine.begin(), mine.end(), n) == mine.end()) mine.push_back(n);
    }
    nodes.insert(nodes.end(), mine.begin(), mine.end());
    starts.push_back(static_cast<std::uint32_t>(nodes.size()));
  }
  // Node 0 is in more rows than a word has bits.
  for (int row = 0; row < 100; ++row) nodes[static_cast<std::size_t>(starts[static_cast<std::size_t>(row)])] = 200;
  const RowNodes rows{nodes, starts};
  const Coloring coloring = color_rows(rows, 201);
  std::vector<bool> seen(rows.count(), false);
  for (std::size_t color = 0; color < coloring.count(); ++color) {
    std::vector<bool> met(201, false);
    for (const std::uint32_t row : coloring.rows(color)) {
      EXPECT_FALSE(seen[row]);
      seen[row] = true;
      for (const std::uint32_t n : rows.of(row)) {
        EXPECT_FALSE(met[n]);
        met[n] = true;
      }
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 1000);
}

/// Two nodes of 1 kg that are 1.2 m apart, with a spring of 1 m between them.
struct Pair {
  std::vector<Vec4> x{{0, 0, 0, 0}, {1.2f, 0, 0, 0}}, v{{0, 0, 0, 1}, {0, 0, 0, 1}};
  float pull(const Spring& spring, float h) {
    Workers workers(1);
    SpringRows rows(std::span(&spring, 1), 2);
    rows.sweep(workers, x, v, h);
    return -v[1].x;
  }
};

TEST(SpringRows, AreOneImplicitStepOfTheirSpring) {
  const float h = 0.01f, k = 500;
  // Backward Euler for the distance: m/2 per node, Δv = −h k C / (m/2 + h² k) over both.
  EXPECT_NEAR(2 * Pair().pull({.nodes = {0, 1}, .length = 1, .stiffness = k}, h), h * k * 0.2f / (0.5f + h * h * k),
              1e-5f);
  // However stiff, the distance is right after the step and no more.
  EXPECT_NEAR(2 * Pair().pull({.nodes = {0, 1}, .length = 1, .stiffness = 1e12f}, h), 0.2f / h, 1e-3f);
}

TEST(SpringRows, GiveWayBeyondTheirLimits) {
  const float h = 0.01f;
  EXPECT_NEAR(Pair().pull({.nodes = {0, 1}, .length = 1, .max_tension = 3}, h), 3 * h, 1e-6f);
  EXPECT_EQ(Pair().pull({.nodes = {0, 1}, .length = 1, .max_tension = 0}, h), 0);
  EXPECT_EQ(Pair().pull({.nodes = {0, 1}, .length = 1.5f, .max_thrust = 0}, h), 0);
  EXPECT_NEAR(Pair().pull({.nodes = {0, 1}, .length = 1.5f, .max_thrust = 2}, h), -2 * h, 1e-6f);
}

TEST(BendLines, StraightenALineAndKeepItsMomentum) {
  Workers workers(1);
  std::vector<Vec4> x{{0, 0, 0, 0}, {1, 0.1f, 0, 0}, {2, 0, 0, 0}}, v{{0, 0, 0, 2}, {0, 0, 0, 1}, {0, 0, 0, 4}};
  const Bend bend{.nodes = {0, 1, 2, 0}, .weights = {1, -2, 1, 0}, .stiffness = 1e9f};
  BendLines(std::span(&bend, 1), 3).sweep(workers, x, v, 0.01f);
  const auto after = [&](std::size_t i) { return x[i].y + 0.01f * v[i].y; };
  EXPECT_NEAR(after(0) - 2 * after(1) + after(2), 0, 1e-6f);
  EXPECT_NEAR(v[0].y / 2 + v[1].y + v[2].y / 4, 0, 1e-5f);
}

TEST(BendRows, OfACurvedSurfaceRestInTheirOwnShapeAndNotInItsMirrorImage) {
  Workers workers(1);
  const std::vector<Vec3> rest{{0, 0, 0}, {0, 0, 1}, {-1, 0.3f, 0.5f}, {1, 0.3f, 0.5f}};
  Bend bend{.nodes = {0, 1, 2, 3}, .weights = {1, 1, -1, -1}, .stiffness = 1e6f};
  const Vec3 normal{0, -1, 0};  // of a triangle that runs from the edge to -x
  Vec3 bent{};
  for (std::size_t k = 0; k < 4; ++k) bent += rest[k] * bend.weights[k];
  bend.rest = dot(bent, normal);
  const auto push = [&](float side) {
    std::vector<Vec4> x, v(4, {0, 0, 0, 1});
    for (const Vec3& r : rest) x.push_back({r.x, side * r.y, r.z, 0});
    BendRows(std::span(&bend, 1), 4).sweep(workers, x, v, 0.01f);
    return v[2].y;
  };
  const float at_rest = push(1), mirrored = push(-1);
  EXPECT_LT(std::abs(at_rest), 1e-3f);
  EXPECT_GT(std::abs(mirrored), 1.0f);
}

TEST(ContactRows, OfOneNodeOnTheGroundObeyCoulomb) {
  for (const float slide : {0.1f, 1.0f}) {
    std::vector<Vec4> v{{slide, -1, 0, 2}};
    std::vector<NodeContact> rows{{.node = 0, .normal = {0, 1, 0}, .gap = 0, .friction = 0.5f}};
    for (int i = 0; i < 3; ++i) sweep(rows, v, {}, 0.01f);
    EXPECT_NEAR(v[0].y, 0, 1e-6f);
    EXPECT_NEAR(v[0].x, std::max(slide - 0.5f, 0.0f), 1e-6f);
    EXPECT_NEAR(rows[0].normal_impulse, 0.5f, 1e-6f);
  }
}

TEST(ContactRows, PushMomentumFromNodesToBodiesAndNothingElse) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<RigidBodyMotion> rigid(1);
  rigid[0].inverse_mass = 0.5f;
  for (std::size_t k = 0; k < 3; ++k) rigid[0].inverse_inertia(k, k) = 1.0f + static_cast<float>(k);
  std::vector<Vec4> x, v;
  std::vector<NodeContact> rows;
  std::vector<AnchorRow> anchors;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const Vec3 at{number(random), 1, number(random)};
    x.push_back({at.x, at.y, at.z, 0});
    v.push_back({number(random), -1, number(random), 5});
    if (i < 15) rows.push_back({.node = i, .rigid = 0, .normal = {0, 1, 0}, .arm = at, .friction = 0.7f});
    if (i >= 15) anchors.push_back({.node = i, .rigid = 0, .arm = at});
  }
  const auto momentum = [&] {
    Vec3 sum = rigid[0].velocity / rigid[0].inverse_mass;
    for (const Vec4& node : v) sum += node.xyz() / node.w;
    return sum;
  };
  const auto spin = [&] {
    Vec3 sum{};
    for (std::size_t k = 0; k < 3; ++k) sum[k] = rigid[0].angular_velocity[k] / rigid[0].inverse_inertia(k, k);
    for (std::size_t i = 0; i < v.size(); ++i) sum += cross(x[i].xyz(), v[i].xyz() / v[i].w);
    return sum;
  };
  const Vec3 momentum_before = momentum(), spin_before = spin();
  for (int i = 0; i < 200; ++i) sweep(rows, v, rigid, 0.01f), sweep(anchors, v, rigid);
  EXPECT_LT(length(momentum() - momentum_before), 1e-4f);
  EXPECT_LT(length(spin() - spin_before), 1e-4f);
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_GE(dot(v[i].xyz() - rigid[0].velocity_at(x[i].xyz()), Vec3{0, 1, 0}), -1e-3f);
  }
  for (std::size_t i = 15; i < 20; ++i) EXPECT_LT(length(v[i].xyz() - rigid[0].velocity_at(x[i].xyz())), 1e-3f);
}

TEST(ContactRows, BetweenSurfacesActOnAllFourNodesByTheirWeights) {
  std::vector<Vec4> v{{0, -1, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}};
  std::vector<FeatureContact> rows{
      {.nodes = {0, 1, 2, 3}, .weights = {1, -0.5f, -0.3f, -0.2f}, .normal = {0, 1, 0}, .friction = 0.5f}};
  sweep(rows, v, 0.01f);
  EXPECT_NEAR(v[0].y + v[1].y + v[2].y + v[3].y, -1, 1e-6f);
  EXPECT_NEAR(v[0].y - 0.5f * v[1].y - 0.3f * v[2].y - 0.2f * v[3].y, 0, 1e-6f);
}

TEST(ContactRows, StopWhatIsApartJustWhereItMeets) {
  std::vector<Vec4> v{{0, -100, 0, 1}};
  std::vector<NodeContact> rows{{.node = 0, .normal = {0, 1, 0}, .gap = 0.2f}};
  sweep(rows, v, {}, 0.01f);
  EXPECT_NEAR(v[0].y * 0.01f, -0.2f, 1e-5f);
}

}  // namespace
}  // namespace pliant
