#include "geometry/atlas_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "geometry/adjacency.h"
#include "geometry/chart_clusters.h"
#include "geometry/chart_flatten.h"
#include "geometry/chart_pack.h"
#include "geometry/corner_fans.h"
#include "geometry/primitives.h"
#include "geometry/texel_raster.h"
#include "geometry/union_find.h"

namespace pliant {
namespace {

using FaceList = std::vector<std::uint32_t>;

std::vector<FaceList> members(const std::vector<std::uint32_t>& charts) {
  const std::size_t count = charts.empty() ? 0 : std::size_t(*std::max_element(charts.begin(), charts.end())) + 1;
  std::vector<FaceList> out(count);
  for (std::uint32_t f = 0; f < charts.size(); ++f) out[charts[f]].push_back(f);
  return out;
}

/// Parts of a set of faces that hang together.
std::vector<FaceList> connected_parts(const FaceList& faces,
                                      const std::vector<std::array<std::uint32_t, 3>>& neighbors) {
  FaceList sorted = faces;
  std::sort(sorted.begin(), sorted.end());
  UnionFind parts(sorted.size());
  const auto local = [&](std::uint32_t f) { return std::lower_bound(sorted.begin(), sorted.end(), f); };
  for (std::uint32_t i = 0; i < sorted.size(); ++i) {
    for (const std::uint32_t g : neighbors[sorted[i]]) {
      const auto found = local(g);
      if (found != sorted.end() && *found == g) parts.join(i, std::uint32_t(found - sorted.begin()));
    }
  }
  std::vector<FaceList> out(sorted.size());
  for (std::uint32_t i = 0; i < sorted.size(); ++i) out[parts.root(i)].push_back(sorted[i]);
  out.erase(std::remove_if(out.begin(), out.end(), [](const FaceList& part) { return part.empty(); }), out.end());
  return out;
}

/// Charts flattened; those that cannot be are halved until they can.
std::vector<FlatChart> flatten_all(const TriMesh& surface, std::vector<FaceList> open) {
  const auto neighbors = face_neighbors(surface.faces, edge_faces(surface.faces, surface.vertices.size()));
  std::vector<FlatChart> done;
  for (std::size_t next = 0; next < open.size(); ++next) {
    FlatChart chart = chart_of(surface, open[next]);
    if (flatten(surface, chart) || chart.faces.size() < 2) {
      done.push_back(std::move(chart));
      continue;
    }
    const std::vector<bool> second = halve_chart(chart.faces, neighbors);
    for (const bool side : {false, true}) {
      FaceList part;
      for (std::size_t i = 0; i < second.size(); ++i) {
        if (second[i] == side) part.push_back(chart.faces[i]);
      }
      for (FaceList& piece : connected_parts(part, neighbors)) open.push_back(std::move(piece));
    }
  }
  return done;
}

/// Flat charts side by side in one texture.
Result<AtlasLayout> place_charts(std::vector<FlatChart>& charts, std::size_t face_count, int resolution) {
  std::vector<Vec2d> sizes;
  for (FlatChart& chart : charts) {
    turn_upright(chart);
    Vec2d size;
    for (const Vec2d p : chart.points) size = {std::max(size.x, p.x), std::max(size.y, p.y)};
    sizes.push_back(size);
  }
  const PackedRectangles packed = pack_rectangles(sizes, resolution, kChartMargin);
  if (!(packed.scale > 0)) {
    return Error{.message = fmt::format("{} charts do not fit into {} texels a side: choose a higher resolution",
                                        charts.size(), resolution),
                 .field = "resolution"};
  }
  AtlasLayout layout;
  layout.faces.resize(face_count), layout.charts.resize(face_count);
  for (std::uint32_t k = 0; k < charts.size(); ++k) {
    const auto first = std::uint32_t(layout.uvs.size());
    for (std::size_t i = 0; i < charts[k].points.size(); ++i) {
      const Vec2d p = charts[k].points[i];
      // Charts are drawn with y up, textures with v down.
      layout.uvs.push_back({float((packed.places[k].x + packed.scale * p.x) / resolution),
                            float((packed.places[k].y + packed.scale * (sizes[k].y - p.y)) / resolution)});
      layout.nodes.push_back(charts[k].nodes[i]);
    }
    for (std::size_t t = 0; t < charts[k].triangles.size(); ++t) {
      const Face& f = charts[k].triangles[t];
      layout.faces[charts[k].faces[t]] = {first + f[0], first + f[1], first + f[2]};
      layout.charts[charts[k].faces[t]] = k;
    }
  }
  return layout;
}

/// Points of a layout: one for each vertex and each part of its faces that no seam divides.
AtlasLayout parted_by_seams(const GroupedSurface& surface) {
  const auto neighbors = face_neighbors(surface.faces, edge_faces(surface.faces, surface.vertices.size()));
  UnionFind points = corner_fans(surface.faces, neighbors,
                                 [&](std::uint32_t f, std::uint32_t i) { return (surface.fixed[f][i] & kSeam) == 0; });
  AtlasLayout layout;
  layout.charts = surface.groups;
  layout.faces.resize(surface.faces.size());
  std::vector<std::uint32_t> number(3 * surface.faces.size(), kNoNeighbor);
  for (std::uint32_t c = 0; c < number.size(); ++c) {
    std::uint32_t& n = number[points.root(c)];
    if (n == kNoNeighbor) {
      n = std::uint32_t(layout.nodes.size());
      layout.nodes.push_back(surface.faces[c / 3][c % 3]);
    }
    layout.faces[c / 3][c % 3] = n;
  }
  layout.uvs.resize(layout.nodes.size());
  return layout;
}

}  // namespace

Result<AtlasLayout> lay_out(const TriMesh& surface, int resolution) {
  std::vector<FlatChart> charts = flatten_all(surface, members(cluster_by_normals(surface)));
  return place_charts(charts, surface.faces.size(), resolution);
}

AtlasLayout carry_layout(const AtlasSource& source, const GroupedSurface& surface) {
  const SurfaceLocator locator(source.surface);
  AtlasLayout layout = parted_by_seams(surface);
  // A node on a seam has several places in the texture. That of each side is found from a point a little within it:
  // towards the middle of the faces there.
  std::vector<Vec3d> middles(layout.nodes.size()), normals(layout.nodes.size());
  std::vector<double> counts(layout.nodes.size(), 0);
  std::vector<std::uint32_t> groups(layout.nodes.size(), 0);
  for (std::size_t f = 0; f < surface.faces.size(); ++f) {
    std::array<Vec3d, 3> x;
    for (std::size_t k = 0; k < 3; ++k) x[k] = Vec3d(surface.vertices[surface.faces[f][k]]);
    for (const std::uint32_t point : layout.faces[f]) {
      middles[point] += (x[0] + x[1] + x[2]) / 3, normals[point] += cross(x[1] - x[0], x[2] - x[0]);
      ++counts[point], groups[point] = surface.groups[f];
    }
  }
  for (std::size_t i = 0; i < layout.uvs.size(); ++i) {
    const Vec3d node(surface.vertices[layout.nodes[i]]), within = node + 0.02 * (middles[i] / counts[i] - node);
    const Vec3 normal = normalized(normals[i]).to_float();
    const std::uint32_t face = locator.closest(within.to_float(), normal, groups[i]).face;
    const Face& f = source.surface.faces[face];
    const auto& at = source.surface.vertices;
    const Vec3 w = closest_on_triangle(node.to_float(), at[f[0]], at[f[1]], at[f[2]]).weights;
    const auto& uv = source.uvs[face];
    layout.uvs[i] = {uv[0].x * w.x + uv[1].x * w.y + uv[2].x * w.z, uv[0].y * w.x + uv[1].y * w.y + uv[2].y * w.z};
  }
  return layout;
}

Result<AtlasLayout> pack_anew(const TriMesh& surface, const AtlasLayout& layout, int resolution) {
  std::vector<FlatChart> charts;
  std::vector<FaceList> folded;
  for (const FaceList& faces : members(layout.charts)) {
    if (faces.empty()) continue;
    FlatChart chart;
    chart.faces = faces;
    std::vector<std::uint32_t> points;
    for (const std::uint32_t f : faces) points.insert(points.end(), layout.faces[f].begin(), layout.faces[f].end());
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    double flat = 0, area = 0;
    for (const std::uint32_t f : faces) {
      Face t{};
      std::array<Vec3d, 3> x, u;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t point = layout.faces[f][k];
        t[k] = std::uint32_t(std::lower_bound(points.begin(), points.end(), point) - points.begin());
        x[k] = Vec3d(surface.vertices[surface.faces[f][k]]);
        u[k] = {double(layout.uvs[point].x), double(layout.uvs[point].y), 0};
      }
      chart.triangles.push_back(t);
      area += length(cross(x[1] - x[0], x[2] - x[0])), flat += length(cross(u[1] - u[0], u[2] - u[0]));
    }
    const double scale = std::sqrt(area / std::max(flat, 1e-300));
    for (const std::uint32_t point : points) {
      chart.nodes.push_back(layout.nodes[point]);
      chart.points.push_back({scale * double(layout.uvs[point].x), -scale * double(layout.uvs[point].y)});
    }
    if (lies_over_itself(chart)) {
      folded.push_back(faces);
    } else {
      charts.push_back(std::move(chart));
    }
  }
  if (!folded.empty()) {
    std::vector<FlatChart> unfolded = flatten_all(surface, std::move(folded));
    charts.insert(charts.end(), unfolded.begin(), unfolded.end());
  }
  return place_charts(charts, surface.faces.size(), resolution);
}

