#include "geometry/refine_surface.h"

#include <algorithm>
#include <map>

namespace pliant {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;

/// Halves edges and remembers where.
class Halves {
 public:
  Halves(TriMesh& mesh, float longest) : mesh_(mesh), longest_(longest) {}

  /// The vertex in the middle of an edge that is too long, or kNone.
  std::uint32_t middle(std::uint32_t a, std::uint32_t b) {
    if (!(length(mesh_.vertices[a] - mesh_.vertices[b]) > longest_)) return kNone;
    const auto [found, is_new] = known_.try_emplace({std::min(a, b), std::max(a, b)}, kNone);
    if (is_new) found->second = add(found->first[0], found->first[1]);
    return found->second;
  }

 private:
  std::uint32_t add(std::uint32_t a, std::uint32_t b) {
    const auto vertex = std::uint32_t(mesh_.vertices.size());
    mesh_.vertices.push_back(0.5f * (mesh_.vertices[a] + mesh_.vertices[b]));
    if (!mesh_.normals.empty()) {
      mesh_.normals.push_back(normalized(mesh_.normals[a] + mesh_.normals[b], mesh_.normals[a]));
    }
    if (!mesh_.uvs.empty()) {
      mesh_.uvs.push_back({0.5f * (mesh_.uvs[a].x + mesh_.uvs[b].x), 0.5f * (mesh_.uvs[a].y + mesh_.uvs[b].y)});
    }
    return vertex;
  }

  TriMesh& mesh_;
  float longest_;
  std::map<std::array<std::uint32_t, 2>, std::uint32_t> known_;
};

/// One face as two, three or four, by the middles of its edges.
void split(Face f, std::array<std::uint32_t, 3> m, std::vector<Face>& out) {
  const auto count = 3 - std::count(m.begin(), m.end(), kNone);
  if (count == 0) return out.push_back(f);
  if (count == 3) {
    for (const Face& part : {Face{f[0], m[0], m[2]}, {m[0], f[1], m[1]}, {m[2], m[1], f[2]}, {m[0], m[1], m[2]}}) {
      out.push_back(part);
    }
    return;
  }
  // So that the first edge is halved and, where there are two, the second.
  while (m[0] == kNone || (count == 2 && m[1] == kNone)) {
    std::rotate(f.begin(), f.begin() + 1, f.end()), std::rotate(m.begin(), m.begin() + 1, m.end());
  }
  if (count == 1) {
    out.push_back({f[0], m[0], f[2]}), out.push_back({m[0], f[1], f[2]});
  } else {
    out.push_back({m[0], f[1], m[1]}), out.push_back({f[0], m[0], m[1]}), out.push_back({f[0], m[1], f[2]});
  }
}

}  // namespace

TriMesh refine_edges(TriMesh mesh, float longest, std::size_t most) {
  constexpr int kMostPasses = 24;
  std::vector<Face> faces;
  for (int pass = 0; pass < kMostPasses && mesh.faces.size() <= most; ++pass) {
    Halves halves(mesh, longest);
    faces.clear();
    for (const Face& f : mesh.faces) {
      split(f, {halves.middle(f[0], f[1]), halves.middle(f[1], f[2]), halves.middle(f[2], f[0])}, faces);
    }
    if (faces.size() == mesh.faces.size()) break;
    mesh.faces.swap(faces);
  }
  return mesh;
}

}  // namespace pliant
