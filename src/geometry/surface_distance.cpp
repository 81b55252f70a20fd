#include "geometry/surface_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geometry/adjacency.h"

namespace pliant {
namespace {

/// Thinner than this share of its length, a face has no normal worth the name.
constexpr double kLeastAreaShare = 1e-7;

std::array<float, 3> place(Vec3 v) { return {v.x, v.y, v.z}; }

}  // namespace

SurfaceDistance::SurfaceDistance(std::span<const Vec3> vertices, std::span<const Face> faces) {
  weld(vertices, faces);
  drop_flat_and_repeated_faces();
  sum_normals();
  build_tree();
}

void SurfaceDistance::weld(std::span<const Vec3> vertices, std::span<const Face> faces) {
  std::vector<std::uint32_t> order(vertices.size()), welded(vertices.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t i, std::uint32_t j) { return place(vertices[i]) < place(vertices[j]); });
  for (const std::uint32_t v : order) {
    if (vertices_.empty() || !(vertices_.back() == vertices[v])) vertices_.push_back(vertices[v]);
    welded[v] = std::uint32_t(vertices_.size() - 1);
  }
  for (const Face& f : faces) faces_.push_back({welded[f[0]], welded[f[1]], welded[f[2]]});
}

void SurfaceDistance::drop_flat_and_repeated_faces() {
  const auto is_flat = [&](const Face& f) {
    const Vec3d a(vertices_[f[0]]), b(vertices_[f[1]]), c(vertices_[f[2]]);
    const double longest = std::max({length_squared(b - a), length_squared(c - b), length_squared(a - c)});
    return !(length(cross(b - a, c - a)) > kLeastAreaShare * longest);
  };
  faces_.erase(std::remove_if(faces_.begin(), faces_.end(), is_flat), faces_.end());

  // The smallest index first, so that equal faces are equal triples.
  for (Face& f : faces_) std::rotate(f.begin(), std::min_element(f.begin(), f.end()), f.end());
  std::sort(faces_.begin(), faces_.end());
  faces_.erase(std::unique(faces_.begin(), faces_.end()), faces_.end());

  std::vector<Face> kept;
  for (const Face& f : faces_) {
    const bool has_reverse = std::binary_search(faces_.begin(), faces_.end(), Face{f[0], f[2], f[1]});
    if (has_reverse && f[1] > f[2]) continue;
    kept.push_back(f);
    normals_.push_back({{}, {}, has_reverse});
  }
  faces_ = std::move(kept);
}

std::array<Vec3d, 3> SurfaceDistance::corners(std::uint32_t face) const {
  const Face& f = faces_[face];
  return {Vec3d(vertices_[f[0]]), Vec3d(vertices_[f[1]]), Vec3d(vertices_[f[2]])};
}

void SurfaceDistance::sum_normals() {
  std::vector<Vec3d> unit(faces_.size()), around_vertex(vertices_.size());
  for (std::uint32_t f = 0; f < faces_.size(); ++f) {
    const auto c = corners(f);
    unit[f] = normalized(cross(c[1] - c[0], c[2] - c[0]));
    normals_[f].inside = unit[f].to_float();
    if (normals_[f].is_two_sided) unit[f] = {};  // the two sides cancel
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3d u = c[(i + 1) % 3] - c[i], v = c[(i + 2) % 3] - c[i];
      around_vertex[faces_[f][i]] += std::atan2(length(cross(u, v)), dot(u, v)) * unit[f];
    }
  }
  const EdgeAdjacency adjacency = edge_faces(faces_, vertices_.size());
  for (std::size_t e = 0; e < adjacency.edges.size(); ++e) {
    const auto [a, b] = adjacency.edges[e];
    const std::span<const std::uint32_t> around = adjacency.elements[e];
    Vec3d sum;
    for (const std::uint32_t f : around) sum += unit[f];
    if (around.size() == 1) sum = around_vertex[a] = around_vertex[b] = {};  // a rim
    for (const std::uint32_t f : around) {
      for (std::size_t i = 0; i < 3; ++i) {
        const std::uint32_t from = faces_[f][i], to = faces_[f][(i + 1) % 3];
        if (std::minmax(from, to) == std::minmax(a, b)) normals_[f].edges[i] = sum.to_float();
      }
    }
  }
  for (const Vec3d n : around_vertex) vertex_normals_.push_back(n.to_float());
}

void SurfaceDistance::build_tree() {
  std::vector<Aabb> boxes(faces_.size());
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    for (const std::uint32_t v : faces_[f]) boxes[f].include(vertices_[v]);
  }
  bvh_.build(boxes);
}

Vec3 SurfaceDistance::normal_of(std::uint32_t face, TriangleFeature feature) const {
  const auto number = std::size_t(feature);
  if (number < 3) return vertex_normals_[faces_[face][number]];
  if (feature != TriangleFeature::Inside) return normals_[face].edges[number - 3];
  return normals_[face].is_two_sided ? Vec3{} : normals_[face].inside;
}

std::optional<ShapeDistance> SurfaceDistance::nearest(Vec3 point, float max_distance) const {
  if (!(max_distance > 0)) return std::nullopt;
  std::uint32_t face = kNoNeighbor;
  NearestPoint best{max_distance * max_distance};
  bvh_.find_closest(point, best.squared_distance, [&](std::uint32_t f, float) {
    const Face& v = faces_[f];
    if (best.takes(closest_on_triangle(point, vertices_[v[0]], vertices_[v[1]], vertices_[v[2]]))) face = f;
    return best.squared_distance;
  });
  if (face == kNoNeighbor) return std::nullopt;

  const TriangleFeature feature = feature_of(best.weights);
  const Vec3d p(point), offset = offset_from(corners(face), feature, p);
  const Vec3d outward(normal_of(face, feature));
  const double unsigned_distance = length(offset), sign = dot(offset, outward) < 0 ? -1 : 1;
  // On the surface itself the offset has no direction.
  const Vec3d on_surface = normalized(outward, Vec3d(normals_[face].inside));
  return ShapeDistance{float(sign * unsigned_distance), normalized(sign * offset, on_surface).to_float(),
                       (p - offset).to_float()};
}

}  // namespace pliant
