// Cloth from any triangle mesh: its edges, joined into straight lines, resist stretching but not compression (edges in
// three directions that resisted both would make every triangle rigid, and the cloth could not bend two ways); weak
// springs keep the triangles' shape, hinges at their edges resist bending.
#include <algorithm>
#include <cmath>
#include <map>

#include "particle/cloth_builder.h"

namespace pliant {
namespace {

using Edge = std::array<std::uint32_t, 2>;

struct EdgeFaces {
  Edge edge{};
  std::vector<std::uint32_t> opposite;  ///< the third vertex of each face
  float area = 0;                       ///< a third of the faces'
};

/// All edges, ascending by their vertices.
std::vector<EdgeFaces> collect_edges(const TriMesh& mesh) {
  std::map<Edge, EdgeFaces> edges;
  for (const Face& face : mesh.faces) {
    const Vec3 a = mesh.vertices[face[0]], b = mesh.vertices[face[1]], c = mesh.vertices[face[2]];
    const float area = 0.5f * length(cross(b - a, c - a));
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t p = face[k], q = face[(k + 1) % 3], r = face[(k + 2) % 3];
      EdgeFaces& entry = edges[{std::min(p, q), std::max(p, q)}];
      entry.edge = {std::min(p, q), std::max(p, q)};
      // The face that runs along the edge upward comes first: its side is the hinge's left.
      entry.opposite.insert(p < q ? entry.opposite.begin() : entry.opposite.end(), r);
      entry.area += area / 3;
    }
  }
  std::vector<EdgeFaces> list;
  for (auto& entry : edges) list.push_back(std::move(entry.second));
  return list;
}

/// The quadratic bending energy of two triangles that share an edge (Bergou et al. 2006): ½ k |Σ cᵢ xᵢ|², with
/// cotangent weights, measures the curvature across the edge.
Bend make_hinge(const TriMesh& mesh, const EdgeFaces& edge, float bend_stiffness) {
  const std::uint32_t i0 = edge.edge[0], i1 = edge.edge[1], i2 = edge.opposite[0], i3 = edge.opposite[1];
  const Vec3 x0 = mesh.vertices[i0], x1 = mesh.vertices[i1], x2 = mesh.vertices[i2], x3 = mesh.vertices[i3];
  const auto cotangent = [](Vec3 a, Vec3 b) { return dot(a, b) / std::max(length(cross(a, b)), 1e-12f); };
  const float c01 = cotangent(x1 - x0, x2 - x0), c02 = cotangent(x1 - x0, x3 - x0);
  const float c03 = cotangent(x0 - x1, x2 - x1), c04 = cotangent(x0 - x1, x3 - x1);
  const float area = 0.5f * (length(cross(x1 - x0, x2 - x0)) + length(cross(x1 - x0, x3 - x0)));
  Bend bend{.nodes = {i0, i1, i2, i3}, .weights = {c03 + c04, c01 + c02, -c01 - c03, -c02 - c04}};
  bend.stiffness = 3 * bend_stiffness / std::max(area, 1e-12f);
  Vec3 bent{};
  for (std::size_t k = 0; k < 4; ++k) bent += mesh.vertices[bend.nodes[k]] * bend.weights[k];
  const Vec3 normal = normalized(cross(x1 - x0, x2 - x0) + cross(x3 - x0, x1 - x0));
  const float rest = dot(bent, normal);
  bend.rest = std::abs(rest) > 1e-5f * length(x1 - x0) ? rest : 0.0f;
  return bend;
}

/// What chains leave explicit is how lines that are pulled turn each other. A mesh whose lines are long and whose edges
/// are short hangs with D/L edges of weight on one edge L, D across: beyond h² g D/L² of about one, edges here and
/// there are torn to and fro, however often the lines are solved.
float substep_of(const TriMesh& mesh, std::span<const EdgeFaces> edges) {
  constexpr float kLongest = 1.0f / 240, kShortest = 1.0f / 480, kMost = 0.8f, kGravity = 9.81f;
  Aabb box;
  for (const Vec3& x : mesh.vertices) box.include(x);
  double sum = 0;
  for (const EdgeFaces& e : edges) sum += double{length(mesh.vertices[e.edge[1]] - mesh.vertices[e.edge[0]])};
  const float mean = static_cast<float>(sum / static_cast<double>(std::max<std::size_t>(edges.size(), 1)));
  const float across = std::max({box.size().x, box.size().y, box.size().z});
  return std::clamp(mean * std::sqrt(kMost / (kGravity * std::max(across, 1e-6f))), kShortest, kLongest);
}

}  // namespace

