#include "particle/tear.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "particle/tear_rows.h"

namespace pliant {
namespace {

bool has(const Face& element, std::uint32_t node) {
  return element[0] == node || element[1] == node || element[2] == node;
}

void find_elements(TearRest& rest) {
  const ParticleModel& whole = rest.whole;
  rest.is_rope = whole.faces.empty();
  if (rest.is_rope) {
    for (const auto& segment : whole.segments) rest.elements.push_back({segment[0], segment[1], segment[1]});
  } else {
    rest.elements = whole.faces;
  }
  rest.most_nodes = static_cast<std::uint32_t>((rest.is_rope ? 2 : 3) * rest.elements.size());
  for (const Face& e : rest.elements) {
    const Vec3 a = whole.rest[e[0]], ab = whole.rest[e[1]] - a, ac = whole.rest[e[2]] - a;
    rest.sizes.push_back(rest.is_rope ? length(ab) : 0.5f * length(cross(ab, ac)));
  }
  rest.node_starts.assign(whole.rest.size() + 1, 0);
  const auto for_corners = [&](auto&& visit) {
    for (std::uint32_t e = 0; e < rest.elements.size(); ++e) {
      for (std::size_t k = 0; k < (rest.is_rope ? 2 : 3); ++k) visit(rest.elements[e][k], e);
    }
  };
  for_corners([&](std::uint32_t node, std::uint32_t) { ++rest.node_starts[node + 1]; });
  std::partial_sum(rest.node_starts.begin(), rest.node_starts.end(), rest.node_starts.begin());
  rest.of_node.resize(rest.node_starts.back());
  std::vector<std::uint32_t> next(rest.node_starts.begin(), rest.node_starts.end() - 1);
  for_corners([&](std::uint32_t node, std::uint32_t e) { rest.of_node[next[node]++] = e; });
}

void find_edges(TearRest& rest) {
  struct Side {
    std::array<std::uint32_t, 2> edge;
    std::uint32_t element;
    auto operator<=>(const Side&) const = default;
  };
  std::vector<Side> sides;
  for (std::uint32_t e = 0; e < rest.elements.size(); ++e) {
    for (std::size_t k = 0; k < (rest.is_rope ? 1 : 3); ++k) {
      const std::uint32_t a = rest.elements[e][k], b = rest.elements[e][(k + 1) % 3];
      sides.push_back({{std::min(a, b), std::max(a, b)}, e});
    }
  }
  std::sort(sides.begin(), sides.end());
  for (const Side& side : sides) {
    if (rest.edges.empty() || rest.edges.back() != side.edge) {
      rest.edges.push_back(side.edge);
      rest.edge_starts.push_back(static_cast<std::uint32_t>(rest.of_edge.size()));
    }
    rest.of_edge.push_back(side.element);
  }
  rest.edge_starts.push_back(static_cast<std::uint32_t>(rest.of_edge.size()));
}

/// The two faces on both sides of an edge across which a spring runs.
std::array<std::uint32_t, 2> faces_across(const TearRest& rest, std::uint32_t a, std::uint32_t b) {
  for (const std::uint32_t face : rest.around(a)) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t p = rest.elements[face][k], q = rest.elements[face][(k + 1) % 3];
      if (p == a || q == a) continue;
      for (const std::uint32_t beyond : rest.along(rest.edge_between(p, q))) {
        if (has(rest.elements[beyond], b)) return {face, beyond};
      }
    }
  }
  return {TearRest::kNone, TearRest::kNone};
}

