#include "geometry/primitives.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "geometry/convex_hull.h"
#include "math/vec3d.h"
#include "pliant/mesh.h"

namespace pliant {
namespace {

class RandomPoints {
 public:
  explicit RandomPoints(unsigned seed) : random_(seed) {}
  Vec3 next(float size = 1) { return {size * uniform_(random_), size * uniform_(random_), size * uniform_(random_)}; }
  /// From a coarse lattice: points coincide, line up and lie in a plane all the time.
  Vec3 next_on_lattice() { return {float(lattice_(random_)), float(lattice_(random_)), float(lattice_(random_))}; }
  double unit() { return 0.5 + 0.5 * uniform_(random_); }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<float> uniform_{-1, 1};
  std::uniform_int_distribution<int> lattice_{-1, 1};
};

Vec3d mix(Vec3 a, Vec3 b, Vec3 c, Vec3 w) {
  return double(w.x) * Vec3d(a) + double(w.y) * Vec3d(b) + double(w.z) * Vec3d(c);
}

// Closest points ------------------------------------------------------------------------------------------------------

/// The point x of a convex figure is closest to p if and only if no corner lies ahead of x towards p.
void expect_closest_on_triangle(Vec3 p, Vec3 a, Vec3 b, Vec3 c) {
  const TrianglePoint r = closest_on_triangle(p, a, b, c);
  const double size = std::max({length(Vec3d(a) - Vec3d(p)), length(Vec3d(b) - Vec3d(p)), length(Vec3d(c) - Vec3d(p))});
  ASSERT_TRUE(is_finite(r.position) && is_finite(r.weights));
  EXPECT_GE(std::min({r.weights.x, r.weights.y, r.weights.z}), 0);
  EXPECT_NEAR(r.weights.x + r.weights.y + r.weights.z, 1, 1e-6);
  EXPECT_LT(length(mix(a, b, c, r.weights) - Vec3d(r.position)), 1e-6 * size + 1e-30);
  EXPECT_NEAR(r.squared_distance, length_squared(Vec3d(r.position) - Vec3d(p)), 1e-5 * size * size);
  const Vec3d x(r.position), ahead = Vec3d(p) - x;
  for (const Vec3 corner : {a, b, c}) EXPECT_LE(dot(ahead, Vec3d(corner) - x), 2e-6 * size * size);
}

TEST(Primitives, ClosestOnTriangle) {
  RandomPoints random(1);
  for (int i = 0; i < 20000; ++i) {
    expect_closest_on_triangle(random.next(2), random.next(), random.next(), random.next());
  }
}

TEST(Primitives, ClosestOnDegenerateTriangles) {
  RandomPoints random(2);
  for (int i = 0; i < 20000; ++i) {
    const Vec3 p = random.next_on_lattice(), a = random.next_on_lattice(), b = random.next_on_lattice();
    expect_closest_on_triangle(p, a, b, random.next_on_lattice());
    expect_closest_on_triangle(p, a, a, a);
    expect_closest_on_triangle(p, a, b, a);
    const Vec3 needle = a + 0.3f * (b - a) + 1e-7f * random.next();
    expect_closest_on_triangle(random.next(), a, b, needle);
  }
}

TEST(Primitives, ClosestOnTriangleMatchesDenseSampling) {
  RandomPoints random(3);
  for (int i = 0; i < 50; ++i) {
    const Vec3 p = random.next(2), a = random.next(), b = random.next(), c = random.next();
    double least = 1e300;
    constexpr int kSteps = 200;
    for (int u = 0; u <= kSteps; ++u) {
      for (int v = 0; u + v <= kSteps; ++v) {
        const Vec3 w{float(kSteps - u - v) / kSteps, float(u) / kSteps, float(v) / kSteps};
        least = std::min(least, length(mix(a, b, c, w) - Vec3d(p)));
      }
    }
    const double found = std::sqrt(closest_on_triangle(p, a, b, c).squared_distance);
    EXPECT_LE(found, least + 1e-6);
    EXPECT_GE(found, least - 0.02);
  }
}

void expect_closest_of_segments(Vec3 a0, Vec3 a1, Vec3 b0, Vec3 b1) {
  const SegmentPoints r = closest_of_segments(a0, a1, b0, b1);
  ASSERT_TRUE(is_finite(r.on_first) && is_finite(r.on_second) && std::isfinite(r.s) && std::isfinite(r.t));
  EXPECT_TRUE(0 <= r.s && r.s <= 1 && 0 <= r.t && r.t <= 1);
  const double size = std::max({length(Vec3d(a1) - Vec3d(a0)), length(Vec3d(b0) - Vec3d(a0)),
                                length(Vec3d(b1) - Vec3d(a0)), length(Vec3d(b1) - Vec3d(b0))});
  const Vec3d x(r.on_first), y(r.on_second);
  EXPECT_LT(length(Vec3d(a0) + double(r.s) * (Vec3d(a1) - Vec3d(a0)) - x), 2e-6 * size + 1e-30);
  EXPECT_LT(length(Vec3d(b0) + double(r.t) * (Vec3d(b1) - Vec3d(b0)) - y), 2e-6 * size + 1e-30);
  EXPECT_NEAR(r.squared_distance, length_squared(y - x), 1e-5 * size * size);
  for (const Vec3 end : {a0, a1}) EXPECT_LE(dot(y - x, Vec3d(end) - x), 2e-6 * size * size);
  for (const Vec3 end : {b0, b1}) EXPECT_LE(dot(x - y, Vec3d(end) - y), 2e-6 * size * size);
}

TEST(Primitives, ClosestOfSegments) {
  RandomPoints random(4);
  for (int i = 0; i < 20000; ++i) {
    expect_closest_of_segments(random.next(), random.next(), random.next(), random.next());
  }
}

TEST(Primitives, ClosestOfDegenerateSegments) {
  RandomPoints random(5);
  for (int i = 0; i < 20000; ++i) {
    const Vec3 a = random.next_on_lattice(), b = random.next_on_lattice(), c = random.next_on_lattice();
    expect_closest_of_segments(a, b, c, random.next_on_lattice());
    expect_closest_of_segments(a, a, c, b);
    expect_closest_of_segments(a, a, b, b);
    expect_closest_of_segments(a, b, c, c + (b - a));                           // parallel
    expect_closest_of_segments(a, b, a + 0.25f * (b - a), b + 0.5f * (b - a));  // along one line
    expect_closest_of_segments(a, b, c, c + (b - a) + 1e-7f * random.next());   // all but parallel
  }
}

TEST(Primitives, ClosestOfSegmentsMatchesDenseSampling) {
  RandomPoints random(6);
  for (int i = 0; i < 50; ++i) {
    const Vec3 a0 = random.next(), a1 = random.next(), b0 = random.next(), b1 = random.next();
    double least = 1e300;
    for (int u = 0; u <= 300; ++u) {
      for (int v = 0; v <= 300; ++v) {
        const Vec3d x = Vec3d(a0) + u / 300.0 * (Vec3d(a1) - Vec3d(a0)),
                    y = Vec3d(b0) + v / 300.0 * (Vec3d(b1) - Vec3d(b0));
        least = std::min(least, length(x - y));
      }
    }
    const double found = std::sqrt(closest_of_segments(a0, a1, b0, b1).squared_distance);
    EXPECT_LE(found, least + 1e-6);
    EXPECT_GE(found, least - 0.02);
  }
}

// Rays ----------------------------------------------------------------------------------------------------------------

TEST(Primitives, RaysAimedAtAPointOfATriangleHitItThere) {
  RandomPoints random(7);
  for (int i = 0; i < 20000; ++i) {
    const Vec3 a = random.next(), b = random.next(), c = random.next(), origin = random.next(3);
    const Vec3d n = cross(Vec3d(b) - Vec3d(a), Vec3d(c) - Vec3d(a));
    double u = random.unit(), v = random.unit();
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const bool outside = i % 2;
    const double stretch = outside ? -1 : 1;  // mirrored through a, no weight of which is then right
    if (u + v < 1e-3 || std::min({u, v, 1 - u - v}) < 1e-3) continue;
    const Vec3d target = Vec3d(a) + stretch * (u * (Vec3d(b) - Vec3d(a)) + v * (Vec3d(c) - Vec3d(a)));
    const Vec3d d = 0.5 * (target - Vec3d(origin));
    if (std::abs(dot(normalized(n), normalized(d))) < 0.01) continue;
    const auto hit = intersect_ray_triangle(origin, d.to_float(), 10, a, b, c);
    ASSERT_EQ(hit.has_value(), !outside);
    if (outside) continue;
    EXPECT_NEAR(hit->t, 2, 1e-3);
    EXPECT_LT(length(mix(a, b, c, hit->weights) - target), 1e-3);
    EXPECT_EQ(hit->from_front, dot(n, d) < 0);
    EXPECT_FALSE(intersect_ray_triangle(origin, d.to_float(), 1.9f, a, b, c));
    EXPECT_FALSE(intersect_ray_triangle(origin, (-1 * d).to_float(), 10, a, b, c));
  }
}

TEST(Primitives, NoRaySlipsThroughASharedEdge) {
  RandomPoints random(8);
  for (int i = 0; i < 20000; ++i) {
    // An edge from left to right, with a triangle above it and one below, seen from the front.
    const Vec3 a = random.next() - Vec3{3, 0, 0}, b = random.next() + Vec3{3, 0, 0};
    const Vec3 left = random.next() + Vec3{0, 4, 0}, right = random.next() - Vec3{0, 4, 0};
    const float t = float(0.01 + 0.98 * random.unit());
    const Vec3 target = a + t * (b - a), origin = target + Vec3{0.1f, 0.2f, 9};
    const bool met = intersect_ray_triangle(origin, target - origin, 2, a, b, left) ||
                     intersect_ray_triangle(origin, target - origin, 2, b, a, right);
    EXPECT_TRUE(met);
  }
}

TEST(Primitives, DegenerateRaysMeetNothing) {
  EXPECT_FALSE(intersect_ray_triangle({0, 0, 0}, {0, 0, 0}, 1, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}));
  EXPECT_FALSE(intersect_ray_triangle({0, 0, 1}, {0, 0, -1}, 2, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}));
  EXPECT_FALSE(intersect_ray_triangle({0, 0, 1}, {0, 0, -1}, 2, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}));
  EXPECT_FALSE(intersect_ray_triangle({-1, 0.2f, 0}, {1, 0, 0}, 5, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}));
}

