#include "particle/jelly_builder.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "geometry/adjacency.h"
#include "math/vec3d.h"
#include "particle/element_check.h"

namespace pliant {

namespace {

constexpr int kClusterOverlap = 2;  // rings of nodes: with one, clusters hang together by a single layer

Status check(const JellyMaterial& material) {
  if (!(material.young_modulus > 0) || !std::isfinite(material.young_modulus)) {
    return wrong_value("young_modulus", fmt::format("is {}; must be positive and finite", material.young_modulus));
  }
  if (!(material.poisson_ratio >= 0 && material.poisson_ratio <= 0.499f)) {
    return wrong_value("poisson_ratio", fmt::format("is {}; must be from 0 to 0.499", material.poisson_ratio));
  }
  return {};
}

template <typename Mesh>
Status check_mesh(const Mesh& mesh, bool closed) {
  const auto problems = validate(mesh, {.require_closed = closed, .max_problems = 1});
  if (!problems.empty()) return wrong_value("mesh", problems[0].message);
  return {};
}

Status check(const TetMesh& mesh) {
  if (mesh.tets.empty()) return wrong_value("mesh", "has no tets");
  return check_mesh(mesh, false);
}

Status check(const TriMesh& surface) {
  if (surface.faces.empty()) return wrong_value("mesh", "has no faces");
  if (const Status status = check_mesh(surface, true); !status) return status;
  if (!(enclosed_volume(surface) > 0)) return wrong_value("mesh", "encloses no volume: its faces must look outward");
  return {};
}

double tet_volume(const TetMesh& mesh, const Tet& tet) {
  const auto x = [&](std::size_t c) { return Vec3d(mesh.nodes[tet[c]]); };
  return six_volumes(x(0), x(1), x(2), x(3)) / 6;
}
double face_area(const TriMesh& mesh, const Face& face) {
  const Vec3d a(mesh.vertices[face[0]]), b(mesh.vertices[face[1]]), c(mesh.vertices[face[2]]);
  return length(cross(b - a, c - a)) / 2;
}

/// A spring of the stiffness that makes k L² as large as `stiffness_length_squared` (N·m).
SpringTerm make_spring(std::span<const Vec3> points, std::uint32_t a, std::uint32_t b,
                       double stiffness_length_squared) {
  const Vec3d along = Vec3d(points[b]) - Vec3d(points[a]);
  return {{a, b},
          static_cast<float>(length(along)),
          static_cast<float>(stiffness_length_squared / length_squared(along)),
          normalized(along).to_float()};
}

/// The exponents of the fifteen products of four direction cosines, and their means over all directions.
struct Moment {
  int x, y, z;
  double mean;
};
std::vector<Moment> fourth_moments() {
  std::vector<Moment> moments;
  for (int x = 0; x <= 4; ++x) {
    for (int y = 0; x + y <= 4; ++y) {
      const int z = 4 - x - y;
      const bool single = x == 4 || y == 4 || z == 4, even = x % 2 == 0 && y % 2 == 0 && z % 2 == 0;
      moments.push_back({x, y, z, single ? 1.0 / 5 : even ? 1.0 / 15 : 0});
    }
  }
  return moments;
}

double product_of(Vec3d direction, const Moment& moment) {
  double product = 1;
  for (int i = 0; i < moment.x; ++i) product *= direction.x;
  for (int i = 0; i < moment.y; ++i) product *= direction.y;
  for (int i = 0; i < moment.z; ++i) product *= direction.z;
  return product;
}

/// Kaczmarz's method: the smallest change of `stiffness_length_squared` after which the springs around each node pull
/// as evenly in all directions as they can. The edges of a lattice prefer its axes: without this, bars cut from cubes
/// stretch a quarter too little.
void even_out(const TetMesh& mesh, const EdgeAdjacency& edges, double total_per_volume, std::vector<double>& energy) {
  constexpr int kSweeps = 40;
  constexpr double kRelaxation = 0.5, kLeast = 0.2;
  const std::vector<Moment> moments = fourth_moments();
  std::vector<std::vector<std::uint32_t>> around(mesh.nodes.size());
  for (std::uint32_t e = 0; e < edges.edges.size(); ++e) {
    for (const std::uint32_t node : edges.edges[e]) around[node].push_back(e);
  }
  const std::vector<float> volumes = node_masses(mesh, 1);
  const std::vector<double> first = energy;
  std::vector<double> parts;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t node = 0; node < mesh.nodes.size(); ++node) {
      for (const Moment& moment : moments) {
        parts.clear();
        double error = -moment.mean * total_per_volume * static_cast<double>(volumes[node]), size = 0;
        for (const std::uint32_t e : around[node]) {
          const auto [a, b] = edges.edges[e];
          const double part = product_of(normalized(Vec3d(mesh.nodes[b]) - Vec3d(mesh.nodes[a])), moment) / 2;
          error += part * energy[e], size += part * part * first[e] * first[e];
          parts.push_back(part);
        }
        if (!(size > 0)) continue;
        for (std::size_t i = 0; i < parts.size(); ++i) {
          const std::uint32_t e = around[node][i];
          energy[e] -= kRelaxation * error / size * parts[i] * first[e] * first[e];
          energy[e] = std::max(energy[e], kLeast * first[e]);
        }
      }
    }
  }
}

