#include "embed/cage_binding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "embed/element_tree.h"
#include "geometry/adjacency.h"
#include "geometry/triangle_feature.h"

namespace pliant {
namespace {

/// A vertex that is out by no more than rounding counts as in.
constexpr double kLeastWeight = -1e-7;

std::array<Vec3d, 4> corners(const TetMesh& cage, const Tet& tet) {
  return {Vec3d(cage.nodes[tet[0]]), Vec3d(cage.nodes[tet[1]]), Vec3d(cage.nodes[tet[2]]), Vec3d(cage.nodes[tet[3]])};
}

}  // namespace

bool is_sound(const TetMesh& cage, const Tet& tet) {
  for (const std::uint32_t node : tet) {
    if (node >= cage.nodes.size() || !is_finite(cage.nodes[node])) return false;
  }
  const auto c = corners(cage, tet);
  double longest = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < i; ++j) longest = std::max(longest, length(c[i] - c[j]));
  }
  return std::abs(six_volumes(c[0], c[1], c[2], c[3])) > kLeastTetVolume * longest * longest * longest;
}

std::array<double, 3> weights_in(const TetMesh& cage, const Tet& tet, Vec3 point) {
  const Vec3d p(point);
  const auto c = corners(cage, tet);
  const double volume = six_volumes(c[0], c[1], c[2], c[3]);
  return {six_volumes(c[0], p, c[2], c[3]) / volume, six_volumes(c[0], c[1], p, c[3]) / volume,
          six_volumes(c[0], c[1], c[2], p) / volume};
}

Face outward_face(const TetMesh& cage, const Tet& tet, std::size_t face) {
  const auto& corner = kTetFaces[face];
  Face out{tet[std::size_t(corner[0])], tet[std::size_t(corner[1])], tet[std::size_t(corner[2])]};
  const auto c = corners(cage, tet);
  if (six_volumes(c[0], c[1], c[2], c[3]) < 0) std::swap(out[1], out[2]);
  return out;
}

VertexBinding bind_beside(const TetMesh& cage, std::uint32_t tet, const Face& f, Vec3 vertex, float w1, float w2) {
  const Vec3d a(cage.nodes[f[0]]), b(cage.nodes[f[1]]), c(cage.nodes[f[2]]);
  // From the point that the rounded weights make, so that at rest the vertex is exactly where it was.
  const Vec3d foot = a + double(w1) * (b - a) + double(w2) * (c - a);
  return {tet, true, {f[0], f[1], f[2], f[0]}, {w1, w2, 0}, (Vec3d(vertex) - foot).to_float()};
}

CageSearch::CageSearch(const TetMesh& cage) : cage_(cage) {
  for (std::uint32_t t = 0; t < cage.tets.size(); ++t) {
    if (!is_sound(cage, cage.tets[t])) continue;
    tets_.push_back(cage.tets[t]);
    tet_numbers_.push_back(t);
  }
  const Csr half_faces = group_tet_faces(tets_, cage.nodes.size());
  for (std::size_t g = 0; g < half_faces.size(); ++g) {
    if (half_faces[g].size() != 1) continue;
    const std::uint32_t half_face = half_faces[g][0];
    const Tet& tet = tets_[half_face / 4];
    outer_faces_.push_back(outward_face(cage, tet, half_face % 4));
    outer_face_tets_.push_back(tet_numbers_[half_face / 4]);
  }
  tet_tree_ = tree_over<Tet>(tets_, cage.nodes);
  face_tree_ = tree_over<Face>(outer_faces_, cage.nodes);
}

VertexBinding CageSearch::bind(Vec3 vertex) const {
  VertexBinding binding;
  return bind_inside(vertex, binding) ? binding : bind_outside(vertex);
}

bool CageSearch::bind_inside(Vec3 vertex, VertexBinding& binding) const {
  bool found = false;
  tet_tree_.find_closest(vertex, 0, [&](std::uint32_t item, float) {
    const Tet& tet = tets_[item];
    const auto [w1, w2, w3] = weights_in(cage_, tet, vertex);
    if (std::min({w1, w2, w3, 1 - w1 - w2 - w3}) < kLeastWeight) return 0.0f;
    binding = {tet_numbers_[item], false, tet, {float(w1), float(w2), float(w3)}, {}};
    found = true;
    return -1.0f;  // nothing is nearer
  });
  return found;
}

VertexBinding CageSearch::bind_outside(Vec3 vertex) const {
  std::uint32_t nearest = 0;
  NearestPoint best{std::numeric_limits<float>::infinity()};
  face_tree_.find_closest(vertex, best.squared_distance, [&](std::uint32_t item, float) {
    const Face& f = outer_faces_[item];
    if (best.takes(closest_on_triangle(vertex, cage_.nodes[f[0]], cage_.nodes[f[1]], cage_.nodes[f[2]]))) {
      nearest = item;
    }
    return best.squared_distance;
  });
  return bind_beside(cage_, outer_face_tets_[nearest], outer_faces_[nearest], vertex, best.weights.y, best.weights.z);
}

}  // namespace pliant
