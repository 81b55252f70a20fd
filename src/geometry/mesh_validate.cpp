// What makes a mesh valid. Elements are judged relative to their own size: a mesh of a millimetre and one of a
// kilometre with the same form get the same verdict.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "geometry/adjacency.h"
#include "math/vec3d.h"
#include "pliant/mesh.h"

namespace pliant {
namespace {

/// An element whose smallest height is less than this share of its longest edge counts as degenerate. Positions are
/// floats, so heights below 1e-7 of the edge are rounding and nothing else.
constexpr double kMinRelativeHeight = 1e-6;

class Problems {
 public:
  explicit Problems(std::size_t max) : max_(max) {}
  bool full() const { return list_.size() >= max_; }
  void add(MeshProblem::Kind kind, std::size_t element, std::string message) {
    if (!full()) list_.push_back({kind, std::uint32_t(element), std::move(message)});
  }
  std::vector<MeshProblem> take() { return std::move(list_); }

 private:
  std::size_t max_;
  std::vector<MeshProblem> list_;
};

void check_finite(const std::vector<Vec3>& points, const char* name, Problems& problems) {
  for (std::size_t i = 0; i < points.size() && !problems.full(); ++i) {
    const Vec3 p = points[i];
    if (is_finite(p)) continue;
    problems.add(MeshProblem::Kind::NotFinite, i,
                 fmt::format("{} {} is not finite: it lies at ({}, {}, {})", name, i, p.x, p.y, p.z));
  }
}

/// Attributes that must come once per point or per element, or not at all.
void check_count(std::size_t count, std::size_t expected, const char* what, const char* per, Problems& problems) {
  if (count == 0 || count == expected) return;
  problems.add(MeshProblem::Kind::IndexOutOfRange, std::min(count, expected),
               fmt::format("the mesh has {} {} for {} {}: give one each, or none", count, what, expected, per));
}

template <std::size_t N>
void check_indices(const std::vector<std::array<std::uint32_t, N>>& elements, std::size_t count, const char* element,
                   const char* point, Problems& problems) {
  for (std::size_t e = 0; e < elements.size() && !problems.full(); ++e) {
    for (const std::uint32_t i : elements[e]) {
      if (i < count) continue;
      problems.add(MeshProblem::Kind::IndexOutOfRange, e,
                   fmt::format("{} {} names {} {}, but there are only {}", element, e, point, i, count));
      break;
    }
  }
}

/// The element's corners, if they all exist and are finite; what is wrong with others has been said already.
template <std::size_t N>
bool corners_of(const std::array<std::uint32_t, N>& element, const std::vector<Vec3>& points,
                std::array<Vec3d, N>& corners) {
  for (std::size_t i = 0; i < N; ++i) {
    if (element[i] >= points.size() || !is_finite(points[element[i]])) return false;
    corners[i] = Vec3d(points[element[i]]);
  }
  return true;
}

template <std::size_t N>
bool names_twice(const std::array<std::uint32_t, N>& element, std::uint32_t& twice) {
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = i + 1; j < N; ++j) {
      if (element[i] == element[j]) return twice = element[i], true;
    }
  }
  return false;
}

template <std::size_t N>
double longest_edge(const std::array<Vec3d, N>& corners) {
  double longest = 0;
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = i + 1; j < N; ++j) longest = std::max(longest, length(corners[i] - corners[j]));
  }
  return longest;
}

void check_face(const TriMesh& mesh, std::size_t f, Problems& problems) {
  std::array<Vec3d, 3> p;
  if (!corners_of(mesh.faces[f], mesh.vertices, p)) return;
  std::uint32_t twice;
  if (names_twice(mesh.faces[f], twice)) {
    problems.add(MeshProblem::Kind::Degenerate, f, fmt::format("face {} names vertex {} twice", f, twice));
    return;
  }
  const double longest = longest_edge(p);
  const double twice_area = length(cross(p[1] - p[0], p[2] - p[0]));
  if (twice_area > kMinRelativeHeight * longest * longest) return;
  problems.add(MeshProblem::Kind::Degenerate, f,
               fmt::format("face {} is degenerate: its area is {:.2g} m² with a longest edge of {:.2g} m", f,
                           twice_area / 2, longest));
}

void check_tet(const TetMesh& mesh, std::size_t t, Problems& problems) {
  std::array<Vec3d, 4> p;
  if (!corners_of(mesh.tets[t], mesh.nodes, p)) return;
  std::uint32_t twice;
  if (names_twice(mesh.tets[t], twice)) {
    problems.add(MeshProblem::Kind::Degenerate, t, fmt::format("tet {} names node {} twice", t, twice));
    return;
  }
  double largest_face = 0;  // twice its area
  for (const auto& f : kTetFaces) {
    largest_face = std::max(largest_face, length(cross(p[f[1]] - p[f[0]], p[f[2]] - p[f[0]])));
  }
  // The smallest height is six volumes over twice the largest face.
  const double longest = longest_edge(p), six_v = six_volumes(p[0], p[1], p[2], p[3]);
  if (std::abs(six_v) <= kMinRelativeHeight * longest * largest_face) {
    problems.add(MeshProblem::Kind::Degenerate, t,
                 fmt::format("tet {} is degenerate: its volume is {:.2g} m³ with a longest edge of {:.2g} m", t,
                             six_v / 6, longest));
  } else if (six_v < 0) {
    problems.add(MeshProblem::Kind::Inverted, t,
                 fmt::format("tet {} is inverted: its volume is {:.2g} m³", t, six_v / 6));
  }
}