void place_rows(TearRest& rest) {
  for (const ChainLine& line : rest.whole.lines) {
    for (std::size_t k = 0; k + 1 < line.nodes.size(); ++k) {
      rest.chain_edges.push_back(rest.edge_between(line.nodes[k], line.nodes[k + 1]));
    }
  }
  rest.chain_starts.push_back(0);
  for (const std::uint32_t edge : rest.chain_edges) {
    rest.chain_starts.push_back(rest.chain_starts.back() + static_cast<std::uint32_t>(rest.along(edge).size()));
  }
  for (const Bend& bend : rest.whole.line_bends) {
    rest.bend_edges.push_back(
        {rest.edge_between(bend.nodes[0], bend.nodes[1]), rest.edge_between(bend.nodes[1], bend.nodes[2])});
  }
  for (const Spring& spring : rest.whole.springs) {
    TearRest::SpringPlace place{.edge = rest.edge_between(spring.nodes[0], spring.nodes[1])};
    if (place.edge == TearRest::kNone) place.faces = faces_across(rest, spring.nodes[0], spring.nodes[1]);
    rest.springs.push_back(place);
  }
  for (const Bend& hinge : rest.whole.hinges) {
    std::array<std::uint32_t, 2> faces{TearRest::kNone, TearRest::kNone};
    for (const std::uint32_t face : rest.along(rest.edge_between(hinge.nodes[0], hinge.nodes[1]))) {
      for (std::size_t k = 0; k < 2; ++k) {
        if (has(rest.elements[face], hinge.nodes[2 + k])) faces[k] = face;
      }
    }
    rest.hinge_faces.push_back(faces);
  }
}

