#include "solid/solid_layout.h"

#include <algorithm>
#include <numeric>

#include "solid/aggregates.h"

namespace pliant {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

/// Two numbers as one that sorts in their order.
std::uint64_t joined(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

/// Sorts by `key(item)`, which is below `bound`, in linear time. Equal ones keep their order, so that several keys are
/// sorted by from the last to the first.
template <typename Item, typename Key>
void counting_sort(std::vector<Item>& items, std::size_t bound, Key&& key) {
  std::vector<std::uint32_t> starts(bound + 1, 0);
  for (const Item& item : items) ++starts[key(item) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<Item> sorted(items.size());
  for (const Item& item : items) sorted[starts[key(item)]++] = item;
  items.swap(sorted);
}

/// One edge of one tet, by slots.
struct Incidence {
  std::uint32_t i, j;  ///< slots, i < j
  std::uint32_t tet;   ///< batch * 8 + lane
  std::uint8_t corner_i, corner_j;
};

std::uint32_t wanted_aggregate_size(std::size_t tets) { return tets < 75'000 ? 62 : 94; }

std::vector<Edge> unique_edges(const TetMesh& mesh) {
  std::vector<Edge> edges;
  edges.reserve(6 * mesh.tets.size());
  for (const Tet& tet : mesh.tets) {
    for (const auto& [p, q] : kTetEdges) edges.push_back(std::minmax(tet[p], tet[q]));
  }
  counting_sort(edges, mesh.nodes.size(), [](const Edge& edge) { return edge.second; });
  counting_sort(edges, mesh.nodes.size(), [](const Edge& edge) { return edge.first; });
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

class LayoutBuilder {
 public:
  LayoutBuilder(const TetMesh& mesh, const std::vector<std::uint8_t>& kinds) : mesh_(mesh), kinds_(kinds) {}

  SolidLayout build() {
    edges_ = unique_edges(mesh_);
    place_nodes();
    batch_tets();
    list_node_sums();
    build_matrix();
    batch_edges();
    return std::move(out_);
  }

 private:
  void place_nodes() {
    const std::size_t count = mesh_.nodes.size();
    const Aggregates aggregates = make_aggregates(mesh_.nodes, edges_, wanted_aggregate_size(mesh_.tets.size()));
    std::vector<std::uint32_t> degree(count, 0), order(count);
    for (const auto& [a, b] : edges_) ++degree[a], ++degree[b];
    std::iota(order.begin(), order.end(), 0u);
    // Rows of equal length side by side leave little padding in the matrix.
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto key = [&](std::uint32_t n) { return std::tuple(aggregates.group_of[n], ~degree[n], n); };
      return key(a) < key(b);
    });
    out_.node_count = static_cast<std::uint32_t>(count);
    out_.slot_of_node.resize(count);
    out_.aggregate_starts.assign(1, 0);
    std::uint32_t slot = 0, group = 0;
    for (const std::uint32_t node : order) {
      if (aggregates.group_of[node] != group) {
        slot = (slot + 7) / 8 * 8;
        out_.aggregate_starts.push_back(slot / 8);
        group = aggregates.group_of[node];
      }
      aggregate_of_group_.resize(slot / 8 + 1, group);
      out_.slot_of_node[node] = slot++;
    }
    out_.slot_count = (slot + 7) / 8 * 8;
    out_.aggregate_starts.push_back(out_.slot_count / 8);
    out_.node_of_slot.assign(out_.slot_count, SolidLayout::kNone);
    for (std::uint32_t node = 0; node < count; ++node) out_.node_of_slot[out_.slot_of_node[node]] = node;
  }

  std::uint32_t aggregate_of(std::uint32_t slot) const { return aggregate_of_group_[slot / 8]; }

  /// The tets by kind, then by their slots.
  std::vector<std::uint32_t> tets_by_slots() const {
    struct Key {
      std::uint64_t first, last;  ///< two slots each, ascending
      std::uint32_t tet;
      std::uint8_t kind;
    };
    std::vector<Key> keys(mesh_.tets.size());
    for (std::uint32_t t = 0; t < keys.size(); ++t) {
      Tet slots = mesh_.tets[t];
      for (std::uint32_t& slot : slots) slot = out_.slot_of_node[slot];
      std::sort(slots.begin(), slots.end());
      keys[t] = {joined(slots[0], slots[1]), joined(slots[2], slots[3]), t, kinds_[t]};
    }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
      return std::tie(a.kind, a.first, a.last, a.tet) < std::tie(b.kind, b.first, b.last, b.tet);
    });
    std::vector<std::uint32_t> order(keys.size());
    std::transform(keys.begin(), keys.end(), order.begin(), [](const Key& key) { return key.tet; });
    return order;
  }

  void batch_tets() {
    const std::size_t count = mesh_.tets.size();
    out_.tet_count = static_cast<std::uint32_t>(count);
    const std::vector<std::uint32_t> order = tets_by_slots();
    out_.batch_of_tet.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
      if (k > 0 && kinds_[order[k]] != kinds_[order[k - 1]]) pad_batch();
      out_.batch_of_tet[order[k]] = static_cast<std::uint32_t>(out_.tet_of_lane.size());
      out_.tet_of_lane.push_back(order[k]);
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
    std::vector<std::uint32_t> starts(out_.slot_count + 1, 0), corners;
    const auto for_each_corner = [&](auto&& visit) {
      for (std::uint32_t lane = 0; lane < out_.tet_of_lane.size(); ++lane) {
        if (!out_.lane_is_real[lane]) continue;
        const Tet& tet = mesh_.tets[out_.tet_of_lane[lane]];
        for (std::uint32_t c = 0; c < 4; ++c) visit(out_.slot_of_node[tet[c]], 4 * lane + c);
      }
    };
    for_each_corner([&](std::uint32_t slot, std::uint32_t) { ++starts[slot + 1]; });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    corners.resize(starts.back());
    std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
    for_each_corner([&](std::uint32_t slot, std::uint32_t corner) { corners[next[slot]++] = corner; });
    out_.sum_starts.assign(1, 0);
    for (std::size_t group = 0; group < out_.slot_count / 8; ++group) {
      const auto size_of = [&](std::size_t l) { return starts[group * 8 + l + 1] - starts[group * 8 + l]; };
      std::uint32_t width = 0;
      for (std::size_t l = 0; l < 8; ++l) width = std::max(width, size_of(l));
      for (std::uint32_t k = 0; k < width; ++k) {
        for (std::size_t l = 0; l < 8; ++l) {
          out_.sum_corners.push_back(k < size_of(l) ? corners[starts[group * 8 + l] + k] : zeros());
        }
      }
      out_.sum_starts.push_back(static_cast<std::uint32_t>(out_.sum_corners.size() / 8));
    }
  }

  void build_matrix() {
    std::vector<Edge> entries;
    entries.reserve(2 * edges_.size());
    for (const auto& [a, b] : edges_) {
      const std::uint32_t i = out_.slot_of_node[a], j = out_.slot_of_node[b];
      entries.push_back({i, j});
      entries.push_back({j, i});
    }
    out_.matrix.build(out_.slot_count, entries);
    out_.edge_count = edges_.size();
  }

  std::vector<Incidence> sorted_incidences() const {
    std::vector<Incidence> all;
    all.reserve(6 * mesh_.tets.size());
    for (std::uint32_t lane = 0; lane < out_.tet_of_lane.size(); ++lane) {
      if (!out_.lane_is_real[lane]) continue;
      const Tet& tet = mesh_.tets[out_.tet_of_lane[lane]];
      for (auto [p, q] : kTetEdges) {
        if (out_.slot_of_node[tet[p]] > out_.slot_of_node[tet[q]]) std::swap(p, q);
        all.push_back({out_.slot_of_node[tet[p]], out_.slot_of_node[tet[q]], lane, p, q});
      }
    }
    // By the aggregates of i and of j, then by i, j and tet; they stand by tet already.
    const std::size_t slots = out_.slot_count, aggregates = out_.aggregate_starts.size();
    counting_sort(all, slots, [](const Incidence& e) { return e.j; });
    counting_sort(all, slots, [](const Incidence& e) { return e.i; });
    counting_sort(all, aggregates, [&](const Incidence& e) { return aggregate_of(e.j); });
    counting_sort(all, aggregates, [&](const Incidence& e) { return aggregate_of(e.i); });
    return all;
  }

  void batch_edges() {
    const std::vector<Incidence> all = sorted_incidences();
    struct Range {
      std::size_t begin, end;
    };
    std::vector<Range> edges;
    const auto flush = [&](std::uint32_t a, std::uint32_t b) {
      // Edges with equally many tets side by side leave little padding.
      std::stable_sort(edges.begin(), edges.end(),
                       [](const Range& x, const Range& y) { return x.end - x.begin > y.end - y.begin; });
      const auto first = static_cast<std::uint32_t>(out_.edge_batches());
      for (std::size_t k = 0; k < edges.size(); k += kLanes)
        add_edge_batch(all, &edges[k], std::min<std::size_t>(8, edges.size() - k));
      out_.pairs.push_back({a, b, first, static_cast<std::uint32_t>(out_.edge_batches())});
      edges.clear();
    };
    out_.incidence_starts.assign(1, 0);
    out_.block_incidence_starts.assign(1, 0);
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = begin;
      while (end < all.size() && all[end].i == all[begin].i && all[end].j == all[begin].j) ++end;
      edges.push_back({begin, end});
      const std::uint32_t a = aggregate_of(all[begin].i), b = aggregate_of(all[begin].j);
      if (end == all.size() || aggregate_of(all[end].i) != a || aggregate_of(all[end].j) != b) flush(a, b);
      begin = end;
    }
  }