ShapeMatchingRest shape_rest(const std::vector<Vec3>& points, std::vector<float> masses, const EdgeAdjacency& edges,
                             std::size_t cluster_count) {
  ShapeMatchingRest rest;
  rest.positions = points;
  rest.masses = std::move(masses);
  rest.clusters = overlapping_clusters(points, edges.edges, cluster_count, kClusterOverlap);
  return rest;
}

}  // namespace

LameModuli lame_moduli(const JellyMaterial& material) {
  const double e = material.young_modulus, nu = material.poisson_ratio;
  return {e * nu / ((1 + nu) * (1 - 2 * nu)), e / (2 * (1 + nu))};
}

std::vector<float> node_masses(const TetMesh& mesh, float density) {
  std::vector<double> masses(mesh.nodes.size());
  for (const Tet& tet : mesh.tets) {
    for (const std::uint32_t node : tet) masses[node] += static_cast<double>(density) * tet_volume(mesh, tet) / 4;
  }
  return {masses.begin(), masses.end()};
}

std::vector<float> node_masses(const TriMesh& surface, float density) {
  std::vector<double> areas(surface.vertices.size());
  double total = 0;
  for (const Face& face : surface.faces) {
    const double area = face_area(surface, face);
    total += area;
    for (const std::uint32_t vertex : face) areas[vertex] += area / 3;
  }
  const double scale = static_cast<double>(density) * enclosed_volume(surface) / total;
  std::vector<float> masses;
  for (const double area : areas) masses.push_back(static_cast<float>(scale * area));
  return masses;
}

Result<MassSpringRest> mass_spring_rest(const TetMesh& mesh, const JellyMaterial& material) {
  if (const Status status = check(material); !status) return status.error();
  if (const Status status = check(mesh); !status) return status.error();
  JellyMaterial possible = material;
  possible.poisson_ratio = std::max(material.poisson_ratio, 0.25f);
  const auto [lambda, mu] = lame_moduli(possible);

  MassSpringRest rest;
  rest.node_count = mesh.nodes.size();
  const EdgeAdjacency edges = edge_tets(mesh.tets, mesh.nodes.size());
  std::vector<double> energy;
  for (std::size_t e = 0; e < edges.edges.size(); ++e) {
    double volume = 0;
    for (const std::uint32_t tet : edges.elements[e]) volume += tet_volume(mesh, mesh.tets[tet]);
    energy.push_back(2.5 * mu * volume);
  }
  even_out(mesh, edges, 15 * mu, energy);
  for (std::size_t e = 0; e < edges.edges.size(); ++e) {
    rest.springs.push_back(make_spring(mesh.nodes, edges.edges[e][0], edges.edges[e][1], energy[e]));
  }
  // Without the volume terms a tet rests as well inside out: they are never left out altogether.
  const double modulus = std::max(lambda - mu, 0.1 * mu);
  for (const Tet& tet : mesh.tets) {
    rest.volumes.push_back({tet, static_cast<float>(tet_volume(mesh, tet)), static_cast<float>(modulus)});
  }
  return rest;
}

Result<MassSpringRest> mass_spring_rest(const TriMesh& surface, const JellyMaterial& material, float thickness) {
  if (const Status status = check(material); !status) return status.error();
  if (const Status status = check(surface); !status) return status.error();
  if (!(thickness > 0) || !std::isfinite(thickness)) {
    return wrong_value("thickness", fmt::format("is {}; must be positive and finite", thickness));
  }
  MassSpringRest rest;
  rest.node_count = surface.vertices.size();
  const double tension = static_cast<double>(material.young_modulus) * static_cast<double>(thickness);
  const EdgeAdjacency edges = edge_faces(surface.faces, surface.vertices.size());
  for (std::size_t e = 0; e < edges.edges.size(); ++e) {
    const auto [a, b] = edges.edges[e];
    double area = 0;
    std::uint32_t apex[2] = {a, a};
    const auto faces = edges.elements[e];
    for (std::size_t i = 0; i < faces.size() && i < 2; ++i) {
      const Face& face = surface.faces[faces[i]];
      area += face_area(surface, face);
      for (const std::uint32_t vertex : face) {
        if (vertex != a && vertex != b) apex[i] = vertex;
      }
    }
    rest.springs.push_back(make_spring(surface.vertices, a, b, tension * area));
    const bool hinge = apex[0] != apex[1] && apex[0] != a && apex[1] != a;
    if (hinge) rest.springs.push_back(make_spring(surface.vertices, apex[0], apex[1], tension * area));
  }
  const auto [lambda, mu] = lame_moduli(material);
  rest.enclosure = {surface.faces, static_cast<float>(enclosed_volume(surface)),
                    static_cast<float>(lambda + 2 * mu / 3)};
  return rest;
}