/// Numbers what hangs together.
void number_pieces(std::span<const Face> elements, ParticleModel& model) {
  std::vector<std::uint32_t> parent(model.rest.size());
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root = [&](std::uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const Face& element : elements) {
    for (std::size_t k = 1; k < 3; ++k) {
      const std::uint32_t a = root(element[0]), b = root(element[k]);
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  model.pieces.assign(parent.size(), 0);
  model.piece_count = 0;
  // A root is the least node of its piece, so it comes before the others.
  for (std::uint32_t i = 0; i < parent.size(); ++i) {
    const std::uint32_t r = root(i);
    model.pieces[i] = r == i ? model.piece_count++ : model.pieces[r];
  }
}

}  // namespace

std::uint32_t TearRest::edge_between(std::uint32_t a, std::uint32_t b) const {
  const std::array<std::uint32_t, 2> edge{std::min(a, b), std::max(a, b)};
  const auto found = std::lower_bound(edges.begin(), edges.end(), edge);
  return found != edges.end() && *found == edge ? static_cast<std::uint32_t>(found - edges.begin()) : kNone;
}

void make_tearable(ParticleModel& model) {
  auto rest = std::make_shared<TearRest>();
  rest->whole = model;
  find_elements(*rest);
  find_edges(*rest);
  place_rows(*rest);
  model.origins.resize(model.rest.size());
  std::iota(model.origins.begin(), model.origins.end(), 0u);
  lay_rows(*rest, rest->elements, model);
  model.tear = std::move(rest);
}

MeshTear::MeshTear(const ParticleModel& model)
    : model_(model), rest_(*model.tear), origins_(model.origins), masses_(model.masses) {
  elements_ = model.faces;
  if (!rest_.is_rope) return;
  for (const auto& segment : model.segments) elements_.push_back({segment[0], segment[1], segment[1]});
}

std::vector<std::uint32_t> MeshTear::around(std::uint32_t node) const {
  std::vector<std::uint32_t> list;
  for (const std::uint32_t e : rest_.around(origins_[node])) {
    if (has(elements_[e], node)) list.push_back(e);
  }
  return list;
}

std::vector<std::uint32_t> MeshTear::neighbors(std::uint32_t node) const {
  std::vector<std::uint32_t> list;
  for (const std::uint32_t e : around(node)) list.insert(list.end(), elements_[e].begin(), elements_[e].end());
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  std::erase(list, node);
  return list;
}

bool MeshTear::is_at_rim(std::uint32_t node) const {
  if (rest_.is_rope) return false;
  std::vector<std::uint32_t> others;
  for (const std::uint32_t e : around(node)) others.insert(others.end(), elements_[e].begin(), elements_[e].end());
  std::erase(others, node);
  // Beside a node within the cloth every other one is a corner of two of its faces.
  return std::any_of(others.begin(), others.end(),
                     [&](std::uint32_t other) { return std::count(others.begin(), others.end(), other) == 1; });
}

std::uint32_t MeshTear::give_copy(std::uint32_t node, std::span<const std::uint32_t> elements) {
  const auto copy = static_cast<std::uint32_t>(origins_.size());
  float all = 0, moved = 0;
  for (const std::uint32_t e : around(node)) all += rest_.sizes[e];
  for (const std::uint32_t e : elements) {
    moved += rest_.sizes[e];
    std::replace(elements_[e].begin(), elements_[e].end(), node, copy);
  }
  const float share = all > 0 ? moved / all : 0.5f, mass = masses_[node] * share;
  origins_.push_back(origins_[node]);
  masses_.push_back(mass);
  masses_[node] -= mass;
  copies_.push_back({copy, node, share});
  return copy;
}

bool MeshTear::part(std::uint32_t node, std::uint32_t toward) {
  const std::vector<Vec3>& x = rest_.whole.rest;
  const Vec3 here = x[origins_[node]], direction = x[origins_[toward]] - here;
  const std::vector<std::uint32_t> all = around(node);
  std::vector<std::uint32_t> there;
  for (const std::uint32_t e : all) {
    const Face& corners = rest_.elements[e];
    const Vec3 center = (x[corners[0]] + x[corners[1]] + x[corners[2]]) / 3;
    const bool is_there = rest_.is_rope ? has(elements_[e], toward) : dot(center - here, direction) > 0;
    if (is_there) there.push_back(e);
  }
  if (there.empty() || there.size() == all.size()) return false;
  const std::uint32_t copy = give_copy(node, there);
  if (rest_.is_rope) return true;
  std::vector<std::uint32_t> near = neighbors(node);
  const std::vector<std::uint32_t> beyond = neighbors(copy);
  near.insert(near.end(), beyond.begin(), beyond.end());
  near.push_back(node), near.push_back(copy);
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  for (const std::uint32_t other : near) part_where_loose(other);
  return true;
}

/// Faces around a node that share no edge with the rest of them get a copy of it.
void MeshTear::part_where_loose(std::uint32_t node) {
  const std::vector<std::uint32_t> all = around(node);
  if (all.size() < 2) return;
  const auto share_edge = [&](const Face& a, const Face& b) {
    return std::any_of(a.begin(), a.end(), [&](std::uint32_t other) { return other != node && has(b, other); });
  };
  std::vector<bool> taken(all.size(), false);
  bool is_first = true;
  for (std::size_t first = 0; first < all.size(); ++first) {
    if (taken[first]) continue;
    std::vector<std::uint32_t> fan{all[first]};
    taken[first] = true;
    for (std::size_t at = 0; at < fan.size(); ++at) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (taken[i] || !share_edge(elements_[fan[at]], elements_[all[i]])) continue;
        taken[i] = true;
        fan.push_back(all[i]);
      }
    }
    if (!is_first) give_copy(node, fan);
    is_first = false;
  }
}

ParticleModel MeshTear::result() const {
  ParticleModel model;
  model.tear = model_.tear;
  model.origins = origins_;
  model.masses = masses_;
  for (const std::uint32_t origin : origins_) model.rest.push_back(rest_.whole.rest[origin]);
  model.radius = model_.radius;
  model.damping = model_.damping;
  model.longest_substep = model_.longest_substep;
  // What had gas in it has a hole now: neither pressure nor volume.
  if (rest_.is_rope) {
    for (const Face& element : elements_) model.segments.push_back({element[0], element[1]});
  } else {
    model.faces = elements_;
  }
  lay_rows(rest_, elements_, model);
  number_pieces(elements_, model);
  return model;
}

}  // namespace pliant
