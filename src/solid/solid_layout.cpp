#include "solid/solid_layout.h"

#include <algorithm>
#include <numeric>

namespace pliant {
namespace {

using Edge = LayoutScratch::Edge;
using TetEdge = LayoutScratch::TetEdge;
using SlotEdge = LayoutScratch::SlotEdge;
using Incidence = LayoutScratch::Incidence;

/// Two numbers as one that sorts in their order.
std::uint64_t joined(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

/// Sorts by `key(item)`, which is below `bound`, in linear time. Equal ones keep their order, so that several keys are
/// sorted by from the last to the first.
template <typename Item, typename Key>
void counting_sort(std::vector<Item>& items, std::vector<Item>& sorted, std::vector<std::uint32_t>& starts,
                   std::size_t bound, Key&& key) {
  starts.assign(bound + 1, 0);
  for (const Item& item : items) ++starts[key(item) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  sorted.resize(items.size());
  for (const Item& item : items) sorted[starts[key(item)]++] = item;
  items.swap(sorted);
}

std::uint32_t wanted_aggregate_size(std::size_t tets) { return tets < 75'000 ? 62 : 94; }

class LayoutBuilder {
 public:
  LayoutBuilder(const TetMesh& mesh, const std::vector<std::uint8_t>& kinds, LayoutScratch& scratch)
      : mesh_(mesh), kinds_(kinds), s_(scratch) {}

  SolidLayout build() {
    list_edges();
    place_nodes();
    batch_tets();
    list_node_sums();
    build_matrix();
    batch_edges();
    return std::move(out_);
  }

 private:
  /// All edges of all tets, sorted by their nodes and then by tet, and where those of each edge begin.
  void list_edges() {
    s_.tet_edges.clear();
    s_.tet_edges.reserve(6 * mesh_.tets.size());
    for (std::uint32_t t = 0; t < mesh_.tets.size(); ++t) {
      const Tet& tet = mesh_.tets[t];
      for (auto [p, q] : kTetEdges) {
        if (tet[p] > tet[q]) std::swap(p, q);
        s_.tet_edges.push_back({tet[p], tet[q], t, p, q});
      }
    }
    const std::size_t nodes = mesh_.nodes.size();
    counting_sort(s_.tet_edges, s_.sorted_tet_edges, s_.counts, nodes, [](const TetEdge& e) { return e.b; });
    counting_sort(s_.tet_edges, s_.sorted_tet_edges, s_.counts, nodes, [](const TetEdge& e) { return e.a; });
    s_.edges.clear(), s_.edge_starts.clear();
    for (std::uint32_t k = 0; k < s_.tet_edges.size(); ++k) {
      const Edge edge{s_.tet_edges[k].a, s_.tet_edges[k].b};
      if (!s_.edges.empty() && s_.edges.back() == edge) continue;
      s_.edges.push_back(edge);
      s_.edge_starts.push_back(k);
    }
    s_.edge_starts.push_back(static_cast<std::uint32_t>(s_.tet_edges.size()));
  }

  void place_nodes() {
    const std::size_t count = mesh_.nodes.size();
    const std::vector<std::uint32_t>& group_of = s_.aggregates.group_of;
    s_.aggregate_maker.make(mesh_.nodes, s_.edges, wanted_aggregate_size(mesh_.tets.size()), s_.aggregates);
    s_.degrees.assign(count, 0);
    for (const auto& [a, b] : s_.edges) ++s_.degrees[a], ++s_.degrees[b];
    s_.order.resize(count);
    std::iota(s_.order.begin(), s_.order.end(), 0u);
    // Rows of equal length side by side leave little padding in the matrix.
    std::sort(s_.order.begin(), s_.order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto key = [&](std::uint32_t n) { return std::tuple(group_of[n], ~s_.degrees[n], n); };
      return key(a) < key(b);
    });
    out_.node_count = static_cast<std::uint32_t>(count);
    out_.slot_of_node.resize(count);
    out_.aggregate_starts.reserve(s_.aggregates.count + 1);
    out_.aggregate_starts.assign(1, 0);
    s_.aggregate_of_group.clear();
    std::uint32_t slot = 0, group = 0;
    for (const std::uint32_t node : s_.order) {
      if (group_of[node] != group) {
        slot = (slot + 7) / 8 * 8;
        out_.aggregate_starts.push_back(slot / 8);
        group = group_of[node];
      }
      s_.aggregate_of_group.resize(slot / 8 + 1, group);
      out_.slot_of_node[node] = slot++;
    }
    out_.slot_count = (slot + 7) / 8 * 8;
    out_.aggregate_starts.push_back(out_.slot_count / 8);
    out_.node_of_slot.assign(out_.slot_count, SolidLayout::kNone);
    for (std::uint32_t node = 0; node < count; ++node) out_.node_of_slot[out_.slot_of_node[node]] = node;
  }

  std::uint32_t aggregate_of(std::uint32_t slot) const { return s_.aggregate_of_group[slot / 8]; }

  /// Sorts the keys of the tets by kind, then by their slots.
  void sort_tets() {
    s_.keys.resize(mesh_.tets.size());
    for (std::uint32_t t = 0; t < s_.keys.size(); ++t) {
      Tet slots = mesh_.tets[t];
      for (std::uint32_t& slot : slots) slot = out_.slot_of_node[slot];
      std::sort(slots.begin(), slots.end());
      s_.keys[t] = {joined(slots[0], slots[1]), joined(slots[2], slots[3]), t, kinds_[t]};
    }
    std::sort(s_.keys.begin(), s_.keys.end(), [](const LayoutScratch::TetKey& a, const LayoutScratch::TetKey& b) {
      return std::tie(a.kind, a.first, a.last, a.tet) < std::tie(b.kind, b.first, b.last, b.tet);
    });
  }

  void batch_tets() {
    const std::size_t count = mesh_.tets.size();
    out_.tet_count = static_cast<std::uint32_t>(count);
    sort_tets();
    std::size_t lanes = 0;
    for (std::size_t k = 0; k < count; ++k) {
      if (k > 0 && s_.keys[k].kind != s_.keys[k - 1].kind) lanes = whole_lanes(lanes);
      ++lanes;
    }
    lanes = whole_lanes(lanes);
    out_.batch_of_tet.resize(count);
    out_.tet_of_lane.reserve(lanes), out_.lane_is_real.reserve(lanes), out_.kind_of_batch.reserve(lanes / kLanes);
    for (std::size_t k = 0; k < count; ++k) {
      if (k > 0 && s_.keys[k].kind != s_.keys[k - 1].kind) pad_batch();
      const std::uint32_t tet = s_.keys[k].tet;
      out_.batch_of_tet[tet] = static_cast<std::uint32_t>(out_.tet_of_lane.size());
      out_.tet_of_lane.push_back(tet);
      out_.lane_is_real.push_back(1);
    }
    pad_batch();
    for (std::size_t lane = 0; lane < out_.tet_of_lane.size(); lane += 8) {
      out_.kind_of_batch.push_back(kinds_[out_.tet_of_lane[lane]]);
    }
    out_.first_block_batch = static_cast<std::size_t>(
        std::upper_bound(out_.kind_of_batch.begin(), out_.kind_of_batch.end(), 0) - out_.kind_of_batch.begin());
    out_.corner_offset.resize(out_.batches() * 32);
    for (std::size_t lane = 0; lane < out_.tet_of_lane.size(); ++lane) {
      for (std::size_t c = 0; c < 4; ++c) {
        const std::uint32_t node = mesh_.tets[out_.tet_of_lane[lane]][c];
        out_.corner_offset[lane / 8 * 32 + c * 8 + lane % 8] = lane_offset(out_.slot_of_node[node]);
      }
    }
  }

  static std::size_t whole_lanes(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

  void pad_batch() {
    while (out_.tet_of_lane.size() % kLanes != 0) {
      out_.tet_of_lane.push_back(out_.tet_of_lane.back());
      out_.lane_is_real.push_back(0);
    }
  }

  /// The corner after the last, where nothing is.
  std::uint32_t zeros() const { return static_cast<std::uint32_t>(4 * kLanes * out_.batches()); }

  void list_node_sums() {
    // By slot, one after the other, each in the order of the lanes.
    std::vector<std::uint32_t>&starts = s_.sum_starts, &next = s_.sum_next, &corners = s_.corners;
    const auto for_each_corner = [&](auto&& visit) {
      for (std::uint32_t lane = 0; lane < out_.tet_of_lane.size(); ++lane) {
        if (!out_.lane_is_real[lane]) continue;
        const Tet& tet = mesh_.tets[out_.tet_of_lane[lane]];
        for (std::uint32_t c = 0; c < 4; ++c) visit(out_.slot_of_node[tet[c]], 4 * lane + c);
      }
    };
    starts.assign(out_.slot_count + 1, 0);
    for_each_corner([&](std::uint32_t slot, std::uint32_t) { ++starts[slot + 1]; });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    corners.resize(starts.back());
    next.assign(starts.begin(), starts.end() - 1);
    for_each_corner([&](std::uint32_t slot, std::uint32_t corner) { corners[next[slot]++] = corner; });
    const auto size_of = [&](std::size_t slot) { return starts[slot + 1] - starts[slot]; };
    const std::size_t groups = out_.slot_count / 8;
    out_.sum_starts.assign(groups + 1, 0);
    for (std::size_t group = 0; group < groups; ++group) {
      std::uint32_t width = 0;
      for (std::size_t l = 0; l < 8; ++l) width = std::max(width, size_of(group * 8 + l));
      out_.sum_starts[group + 1] = out_.sum_starts[group] + width;
    }
    out_.sum_corners.assign(8 * std::size_t{out_.sum_starts.back()}, zeros());
    for (std::size_t slot = 0; slot < out_.slot_count; ++slot) {
      std::uint32_t* to = out_.sum_corners.data() + 8 * std::size_t{out_.sum_starts[slot / 8]} + slot % 8;
      for (std::uint32_t k = 0; k < size_of(slot); ++k) to[8 * k] = corners[starts[slot] + k];
    }
  }

  void build_matrix() {
    s_.entries.clear();
    for (const auto& [a, b] : s_.edges) {
      const std::uint32_t i = out_.slot_of_node[a], j = out_.slot_of_node[b];
      s_.entries.push_back({i, j});
      s_.entries.push_back({j, i});
    }
    out_.matrix.build(out_.slot_count, s_.entries);
    out_.edge_count = s_.edges.size();
  }

  /// The edges by the aggregates of i and of j, then by i and j, each with its tets in the order of the lanes.
  void list_incidences() {
    s_.slot_edges.resize(s_.edges.size());
    for (std::uint32_t e = 0; e < s_.edges.size(); ++e) {
      const auto [i, j] = std::minmax(out_.slot_of_node[s_.edges[e].first], out_.slot_of_node[s_.edges[e].second]);
      s_.slot_edges[e] = {i, j, e, 0, 0};
    }
    const std::size_t slots = out_.slot_count, aggregates = out_.aggregate_starts.size();
    const auto sort_by = [&](std::size_t bound, auto&& key) {
      counting_sort(s_.slot_edges, s_.sorted_slot_edges, s_.counts, bound, key);
    };
    sort_by(slots, [](const SlotEdge& e) { return e.j; });
    sort_by(slots, [](const SlotEdge& e) { return e.i; });
    if (aggregates > 2) {
      sort_by(aggregates, [&](const SlotEdge& e) { return aggregate_of(e.j); });
      sort_by(aggregates, [&](const SlotEdge& e) { return aggregate_of(e.i); });
    }
    s_.incidences.clear();
    s_.incidences.reserve(s_.tet_edges.size());
    for (SlotEdge& edge : s_.slot_edges) {
      edge.begin = static_cast<std::uint32_t>(s_.incidences.size());
      for (std::uint32_t k = s_.edge_starts[edge.edge]; k < s_.edge_starts[edge.edge + 1]; ++k) {
        const TetEdge& e = s_.tet_edges[k];
        const bool is_turned = out_.slot_of_node[e.a] != edge.i;
        s_.incidences.push_back(
            {out_.batch_of_tet[e.tet], is_turned ? e.corner_b : e.corner_a, is_turned ? e.corner_a : e.corner_b});
      }
      edge.end = static_cast<std::uint32_t>(s_.incidences.size());
      std::sort(s_.incidences.begin() + edge.begin, s_.incidences.begin() + edge.end,
                [](const Incidence& a, const Incidence& b) { return a.tet < b.tet; });
    }
  }

  void batch_edges() {
    list_incidences();
    std::vector<SlotEdge>& edges = s_.slot_edges;
    const auto pair_of = [&](const SlotEdge& e) { return std::pair(aggregate_of(e.i), aggregate_of(e.j)); };
    const auto for_each_pair = [&](auto&& visit) {
      for (std::size_t begin = 0, end; begin < edges.size(); begin = end) {
        end = begin + 1;
        while (end < edges.size() && pair_of(edges[end]) == pair_of(edges[begin])) ++end;
        visit(begin, end);
      }
    };
    std::size_t pairs = 0, batches = 0;
    for_each_pair([&](std::size_t begin, std::size_t end) { ++pairs, batches += (end - begin + 7) / 8; });
    out_.pairs.reserve(pairs);
    out_.edge_slots.reserve(16 * batches), out_.edge_targets.reserve(16 * batches);
    out_.incidence_starts.reserve(batches + 1), out_.block_incidence_starts.reserve(batches + 1);
    out_.incidence_starts.assign(1, 0);
    out_.block_incidence_starts.assign(1, 0);
    if (out_.first_block_batch > 0) out_.incidences.reserve(2 * s_.incidences.size() + 16 * batches);
    for_each_pair([&](std::size_t begin, std::size_t end) {
      // Edges with equally many tets side by side leave little padding.
      std::sort(edges.begin() + static_cast<std::ptrdiff_t>(begin), edges.begin() + static_cast<std::ptrdiff_t>(end),
                [](const SlotEdge& x, const SlotEdge& y) {
                  const std::uint32_t of_x = x.end - x.begin, of_y = y.end - y.begin;
                  return of_x != of_y ? of_x > of_y : x.begin < y.begin;
                });
      const auto first = static_cast<std::uint32_t>(out_.edge_batches());
      for (std::size_t k = begin; k < end; k += kLanes) add_edge_batch(&edges[k], std::min<std::size_t>(8, end - k));
      const auto [a, b] = pair_of(edges[begin]);
      out_.pairs.push_back({a, b, first, static_cast<std::uint32_t>(out_.edge_batches())});
    });
  }

  /// The tets around the edges of a batch that satisfy `wanted`, the k-th of each edge side by side.
  template <typename Wanted, typename Add>
  void for_each_incidence(const SlotEdge* edges, std::size_t count, Wanted&& wanted, Add&& add) {
    auto& lists = s_.lists;
    for (auto& list : lists) list.clear();
    std::size_t width = 0;
    for (std::size_t l = 0; l < count; ++l) {
      for (std::uint32_t k = edges[l].begin; k < edges[l].end; ++k) {
        if (wanted(s_.incidences[k])) lists[l].push_back(k);
      }
      width = std::max(width, lists[l].size());
    }
    for (std::size_t k = 0; k < width; ++k) {
      std::array<const Incidence*, kLanes> lanes{};
      for (std::size_t l = 0; l < kLanes; ++l) {
        lanes[l] = k < lists[l].size() ? &s_.incidences[lists[l][k]] : nullptr;
      }
      add(lanes);
    }
  }

  void add_edge_batch(const SlotEdge* edges, std::size_t count) {
    const auto edge = [&](std::size_t lane) -> const SlotEdge& { return edges[std::min(lane, count - 1)]; };
    for (std::size_t l = 0; l < 8; ++l) out_.edge_slots.push_back(edge(l).i);
    for (std::size_t l = 0; l < 8; ++l) out_.edge_slots.push_back(edge(l).j);
    for (std::size_t l = 0; l < 8; ++l) {
      out_.edge_targets.push_back(l < count ? out_.matrix.find(edge(l).i, edge(l).j) : out_.matrix.nowhere());
    }
    for (std::size_t l = 0; l < 8; ++l) {
      out_.edge_targets.push_back(l < count ? out_.matrix.find(edge(l).j, edge(l).i) : out_.matrix.nowhere());
    }
    const auto by_block = [&](const Incidence& e) { return e.tet / 8 >= out_.first_block_batch; };
    for_each_incidence(
        edges, count, [&](const Incidence& e) { return !by_block(e); },
        [&](const auto& lanes) {
          for (const Incidence* e : lanes) out_.incidences.push_back(e ? 4 * e->tet + e->corner_i : zeros());
          for (const Incidence* e : lanes) out_.incidences.push_back(e ? 4 * e->tet + e->corner_j : zeros());
        });
    if (out_.first_block_batch < out_.batches()) {
      for_each_incidence(edges, count, by_block, [&](const auto& lanes) {
        for (const Incidence* e : lanes) out_.block_incidences.push_back(e ? block_offset(*e) : no_block());
      });
    }
    out_.incidence_starts.push_back(static_cast<std::uint32_t>(out_.incidences.size() / 16));
    out_.block_incidence_starts.push_back(static_cast<std::uint32_t>(out_.block_incidences.size() / 8));
  }

  std::uint32_t block_offset(const Incidence& e) const {
    const auto [p, q] = std::minmax(e.corner_i, e.corner_j);
    std::uint32_t edge = 0;
    while (kTetEdges[edge][0] != p || kTetEdges[edge][1] != q) ++edge;
    const auto batch = static_cast<std::uint32_t>(e.tet / 8 - out_.first_block_batch);
    const std::uint32_t at = batch * static_cast<std::uint32_t>(SolidLayout::kBlockFloats) + edge * 72 + e.tet % 8;
    return e.corner_i < e.corner_j ? at : at | SolidLayout::kTransposed;
  }
  /// The zeros after the last block.
  std::uint32_t no_block() const {
    return static_cast<std::uint32_t>((out_.batches() - out_.first_block_batch) * SolidLayout::kBlockFloats);
  }

  const TetMesh& mesh_;
  const std::vector<std::uint8_t>& kinds_;
  LayoutScratch& s_;
  SolidLayout out_;
};

}  // namespace

SolidLayout make_solid_layout(const TetMesh& mesh, const std::vector<std::uint8_t>& kinds, LayoutScratch& scratch) {
  return LayoutBuilder(mesh, kinds, scratch).build();
}

SolidLayout make_solid_layout(const TetMesh& mesh, const std::vector<std::uint8_t>& kinds) {
  LayoutScratch scratch;
  return make_solid_layout(mesh, kinds, scratch);
}

std::size_t SolidLayout::bytes() const {
  const auto of = [](const auto& list) { return list.size() * sizeof(list[0]); };
  return of(slot_of_node) + of(node_of_slot) + of(aggregate_starts) + of(batch_of_tet) + of(tet_of_lane) +
         of(lane_is_real) + of(corner_offset) + of(sum_starts) + of(sum_corners) + of(pairs) + of(edge_slots) +
         of(edge_targets) + of(incidence_starts) + of(incidences) + of(block_incidence_starts) + of(block_incidences) +
         of(kind_of_batch) + matrix.bytes();
}

}  // namespace pliant
