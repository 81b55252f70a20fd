#include "solid/fracture_topology.h"

#include <algorithm>
#include <numeric>

namespace pliant {
namespace {

/// The corners of the face opposite to a corner.
constexpr std::array<std::array<std::uint8_t, 3>, 4> kFaces{{{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}};

}  // namespace

PlacesIn::PlacesIn(std::span<const std::uint32_t> list, std::size_t bound) : list_(list) {
  if (kFew * list.size() < bound) return;
  place_.resize(bound);
  for (std::uint32_t i = 0; i < list.size(); ++i) place_[list[i]] = i;
}

FractureTopology::FractureTopology(std::span<const Tet> tets, std::uint32_t node_count, std::uint32_t min_tets)
    : tets_(tets.begin(), tets.end()), first_copy_(node_count), min_tets_(min_tets) {
  origin_.reserve(node_count + 4 * tets_.size());
  origin_.resize(node_count);
  std::iota(origin_.begin(), origin_.end(), 0u);
  link_faces();
  list_stars();
  reserve();
}

FractureTopology::FractureTopology(const FractureTopology& whole, const Part& part)
    : first_copy_(static_cast<std::uint32_t>(part.nodes.size())), min_tets_(whole.min_tets_) {
  const PlacesIn nodes(part.nodes, whole.node_count()), tets(part.tets, whole.tets_.size());
  tets_.reserve(part.tets.size()), neighbours_.reserve(4 * part.tets.size());
  origin_.reserve(first_copy_ + 4 * part.tets.size());
  origin_.resize(first_copy_);
  std::iota(origin_.begin(), origin_.end(), 0u);
  for (const std::uint32_t old : part.tets) {
    Tet tet = whole.tets_[old];
    for (std::uint32_t& node : tet) node = nodes.of(node);
    tets_.push_back(tet);
    for (std::uint32_t c = 0; c < 4; ++c) {
      const std::uint32_t across = whole.neighbours_[4 * old + c];
      neighbours_.push_back(across == kNone ? kNone : tets.of(across));
    }
  }
  list_stars();
  reserve();
}

void FractureTopology::reserve() {
  std::size_t largest = 0;
  for (const Range& range : ranges_) largest = std::max<std::size_t>(largest, range.end - range.begin);
  ranges_.reserve(first_copy_ + 4 * tets_.size());
  // A split opens at most three faces of each tet of a star, and separates its own node and two of each such face.
  opened_.reserve(3 * largest), other_sides_.reserve(3 * largest);
  copies_.reserve(4 * tets_.size());
  scratch_.reserve(largest);
  queue_.reserve(9 * largest + 2);
}

void FractureTopology::link_faces() {
  struct Side {
    std::array<std::uint32_t, 3> nodes;
    std::uint32_t corner;
  };
  std::vector<Side> sides;
  sides.reserve(4 * tets_.size());
  for (std::uint32_t t = 0; t < tets_.size(); ++t) {
    for (std::uint32_t c = 0; c < 4; ++c) {
      Side side{{tets_[t][kFaces[c][0]], tets_[t][kFaces[c][1]], tets_[t][kFaces[c][2]]}, 4 * t + c};
      std::sort(side.nodes.begin(), side.nodes.end());
      sides.push_back(side);
    }
  }
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return a.nodes != b.nodes ? a.nodes < b.nodes : a.corner < b.corner; });
  neighbours_.assign(4 * tets_.size(), kNone);
  for (std::size_t i = 0; i + 1 < sides.size(); ++i) {
    if (sides[i].nodes != sides[i + 1].nodes) continue;
    neighbours_[sides[i].corner] = tet_of(sides[i + 1].corner);
    neighbours_[sides[i + 1].corner] = tet_of(sides[i].corner);
    ++i;  // a third tet at the face is no neighbour: such meshes are refused
  }
}

