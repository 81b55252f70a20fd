#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pliant/selection.h"

namespace pliant {
namespace {

using Nodes = std::vector<std::uint32_t>;

template <typename Test>
Nodes nodes_where(std::span<const Vec3> places, Test&& test) {
  Nodes nodes;
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    if (test(places[i])) nodes.push_back(i);
  }
  return nodes;
}

Error selection_error(Error::Code code, std::string message) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

struct Select {
  std::span<const Vec3> places;
  const std::map<std::string, Nodes>& sets;

  Result<Nodes> operator()(const AllNodes&) const {
    return nodes_where(places, [](Vec3) { return true; });
  }
  Result<Nodes> operator()(const NodeBox& box) const {
    return nodes_where(places, [&](Vec3 x) { return box.box.contains(x); });
  }
  Result<Nodes> operator()(const NodeHalfSpace& plane) const {
    return nodes_where(places, [&](Vec3 x) { return dot(x, plane.normal) >= plane.offset; });
  }
  Result<Nodes> operator()(const NodeSet& set) const {
    const auto found = sets.find(set.name);
    if (found != sets.end()) return operator()(NodeList{found->second});
    std::vector<std::string> known;
    for (const auto& entry : sets) known.push_back(entry.first);
    return selection_error(Error::Code::NotFound,
                           fmt::format("the mesh has no node set '{}'; it has {}", set.name,
                                       known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
  Result<Nodes> operator()(const NearestNodes& nearest) const {
    if (nearest.count < 1) {
      return selection_error(Error::Code::InvalidArgument,
                             fmt::format("{} nearest nodes cannot be selected; ask for 1 or more", nearest.count));
    }
    Nodes nodes = nodes_where(places, [](Vec3) { return true; });
    const std::size_t count = std::min(nodes.size(), static_cast<std::size_t>(nearest.count));
    std::partial_sort(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count), nodes.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                        const float da = length_squared(places[a] - nearest.point);
                        const float db = length_squared(places[b] - nearest.point);
                        return da != db ? da < db : a < b;
                      });
    nodes.resize(count);
    return nodes;
  }
  Result<Nodes> operator()(const NodeList& list) const {
    for (const std::uint32_t node : list.nodes) {
      if (node >= places.size()) {
        return selection_error(Error::Code::InvalidArgument,
                               fmt::format("node {} does not exist; the mesh has {} nodes", node, places.size()));
      }
    }
    return list.nodes;
  }
};

Result<Nodes> select(std::span<const Vec3> places, const std::map<std::string, Nodes>& sets,
                     const NodeSelection& selection) {
  Result<Nodes> nodes = std::visit(Select{places, sets}, selection);
  if (!nodes) return nodes;
  std::sort(nodes->begin(), nodes->end());
  nodes->erase(std::unique(nodes->begin(), nodes->end()), nodes->end());
  if (nodes->empty()) return selection_error(Error::Code::InvalidArgument, "the selection holds no node");
  return nodes;
}

}  // namespace

Result<std::vector<std::uint32_t>> select_nodes(const TetMesh& mesh, const NodeSelection& selection) {
  return select(mesh.nodes, mesh.node_sets, selection);
}

Result<std::vector<std::uint32_t>> select_nodes(std::span<const Vec3> nodes, const NodeSelection& selection) {
  return select(nodes, {}, selection);
}

}  // namespace pliant
