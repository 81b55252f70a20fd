// Splitting nodes, without any dynamics: what the rules promise, checked by counting.
#include "solid/fracture_topology.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "math/vec3d.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

struct Broken {
  explicit Broken(TetMesh m) : mesh(std::move(m)), topology(mesh.tets, static_cast<std::uint32_t>(mesh.nodes.size())) {}

  /// Splits a node by a plane through it.
  bool split(std::uint32_t node, Vec3 normal) {
    std::vector<std::uint8_t> above;
    for (const std::uint32_t corner : topology.star(node)) {
      Vec3 center;
      for (const std::uint32_t n : topology.tets()[corner / 4]) center += place(n) / 4;
      above.push_back(dot(center - place(node), normal) > 0 ? 1 : 0);
    }
    return topology.split(node, above);
  }
  Vec3 place(std::uint32_t node) const { return mesh.nodes[topology.origin(node)]; }
  TetMesh now() const {
    TetMesh out;
    for (std::uint32_t n = 0; n < topology.node_count(); ++n) out.nodes.push_back(place(n));
    out.tets.assign(topology.tets().begin(), topology.tets().end());
    return out;
  }

  TetMesh mesh;
  FractureTopology topology;
};

using FaceKey = std::array<std::uint32_t, 3>;

/// The tets at each face, found from scratch.
std::map<FaceKey, std::vector<std::uint32_t>> faces_of(std::span<const Tet> tets) {
  std::map<FaceKey, std::vector<std::uint32_t>> faces;
  for (std::uint32_t t = 0; t < tets.size(); ++t) {
    for (std::size_t c = 0; c < 4; ++c) {
      FaceKey key{};
      for (std::size_t k = 0, i = 0; k < 4; ++k) {
        if (k != c) key[i++] = tets[t][k];
      }
      std::sort(key.begin(), key.end());
      faces[key].push_back(t);
    }
  }
  return faces;
}

/// Sizes of the groups of `tets` that are joined by faces for which `counts(face)`.
template <typename Counts>
std::vector<std::size_t> groups_by_faces(const std::map<FaceKey, std::vector<std::uint32_t>>& faces,
                                         const std::set<std::uint32_t>& tets, Counts&& counts) {
  std::map<std::uint32_t, std::uint32_t> leader;
  for (const std::uint32_t t : tets) leader[t] = t;
  const auto find = [&](std::uint32_t t) {
    while (leader[t] != t) t = leader[t];
    return t;
  };
  for (const auto& [key, around] : faces) {
    if (around.size() == 2 && counts(key) && tets.count(around[0]) && tets.count(around[1])) {
      leader[find(around[0])] = find(around[1]);
    }
  }
  std::map<std::uint32_t, std::size_t> sizes;
  for (const std::uint32_t t : tets) ++sizes[find(t)];
  std::vector<std::size_t> out;
  for (const auto& [root, size] : sizes) out.push_back(size);
  return out;
}

void expect_sound(const Broken& b) {
  const auto tets = b.topology.tets();
  const auto faces = faces_of(tets);
  // Neighbours are those that share a face.
  for (std::uint32_t t = 0; t < tets.size(); ++t) {
    std::multiset<std::uint32_t> expected, found;
    for (std::uint32_t c = 0; c < 4; ++c) {
      if (b.topology.neighbour(4 * t + c) != FractureTopology::kNone) found.insert(b.topology.neighbour(4 * t + c));
    }
    for (const auto& [key, around] : faces) {
      if (around.size() == 2 && around[0] == t) expected.insert(around[1]);
      if (around.size() == 2 && around[1] == t) expected.insert(around[0]);
    }
    ASSERT_EQ(expected, found) << "tet " << t;
  }
  // No ball joints, no hinges: the tets at each node hang together by faces that hold it.
  std::map<std::uint32_t, std::set<std::uint32_t>> around;
  std::set<std::uint32_t> all;
  for (std::uint32_t t = 0; t < tets.size(); ++t) {
    all.insert(t);
    for (const std::uint32_t node : tets[t]) around[node].insert(t);
  }
  for (const auto& [node, star] : around) {
    const std::uint32_t n = node;
    const auto groups = groups_by_faces(
        faces, star, [&](const FaceKey& key) { return std::find(key.begin(), key.end(), n) != key.end(); });
    ASSERT_EQ(groups.size(), 1u) << "node " << node;
    ASSERT_EQ(b.topology.star(node).size(), star.size());
  }
  for (const std::size_t size : groups_by_faces(faces, all, [](const FaceKey&) { return true; })) ASSERT_GE(size, 3u);
  EXPECT_TRUE(validate(b.now()).empty());
  EXPECT_EQ(b.now().volume(), b.mesh.volume());
  EXPECT_EQ(tets.size(), b.mesh.tets.size());
}

