// Layouts as textures: which point of the surface a texel shows, and what a texture says at a node.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "geometry/bvh.h"
#include "geometry/chart_pack.h"
#include "geometry/primitives.h"
#include "geometry/texel_raster.h"
#include "math/vec3d.h"
#include "pliant/atlas.h"

namespace pliant {
namespace {

constexpr int kGridMargin = 2;

/// A layout whose texels are those of the charts' grids: nodes are at their middles.
AtlasLayout layout_of_grids(const Atlas& atlas) {
  std::vector<std::array<int, 2>> sizes;
  for (const AtlasChart& chart : atlas.charts) sizes.push_back({chart.columns, chart.rows});
  const PackedGrids packed = pack_grids(sizes, kGridMargin);
  AtlasLayout layout;
  const auto texel = 1.0 / packed.resolution;
  for (std::uint32_t k = 0; k < atlas.charts.size(); ++k) {
    const AtlasChart& chart = atlas.charts[k];
    const auto first = std::uint32_t(layout.uvs.size());
    for (int j = 0; j < chart.rows; ++j) {
      for (int i = 0; i < chart.columns; ++i) {
        layout.uvs.push_back({float((packed.places[k][0] + i + 0.5) * texel),
                              float((packed.places[k][1] + chart.rows - 1 - j + 0.5) * texel)});
        layout.nodes.push_back(chart.node(i, j));
      }
    }
    // The order of faces is that in which grids are made into surfaces (atlas.cpp).
    const auto width = std::uint32_t(chart.columns);
    for (std::uint32_t j = 0; j + 1 < std::uint32_t(chart.rows); ++j) {
      for (std::uint32_t i = 0; i + 1 < width; ++i) {
        const std::uint32_t a = first + j * width + i;
        layout.faces.push_back({a, a + 1, a + width});
        layout.faces.push_back({a + 1, a + width + 1, a + width});
        layout.charts.insert(layout.charts.end(), 2, k);
      }
    }
  }
  return layout;
}

std::array<Vec2d, 3> corners_in(const AtlasLayout& layout, std::size_t face, int resolution) {
  std::array<Vec2d, 3> p;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec2 uv = layout.uvs[layout.faces[face][k]];
    p[k] = {double(uv.x) * resolution, double(uv.y) * resolution};
  }
  return p;
}

/// The point of a face that a texel near it shows: over the edge its plane goes on. Far over that of a thin triangle a
/// plane is no guess any more; there it is the closest point.
AtlasTexel beyond_edge(const std::array<Vec2d, 3>& p, std::uint32_t face, int x, int y, Vec3 closest_weights) {
  const double bx = p[1].x - p[0].x, by = p[1].y - p[0].y, cx = p[2].x - p[0].x, cy = p[2].y - p[0].y;
  const double area = bx * cy - cx * by, px = x + 0.5 - p[0].x, py = y + 0.5 - p[0].y;
  const double b = (px * cy - cx * py) / area, c = (bx * py - px * by) / area;
  const double most = std::max({std::abs(b), std::abs(c), std::abs(1 - b - c)});
  if (most < 6) return {face, float(b), float(c), false};  // false for NaN too
  return {face, closest_weights.y, closest_weights.z, false};
}

/// Texels that no face covers take the nearest one within `gutter`: those around charts, and charts too thin to cover
/// the middle of any.
void fill_gutter(const AtlasLayout& layout, int gutter, TexelMap& map) {
  const auto reach = float(gutter) + 0.5f;
  std::vector<float> nearest(map.texels.size(), reach * reach);
  for (std::size_t f = 0; f < layout.faces.size(); ++f) {
    const auto p = corners_in(layout, f, map.width);
    std::array<Vec3, 3> flat;
    for (std::size_t k = 0; k < 3; ++k) flat[k] = {float(p[k].x), float(p[k].y), 0};
    const auto low = [&](double at) { return int(std::clamp(at - double(reach), 0.0, double(map.width))); };
    const auto high = [&](double at) { return int(std::clamp(at + double(reach), -1.0, double(map.width - 1))); };
    const int x0 = low(std::min({p[0].x, p[1].x, p[2].x})), x1 = high(std::max({p[0].x, p[1].x, p[2].x}));
    for (int y = low(std::min({p[0].y, p[1].y, p[2].y})); y <= high(std::max({p[0].y, p[1].y, p[2].y})); ++y) {
      for (int x = x0; x <= x1; ++x) {
        const std::size_t i = std::size_t(y) * std::size_t(map.width) + std::size_t(x);
        if (map.texels[i].is_inside) continue;
        const TrianglePoint on = closest_on_triangle({float(x) + 0.5f, float(y) + 0.5f, 0}, flat[0], flat[1], flat[2]);
        if (!(on.squared_distance < nearest[i])) continue;
        nearest[i] = on.squared_distance;
        map.texels[i] = beyond_edge(p, std::uint32_t(f), x, y, on.weights);
      }
    }
  }
}

template <typename Value>
void fill(const TexelMap& map, const TriMesh& surface, std::span<const Value> of_nodes, std::span<Value> out,
          Value empty) {
  for (std::size_t i = 0; i < map.texels.size() && i < out.size(); ++i) {
    const AtlasTexel& texel = map.texels[i];
    out[i] = empty;
    if (texel.face == kNoFace) continue;
    const Face& f = surface.faces[texel.face];
    out[i] = of_nodes[f[0]] * (1 - texel.b - texel.c) + of_nodes[f[1]] * texel.b + of_nodes[f[2]] * texel.c;
  }
}

}  // namespace