// Overlap -------------------------------------------------------------------------------------------------------------

/// Whether the segment passes through the triangle's inside, by the place where it meets the plane.
bool pierces(Vec3 from, Vec3 to, const std::array<Vec3, 3>& t) {
  const Vec3d a(t[0]), b(t[1]), c(t[2]), n = cross(b - a, c - a);
  const double h0 = dot(n, Vec3d(from) - a), h1 = dot(n, Vec3d(to) - a);
  if ((h0 > 0) == (h1 > 0)) return false;
  const Vec3d x = Vec3d(from) + h0 / (h0 - h1) * (Vec3d(to) - Vec3d(from));
  return dot(n, cross(b - a, x - a)) >= 0 && dot(n, cross(c - b, x - b)) >= 0 && dot(n, cross(a - c, x - c)) >= 0;
}

TEST(Primitives, RandomTrianglesOverlapIfAnEdgeOfOnePiercesTheOther) {
  RandomPoints random(9);
  int overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::array<Vec3, 3> a{random.next(), random.next(), random.next()};
    const std::array<Vec3, 3> b{random.next(), random.next(), random.next()};
    bool expected = false;
    for (int e = 0; e < 3; ++e) expected |= pierces(a[e], a[(e + 1) % 3], b) || pierces(b[e], b[(e + 1) % 3], a);
    EXPECT_EQ(triangles_overlap(a, b), expected);
    EXPECT_EQ(triangles_overlap(b, a), expected);
    overlapping += expected;
  }
  EXPECT_GT(overlapping, 2000);
}

