#include "collide/surface_search.h"

#include <algorithm>
#include <limits>

namespace pliant {
namespace {

using Part = SurfaceContacts::Part;
using Found = SurfaceContacts::Found;

/// What rounding may make of distances, m.
constexpr float kTouching = 1e-6f;

bool has(const SurfaceElement& e, std::uint32_t node) {
  return e.nodes[0] == node || e.nodes[1] == node || e.nodes[2] == node;
}

Box8 moved(Box8 boxes, Vec3 way) {
  for (std::size_t k = 0; k < 3; ++k) {
    for (float& c : boxes.lower[k]) c += way[k];
    for (float& c : boxes.upper[k]) c += way[k];
  }
  return boxes;
}

/// How far faces reach along a direction, from the least to the most.
std::pair<float, float> reach_along(const FaceLanes& faces, Vec3 direction) {
  const Vec3x8 d = broadcast(direction);
  const Float8 p = dot(faces.corner(0), d), q = dot(faces.corner(1), d), r = dot(faces.corner(2), d);
  const Float8 low = min(min(p, q), r), high = max(max(p, q), r);
  std::pair<float, float> reach{low[0], high[0]};
  for (std::size_t i = 1; i < kLanes; ++i) reach = {std::min(low[i], reach.first), std::max(high[i], reach.second)};
  return reach;
}

/// Bit i is set if edge i begins no higher than `height` along a direction.
std::uint32_t edges_below(const EdgeLanes& edges, Vec3 direction, float height) {
  const Vec3x8 d = broadcast(direction);
  return bits_of(~(min(dot(edges.end(0), d), dot(edges.end(1), d)) > height));
}

}  // namespace

SurfaceSearch::SurfaceSearch(const SurfaceTree& a, const SurfaceTree& b, const SurfaceContacts::Candidates& known,
                             bool skips_nodes_of_b)
    : a_(a),
      b_(b),
      known_(known),
      is_self_(&a == &b),
      skips_nodes_of_b_(skips_nodes_of_b),
      axis_(a.is_brisk() || b.is_brisk() ? known.axis : Vec3{}),
      offset_(known.outlook.offset),
      way_(known.outlook.way),
      more_(known.outlook.slack + std::max(known.outlook.reach.surprise, known.outlook.reach.depth)),
      drift_slack_(known.outlook.slack),
      slack_(a.slack() + b.slack()),
      thickness_(a.topology().radius + b.topology().radius),
      nearness_(thickness_ + 0.5f * (a.fit().margin + b.fit().margin) + known.outlook.reach.surprise),
      depth_(known.outlook.reach.depth) {}

Vec3 SurfaceSearch::way_apart(const SurfaceTree::Node& a, const SurfaceTree::Node& b) const {
  return max_each(way_ + a.most_way - b.least_way, b.most_way - a.least_way - way_);
}

/// Only of leaves of faces alone; of others all counts.
SurfaceSearch::Meeting SurfaceSearch::meeting_of(const Leaf& a, const Leaf& b, Vec3 apart) const {
  if (axis_ == Vec3{} || !a.is_all_faces || !b.is_all_faces) return {.reach = std::numeric_limits<float>::infinity()};
  const float along = std::abs(axis_.x) * apart.x + std::abs(axis_.y) * apart.y + std::abs(axis_.z) * apart.z;
  const Meeting meeting{reach_along(a.faces, axis_).second, reach_along(b.faces, axis_).first};
  const float reach = std::max(nearness_, thickness_ + depth_) + along + a.motion + b.motion + drift_slack_;
  const float rounding = kTouching + 1e-6f * (std::abs(meeting.highest_of_a) + std::abs(meeting.lowest_of_b));
  return {meeting.highest_of_a, meeting.lowest_of_b, 1.0001f * reach + rounding};
}

bool SurfaceSearch::overlap(std::uint32_t node_a, std::uint32_t node_b) const {
  const SurfaceTree::Node &a = a_.nodes()[node_a], &b = b_.nodes()[node_b];
  const Vec3 room = way_apart(a, b) + Vec3{more_, more_, more_};
  return b.overlaps(a.lower + offset_ - room, a.upper + offset_ + room);
}

void SurfaceSearch::expand(Part part, std::vector<Part>& next) const {
  const auto add_overlapping = [&](std::uint32_t a, std::uint32_t b) {
    if (overlap(a, b) && !(is_self_ && a_.is_flat(a, b))) next.push_back({a, b});
  };
  const auto add_bent = [&](std::uint32_t a) {
    if (!a_.is_flat(a)) next.push_back({a, a});
  };
  const std::uint32_t a = 2 * part.a + 1, b = 2 * part.b + 1;
  if (is_leaf(part)) {
    next.push_back(part);
  } else if (is_self_ && part.a == part.b) {
    add_bent(a);
    add_bent(a + 1);
    add_overlapping(a, a + 1);
  } else if (a_.is_leaf(part.a)) {
    for (const std::uint32_t child : {b, b + 1}) add_overlapping(part.a, child);
  } else if (b_.is_leaf(part.b)) {
    for (const std::uint32_t child : {a, a + 1}) add_overlapping(child, part.b);
  } else {
    for (const std::uint32_t child_a : {a, a + 1}) {
      for (const std::uint32_t child_b : {b, b + 1}) add_overlapping(child_a, child_b);
    }
  }
}

void SurfaceSearch::run(Part part, std::size_t max_candidates, Found& found) const {
  found.candidates.clear();
  found.is_cut = false;
  std::vector<Part>& stack = found.stack;
  stack.assign(1, part);
  while (!stack.empty()) {
    const Part next = stack.back();
    stack.pop_back();
    if (found.candidates.size() > max_candidates) {
      found.is_cut = true;
      return;
    }
    if (is_leaf(next)) {
      found.owner = next.a + 1 - a_.leaf_count();
      found.partner = next.b + 1 - b_.leaf_count() + (is_self_ ? 0 : a_.leaf_count());
      search_leaves(next, found);
    } else {
      expand(next, stack);
    }
  }
}

/// Goes down the tree of the others. Within one surface an ancestor of the leaf goes along, so that what is flat
/// together is seen on every level.
void SurfaceSearch::run_leaf(std::uint32_t owner, std::size_t max_candidates, Found& found) const {
  found.candidates.clear();
  found.is_cut = false;
  const bool is_of_a = owner < a_.leaf_count();
  const SurfaceTree &tree = is_of_a ? a_ : b_, &others = is_of_a ? b_ : a_;
  const std::uint32_t leaf = tree.leaf_count() - 1 + (is_of_a ? owner : owner - a_.leaf_count());
  std::uint32_t levels = 0;
  while (((leaf + 1) >> (levels + 1)) != 0) ++levels;
  // Parts are the depth and a node of the others.
  std::vector<Part>& stack = found.stack;
  stack.assign(1, {0, 0});
  while (!stack.empty()) {
    const auto [depth, node] = stack.back();
    stack.pop_back();
    if (found.candidates.size() > max_candidates) {
      found.is_cut = true;
      return;
    }
    if (!(is_of_a ? overlap(leaf, node) : overlap(node, leaf))) continue;
    if (is_self_) {
      const std::uint32_t ancestor = ((leaf + 1) >> (levels - depth)) - 1;
      if (ancestor == node ? a_.is_flat(node) : a_.is_flat(std::min(ancestor, node), std::max(ancestor, node)))
        continue;
    }
    if (!others.is_leaf(node)) {
      stack.push_back({depth + 1, 2 * node + 1});
      stack.push_back({depth + 1, 2 * node + 2});
      continue;
    }
    const std::uint32_t other = node + 1 - others.leaf_count();
    const std::uint32_t partner = is_self_ || !is_of_a ? other : a_.leaf_count() + other;
    // Two leaves of this search find each other twice: the first keeps what it finds.
    if (partner < owner && known_.renewed[partner] == known_.renewed[owner]) continue;
    found.owner = owner, found.partner = partner;
    search_leaves(is_of_a ? Part{leaf, node} : Part{node, leaf}, found);
  }
}

void SurfaceSearch::search_leaves(Part part, Found& found) const {
  if (offset_ == Vec3{}) return search_leaves(a_.leaf(part.a), b_.leaf(part.b), part, found);
  Leaf a = a_.leaf(part.a);
  a.faces.move(offset_);
  a.boxes = moved(a.boxes, offset_);
  for (EdgeLanes& lanes : a.edges) {
    lanes.boxes = moved(lanes.boxes, offset_);
    for (auto& end : lanes.ends) {
      for (std::size_t k = 0; k < 3; ++k) {
        for (float& c : end[k]) c += offset_[k];
      }
    }
  }
  search_leaves(a, b_.leaf(part.b), part, found);
}

void SurfaceSearch::search_leaves(const Leaf& a, const Leaf& b, Part part, Found& found) const {
  const bool is_same = is_self_ && part.a == part.b;
  Masks masks{}, transposed{};
  const SurfaceTree::Node &node_a = a_.nodes()[part.a], &node_b = b_.nodes()[part.b];
  const Vec3 apart = way_apart(node_a, node_b), room = apart + Vec3{more_, more_, more_};
  const Meeting meeting = meeting_of(a, b, apart);
  if (meeting.lowest_of_b - meeting.highest_of_a > meeting.reach) return;
  std::uint32_t near = overlap_mask(a.boxes, node_b.lower - room, node_b.upper + room), any = 0;
  for (; near != 0; near &= near - 1) {
    const std::uint32_t i = lowest_bit(near);
    std::uint32_t mask = overlap_mask(b.boxes, a.boxes.lower_at(i) - room, a.boxes.upper_at(i) + room);
    if (is_same) mask &= ~((2u << i) - 1);
    masks[i] = std::uint8_t(mask);
    any |= mask;
    for (; mask != 0; mask &= mask - 1) transposed[lowest_bit(mask)] |= std::uint8_t(1u << i);
  }
  if (any == 0) return;
  const bool move_together = is_self_ && a.foretold != 0 && a.foretold == b.foretold;
  const float motion_apart =
      move_together ? length(a.way - b.way) + a.spread + b.spread : a.motion + b.motion + length(apart) + drift_slack_;
  const float motion = 1.0001f * motion_apart + kTouching;
  find_nodes(SurfaceCandidate::NodeOfA, a, b, node_b, {}, masks, meeting, motion, found);
  if (!skips_nodes_of_b_)
    find_nodes(SurfaceCandidate::NodeOfB, b, a, node_a, offset_, transposed, meeting, motion, found);
  find_edges(a, b, is_same, room, meeting, motion, found);
}

/// How far a node of the leaf a may get in relation to the faces of the leaf b.
float SurfaceSearch::motion_of(SurfaceCandidate::Kind kind, std::uint32_t node, const Leaf& a, const Leaf& b,
                               const SurfaceTree::Node& node_b) const {
  const bool is_of_a = kind == SurfaceCandidate::NodeOfA;
  const Vec3 way = (is_of_a ? a_ : b_).fit().ways[node].xyz() + (is_of_a ? way_ : -way_);
  const float apart = length(max_each(way - node_b.least_way, node_b.most_way - way));
  return 1.0001f * (a.motion + b.motion + apart + drift_slack_) + kTouching;
}

/// The nodes that the elements of one leaf own against the faces of another, whose boxes are moved by `offset`.
void SurfaceSearch::find_nodes(SurfaceCandidate::Kind kind, const Leaf& a, const Leaf& b,
                               const SurfaceTree::Node& node_b, Vec3 offset, const Masks& masks, const Meeting& meeting,
                               float motion, Found& found) const {
  const SurfaceTree &first = kind == SurfaceCandidate::NodeOfA ? a_ : b_, &second = &first == &a_ ? b_ : a_;
  const bool has_inside = !is_self_ && second.topology().is_closed(), is_brisk = !is_self_ && first.is_brisk();
  const Aabb box{node_b.lower + offset, node_b.upper + offset};
  const Aabb near_box = box.expanded(std::max(nearness_, thickness_ + depth_) + motion);
  for (std::uint32_t i = 0; i < 8; ++i) {
    if (masks[i] == 0) continue;
    for (std::uint32_t owned = a.owned_nodes[i]; owned != 0; owned &= owned - 1) {
      const std::uint32_t k = lowest_bit(owned);
      const Vec3 p = a.faces.corner_at(k, i);
      if (!near_box.contains(p)) continue;
      const float height = dot(p, axis_);
      const float gap = &first == &a_ ? meeting.lowest_of_b - height : height - meeting.highest_of_a;
      if (gap > meeting.reach) continue;
      const std::uint32_t node = first.topology().elements[a.elements[i]].nodes[k];
      const float own_motion = is_brisk ? motion_of(kind, node, a, b, node_b) : motion;
      const float reach = nearness_ + own_motion, back = std::max(reach, thickness_ + depth_ + own_motion);
      const float beside = nearness_ + 1.42f * own_motion;  // it may go sideways and down at once
      const std::uint32_t near =
          has_inside ? near_closed_faces(b.faces, p, reach, back, beside) : near_faces(b.faces, p, reach);
      for (std::uint32_t mask = masks[i] & near; mask != 0; mask &= mask - 1) {
        const std::uint32_t face = b.elements[lowest_bit(mask)];
        const SurfaceElement& f = second.topology().elements[face];
        if (!f.is_face || (is_self_ && has(f, node))) continue;
        found.candidates.push_back({node, face, kind, found.owner, found.partner});
      }
    }
  }
}

/// Edges in flat surroundings are looked at only if they may meet, and those of closed surfaces not at all: nodes that
/// are kept out of faces keep them apart.
void SurfaceSearch::find_edges(const Leaf& a, const Leaf& b, bool is_same, Vec3 room, const Meeting& meeting,
                               float motion, Found& found) const {
  const bool only_ridges_of_a = !is_self_ && a_.topology().is_closed();
  const bool only_ridges_of_b = !is_self_ && b_.topology().is_closed();
  if ((only_ridges_of_a && !a.has_ridges) || (only_ridges_of_b && !b.has_ridges)) return;
  const float nearness = std::max(nearness_, thickness_ + depth_);
  const bool are_faces = a.is_all_faces && b.is_all_faces;
  const bool is_parted = are_faces && are_parted(a.faces, b.faces, a.faces.normal_at(0), motion);
  if (is_parted && !(a.has_ridges && b.has_ridges)) return;
  for (std::uint32_t i = 0; i < a.edge_count; ++i) {
    const EdgeLanes& own = a.edges[i / 8];
    const bool is_ridge = own.ridges >> (i % 8) & 1;
    if ((is_parted || only_ridges_of_a) && !is_ridge) continue;
    const float height = std::max(dot(own.end_at(0, i % 8), axis_), dot(own.end_at(1, i % 8), axis_));
    if (meeting.lowest_of_b - height > meeting.reach) continue;
    const Vec3 lower = own.boxes.lower_at(i % 8) - room, upper = own.boxes.upper_at(i % 8) + room;
    for (std::uint32_t j = 0; j < b.edge_count; j += 8) {
      const EdgeLanes& others = b.edges[j / 8];
      std::uint32_t mask = overlap_mask(others.boxes, lower, upper);
      if (is_parted || only_ridges_of_b) mask &= others.ridges;
      if (mask == 0) continue;
      mask &= edges_below(others, axis_, height + meeting.reach);
      mask &= unparted_edges(others, own.end_at(0, i % 8), own.end_at(1, i % 8), nearness + motion);
      if (is_self_) mask &= ~joined_edges(others, own.nodes[0][i % 8], own.nodes[1][i % 8]);
      if (is_same) mask &= j + 7 <= i ? 0u : j > i ? 0xffu : ~((2u << (i - j)) - 1);
      for (; mask != 0; mask &= mask - 1) {
        const std::uint32_t lane = lowest_bit(mask);
        const bool are_ridges = is_ridge && (others.ridges >> lane & 1);
        add_edges(own.edges[i % 8], others.edges[lane], are_ridges ? nearness : 0.0f, found);
      }
    }
  }
}

/// `nearness` is how close they must get to count, 0 where only those do that meet.
void SurfaceSearch::add_edges(std::uint32_t edge_a, std::uint32_t edge_b, float nearness, Found& found) const {
  if (is_self_ && edge_a > edge_b) std::swap(edge_a, edge_b);
  const NodePair p = a_.topology().edges[edge_a].nodes, q = b_.topology().edges[edge_b].nodes;
  const Vec4 &a0 = a_.fit().centers[p[0]], &a1 = a_.fit().centers[p[1]];
  const Vec4 &b0 = b_.fit().centers[q[0]], &b1 = b_.fit().centers[q[1]];
  // Paths of one time are gone along together.
  const auto& when = a_.fit().foretold;
  const bool is_known_of_a =
      a_.is_brisk() || (is_self_ && when[p[0]] == when[p[1]] && when[p[0]] == when[q[0]] && when[p[0]] == when[q[1]]);
  const bool is_known_of_b = is_self_ ? is_known_of_a : b_.is_brisk();
  const auto way_of = [](const SurfaceTree& tree, bool is_known, std::uint32_t node) {
    return is_known ? tree.fit().ways[node].xyz() : Vec3{};
  };
  float motion = relative_motion(FeaturePair::EdgeEdge,
                                 {way_ + way_of(a_, is_known_of_a, p[0]), way_ + way_of(a_, is_known_of_a, p[1]),
                                  way_of(b_, is_known_of_b, q[0]), way_of(b_, is_known_of_b, q[1])});
  if (!is_known_of_a) motion += std::max(a0.w, a1.w);
  if (!is_known_of_b) motion += std::max(b0.w, b1.w);
  motion += slack_ + drift_slack_;
  const float reach = 1.0001f * (nearness + motion) + kTouching;
  if (are_farther(FeaturePair::EdgeEdge, {a0.xyz() + offset_, a1.xyz() + offset_, b0.xyz(), b1.xyz()}, reach)) return;
  found.candidates.push_back({edge_a, edge_b, SurfaceCandidate::Edges, found.owner, found.partner});
}

}  // namespace pliant