void FractureTopology::list_stars() {
  ranges_.assign(first_copy_, {0, 0});
  for (const Tet& tet : tets_) {
    for (const std::uint32_t node : tet) ++ranges_[node].end;
  }
  std::uint32_t total = 0;
  for (Range& range : ranges_) {
    const std::uint32_t count = range.end;
    range = {total, total};
    total += count;
  }
  star_.resize(total);
  for (std::uint32_t t = 0; t < tets_.size(); ++t) {
    for (std::uint32_t c = 0; c < 4; ++c) star_[ranges_[tets_[t][c]].end++] = 4 * t + c;
  }
}

std::uint32_t FractureTopology::corner_of_node(std::uint32_t tet, std::uint32_t node) const {
  for (std::uint32_t c = 0; c < 4; ++c) {
    if (tets_[tet][c] == node) return 4 * tet + c;
  }
  return kNone;
}

bool FractureTopology::split(std::uint32_t node, std::span<const std::uint8_t> is_above) {
  forget_last();
  queue_.clear();
  // Those above go to the end of the node's range, each kind in its order.
  const Range range = ranges_[node];
  scratch_.clear();
  std::uint32_t kept = range.begin;
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    if (is_above[i - range.begin]) {
      scratch_.push_back(star_[i]);
    } else {
      star_[kept++] = star_[i];
    }
  }
  std::copy(scratch_.begin(), scratch_.end(), star_.begin() + kept);
  if (kept == range.begin || kept == range.end) return false;

  const std::uint32_t copy = node_count();
  divide(node, kept);
  open_faces(node, copy);
  queue_.push_back(node), queue_.push_back(copy);
  for (const std::uint32_t corner : opened_) {
    for (const std::uint8_t c : kFaces[corner % 4]) queue_.push_back(tets_[tet_of(corner)][c]);
  }
  // The copies of a node that this makes have stars in one piece: only nodes of faces that opened must be looked at.
  const std::size_t count = queue_.size();
  for (std::size_t i = 0; i < count; ++i) separate_star(queue_[i]);
  if (!leaves_crumb()) return true;
  undo();
  return false;
}

/// The corners of the node's range from `first_of_copy` on get a copy of it.
void FractureTopology::divide(std::uint32_t node, std::uint32_t first_of_copy) {
  const std::uint32_t copy = node_count(), end = ranges_[node].end;
  origin_.push_back(origin_[node]);
  ranges_.push_back({first_of_copy, end});
  ranges_[node].end = first_of_copy;
  for (std::uint32_t i = first_of_copy; i < end; ++i) tets_[tet_of(star_[i])][star_[i] % 4] = copy;
  copies_.push_back({node, copy});
}

/// Opens the faces between the tets of a node and those that got its copy.
void FractureTopology::open_faces(std::uint32_t node, std::uint32_t copy) {
  for (const std::uint32_t own : star(copy)) {
    const std::uint32_t tet = tet_of(own);
    for (std::uint32_t c = 0; c < 4; ++c) {
      const std::uint32_t corner = 4 * tet + c, across = neighbours_[corner];
      if (corner == own || across == kNone || corner_of_node(across, node) == kNone) continue;
      for (std::uint32_t k = 0; k < 4; ++k) {
        // Two tets may share two faces only in a mesh that is folded onto itself; the node tells which one this is.
        if (neighbours_[4 * across + k] == tet && tets_[across][k] != node) {
          open(corner, 4 * across + k);
          break;
        }
      }
    }
  }
}

void FractureTopology::open(std::uint32_t corner, std::uint32_t other) {
  neighbours_[corner] = neighbours_[other] = kNone;
  opened_.push_back(corner), other_sides_.push_back(other);
}

/// Gives every part of the tets around a node, as faces at the node join them, a copy of its own; the first keeps it.
void FractureTopology::separate_star(std::uint32_t node) {
  for (;;) {
    const Range range = ranges_[node];
    if (range.end - range.begin < 2) return;
    // Grows the part of the first corner at the front of the range.
    std::uint32_t end = range.begin + 1;
    for (std::uint32_t i = range.begin; i < end; ++i) {
      const std::uint32_t tet = tet_of(star_[i]);
      for (std::uint32_t c = 0; c < 4; ++c) {
        const std::uint32_t across = neighbours_[4 * tet + c];
        if (4 * tet + c == star_[i] || across == kNone) continue;
        for (std::uint32_t k = end; k < range.end; ++k) {
          if (tet_of(star_[k]) != across) continue;
          std::swap(star_[end++], star_[k]);
          break;
        }
      }
    }
    if (end == range.end) return;
    divide(node, end);
    node = node_count() - 1;  // what is left over may itself be several parts
  }
}