/// The least distance between samples of two figures.
template <std::size_t N>
double sampled_distance(const std::array<Vec3, N>& a, const std::array<Vec3, N>& b) {
  constexpr int kSteps = 12;
  const auto samples = [](const std::array<Vec3, N>& f) {
    std::vector<Vec3d> points;
    for (int u = 0; u <= kSteps; ++u) {
      for (int v = 0; u + v <= kSteps; ++v) {
        for (int w = 0; u + v + w <= kSteps && (N == 4 || w == 0); ++w) {
          Vec3d p = double(kSteps - u - v - w) * Vec3d(f[0]) + double(u) * Vec3d(f[1]) + double(v) * Vec3d(f[2]);
          if constexpr (N == 4) p += double(w) * Vec3d(f[3]);
          points.push_back(p / kSteps);
        }
      }
    }
    return points;
  };
  double least = 1e300;
  const auto points_b = samples(b);
  for (const Vec3d x : samples(a)) {
    for (const Vec3d y : points_b) least = std::min(least, length_squared(x - y));
  }
  return std::sqrt(least);
}

TEST(Primitives, LatticeTrianglesOverlapIfTheyHaveASampleInCommon) {
  // Where a sample of one is a sample of the other they overlap; where all samples are farther apart than two steps of
  // the sampling they do not. Between the two nothing is claimed.
  RandomPoints random(10);
  int near = 0, apart = 0;
  for (int i = 0; i < 3000; ++i) {
    std::array<Vec3, 3> a, b;
    for (Vec3& p : a) p = random.next_on_lattice();
    for (Vec3& p : b) p = random.next_on_lattice();
    const double distance = sampled_distance(a, b);
    const bool overlap = triangles_overlap(a, b);
    EXPECT_EQ(overlap, triangles_overlap(b, a));
    if (distance == 0) {
      EXPECT_TRUE(overlap);
      ++near;
    }
    if (distance > 0.6) {
      EXPECT_FALSE(overlap);
      ++apart;
    }
  }
  EXPECT_GT(near, 500);
  EXPECT_GT(apart, 300);
}

