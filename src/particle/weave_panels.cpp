#include "particle/weave_panels.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pliant {
namespace {

/// Faces whose normals differ by less are of one flat panel.
constexpr float kFlat = 0.9998f;  // cosine, about one degree

using Edge = std::array<std::uint32_t, 2>;

struct EdgeSide {
  std::uint32_t face, corner;
};

std::map<Edge, std::vector<EdgeSide>> sides_of_edges(const TriMesh& mesh) {
  std::map<Edge, std::vector<EdgeSide>> sides;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    for (std::uint32_t k = 0; k < 3; ++k) {
      const std::uint32_t a = mesh.faces[f][k], b = mesh.faces[f][(k + 1) % 3];
      sides[{std::min(a, b), std::max(a, b)}].push_back({f, k});
    }
  }
  return sides;
}

Vec3 twice_area(const TriMesh& mesh, const Face& f) {
  return cross(mesh.vertices[f[1]] - mesh.vertices[f[0]], mesh.vertices[f[2]] - mesh.vertices[f[0]]);
}

/// Faces that hang together by edges over which `goes_on(first, face)`.
template <typename GoesOn>
std::vector<WeavePanel> grow_panels(const TriMesh& mesh, const std::map<Edge, std::vector<EdgeSide>>& sides,
                                    GoesOn&& goes_on) {
  std::vector<WeavePanel> panels;
  std::vector<bool> used(mesh.faces.size(), false);
  for (std::uint32_t first = 0; first < mesh.faces.size(); ++first) {
    if (used[first]) continue;
    WeavePanel& panel = panels.emplace_back();
    panel.faces.push_back(first);
    used[first] = true;
    for (std::size_t i = 0; i < panel.faces.size(); ++i) {
      const Face f = mesh.faces[panel.faces[i]];
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t a = f[k], b = f[(k + 1) % 3];
        for (const EdgeSide& side : sides.at({std::min(a, b), std::max(a, b)})) {
          if (used[side.face] || !goes_on(first, side.face)) continue;
          used[side.face] = true;
          panel.faces.push_back(side.face);
        }
      }
    }
  }
  return panels;
}

/// Yarns run along the longest edge of the rim.
void lay_flat(const TriMesh& mesh, WeavePanel& panel, const std::map<Edge, std::vector<EdgeSide>>& sides) {
  std::vector<bool> is_mine(mesh.faces.size(), false);
  for (const std::uint32_t f : panel.faces) is_mine[f] = true;
  Vec3 along{};
  for (const std::uint32_t f : panel.faces) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = mesh.faces[f][k], b = mesh.faces[f][(k + 1) % 3];
      const auto& around = sides.at({std::min(a, b), std::max(a, b)});
      const auto mine = std::count_if(around.begin(), around.end(), [&](EdgeSide s) { return is_mine[s.face]; });
      const Vec3 edge = mesh.vertices[b] - mesh.vertices[a];
      // By a hair, so that rounding does not choose between equals.
      if (mine == 1 && length(edge) > 1.001f * length(along)) along = edge;
    }
  }
  const Vec3 normal = normalized(twice_area(mesh, mesh.faces[panel.faces[0]]), {0, 1, 0});
  const Vec3 u = normalized(along - normal * dot(along, normal), {1, 0, 0}), v = cross(normal, u);
  const Vec3 origin = mesh.vertices[mesh.faces[panel.faces[0]][0]];
  for (const std::uint32_t f : panel.faces) {
    std::array<Vec2, 3> corners;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 from = mesh.vertices[mesh.faces[f][k]] - origin;
      corners[k] = {dot(from, u), dot(from, v)};
    }
    panel.pattern.push_back(corners);
  }
}

float scale_of(const TriMesh& mesh) {
  double surface = 0, pattern = 0;
  for (const Face& f : mesh.faces) {
    const Vec2 a = mesh.uvs[f[0]], b = mesh.uvs[f[1]], c = mesh.uvs[f[2]];
    surface += static_cast<double>(length(twice_area(mesh, f)));
    pattern += std::abs(static_cast<double>((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)));
  }
  return pattern > 0 ? static_cast<float>(std::sqrt(surface / pattern)) : 1.0f;
}

void find_seams(const TriMesh& mesh, WeavePattern& pattern, const std::map<Edge, std::vector<EdgeSide>>& sides) {
  std::vector<std::array<std::uint32_t, 2>> place(mesh.faces.size());  // panel, and place in it
  for (std::uint32_t p = 0; p < pattern.panels.size(); ++p) {
    for (std::uint32_t i = 0; i < pattern.panels[p].faces.size(); ++i) place[pattern.panels[p].faces[i]] = {p, i};
  }
  // Edges at the rim, by the places of their ends.
  using Place = std::array<float, 3>;
  std::map<std::array<Place, 2>, std::vector<WeaveSeam::Side>> rims;
  for (const auto& [edge, around] : sides) {
    for (const EdgeSide& side : around) {
      const auto [panel, index] = place[side.face];
      const auto is_same = [&](const EdgeSide& other) { return place[other.face][0] == panel; };
      if (std::count_if(around.begin(), around.end(), is_same) != 1) continue;
      const Face& face = mesh.faces[side.face];
      Vec3 from = mesh.vertices[face[side.corner]], to = mesh.vertices[face[(side.corner + 1) % 3]];
      const std::array<Vec2, 3>& corners = pattern.panels[panel].pattern[index];
      WeaveSeam::Side rim{panel, corners[side.corner], corners[(side.corner + 1) % 3]};
      Place first{from.x, from.y, from.z}, second{to.x, to.y, to.z};
      if (second < first) std::swap(first, second), std::swap(rim.from, rim.to);
      rims[{first, second}].push_back(rim);
    }
  }
  for (const auto& [places, list] : rims) {
    for (std::size_t i = 1; i < list.size(); ++i) pattern.seams.push_back({list[0], list[i]});
  }
}

}  // namespace

WeavePattern find_pattern(const ClothWeave& weave) {
  const TriMesh& mesh = weave.mesh;
  WeavePattern pattern;
  const auto sides = sides_of_edges(mesh);
  if (!weave.uses_uvs) {
    const auto is_flat = [&](std::uint32_t first, std::uint32_t face) {
      return dot(normalized(twice_area(mesh, mesh.faces[first])), normalized(twice_area(mesh, mesh.faces[face]))) >
             kFlat;
    };
    pattern.panels = grow_panels(mesh, sides, is_flat);
    for (WeavePanel& panel : pattern.panels) lay_flat(mesh, panel, sides);
  } else {
    const float scale = weave.uv_scale > 0 ? weave.uv_scale : scale_of(mesh);
    const auto place = [&](std::uint32_t vertex) {
      return Vec2{mesh.uvs[vertex].x * scale, mesh.uvs[vertex].y * scale};
    };
    pattern.panels = grow_panels(mesh, sides, [](std::uint32_t, std::uint32_t) { return true; });
    for (WeavePanel& panel : pattern.panels) {
      for (const std::uint32_t f : panel.faces) {
        const Face& face = mesh.faces[f];
        panel.pattern.push_back({place(face[0]), place(face[1]), place(face[2])});
      }
    }
  }
  find_seams(mesh, pattern, sides);
  return pattern;
}

}  // namespace pliant
