// Cloth sewn of woven panels: its lattices, seams and yarns, against counts and areas by hand.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "particle/particle_model.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

ParticleModel woven(TriMesh mesh, float cell, bool uses_uvs = false) {
  ClothDef def{.shape = ClothWeave{.mesh = std::move(mesh), .cell = cell, .uses_uvs = uses_uvs}};
  def.material.density = 0.3f;
  return build_model(def);
}

double mass_of(const ParticleModel& model) {
  double sum = 0;
  for (const float mass : model.masses) sum += static_cast<double>(mass);
  return sum;
}

/// All segments are as long as the nodes are apart, but for `slack` of a cell, and no two nodes are in one place.
void expect_sound(const ParticleModel& model, float cell, float slack) {
  std::set<std::array<long, 3>> places;
  for (const Vec3 x : model.rest) {
    const auto round = [&](float v) { return std::lround(v / (0.01f * cell)); };
    EXPECT_TRUE(places.insert({round(x.x), round(x.y), round(x.z)}).second);
  }
  for (const ChainLine& line : model.lines) {
    ASSERT_EQ(line.lengths.size() + 1, line.nodes.size());
    std::set<std::uint32_t> once(line.nodes.begin(), line.nodes.end());
    EXPECT_EQ(once.size(), line.nodes.size() - (line.is_closed() ? 1 : 0));
    for (std::size_t i = 0; i < line.lengths.size(); ++i) {
      EXPECT_NEAR(length(model.rest[line.nodes[i + 1]] - model.rest[line.nodes[i]]), line.lengths[i], slack * cell);
    }
  }
  for (const float mass : model.masses) EXPECT_GT(mass, 0);
}

/// A rectangle of 1 m by 0.6 m in irregular triangles.
TriMesh irregular() {
  TriMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 0, 0.6f}, {0, 0, 0.6f}, {0.37f, 0, 0.21f}, {0.81f, 0, 0.43f}};
  mesh.faces = {{0, 4, 1}, {1, 4, 5}, {1, 5, 2}, {2, 5, 3}, {3, 5, 4}, {3, 4, 0}};
  return mesh;
}

TEST(Weave, ARectangleIsASheetHoweverItIsMeshed) {
  const ParticleModel model = woven(irregular(), 0.1f);
  EXPECT_EQ(model.rest.size(), 11u * 7);
  EXPECT_EQ(model.lines.size(), 11u + 7);
  EXPECT_EQ(model.faces.size(), 2u * 60);
  EXPECT_EQ(model.springs.size(), 2u * 60);
  EXPECT_NEAR(mass_of(model), 0.3 * 0.6, 1e-5);
  expect_sound(model, 0.1f, 1e-3f);
  // It faces the way of the mesh.
  for (const Face& f : model.faces) {
    const Vec3 a = model.rest[f[0]];
    EXPECT_GT(cross(model.rest[f[1]] - a, model.rest[f[2]] - a).y, 0);
  }
}

TEST(Weave, TheOutlineIsCutOutOfTheLattice) {
  TriMesh disc;
  disc.vertices.push_back({});
  constexpr int kSides = 40;
  for (int i = 0; i < kSides; ++i) {
    const float angle = 2 * kPi * static_cast<float>(i) / kSides;
    disc.vertices.push_back({std::cos(angle), 0, -std::sin(angle)});
    disc.faces.push_back({0, static_cast<std::uint32_t>(i + 1), static_cast<std::uint32_t>((i + 1) % kSides + 1)});
  }
  const ParticleModel model = woven(disc, 0.1f);
  EXPECT_NEAR(mass_of(model), 0.3 * 0.5 * kSides * std::sin(2 * 3.14159265 / kSides), 1e-4);
  for (const Vec3 x : model.rest) EXPECT_LT(length(x), 1.1f);
  expect_sound(model, 0.1f, 1e-3f);
}

TEST(Weave, FlatPartsOfAMeshAreSewnTogether) {
  // The sides and the bottom of a box: 5 panels of 4 x 4 cells, whose rims have their nodes in common.
  TriMesh box = tri_box({1, 1, 1}, 1, 1, 1);
  std::erase_if(box.faces, [&](const Face& f) {
    return box.vertices[f[0]].y > 0.4f && box.vertices[f[1]].y > 0.4f && box.vertices[f[2]].y > 0.4f;
  });
  const ParticleModel model = woven(box, 0.25f);
  EXPECT_EQ(model.rest.size(), 16u * 5 + 9);  // four sides around at five heights, and the inside of the bottom
  EXPECT_EQ(model.faces.size(), 2u * 16 * 5);
  EXPECT_NEAR(mass_of(model), 0.3 * 5, 1e-4);
  expect_sound(model, 0.25f, 1e-3f);
}

TEST(Weave, ATubeOfOnePanelHasRings) {
  // A rectangle of 24 cells by 5 whose ends are sewn together, by its texture coordinates.
  TriMesh tube;
  constexpr int kSides = 24;
  const float radius = 0.5f, side = 2 * radius * std::sin(kPi / kSides);
  for (int i = 0; i <= kSides; ++i) {
    const float angle = 2 * kPi * static_cast<float>(i % kSides) / kSides;
    for (int k = 0; k < 2; ++k) {
      tube.vertices.push_back({radius * std::cos(angle), static_cast<float>(k), radius * std::sin(angle)});
      tube.uvs.push_back({static_cast<float>(i) * side, static_cast<float>(k)});
    }
    if (i == 0) continue;
    const auto n = static_cast<std::uint32_t>(2 * i);
    tube.faces.push_back({n - 2, n, n + 1}), tube.faces.push_back({n - 2, n + 1, n - 1});
  }
  const ParticleModel model = woven(tube, 0.2f, true);
  const std::size_t around = static_cast<std::size_t>(std::lround(kSides * side / 0.2f));
  EXPECT_EQ(model.rest.size(), around * 6);
  EXPECT_EQ(std::count_if(model.lines.begin(), model.lines.end(), [](const ChainLine& l) { return l.is_closed(); }), 6);
  EXPECT_EQ(model.lines.size(), around + 6);
  EXPECT_NEAR(mass_of(model), 0.3 * kSides * static_cast<double>(side), 1e-4);
  expect_sound(model, 0.2f, 0.06f);
}

}  // namespace
}  // namespace pliant
