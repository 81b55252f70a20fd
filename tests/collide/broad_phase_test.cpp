#include "collide/broad_phase.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "counting_allocator.h"

namespace pliant {
namespace {

constexpr float kEndless = std::numeric_limits<float>::infinity();

std::vector<ProxyPair> brute_force(const std::vector<Aabb>& boxes, const std::vector<BroadPhaseProxy>& proxies) {
  std::vector<ProxyPair> pairs;
  for (std::uint32_t i = 0; i < boxes.size(); ++i) {
    for (std::uint32_t j = i + 1; j < boxes.size(); ++j) {
      const auto &a = proxies[i], &b = proxies[j];
      if (!a.is_active || !b.is_active || boxes[i].is_empty() || boxes[j].is_empty()) continue;
      if (a.is_static && b.is_static) continue;
      if (!(a.filter.category & b.filter.mask) || !(b.filter.category & a.filter.mask)) continue;
      if (boxes[i].overlaps(boxes[j])) pairs.push_back({i, j});
    }
  }
  return pairs;
}

std::vector<ProxyPair> as_vector(std::span<const ProxyPair> pairs) { return {pairs.begin(), pairs.end()}; }

Aabb cube(Vec3 center, float size) {
  return {center - Vec3{size / 2, size / 2, size / 2}, center + Vec3{size / 2, size / 2, size / 2}};
}

/// Bodies that drift about, appear, vanish, turn static and endless.
class Crowd {
 public:
  explicit Crowd(std::size_t slots) : boxes(slots), proxies(slots), random_(1) {
    for (std::size_t i = 0; i < slots; ++i) spawn(i);
  }
  void step() {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (proxies[i].is_static) continue;
      const Vec3 move{normal_(random_), normal_(random_), normal_(random_)};
      boxes[i] = {boxes[i].lower + 0.05f * move, boxes[i].upper + 0.05f * move};
    }
    for (int k = 0; k < 3; ++k) {
      const std::size_t i = random_() % boxes.size();
      proxies[i].is_active ? void(proxies[i].is_active = false) : spawn(i);
    }
  }
  void spawn(std::size_t i) {
    const Vec3 p{2 * normal_(random_), 2 * normal_(random_), 2 * normal_(random_)};
    boxes[i] = cube(p, 0.2f + 0.2f * std::abs(normal_(random_)));
    proxies[i] = {};
    proxies[i].is_static = random_() % 4 == 0;
    if (random_() % 6 == 0) proxies[i].filter = {2, 0x0003};
    if (random_() % 6 == 0) proxies[i].filter = {4, 0x0001};
    if (random_() % 60 == 0) boxes[i] = {{-kEndless, p.y - 1, -kEndless}, {kEndless, p.y, kEndless}};
    if (random_() % 60 == 0) boxes[i] = Aabb{};
    if (random_() % 60 == 0) boxes[i].lower.y = std::numeric_limits<float>::quiet_NaN();
  }

  std::vector<Aabb> boxes;
  std::vector<BroadPhaseProxy> proxies;