Result<PositionBasedRest> position_based_rest(const TetMesh& mesh, const JellyMaterial& material) {
  if (const Status status = check(material); !status) return status.error();
  if (const Status status = check(mesh); !status) return status.error();
  const auto [lambda, mu] = lame_moduli(material);
  // Without a volume constraint a tet rests as well inside out.
  const float volume_modulus = static_cast<float>(std::max(lambda, 0.1 * mu));
  PositionBasedRest rest;
  rest.node_count = mesh.nodes.size();
  for (const Tet& tet : mesh.tets) {
    const auto x = [&](std::size_t c) { return Vec3d(mesh.nodes[tet[c]]); };
    const Vec3d e[3] = {x(1) - x(0), x(2) - x(0), x(3) - x(0)};
    const double volume = tet_volume(mesh, tet);
    const Vec3d rows[3] = {cross(e[1], e[2]), cross(e[2], e[0]), cross(e[0], e[1])};
    TetConstraint constraint{tet, {}, static_cast<float>(volume), static_cast<float>(mu), volume_modulus};
    for (std::size_t column = 0; column < 3; ++column) {
      for (std::size_t row = 0; row < 3; ++row) {
        constraint.inverse_rest[3 * column + row] = static_cast<float>(rows[row][column] / (6 * volume));
      }
    }
    rest.tets.push_back(constraint);
  }
  return rest;
}

std::vector<std::vector<std::uint32_t>> overlapping_clusters(std::span<const Vec3> points,
                                                             std::span<const std::array<std::uint32_t, 2>> edges,
                                                             std::size_t count, int rings) {
  const std::size_t nodes = points.size();
  count = std::min(std::max<std::size_t>(count, 1), nodes);
  // Centres are spread by taking, again and again, the node farthest from all centres so far.
  std::vector<double> distance(nodes, std::numeric_limits<double>::infinity());
  std::vector<std::uint32_t> owner(nodes);
  std::uint32_t center = 0;
  for (std::uint32_t c = 0; c < count; ++c) {
    for (std::uint32_t i = 0; i < nodes; ++i) {
      const double d = length_squared(Vec3d(points[i]) - Vec3d(points[center]));
      if (d < distance[i]) distance[i] = d, owner[i] = c;
    }
    center = static_cast<std::uint32_t>(std::max_element(distance.begin(), distance.end()) - distance.begin());
  }
  std::vector<std::vector<std::uint32_t>> clusters(count);
  for (std::uint32_t i = 0; i < nodes; ++i) clusters[owner[i]].push_back(i);
  for (int ring = 0; ring < rings && count > 1; ++ring) {
    std::vector<std::vector<std::uint32_t>> clusters_of(nodes);
    for (std::uint32_t c = 0; c < count; ++c) {
      for (const std::uint32_t node : clusters[c]) clusters_of[node].push_back(c);
    }
    for (const auto& [a, b] : edges) {
      for (const std::uint32_t c : clusters_of[a]) clusters[c].push_back(b);
      for (const std::uint32_t c : clusters_of[b]) clusters[c].push_back(a);
    }
    for (auto& cluster : clusters) {
      std::sort(cluster.begin(), cluster.end());
      cluster.erase(std::unique(cluster.begin(), cluster.end()), cluster.end());
    }
  }
  return clusters;
}

Result<ShapeMatchingRest> shape_matching_rest(const TetMesh& mesh, std::size_t cluster_count) {
  if (const Status status = check(mesh); !status) return status.error();
  return shape_rest(mesh.nodes, node_masses(mesh, 1000), edge_tets(mesh.tets, mesh.nodes.size()), cluster_count);
}

Result<ShapeMatchingRest> shape_matching_rest(const TriMesh& surface, std::size_t cluster_count) {
  if (const Status status = check(surface); !status) return status.error();
  const EdgeAdjacency edges = edge_faces(surface.faces, surface.vertices.size());
  return shape_rest(surface.vertices, node_masses(surface, 1000), edges, cluster_count);
}

}  // namespace pliant
