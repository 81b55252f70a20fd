// A jelly stepped on its own, without a world, and what every paradigm must keep.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "math/vec3d.h"
#include "math/vec4.h"
#include "particle/jelly_builder.h"
#include "pliant/generators.h"

namespace pliant {

/// Nodes of a mesh, at rest.
struct JellyState {
  std::vector<Vec4> x, v;

  JellyState(const std::vector<Vec3>& points, const std::vector<float>& masses) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      x.push_back({points[i].x, points[i].y, points[i].z, 0});
      v.push_back({0, 0, 0, 1 / masses[i]});
    }
  }
  void accelerate(Vec3 by) {
    for (Vec4& a : v) {
      if (a.w > 0) a = {a.x + by.x, a.y + by.y, a.z + by.z, a.w};
    }
  }
  void advance(float h) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = {x[i].x + h * v[i].x, x[i].y + h * v[i].y, x[i].z + h * v[i].z, x[i].w};
    }
  }
  void hold_where(const std::function<bool(Vec3)>& where) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (where(x[i].xyz())) v[i].w = 0;
    }
  }
  void map(const std::function<Vec3(Vec3)>& to) {
    for (Vec4& a : x) {
      const Vec3 b = to(a.xyz());
      a = {b.x, b.y, b.z, a.w};
    }
  }
  /// Random velocities plus a rigid motion.
  void stir(float random_speed, Vec3 velocity, Vec3 spin, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-random_speed, random_speed);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Vec3 u{uniform(random), uniform(random), uniform(random)};
      const Vec3 a = velocity + cross(spin, x[i].xyz()) + u;
      v[i] = {a.x, a.y, a.z, v[i].w};
    }
  }
  bool is_finite() const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!pliant::is_finite(x[i].xyz()) || !pliant::is_finite(v[i].xyz())) return false;
    }
    return true;
  }
  double kinetic_energy() const {
    double sum = 0;
    for (const Vec4& a : v) sum += a.w > 0 ? length_squared(Vec3d(a.xyz())) / (2 * double(a.w)) : 0;
    return sum;
  }
  struct Momentum {
    Vec3d linear, angular, center;
  };
  Momentum momentum() const {
    Momentum p;
    double mass = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double m = 1 / double(v[i].w);
      mass += m;
      p.linear += m * Vec3d(v[i].xyz());
      p.angular += m * cross(Vec3d(x[i].xyz()), Vec3d(v[i].xyz()));
      p.center += m * Vec3d(x[i].xyz());
    }
    p.center = p.center / mass;
    return p;
  }
};

inline double volume_of(const TetMesh& mesh, const JellyState& state, int* inverted = nullptr) {
  double total = 0;
  for (const Tet& t : mesh.tets) {
    const auto x = [&](std::size_t c) { return Vec3d(state.x[t[c]].xyz()); };
    const double six = six_volumes(x(0), x(1), x(2), x(3));
    total += six / 6;
    if (inverted) *inverted += six <= 0;
  }
  return total;
}

/// The largest relative error of any tet edge's length.
inline double edge_error(const TetMesh& mesh, const JellyState& state) {
  double worst = 0;
  for (const Tet& t : mesh.tets) {
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const double rest = length(Vec3d(mesh.nodes[t[a]]) - Vec3d(mesh.nodes[t[b]]));
        const double now = length(Vec3d(state.x[t[a]].xyz()) - Vec3d(state.x[t[b]].xyz()));
        worst = std::max(worst, std::abs(now / rest - 1));
      }
    }
  }
  return worst;
}

/// That a body has its rest shape again, within a hundredth.
inline void expect_rest_shape(const TetMesh& mesh, const JellyState& state) {
  int inverted = 0;
  EXPECT_NEAR(volume_of(mesh, state, &inverted) / mesh.volume(), 1, 0.01);
  EXPECT_EQ(inverted, 0);
  EXPECT_LT(edge_error(mesh, state), 0.01);
}

/// How far the lower end of a bar of density 1000 that hangs by its upper end has come, over ρ g L²/(2 E).
inline double bar_stretch(const TetMesh& mesh, const JellyState& state, float young) {
  const Aabb bounds = mesh.bounds();
  double low = 0, count = 0;
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i) {
    if (mesh.nodes[i].y < bounds.lower.y + 1e-4f) low += double(mesh.nodes[i].y - state.x[i].y), ++count;
  }
  const double length = double(bounds.size().y);
  return low / count / (1000 * 9.81 * length * length / (2 * double(young)));
}

/// 366 nodes and 1440 tets: about one jelly of 004's Figure 2.
inline TetMesh figure_jelly() { return tet_cylinder(0.05f, 0.06f, 0.0118f); }

/// Runs a free body that spins, shivers and moves, and compares momentum at the end with that at the beginning.
template <typename Step>
void expect_momentum_kept(JellyState state, Step&& step, float h, int steps = 1000) {
  state.stir(0.05f, {0.02f, -0.01f, 0.03f}, {1, 2, -3}, 7);
  const auto before = state.momentum();
  for (int i = 0; i < steps; ++i) {
    step(state, h);
    state.advance(h);
  }
  const auto after = state.momentum();
  ASSERT_TRUE(state.is_finite());
  EXPECT_LT(length(after.linear - before.linear), 1e-5 * length(before.linear));
  EXPECT_LT(length(after.angular - before.angular), 1e-5 * length(before.angular) + 1e-9);
}

}  // namespace pliant
