#include "geometry/surface_faults.h"

#include <algorithm>
#include <vector>

#include "geometry/adjacency.h"

namespace pliant {
namespace {

void count_edges(const TriMesh& mesh, SurfaceFaults& faults) {
  const EdgeAdjacency adjacency = edge_faces(mesh.faces, mesh.vertices.size());
  for (std::size_t e = 0; e < adjacency.edges.size(); ++e) {
    const auto [a, b] = adjacency.edges[e];
    const auto faces = adjacency.elements[e];
    if (faces.size() == 1) {
      ++faults.open_edges;
    } else if (faces.size() > 2) {
      ++faults.crowded_edges;
    } else if (runs_along(mesh.faces[faces[0]], a, b) == runs_along(mesh.faces[faces[1]], a, b)) {
      if (++faults.opposed_edges == 1) faults.opposed = {faces[0], faces[1]};
    }
  }
}

void count_duplicates(const TriMesh& mesh, SurfaceFaults& faults) {
  std::vector<std::pair<Face, std::uint32_t>> sorted;
  sorted.reserve(mesh.faces.size());
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    Face face = mesh.faces[f];
    std::sort(face.begin(), face.end());
    sorted.emplace_back(face, f);
  }
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first != sorted[i - 1].first) continue;
    ++faults.duplicates;
    const SurfaceFaults::Pair pair{sorted[i - 1].second, sorted[i].second};
    if (!faults.duplicate || pair.second < faults.duplicate->second) faults.duplicate = pair;
  }
}

}  // namespace

SurfaceFaults find_surface_faults(const TriMesh& mesh) {
  SurfaceFaults faults;
  count_edges(mesh, faults);
  count_duplicates(mesh, faults);
  faults.is_inside_out = faults.has_volume() && enclosed_volume(mesh) < 0;
  return faults;
}

}  // namespace pliant