std::vector<std::array<Vec2, 3>> corners_of(const AtlasLayout& layout) {
  std::vector<std::array<Vec2, 3>> out;
  for (const Face& f : layout.faces) out.push_back({layout.uvs[f[0]], layout.uvs[f[1]], layout.uvs[f[2]]});
  return out;
}

LayoutCover cover_of(const std::vector<std::array<Vec2, 3>>& faces, int resolution) {
  std::vector<std::uint8_t> hits(std::size_t(resolution) * std::size_t(resolution), 0);
  for (const auto& face : faces) {
    std::array<Vec2d, 3> p;
    for (std::size_t k = 0; k < 3; ++k) p[k] = {double(face[k].x) * resolution, double(face[k].y) * resolution};
    // A little less than the triangle, so that middles of texels on common edges do not count twice.
    rasterize(p, resolution, resolution, -1e-6, [&](int x, int y, double, double) {
      std::uint8_t& hit = hits[std::size_t(y) * std::size_t(resolution) + std::size_t(x)];
      if (hit < 2) ++hit;
    });
  }
  const auto covered = double(std::count_if(hits.begin(), hits.end(), [](std::uint8_t h) { return h > 0; }));
  const auto doubled = double(std::count(hits.begin(), hits.end(), std::uint8_t{2}));
  return {covered / double(hits.size()), covered > 0 ? doubled / covered : 0};
}