TEST(Primitives, TrianglesInOnePlane) {
  const std::array<Vec3, 3> a{{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}}};
  EXPECT_TRUE(triangles_overlap(a, {{{0.5f, 0.5f, 0}, {3, 3, 0}, {3, 2, 0}}}));
  EXPECT_TRUE(triangles_overlap(a, {{{0.2f, 0.2f, 0}, {0.3f, 0.2f, 0}, {0.2f, 0.3f, 0}}}));  // one within the other
  EXPECT_TRUE(triangles_overlap(a, {{{2, 0, 0}, {3, 0, 0}, {3, 1, 0}}}));                    // corner to corner
  EXPECT_FALSE(triangles_overlap(a, {{{2, 2, 0}, {3, 0.5f, 0}, {3, 2, 0}}}));
  EXPECT_FALSE(triangles_overlap(a, {{{0, 0, 0.01f}, {2, 0, 0.01f}, {0, 2, 0.01f}}}));  // parallel
}

TEST(Primitives, TrianglesThatAreSegmentsOrPoints) {
  const std::array<Vec3, 3> triangle{{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}}};
  const auto segment = [](Vec3 a, Vec3 b) { return std::array<Vec3, 3>{a, b, a + 0.5f * (b - a)}; };
  EXPECT_TRUE(triangles_overlap(triangle, segment({0.5f, 0.5f, -1}, {0.5f, 0.5f, 1})));
  EXPECT_FALSE(triangles_overlap(triangle, segment({1.5f, 1.5f, -1}, {1.5f, 1.5f, 1})));
  EXPECT_TRUE(triangles_overlap(segment({-1, 0, 0}, {1, 0, 0}), segment({0, -1, 0}, {0, 1, 0})));
  EXPECT_FALSE(triangles_overlap(segment({-1, 0, 0}, {1, 0, 0}), segment({0, -1, 0.1f}, {0, 1, 0.1f})));
  EXPECT_FALSE(triangles_overlap(segment({-1, 0, 0}, {1, 0, 0}), segment({2, 0, 0}, {3, 0, 0})));
  EXPECT_TRUE(triangles_overlap(segment({-1, 0, 0}, {1, 0, 0}), segment({0.5f, 0, 0}, {3, 0, 0})));
  EXPECT_FALSE(triangles_overlap(segment({-1, 0, 0}, {1, 0, 0}), segment({-1, 1, 0}, {1, 1, 0})));
  EXPECT_TRUE(triangles_overlap(triangle, segment({0.5f, 0.5f, 0}, {0.5f, 0.5f, 0})));
  EXPECT_FALSE(triangles_overlap(triangle, segment({0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f})));
  EXPECT_TRUE(triangles_overlap(segment({1, 2, 3}, {1, 2, 3}), segment({1, 2, 3}, {1, 2, 3})));
  EXPECT_FALSE(triangles_overlap(segment({1, 2, 3}, {1, 2, 3}), segment({1, 2, 4}, {1, 2, 4})));
}

// Tets ----------------------------------------------------------------------------------------------------------------

using TetPoints = std::array<Vec3, 4>;

bool is_inside(const TetPoints& t, Vec3d p) {
  const Vec3d a(t[0]), b(t[1]), c(t[2]), d(t[3]);
  const double s = six_volumes(a, b, c, d) > 0 ? 1 : -1;
  return s * six_volumes(p, b, c, d) > 0 && s * six_volumes(a, p, c, d) > 0 && s * six_volumes(a, b, p, d) > 0 &&
         s * six_volumes(a, b, c, p) > 0;
}