std::size_t AtlasLayout::chart_count() const {
  return charts.empty() ? 0 : std::size_t(*std::max_element(charts.begin(), charts.end())) + 1;
}

AtlasLayout layout_of(const Atlas& atlas) {
  if (!atlas.layout.empty() || atlas.charts.empty()) return atlas.layout;
  return layout_of_grids(atlas);
}

TriMesh cut_open(const Atlas& atlas) {
  AtlasLayout layout = layout_of(atlas);
  if (layout.empty()) return atlas.surface;
  TriMesh out;
  for (const std::uint32_t node : layout.nodes) out.vertices.push_back(atlas.surface.vertices[node]);
  out.faces = std::move(layout.faces), out.uvs = std::move(layout.uvs);
  return out;
}

TexelMap make_texel_map(const AtlasLayout& layout, int resolution, int gutter) {
  TexelMap map;
  map.width = map.height = std::clamp(resolution, 1, 16384);
  map.texels.resize(std::size_t(map.width) * std::size_t(map.height));
  for (std::size_t f = 0; f < layout.faces.size(); ++f) {
    rasterize(corners_in(layout, f, map.width), map.width, map.height, 1e-9, [&](int x, int y, double b, double c) {
      AtlasTexel& texel = map.texels[std::size_t(y) * std::size_t(map.width) + std::size_t(x)];
      if (texel.face == kNoFace) texel = {std::uint32_t(f), float(b), float(c), true};
    });
  }
  if (gutter > 0) fill_gutter(layout, std::min(gutter, 64), map);
  return map;
}

void fill_texture(const TexelMap& map, const TriMesh& surface, std::span<const Vec3> of_nodes, std::span<Vec3> out,
                  Vec3 empty) {
  fill(map, surface, of_nodes, out, empty);
}

void fill_texture(const TexelMap& map, const TriMesh& surface, std::span<const float> of_nodes, std::span<float> out,
                  float empty) {
  fill(map, surface, of_nodes, out, empty);
}

float ScalarTexture::at(Vec2 uv) const {
  if (width <= 0 || height <= 0 || values.size() < std::size_t(width) * std::size_t(height)) return 0;
  const double x = double(uv.x) * width - 0.5, y = double(uv.y) * height - 0.5;
  if (!std::isfinite(x) || !std::isfinite(y)) return 0;
  const auto wrapped = [](double i, int size) {
    const double rest = std::fmod(i, double(size));
    return std::size_t(rest < 0 ? rest + size : rest) % std::size_t(size);
  };
  const double left = std::floor(x), top = std::floor(y), s = x - left, t = y - top;
  const auto value = [&](double i, double j) {
    return double(values[wrapped(j, height) * std::size_t(width) + wrapped(i, width)]);
  };
  const double upper = value(left, top) * (1 - s) + value(left + 1, top) * s;
  const double lower = value(left, top + 1) * (1 - s) + value(left + 1, top + 1) * s;
  return float(upper * (1 - t) + lower * t);
}

