#include "pliant/mesh.h"

#include "geometry/adjacency.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

Aabb bounds_of(const std::vector<Vec3>& points) {
  Aabb box;
  for (const Vec3 p : points) box.include(p);
  return box;
}

template <std::size_t N>
bool in_range(const std::array<std::uint32_t, N>& element, const std::vector<Vec3>& points) {
  for (const std::uint32_t i : element) {
    if (i >= points.size()) return false;
  }
  return true;
}

}  // namespace

Aabb TriMesh::bounds() const { return bounds_of(vertices); }
Aabb TetMesh::bounds() const { return bounds_of(nodes); }

double TetMesh::volume() const {
  double sum = 0;
  for (const Tet& t : tets) {
    if (!in_range(t, nodes)) continue;
    sum += six_volumes(Vec3d(nodes[t[0]]), Vec3d(nodes[t[1]]), Vec3d(nodes[t[2]]), Vec3d(nodes[t[3]]));
  }
  return sum / 6;
}

double enclosed_volume(const TriMesh& mesh) {
  if (mesh.vertices.empty()) return 0;
  // Measured from a vertex of the mesh, not from the origin: far from it, the volumes of the cones would cancel.
  const Vec3d apex(mesh.vertices[0]);
  double sum = 0;
  for (const Face& f : mesh.faces) {
    if (!in_range(f, mesh.vertices)) continue;
    // The apex is the fourth corner of the tet below the face, so an outward face counts as positive.
    sum -= six_volumes(Vec3d(mesh.vertices[f[0]]), Vec3d(mesh.vertices[f[1]]), Vec3d(mesh.vertices[f[2]]), apex);
  }
  return sum / 6;
}

std::vector<Vec3> compute_normals(const TriMesh& mesh) {
  std::vector<Vec3d> sums(mesh.vertices.size());
  for (const Face& f : mesh.faces) {
    if (!in_range(f, mesh.vertices)) continue;
    const Vec3d a(mesh.vertices[f[0]]), b(mesh.vertices[f[1]]), c(mesh.vertices[f[2]]);
    const Vec3d twice_area = cross(b - a, c - a);
    for (const std::uint32_t v : f) sums[v] += twice_area;
  }
  std::vector<Vec3> normals(mesh.vertices.size());
  for (std::size_t v = 0; v < sums.size(); ++v) {
    // A vertex without faces gets some unit vector rather than one of no length, which glTF and shaders refuse.
    const Vec3d n = normalized(sums[v], {0, 1, 0});
    normals[v] = is_finite(n) ? n.to_float() : Vec3{0, 1, 0};
  }
  return normals;
}

TriMesh extract_surface(const TetMesh& mesh, std::vector<std::uint32_t>* surface_nodes) {
  // Faces that belong to one tet only, in the order of the tets.
  const Csr groups = group_tet_faces(mesh.tets, mesh.nodes.size());
  std::vector<bool> is_outer(4 * mesh.tets.size(), false);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].size() == 1) is_outer[groups[g][0]] = true;
  }
  TriMesh surface;
  std::vector<std::uint32_t> vertex_of_node(mesh.nodes.size(), kNoNeighbor);
  for (std::size_t h = 0; h < is_outer.size(); ++h) {
    if (!is_outer[h]) continue;
    Face face;
    for (std::size_t i = 0; i < 3; ++i) face[i] = mesh.tets[h / 4][kTetFaces[h % 4][i]];
    for (const std::uint32_t node : face) vertex_of_node[node] = 0;
    surface.faces.push_back(face);
  }

  std::vector<std::uint32_t> nodes_of_vertices;
  for (std::uint32_t node = 0; node < mesh.nodes.size(); ++node) {
    if (vertex_of_node[node] == kNoNeighbor) continue;
    vertex_of_node[node] = std::uint32_t(surface.vertices.size());
    surface.vertices.push_back(mesh.nodes[node]);
    nodes_of_vertices.push_back(node);
  }
  for (Face& face : surface.faces) {
    for (std::uint32_t& i : face) i = vertex_of_node[i];
  }
  if (surface_nodes) *surface_nodes = std::move(nodes_of_vertices);
  return surface;
}

}  // namespace pliant
