// Atlases: exact seams, sound surfaces, the stencil of seven points, and cores without inverted tets.
#include "pliant/atlas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "geometry/layer_core.h"
#include "geometry/winding_number.h"
#include "math/vec3d.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

using Edges = std::set<std::pair<std::uint32_t, std::uint32_t>>;

Edges edges_of(const TriMesh& mesh) {
  Edges edges;
  for (const Face& f : mesh.faces) {
    for (int i = 0; i < 3; ++i) edges.insert(std::minmax(f[i], f[(i + 1) % 3]));
  }
  return edges;
}

/// The edges that the charts' stencil names.
Edges stencil_edges(const Atlas& atlas) {
  Edges edges;
  for (const AtlasChart& chart : atlas.charts) {
    for (int j = 0; j < chart.rows; ++j) {
      for (int i = 0; i < chart.columns; ++i) {
        for (const auto& [di, dj] : kAtlasStencil) {
          if (i + di < 0 || i + di >= chart.columns || j + dj < 0 || j + dj >= chart.rows) continue;
          edges.insert(std::minmax(chart.node(i, j), chart.node(i + di, j + dj)));
        }
      }
    }
  }
  return edges;
}

int euler_characteristic(const TriMesh& mesh) {
  return int(mesh.vertices.size()) - int(edges_of(mesh).size()) + int(mesh.faces.size());
}

void expect_closed(const Atlas& atlas, int characteristic) {
  const auto problems = validate(atlas.surface, {.require_closed = true});
  EXPECT_TRUE(problems.empty()) << problems.front().message;
  EXPECT_EQ(euler_characteristic(atlas.surface), characteristic);
  EXPECT_GT(enclosed_volume(atlas.surface), 0);
  EXPECT_EQ(stencil_edges(atlas), edges_of(atlas.surface));
}

TEST(Atlas, TorusIsOneChartThatMeetsItself) {
  const Atlas atlas = atlas_torus(0.5f, 0.2f, 40, 24);
  EXPECT_EQ(atlas.node_count(), 960u);
  expect_closed(atlas, 0);
  for (const Vec3 p : atlas.surface.vertices) {
    EXPECT_NEAR(std::hypot(std::hypot(p.x, p.z) - 0.5f, p.y), 0.2f, 1e-6);
  }
  EXPECT_NEAR(enclosed_volume(atlas.surface), 2 * kPiD * kPiD * 0.5 * 0.04, 0.02 * 0.39);
}

TEST(Atlas, SphereIsSixFaces) {
  const Atlas atlas = atlas_sphere(0.7f, 12);
  EXPECT_EQ(atlas.charts.size(), 6u);
  EXPECT_EQ(atlas.node_count(), 6u * 144 + 2);
  expect_closed(atlas, 2);
  double least = 1e9, most = 0;
  for (const Face& f : atlas.surface.faces) {
    const auto at = [&](int i) { return Vec3d(atlas.surface.vertices[f[i]]); };
    const double area = length(cross(at(1) - at(0), at(2) - at(0)));
    least = std::min(least, area), most = std::max(most, area);
  }
  EXPECT_LT(most / least, 1.6);
  for (const Vec3 p : atlas.surface.vertices) EXPECT_NEAR(length(p), 0.7f, 1e-6);
}

TEST(Atlas, CylinderHasASideAndTwoCaps) {
  const Atlas atlas = atlas_cylinder(0.3f, 0.8f, 10, 9);
  EXPECT_EQ(atlas.charts.size(), 3u);
  EXPECT_EQ(atlas.node_count(), 40u * 10 + 2 * 81);
  expect_closed(atlas, 2);
  EXPECT_NEAR(enclosed_volume(atlas.surface), kPiD * 0.09 * 0.8, 0.01 * 0.23);
}

TEST(Atlas, HeightfieldIsAnOpenSheetThatFacesUp) {
  const Heightfield field = heightfield_terrain({.columns = 9, .rows = 7});
  const Atlas atlas = atlas_heightfield(field);
  EXPECT_EQ(atlas.node_count(), 63u);
  EXPECT_EQ(stencil_edges(atlas), edges_of(atlas.surface));
  EXPECT_TRUE(validate(atlas.surface).empty());
  for (const Vec3 n : compute_normals(atlas.surface)) EXPECT_GT(n.y, 0);
  EXPECT_EQ(atlas.surface.vertices[0].y, field.heights[6 * 9]);
}

TEST(Atlas, NonsenseIsRefused) {
  EXPECT_THROW(atlas_torus(0.2f, 0.5f, 8, 8), BadResult);
  EXPECT_THROW(atlas_torus(1, 0.5f, 2, 8), BadResult);
  EXPECT_THROW(atlas_sphere(std::numeric_limits<float>::quiet_NaN(), 4), BadResult);
  EXPECT_THROW(atlas_sphere(1, 1000000), BadResult);
  EXPECT_THROW(atlas_cylinder(1, 0, 4, 4), BadResult);
  EXPECT_THROW(atlas_heightfield({.columns = 3, .rows = 3, .cell = 1, .heights = {1, 2}}), BadResult);
  EXPECT_THROW(displaced(atlas_sphere(1, 4), [](Vec3, Vec3) { return Vec3{INFINITY, 0, 0}; }), BadResult);
}

