#include "embed/sheet_embedding.h"

#include <algorithm>
#include <limits>

#include "embed/element_tree.h"
#include "geometry/primitives.h"
#include "geometry/triangle_feature.h"

namespace pliant {
namespace {

constexpr std::size_t kGrain = 4096;
/// Offsets below this share of the cloth's size are rounding.
constexpr float kLeastOffset = 1e-6f;

/// m += weight · column · rowᵀ
void add_outer(Mat3& m, float weight, Vec3 column, Vec3 row) {
  for (std::size_t i = 0; i < 3; ++i) m.rows[i] += (weight * column[i]) * row;
}

}  // namespace

SheetEmbedding::SheetEmbedding(std::span<const Vec3> rest_nodes, std::span<const Face> faces,
                               std::span<const Vec3> vertices) {
  const Bvh tree = tree_over(faces, rest_nodes);
  const float least = kLeastOffset * length(tree.bounds().size());
  bool has_offsets = false;
  for (const Vec3 vertex : vertices) {
    std::uint32_t nearest = 0;
    NearestPoint best{std::numeric_limits<float>::infinity()};
    tree.find_closest(vertex, best.squared_distance, [&](std::uint32_t item, float) {
      const Face& f = faces[item];
      if (best.takes(closest_on_triangle(vertex, rest_nodes[f[0]], rest_nodes[f[1]], rest_nodes[f[2]]))) nearest = item;
      return best.squared_distance;
    });
    Binding binding{faces[nearest], {best.weights.y, best.weights.z}, {}};
    const Vec3 offset = vertex - binding.foot(rest_nodes);
    if (length(offset) > least) binding.offset = offset, has_offsets = true;
    bindings_.push_back(binding);
  }
  if (!has_offsets) return;
  weights_.assign(rest_nodes.size(), 0);
  for (const Face& f : faces) {
    const Vec3 e1 = rest_nodes[f[1]] - rest_nodes[f[0]], e2 = rest_nodes[f[2]] - rest_nodes[f[0]];
    const Vec3 twice_area = cross(e1, e2);
    const float size = length(twice_area);
    if (!(size > 0)) continue;
    const Vec3 normal = twice_area / size;
    faces_.push_back({f, size, {cross(e2, normal) / size, cross(normal, e1) / size}, normal});
    for (const std::uint32_t node : f) weights_[node] += size;
  }
  for (float& weight : weights_) weight = weight > 0 ? 1 / weight : 0;
}

void SheetEmbedding::find_gradients(std::span<const Vec3> nodes) {
  gradients_.assign(weights_.size(), {{Vec3{}, Vec3{}, Vec3{}}});
  for (const RestFace& face : faces_) {
    const Vec3 a = nodes[face.nodes[0]], e1 = nodes[face.nodes[1]] - a, e2 = nodes[face.nodes[2]] - a;
    const Vec3 normal = normalized(cross(e1, e2), face.normal);
    Mat3 gradient{{Vec3{}, Vec3{}, Vec3{}}};
    add_outer(gradient, 1, e1, face.along[0]);
    add_outer(gradient, 1, e2, face.along[1]);
    add_outer(gradient, 1, normal, face.normal);
    for (const std::uint32_t node : face.nodes) {
      for (std::size_t i = 0; i < 3; ++i) gradients_[node].rows[i] += face.area * weights_[node] * gradient.rows[i];
    }
  }
}

void SheetEmbedding::update(Workers& workers, std::span<const Vec3> nodes, std::span<Vec3> vertices) {
  interpolate(workers, nodes, vertices);
  if (faces_.empty()) return;
  find_gradients(nodes);
  parallel_for(workers, bindings_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Binding& b = bindings_[i];
      if (b.offset == Vec3{}) continue;
      const std::array<float, 3> w = {1 - b.weights[0] - b.weights[1], b.weights[0], b.weights[1]};
      for (std::size_t k = 0; k < 3; ++k) vertices[i] += w[k] * (gradients_[b.nodes[k]] * b.offset);
    }
  });
}

void SheetEmbedding::interpolate(Workers& workers, std::span<const Vec3> node_values, std::span<Vec3> values) const {
  parallel_for(workers, bindings_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) values[i] = bindings_[i].foot(node_values);
  });
}

}  // namespace pliant
