// Contacts of boxes against brute force: sampled overlap, sampled distance, and what a contact must satisfy.
#include "collide/box_box.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace pliant {
namespace {

PlacedBox make_box(Vec3 center, Vec3 size, Quat rotation) {
  return {center, {rotation.rotate({1, 0, 0}), rotation.rotate({0, 1, 0}), rotation.rotate({0, 0, 1})}, 0.5f * size};
}

/// Signed distance of a point to a box; negative inside.
float distance_to(const PlacedBox& box, Vec3 p) {
  const Vec3 r = p - box.center;
  Vec3 outside;
  float inside = -1e9f;
  for (std::size_t i = 0; i < 3; ++i) {
    const float d = std::abs(dot(r, box.axes[i])) - box.half[i];
    outside[i] = std::max(d, 0.0f);
    inside = std::max(inside, d);
  }
  return inside < 0 ? inside : length(outside);
}

/// The least distance of two boxes by alternating projections from many starts: exact for convex sets in the limit.
float sampled_distance(const PlacedBox& a, const PlacedBox& b) {
  const auto project = [](const PlacedBox& box, Vec3 p) {
    Vec3 q = box.center;
    for (std::size_t i = 0; i < 3; ++i)
      q += box.axes[i] * std::clamp(dot(p - box.center, box.axes[i]), -box.half[i], box.half[i]);
    return q;
  };
  Vec3 p = a.center;
  for (int i = 0; i < 2000; ++i) p = project(a, project(b, p));
  return length(p - project(b, p));
}

struct RandomBoxes {
  std::mt19937 random{17};
  std::uniform_real_distribution<float> uniform{-1, 1};

  Vec3 vector() { return {uniform(random), uniform(random), uniform(random)}; }
  PlacedBox box(float spread) {
    const Vec3 v = vector();
    const Vec3 size{0.3f + std::abs(v.x), 0.3f + std::abs(v.y), 0.3f + std::abs(v.z)};
    return make_box(spread * vector(), size, Quat::axis_angle(vector(), 3 * uniform(random)));
  }
};

TEST(BoxBox, FindsAContactExactlyWhenBoxesTouch) {
  RandomBoxes boxes;
  int touching = 0, apart = 0;
  for (int i = 0; i < 3000; ++i) {
    const PlacedBox a = boxes.box(0.9f), b = boxes.box(0.9f);
    ContactPatch patch;
    collide_boxes(a, b, 0, patch);
    const float distance = sampled_distance(a, b);
    if (distance > 1e-3f) {
      EXPECT_EQ(patch.count, 0) << "pair " << i << " is " << distance << " apart";
      ++apart;
    } else if (distance < 1e-6f) {
      // A grazing touch may be lost to rounding; a real overlap may not.
      PlacedBox smaller = a;
      smaller.half = a.half - Vec3{0.01f, 0.01f, 0.01f};
      if (sampled_distance(smaller, b) < 1e-6f) {
        EXPECT_GT(patch.count, 0) << "pair " << i;
        ++touching;
      }
    }
  }
  EXPECT_GT(touching, 500);
  EXPECT_GT(apart, 200);
}

TEST(BoxBox, MovingApartByTheDepthEndsTheOverlap) {
  RandomBoxes boxes;
  int tested = 0;
  for (int i = 0; i < 2000; ++i) {
    const PlacedBox a = boxes.box(0.7f), b = boxes.box(0.7f);
    ContactPatch patch;
    collide_boxes(a, b, 0, patch);
    if (patch.count == 0) continue;
    ++tested;
    EXPECT_NEAR(length(patch.normal), 1, 1e-4f);
    float depth = 0;
    for (int k = 0; k < patch.count; ++k) depth = std::max(depth, -patch.points[k].distance);
    PlacedBox moved = a;
    moved.center += (depth + 2e-3f) * patch.normal;
    ContactPatch after;
    collide_boxes(moved, b, 0, after);
    EXPECT_EQ(after.count, 0) << "pair " << i << " still overlaps after moving by its depth " << depth;
  }
  EXPECT_GT(tested, 500);
}

TEST(BoxBox, PointsLieOnBothBoxes) {
  RandomBoxes boxes;
  for (int i = 0; i < 2000; ++i) {
    const PlacedBox a = boxes.box(0.8f), b = boxes.box(0.8f);
    ContactPatch patch;
    collide_boxes(a, b, 0.02f, patch);
    for (int k = 0; k < patch.count; ++k) {
      const ContactPoint& p = patch.points[k];
      EXPECT_NEAR(dot(p.on_a - p.on_b, patch.normal), p.distance, 1e-3f);
      // Inside or on the surface: a point that hangs in the air is a wrong lever.
      EXPECT_LT(distance_to(a, p.on_a), 0.025f) << "pair " << i;
      EXPECT_LT(distance_to(b, p.on_b), 0.025f) << "pair " << i;
    }
  }
}

TEST(BoxBox, FaceOnFaceGivesFourCornersOfTheSharedArea) {
  const PlacedBox floor = make_box({0, 0, 0}, {4, 1, 4}, {});
  const PlacedBox box = make_box({0.5f, 0.99f, 0.2f}, {1, 1, 2}, {});
  ContactPatch patch;
  collide_boxes(box, floor, 0.02f, patch);
  ASSERT_EQ(patch.count, 4);
  EXPECT_LT(length(patch.normal - Vec3{0, 1, 0}), 1e-6f);
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(patch.points[k].distance, -0.01f, 1e-5f);
    EXPECT_NEAR(std::abs(patch.points[k].on_a.x - 0.5f), 0.5f, 1e-5f);
    EXPECT_NEAR(std::abs(patch.points[k].on_a.z - 0.2f), 1, 1e-5f);
  }
}