void check_edges(const TriMesh& mesh, bool require_closed, Problems& problems) {
  const EdgeAdjacency adjacency = edge_faces(mesh.faces, mesh.vertices.size());
  for (std::size_t e = 0; e < adjacency.edges.size() && !problems.full(); ++e) {
    const auto [a, b] = adjacency.edges[e];
    const auto faces = adjacency.elements[e];
    if (faces.size() > 2) {
      problems.add(MeshProblem::Kind::NonManifold, faces[2],
                   fmt::format("face {} is one face too many at the edge from vertex {} to {}: {} faces share it",
                               faces[2], a, b, faces.size()));
    } else if (require_closed && faces.size() == 1) {
      problems.add(MeshProblem::Kind::Open, faces[0],
                   fmt::format("face {} has no neighbour at the edge from vertex {} to {}: the surface is open",
                               faces[0], a, b));
    } else if (require_closed && runs_along(mesh.faces[faces[0]], a, b) == runs_along(mesh.faces[faces[1]], a, b)) {
      problems.add(MeshProblem::Kind::InconsistentFaces, faces[1],
                   fmt::format("face {} and its neighbour {} at the edge from vertex {} to {} face opposite ways",
                               faces[1], faces[0], a, b));
    }
  }
}

/// The nodes of a half face, turned so that the smallest comes first: two half faces with equal results face the same
/// way.
std::array<std::uint32_t, 3> turned_half_face(const TetMesh& mesh, std::uint32_t half_face) {
  std::array<std::uint32_t, 3> nodes;
  for (std::size_t i = 0; i < 3; ++i) nodes[i] = mesh.tets[half_face / 4][kTetFaces[half_face % 4][i]];
  std::rotate(nodes.begin(), std::min_element(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

void check_tet_faces(const TetMesh& mesh, bool require_closed, Problems& problems) {
  const Csr groups = group_tet_faces(mesh.tets, mesh.nodes.size());
  for (std::size_t g = 0; g < groups.size() && !problems.full(); ++g) {
    const auto halves = groups[g];
    const auto nodes = turned_half_face(mesh, halves[0]);
    if (halves.size() > 2) {
      problems.add(MeshProblem::Kind::NonManifold, halves[2] / 4,
                   fmt::format("tet {} is one tet too many at the face of nodes {}, {}, {}: {} tets share it",
                               halves[2] / 4, nodes[0], nodes[1], nodes[2], halves.size()));
    } else if (require_closed && halves.size() == 2 && nodes == turned_half_face(mesh, halves[1])) {
      problems.add(MeshProblem::Kind::InconsistentFaces, halves[1] / 4,
                   fmt::format("tets {} and {} lie on the same side of their common face of nodes {}, {}, {}",
                               halves[0] / 4, halves[1] / 4, nodes[0], nodes[1], nodes[2]));
    }
  }
}

void check_node_sets(const TetMesh& mesh, Problems& problems) {
  for (const auto& [name, nodes] : mesh.node_sets) {
    for (const std::uint32_t node : nodes) {
      if (node < mesh.nodes.size()) continue;
      problems.add(MeshProblem::Kind::IndexOutOfRange, node,
                   fmt::format("node set \"{}\" names node {}, but there are only {}", name, node, mesh.nodes.size()));
      break;
    }
  }
}

}  // namespace

std::vector<MeshProblem> validate(const TriMesh& mesh, const ValidateOptions& options) {
  Problems problems(options.max_problems);
  check_finite(mesh.vertices, "vertex", problems);
  check_count(mesh.normals.size(), mesh.vertices.size(), "normals", "vertices", problems);
  check_count(mesh.uvs.size(), mesh.vertices.size(), "uvs", "vertices", problems);
  check_indices(mesh.faces, mesh.vertices.size(), "face", "vertex", problems);
  for (std::size_t f = 0; f < mesh.faces.size() && !problems.full(); ++f) check_face(mesh, f, problems);
  if (!problems.full()) check_edges(mesh, options.require_closed, problems);
  return problems.take();
}

std::vector<MeshProblem> validate(const TetMesh& mesh, const ValidateOptions& options) {
  Problems problems(options.max_problems);
  check_finite(mesh.nodes, "node", problems);
  check_count(mesh.regions.size(), mesh.tets.size(), "regions", "tets", problems);
  check_indices(mesh.tets, mesh.nodes.size(), "tet", "node", problems);
  check_node_sets(mesh, problems);
  for (std::size_t t = 0; t < mesh.tets.size() && !problems.full(); ++t) check_tet(mesh, t, problems);
  if (!problems.full()) check_tet_faces(mesh, options.require_closed, problems);
  return problems.take();
}

}  // namespace pliant