std::vector<float> values_at_nodes(const AtlasLayout& layout, std::size_t node_count, const ScalarTexture& texture) {
  std::vector<double> sums(node_count, 0), counts(node_count, 0);
  for (std::size_t i = 0; i < layout.uvs.size(); ++i) {
    sums[layout.nodes[i]] += double(texture.at(layout.uvs[i])), ++counts[layout.nodes[i]];
  }
  std::vector<float> out(node_count, 0);
  for (std::size_t i = 0; i < node_count; ++i) out[i] = counts[i] > 0 ? float(sums[i] / counts[i]) : 0;
  return out;
}

std::vector<float> values_at_nodes(const std::vector<MeshPoint>& sources, const TriMesh& mesh,
                                   const std::vector<float>& of_vertices) {
  std::vector<float> out;
  for (const MeshPoint& p : sources) {
    const Face& f = mesh.faces[p.face];
    out.push_back(of_vertices[f[0]] * p.weights.x + of_vertices[f[1]] * p.weights.y + of_vertices[f[2]] * p.weights.z);
  }
  return out;
}

Result<std::vector<Vec3>> core_by_uvs(const Atlas& atlas, const TriMesh& core) {
  const AtlasLayout layout = layout_of(atlas);
  const auto refuse = [](std::string message) { return Error{.message = std::move(message), .field = "core"}; };
  if (layout.empty()) return refuse("the surface is not laid out: make its atlas by make_atlas");
  if (core.faces.empty() || core.uvs.size() != core.vertices.size()) {
    return refuse("the core has no texture coordinates: give it those of the surface");
  }
  if (const auto problems = validate(core); !problems.empty()) return refuse(problems.front().message);
  // The mesh of texture coordinates as one in the plane z = 0.
  std::vector<Aabb> boxes(core.faces.size());
  const auto flat = [&](std::uint32_t v) { return Vec3{core.uvs[v].x, core.uvs[v].y, 0}; };
  for (std::size_t f = 0; f < boxes.size(); ++f) {
    for (const std::uint32_t v : core.faces[f]) boxes[f].include(flat(v));
  }
  Bvh tree;
  tree.build(boxes);
  constexpr float kNear = 0.02f;  // of the texture, for nodes on edges of charts
  std::vector<Vec3d> sums(atlas.node_count());
  std::vector<int> counts(atlas.node_count(), 0);
  for (std::size_t i = 0; i < layout.uvs.size(); ++i) {
    const Vec3 p{layout.uvs[i].x, layout.uvs[i].y, 0};
    TrianglePoint best;
    std::uint32_t face = kNoFace;
    tree.find_closest(p, kNear * kNear, [&](std::uint32_t f, float limit) {
      const Face& c = core.faces[f];
      const TrianglePoint on = closest_on_triangle(p, flat(c[0]), flat(c[1]), flat(c[2]));
      if (!(on.squared_distance < limit)) return limit;
      best = on, face = f;
      return on.squared_distance;
    });
    if (face == kNoFace) {
      return refuse(
          fmt::format("node {} is at ({:.4g}, {:.4g}) in the texture, where the core has nothing: lay the "
                      "core out as the surface",
                      layout.nodes[i], layout.uvs[i].x, layout.uvs[i].y));
    }
    const Face& c = core.faces[face];
    sums[layout.nodes[i]] += Vec3d(core.vertices[c[0]] * best.weights.x + core.vertices[c[1]] * best.weights.y +
                                   core.vertices[c[2]] * best.weights.z);
    ++counts[layout.nodes[i]];
  }
  std::vector<Vec3> out;
  for (std::size_t i = 0; i < sums.size(); ++i) out.push_back((sums[i] / std::max(counts[i], 1)).to_float());
  return out;
}

}  // namespace pliant
