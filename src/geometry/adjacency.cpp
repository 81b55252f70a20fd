#include "geometry/adjacency.h"

#include <algorithm>

namespace pliant {
namespace {

template <std::size_t N>
bool in_range(const std::array<std::uint32_t, N>& element, std::size_t count) {
  return std::all_of(element.begin(), element.end(), [&](std::uint32_t i) { return i < count; });
}

/// Counting sort of (row, item) pairs that `visit_all` gives to its argument, the same ones each time it is called.
template <typename VisitAll>
Csr group_by_row(std::size_t row_count, VisitAll&& visit_all) {
  Csr csr;
  csr.offsets.assign(row_count + 1, 0);
  visit_all([&](std::uint32_t row, std::uint32_t) { ++csr.offsets[row + 1]; });
  for (std::size_t i = 0; i < row_count; ++i) csr.offsets[i + 1] += csr.offsets[i];
  csr.items.resize(csr.offsets.back());
  std::vector<std::uint32_t> next(csr.offsets.begin(), csr.offsets.end() - 1);
  visit_all([&](std::uint32_t row, std::uint32_t item) { csr.items[next[row]++] = item; });
  return csr;
}

template <std::size_t N>
Csr elements_of_nodes(std::span<const std::array<std::uint32_t, N>> elements, std::size_t node_count) {
  return group_by_row(node_count, [&](auto&& emit) {
    for (std::uint32_t e = 0; e < elements.size(); ++e) {
      if (!in_range(elements[e], node_count)) continue;
      for (std::size_t i = 0; i < N; ++i) {
        // A degenerate element that names a node twice still stands once in its row.
        if (std::find(elements[e].begin(), elements[e].begin() + i, elements[e][i]) == elements[e].begin() + i)
          emit(elements[e][i], e);
      }
    }
  });
}

/// One use of a key (an edge, a face) whose smallest node is the row it is filed under.
template <std::size_t N>
struct Use {
  std::array<std::uint32_t, N> rest;  ///< the key's other nodes, ascending
  std::uint32_t element;
  friend bool operator<(const Use& a, const Use& b) {
    return a.rest != b.rest ? a.rest < b.rest : a.element < b.element;
  }
};

/// Sorts uses by key: a counting sort by the smallest node, then each short row by itself, which is linear in practice.
/// `visit_all(emit(row, use))` is called twice; `take(row, first, last)` gets all uses of one key.
template <std::size_t N, typename VisitAll, typename Take>
void for_each_key(std::size_t node_count, VisitAll&& visit_all, Take&& take) {
  std::vector<std::size_t> offsets(node_count + 1, 0);
  visit_all([&](std::uint32_t row, const Use<N>&) { ++offsets[row + 1]; });
  for (std::size_t i = 0; i < node_count; ++i) offsets[i + 1] += offsets[i];
  std::vector<Use<N>> uses(offsets.back());
  std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
  visit_all([&](std::uint32_t row, const Use<N>& use) { uses[next[row]++] = use; });
  for (std::uint32_t row = 0; row < node_count; ++row) {
    const auto begin = uses.begin() + offsets[row], end = uses.begin() + offsets[row + 1];
    std::sort(begin, end);
    for (auto first = begin; first != end;) {
      auto last = first;
      while (last != end && last->rest == first->rest) ++last;
      take(row, first, last);
      first = last;
    }
  }
}

template <std::size_t N>
EdgeAdjacency elements_of_edges(std::span<const std::array<std::uint32_t, N>> elements, std::size_t node_count) {
  EdgeAdjacency result;
  const auto visit_all = [&](auto&& emit) {
    for (std::uint32_t e = 0; e < elements.size(); ++e) {
      if (!in_range(elements[e], node_count)) continue;
      for (std::size_t i = 0; i < N; ++i) {
        for (std::size_t j = i + 1; j < N; ++j) {
          const auto [a, b] = std::minmax(elements[e][i], elements[e][j]);
          if (a != b) emit(a, Use<1>{{b}, e});
        }
      }
    }
  };
  for_each_key<1>(node_count, visit_all, [&](std::uint32_t row, auto first, auto last) {
    result.edges.push_back({row, first->rest[0]});
    for (; first != last; ++first) result.elements.items.push_back(first->element);
    result.elements.offsets.push_back(std::uint32_t(result.elements.items.size()));
  });
  return result;
}

}  // namespace

Csr vertex_faces(std::span<const Face> faces, std::size_t vertex_count) {
  return elements_of_nodes<3>(faces, vertex_count);
}

Csr node_tets(std::span<const Tet> tets, std::size_t node_count) { return elements_of_nodes<4>(tets, node_count); }

EdgeAdjacency edge_faces(std::span<const Face> faces, std::size_t vertex_count) {
  return elements_of_edges<3>(faces, vertex_count);
}

EdgeAdjacency edge_tets(std::span<const Tet> tets, std::size_t node_count) {
  return elements_of_edges<4>(tets, node_count);
}

Csr face_faces(std::span<const Face> faces, std::size_t vertex_count) {
  const EdgeAdjacency edges = edge_faces(faces, vertex_count);
  Csr result = group_by_row(faces.size(), [&](auto&& emit) {
    for (std::size_t e = 0; e < edges.edges.size(); ++e) {
      for (const std::uint32_t f : edges.elements[e]) {
        for (const std::uint32_t g : edges.elements[e]) {
          if (f != g) emit(f, g);
        }
      }
    }
  });
  // Two faces that share two edges met twice: sort each row and keep one of each.
  std::uint32_t kept = 0, begin = 0;
  for (std::size_t f = 0; f < faces.size(); ++f) {
    const std::uint32_t end = result.offsets[f + 1];
    std::sort(result.items.begin() + begin, result.items.begin() + end);
    const std::uint32_t row_start = kept;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (kept == row_start || result.items[kept - 1] != result.items[i]) result.items[kept++] = result.items[i];
    }
    result.offsets[f + 1] = kept;
    begin = end;
  }
  result.items.resize(kept);
  return result;
}

