// Round solids: sphere, cylinder, torus, capsule.
//
// Coarse pieces (the tets between a centre and the sides of an icosahedron, the sectors of a disk) are cut into n equal
// parts along each edge, and what was straight is bent around. Neighbouring pieces agree on their common sides because
// a triangle is cut into n² in one way only.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "geometry/generator_arguments.h"
#include "math/vec3d.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

/// A tet with nodes in any order, turned the right way round.
void add_oriented(TetMesh& mesh, Tet t) {
  const auto at = [&](int i) { return Vec3d(mesh.nodes[t[i]]); };
  if (six_volumes(at(0), at(1), at(2), at(3)) < 0) std::swap(t[2], t[3]);
  mesh.tets.push_back(t);
}

/// visit(four weights at each of four corners) for the n³ parts of a tet; the weights of a corner at the tet's vertices
/// add up to n. This is the edgewise subdivision (Edelsbrunner and Grayson 2000): Kuhn's tets of unit cubes, within the
/// simplex n ≥ x ≥ y ≥ z ≥ 0.
template <typename Visit>
void subdivide_tet(int n, Visit&& visit) {
  std::array<int, 3> order{0, 1, 2};
  do {
    for (int x = 0; x < n; ++x) {
      for (int y = 0; y <= x; ++y) {
        for (int z = 0; z <= y; ++z) {
          std::array<std::array<int, 4>, 4> corners;
          std::array<int, 3> p{x, y, z};
          bool is_within = true;
          for (std::size_t c = 0; c < 4; ++c) {
            if (c > 0) ++p[order[c - 1]];
            is_within &= n >= p[0] && p[0] >= p[1] && p[1] >= p[2];
            corners[c] = {n - p[0], p[0] - p[1], p[1] - p[2], p[2]};
          }
          if (is_within) visit(corners);
        }
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

// Sphere --------------------------------------------------------------------------------------------------------------

struct Icosahedron {
  std::array<Vec3d, 12> corners;
  std::vector<std::array<int, 3>> sides;

  Icosahedron() {
    const double g = (1 + std::sqrt(5.0)) / 2;
    corners = {{{0, 1, g},
                {0, 1, -g},
                {0, -1, g},
                {0, -1, -g},
                {1, g, 0},
                {1, -g, 0},
                {-1, g, 0},
                {-1, -g, 0},
                {g, 0, 1},
                {-g, 0, 1},
                {g, 0, -1},
                {-g, 0, -1}}};
    // Corners at distance 2 are joined; three that are joined make a side.
    const auto joined = [&](int i, int j) { return length_squared(corners[i] - corners[j]) < 4.1; };
    for (int i = 0; i < 12; ++i) {
      for (int j = i + 1; j < 12; ++j) {
        for (int k = j + 1; k < 12; ++k) {
          if (joined(i, j) && joined(j, k) && joined(k, i)) sides.push_back({i, j, k});
        }
      }
    }
    for (Vec3d& c : corners) c = normalized(c);
  }
};

/// Nodes of the sphere, each made once, known by its weights at the icosahedron's corners.
class SphereNodes {
 public:
  SphereNodes(TetMesh& mesh, double radius, int n) : mesh_(mesh), radius_(radius), n_(n) {}

  std::uint32_t node(const Icosahedron& shape, const std::array<int, 3>& side, const std::array<int, 4>& weights) {
    std::uint64_t key = 0;  // sides list their corners in ascending order, so equal nodes have equal keys
    Vec3d direction;
    for (std::size_t i = 0; i < 3; ++i) {
      if (weights[i + 1] == 0) continue;
      key = key << 21 | std::uint64_t(side[i] + 1) << 16 | std::uint64_t(weights[i + 1]);
      direction += weights[i + 1] * shape.corners[side[i]];
    }
    const auto [it, is_new] = numbers_.try_emplace(key, std::uint32_t(mesh_.nodes.size()));
    if (is_new) {
      const double shell = radius_ * double(n_ - weights[0]) / n_;
      mesh_.nodes.push_back((shell * normalized(direction)).to_float());
    }
    return it->second;
  }

 private:
  TetMesh& mesh_;
  double radius_;
  int n_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

// Cylinder, torus, capsule --------------------------------------------------------------------------------------------

/// A disk of n rings around a point; ring k has 6 k points. Points are numbered from the middle outward.
class Disk {
 public:
  explicit Disk(int n) : n_(n) {
    for (int s = 0; s < 6; ++s) {
      for (int k = 0; k < n; ++k) {  // between ring k and ring k + 1
        for (int i = 0; i <= k; ++i) {
          triangles_.push_back({point(k, s, i), point(k + 1, s, i), point(k + 1, s, i + 1)});
          if (i < k) triangles_.push_back({point(k, s, i), point(k + 1, s, i + 1), point(k, s, i + 1)});
        }
      }
    }
    for (auto& t : triangles_) std::sort(t.begin(), t.end());
  }

  std::uint32_t size() const { return 1 + 3 * std::uint32_t(n_) * std::uint32_t(n_ + 1); }
  /// Each with its points in ascending order.
  const std::vector<std::array<std::uint32_t, 3>>& triangles() const { return triangles_; }

  /// Point i of sector s of ring k.
  static std::uint32_t point(int k, int s, int i) {
    return k == 0 ? 0 : std::uint32_t(1 + 3 * k * (k - 1) + (s * k + i) % (6 * k));
  }

  /// visit(x, z) in the order of the points, for a disk of radius 1.
  template <typename Visit>
  void for_each_point(Visit&& visit) const {
    visit(0.0, 0.0);
    for (int k = 1; k <= n_; ++k) {
      for (int i = 0; i < 6 * k; ++i) {
        const double angle = kPiD * i / (3.0 * k), r = double(k) / n_;
        visit(r * std::cos(angle), r * std::sin(angle));
      }
    }
  }

 private:
  int n_;
  std::vector<std::array<std::uint32_t, 3>> triangles_;
};

/// Prisms over all triangles of the disk, between the layers whose points start at `lower` and `upper`. The side over
/// an edge is cut from its smaller point below to its larger one above, whichever prism it belongs to.
void add_layer(TetMesh& mesh, const Disk& disk, std::uint32_t lower, std::uint32_t upper) {
  for (const auto& [a, b, c] : disk.triangles()) {
    add_oriented(mesh, {lower + a, lower + b, lower + c, upper + c});
    add_oriented(mesh, {lower + a, lower + b, upper + c, upper + b});
    add_oriented(mesh, {lower + a, upper + c, upper + b, upper + a});
  }
}

void add_cylinder(TetMesh& mesh, const Disk& disk, double radius, double height, int layers) {
  for (int l = 0; l <= layers; ++l) {
    const double y = height * (double(l) / layers - 0.5);
    disk.for_each_point([&](double x, double z) { mesh.nodes.push_back(Vec3d(radius * x, y, radius * z).to_float()); });
  }
  for (int l = 0; l < layers; ++l)
    add_layer(mesh, disk, std::uint32_t(l) * disk.size(), std::uint32_t(l + 1) * disk.size());
}

/// A half sphere over the disk whose points start at `first`, towards `up` (+1 or −1 along Y). Shell k over ring k of
/// the disk has latitudes p = 0 … k of 6 (k − p) points each, evenly spaced in both angles.
void add_dome(TetMesh& mesh, std::uint32_t first, double radius, double y, double up, int n) {
  std::vector<std::uint32_t> latitude_start(std::size_t(n + 1) * (n + 1));
  const auto start = [&](int k, int p) -> std::uint32_t& { return latitude_start[std::size_t(k) * (n + 1) + p]; };
  for (int k = 1; k <= n; ++k) {
    for (int p = 1; p <= k; ++p) {
      start(k, p) = std::uint32_t(mesh.nodes.size());
      const double latitude = kPiD / 2 * p / k, r = radius * k / n;
      for (int i = 0; i < std::max(1, 6 * (k - p)); ++i) {
        const double ring = p == k ? 0 : r * std::cos(latitude), angle = p == k ? 0 : kPiD * i / (3.0 * (k - p));
        mesh.nodes.push_back(
            Vec3d(ring * std::cos(angle), y + up * r * std::sin(latitude), ring * std::sin(angle)).to_float());
      }
    }
  }
  for (int s = 0; s < 6; ++s) {
    const auto node = [&](const std::array<int, 4>& w) {  // weights at centre, pole, next and this corner of the sector
      const int p = w[1], k = n - w[0], around = k - p;
      if (p == 0) return first + Disk::point(k, s, w[2]);
      return start(k, p) + std::uint32_t(around == 0 ? 0 : (s * around + w[2]) % (6 * around));
    };
    subdivide_tet(n, [&](const std::array<std::array<int, 4>, 4>& c) {
      add_oriented(mesh, {node(c[0]), node(c[1]), node(c[2]), node(c[3])});
    });
  }
}

}  // namespace

TetMesh tet_sphere(float radius, float cell) {
  const double r = require_positive("tet_sphere", "radius", radius);
  const int n = cells_along("tet_sphere", radius, cell);
  require_size("tet_sphere", 20.0 * n * n * n);
  TetMesh mesh;
  const Icosahedron shape;
  SphereNodes nodes(mesh, r, n);
  for (const auto& side : shape.sides) {
    subdivide_tet(n, [&](const std::array<std::array<int, 4>, 4>& c) {
      Tet t;
      for (std::size_t i = 0; i < 4; ++i) t[i] = nodes.node(shape, side, c[i]);
      add_oriented(mesh, t);
    });
  }
  return mesh;
}

TetMesh tet_cylinder(float radius, float height, float cell) {
  const double r = require_positive("tet_cylinder", "radius", radius);
  const double h = require_positive("tet_cylinder", "height", height);
  const int n = cells_along("tet_cylinder", radius, cell), layers = cells_along("tet_cylinder", height, cell);
  require_size("tet_cylinder", 18.0 * n * n * layers);
  TetMesh mesh;
  add_cylinder(mesh, Disk(n), r, h, layers);
  return mesh;
}

TetMesh tet_torus(float radius, float tube_radius, float cell) {
  const double r = require_positive("tet_torus", "radius", radius);
  const double tube = require_positive("tet_torus", "tube_radius", tube_radius);
  if (tube >= r) refuse_argument("tet_torus", "tube_radius", "the tube must be thinner than the ring it is bent into");
  const int n = cells_along("tet_torus", tube_radius, cell);
  const int layers = cells_along("tet_torus", float(2 * kPiD * r), cell, 8);
  require_size("tet_torus", 18.0 * n * n * layers);
  TetMesh mesh;
  const Disk disk(n);
  for (int l = 0; l < layers; ++l) {
    const double angle = 2 * kPiD * l / layers;
    disk.for_each_point([&](double x, double z) {
      const double out = r + tube * x;
      mesh.nodes.push_back(Vec3d(out * std::cos(angle), tube * z, out * std::sin(angle)).to_float());
    });
  }
  for (int l = 0; l < layers; ++l) {
    add_layer(mesh, disk, std::uint32_t(l) * disk.size(), std::uint32_t((l + 1) % layers) * disk.size());
  }
  return mesh;
}

TetMesh tet_capsule(float radius, float height, float cell) {
  const double r = require_positive("tet_capsule", "radius", radius);
  const double h = require_positive("tet_capsule", "height", height);
  const int n = cells_along("tet_capsule", radius, cell), layers = cells_along("tet_capsule", height, cell);
  require_size("tet_capsule", 18.0 * n * n * layers + 12.0 * n * n * n);
  TetMesh mesh;
  const Disk disk(n);
  add_cylinder(mesh, disk, r, h, layers);
  add_dome(mesh, std::uint32_t(layers) * disk.size(), r, h / 2, 1, n);
  add_dome(mesh, 0, r, -h / 2, -1, n);
  return mesh;
}

}  // namespace pliant
