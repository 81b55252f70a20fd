#include "geometry/creases.h"

#include <algorithm>
#include <cmath>

#include "geometry/adjacency.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

bool share_edge_at(const Face& a, const Face& b, std::uint32_t vertex) {
  for (const std::uint32_t i : a) {
    if (i != vertex && std::find(b.begin(), b.end(), i) != b.end()) return true;
  }
  return false;
}

/// Groups the faces around a vertex into smooth patches: patch[i] is the number of the patch of faces[i].
std::vector<std::uint32_t> smooth_patches(const TriMesh& mesh, std::span<const std::uint32_t> faces,
                                          std::uint32_t vertex, const std::vector<Vec3d>& normals, double min_cos) {
  constexpr std::uint32_t kNone = 0xffffffffu;
  std::vector<std::uint32_t> patch(faces.size(), kNone), open;
  std::uint32_t count = 0;
  for (std::uint32_t seed = 0; seed < faces.size(); ++seed) {
    if (patch[seed] != kNone) continue;
    patch[seed] = count;
    open.assign(1, seed);
    while (!open.empty()) {
      const std::uint32_t i = open.back();
      open.pop_back();
      for (std::uint32_t j = 0; j < faces.size(); ++j) {
        if (patch[j] != kNone || dot(normals[faces[i]], normals[faces[j]]) < min_cos) continue;
        if (!share_edge_at(mesh.faces[faces[i]], mesh.faces[faces[j]], vertex)) continue;
        patch[j] = count;
        open.push_back(j);
      }
    }
    ++count;
  }
  return patch;
}

}  // namespace

TriMesh split_creases(const TriMesh& mesh, double angle) {
  std::vector<Vec3d> normals(mesh.faces.size());
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    const auto corner = [&](int i) { return Vec3d(mesh.vertices[mesh.faces[f][i]]); };
    normals[f] = normalized(cross(corner(1) - corner(0), corner(2) - corner(0)));
  }
  TriMesh result;
  result.faces = mesh.faces;
  const bool has_uvs = mesh.uvs.size() == mesh.vertices.size();
  const Csr around = vertex_faces(mesh.faces, mesh.vertices.size());
  for (std::uint32_t v = 0; v < mesh.vertices.size(); ++v) {
    const auto faces = around[v];
    const auto patch = smooth_patches(mesh, faces, v, normals, std::cos(angle));
    const std::uint32_t first = std::uint32_t(result.vertices.size());
    const std::uint32_t copies = patch.empty() ? 1 : 1 + *std::max_element(patch.begin(), patch.end());
    result.vertices.insert(result.vertices.end(), copies, mesh.vertices[v]);
    if (has_uvs) result.uvs.insert(result.uvs.end(), copies, mesh.uvs[v]);
    for (std::size_t i = 0; i < faces.size(); ++i) {
      for (std::size_t corner = 0; corner < 3; ++corner) {
        if (mesh.faces[faces[i]][corner] == v) result.faces[faces[i]][corner] = first + patch[i];
      }
    }
  }
  result.normals = compute_normals(result);
  return result;
}

}  // namespace pliant
