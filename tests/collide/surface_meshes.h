// Small surfaces for the tests of contacts between surfaces, all in one array of nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "collide/surface_tree.h"

namespace pliant {

struct SurfaceScene {
  std::vector<Vec4> x, v, rest;
  std::uint32_t next_feature = 0;
  Workers workers{1};

  SurfaceTree add(std::vector<Face> faces, std::vector<NodePair> edges, float radius) {
    rest.insert(rest.end(), x.begin() + std::ptrdiff_t(rest.size()), x.end());
    v.resize(x.size());
    SurfaceTopology t = make_surface_topology({faces, edges, rest, radius, next_feature}).value();
    next_feature += t.feature_count();
    return SurfaceTree(std::move(t));
  }
  /// A sheet of n x n nodes; place(u, w) with u and w in [0, 1].
  SurfaceTree add_sheet(std::uint32_t n, float radius, const std::function<Vec3(float, float)>& place) {
    const auto first = std::uint32_t(x.size());
    std::vector<Face> faces;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        const Vec3 p = place(float(i) / float(n - 1), float(j) / float(n - 1));
        x.push_back({p.x, p.y, p.z, 0});
        if (i + 1 == n || j + 1 == n) continue;
        const std::uint32_t a = first + i * n + j, b = a + 1, c = a + n, d = c + 1;
        faces.push_back((i + j) % 2 ? Face{a, b, d} : Face{a, b, c});
        faces.push_back((i + j) % 2 ? Face{a, d, c} : Face{b, d, c});
      }
    }
    return add(faces, {}, radius);
  }
  /// Triangles that share nothing, of the given size, in a cube of side 1.
  SurfaceTree add_soup(std::uint32_t count, float size, float radius, std::mt19937& random) {
    std::uniform_real_distribution<float> unit(-1, 1);
    std::vector<Face> faces;
    for (std::uint32_t f = 0; f < count; ++f) {
      const Vec3 c{unit(random) / 2, unit(random) / 2, unit(random) / 2};
      const auto a = std::uint32_t(x.size());
      for (int i = 0; i < 3; ++i) {
        x.push_back({c.x + size * unit(random), c.y + size * unit(random), c.z + size * unit(random), 0});
      }
      faces.push_back({a, a + 1, a + 2});
    }
    return add(faces, {}, radius);
  }
  SurfaceTree add_rope(std::uint32_t n, float radius, Vec3 from, Vec3 to) {
    const auto first = std::uint32_t(x.size());
    std::vector<NodePair> edges;
    for (std::uint32_t i = 0; i < n; ++i) {
      const Vec3 p = from + (float(i) / float(n - 1)) * (to - from);
      x.push_back({p.x, p.y, p.z, 0});
      if (i > 0) edges.push_back({first + i - 1, first + i});
    }
    return add({}, edges, radius);
  }
};

}  // namespace pliant
