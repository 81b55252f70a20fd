#include "embed/surface_normals.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

namespace pliant {
namespace {

constexpr std::size_t kGrain = 1024;    // groups
constexpr float kSameNormal = 0.9999f;  // cosine: within a degree

/// The first vertex at the same place with the same normal, for each vertex.
std::vector<std::uint32_t> join_seams(const TriMesh& surface, std::span<const std::uint32_t> groups) {
  std::vector<std::uint32_t> first(surface.vertices.size()), order(surface.vertices.size());
  std::iota(first.begin(), first.end(), 0u);
  if (surface.normals.size() != surface.vertices.size()) return first;
  const auto place = [&](std::uint32_t v) {
    const Vec3 p = surface.vertices[v];
    return std::array<float, 3>{p.x, p.y, p.z};
  };
  order = first;
  // NaN would not be ordered: such a vertex stays alone.
  order.erase(
      std::remove_if(order.begin(), order.end(), [&](std::uint32_t v) { return !is_finite(surface.vertices[v]); }),
      order.end());
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t u, std::uint32_t v) { return place(u) != place(v) ? place(u) < place(v) : u < v; });
  for (auto begin = order.begin(); begin != order.end();) {
    auto end = begin;
    while (end != order.end() && place(*end) == place(*begin)) ++end;
    for (auto v = begin; v != end; ++v) {
      const auto same = std::find_if(begin, v, [&](std::uint32_t u) {
        return first[u] == u && (groups.empty() || groups[u] == groups[*v]) &&
               dot(surface.normals[u], surface.normals[*v]) > kSameNormal;
      });
      if (same != v) first[*v] = *same;
    }
    begin = end;
  }
  return first;
}

/// The corner of a face at a vertex: which of its three.
std::size_t corner_at(const Face& face, std::uint32_t vertex) {
  return std::size_t(std::find(face.begin(), face.end(), vertex) - face.begin());
}

std::uint32_t place_of(std::uint32_t vertex) { return 3 * vertex; }

}  // namespace

SurfaceNormals::SurfaceNormals(const TriMesh& surface, std::span<const std::uint32_t> groups)
    : vertex_count_(surface.vertices.size()) {
  const std::vector<std::uint32_t> joined = join_seams(surface, groups);
  std::vector<Face> faces;
  for (const Face& f : surface.faces) {
    if (f[0] >= vertex_count_ || f[1] >= vertex_count_ || f[2] >= vertex_count_) continue;
    faces.push_back({joined[f[0]], joined[f[1]], joined[f[2]]});
  }
  const Csr faces_around = vertex_faces(faces, vertex_count_);
  for (std::size_t g = 0; g < (vertex_count_ + kLanes - 1) / kLanes; ++g) add_group(g, faces_around, faces, joined);
}

void SurfaceNormals::add_group(std::size_t group, const Csr& faces_around, std::span<const Face> faces,
                               std::span<const std::uint32_t> joined) {
  const std::size_t first_row = rows_.size();
  std::array<std::uint32_t, kLanes>& vertices = groups_.emplace_back();
  std::size_t row_count = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {  // the last group is filled up with the last vertex
    const auto v = joined[std::min(kLanes * group + lane, vertex_count_ - 1)];
    vertices[lane] = place_of(v);
    row_count = std::max(row_count, faces_around[v].size());
  }
  rows_.resize(first_row + row_count, {vertices, vertices});
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t v = vertices[lane] / 3;
    std::size_t row = first_row;
    for (const std::uint32_t f : faces_around[v]) {
      const std::size_t corner = corner_at(faces[f], v);
      rows_[row].next[lane] = place_of(faces[f][(corner + 1) % 3]);
      rows_[row++].last[lane] = place_of(faces[f][(corner + 2) % 3]);
    }
  }
  row_ends_.push_back(rows_.size());
}

void SurfaceNormals::update(Workers& workers, std::span<const Vec3> vertices, std::span<Vec3> normals) const {
  assert(vertices.size() == vertex_count_ && normals.size() == vertex_count_);
  static_assert(sizeof(Vec3) == 3 * sizeof(float));
  const float* xyz = vertices.empty() ? nullptr : &vertices[0].x;
  parallel_for(workers, groups_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const std::size_t first_row = g == 0 ? 0 : row_ends_[g - 1];
      const Vec3x8 n = vertex_normals8(xyz, groups_[g], std::span(rows_).subspan(first_row, row_ends_[g] - first_row));
      const std::size_t first = kLanes * g, count = std::min(kLanes, vertex_count_ - first);
      for (std::size_t lane = 0; lane < count; ++lane) normals[first + lane] = {n.x[lane], n.y[lane], n.z[lane]};
    }
  });
}

}  // namespace pliant