/// Corners of one within the other and crossings of edges with faces: their hull is what the tets have in common.
std::vector<Vec3> corners_of_overlap(const TetPoints& a, const TetPoints& b) {
  std::vector<Vec3> corners;
  for (const auto& [s, t] : {std::pair{a, b}, std::pair{b, a}}) {
    for (int i = 0; i < 4; ++i) {
      if (is_inside(t, Vec3d(s[i]))) corners.push_back(s[i]);
      for (int j = i + 1; j < 4; ++j) {
        for (int f = 0; f < 4; ++f) {
          const Vec3d p(t[(f + 1) % 4]), q(t[(f + 2) % 4]), r(t[(f + 3) % 4]), n = cross(q - p, r - p);
          const double h0 = dot(n, Vec3d(s[i]) - p), h1 = dot(n, Vec3d(s[j]) - p);
          if ((h0 > 0) == (h1 > 0)) continue;
          const Vec3d x = Vec3d(s[i]) + h0 / (h0 - h1) * (Vec3d(s[j]) - Vec3d(s[i]));
          const bool within =
              dot(n, cross(q - p, x - p)) > 0 && dot(n, cross(r - q, x - q)) > 0 && dot(n, cross(p - r, x - r)) > 0;
          if (within) corners.push_back(x.to_float());
        }
      }
    }
  }
  return corners;
}

TEST(Primitives, OverlapOfRandomTetsMatchesTheHullOfItsCorners) {
  RandomPoints random(11);
  int overlapping = 0;
  for (int i = 0; i < 5000; ++i) {
    const TetPoints a{random.next(), random.next(), random.next(), random.next()};
    const TetPoints b{random.next(), random.next(), random.next(), random.next()};
    const TetOverlap overlap = intersect_tets(a, b), reverse = intersect_tets(b, a);
    EXPECT_NEAR(overlap.volume, reverse.volume, 1e-12);
    const std::vector<Vec3> corners = corners_of_overlap(a, b);
    EXPECT_EQ(overlap.volume > 0, !corners.empty());
    EXPECT_EQ(tets_overlap(a, b), !corners.empty());
    if (overlap.volume == 0) continue;
    ++overlapping;
    EXPECT_LT(length(overlap.area_normal + reverse.area_normal), 1e-5f);
    EXPECT_LT(length(overlap.centroid - reverse.centroid), 1e-4f);
    const auto hull = convex_hull(corners);
    EXPECT_NEAR(overlap.volume, hull ? enclosed_volume(*hull) : 0, 1e-6);
  }
  EXPECT_GT(overlapping, 500);
}

TEST(Primitives, OverlapOfTetsMatchesSampling) {
  RandomPoints random(12);
  for (int i = 0; i < 10; ++i) {
    TetPoints a{{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}}}, b = a;
    for (Vec3& p : b) p = p * -1 + Vec3{0.9f, 0.9f, 0.9f} + random.next(0.2f);
    if (i % 2) std::swap(a[0], a[1]);  // orientation is of no consequence
    double count = 0;
    Vec3d sum;
    constexpr int kSamples = 200000;
    for (int s = 0; s < kSamples; ++s) {
      const Vec3d p(2 * random.unit(), 2 * random.unit(), 2 * random.unit());
      if (!is_inside(a, p) || !is_inside(b, p)) continue;
      ++count;
      sum += p;
    }
    const TetOverlap overlap = intersect_tets(a, b);
    ASSERT_GT(count, 1000);
    EXPECT_NEAR(overlap.volume, 8 * count / kSamples, 0.05 * overlap.volume + 0.002);
    EXPECT_LT(length(Vec3d(overlap.centroid) - sum / count), 0.02);
  }
}

TEST(Primitives, TheAreaNormalIsHowTheOverlapGrowsWhenTheFirstTetMoves) {
  RandomPoints random(14);
  int overlapping = 0;
  for (int i = 0; i < 500; ++i) {
    const TetPoints a{random.next(), random.next(), random.next(), random.next()};
    const TetPoints b{random.next(), random.next(), random.next(), random.next()};
    const TetOverlap overlap = intersect_tets(a, b);
    if (overlap.volume < 0.01) continue;
    ++overlapping;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      constexpr float kStep = 1.0f / 1024;
      TetPoints ahead = a, behind = a;
      for (Vec3& p : ahead) p[axis] += kStep;
      for (Vec3& p : behind) p[axis] -= kStep;
      const double growth = (intersect_tets(ahead, b).volume - intersect_tets(behind, b).volume) / (2 * kStep);
      EXPECT_NEAR(growth, overlap.area_normal[axis], 0.01);
    }
  }
  EXPECT_GT(overlapping, 20);
}

