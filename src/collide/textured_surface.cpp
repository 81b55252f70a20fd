#include "collide/textured_surface.h"

#include <algorithm>
#include <numeric>

namespace pliant {

TexturedSurface::TexturedSurface(std::span<const Face> faces, std::span<const Vec3> rest)
    : faces_(faces), faces_of_node_(vertex_faces(faces, rest.size())) {
  double sum = 0;
  for (const Face& face : faces) {
    for (std::size_t k = 0; k < 3; ++k) {
      sum += static_cast<double>(length(rest[face[k]] - rest[face[(k + 1) % 3]]));
    }
  }
  edge_ = faces.empty() ? 0 : static_cast<float>(sum / static_cast<double>(3 * faces.size()));
  make_clusters(rest);
}

/// Halves along the longest side of the box of the centres, until the parts are small.
void TexturedSurface::make_clusters(std::span<const Vec3> rest) {
  std::vector<std::uint32_t> order(faces_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto center = [&](std::uint32_t f) { return rest[faces_[f][0]] + rest[faces_[f][1]] + rest[faces_[f][2]]; };
  struct Part {
    std::size_t begin, end;
    std::uint32_t branch;
  };
  std::vector<Part> stack;
  if (!order.empty()) tree_.emplace_back(), stack.push_back({0, order.size(), 0});
  while (!stack.empty()) {
    const auto [begin, end, branch] = stack.back();
    stack.pop_back();
    const auto from = order.begin() + std::ptrdiff_t(begin), to = order.begin() + std::ptrdiff_t(end);
    if (end - begin <= kClusterFaces) {
      cluster_faces_.items.insert(cluster_faces_.items.end(), from, to);
      cluster_faces_.offsets.push_back(static_cast<std::uint32_t>(cluster_faces_.items.size()));
      tree_[branch].first = static_cast<std::uint32_t>(leaves_.size());
      leaves_.push_back(branch);
      continue;
    }
    Aabb box;
    for (std::size_t i = begin; i < end; ++i) box.include(center(order[i]));
    const Vec3 size = box.size();
    const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const std::size_t middle = (begin + end) / 2;
    std::nth_element(from, order.begin() + std::ptrdiff_t(middle), to, [&](std::uint32_t f, std::uint32_t g) {
      const float p = center(f)[axis], q = center(g)[axis];
      return p != q ? p < q : f < g;
    });
    const auto next = static_cast<std::uint32_t>(tree_.size());
    tree_[branch].first = next, tree_[branch].second = next + 1;
    tree_.resize(tree_.size() + 2);
    stack.push_back({middle, end, next + 1});
    stack.push_back({begin, middle, next});
  }
  std::vector<std::uint32_t> nodes;
  for (std::size_t c = 0; c < cluster_faces_.size(); ++c) {
    nodes.clear();
    for (const std::uint32_t f : cluster_faces_[c]) nodes.insert(nodes.end(), faces_[f].begin(), faces_[f].end());
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    cluster_nodes_.items.insert(cluster_nodes_.items.end(), nodes.begin(), nodes.end());
    cluster_nodes_.offsets.push_back(static_cast<std::uint32_t>(cluster_nodes_.items.size()));
  }
}

void TexturedSurface::fit(std::span<const Vec3> x, std::span<const Vec3> v, Vec3 boost, float dt, Workers& workers) {
  x_ = x, v_ = v, boost_ = boost, dt_ = dt;
  parallel_for(workers, leaves_.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      Aabb box;
      for (const std::uint32_t node : cluster_nodes_[c]) box.include(x[node]), box.include(x[node] + motion(node));
      tree_[leaves_[c]].box = box;
    }
  });
  for (std::size_t i = tree_.size(); i-- > 0;) {
    Branch& branch = tree_[i];
    if (branch.is_leaf()) continue;
    branch.box = tree_[branch.first].box;
    branch.box.include(tree_[branch.second].box);
  }
}

Vec3 TexturedSurface::area_normal(std::uint32_t face) const {
  const Face& f = faces_[face];
  return cross(x_[f[1]] - x_[f[0]], x_[f[2]] - x_[f[0]]);
}

Vec3 TexturedSurface::mean_normal(std::size_t cluster) const {
  Vec3 sum;
  float area = 0;
  for (const std::uint32_t f : cluster_faces_[cluster]) {
    const Vec3 n = area_normal(f);
    sum += n, area += length(n);
  }
  return area > 0 ? sum / area : Vec3{};
}

Vec3 TexturedSurface::node_normal(std::uint32_t node) const {
  Vec3 sum;
  for (const std::uint32_t f : faces_of_node_[node]) sum += area_normal(f);
  return normalized(sum);
}

}  // namespace pliant
