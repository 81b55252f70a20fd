#include "solve/loaded_rows.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace pliant {
namespace {

/// A node that hangs from a held one, with a rigid body on it that is thousands of times as heavy.
struct HangingNode {
  static constexpr float kStep = 1.0f / 240, kFall = -9.81f * kStep;
  explicit HangingNode(float ratio, Vec3 contact_normal = {0, -1, 0}) : mass(1e-3f * ratio) {
    factor.analyze(2, {{0, 1}});
    rigid[0] = {.velocity = {0, kFall, 0}, .inverse_mass = 1 / mass};
    for (Vec3& row : rigid[0].inverse_inertia.rows) row *= 10 / mass;
    const std::uint32_t body = rows.add(
        {.factor = &factor, .x = x, .v = v, .v_before = v_before, .springs = {}, .load = static_cast<double>(mass)});
    rows.add({.law = LoadedLaw::Segment, .body = body, .count = 2, .nodes = {0, 1}, .weights = {-1, 1}, .rest = 1});
    rows.add({.body = body, .count = 1, .nodes = {1}, .weights = {1}, .rigid = 0, .normal = contact_normal});
  }
  float mass;
  std::vector<Vec4> x{{0, 1, 0, 0}, {0, 0, 0, 0}}, v{{0, 0, 0, 0}, {0, kFall, 0, 1e3f}},
      v_before{{0, 0, 0, 0}, {0, 0, 0, 1e3f}};
  RigidBodyMotion rigid[1];
  BlockCholesky3 factor;
  LoadedRows rows;
  Workers workers{1};
};

TEST(LoadedRows, FindWhatTwoEquationsSay) {
  for (const float ratio : {1.0f, 1e3f, 1e6f}) {
    HangingNode hanging(ratio);
    hanging.rows.solve(hanging.workers, hanging.rigid, 8, HangingNode::kStep);
    // Springs of k = 3 M between body and node, and between node and hook:
    //   M (V − V₀) = k (v − V),  m (v − v₀) = −k (v − V) − k v.
    const double body = static_cast<double>(hanging.mass), node = 1e-3, k = 3 * body, fall = double{HangingNode::kFall};
    const double share = k / (body + k);  // V = (M V₀ + k v) / (M + k)
    const double v = (node * fall + share * body * fall) / (node + 2 * k - share * k);
    const double velocity = (body * fall + k * v) / (body + k);
    EXPECT_NEAR(static_cast<double>(hanging.v[1].y), v, 1e-5 * std::abs(fall)) << ratio;
    EXPECT_NEAR(static_cast<double>(hanging.rigid[0].velocity.y), velocity, 1e-5 * std::abs(fall)) << ratio;
    hanging.rows.finish();
    EXPECT_NEAR(static_cast<double>(hanging.rows.rows()[1].impulse.y), -body * (velocity - fall),
                1e-4 * body * std::abs(fall));
  }
}

TEST(LoadedRows, DoNotPullWhatPartsNorPushWhatIsSlack) {
  HangingNode hanging(1e3f, {0, 1, 0});  // the body is below the node, and falls as fast
  hanging.x[1].y = 0.5f;
  hanging.rigid[0].velocity.y = 2 * HangingNode::kFall;
  hanging.rows.solve(hanging.workers, hanging.rigid, 8, HangingNode::kStep);
  EXPECT_NEAR(hanging.v[1].y, HangingNode::kFall, 1e-6f);
  EXPECT_NEAR(hanging.rigid[0].velocity.y, 2 * HangingNode::kFall, 1e-6f);
}

TEST(LoadedRows, OfWhatIsNotFiniteLeaveOthersAlone) {
  HangingNode hanging(1e3f);
  hanging.x[1].y = std::nanf("");
  hanging.rows.solve(hanging.workers, hanging.rigid, 8, HangingNode::kStep);
  EXPECT_EQ(hanging.rigid[0].velocity.y, HangingNode::kFall);
}

}  // namespace
}  // namespace pliant
