// What the tests of this folder measure on meshes, by ways that the code under test does not use.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "math/vec3d.h"
#include "pliant/mesh.h"

namespace pliant {

/// Vertices − edges + faces, over the vertices in use.
inline int euler_characteristic(const TriMesh& mesh) {
  std::set<std::uint32_t> vertices;
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const Face& f : mesh.faces) {
    for (int i = 0; i < 3; ++i) {
      vertices.insert(f[i]);
      edges.insert(std::minmax({f[i], f[(i + 1) % 3]}));
    }
  }
  return int(vertices.size()) - int(edges.size()) + int(mesh.faces.size());
}

/// Every directed edge is matched by its opposite, exactly once; every vertex is in use.
inline void expect_closed(const TriMesh& mesh) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> directed;
  std::set<std::uint32_t> used;
  for (const Face& f : mesh.faces) {
    for (int i = 0; i < 3; ++i) {
      used.insert(f[i]);
      EXPECT_TRUE(directed.insert({f[i], f[(i + 1) % 3]}).second) << "edge used twice the same way";
    }
  }
  for (const auto& [a, b] : directed) ASSERT_TRUE(directed.count({b, a})) << "open edge " << a << " " << b;
  EXPECT_EQ(used.size(), mesh.vertices.size());
  const auto problems = validate(mesh, {.require_closed = true});
  for (const MeshProblem& p : problems) ADD_FAILURE() << p.message;
  EXPECT_GT(enclosed_volume(mesh), 0);
}

/// Vertices at equal positions become one.
inline TriMesh welded(const TriMesh& mesh) {
  std::map<std::array<float, 3>, std::uint32_t> at;
  TriMesh result;
  std::vector<std::uint32_t> to;
  for (const Vec3 v : mesh.vertices) {
    // + 0.0f: −0 and 0 are one place
    const auto [it, is_new] = at.try_emplace({v.x + 0.0f, v.y + 0.0f, v.z + 0.0f}, std::uint32_t(at.size()));
    if (is_new) result.vertices.push_back(v);
    to.push_back(it->second);
  }
  for (const Face& f : mesh.faces) result.faces.push_back({to[f[0]], to[f[1]], to[f[2]]});
  return result;
}

/// The smallest and largest angle between two faces of any tet, degrees.
inline std::array<double, 2> dihedral_range(const TetMesh& mesh) {
  double least = 180, most = 0;
  for (const Tet& t : mesh.tets) {
    std::array<Vec3d, 4> n;
    for (int i = 0; i < 4; ++i) {
      const Vec3d a(mesh.nodes[t[(i + 1) % 4]]), b(mesh.nodes[t[(i + 2) % 4]]), c(mesh.nodes[t[(i + 3) % 4]]);
      n[i] = normalized(cross(b - a, c - a));
      if (dot(n[i], Vec3d(mesh.nodes[t[i]]) - a) > 0) n[i] = -n[i];  // outward
    }
    for (int i = 0; i < 4; ++i) {
      for (int j = i + 1; j < 4; ++j) {
        const double angle = 180 - std::acos(std::clamp(dot(n[i], n[j]), -1.0, 1.0)) * 180 / kPiD;
        least = std::min(least, angle);
        most = std::max(most, angle);
      }
    }
  }
  return {least, most};
}

/// Valid, conforming (the surface is closed and encloses the sum of the tets) and every node in use.
inline void expect_sound_solid(const TetMesh& mesh, double min_dihedral) {
  for (const MeshProblem& p : validate(mesh, {.require_closed = true})) ADD_FAILURE() << p.message;
  std::set<std::uint32_t> used;
  for (const Tet& t : mesh.tets) used.insert(t.begin(), t.end());
  EXPECT_EQ(used.size(), mesh.nodes.size());
  const TriMesh surface = extract_surface(mesh);
  expect_closed(surface);
  EXPECT_NEAR(enclosed_volume(surface), mesh.volume(), 1e-6 * mesh.volume());
  EXPECT_GE(dihedral_range(mesh)[0], min_dihedral);
}

/// True if the point lies within the closed surface, by counting crossings of a slanted ray.
inline bool contains(const TriMesh& mesh, Vec3d p) {
  const Vec3d direction(0.3214, 0.8431, 0.4317);
  int crossings = 0;
  for (const Face& f : mesh.faces) {
    const Vec3d a = Vec3d(mesh.vertices[f[0]]) - p, b = Vec3d(mesh.vertices[f[1]]) - p,
                c = Vec3d(mesh.vertices[f[2]]) - p;
    const double u = dot(direction, cross(c, b)), v = dot(direction, cross(a, c)), w = dot(direction, cross(b, a));
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) continue;
    const double sum = u + v + w;
    if (sum == 0) continue;
    const Vec3d hit = (u * a + v * b + w * c) / sum;
    if (dot(hit, direction) > 0) ++crossings;
  }
  return crossings % 2 == 1;
}

}  // namespace pliant
