#include "collide/surface_features.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "surface_oracle.h"

namespace pliant {
namespace {

PairPoints random_points(std::mt19937& random, float size) {
  std::uniform_real_distribution<float> unit(-size, size);
  PairPoints x;
  for (Vec3& p : x) p = {unit(random), unit(random), unit(random)};
  return x;
}

/// Makes it degenerate in one of several ways, or leaves it.
void spoil(PairPoints& x, PairPoints& m, unsigned how) {
  if (how == 1) x[3] = x[2];
  if (how == 2) x[3] = 0.5f * (x[1] + x[2]);  // a face of no area
  if (how == 3) m[0] = m[1] = m[2] = m[3];
  if (how == 4) x[3] = x[2] + (x[1] - x[0]);  // parallel edges
  if (how == 5) {                             // all in one plane, all the time
    for (Vec3& p : x) p.z = 0.25f;
    for (Vec3& p : m) p.z = 0;
  }
  if (how == 6) m[0] = -1 * x[0] + x[1], m[1] = {};  // straight on to a corner
}

TEST(SurfaceFeatures, NoCrossingOfARandomMotionIsMissed) {
  std::mt19937 random(7);
  int crossings = 0;
  for (int i = 0; i < 100000; ++i) {
    const FeaturePair kind = i % 2 ? FeaturePair::NodeFace : FeaturePair::EdgeEdge;
    PairPoints x = random_points(random, 1), m = random_points(random, i % 3 ? 2.0f : 20.0f);
    spoil(x, m, unsigned(i / 2) % 12);
    const double crossing = first_crossing(kind, x, m);
    if (crossing > 1) continue;
    ++crossings;
    const auto impact = find_impact(kind, x, m, 0);
    ASSERT_TRUE(impact) << "motion " << i << " crosses at " << crossing;
    EXPECT_LE(double(*impact), crossing + 1e-4) << i;
  }
  EXPECT_GT(crossings, 5000);
}

TEST(SurfaceFeatures, MotionsThatStayApartGiveNoImpact) {
  std::mt19937 random(8);
  int apart = 0, unsettled = 0;
  for (int i = 0; i < 3000; ++i) {
    const FeaturePair kind = i % 2 ? FeaturePair::NodeFace : FeaturePair::EdgeEdge;
    PairPoints x = random_points(random, 1), m = random_points(random, 2);
    spoil(x, m, unsigned(i / 2) % 12);
    const float thickness = i % 4 < 2 ? 0.0f : 0.1f;
    // No point moves by more than 0.1 against another between two samples.
    float nearest = 1e9f;
    for (int k = 0; k <= 100; ++k) {
      nearest = std::min(nearest, float(sampled_distance(kind, moved(x, m, 0.01f * float(k)))));
    }
    const auto impact = find_impact(kind, x, m, thickness);
    if (nearest > thickness + 0.11f) {
      ++apart;
      EXPECT_FALSE(impact) << i << " stays " << nearest << " apart";
    } else if (nearest < thickness) {
      EXPECT_TRUE(impact) << i << " comes as near as " << nearest;
    }
    if (impact) {
      const float distance = find_separation(kind, moved(x, m, *impact)).distance;
      unsettled += distance > thickness + 1e-3f;
      EXPECT_TRUE(*impact == 0 || distance >= thickness) << i;
    }
  }
  EXPECT_GT(apart, 500);
  EXPECT_LT(unsettled, 5);
}

TEST(SurfaceFeatures, SeparationIsTheDistanceOfItsPoints) {
  std::mt19937 random(9);
  for (int i = 0; i < 20000; ++i) {
    const FeaturePair kind = i % 2 ? FeaturePair::NodeFace : FeaturePair::EdgeEdge;
    PairPoints x = random_points(random, 1), m{};
    spoil(x, m, unsigned(i / 2) % 12);
    const Separation s = find_separation(kind, x);
    EXPECT_NEAR(s.distance, length(combine(s.weights, x)), 1e-5f);
    EXPECT_LE(double(s.distance), sampled_distance(kind, x) + 1e-6);
    EXPECT_GE(double(s.distance), sampled_distance(kind, x) - 0.08);
  }
}

TEST(SurfaceFeatures, NumbersThatAreNoneDoNotHang) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, inf, 3e38f, 1e-40f}) {
    for (const FeaturePair kind : {FeaturePair::NodeFace, FeaturePair::EdgeEdge}) {
      const PairPoints x{Vec3{bad, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, bad}}, m{Vec3{0, bad, 0}, {}, {1, 1, 1}, {}};
      find_impact(kind, x, m, 0.01f);
      find_separation(kind, x);
    }
  }
}

}  // namespace
}  // namespace pliant
