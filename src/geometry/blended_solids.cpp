#include "geometry/blended_solids.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "geometry/adjacency.h"
#include "geometry/generator_arguments.h"
#include "geometry/isosurface_stuffing.h"
#include "geometry/ring_surface.h"

namespace pliant {
namespace {

using Value = std::function<double(Vec3d)>;

/// Where the function vanishes nearest to p, by Newton's way along its gradient.
Vec3d onto_surface(const Value& value, Vec3d p) {
  constexpr double h = 1e-5;
  for (int i = 0; i < 5; ++i) {
    const double f = value(p);
    const Vec3d gradient{(value(p + Vec3d(h, 0, 0)) - f) / h, (value(p + Vec3d(0, h, 0)) - f) / h,
                         (value(p + Vec3d(0, 0, h)) - f) / h};
    p = p - gradient * (f / std::max(length_squared(gradient), 0.1));
  }
  return p;
}

/// The triangles of the boundary in units of the cell.
TriMesh stuffed(const Value& function, Vec3d low, Vec3d high, double cell) {
  std::array<int, 3> lower, size;
  for (std::size_t a = 0; a < 3; ++a) {
    lower[a] = int(std::floor(low[a] / cell)) - 2;
    size[a] = int(std::ceil(high[a] / cell)) + 3 - lower[a];
  }
  const BccLattice lattice(lower, size);
  LatticeRegion region;
  region.is_inside.resize(lattice.point_count());
  region.is_pinned.resize(lattice.point_count());
  const auto value = [&](Vec3 p) { return function(cell * Vec3d(p)); };
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
void even_out(const Value& value, std::vector<Vec3d>& points, std::span<const Face> faces) {
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
      points[v] = onto_surface(value, 0.5 * points[v] + 0.5 / counts[v] * sums[v]);
    }
  }
}

}  // namespace

double ellipsoid_distance(Vec3d p, Vec3d radii) {
  const Vec3d a{p.x / radii.x, p.y / radii.y, p.z / radii.z};
  const Vec3d b{a.x / radii.x, a.y / radii.y, a.z / radii.z};
  const double k = length(a), steepness = length(b);
  return steepness > 0 ? k * (k - 1) / steepness : -std::min({radii.x, radii.y, radii.z});
}

double stick_distance(Vec3d p, Vec3d a, Vec3d b, double radius_a, double radius_b) {
  const double t = std::clamp(dot(p - a, b - a) / length_squared(b - a), 0.0, 1.0);
  return length(p - a - t * (b - a)) - (radius_a + t * (radius_b - radius_a));
}

double blend(double a, double b, double radius) {
  const double h = std::max(radius - std::abs(a - b), 0.0) / radius;
  return std::min(a, b) - h * h * h * radius / 6;
}

double carve(double a, double b, double radius) { return -blend(-a, b, radius); }

TriMesh mesh_blended(const BlendedModel& model, float size, float cell) {
  require_positive(model.generator, "size", size);
  require_positive(model.generator, "cell", cell);
  if (!(cell <= size / float(model.least_cells))) {
    const std::string why = fmt::format("must be at most a {}th of the size", model.least_cells);
    refuse_argument(model.generator, "cell", why.c_str());
  }
  const double relative = model.extent * double(cell) / double(size);
  require_size(model.generator, 20 / (relative * relative * relative));
  TriMesh mesh = stuffed(model.value, model.lower, model.upper, relative);
  std::vector<Vec3d> points;
  for (const Vec3 v : mesh.vertices) points.push_back(onto_surface(model.value, relative * Vec3d(v)));
  even_out(model.value, points, mesh.faces);
  double high = 0, low = 0;
  for (const Vec3d p : points) high = std::max(high, p[model.axis]), low = std::min(low, p[model.axis]);
  for (std::size_t v = 0; v < points.size(); ++v) {
    mesh.vertices[v] = (points[v] * (double(size) / (high - low))).to_float();
  }
  center_on_origin(mesh);
  return mesh;
}

}  // namespace pliant
