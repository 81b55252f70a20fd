// A duck from blended solids: an implicit function, negative inside, whose zero surface is meshed on the lattice.
#include <algorithm>
#include <cmath>

#include "geometry/adjacency.h"
#include "geometry/generator_arguments.h"
#include "geometry/isosurface_stuffing.h"
#include "geometry/ring_surface.h"
#include "geometry/vec3d.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

/// About the distance to an ellipsoid, exact near its surface.
double ellipsoid(Vec3d p, Vec3d radii) {
  const Vec3d a{p.x / radii.x, p.y / radii.y, p.z / radii.z};
  const Vec3d b{a.x / radii.x, a.y / radii.y, a.z / radii.z};
  const double k = length(a), steepness = length(b);
  return steepness > 0 ? k * (k - 1) / steepness : -std::min({radii.x, radii.y, radii.z});
}

/// The distance to a stick from a to b whose radius changes from one to the other.
double stick(Vec3d p, Vec3d a, Vec3d b, double radius_a, double radius_b) {
  const double t = std::clamp(dot(p - a, b - a) / length_squared(b - a), 0.0, 1.0);
  return length(p - a - t * (b - a)) - (radius_a + t * (radius_b - radius_a));
}

/// Both together, with the crease between them filled to about the given radius.
double blend(double a, double b, double radius) {
  const double h = std::max(radius - std::abs(a - b), 0.0) / radius;
  return std::min(a, b) - h * h * h * radius / 6;
}

Vec3d turned_z(Vec3d p, double angle) {
  return {p.x * std::cos(angle) + p.y * std::sin(angle), p.y * std::cos(angle) - p.x * std::sin(angle), p.z};
}

/// In units of the duck's length, more or less; the middle of the body at the origin.
double duck(Vec3d p) {
  p.z = std::abs(p.z);
  double d = ellipsoid(p - Vec3d(-0.02, 0, 0), {0.36, 0.21, 0.26});
  d = blend(d, ellipsoid(p - Vec3d(0.14, 0.03, 0), {0.22, 0.2, 0.21}), 0.15);                       // breast
  d = blend(d, stick(p, {-0.2, 0.05, 0}, {-0.42, 0.2, 0}, 0.13, 0.03), 0.2);                        // tail
  d = blend(d, ellipsoid(turned_z(p - Vec3d(-0.08, 0.05, 0.235), -0.35), {0.2, 0.1, 0.07}), 0.06);  // wings
  d = blend(d, stick(p, {0.17, 0.12, 0}, {0.22, 0.3, 0}, 0.12, 0.11), 0.14);                        // neck
  d = blend(d, ellipsoid(p - Vec3d(0.235, 0.375, 0), {0.165, 0.155, 0.15}), 0.07);                  // head
  const double upper = ellipsoid(turned_z(p - Vec3d(0.405, 0.365, 0), 0.25), {0.12, 0.04, 0.09});
  const double lower = ellipsoid(turned_z(p - Vec3d(0.385, 0.333, 0), -0.1), {0.1, 0.038, 0.075});
  d = blend(d, blend(upper, lower, 0.06), 0.06);                      // beak
  d = blend(d, length(p - Vec3d(0.335, 0.43, 0.092)) - 0.04, 0.025);  // eyes
  return -blend(-d, p.y + 0.17, 0.08);                                // it sits flat
}

/// Where the function vanishes nearest to p, by Newton's way along its gradient.
Vec3d onto_duck(Vec3d p) {
  constexpr double h = 1e-5;
  for (int i = 0; i < 5; ++i) {
    const double f = duck(p);
    const Vec3d gradient{(duck(p + Vec3d(h, 0, 0)) - f) / h, (duck(p + Vec3d(0, h, 0)) - f) / h,
                         (duck(p + Vec3d(0, 0, h)) - f) / h};
    p = p - gradient * (f / std::max(length_squared(gradient), 0.1));
  }
  return p;
}

/// The triangles of the boundary in units of the duck.
TriMesh stuffed_duck(double cell) {
  constexpr Vec3d kLower(-0.55, -0.3, -0.4), kUpper(0.65, 0.65, 0.4);
  std::array<int, 3> lower, size;
  for (std::size_t a = 0; a < 3; ++a) {
    lower[a] = int(std::floor(kLower[a] / cell)) - 2;
    size[a] = int(std::ceil(kUpper[a] / cell)) + 3 - lower[a];
  }
  const BccLattice lattice(lower, size);
  LatticeRegion region;
  region.is_inside.resize(lattice.point_count());
  region.is_pinned.resize(lattice.point_count());
  const auto value = [&](Vec3 p) { return duck(cell * Vec3d(p)); };
  for (BccLattice::Point p = 0; p < lattice.point_count(); ++p) {
    region.is_inside[p] = !lattice.is_on_rim(p) && value(lattice.position(p)) < 0;
  }
  region.crossing = [&](BccLattice::Point p, int d) {
    float inside = 0, outside = 1;
    for (int i = 0; i < 12; ++i) {
      const float t = 0.5f * (inside + outside);
      (value(lattice.position(p) + t * BccLattice::step_vector(d)) < 0 ? inside : outside) = t;
    }
    return 0.5f * (inside + outside);
  };
  Workers workers(1);
  return extract_surface(stuff_lattice(lattice, region, workers).mesh);
}

/// Vertices move to the middle of their neighbours, along the surface.
void even_out(std::vector<Vec3d>& points, std::span<const Face> faces) {
  constexpr int kPasses = 6;
  const EdgeAdjacency edges = edge_faces(faces, points.size());
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<Vec3d> sums(points.size());
    std::vector<int> counts(points.size(), 0);
    for (const auto& [a, b] : edges.edges) {
      sums[a] += points[b], sums[b] += points[a];
      ++counts[a], ++counts[b];
    }
    for (std::size_t v = 0; v < points.size(); ++v) {
      points[v] = onto_duck(0.5 * points[v] + 0.5 / counts[v] * sums[v]);
    }
  }
}

}  // namespace

TriMesh tri_duck(float size, float cell) {
  require_positive("tri_duck", "size", size);
  require_positive("tri_duck", "cell", cell);
  if (!(cell <= size / 16)) refuse_argument("tri_duck", "cell", "must be at most a 16th of the size");
  constexpr double kLength = 0.96;  // from beak to tail
  const double relative = kLength * double(cell) / double(size);
  require_size("tri_duck", 20 / (relative * relative * relative));
  TriMesh mesh = stuffed_duck(relative);
  std::vector<Vec3d> points;
  for (const Vec3 v : mesh.vertices) points.push_back(onto_duck(relative * Vec3d(v)));
  even_out(points, mesh.faces);
  double front = 0, back = 0;
  for (const Vec3d p : points) front = std::max(front, p.x), back = std::min(back, p.x);
  for (std::size_t v = 0; v < points.size(); ++v)
    mesh.vertices[v] = (points[v] * (double(size) / (front - back))).to_float();
  center_on_origin(mesh);
  return mesh;
}

}  // namespace pliant