Csr group_tet_faces(std::span<const Tet> tets, std::size_t node_count) {
  Csr groups;
  const auto visit_all = [&](auto&& emit) {
    for (std::uint32_t t = 0; t < tets.size(); ++t) {
      if (!in_range(tets[t], node_count)) continue;
      for (std::uint32_t f = 0; f < 4; ++f) {
        std::array<std::uint32_t, 3> key;
        for (std::size_t i = 0; i < 3; ++i) key[i] = tets[t][kTetFaces[f][i]];
        std::sort(key.begin(), key.end());
        emit(key[0], Use<2>{{key[1], key[2]}, 4 * t + f});
      }
    }
  };
  for_each_key<2>(node_count, visit_all, [&](std::uint32_t, auto first, auto last) {
    for (; first != last; ++first) groups.items.push_back(first->element);
    groups.offsets.push_back(std::uint32_t(groups.items.size()));
  });
  return groups;
}

std::vector<std::array<std::uint32_t, 4>> tet_tets(std::span<const Tet> tets, std::size_t node_count) {
  std::vector<std::array<std::uint32_t, 4>> result(tets.size(), {kNoNeighbor, kNoNeighbor, kNoNeighbor, kNoNeighbor});
  const Csr groups = group_tet_faces(tets, node_count);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].size() != 2) continue;
    const std::uint32_t a = groups[g][0], b = groups[g][1];
    result[a / 4][a % 4] = b / 4;
    result[b / 4][b % 4] = a / 4;
  }
  return result;
}

std::vector<std::array<std::uint32_t, 3>> face_neighbors(std::span<const Face> faces, const EdgeAdjacency& edges) {
  std::vector<std::array<std::uint32_t, 3>> neighbors(faces.size(), {kNoNeighbor, kNoNeighbor, kNoNeighbor});
  for (std::size_t e = 0; e < edges.edges.size(); ++e) {
    const auto pair = edges.elements[e];
    if (pair.size() != 2) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const Face& f = faces[pair[side]];
      for (std::size_t i = 0; i < 3; ++i) {
        const auto [a, b] = std::minmax(f[i], f[(i + 1) % 3]);
        if (a == edges.edges[e][0] && b == edges.edges[e][1]) neighbors[pair[side]][i] = pair[1 - side];
      }
    }
  }
  return neighbors;
}

}  // namespace pliant
