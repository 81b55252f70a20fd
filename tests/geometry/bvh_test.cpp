#include "geometry/bvh.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::vector<Aabb> random_boxes(std::size_t count, unsigned seed, float size = 0.1f) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> place(-1, 1), extent(0, size);
  std::vector<Aabb> boxes(count);
  for (Aabb& box : boxes) {
    const Vec3 p{place(random), place(random), place(random)};
    box = {p, p + Vec3{extent(random), extent(random), extent(random)}};
  }
  return boxes;
}

Pairs brute_self_pairs(const std::vector<Aabb>& boxes) {
  Pairs pairs;
  for (std::uint32_t i = 0; i < boxes.size(); ++i) {
    for (std::uint32_t j = i + 1; j < boxes.size(); ++j) {
      if (boxes[i].overlaps(boxes[j])) pairs.push_back({i, j});
    }
  }
  return pairs;
}

Pairs self_pairs(const Bvh& bvh) {
  Pairs pairs;
  bvh.for_each_self_pair([&](std::uint32_t i, std::uint32_t j) {
    EXPECT_LT(i, j);
    pairs.push_back({i, j});
  });
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::vector<std::uint32_t> overlaps(const Bvh& bvh, const Aabb& box) {
  std::vector<std::uint32_t> items;
  bvh.for_each_overlap(box, [&](std::uint32_t i) { items.push_back(i); });
  std::sort(items.begin(), items.end());
  return items;
}

std::vector<std::uint32_t> brute_overlaps(const std::vector<Aabb>& boxes, const Aabb& box) {
  std::vector<std::uint32_t> items;
  for (std::uint32_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].overlaps(box)) items.push_back(i);
  }
  return items;
}

double squared_distance(const Aabb& box, Vec3 p) {
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double d = std::max({double(box.lower[a]) - p[a], double(p[a]) - box.upper[a], 0.0});
    sum += d * d;
  }
  return sum;
}

/// Everything a tree can be asked, against looking at every box.
void expect_matches_brute_force(const Bvh& bvh, const std::vector<Aabb>& boxes) {
  ASSERT_EQ(bvh.size(), boxes.size());
  EXPECT_EQ(self_pairs(bvh), brute_self_pairs(boxes));
  for (const Aabb& probe : random_boxes(20, 99, 0.5f)) EXPECT_EQ(overlaps(bvh, probe), brute_overlaps(boxes, probe));
  for (const Aabb& probe : random_boxes(20, 17)) {
    float best = 1e30f;
    bvh.find_closest(probe.lower, best, [&](std::uint32_t i, float d) {
      return best = std::min(d, float(squared_distance(boxes[i], probe.lower)));
    });
    float expected = 1e30f;
    for (const Aabb& box : boxes) {
      if (!box.is_empty()) expected = std::min(expected, float(squared_distance(box, probe.lower)));
    }
    EXPECT_EQ(best, expected);
  }
}

TEST(Bvh, MatchesBruteForceOnRandomBoxes) {
  for (const std::size_t count : {1, 2, 3, 4, 5, 17, 100, 1000}) {
    const auto boxes = random_boxes(count, unsigned(count));
    Bvh bvh;
    bvh.build(boxes);
    expect_matches_brute_force(bvh, boxes);
  }
}