  /// The tets around the edges of a batch that satisfy `wanted`, the k-th of each edge side by side.
  template <typename Range, typename Wanted, typename Add>
  void for_each_incidence(const std::vector<Incidence>& all, const Range* edges, std::size_t count, Wanted&& wanted,
                          Add&& add) {
    auto& lists = lists_;
    for (auto& list : lists) list.clear();
    std::size_t width = 0;
    for (std::size_t l = 0; l < count; ++l) {
      for (std::size_t k = edges[l].begin; k < edges[l].end; ++k) {
        if (wanted(all[k])) lists[l].push_back(k);
      }
      width = std::max(width, lists[l].size());
    }
    for (std::size_t k = 0; k < width; ++k) {
      std::array<const Incidence*, kLanes> lanes{};
      for (std::size_t l = 0; l < kLanes; ++l) lanes[l] = k < lists[l].size() ? &all[lists[l][k]] : nullptr;
      add(lanes);
    }
  }

  template <typename Range>
  void add_edge_batch(const std::vector<Incidence>& all, const Range* edges, std::size_t count) {
    const auto edge = [&](std::size_t lane) -> const Incidence& { return all[edges[std::min(lane, count - 1)].begin]; };
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
        all, edges, count, [&](const Incidence& e) { return !by_block(e); },
        [&](const auto& lanes) {
          for (const Incidence* e : lanes) out_.incidences.push_back(e ? 4 * e->tet + e->corner_i : zeros());
          for (const Incidence* e : lanes) out_.incidences.push_back(e ? 4 * e->tet + e->corner_j : zeros());
        });
    for_each_incidence(all, edges, count, by_block, [&](const auto& lanes) {
      for (const Incidence* e : lanes) out_.block_incidences.push_back(e ? block_offset(*e) : no_block());
    });
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
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> aggregate_of_group_;       ///< by group of eight slots
  std::array<std::vector<std::size_t>, kLanes> lists_;  ///< scratch of `for_each_incidence`
  SolidLayout out_;
};

}  // namespace

SolidLayout make_solid_layout(const TetMesh& mesh, const std::vector<std::uint8_t>& kinds) {
  return LayoutBuilder(mesh, kinds).build();
}

std::size_t SolidLayout::bytes() const {
  const auto of = [](const auto& list) { return list.size() * sizeof(list[0]); };
  return of(slot_of_node) + of(node_of_slot) + of(aggregate_starts) + of(batch_of_tet) + of(tet_of_lane) +
         of(lane_is_real) + of(corner_offset) + of(sum_starts) + of(sum_corners) + of(pairs) + of(edge_slots) +
         of(edge_targets) + of(incidence_starts) + of(incidences) + of(block_incidence_starts) + of(block_incidences) +
         of(kind_of_batch) + matrix.bytes();
}

}  // namespace pliant
