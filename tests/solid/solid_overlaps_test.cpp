// Overlaps of solids, tet by tet, against what boxes have in common.
#include "solid/solid_overlaps.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/generators.h"

namespace pliant {
namespace {

/// A box of tets that is moved as a whole.
struct BoxOfTets {
  TetMesh mesh;
  std::vector<Face> faces;
  std::vector<Vec3> x, v;

  BoxOfTets(Vec3 size, int cells, Vec3 at, Vec3 velocity = {}) : mesh(tet_box(size, cells, cells, cells)) {
    std::vector<std::uint32_t> nodes;
    for (const Face& face : extract_surface(mesh, &nodes).faces) {
      faces.push_back({nodes[face[0]], nodes[face[1]], nodes[face[2]]});
    }
    for (const Vec3 p : mesh.nodes) x.push_back(p + at), v.push_back(velocity);
  }
  BodySurface surface(std::uint32_t index) const {
    return {
        .id = {index, 1}, .revision = index + 1, .faces = faces, .tets = mesh.tets, .rest = mesh.nodes, .x = x, .v = v};
  }
};

TEST(SolidOverlaps, VolumesAndAreasAddUpToThoseOfTheBoxes) {
  Workers workers{2};
  const BoxOfTets a({1, 1, 1}, 2, {}), b({1, 1, 1}, 2, {0.3f, 0.96f, -0.2f});
  const std::vector<BodySurface> solids{a.surface(0), b.surface(1)};
  SolidOverlaps overlaps;
  double volume = 0;
  Vec3 area, center;
  for (const SolidOverlap& overlap : overlaps.find(solids, workers)) {
    volume += double(overlap.volume);
    area += overlap.normal * overlap.area;
    center += overlap.point * overlap.volume;
    EXPECT_NEAR(length(overlap.normal), 1, 1e-5f);
    // Both sides carry the same point.
    Vec3 of_a, of_b;
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_GE(overlap.a.weights[k], -1e-4f);
      of_a += a.x[overlap.a.nodes[k]] * overlap.a.weights[k], of_b += b.x[overlap.b.nodes[k]] * overlap.b.weights[k];
    }
    EXPECT_LT(length(of_a - overlap.point), 1e-5f);
    EXPECT_LT(length(of_b - overlap.point), 1e-5f);
  }
  EXPECT_NEAR(volume, 0.7 * 0.04 * 0.8, 1e-6);
  // The normals of all faces of a that lie within b: its upper side there, and strips of two others.
  EXPECT_NEAR(area.y, -0.7f * 0.8f, 1e-4f);
  EXPECT_NEAR(area.x, -0.04f * 0.8f, 1e-4f);
  EXPECT_NEAR(area.z, 0.04f * 0.7f, 1e-4f);
  EXPECT_LT(length(center / float(volume) - Vec3{0.15f, 0.48f, -0.1f}), 1e-4f);
}

TEST(SolidOverlaps, BodiesApartFilteredOrAsleepDoNot) {
  Workers workers{1};
  const BoxOfTets a({1, 1, 1}, 2, {}), b({1, 1, 1}, 2, {0, 1.01f, 0}), c({1, 1, 1}, 2, {0, 0.9f, 0});
  SolidOverlaps overlaps;
  EXPECT_TRUE(overlaps.find(std::vector{a.surface(0), b.surface(1)}, workers).empty());
  BodySurface first = a.surface(0), second = c.surface(1);
  EXPECT_FALSE(overlaps.find(std::vector{first, second}, workers).empty());
  first.filter.mask = 0;
  EXPECT_TRUE(overlaps.find(std::vector{first, second}, workers).empty());
  first.filter.mask = 0xffff, first.is_active = false;
  EXPECT_FALSE(overlaps.find(std::vector{first, second}, workers).empty());
  second.is_active = false;
  EXPECT_TRUE(overlaps.find(std::vector{first, second}, workers).empty());
}

TEST(SolidOverlaps, ABodyAtRestHasNoneWithItself) {
  Workers workers{1};
  const BoxOfTets a({1, 1, 1}, 3, {});
  BodySurface solid = a.surface(0);
  solid.self_collision = true;
  SolidOverlaps overlaps;
  EXPECT_TRUE(overlaps.find(std::vector{solid}, workers).empty());
}

TEST(SolidOverlaps, FastBodiesAreStoppedWithinASixthOfTheirSize) {
  Workers workers{1};
  SolidOverlaps overlaps;
  const float dt = 0.1f, size = 0.6f, diagonal = size * std::sqrt(3.0f);
  for (const float speed : {1.0f, 30.0f, 100.0f, 900.0f}) {
    const BoxOfTets wall({4, 4, 0.2f}, 4, {}), cube({size, size, size}, 2, {0, 0, 2}, {0, 0, -speed});
    const std::vector<BodySurface> solids{wall.surface(0), cube.surface(1)};
    overlaps.find(solids, workers);
    EXPECT_EQ(overlaps.free_share(solids, 0, dt), 1);
    const float share = overlaps.free_share(solids, 1, dt);
    const float reach = 2 - 0.5f * size - 0.1f, way = share * dt * speed;
    if (speed * dt < reach) {
      EXPECT_EQ(share, 1) << speed;
    } else {
      EXPECT_GT(way, reach) << speed;
      EXPECT_LT(way, reach + diagonal / 6) << speed;
    }
  }
}

}  // namespace
}  // namespace pliant
