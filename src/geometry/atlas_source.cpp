#include "geometry/atlas_source.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "geometry/adjacency.h"
#include "geometry/corner_fans.h"
#include "geometry/surface_mend.h"
#include "geometry/union_find.h"

namespace pliant {
namespace {

constexpr double kWeldShare = 1e-6;  ///< of the longest side
constexpr float kSameUv = 1e-5f;
/// Share of the surface that may have no area in the texture before the coordinates are of no use.
constexpr double kMaxFlatShare = 0.01;

Error refusal(std::string message, std::string field = "mesh") {
  return Error{.message = std::move(message), .field = std::move(field)};
}

Status check_given(const TriMesh& mesh) {
  if (mesh.faces.empty()) return refusal("the mesh has no faces");
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    if (!is_finite(mesh.vertices[i])) return refusal("a coordinate is not finite", fmt::format("vertices[{}]", i));
  }
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    for (const std::uint32_t v : mesh.faces[f]) {
      if (v >= mesh.vertices.size()) {
        return refusal(fmt::format("it names vertex {}, but there are {}", v, mesh.vertices.size()),
                       fmt::format("faces[{}]", f));
      }
    }
  }
  return {};
}

/// Finds the middle and longest side. False if the mesh has none.
bool find_frame(const TriMesh& mesh, AtlasSource& out) {
  const Aabb box = mesh.bounds();
  out.middle = 0.5 * (Vec3d(box.lower) + Vec3d(box.upper));
  const Vec3d sides = Vec3d(box.upper) - Vec3d(box.lower);
  out.size = std::max({sides.x, sides.y, sides.z});
  return out.size > 0;
}

/// That every edge has two faces which run along it in opposite directions.
Status check_closed(const TriMesh& given, const MendedSurface& mended, const EdgeAdjacency& edges) {
  std::size_t open = 0, crowded = 0, against = 0, first = edges.edges.size();
  for (std::size_t e = 0; e < edges.edges.size(); ++e) {
    const auto around = edges.elements[e];
    const auto [a, b] = edges.edges[e];
    const bool agrees =
        around.size() == 2 && runs_along(mended.faces[around[0]], a, b) != runs_along(mended.faces[around[1]], a, b);
    if (agrees) continue;
    if (around.size() == 1) ++open;
    if (around.size() > 2) ++crowded;
    if (around.size() == 2) ++against;
    if (first == edges.edges.size()) first = e;
  }
  if (first == edges.edges.size()) return {};
  const auto place = [&](std::size_t end) {
    const Vec3 p = given.vertices[edges.edges[first][end]];
    return fmt::format("({:.4g}, {:.4g}, {:.4g})", p.x, p.y, p.z);
  };
  const std::string where = fmt::format("the first from {} to {}", place(0), place(1));
  const char* remedy = "mend it, or ask for `fill`, which takes the surface of a lattice in it";
  if (crowded > 0) {
    return refusal(fmt::format("the mesh has {} edges with more than two faces, {}: {}", crowded, where, remedy));
  }
  if (open > 0) {
    return refusal(fmt::format("the mesh is open: {} edges around {} holes have one face only, {}: {}", open,
                               mended.holes, where, remedy));
  }
  return refusal(fmt::format("the mesh has no inside and outside: {} edges where it turns over, {}", against, where));
}

/// Vertices where parts of the surface meet in a point become one for each part; vertices that no face has are gone.
std::size_t split_pinches(const std::vector<std::array<std::uint32_t, 3>>& neighbors, GroupedSurface& surface) {
  UnionFind fans = corner_fans(surface.faces, neighbors, [](std::uint32_t, std::uint32_t) { return true; });
  std::vector<std::uint32_t> number(3 * surface.faces.size(), kNoNeighbor);
  std::vector<bool> is_used(surface.vertices.size(), false);
  std::vector<Vec3> vertices;
  std::size_t pinches = 0;
  for (std::uint32_t c = 0; c < number.size(); ++c) {
    std::uint32_t& vertex = surface.faces[c / 3][c % 3];
    const std::uint32_t fan = fans.root(c);
    if (number[fan] == kNoNeighbor) {
      number[fan] = std::uint32_t(vertices.size());
      vertices.push_back(surface.vertices[vertex]);
      pinches += is_used[vertex] ? 1 : 0;
      is_used[vertex] = true;
    }
    vertex = number[fan];
  }
  surface.vertices = std::move(vertices);
  return pinches;
}

double uv_area(const std::array<Vec2, 3>& t) {
  const double bx = double(t[1].x) - double(t[0].x), by = double(t[1].y) - double(t[0].y);
  const double cx = double(t[2].x) - double(t[0].x), cy = double(t[2].y) - double(t[0].y);
  return 0.5 * (bx * cy - cx * by);
}

double face_area(const GroupedSurface& s, const Face& f) {
  const Vec3d a(s.vertices[f[0]]);
  return 0.5 * length(cross(Vec3d(s.vertices[f[1]]) - a, Vec3d(s.vertices[f[2]]) - a));
}

bool same(Vec2 a, Vec2 b) { return std::abs(a.x - b.x) <= kSameUv && std::abs(a.y - b.y) <= kSameUv; }