/// The volume between surface and core, by the divergence theorem, against the sum of the tets.
void expect_layer(const TriMesh& surface, float thickness, std::size_t most_thinned) {
  const float t[1] = {thickness};
  const Result<LayerCore> core = make_layer_core(surface, t);
  ASSERT_TRUE(core) << core.error().to_string();
  EXPECT_LE(core->thinned, most_thinned);
  EXPECT_GT(core->smallest_volume, 0);
  const auto count = std::uint32_t(surface.vertices.size());
  const auto at = [&](std::uint32_t i) { return Vec3d(i < count ? surface.vertices[i] : core->points[i - count]); };
  double sum = 0;
  for (const Face& face : surface.faces) {
    for (const Tet& tet : layer_tets(face, count)) {
      const double volume = six_volumes(at(tet[0]), at(tet[1]), at(tet[2]), at(tet[3])) / 6;
      EXPECT_GT(volume, 0);
      sum += volume;
    }
  }
  TriMesh inner = surface;
  inner.vertices = core->points;
  // The walls between neighbouring prisms are shared, so that inner and outer surface bound all of it.
  EXPECT_NEAR(sum, enclosed_volume(surface) - enclosed_volume(inner), 1e-5 * sum);
}

TEST(LayerCore, SmoothSurfacesKeepTheirThickness) {
  expect_layer(atlas_torus(0.5f, 0.2f, 60, 30).surface, 0.08f, 0);
  expect_layer(atlas_sphere(0.5f, 16).surface, 0.2f, 0);
}

TEST(LayerCore, BumpsAndEdgesInvertNothing) {
  // Bumps of a tenth of the thickness on every second node.
  const Atlas rough = displaced(atlas_torus(0.5f, 0.2f, 100, 50), [](Vec3 p, Vec3 n) {
    return n * (0.008f * std::sin(300 * p.x) * std::sin(300 * p.z) * std::cos(250 * p.y));
  });
  expect_layer(rough.surface, 0.08f, rough.node_count() / 20);
  expect_layer(atlas_cylinder(0.3f, 0.6f, 12, 14).surface, 0.06f, 600);
  expect_layer(tri_duck(0.5f, 0.02f), 0.01f, 100000);
  expect_layer(tri_pumpkin({.segments = 96}), 0.06f, 100000);
}

TEST(LayerCore, ThicknessBeyondTheBodyIsMadeToFit) {
  // Twice the radius of the tube.
  expect_layer(atlas_torus(0.5f, 0.1f, 40, 20).surface, 0.2f, 800);
}

TEST(LayerCore, NoLayerSticksOutOfItsBody) {
  // A layer thicker than the body would come out at the other side, and weigh more than all of it.
  const auto expect_inside = [](const TriMesh& surface, float thickness) {
    const Result<LayerCore> core = make_layer_core(surface, std::vector<float>{thickness});
    ASSERT_TRUE(core) << core.error().to_string();
    EXPECT_GT(core->thinned, 0u);
    TriMesh inner = surface;
    inner.vertices = core->points;
    EXPECT_GT(enclosed_volume(inner), 0);
    const WindingNumber winding(surface.vertices, surface.faces);
    for (const Vec3 point : core->points) EXPECT_GT(winding(point), 0.5);
  };
  const AtlasOptions options{.resolution = 40};
  for (const float thickness : {0.02f, 10.0f})
    expect_inside(make_atlas(tri_box({1, 0.02f, 1}, 0.05f), options)->surface, thickness);
  for (const float thickness : {0.2f, 10.0f}) expect_inside(make_atlas(tri_gear(), options)->surface, thickness);
  expect_inside(atlas_sphere(0.5f, 12).surface, 10);
}

TEST(LayerCore, NonsenseIsRefused) {
  const TriMesh sphere = atlas_sphere(1, 4).surface;
  EXPECT_FALSE(make_layer_core(sphere, std::vector<float>{0.1f, 0.2f}));
  EXPECT_FALSE(make_layer_core(sphere, std::vector<float>{-1.0f}));
  EXPECT_FALSE(check_layer_core(sphere, std::vector<Vec3>(3)));
  // A core outside of its body.
  TriMesh larger = sphere;
  for (Vec3& p : larger.vertices) p *= 2;
  EXPECT_FALSE(check_layer_core(sphere, larger.vertices));
  EXPECT_TRUE(check_layer_core(larger, sphere.vertices));
}

}  // namespace
}  // namespace pliant