LayoutStretch stretch_of(const TriMesh& surface, const AtlasLayout& layout) {
  double squares = 0, area = 0, flat = 0, most = 0;
  for (std::size_t f = 0; f < surface.faces.size(); ++f) {
    std::array<Vec3d, 3> x;
    std::array<Vec2d, 3> u;
    for (std::size_t k = 0; k < 3; ++k) {
      x[k] = Vec3d(surface.vertices[surface.faces[f][k]]);
      u[k] = {double(layout.uvs[layout.faces[f][k]].x), double(layout.uvs[layout.faces[f][k]].y)};
    }
    const double twice = (u[1].x - u[0].x) * (u[2].y - u[0].y) - (u[2].x - u[0].x) * (u[1].y - u[0].y);
    const double weight = length(cross(x[1] - x[0], x[2] - x[0]));
    if (!(std::abs(twice) > 1e-14)) continue;
    // Sₛ and Sₜ of the paper: how a step along u and v becomes one along the surface.
    const Vec3d s = (x[0] * (u[1].y - u[2].y) + x[1] * (u[2].y - u[0].y) + x[2] * (u[0].y - u[1].y)) / twice;
    const Vec3d t = (x[0] * (u[2].x - u[1].x) + x[1] * (u[0].x - u[2].x) + x[2] * (u[1].x - u[0].x)) / twice;
    const double a = dot(s, s), b = dot(s, t), c = dot(t, t);
    squares += weight * (a + c) / 2, area += weight, flat += std::abs(twice);
    most = std::max(most, 0.5 * (a + c + std::sqrt((a - c) * (a - c) + 4 * b * b)));
  }
  if (!(area > 0) || !(flat > 0)) return {};
  const double texel = std::sqrt(area / flat);
  return {squares / area / (texel * texel), std::sqrt(most) / texel, texel};
}

}  // namespace pliant