/// Charts from texture coordinates: faces that have the same ones along their common edge, and lie in the texture the
/// same way round. False, with a note, if they are of no use.
bool find_charts(const std::vector<std::array<std::uint32_t, 3>>& neighbors, AtlasSource& out) {
  GroupedSurface& s = out.surface;
  std::vector<bool> is_turned;
  double flat = 0;
  for (std::size_t f = 0; f < s.faces.size(); ++f) {
    const double area = uv_area(out.uvs[f]);
    if (!(std::abs(area) > 1e-12)) flat += face_area(s, s.faces[f]);
    is_turned.push_back(area < 0);
  }
  if (flat > kMaxFlatShare * out.area) {
    out.notes.push_back(
        fmt::format("the mesh's texture coordinates were not used: {:.0f} % of it has no area in the texture",
                    100 * flat / out.area));
    return false;
  }
  UnionFind charts(s.faces.size());
  for (std::uint32_t f = 0; f < s.faces.size(); ++f) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t g = neighbors[f][i];
      const auto uv_of = [&](std::uint32_t vertex) {
        for (std::size_t k = 0; k < 2; ++k) {
          if (s.faces[g][k] == vertex) return out.uvs[g][k];
        }
        return out.uvs[g][2];
      };
      const std::size_t j = (i + 1) % 3;
      const bool joined = is_turned[f] == is_turned[g] && same(out.uvs[f][i], uv_of(s.faces[f][i])) &&
                          same(out.uvs[f][j], uv_of(s.faces[f][j]));
      if (joined) charts.join(f, g);
      if (!joined) s.fixed[f][i] |= kSeam;
    }
  }
  std::vector<std::uint32_t> number(s.faces.size(), kNoNeighbor);
  out.charts = 0;
  for (std::uint32_t f = 0; f < s.faces.size(); ++f) {
    std::uint32_t& n = number[charts.root(f)];
    if (n == kNoNeighbor) n = out.charts++;
    s.groups[f] = n;
  }
  const std::size_t most = std::max<std::size_t>(64, s.faces.size() / 8);
  if (out.charts <= most) return true;
  out.notes.push_back(fmt::format("the mesh's texture coordinates were not used: they cut its {} faces into {} charts",
                                  s.faces.size(), out.charts));
  return false;
}

void forget_charts(AtlasSource& out) {
  out.uvs.clear();
  out.charts = 1;
  std::fill(out.surface.groups.begin(), out.surface.groups.end(), 0u);
  for (auto& marks : out.surface.fixed) marks = {};
}

}  // namespace

Result<AtlasSource> make_atlas_source(const TriMesh& mesh, bool use_uvs, Workers& workers) {
  if (Status status = check_given(mesh); !status) return status.error();
  AtlasSource out;
  if (!find_frame(mesh, out)) return refusal("the mesh has no extent");
  std::vector<Vec3> vertices;
  for (const Vec3 v : mesh.vertices) vertices.push_back(((Vec3d(v) - out.middle) / out.size).to_float());
  MendedSurface mended = mend_surface(vertices, mesh.faces, kWeldShare, workers);
  if (mended.faces.empty()) return refusal("the mesh has no face with an area");
  const EdgeAdjacency edges = edge_faces(mended.faces, mended.vertices.size());
  if (Status status = check_closed(mesh, mended, edges); !status) return status.error();

  out.surface = {std::move(mended.vertices), std::move(mended.faces), {}, {}};
  out.surface.groups.assign(out.surface.faces.size(), 0);
  out.surface.fixed.assign(out.surface.faces.size(), {});
  out.sources = std::move(mended.sources);
  for (std::size_t f = 0; f < out.sources.size(); ++f) {
    out.turned.push_back(mended.corners[f] != mesh.faces[out.sources[f]] ? 1 : 0);
  }
  const auto neighbors = face_neighbors(out.surface.faces, edges);
  if (const std::size_t pinches = split_pinches(neighbors, out.surface); pinches > 0) {
    out.notes.push_back(fmt::format("{} vertices where parts of the mesh touched in a point were parted", pinches));
  }
  if (mended.dropped > 0)
    out.notes.push_back(fmt::format("{} faces were dropped: duplicates, or without area", mended.dropped));
  if (mended.flipped > 0) out.notes.push_back(fmt::format("{} faces faced the wrong way", mended.flipped));
  for (const Face& f : out.surface.faces) out.area += face_area(out.surface, f);
  if (!(enclosed_volume({out.surface.vertices, out.surface.faces, {}, {}}) > 0)) {
    return refusal("the mesh encloses no volume: it is folded flat, or its parts face against each other");
  }
  if (!use_uvs || mesh.uvs.size() != mesh.vertices.size()) return out;
  for (const Face& corners : mended.corners) {
    out.uvs.push_back({mesh.uvs[corners[0]], mesh.uvs[corners[1]], mesh.uvs[corners[2]]});
  }
  for (const auto& t : out.uvs) {
    for (const Vec2 uv : t) {
      if (std::isfinite(uv.x) && std::isfinite(uv.y)) continue;
      return refusal("a texture coordinate is not finite", "uvs");
    }
  }
  if (!find_charts(neighbors, out)) forget_charts(out);
  return out;
}

}  // namespace pliant