TEST(Bvh, MatchesBruteForceOnDegenerateBoxes) {
  std::vector<std::vector<Aabb>> cases;
  cases.push_back({});
  cases.push_back(std::vector<Aabb>(300, Aabb{{0, 0, 0}, {1, 1, 1}}));  // all equal
  cases.push_back(std::vector<Aabb>(50, Aabb{{1, 2, 3}, {1, 2, 3}}));   // all one point
  auto flat = random_boxes(300, 4);
  for (Aabb& box : flat) box.lower.y = box.upper.y = 0;
  cases.push_back(flat);
  std::vector<Aabb> geometric;  // sizes and places over 60 powers of two: the heuristic wants a degenerate tree
  for (int i = 0; i < 120; ++i) {
    const float x = std::ldexp(1.0f, i - 60);
    geometric.push_back({{x, x, x}, {1.5f * x, 1.5f * x, 1.5f * x}});
  }
  cases.push_back(geometric);
  auto with_empty = random_boxes(200, 6);
  for (std::size_t i = 0; i < with_empty.size(); i += 3) with_empty[i] = Aabb{};
  cases.push_back(with_empty);
  cases.push_back(std::vector<Aabb>(20, Aabb{}));
  auto huge = random_boxes(100, 8);
  for (std::size_t i = 0; i < huge.size(); i += 2) huge[i] = {{-3e38f, -3e38f, -3e38f}, {3e38f, 3e38f, 3e38f}};
  cases.push_back(huge);
  for (const auto& boxes : cases) {
    Bvh bvh;
    bvh.build(boxes);
    expect_matches_brute_force(bvh, boxes);
  }
}

TEST(Bvh, NeverFindsBoxesThatHoldANan) {
  auto boxes = random_boxes(100, 5, 2);
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  boxes[3].lower.x = nan;
  boxes[50].upper.z = nan;
  boxes[70] = Aabb{};
  Bvh bvh;
  bvh.build(boxes);
  std::set<std::uint32_t> found;
  bvh.for_each_overlap({{-inf, -inf, -inf}, {inf, inf, inf}}, [&](std::uint32_t i) { found.insert(i); });
  EXPECT_EQ(found.size(), 97u);
  for (const std::uint32_t i : {3, 50, 70}) EXPECT_FALSE(found.count(i));
  found.clear();
  bvh.find_closest({0, 0, 0}, inf, [&](std::uint32_t i, float d) { return found.insert(i), d; });
  EXPECT_EQ(found.size(), 97u);
}

TEST(Bvh, MatchesBruteForceAfterRefits) {
  auto boxes = random_boxes(500, 21);
  Bvh bvh;
  bvh.build(boxes);
  std::mt19937 random(22);
  std::normal_distribution<float> step(0, 0.1f);
  for (int round = 0; round < 20; ++round) {
    for (Aabb& box : boxes) {
      const Vec3 move{step(random), step(random), step(random)};
      box = {box.lower + move, box.upper + move};
    }
    bvh.refit(boxes);
    expect_matches_brute_force(bvh, boxes);
  }
}