TEST(Primitives, OverlapOfTetsInKnownPositions) {
  const TetPoints a{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  EXPECT_NEAR(intersect_tets(a, a).volume, 1.0 / 6, 1e-12);  // itself, all faces in common
  EXPECT_LT(length(intersect_tets(a, a).centroid - Vec3{0.25f, 0.25f, 0.25f}), 1e-6f);
  TetPoints inner = a;
  for (Vec3& p : inner) p = 0.5f * p + Vec3{0.1f, 0.1f, 0.1f};
  EXPECT_NEAR(intersect_tets(a, inner).volume, 1.0 / 48, 1e-8);
  EXPECT_NEAR(intersect_tets(inner, a).volume, 1.0 / 48, 1e-8);
  EXPECT_LT(length(intersect_tets(a, inner).area_normal), 1e-6f);
  TetPoints corner = a;  // shares three planes
  for (Vec3& p : corner) p = 0.5f * p;
  EXPECT_NEAR(intersect_tets(a, corner).volume, 1.0 / 48, 1e-12);
  TetPoints shifted = a;  // a slice of a: the corner at (0.5, 0, 0) that is left has half its size
  for (Vec3& p : shifted) p += {0.5f, 0, 0};
  EXPECT_NEAR(intersect_tets(a, shifted).volume, 1.0 / 48, 1e-12);
  const Vec3 n = intersect_tets(a, shifted).area_normal;
  EXPECT_NEAR(n.x, 0.125f, 1e-6);  // the slanted face of a, of half size, without the parts where both have a face
}

TEST(Primitives, TetsThatOnlyTouchHaveNoVolumeInCommon) {
  const TetPoints a{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const TetPoints below{{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, -1}}};
  EXPECT_EQ(intersect_tets(a, below).volume, 0);
  EXPECT_TRUE(tets_overlap(a, below));
  TetPoints far = a;
  for (Vec3& p : far) p += {0, 0, 1};
  EXPECT_EQ(intersect_tets(a, far).volume, 0);
  EXPECT_TRUE(tets_overlap(a, far));
  for (Vec3& p : far) p += {0, 0, 0.001f};
  EXPECT_FALSE(tets_overlap(a, far));
}

TEST(Primitives, LatticeTetsGiveSaneNumbers) {
  RandomPoints random(13);
  int overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    TetPoints a, b;
    for (Vec3& p : a) p = random.next_on_lattice();
    for (Vec3& p : b) p = random.next_on_lattice();
    const TetOverlap overlap = intersect_tets(a, b), reverse = intersect_tets(b, a);
    ASSERT_TRUE(std::isfinite(overlap.volume) && is_finite(overlap.centroid) && is_finite(overlap.area_normal));
    ASSERT_NEAR(overlap.volume, reverse.volume, 1e-12);
    if (overlap.volume < 1e-9) continue;
    ++overlapping;
    EXPECT_TRUE(tets_overlap(a, b));
    EXPECT_TRUE(is_inside(a, Vec3d(overlap.centroid)) && is_inside(b, Vec3d(overlap.centroid)));
    const double volume_a = std::abs(six_volumes(Vec3d(a[0]), Vec3d(a[1]), Vec3d(a[2]), Vec3d(a[3]))) / 6;
    EXPECT_LE(overlap.volume, volume_a + 1e-12);
  }
  EXPECT_GT(overlapping, 1000);
}

TEST(Primitives, FlatTetsNeverGiveNan) {
  const TetPoints flat{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}},
      point{{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
  const TetPoints body{{{-1, -1, -1}, {3, 0, 0}, {0, 3, 0}, {0, 0, 3}}};
  for (const TetPoints& t : {flat, point}) {
    EXPECT_EQ(intersect_tets(t, body).volume, 0);
    EXPECT_EQ(intersect_tets(body, t).volume, 0);
    EXPECT_TRUE(tets_overlap(t, body));
  }
  EXPECT_FALSE(tets_overlap(flat, {{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}}}));
  EXPECT_TRUE(tets_overlap(flat, {{{0.5f, 0.5f, -1}, {0.5f, 0.5f, 1}, {2, 2, 1}, {2, 2, -1}}}));
}

}  // namespace
}  // namespace pliant