TEST(BoxBox, CrossingEdgesGiveOnePoint) {
  // Two beams, each standing on an edge, one turned by 90°: the lower edge of one crosses the upper edge of the other.
  const Quat on_edge = Quat::axis_angle({1, 0, 0}, kPi / 4);
  const PlacedBox lower = make_box({0, 0, 0}, {4, 1, 1}, on_edge);
  const PlacedBox upper = make_box({0, 1.40f, 0}, {4, 1, 1}, Quat::axis_angle({0, 1, 0}, kPi / 2) * on_edge);
  ContactPatch patch;
  collide_boxes(upper, lower, 0, patch);
  ASSERT_EQ(patch.count, 1);
  EXPECT_LT(length(patch.normal - Vec3{0, 1, 0}), 1e-3f);
  EXPECT_NEAR(patch.points[0].distance, 1.40f - std::sqrt(2.0f), 1e-4f);
}

TEST(ContactPoints, APlaneKeepsTheDeepestAndTheWidest) {
  std::vector<Vec3> rim;
  for (int i = 0; i < 40; ++i) rim.push_back({std::cos(0.157f * i), -0.001f * (i == 7), std::sin(0.157f * i)});
  ContactPatch patch;
  PlaneClipper clipper({0, 1, 0}, 0.0f, 0.01f);
  for (const Vec3& point : rim) clipper.add(point);
  clipper.finish(patch);
  ASSERT_EQ(patch.count, 4);
  EXPECT_NEAR(patch.points[0].distance, -0.001f, 1e-6f);
  // Four points of a circle that span at least 80 % of the inscribed square.
  float twice_area = 0;
  for (int i = 1; i + 1 < 4; ++i) {
    for (int k = i + 1; k < 4; ++k) {
      twice_area = std::max(twice_area, length(cross(patch.points[i].on_b - patch.points[0].on_b,
                                                     patch.points[k].on_b - patch.points[0].on_b)));
    }
  }
  EXPECT_GT(twice_area, 1.6f);
}

TEST(ContactPoints, DegenerateFacesAreNoTrouble) {
  ContactFace point, edge, needle;
  point.add({0, 0, 0});
  edge.add({-1, 0, 0}), edge.add({1, 0, 0});
  needle.add({-1, 0, 0}), needle.add({1, 0, 0}), needle.add({1, 0, 0});
  for (const ContactFace* a : {&point, &edge, &needle}) {
    for (const ContactFace* b : {&point, &edge, &needle}) {
      ContactPatch patch;
      clip_faces(*a, *b, {0, 1, 0}, 0.1f, patch);
      for (int k = 0; k < patch.count; ++k) EXPECT_TRUE(is_finite(patch.points[k].on_a));
    }
  }
}

}  // namespace
}  // namespace pliant