TEST(Bvh, FindsPairsOfTwoTrees) {
  for (const std::size_t count : {0, 1, 5, 400}) {
    const auto a = random_boxes(300, 31), b = random_boxes(count, 32, 0.4f);
    Bvh tree_a, tree_b;
    tree_a.build(a);
    tree_b.build(b);
    Pairs expected, found;
    for (std::uint32_t i = 0; i < a.size(); ++i) {
      for (std::uint32_t j = 0; j < b.size(); ++j) {
        if (a[i].overlaps(b[j])) expected.push_back({i, j});
      }
    }
    tree_a.for_each_pair(tree_b, [&](std::uint32_t i, std::uint32_t j) { found.push_back({i, j}); });
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

/// Where a ray enters a box, in double; −1 if it misses.
double ray_entry(const Aabb& box, Vec3 o, Vec3 d, double t) {
  double enter = 0, leave = t;
  for (std::size_t a = 0; a < 3; ++a) {
    if (d[a] == 0) {
      if (o[a] < box.lower[a] || o[a] > box.upper[a]) return -1;
      continue;
    }
    const double t0 = (double(box.lower[a]) - o[a]) / d[a], t1 = (double(box.upper[a]) - o[a]) / d[a];
    enter = std::max(enter, std::min(t0, t1));
    leave = std::min(leave, std::max(t0, t1));
  }
  return enter <= leave ? enter : -1;
}

TEST(Bvh, RaysFindTheFirstBox) {
  const auto boxes = random_boxes(800, 41, 0.3f);
  Bvh bvh;
  bvh.build(boxes);
  std::mt19937 random(42);
  std::uniform_real_distribution<float> uniform(-1, 1);
  int hits = 0;
  for (int r = 0; r < 500; ++r) {
    const Vec3 o{3 * uniform(random), 3 * uniform(random), 3 * uniform(random)};
    Vec3 d = Vec3{uniform(random), uniform(random), uniform(random)} - 0.3f * o;
    if (r % 5 == 0) d = {r % 2 ? 1.0f : -1.0f, 0, 0};  // along an axis
    double expected = 10, found = 10;
    for (const Aabb& box : boxes) {
      const double t = ray_entry(box, o, d, 10);
      if (t >= 0) expected = std::min(expected, t);
    }
    bvh.cast_ray(o, d, 10, [&](std::uint32_t i, float t) {
      const double entry = ray_entry(boxes[i], o, d, t);
      if (entry >= 0) found = std::min(found, entry);
      return float(found);
    });
    EXPECT_NEAR(found, expected, 1e-5);
    hits += expected < 10;
  }
  EXPECT_GT(hits, 100);
}

TEST(Bvh, RaysAlongASideStillMeetIt) {
  Bvh bvh;
  const std::vector<Aabb> boxes{{{0, 0, 0}, {1, 1, 1}}, {{2, 0, 0}, {3, 0, 1}}};
  bvh.build(boxes);
  std::set<std::uint32_t> met;
  const auto visit = [&](std::uint32_t i, float t) { return met.insert(i), t; };
  bvh.cast_ray({-1, 0, 0}, {1, 0, 0}, 10, visit);
  EXPECT_EQ(met, (std::set<std::uint32_t>{0, 1}));
  met.clear();
  bvh.cast_ray({-1, 0, 0}, {0, 0, 0}, 10, visit);
  EXPECT_TRUE(met.empty());
  bvh.cast_ray({0.5f, 0.5f, 0.5f}, {0, 0, 0}, 10, visit);
  EXPECT_EQ(met, (std::set<std::uint32_t>{0}));
  met.clear();
  bvh.cast_ray({std::numeric_limits<float>::quiet_NaN(), 0, 0}, {1, 0, 0}, 10, visit);
  EXPECT_TRUE(met.empty());
  bvh.cast_ray({-1, 0.5f, 0.5f}, {1, 0, 0}, 0.5f, visit);  // too short
  EXPECT_TRUE(met.empty());
}

TEST(Bvh, TheKernelMatchesItsPlainTwin) {
  std::mt19937 random(61);
  std::uniform_int_distribution<int> place(-3, 3);  // few values, so that touching is common
  const float special[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity()};
  for (int round = 0; round < 5000; ++round) {
    Box8 boxes;
    const auto number = [&] { return random() % 50 == 0 ? special[random() % 3] : float(place(random)); };
    for (std::uint32_t i = 0; i < 8; ++i) {
      const Vec3 a{number(), number(), number()}, b{number(), number(), number()};
      boxes.set(i, min_each(a, b), max_each(a, b));
    }
    const Vec3 a{number(), number(), number()}, b{number(), number(), number()};
    const Vec3 lower = min_each(a, b), upper = max_each(a, b);
    ASSERT_EQ(overlap_mask(boxes, lower, upper), overlap_mask_scalar(boxes, lower, upper));
  }
}

TEST(Bvh, BuildsTheSameTreeTwice) {
  const auto boxes = random_boxes(1000, 51);
  Bvh a, b;
  b.build(random_boxes(10, 1));
  a.build(boxes);
  b.build(boxes);
  Pairs order_a, order_b;  // in the order of visits
  a.for_each_self_pair([&](std::uint32_t i, std::uint32_t j) { order_a.push_back({i, j}); });
  b.for_each_self_pair([&](std::uint32_t i, std::uint32_t j) { order_b.push_back({i, j}); });
  EXPECT_EQ(order_a, order_b);
}

}  // namespace
}  // namespace pliant
