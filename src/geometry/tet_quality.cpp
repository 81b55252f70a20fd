#include "geometry/tet_quality.h"

#include <algorithm>
#include <cmath>

#include "geometry/adjacency.h"

namespace pliant {
namespace {

struct DistanceSum {
  double weight = 0, squares = 0, max = 0;

  void add(double w, double distance) {
    weight += w, squares += w * distance * distance;
    max = std::max(max, distance);
  }
  DistanceSum operator+(const DistanceSum& b) const {
    return {weight + b.weight, squares + b.squares, std::max(max, b.max)};
  }
};

/// The face is cut into parts² small triangles; distances are taken at their middles and at its corners.
void add_face(const std::array<Vec3, 3>& p, const TriangleTree& other, double spacing, DistanceSum& sum) {
  constexpr float kFar = 1e18f;
  constexpr int kMaxParts = 200;
  const Vec3 u = p[1] - p[0], v = p[2] - p[0];
  const double longest = std::max({length(u), length(v), length(p[2] - p[1])});
  const int parts = std::clamp(int(std::min(std::ceil(longest / spacing), double(kMaxParts))), 1, kMaxParts);
  const double weight = length(cross(Vec3d(u), Vec3d(v))) / (2.0 * parts * parts);
  const auto look = [&](float i, float j, double w) {
    sum.add(w, double(other.distance(p[0] + (i / float(parts)) * u + (j / float(parts)) * v, kFar)));
  };
  for (int i = 0; i < parts; ++i) {
    for (int j = 0; i + j < parts; ++j) {
      look(float(i) + 1 / 3.0f, float(j) + 1 / 3.0f, weight);
      if (i + j + 1 < parts) look(float(i) + 2 / 3.0f, float(j) + 2 / 3.0f, weight);
    }
  }
  look(0, 0, 0);
  look(float(parts), 0, 0);
  look(0, float(parts), 0);
}

}  // namespace

std::array<double, 2> dihedral_cosines(const std::array<Vec3d, 4>& corners) {
  std::array<Vec3d, 4> n;
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec3d a = corners[std::size_t(kTetFaces[i][0])];
    n[i] = normalized(cross(corners[std::size_t(kTetFaces[i][1])] - a, corners[std::size_t(kTetFaces[i][2])] - a));
  }
  std::array<double, 2> cosines{-1, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j) {
      const double c = -dot(n[i], n[j]);  // the angle inside is what the angle between the normals leaves of 180
      cosines = {std::max(cosines[0], c), std::min(cosines[1], c)};
    }
  }
  return cosines;
}

std::array<double, 2> dihedral_range_degrees(const TetMesh& mesh) {
  std::array<double, 2> cosines{-1, 1};
  for (const Tet& t : mesh.tets) {
    const auto c = dihedral_cosines(
        {Vec3d(mesh.nodes[t[0]]), Vec3d(mesh.nodes[t[1]]), Vec3d(mesh.nodes[t[2]]), Vec3d(mesh.nodes[t[3]])});
    cosines = {std::max(cosines[0], c[0]), std::min(cosines[1], c[1])};
  }
  const auto degrees = [](double c) { return std::acos(std::clamp(c, -1.0, 1.0)) * 180 / kPiD; };
  return {degrees(cosines[0]), degrees(cosines[1])};
}

SurfaceDistance surface_distance(const TriMesh& surface, const TriangleTree& other, double spacing, Workers& workers) {
  std::vector<DistanceSum> scratch;
  const DistanceSum sum = parallel_reduce(
      workers, surface.faces.size(), 64, DistanceSum{}, scratch,
      [&](std::size_t begin, std::size_t end) {
        DistanceSum part;
        for (std::size_t f = begin; f < end; ++f) {
          const Face& face = surface.faces[f];
          add_face({surface.vertices[face[0]], surface.vertices[face[1]], surface.vertices[face[2]]}, other, spacing,
                   part);
        }
        return part;
      },
      [](const DistanceSum& a, const DistanceSum& b) { return a + b; });
  return {sum.weight > 0 ? std::sqrt(sum.squares / sum.weight) : 0, sum.max};
}

}  // namespace pliant
