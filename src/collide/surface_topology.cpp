#include "collide/surface_topology.h"

#include <algorithm>

#include <fmt/format.h>

#include "geometry/union_find.h"

namespace pliant {
namespace {

constexpr std::size_t kMaxCount = std::size_t{1} << 31;

Error invalid(std::string field, std::string message) {
  return {.code = Error::Code::InvalidArgument, .message = std::move(message), .field = std::move(field)};
}

template <std::size_t N>
Status check_elements(std::span<const std::array<std::uint32_t, N>> elements, const char* list,
                      std::span<const Vec4> rest) {
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const std::array<std::uint32_t, N>& element = elements[k];
    const auto refuse = [&](std::string message) {
      return invalid(fmt::format("{}[{}]", list, k), std::move(message));
    };
    for (std::size_t i = 0; i < N; ++i) {
      if (element[i] >= rest.size()) {
        return refuse(fmt::format("node {} does not exist; there are {} nodes", element[i], rest.size()));
      }
      if (!is_finite(rest[element[i]].xyz())) {
        return refuse(fmt::format("the rest position of node {} is not finite", element[i]));
      }
      if (element[i] == element[(i + 1) % N]) {
        return refuse(fmt::format("node {} is named twice; the nodes must differ", element[i]));
      }
    }
  }
  return {};
}

Status check(const SurfaceDef& def) {
  const std::pair<const char*, float> lengths[] = {{"radius", def.radius},     {"depth", def.depth},
                                                   {"deepest", def.deepest},   {"surprise", def.surprise},
                                                   {"flatness", def.flatness}, {"slack", def.slack}};
  for (const auto& [name, value] : lengths) {
    if (std::isfinite(value) && value >= 0) continue;
    return invalid(name, fmt::format("the {} is {}; it must be finite and not negative", name, value));
  }
  const std::size_t features = def.first_feature + 3 * def.faces.size() + def.free_edges.size();
  if (def.rest.size() > kMaxCount || features > kMaxCount) {
    return Error{.code = Error::Code::CapacityExceeded,
                 .message = fmt::format("{} nodes and up to {} features; at most {} of each can be named",
                                        def.rest.size(), features, kMaxCount)};
  }
  if (Status s = check_elements<3>(def.faces, "faces", def.rest); !s) return s;
  return check_elements<2>(def.free_edges, "free_edges", def.rest);
}

void add_nodes(SurfaceTopology& t, const SurfaceDef& def) {
  t.nodes.reserve(3 * def.faces.size() + 2 * def.free_edges.size());
  for (const Face& face : def.faces) t.nodes.insert(t.nodes.end(), face.begin(), face.end());
  for (const NodePair& edge : def.free_edges) t.nodes.insert(t.nodes.end(), edge.begin(), edge.end());
  std::sort(t.nodes.begin(), t.nodes.end());
  t.nodes.erase(std::unique(t.nodes.begin(), t.nodes.end()), t.nodes.end());
  t.rest.reserve(t.nodes.size());
  for (const std::uint32_t node : t.nodes) t.rest.push_back(def.rest[node].xyz());
}

std::uint32_t local(const SurfaceTopology& t, std::uint32_t node) {
  return std::uint32_t(std::lower_bound(t.nodes.begin(), t.nodes.end(), node) - t.nodes.begin());
}

NodePair sorted(std::uint32_t a, std::uint32_t b) { return a < b ? NodePair{a, b} : NodePair{b, a}; }

void add_elements(SurfaceTopology& t, const SurfaceDef& def) {
  t.elements.reserve(def.faces.size() + def.free_edges.size());
  for (const Face& f : def.faces) {
    t.elements.push_back({.nodes = {local(t, f[0]), local(t, f[1]), local(t, f[2])}, .edges = {}});
  }
  for (const NodePair& e : def.free_edges) {
    t.elements.push_back({.nodes = {local(t, e[0]), local(t, e[1]), local(t, e[1])}, .edges = {}, .is_face = false});
  }
  t.face_count = def.faces.size();
}

/// In the order of their nodes: those that begin at one node are put together, and there are few of these.
void add_edges(SurfaceTopology& t) {
  std::vector<std::uint32_t> starts(t.nodes.size() + 2, 0), ends;
  const auto for_each_edge = [&](auto&& visit) {
    for (std::uint32_t k = 0; k < t.elements.size(); ++k) {
      const SurfaceElement& e = t.elements[k];
      for (std::size_t i = 0; i < e.edge_count(); ++i) visit(k, i, sorted(e.nodes[i], e.nodes[(i + 1) % 3]));
    }
  };
  for_each_edge([&](std::uint32_t, std::size_t, NodePair nodes) { ++starts[nodes[0] + 2]; });
  for (std::size_t n = 2; n < starts.size(); ++n) starts[n] += starts[n - 1];
  ends.resize(starts.back());
  for_each_edge([&](std::uint32_t, std::size_t, NodePair nodes) { ends[starts[nodes[0] + 1]++] = nodes[1]; });
  std::vector<std::uint32_t> first_of(t.nodes.size() + 1, 0);
  t.edges.reserve(ends.size() / 2 + 8);  // of a closed surface each is named twice
  for (std::uint32_t n = 0; n < t.nodes.size(); ++n) {
    const auto begin = ends.begin() + std::ptrdiff_t(starts[n]), end = ends.begin() + std::ptrdiff_t(starts[n + 1]);
    std::sort(begin, end);
    first_of[n] = std::uint32_t(t.edges.size());
    for (auto at = begin; at != end; ++at) {
      if (at == begin || *at != *(at - 1)) t.edges.push_back({.nodes = {n, *at}});
    }
  }
  for_each_edge([&](std::uint32_t k, std::size_t i, NodePair nodes) {
    std::uint32_t at = first_of[nodes[0]];
    while (t.edges[at].nodes[1] != nodes[1]) ++at;
    SurfaceElement& e = t.elements[k];
    e.edges[i] = at;
    SurfaceEdge& edge = t.edges[at];
    if (!e.is_face) return;
    if (edge.face_count < 2) edge.wings[edge.face_count] = e.nodes[(i + 2) % 3], edge.faces[edge.face_count] = k;
    ++edge.face_count;
  });
}

/// A free edge that repeats another edge adds nothing.
void drop_repeated_free_edges(SurfaceTopology& t) {
  std::vector<std::uint8_t> is_used(t.edges.size(), 0);
  std::erase_if(t.elements, [&](const SurfaceElement& e) {
    if (e.is_face) return false;
    const bool is_repeated = is_used[e.edges[0]] || !t.edges[e.edges[0]].is_free();
    is_used[e.edges[0]] = 1;
    return is_repeated;
  });
}

/// Each node and edge goes to that of its elements that owns least so far, so that no element has much to do.
void share_out_features(SurfaceTopology& t) {
  constexpr std::uint32_t kNobody = 0xffffffffu;
  std::vector<std::uint32_t> node_owner(t.nodes.size(), kNobody), edge_owner(t.edges.size(), kNobody);
  std::vector<std::uint8_t> owned(t.elements.size(), 0);
  const auto share_out = [&](auto&& features_of, std::vector<std::uint32_t>& owner) {
    for (std::uint32_t e = 0; e < t.elements.size(); ++e) {
      for (const std::uint32_t feature : features_of(t.elements[e])) {
        std::uint32_t& o = owner[feature];
        if (o != kNobody && owned[e] + 1 >= owned[o]) continue;
        if (o != kNobody) --owned[o];
        o = e;
        ++owned[e];
      }
    }
  };
  const auto edges_of = [](const SurfaceElement& e) { return std::span(e.edges).first(e.edge_count()); };
  const auto nodes_of = [](const SurfaceElement& e) { return std::span(e.nodes).first(e.node_count()); };
  share_out(edges_of, edge_owner);
  share_out(nodes_of, node_owner);
  for (std::uint32_t e = 0; e < t.elements.size(); ++e) {
    SurfaceElement& element = t.elements[e];
    for (std::size_t i = 0; i < element.edge_count(); ++i) {
      element.owned_edges |= std::uint8_t((edge_owner[element.edges[i]] == e) << i);
    }
    for (std::size_t i = 0; i < element.node_count(); ++i) {
      element.owned_nodes |= std::uint8_t((node_owner[element.nodes[i]] == e) << i);
    }
  }
}

void add_neighborhood(SurfaceTopology& t) {
  const std::size_t count = t.nodes.size();
  t.neighbors.offsets.assign(count + 1, 0);
  t.first_edge.assign(count, kNoNeighbor);
  t.has_face.assign(count, 0);
  for (std::uint32_t e = 0; e < t.edges.size(); ++e) {
    for (const std::uint32_t n : t.edges[e].nodes) {
      ++t.neighbors.offsets[n + 1];
      t.first_edge[n] = std::min(t.first_edge[n], e);
      t.has_face[n] |= std::uint8_t(!t.edges[e].is_free());
    }
  }
  for (std::size_t n = 0; n < count; ++n) t.neighbors.offsets[n + 1] += t.neighbors.offsets[n];
  t.neighbors.items.resize(t.neighbors.offsets.back());
  std::vector<std::uint32_t> next(t.neighbors.offsets.begin(), t.neighbors.offsets.end() - 1);
  for (const SurfaceEdge& edge : t.edges) {
    t.neighbors.items[next[edge.nodes[0]]++] = edge.nodes[1];
    t.neighbors.items[next[edge.nodes[1]]++] = edge.nodes[0];
  }
}

void add_node_faces(SurfaceTopology& t) {
  std::vector<Face> faces;
  faces.reserve(t.face_count);
  for (std::size_t f = 0; f < t.face_count; ++f) faces.push_back(t.elements[f].nodes);
  t.node_faces = vertex_faces(faces, t.nodes.size());
}

void add_components(SurfaceTopology& t) {
  UnionFind joined(t.nodes.size());
  for (const SurfaceEdge& edge : t.edges) joined.join(edge.nodes[0], edge.nodes[1]);
  t.component.resize(t.nodes.size());
  for (std::uint32_t n = 0; n < t.nodes.size(); ++n) t.component[n] = joined.root(n);
}

}  // namespace

Result<SurfaceTopology> make_surface_topology(const SurfaceDef& def) {
  if (Status s = check(def); !s) return s.error();
  SurfaceTopology t;
  t.radius = def.radius;
  t.first_feature = def.first_feature;
  t.depth = def.depth;
  t.deepest = std::max(def.depth, def.deepest);
  t.surprise = def.surprise;
  t.slack = def.slack;
  t.flatness = def.flatness > 0 ? def.flatness : kFlatness * def.radius;
  add_nodes(t, def);
  add_elements(t, def);
  add_edges(t);
  drop_repeated_free_edges(t);
  share_out_features(t);
  add_neighborhood(t);
  add_node_faces(t);
  add_components(t);
  return t;
}

}  // namespace pliant
