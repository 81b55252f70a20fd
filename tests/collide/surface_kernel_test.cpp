#include "collide/surface_kernel.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "geometry/primitives.h"

namespace pliant {
namespace {

TEST(SurfaceKernel, DropsOnlyWhatIsFar) {
  std::mt19937 random(12);
  std::uniform_real_distribution<float> unit(-1, 1);
  const auto point = [&](float size) { return Vec3{size * unit(random), size * unit(random), size * unit(random)}; };
  std::size_t dropped = 0, parted = 0;
  for (int round = 0; round < 3000; ++round) {
    FaceLanes lanes[2];
    std::array<Vec3, 3> x[2][8];
    for (int side = 0; side < 2; ++side) {
      for (std::uint32_t i = 0; i < 8; ++i) {
        const Vec3 c = point(1);
        for (Vec3& p : x[side][i]) p = c + point(0.3f);
        lanes[side].set(i, x[side][i], normalized(cross(x[side][i][1] - x[side][i][0], x[side][i][2] - x[side][i][0])));
      }
    }
    const Vec3 p = point(1);
    const std::uint32_t near = near_faces(lanes[0], p, 0.4f), unparted = unparted_faces(lanes[0], lanes[1], 3, 0.1f);
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto& f = x[0][i];
      const float squared = closest_on_triangle(p, f[0], f[1], f[2]).squared_distance;
      EXPECT_TRUE((near >> i & 1) || squared > 0.399f * 0.399f);
      dropped += !(near >> i & 1);
      if (unparted >> i & 1) continue;
      ++parted;
      const auto& g = x[1][3];
      for (int k = 0; k < 3; ++k) {
        EXPECT_GT(closest_on_triangle(g[k], f[0], f[1], f[2]).squared_distance, 0.0099f);
        EXPECT_GT(closest_on_triangle(f[k], g[0], g[1], g[2]).squared_distance, 0.0099f);
        for (int l = 0; l < 3; ++l) {
          EXPECT_GT(closest_of_segments(f[k], f[(k + 1) % 3], g[l], g[(l + 1) % 3]).squared_distance, 0.0099f);
        }
      }
    }
    float low[2] = {1e9f, 1e9f}, high[2] = {-1e9f, -1e9f};
    const Vec3 n = normalized(point(1));
    for (int side = 0; side < 2; ++side) {
      for (std::uint32_t i = 0; i < 64; ++i) {
        const float height = dot(x[side][i % 8][i / 8 % 3] + Vec3{side * 2.0f, 0, 0}, n);
        low[side] = std::min(low[side], height), high[side] = std::max(high[side], height);
      }
    }
    for (std::uint32_t i = 0; i < 8; ++i) {
      for (Vec3& q : x[1][i]) q.x += 2;
      lanes[1].set(i, x[1][i], {});
    }
    const float gap = std::max(low[0] - high[1], low[1] - high[0]);
    EXPECT_TRUE(are_parted(lanes[0], lanes[1], n, 0.1f) == (gap > 0.1f) || std::abs(gap - 0.1f) < 1e-5f);
  }
  EXPECT_GT(dropped, 3000u);
  EXPECT_GT(parted, 3000u);
}

}  // namespace
}  // namespace pliant
