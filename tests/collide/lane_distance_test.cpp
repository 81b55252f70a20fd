// Distances of eight points at a time, and of one, against the exact ones.
#include "collide/lane_distance.h"

#include <random>

#include <gtest/gtest.h>

#include "geometry/shape_distance.h"

namespace pliant {
namespace {

template <typename T>
LaneDistance<T> distance_of(const LaneShape& shape, const LaneVec3<T>& p) {
  return std::visit(
      [&](const auto& s) -> LaneDistance<T> {
        if constexpr (std::is_same_v<std::decay_t<decltype(s)>, std::monostate>) {
          return {};
        } else {
          return lane_distance(s, p);
        }
      },
      shape);
}

TEST(LaneDistance, IsThatOfTheShape) {
  const Shape shapes[] = {Sphere{0.7f}, Box{{1, 0.5f, 2}}, Capsule{0.3f, 1.2f}, Plane{{1, 2, -0.5f}, 0.3f}};
  std::mt19937 random(11);
  std::uniform_real_distribution<float> number(-1.5f, 1.5f);
  for (const Shape& shape : shapes) {
    const ShapeProbe probe(shape);
    const LaneShape lanes = lane_shape(shape);
    ASSERT_NE(lanes.index(), 0u);
    for (int round = 0; round < 500; ++round) {
      LaneVec3<Float8> points;
      for (std::size_t i = 0; i < kLanes; ++i) {
        points.x[i] = number(random), points.y[i] = number(random), points.z[i] = number(random);
      }
      const LaneDistance<Float8> found = distance_of(lanes, points);
      for (std::size_t i = 0; i < kLanes; ++i) {
        const Vec3 p{points.x[i], points.y[i], points.z[i]};
        const auto exact = probe.nearest(p, 100);
        ASSERT_TRUE(exact);
        EXPECT_NEAR(found.distance[i], exact->distance, 1e-6f);
        const Vec3 normal{found.normal.x[i], found.normal.y[i], found.normal.z[i]};
        EXPECT_NEAR(length(normal), 1, 1e-5f);
        // At the middle planes of a box two faces are equally near; elsewhere the normal is the same.
        EXPECT_NEAR(length(p - exact->point - normal * exact->distance), 0, 1e-5f);
        const LaneDistance<float> one = distance_of(lanes, to_lane(p));
        EXPECT_EQ(one.distance, found.distance[i]);
        EXPECT_EQ(from_lane(one.normal), normal);
      }
    }
  }
}

TEST(LaneDistance, HasANormalInTheMiddleAndOnTheSurface) {
  for (const Shape& shape : {Shape(Sphere{0.5f}), Shape(Box{{1, 1, 1}}), Shape(Capsule{0.5f, 1})}) {
    for (const Vec3 p : {Vec3{0, 0, 0}, Vec3{0.5f, 0, 0}, Vec3{0.5f, 0.5f, 0.5f}}) {
      const LaneDistance<float> found = distance_of(lane_shape(shape), to_lane(p));
      EXPECT_NEAR(length(from_lane(found.normal)), 1, 1e-5f);
      EXPECT_NEAR(found.distance, ShapeProbe(shape).nearest(p, 10)->distance, 1e-6f);
    }
  }
}

TEST(LaneDistance, IsNotForShapesWithoutAFormula) {
  EXPECT_EQ(lane_shape(Cylinder{}).index(), 0u);
  EXPECT_EQ(lane_shape(Compound{}).index(), 0u);
}

}  // namespace
}  // namespace pliant
