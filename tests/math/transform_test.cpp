// Quaternions and transforms against their definitions.
#include <random>

#include <gtest/gtest.h>

#include "pliant/math.h"

namespace pliant {
namespace {

Vec3 random_vector(std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  return {uniform(random), uniform(random), uniform(random)};
}

TEST(Quat, AxisAngleTurnsByRodriguesFormula) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const Vec3 axis = random_vector(random), v = random_vector(random);
    const float angle = 6 * random_vector(random).x;
    const Vec3 k = normalized(axis);
    const Vec3 expected = v * std::cos(angle) + cross(k, v) * std::sin(angle) + k * (dot(k, v) * (1 - std::cos(angle)));
    EXPECT_LT(length(Quat::axis_angle(axis, angle).rotate(v) - expected), 1e-5f);
  }
}

TEST(Quat, BetweenTakesOneDirectionToTheOther) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const Vec3 a = normalized(random_vector(random)), b = i % 10 ? normalized(random_vector(random)) : -a;
    EXPECT_LT(length(Quat::between(a, b).rotate(a) - b), 1e-3f);
  }
}

TEST(Quat, SlerpKeepsConstantSpeedAndTakesTheShortWay) {
  const Quat a = Quat::axis_angle({0, 1, 0}, 0.2f), b = Quat::axis_angle({0, 1, 0}, 1.4f);
  for (const float t : {0.0f, 0.25f, 0.5f, 1.0f}) {
    const Vec3 expected = Quat::axis_angle({0, 1, 0}, 0.2f + 1.2f * t).rotate({1, 0, 0});
    EXPECT_LT(length(slerp(a, b, t).rotate({1, 0, 0}) - expected), 1e-5f);
    const Quat same_as_b{-b.x, -b.y, -b.z, -b.w};
    EXPECT_LT(length(slerp(a, same_as_b, t).rotate({1, 0, 0}) - expected), 1e-5f);
  }
  EXPECT_LT(length(slerp(a, a, 0.3f).rotate({1, 0, 0}) - a.rotate({1, 0, 0})), 1e-6f);
}

TEST(Transform, ReadsLikeAnEquation) {
  const Transform world_from_body{{1, 2, 3}, Quat::axis_angle({0, 0, 1}, kPi / 2)};
  EXPECT_LT(length(world_from_body * Vec3{1, 0, 0} - Vec3{1, 3, 3}), 1e-6f);
  const Transform body_from_part{{0, 1, 0}, Quat::axis_angle({1, 0, 0}, 0.7f)};
  const Vec3 p{0.3f, -0.2f, 0.9f};
  EXPECT_LT(length((world_from_body * body_from_part) * p - world_from_body * (body_from_part * p)), 1e-6f);
  EXPECT_LT(length(world_from_body.inverse() * (world_from_body * p) - p), 1e-6f);
}

TEST(Aabb, ADefaultOneIsEmptyAndGrows) {
  Aabb box;
  EXPECT_TRUE(box.is_empty());
  box.include(Vec3{1, 2, 3});
  EXPECT_FALSE(box.is_empty());
  EXPECT_TRUE(box.contains({1, 2, 3}));
  box.include(Vec3{-1, 0, 5});
  EXPECT_EQ(box.center(), (Vec3{0, 1, 4}));
  EXPECT_EQ(box.size(), (Vec3{2, 2, 2}));
}

}  // namespace
}  // namespace pliant
