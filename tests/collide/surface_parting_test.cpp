// What a direction says of two surfaces as a whole, against all pairs of their nodes.
#include "collide/surface_parting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "surface_meshes.h"

namespace pliant {
namespace {

constexpr float kStep = 0.01f;

Vec3 random_vector(std::mt19937& random) {
  std::uniform_real_distribution<float> unit(-1, 1);
  return {unit(random), unit(random), unit(random)};
}

TEST(SurfaceParting, BoundsTheDistanceOfAllNodesThroughoutTheSubstep) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    SurfaceScene scene;
    SurfaceTree a = scene.add_soup(4, 0.2f, 0.001f, random);
    const std::size_t split = scene.x.size();
    SurfaceTree b = scene.add_soup(4, 0.2f, 0.001f, random);
    const Vec3 aside = 2.0f * random_vector(random), together = 30.0f * random_vector(random);
    for (std::size_t i = 0; i < scene.x.size(); ++i) {
      if (i >= split) scene.x[i].x += aside.x, scene.x[i].y += aside.y, scene.x[i].z += aside.z;
      const Vec3 v = together + 20.0f * random_vector(random);
      scene.v[i] = {v.x, v.y, v.z, 0};
    }
    a.refit(scene.x, scene.v, kStep, 0.01f, scene.workers);
    b.refit(scene.x, scene.v, kStep, 0.01f, scene.workers);
    const SurfaceParting parting = find_parting(a, b, {});
    EXPECT_NEAR(length(parting.axis), 1, 1e-5f);
    float along = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < split; ++i) {
      for (std::size_t k = split; k < scene.x.size(); ++k) {
        const Vec3 from = scene.x[k].xyz() - scene.x[i].xyz(), way = kStep * (scene.v[k].xyz() - scene.v[i].xyz());
        along = std::min(along, dot(from, parting.axis));
        for (const float t : {0.0f, 0.3f, 0.7f, 1.0f}) {
          EXPECT_GT(dot(from + t * way, parting.axis), std::min(parting.gap, parting.gap_end) - 1e-5f);
        }
        // One of the two stopped: no nearer than the gap less the surprise.
        EXPECT_GT(dot(from + kStep * scene.v[k].xyz(), parting.axis), parting.gap - parting.surprise - 1e-5f);
        EXPECT_GT(dot(from - kStep * scene.v[i].xyz(), parting.axis), parting.gap - parting.surprise - 1e-5f);
      }
    }
    EXPECT_NEAR(along, parting.gap, 1e-5f) << "the gap is that of two nodes";
  }
}

TEST(SurfaceParting, TwoPlatesArePartedAcrossThemWhereverTheirMiddlesAre) {
  for (const float apart : {0.1f, 0.01f, -0.01f}) {
    SurfaceScene scene;
    SurfaceTree a = scene.add_sheet(9, 0, [](float u, float w) { return Vec3{u, 0, w}; });
    SurfaceTree b = scene.add_sheet(9, 0, [&](float u, float w) { return Vec3{u + 0.7f, apart, w - 0.4f}; });
    Vec3 axis{};
    SurfaceParting parting;
    for (int i = 0; i < 20; ++i) {
      a.refit(scene.x, scene.v, kStep, 0.01f, scene.workers);
      b.refit(scene.x, scene.v, kStep, 0.01f, scene.workers);
      parting = find_parting(a, b, axis);
      EXPECT_TRUE(i == 0 || parting.gap >= measure_parting(a, b, axis).gap) << "never worse than before";
      axis = parting.axis;
    }
    EXPECT_NEAR(parting.gap, std::abs(apart), 1e-6f) << "they have no thickness";
  }
}

TEST(SurfaceParting, PassesOverNodesThatAreNowhere) {
  SurfaceScene scene;
  SurfaceTree a = scene.add_sheet(3, 0, [](float u, float w) { return Vec3{u, 0, w}; });
  SurfaceTree b = scene.add_sheet(3, 0, [](float u, float w) { return Vec3{u, 1, w}; });
  scene.x[0].y = std::numeric_limits<float>::quiet_NaN();
  scene.x[10].x = std::numeric_limits<float>::infinity();
  a.refit(scene.x, scene.v, kStep, 0.01f, scene.workers);
  b.refit(scene.x, scene.v, kStep, 0.01f, scene.workers);
  EXPECT_NEAR(measure_parting(a, b, {0, 1, 0}).gap, 1, 1e-6f);
  for (Vec4& p : scene.x) p.x = std::numeric_limits<float>::quiet_NaN();
  a.refit(scene.x, scene.v, kStep, 0.01f, scene.workers);
  b.refit(scene.x, scene.v, kStep, 0.01f, scene.workers);
  EXPECT_TRUE(std::isinf(find_parting(a, b, {}).gap)) << "nothing is near to nothing";
}

}  // namespace
}  // namespace pliant
