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

bool is_direction(Vec3 v) { return is_finite(v) && length_squared(v) > 0; }
Error no_direction(Vec3 normal) {
  return selection_error(Error::Code::InvalidArgument,
                         fmt::format("the normal ({}, {}, {}) has no direction", normal.x, normal.y, normal.z));
}
Error not_a_number(const char* what) {
  return selection_error(Error::Code::InvalidArgument, fmt::format("the {} must be finite", what));
}

struct Select {
  std::span<const Vec3> places;
  const std::map<std::string, Nodes>& sets;

  Result<Nodes> operator()(const AllNodes&) const {
    return nodes_where(places, [](Vec3) { return true; });
  }
  Result<Nodes> operator()(const NodeBox& box) const {
    for (std::size_t k = 0; k < 3; ++k) {
      if (std::isnan(box.box.lower[k]) || std::isnan(box.box.upper[k])) return not_a_number("corners of the box");
    }
    return nodes_where(places, [&](Vec3 x) { return box.box.contains(x); });
  }
  Result<Nodes> operator()(const NodeHalfSpace& plane) const {
    if (!is_direction(plane.normal)) return no_direction(plane.normal);
    if (std::isnan(plane.offset)) return not_a_number("offset");
    return nodes_where(places, [&](Vec3 x) { return dot(x, plane.normal) >= plane.offset; });
  }
  Result<Nodes> operator()(const NodeSlab& slab) const {
    if (!is_direction(slab.normal)) return no_direction(slab.normal);
    if (std::isnan(slab.offset) || std::isnan(slab.thickness)) return not_a_number("offset or the thickness");
    const Vec3 normal = normalized(slab.normal, {});
    return nodes_where(places, [&](Vec3 x) { return std::abs(dot(x, normal) - slab.offset) <= 0.5f * slab.thickness; });
  }
  Result<Nodes> operator()(const NodeSet& set) const {
    const auto found = sets.find(set.name);
    if (found != sets.end()) return operator()(NodeList{found->second});
    std::vector<std::string> known;
    for (const auto& entry : sets) known.push_back(entry.first);
    return selection_error(Error::Code::NotFound,
                           fmt::format("the mesh has no node set `{}`; it has {}", set.name,
                                       known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
  Result<Nodes> operator()(const NearestNodes& nearest) const {
    if (nearest.count < 1) {
      return selection_error(Error::Code::InvalidArgument,
                             fmt::format("{} nearest nodes cannot be selected; ask for 1 or more", nearest.count));
    }
    if (!is_finite(nearest.point)) return not_a_number("point");
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
                               fmt::format("node {} does not exist; the body has nodes 0 to {}", node,
                                           static_cast<std::ptrdiff_t>(places.size()) - 1));
      }
    }
    return list.nodes;
  }
};

/// The commonest mistake is to give places in the world.
std::string where_nodes_are(std::span<const Vec3> places, const NodeSelection& selection) {
  if (places.empty() || std::holds_alternative<NodeList>(selection)) return {};
  Aabb box;
  for (const Vec3 x : places) box.include(x);
  return fmt::format(
      "; at rest, in the body's own frame, the nodes lie between ({:.4g}, {:.4g}, {:.4g}) and "
      "({:.4g}, {:.4g}, {:.4g})",
      box.lower.x, box.lower.y, box.lower.z, box.upper.x, box.upper.y, box.upper.z);
}

Result<Nodes> select(std::span<const Vec3> places, const std::map<std::string, Nodes>& sets,
                     const NodeSelection& selection) {
  Result<Nodes> nodes = std::visit(Select{places, sets}, selection);
  if (!nodes) return nodes;
  std::sort(nodes->begin(), nodes->end());
  nodes->erase(std::unique(nodes->begin(), nodes->end()), nodes->end());
  if (!nodes->empty()) return nodes;
  return selection_error(Error::Code::InvalidArgument,
                         "the selection holds no node" + where_nodes_are(places, selection));
}

}  // namespace

Result<std::vector<std::uint32_t>> select_nodes(const TetMesh& mesh, const NodeSelection& selection) {
  return select(mesh.nodes, mesh.node_sets, selection);
}

Result<std::vector<std::uint32_t>> select_nodes(std::span<const Vec3> nodes, const NodeSelection& selection) {
  return select(nodes, {}, selection);
}

Result<std::vector<std::uint32_t>> select_faces(std::span<const Face> faces, std::span<const std::uint32_t> nodes) {
  if (faces.empty()) return selection_error(Error::Code::InvalidArgument, "the body has no surface");
  std::vector<bool> is_listed;
  for (const std::uint32_t node : nodes) {
    if (node >= is_listed.size()) is_listed.resize(std::size_t{node} + 1, false);
    is_listed[node] = true;
  }
  const auto is_selected = [&](std::uint32_t node) { return node < is_listed.size() && is_listed[node]; };
  Nodes selected;
  for (std::uint32_t i = 0; i < faces.size(); ++i) {
    if (std::all_of(faces[i].begin(), faces[i].end(), is_selected)) selected.push_back(i);
  }
  if (!selected.empty()) return selected;
  return selection_error(Error::Code::InvalidArgument,
                         fmt::format("the selection, of {} {}, holds no whole triangle of the surface; all three nodes "
                                     "of a triangle must be selected",
                                     nodes.size(), nodes.size() == 1 ? "node" : "nodes"));
}

}  // namespace pliant
