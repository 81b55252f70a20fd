#include "embed/embedding.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include <fmt/format.h>

namespace pliant {
namespace {

constexpr std::size_t kBindGrain = 1024;

Error wrong(std::string field, std::string message) {
  return {Error::Code::InvalidArgument, std::move(message), "", std::move(field), 0};
}

/// The nodes that vertices outside are bound to, ascending, and the place of each in that list.
std::vector<std::uint32_t> anchors_of(std::span<const VertexBinding> bindings, std::vector<std::uint32_t>& place) {
  for (const VertexBinding& b : bindings) {
    if (!b.is_outside) continue;
    for (std::size_t i = 0; i < 3; ++i) place[b.nodes[i]] = 1;
  }
  std::vector<std::uint32_t> anchors;
  for (std::uint32_t node = 0; node < place.size(); ++node) {
    if (place[node] == 0) continue;
    place[node] = std::uint32_t(anchors.size());
    anchors.push_back(node);
  }
  return anchors;
}

// As differences from the first, so that equal values give that value whatever the rounding of the weights.
template <typename T>
T blend(T a, T b, T c, const std::array<float, 2>& w) {
  return a + w[0] * (b - a) + w[1] * (c - a);
}
template <typename T>
T blend(T a, T b, T c, T d, const std::array<float, 3>& w) {
  return a + w[0] * (b - a) + w[1] * (c - a) + w[2] * (d - a);
}

}  // namespace

Result<Embedding> Embedding::create(Workers& workers, const TetMesh& cage, std::span<const Vec3> vertices) {
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (is_finite(vertices[v])) continue;
    return wrong(fmt::format("vertices[{}]", v),
                 fmt::format("must be finite, not ({}, {}, {})", vertices[v].x, vertices[v].y, vertices[v].z));
  }
  const CageSearch search(cage);
  if (search.empty() && !vertices.empty()) {
    return wrong("cage", fmt::format("none of its {} tets has any volume: nothing can carry {} vertices",
                                     cage.tets.size(), vertices.size()));
  }
  std::vector<VertexBinding> bindings(vertices.size());
  parallel_for(workers, vertices.size(), kBindGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) bindings[v] = search.bind(vertices[v]);
  });
  return with(cage, search.tets(), bindings);
}

Embedding Embedding::from_bindings(const TetMesh& cage, std::span<const VertexBinding> bindings) {
  std::vector<Tet> sound;
  std::copy_if(cage.tets.begin(), cage.tets.end(), std::back_inserter(sound),
               [&](const Tet& tet) { return is_sound(cage, tet); });
  return with(cage, sound, bindings);
}

Embedding Embedding::with(const TetMesh& cage, std::span<const Tet> sound, std::span<const VertexBinding> bindings) {
  Embedding embedding;
  embedding.node_count_ = cage.nodes.size();
  std::vector<std::uint32_t> anchor_of_node(cage.nodes.size(), 0);
  embedding.node_gradients_ = NodeGradients(anchors_of(bindings, anchor_of_node), sound, cage.nodes);
  embedding.pack(bindings, anchor_of_node);
  return embedding;
}

void Embedding::pack(std::span<const VertexBinding> bindings, std::span<const std::uint32_t> anchor_of_node) {
  std::vector<std::uint32_t> order;
  for (std::size_t begin = 0; begin < bindings.size(); begin += kChunk) {
    const std::size_t end = std::min(begin + kChunk, bindings.size());
    // Vertices of one tet next to each other find its nodes in the cache, whatever order the surface has them in.
    order.clear();
    for (std::size_t v = begin; v < end; ++v) order.push_back(std::uint32_t(v));
    std::sort(order.begin(), order.end(), [&](std::uint32_t u, std::uint32_t v) {
      return bindings[u].tet != bindings[v].tet ? bindings[u].tet < bindings[v].tet : u < v;
    });
    for (const std::uint32_t v : order) {
      const VertexBinding& b = bindings[v];
      if (b.is_outside) {
        const auto anchor = [&](std::size_t i) { return anchor_of_node[b.nodes[i]]; };
        outside_.push_back({v, {anchor(0), anchor(1), anchor(2)}, {b.weights[0], b.weights[1]}, b.offset});
        largest_offset_ = std::max(largest_offset_, length(b.offset));
      } else {
        inside_.push_back({v, b.nodes, b.weights});
      }
    }
    chunk_ends_.push_back({inside_.size(), outside_.size()});
  }
  for (const VertexBinding& b : bindings) tets_.push_back(b.tet);
}

template <typename Visit>
void Embedding::for_each_chunk(Workers& workers, Visit&& visit) const {
  parallel_for(workers, chunk_ends_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      const ChunkEnd start = c == 0 ? ChunkEnd{} : chunk_ends_[c - 1], stop = chunk_ends_[c];
      visit(std::span(inside_).subspan(start.inside, stop.inside - start.inside),
            std::span(outside_).subspan(start.outside, stop.outside - start.outside));
    }
  });
}

void Embedding::update(Workers& workers, std::span<const Vec3> nodes, std::span<Vec3> vertices) {
  assert(nodes.size() == node_count() && vertices.size() == vertex_count());
  gradients_.resize(node_gradients_.nodes().size());
  node_gradients_.update(workers, nodes, gradients_);
  for_each_chunk(workers, [&](std::span<const Inside> inside, std::span<const Outside> outside) {
    for (const Inside& v : inside) {
      vertices[v.vertex] = blend(nodes[v.nodes[0]], nodes[v.nodes[1]], nodes[v.nodes[2]], nodes[v.nodes[3]], v.weights);
    }
    for (const Outside& v : outside) {
      const auto carried_by = [&](std::size_t i) {
        const NodeGradient& anchor = gradients_[v.anchors[i]];
        return anchor.position + anchor.now_from_rest * v.offset;
      };
      vertices[v.vertex] = blend(carried_by(0), carried_by(1), carried_by(2), v.weights);
    }
  });
}

void Embedding::interpolate(Workers& workers, std::span<const float> values, std::span<float> out) const {
  assert(values.size() == node_count() && out.size() == vertex_count());
  const std::span<const std::uint32_t> anchors = node_gradients_.nodes();
  for_each_chunk(workers, [&](std::span<const Inside> inside, std::span<const Outside> outside) {
    for (const Inside& v : inside) {
      out[v.vertex] = blend(values[v.nodes[0]], values[v.nodes[1]], values[v.nodes[2]], values[v.nodes[3]], v.weights);
    }
    for (const Outside& v : outside) {
      out[v.vertex] =
          blend(values[anchors[v.anchors[0]]], values[anchors[v.anchors[1]]], values[anchors[v.anchors[2]]], v.weights);
    }
  });
}

}  // namespace pliant
