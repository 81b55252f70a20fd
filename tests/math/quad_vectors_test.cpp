// Vectors of nodes as quads: what is stored by eights is read back one by one and in any order.
#include "math/quad_vectors.h"

#include <random>

#include <gtest/gtest.h>

#include "math/lane_vectors.h"

namespace pliant {
namespace {

TEST(QuadVectors, AreReadAsTheyWereStored) {
  constexpr std::uint32_t kNodes = 61, kGroups = 8;
  std::mt19937 random(3);
  std::uniform_real_distribution<float> any(-1, 1);
  std::uniform_int_distribution<std::uint32_t> node(0, kNodes - 1);
  LaneVectors wanted;
  wanted.assign(kNodes);
  for (std::uint32_t i = 0; i < kNodes; ++i) wanted.set(i, {any(random), any(random), any(random)});
  QuadVectors found;
  found.assign(kNodes);
  ASSERT_EQ(found.groups(), kGroups);
  for (std::size_t g = 0; g < kGroups; ++g) found.set_group(g, wanted.group(g));
  for (std::uint32_t i = 0; i < kNodes; ++i) EXPECT_EQ(found.get(i), wanted.get(i)) << i;
  for (int trial = 0; trial < 100; ++trial) {
    std::uint32_t nodes[kLanes];
    for (std::uint32_t& n : nodes) n = node(random);
    const LaneVec3<Float8> v = found.gather(nodes);
    for (std::size_t k = 0; k < kLanes; ++k) EXPECT_EQ((Vec3{v.x[k], v.y[k], v.z[k]}), wanted.get(nodes[k]));
  }
}

}  // namespace
}  // namespace pliant
