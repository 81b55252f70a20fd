// Islands against a flood fill, whatever the order of the links.
#include "solve/islands.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Links = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The islands of the members, found by following links.
std::vector<std::vector<std::uint32_t>> flood_fill(const std::vector<std::uint32_t>& members, const Links& links) {
  std::vector<std::vector<std::uint32_t>> islands;
  std::vector<std::uint32_t> left = members;
  while (!left.empty()) {
    std::vector<std::uint32_t> island{left.front()}, open = island;
    while (!open.empty()) {
      const std::uint32_t slot = open.back();
      open.pop_back();
      for (const auto& [a, b] : links) {
        if (a != slot && b != slot) continue;
        const std::uint32_t other = a == slot ? b : a;
        if (std::find(island.begin(), island.end(), other) == island.end()) {
          island.push_back(other);
          open.push_back(other);
        }
      }
    }
    std::sort(island.begin(), island.end());
    for (const std::uint32_t slot : island) left.erase(std::find(left.begin(), left.end(), slot));
    islands.push_back(island);
  }
  return islands;
}

std::vector<std::vector<std::uint32_t>> to_lists(const Islands& islands) {
  std::vector<std::vector<std::uint32_t>> lists;
  for (std::size_t i = 0; i < islands.count(); ++i)
    lists.emplace_back(islands.bodies(i).begin(), islands.bodies(i).end());
  return lists;
}

TEST(Islands, AgreeWithAFloodFillInAnyOrderOfLinks) {
  std::mt19937 random(11);
  Islands islands;
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t slots = 1 + random() % 60;
    std::vector<std::uint32_t> members;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      if (random() % 4) members.push_back(slot);
    }
    Links links;
    for (std::uint32_t i = 0; members.size() > 1 && i < random() % 60; ++i) {
      links.push_back({members[random() % members.size()], members[random() % members.size()]});
    }
    const auto expected = flood_fill(members, links);
    for (int order = 0; order < 3; ++order) {
      std::shuffle(links.begin(), links.end(), random);
      islands.reset(slots);
      for (const auto& [a, b] : links) islands.link(a, b);
      islands.finish(members);
      ASSERT_EQ(to_lists(islands), expected);
      for (std::uint32_t i = 0; i < islands.count(); ++i) {
        for (const std::uint32_t slot : islands.bodies(i)) EXPECT_EQ(islands.island_of(slot), i);
      }
    }
  }
}

TEST(Islands, NoMembersNoIslands) {
  Islands islands;
  islands.reset(0);
  islands.finish({});
  EXPECT_EQ(islands.count(), 0u);
}

}  // namespace
}  // namespace pliant