std::vector<std::vector<std::uint32_t>> straightest_lines(const TriMesh& mesh) {
  const std::vector<EdgeFaces> edges = collect_edges(mesh);
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::vector<std::uint32_t>> at_vertex(mesh.vertices.size());
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    for (const std::uint32_t vertex : edges[e].edge) at_vertex[vertex].push_back(e);
  }
  // Which edge goes on at each end of an edge.
  std::vector<std::array<std::uint32_t, 2>> next(edges.size(), {kNone, kNone});
  const auto end_of = [&](std::uint32_t e, std::uint32_t vertex) { return edges[e].edge[0] == vertex ? 0u : 1u; };
  const auto other_end = [&](std::uint32_t e, std::uint32_t vertex) { return edges[e].edge[1 - end_of(e, vertex)]; };
  for (std::uint32_t vertex = 0; vertex < mesh.vertices.size(); ++vertex) {
    const auto direction = [&](std::uint32_t e) {
      return normalized(mesh.vertices[other_end(e, vertex)] - mesh.vertices[vertex]);
    };
    struct Turn {
      float cosine;
      std::uint32_t a, b;
    };
    std::vector<Turn> turns;
    const auto& around = at_vertex[vertex];
    for (std::size_t i = 0; i < around.size(); ++i) {
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        const float cosine = dot(direction(around[i]), direction(around[j]));
        if (cosine < -0.70710678f) turns.push_back({cosine, around[i], around[j]});
      }
    }
    std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.cosine < b.cosine; });
    for (const Turn& turn : turns) {
      std::uint32_t& from_a = next[turn.a][end_of(turn.a, vertex)];
      std::uint32_t& from_b = next[turn.b][end_of(turn.b, vertex)];
      if (from_a != kNone || from_b != kNone) continue;
      from_a = turn.b, from_b = turn.a;
    }
  }
  // Follow each line from an end of it; what is left are circles, which begin anywhere.
  std::vector<std::vector<std::uint32_t>> lines;
  std::vector<bool> used(edges.size(), false);
  const auto follow = [&](std::uint32_t edge, std::uint32_t from) {
    std::vector<std::uint32_t> line{from};
    std::vector<bool> seen(0);
    while (edge != kNone && !used[edge]) {
      const std::uint32_t to = other_end(edge, line.back());
      // A line that meets itself ends there, and another begins.
      if (std::find(line.begin(), line.end(), to) != line.end()) break;
      used[edge] = true;
      line.push_back(to);
      edge = next[edge][end_of(edge, to)];
    }
    if (line.size() > 1) lines.push_back(std::move(line));
  };
  for (const bool circles : {false, true}) {
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
      for (std::uint32_t end = 0; end < 2; ++end) {
        if (!used[e] && (circles || next[e][end] == kNone)) follow(e, edges[e].edge[end]);
      }
    }
  }
  return lines;
}

void build_mesh_cloth(const TriMesh& mesh, const ClothMaterial& material, ParticleModel& model) {
  model.rest = mesh.vertices;
  model.faces = mesh.faces;
  model.masses.assign(mesh.vertices.size(), 0);
  for (const Face& face : mesh.faces) {
    const Vec3 a = mesh.vertices[face[0]], b = mesh.vertices[face[1]], c = mesh.vertices[face[2]];
    const float share = material.density * length(cross(b - a, c - a)) / 6;
    for (const std::uint32_t node : face) model.masses[node] += share;
  }
  const std::vector<EdgeFaces> edges = collect_edges(mesh);
  model.longest_substep = substep_of(mesh, edges);
  double width = 0;
  for (const EdgeFaces& edge : edges) {
    const float rest = length(mesh.vertices[edge.edge[1]] - mesh.vertices[edge.edge[0]]);
    if (material.shear_stiffness > 0) {
      // An edge stands for the cloth a third of whose triangles it has.
      model.springs.push_back({.nodes = edge.edge,
                               .length = rest,
                               .stiffness = material.shear_stiffness * edge.area / std::max(rest * rest, 1e-12f)});
    }
    width += static_cast<double>(edge.area / std::max(rest, 1e-12f));
    if (edge.opposite.size() == 2 && material.bend_stiffness > 0) {
      model.hinges.push_back(make_hinge(mesh, edge, material.bend_stiffness));
    }
  }
  width /= static_cast<double>(std::max<std::size_t>(edges.size(), 1));
  for (const std::vector<std::uint32_t>& nodes : straightest_lines(mesh)) {
    ChainLine line{.nodes = nodes, .lengths = {}, .tension_only = true};
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const Edge edge{std::min(nodes[i], nodes[i + 1]), std::max(nodes[i], nodes[i + 1])};
      line.lengths.push_back(length(mesh.vertices[nodes[i + 1]] - mesh.vertices[nodes[i]]));
      if (std::isfinite(material.stretch_stiffness)) {
        line.compliance.push_back(line.lengths.back() / (material.stretch_stiffness * static_cast<float>(width)));
      }
      if (std::isfinite(material.strength)) {
        // Lines along an edge are as far from each other as its faces are high: their area over the edge's length.
        const auto found = std::lower_bound(edges.begin(), edges.end(), edge,
                                            [](const EdgeFaces& e, const Edge& key) { return e.edge < key; });
        line.strengths.push_back(material.strength * 3 * found->area / std::max(line.lengths.back(), 1e-12f));
      }
    }
    model.lines.push_back(std::move(line));
  }
}

}  // namespace pliant
