#include "embed/surface_normals.h"

#include <limits>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/shapes.h"

namespace pliant {
namespace {

std::vector<Vec3> normals_of(const TriMesh& surface, std::span<const Vec3> vertices, int threads = 2) {
  Workers workers(threads);
  std::vector<Vec3> normals(vertices.size());
  SurfaceNormals(surface).update(workers, vertices, normals);
  return normals;
}

/// Stretched and bent, so that the normals at rest are of no use.
std::vector<Vec3> deformed(const TriMesh& surface) {
  std::vector<Vec3> vertices;
  for (const Vec3 p : surface.vertices) vertices.push_back({p.x + 0.3f * p.y * p.y, 2 * p.y, 0.7f * p.z - 0.2f * p.x});
  return vertices;
}

TEST(SurfaceNormals, ASphereLooksOutward) {
  const TriMesh sphere = tri_sphere(2, 200);
  const std::vector<Vec3> normals = normals_of(sphere, sphere.vertices);
  for (std::size_t v = 0; v < normals.size(); ++v) ASSERT_LT(length(normals[v] - sphere.vertices[v] / 2), 0.01f);
}

TEST(SurfaceNormals, AnEllipsoidHasTheGradientOfItsEquation) {
  const TriMesh sphere = tri_sphere(1, 256);
  std::vector<Vec3> vertices;
  for (const Vec3 p : sphere.vertices) vertices.push_back({p.x, 2 * p.y, 0.5f * p.z});
  const std::vector<Vec3> normals = normals_of(sphere, vertices);
  for (std::size_t v = 0; v < normals.size(); ++v) {
    const Vec3 p = vertices[v], expected = normalized(Vec3{p.x, p.y / 4, p.z / 0.25f});
    ASSERT_LT(length(normals[v] - expected), 0.02f);
  }
}

TEST(SurfaceNormals, AgreesWithThePlainTwin) {
  for (const TriMesh& surface : {tri_teapot(1, 24), tri_gear(), tri_grid({1, 1}, 3, 2), tri_cone(1, 1, 100)}) {
    TriMesh now = surface;
    now.vertices = deformed(surface);
    const std::vector<Vec3> expected = compute_normals(now), normals = normals_of(surface, now.vertices);
    for (std::size_t v = 0; v < normals.size(); ++v) ASSERT_LT(length(normals[v] - expected[v]), 1e-4f);
  }
}

TEST(SurfaceNormals, CreasesStaySharpAndSeamsStaySmooth) {
  const TriMesh box = tessellate(Box{{1, 1, 1}});  // split along its edges
  const std::vector<Vec3> normals = normals_of(box, box.vertices);
  for (std::size_t v = 0; v < normals.size(); ++v) EXPECT_LT(length(normals[v] - box.normals[v]), 1e-6f);

  // A sphere as a soup: each vertex once per face, all with the smooth normal.
  const TriMesh sphere = tri_sphere(1, 24);
  const std::vector<Vec3> smooth = compute_normals(sphere);
  TriMesh soup;
  std::vector<Vec3> expected;
  TriMesh bent = sphere;
  bent.vertices = deformed(sphere);
  const std::vector<Vec3> bent_normals = compute_normals(bent);
  for (const Face& f : sphere.faces) {
    const auto first = std::uint32_t(soup.vertices.size());
    for (const std::uint32_t v : f) {
      soup.vertices.push_back(sphere.vertices[v]);
      soup.normals.push_back(smooth[v]);
      expected.push_back(bent_normals[v]);
    }
    soup.faces.push_back({first, first + 1, first + 2});
  }
  const std::vector<Vec3> joined = normals_of(soup, deformed(soup));
  for (std::size_t v = 0; v < joined.size(); ++v) ASSERT_LT(length(joined[v] - expected[v]), 1e-4f);
}

TEST(SurfaceNormals, WhatHasNoNormalGetsAUnitVector) {
  TriMesh surface;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  surface.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {nan, 0, 0}, {5, 5, 5}};
  surface.normals.assign(5, {0, 0, 1});
  surface.faces = {{0, 1, 2}, {0, 1, 1}, {0, 1, 77}};
  for (const Vec3 n : normals_of(surface, surface.vertices)) EXPECT_EQ(n, (Vec3{0, 1, 0}));
  EXPECT_TRUE(normals_of(TriMesh{}, {}).empty());
}

TEST(SurfaceNormals, OneAndTwoThreadsGiveTheSameBits) {
  const TriMesh surface = tri_pumpkin();
  const std::vector<Vec3> vertices = deformed(surface);
  EXPECT_TRUE(normals_of(surface, vertices, 1) == normals_of(surface, vertices, 2));
}

}  // namespace
}  // namespace pliant
