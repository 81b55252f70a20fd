#include "solve/load_paths.h"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace pliant {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
using Pair = LoadPaths::Pair;

/// The heaviest that hangs together with `from` when `without` is taken away, by flooding.
double reach(std::uint32_t from, std::uint32_t without, const std::vector<double>& masses,
             const std::vector<Pair>& touching) {
  std::vector<bool> seen(masses.size());
  seen[from] = true;
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [a, b] : touching) {
      if (a == without || b == without || seen[a] == seen[b]) continue;
      seen[a] = seen[b] = grew = true;
    }
  }
  double heaviest = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    if (seen[i]) heaviest = std::max(heaviest, masses[i]);
  }
  return heaviest;
}

TEST(LoadPaths, ASmallBodyOnALargeOneIsSmall) {
  LoadPaths paths;
  paths.find(std::vector<double>{2, kEndless}, std::vector<Pair>{{0, 1}});
  EXPECT_EQ(paths.load(0), 2);
}

TEST(LoadPaths, AHeavyBodyPressesThroughLightOnes) {
  // 1000 kg on 1 kg on 2 kg on a slab that stands.
  LoadPaths paths;
  paths.find(std::vector<double>{1000, 1, 2, kEndless}, std::vector<Pair>{{2, 3}, {0, 1}, {1, 2}});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(paths.load(i), 1000) << i;
}

TEST(LoadPaths, AgreesWithFloodingOnRandomGraphs) {
  std::mt19937 random(7);
  LoadPaths paths;
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t count = 2 + random() % 30;
    std::vector<double> masses(count);
    for (double& mass : masses) mass = random() % 8 == 0 ? kEndless : 1 + random() % 20;
    std::vector<Pair> touching;
    for (std::uint32_t i = random() % (2 * count) + 1; i-- > 0;) {
      const std::uint32_t a = random() % count, b = random() % count;
      const Pair pair{std::min(a, b), std::max(a, b)};
      if (a != b && std::find(touching.begin(), touching.end(), pair) == touching.end()) touching.push_back(pair);
    }
    paths.find(masses, touching);
    for (std::size_t i = 0; i < touching.size(); ++i) {
      const auto [a, b] = touching[i];
      EXPECT_EQ(paths.load(i), std::min(reach(a, b, masses, touching), reach(b, a, masses, touching)));
    }
  }
}

}  // namespace
}  // namespace pliant