TEST(FractureTopology, APlaneThroughARowOfNodesCutsABarInTwo) {
  Broken bar(tet_box({4, 1, 1}, 8, 2, 2));
  int splits = 0;
  for (std::uint32_t n = 0; n < bar.mesh.nodes.size(); ++n) {
    if (std::abs(bar.mesh.nodes[n].x) < 1e-5f) splits += bar.split(n, {1, 0, 0}) ? 1 : 0;
  }
  // Nine nodes lie in the plane; those whose faces all opened came apart with their neighbours.
  EXPECT_GT(splits, 3);
  const auto parts = bar.topology.parts();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].tets.size(), bar.mesh.tets.size() / 2);
  EXPECT_EQ(bar.topology.node_count(), bar.mesh.nodes.size() + 9);
  expect_sound(bar);
}

TEST(FractureTopology, RandomSplitsKeepEveryRule) {
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    Broken block(tet_box({1, 1, 1}, 4, 4, 4));
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    int done = 0;
    for (int i = 0; i < 400; ++i) {
      const auto node = static_cast<std::uint32_t>(random() % block.topology.node_count());
      done += block.split(node, {normal(random), normal(random), normal(random)}) ? 1 : 0;
    }
    EXPECT_GT(done, 40);
    expect_sound(block);
    std::size_t tets = 0, nodes = 0;
    for (const auto& part : block.topology.parts()) tets += part.tets.size(), nodes += part.nodes.size();
    EXPECT_EQ(tets, block.mesh.tets.size());
    EXPECT_EQ(nodes, block.topology.node_count());
    EXPECT_GT(block.topology.parts().size(), 5u);
  }
}

TEST(FractureTopology, ASplitThatWouldLeaveACrumbChangesNothing) {
  // Two tets that share a face can only come apart into single ones.
  TetMesh pair;
  pair.nodes = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  pair.tets = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  ASSERT_TRUE(validate(pair).empty());
  Broken b(pair);
  for (std::uint32_t n = 0; n < 5; ++n) EXPECT_FALSE(b.split(n, {1, 1, 1}));
  EXPECT_EQ(b.topology.node_count(), 5u);
  EXPECT_TRUE(std::equal(pair.tets.begin(), pair.tets.end(), b.topology.tets().begin()));
  EXPECT_EQ(b.topology.neighbour(0) == 1 || b.topology.neighbour(1) == 1 || b.topology.neighbour(2) == 1 ||
                b.topology.neighbour(3) == 1,
            true);
}

TEST(FractureTopology, APartAloneIsAsIfMadeFromItsTets) {
  Broken bar(tet_box({4, 1, 1}, 8, 2, 2));
  for (std::uint32_t n = 0; n < bar.mesh.nodes.size(); ++n) {
    if (std::abs(bar.mesh.nodes[n].x) < 1e-5f) bar.split(n, {1, 0, 0});
  }
  for (const auto& part : bar.topology.parts()) {
    const FractureTopology alone(bar.topology, part);
    const FractureTopology fresh(alone.tets(), alone.node_count());
    for (std::uint32_t c = 0; c < 4 * alone.tets().size(); ++c) ASSERT_EQ(alone.neighbour(c), fresh.neighbour(c));
    for (std::uint32_t n = 0; n < alone.node_count(); ++n) {
      ASSERT_TRUE(std::equal(alone.star(n).begin(), alone.star(n).end(), fresh.star(n).begin(), fresh.star(n).end()));
    }
  }
}

TEST(FractureTopology, TakesNoMemoryWhileItBreaks) {
  Broken block(tet_box({1, 1, 1}, 4, 4, 4));
  const std::size_t before = block.topology.bytes();
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 2000; ++i) {
    const auto node = static_cast<std::uint32_t>(random() % block.topology.node_count());
    block.split(node, {normal(random), normal(random), normal(random)});
  }
  EXPECT_EQ(block.topology.bytes(), before);
}

}  // namespace
}  // namespace pliant