 private:
  std::mt19937 random_;
  std::normal_distribution<float> normal_;
};

TEST(BroadPhase, MatchesBruteForceWhileBodiesMoveComeAndGo) {
  Crowd crowd(400);
  BroadPhase broad_phase;
  std::size_t total = 0;
  for (int step = 0; step < 200; ++step) {
    const auto pairs = as_vector(broad_phase.update(crowd.boxes, crowd.proxies));
    ASSERT_EQ(pairs, brute_force(crowd.boxes, crowd.proxies)) << "step " << step;
    EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
    total += pairs.size();
    crowd.step();
  }
  EXPECT_GT(total, 20000u);
}

TEST(BroadPhase, DoesNotRememberTheWayItCame) {
  Crowd crowd(200);
  BroadPhase old;
  for (int step = 0; step < 50; ++step) {
    old.update(crowd.boxes, crowd.proxies);
    crowd.step();
  }
  BroadPhase fresh;
  EXPECT_EQ(as_vector(old.update(crowd.boxes, crowd.proxies)), as_vector(fresh.update(crowd.boxes, crowd.proxies)));
}

TEST(BroadPhase, SlotsMayShrinkAndGrowAgain) {
  Crowd crowd(100);
  BroadPhase broad_phase;
  for (const std::size_t count : {100u, 30u, 100u, 0u, 7u, 100u}) {
    const std::vector<Aabb> boxes(crowd.boxes.begin(), crowd.boxes.begin() + std::ptrdiff_t(count));
    const std::vector<BroadPhaseProxy> proxies(crowd.proxies.begin(), crowd.proxies.begin() + std::ptrdiff_t(count));
    EXPECT_EQ(as_vector(broad_phase.update(boxes, proxies)), brute_force(boxes, proxies));
  }
}

TEST(BroadPhase, StaticPairsAreNeverReported) {
  const std::vector<Aabb> boxes(50, cube({0, 0, 0}, 1));
  std::vector<BroadPhaseProxy> proxies(50);
  for (auto& p : proxies) p.is_static = true;
  BroadPhase broad_phase;
  EXPECT_TRUE(broad_phase.update(boxes, proxies).empty());
  proxies[7].is_static = false;
  EXPECT_EQ(broad_phase.update(boxes, proxies).size(), 49u);
}

TEST(BroadPhase, EndlessProxiesMeetEverythingTheyReach) {
  std::vector<Aabb> boxes{{{-kEndless, -kEndless, -kEndless}, {kEndless, 0, kEndless}},
                          cube({0, 0.2f, 0}, 1),
                          cube({0, 2, 0}, 1),
                          Aabb{},
                          {{-kEndless, -kEndless, -kEndless}, {kEndless, kEndless, 0}}};
  std::vector<BroadPhaseProxy> proxies(5);
  BroadPhase broad_phase;
  EXPECT_EQ(as_vector(broad_phase.update(boxes, proxies)), (std::vector<ProxyPair>{{0, 1}, {0, 4}, {1, 4}, {2, 4}}));
  proxies[0].is_static = proxies[4].is_static = true;
  EXPECT_EQ(as_vector(broad_phase.update(boxes, proxies)), (std::vector<ProxyPair>{{0, 1}, {1, 4}, {2, 4}}));
}

TEST(BroadPhase, BoxQueriesMatchBruteForce) {
  Crowd crowd(300);
  BroadPhase broad_phase;
  for (int step = 0; step < 20; ++step) {
    broad_phase.update(crowd.boxes, crowd.proxies);
    const Aabb probe = cube({0.1f * float(step) - 1, 0, 0.5f}, 1.5f);
    std::set<std::uint32_t> expected, found;
    for (std::uint32_t i = 0; i < crowd.boxes.size(); ++i) {
      if (crowd.proxies[i].is_active && !crowd.boxes[i].is_empty() && crowd.boxes[i].overlaps(probe))
        expected.insert(i);
    }
    broad_phase.for_each_overlap(probe, [&](std::uint32_t slot) { EXPECT_TRUE(found.insert(slot).second); });
    EXPECT_EQ(found, expected);
    crowd.step();
  }
}

TEST(BroadPhase, RaysMeetTheBoxesInTheirWay) {
  std::vector<Aabb> boxes;
  for (int i = 0; i < 30; ++i) boxes.push_back(cube({float(i), 0, 0}, 0.5f));
  boxes.push_back({{-kEndless, -kEndless, -kEndless}, {kEndless, -1, kEndless}});
  const std::vector<BroadPhaseProxy> proxies(boxes.size());
  BroadPhase broad_phase;
  broad_phase.update(boxes, proxies);
  std::set<std::uint32_t> met;
  const auto visit = [&](std::uint32_t slot, float t) { return met.insert(slot), t; };
  broad_phase.cast_ray({-5, 0, 0}, {1, 0, 0}, 10, visit);
  EXPECT_EQ(met, (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  met.clear();
  broad_phase.cast_ray({3, 5, 0}, {0, -1, 0}, 100, visit);
  EXPECT_EQ(met, (std::set<std::uint32_t>{3, 30}));
  met.clear();
  // A visitor that hits shortens the ray for all that come later.
  broad_phase.cast_ray({-5, 0, 0}, {1, 0, 0}, 100, [&](std::uint32_t slot, float t) {
    met.insert(slot);
    return std::min(t, boxes[slot].lower.x + 5);
  });
  EXPECT_TRUE(met.count(0));
  EXPECT_LT(met.size(), 10u);
}

/// Unit boxes in a loose heap, jostled a little each step.
std::vector<Aabb> heap(std::size_t count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> jitter(-0.1f, 0.1f);
  const int side = std::max(1, int(std::lround(std::cbrt(double(count)))));
  std::vector<Aabb> boxes;
  for (std::size_t i = 0; i < count; ++i) {
    const int x = int(i) % side, y = int(i) / side % side, z = int(i) / side / side;
    const Vec3 p{float(x) + jitter(random), float(y) + jitter(random), float(z) + jitter(random)};
    boxes.push_back(cube(p, 1));
  }
  std::shuffle(boxes.begin(), boxes.end(), random);
  return boxes;
}

void jostle(std::vector<Aabb>& boxes, std::mt19937& random) {
  std::uniform_real_distribution<float> jitter(-0.01f, 0.01f);
  for (Aabb& box : boxes) {
    const Vec3 move{jitter(random), jitter(random), jitter(random)};
    box = {box.lower + move, box.upper + move};
  }
}

TEST(BroadPhase, AllocatesNothingAfterWarmUp) {
  auto boxes = heap(1000);
  const std::vector<BroadPhaseProxy> proxies(boxes.size());
  BroadPhase broad_phase;
  std::mt19937 random(4);
  auto dense = boxes;  // more pairs than any later step has
  for (Aabb& box : dense) box = box.expanded(0.2f);
  for (int i = 0; i < 3; ++i) broad_phase.update(dense, proxies);
  broad_phase.update(boxes, proxies);
  const std::size_t before = allocation_count();
  for (int step = 0; step < 50; ++step) {
    jostle(boxes, random);
    if (step % 10 == 9) std::shuffle(boxes.begin(), boxes.end(), random);  // everything elsewhere: forces a rebuild
    broad_phase.update(boxes, proxies);
    broad_phase.for_each_overlap(boxes[0], [](std::uint32_t) {});
  }
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace pliant