bool FractureTopology::leaves_crumb() const {
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    if (is_crumb(tet_of(opened_[i])) || is_crumb(tet_of(other_sides_[i]))) return true;
  }
  return false;
}

/// Whether fewer than `min_tets_` tets hang together here.
bool FractureTopology::is_crumb(std::uint32_t tet) const {
  if (min_tets_ < 2) return false;
  constexpr std::size_t kMost = 64;
  std::array<std::uint32_t, kMost> found{tet};
  std::size_t count = 1;
  const std::size_t enough = std::min<std::size_t>(min_tets_, kMost);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t c = 0; c < 4; ++c) {
      const std::uint32_t across = neighbours_[4 * found[i] + c];
      if (across == kNone || std::find(found.begin(), found.begin() + count, across) != found.begin() + count) continue;
      found[count++] = across;
      if (count >= enough) return false;
    }
  }
  return count < enough;
}

void FractureTopology::undo() {
  for (std::size_t i = copies_.size(); i-- > 0;) {
    const auto [from, to] = copies_[i];
    for (const std::uint32_t corner : star(to)) tets_[tet_of(corner)][corner % 4] = from;
    ranges_[from].end = ranges_[to].end;
    ranges_.pop_back(), origin_.pop_back();
  }
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    neighbours_[opened_[i]] = tet_of(other_sides_[i]);
    neighbours_[other_sides_[i]] = tet_of(opened_[i]);
  }
  forget_last();
}

std::uint32_t FractureTopology::find_parts(std::vector<std::uint32_t>& part_of_tet) const {
  part_of_tet.assign(tets_.size(), kNone);
  std::vector<std::uint8_t> is_seen(node_count(), 0);
  std::vector<std::uint32_t> open;
  std::uint32_t count = 0;
  const auto take = [&](std::uint32_t tet) {
    if (part_of_tet[tet] != kNone) return;
    part_of_tet[tet] = count;
    open.push_back(tet);
  };
  for (std::uint32_t seed = 0; seed < tets_.size(); ++seed) {
    if (part_of_tet[seed] != kNone) continue;
    take(seed);
    while (!open.empty()) {
      const Tet& tet = tets_[open.back()];
      open.pop_back();
      for (const std::uint32_t node : tet) {
        if (is_seen[node]) continue;
        is_seen[node] = 1;
        for (const std::uint32_t corner : star(node)) take(tet_of(corner));
      }
    }
    ++count;
  }
  return count;
}

std::vector<FractureTopology::Part> FractureTopology::parts() const {
  std::vector<std::uint32_t> part_of_tet;
  std::vector<Part> parts(find_parts(part_of_tet));
  std::vector<std::uint32_t> tets_of(parts.size(), 0), nodes_of(parts.size(), 0);
  for (const std::uint32_t part : part_of_tet) ++tets_of[part];
  for (std::uint32_t node = 0; node < node_count(); ++node) {
    if (!star(node).empty()) ++nodes_of[part_of_tet[tet_of(star(node)[0])]];
  }
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].tets.reserve(tets_of[i]), parts[i].nodes.reserve(nodes_of[i]);
  for (std::uint32_t t = 0; t < tets_.size(); ++t) parts[part_of_tet[t]].tets.push_back(t);
  for (std::uint32_t node = 0; node < node_count(); ++node) {
    if (!star(node).empty()) parts[part_of_tet[tet_of(star(node)[0])]].nodes.push_back(node);
  }
  return parts;
}

std::size_t FractureTopology::bytes() const {
  const auto of = [](const auto& list) { return list.capacity() * sizeof(list[0]); };
  return of(tets_) + of(origin_) + of(neighbours_) + of(ranges_) + of(star_) + of(opened_) + of(other_sides_) +
         of(copies_) + of(scratch_) + of(queue_);
}

}  // namespace pliant
