#include "geometry/adjacency.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "pliant/generators.h"

namespace pliant {
namespace {

std::set<std::uint32_t> as_set(std::span<const std::uint32_t> row) { return {row.begin(), row.end()}; }

template <typename Element>
bool has(const Element& e, std::uint32_t i) {
  return std::find(e.begin(), e.end(), i) != e.end();
}

template <typename Elements>
void expect_rows_match(const Csr& csr, const Elements& elements, std::size_t nodes) {
  ASSERT_EQ(csr.size(), nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    std::set<std::uint32_t> expected;
    for (std::uint32_t e = 0; e < elements.size(); ++e) {
      if (has(elements[e], n)) expected.insert(e);
    }
    EXPECT_EQ(as_set(csr[n]), expected);
    EXPECT_EQ(csr[n].size(), expected.size());
    EXPECT_TRUE(std::is_sorted(csr[n].begin(), csr[n].end()));
  }
}

TEST(Adjacency, FacesAndTetsAroundEachNodeMatchASearch) {
  const TriMesh surface = tri_box({1, 1, 1}, 3, 2, 1);
  expect_rows_match(vertex_faces(surface.faces, surface.vertices.size()), surface.faces, surface.vertices.size());
  const TetMesh solid = tet_box({1, 1, 1}, 3, 2, 2);
  expect_rows_match(node_tets(solid.tets, solid.nodes.size()), solid.tets, solid.nodes.size());
}

template <typename Elements>
void expect_edges_match(const EdgeAdjacency& adjacency, const Elements& elements) {
  std::map<std::array<std::uint32_t, 2>, std::set<std::uint32_t>> expected;
  for (std::uint32_t e = 0; e < elements.size(); ++e) {
    for (const std::uint32_t i : elements[e]) {
      for (const std::uint32_t j : elements[e]) {
        if (i < j) expected[{i, j}].insert(e);
      }
    }
  }
  ASSERT_EQ(adjacency.edges.size(), expected.size());
  std::size_t row = 0;
  for (const auto& [edge, users] : expected) {
    EXPECT_EQ(adjacency.edges[row], edge);
    EXPECT_EQ(as_set(adjacency.elements[row]), users);
    EXPECT_EQ(adjacency.elements[row].size(), users.size());
    ++row;
  }
}

TEST(Adjacency, EdgesAreSortedAndKnowTheirElements) {
  const TriMesh surface = tri_torus(1, 0.3f, 8, 6);
  expect_edges_match(edge_faces(surface.faces, surface.vertices.size()), surface.faces);
  const TetMesh solid = tet_box({1, 1, 1}, 2, 3, 2);
  expect_edges_match(edge_tets(solid.tets, solid.nodes.size()), solid.tets);
}

TEST(Adjacency, FacesOfAClosedSurfaceHaveThreeNeighbours) {
  const TriMesh surface = tri_sphere(1, 12);
  const Csr neighbors = face_faces(surface.faces, surface.vertices.size());
  ASSERT_EQ(neighbors.size(), surface.faces.size());
  for (std::uint32_t f = 0; f < neighbors.size(); ++f) {
    ASSERT_EQ(neighbors[f].size(), 3u);
    for (const std::uint32_t g : neighbors[f]) {
      EXPECT_NE(f, g);
      int shared = 0;
      for (const std::uint32_t v : surface.faces[f]) shared += has(surface.faces[g], v);
      EXPECT_EQ(shared, 2);
    }
  }
}

TEST(Adjacency, TwoFacesThatShareTwoEdgesAreNeighboursOnce) {
  const std::vector<Face> faces{{0, 1, 2}, {0, 2, 1}};
  const Csr neighbors = face_faces(faces, 3);
  EXPECT_EQ(as_set(neighbors[0]), (std::set<std::uint32_t>{1}));
  EXPECT_EQ(neighbors[0].size(), 1u);
}

TEST(Adjacency, TetsKnowTheTetAcrossEachFace) {
  const TetMesh solid = tet_box({1, 1, 1}, 2, 2, 3);
  const auto across = tet_tets(solid.tets, solid.nodes.size());
  std::size_t outer = 0;
  for (std::uint32_t t = 0; t < across.size(); ++t) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t u = across[t][i];
      if (u == kNoNeighbor) {
        ++outer;
        continue;
      }
      EXPECT_FALSE(has(solid.tets[u], solid.tets[t][i]));
      for (std::size_t j = 0; j < 4; ++j) {
        if (j == i) continue;
        EXPECT_TRUE(has(solid.tets[u], solid.tets[t][j]));
      }
      EXPECT_TRUE(has(across[u], t));
    }
  }
  EXPECT_EQ(outer, 2u * (2 * 2 * 2 + 2 * 3 * 2 + 3 * 2 * 2));
}

TEST(Adjacency, BrokenElementsAreLeftOut) {
  const std::vector<Tet> tets{{0, 1, 2, 3}, {0, 1, 2, 99}, {1, 1, 2, 3}};
  const Csr rows = node_tets(tets, 4);
  EXPECT_EQ(as_set(rows[0]), (std::set<std::uint32_t>{0}));
  EXPECT_EQ(rows[1].size(), 2u);
  EXPECT_EQ(edge_tets(tets, 4).edges.size(), 6u);
  EXPECT_EQ(tet_tets(tets, 4)[1][0], kNoNeighbor);
  EXPECT_EQ(node_tets({}, 0).size(), 0u);
}

}  // namespace
}  // namespace pliant
