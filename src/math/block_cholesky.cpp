#include "math/block_cholesky.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <queue>
#include <tuple>

namespace pliant {
namespace {

/// Of what stood on the diagonal before: sums of some hundred numbers and their elimination leave that much rounding.
template <typename Real>
constexpr Real kLeastPivot = static_cast<Real>(1e-5);
template <>
constexpr double kLeastPivot<double> = 1e-13;

/// Eight or four numbers at a time.
template <typename Real, std::size_t Count>
struct Lanes {
  using Type __attribute__((vector_size(Count * sizeof(Real)))) = Real;
};
template <std::size_t Count, typename Real>
typename Lanes<Real, Count>::Type load_lanes(const Real* from) {
  typename Lanes<Real, Count>::Type v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <typename Real, typename V>
void store_lanes(Real* to, const V& v) {
  std::memcpy(to, &v, sizeof v);
}
template <typename Real, std::size_t Count, typename V>
Real sum_lanes(const V& v) {
  if constexpr (Count == 4) return (v[0] + v[2]) + (v[1] + v[3]);
  if constexpr (Count == 8) return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

using Neighbours = std::vector<std::vector<std::uint32_t>>;  ///< ascending

/// What a block is joined to when `gone`, one of its neighbours, is eliminated.
void take_over_neighbours(std::uint32_t block, std::uint32_t gone, const Neighbours& graph,
                          std::vector<std::uint32_t>& joined) {
  joined.clear();
  std::set_union(graph[block].begin(), graph[block].end(), graph[gone].begin(), graph[gone].end(),
                 std::back_inserter(joined));
  std::erase_if(joined, [&](std::uint32_t other) { return other == block || other == gone; });
}

constexpr std::size_t kLeastToHalve = 48;  ///< blocks; fewer are done before a second core has begun

enum Side : std::uint8_t { kFirstHalf, kSecondHalf, kMeeting };

/// How many links each block is away from `from`; those that are not connected with it are farther than all others.
std::vector<std::size_t> distances(const Neighbours& graph, std::uint32_t from) {
  std::vector<std::size_t> distance(graph.size(), graph.size());
  std::vector<std::uint32_t> reached{from};
  distance[from] = 0;
  for (std::size_t k = 0; k < reached.size(); ++k) {
    for (const std::uint32_t next : graph[reached[k]]) {
      if (distance[next] < graph.size()) continue;
      distance[next] = distance[reached[k]] + 1;
      reached.push_back(next);
    }
  }
  return distance;
}

/// Cuts the graph in the middle, seen from one of its ends: blocks as far away as the median are where the halves meet.
/// Of those with no link to the farther half none is needed there.
std::vector<Side> halve(const Neighbours& graph) {
  std::vector<Side> sides(graph.size(), kFirstHalf);
  if (graph.size() < kLeastToHalve) return sides;
  const auto farthest = [](const std::vector<std::size_t>& distance) {
    return static_cast<std::uint32_t>(std::max_element(distance.begin(), distance.end()) - distance.begin());
  };
  const std::vector<std::size_t> distance = distances(graph, farthest(distances(graph, farthest(distances(graph, 0)))));
  std::vector<std::size_t> sorted = distance;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const std::size_t middle = sorted[sorted.size() / 2];
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const bool meets =
        std::any_of(graph[i].begin(), graph[i].end(), [&](std::uint32_t j) { return distance[j] > middle; });
    sides[i] = distance[i] > middle ? kSecondHalf : distance[i] == middle && meets ? kMeeting : kFirstHalf;
  }
  return sides;
}

/// Eliminates one side after the other, of each the block with the fewest neighbours first; ties go to the lowest
/// number. Fills `graph` in.
std::vector<std::uint32_t> minimum_degree_order(Neighbours& graph, const std::vector<Side>& sides) {
  std::vector<std::uint32_t> order, joined;
  std::vector<std::uint8_t> is_gone(graph.size(), 0);
  using Entry = std::tuple<Side, std::size_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;  // with entries that no longer hold
  for (std::uint32_t i = 0; i < graph.size(); ++i) queue.push({sides[i], graph[i].size(), i});
  while (!queue.empty()) {
    const auto [side, degree, next] = queue.top();
    queue.pop();
    if (is_gone[next] || degree != graph[next].size()) continue;
    is_gone[next] = 1;
    order.push_back(next);
    for (const std::uint32_t a : graph[next]) {
      take_over_neighbours(a, next, graph, joined);
      if (joined.size() != graph[a].size()) queue.push({sides[a], joined.size(), a});
      graph[a].assign(joined.begin(), joined.end());
    }
  }
  return order;
}

/// A block that others are multiplied with, each of its numbers in all lanes: read once, as stores to other blocks
/// would make the compiler read it again.
template <typename Real, std::size_t kSize, std::size_t kStride>
struct SpreadBlock {
  using Lane = typename Lanes<Real, kStride>::Type;
  Lane parts[kSize][kSize];

  explicit SpreadBlock(const Real* b) {
    for (std::size_t k = 0; k < kSize; ++k) {
      for (std::size_t column = 0; column < kSize; ++column) parts[k][column] = b[k * kStride + column] - Lane{};
    }
  }
  /// c −= a bᵀ, blocks by columns.
  void subtract_product(Real* c, const Real* a) const {
    Lane columns[kSize];
    for (std::size_t k = 0; k < kSize; ++k) columns[k] = load_lanes<kStride>(a + k * kStride);
    for (std::size_t column = 0; column < kSize; ++column) {
      Lane sum = load_lanes<kStride>(c + column * kStride);
      for (std::size_t k = 0; k < kSize; ++k) sum -= columns[k] * parts[k][column];
      store_lanes(c + column * kStride, sum);
    }
  }
};

}  // namespace

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::analyze(std::size_t blocks,
                                          const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  if (!starts_.empty() && count_ == blocks && pairs_ == pairs) return;
  count_ = blocks;
  pairs_ = pairs;
  Neighbours graph(blocks);
  for (const auto& [a, b] : pairs) graph[a].push_back(b), graph[b].push_back(a);
  for (std::vector<std::uint32_t>& row : graph) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  const std::vector<Side> sides = halve(graph);
  second_begin_ = static_cast<std::size_t>(std::count(sides.begin(), sides.end(), kFirstHalf));
  meeting_begin_ = blocks - static_cast<std::size_t>(std::count(sides.begin(), sides.end(), kMeeting));
  const std::vector<std::uint32_t> order = minimum_degree_order(graph, sides);
  position_.resize(blocks);
  for (std::uint32_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
  starts_.assign(1, 0);
  rows_.clear();
  for (const std::uint32_t block : order) {
    for (const std::uint32_t neighbour : graph[block]) rows_.push_back(position_[neighbour]);
    std::sort(rows_.begin() + starts_.back(), rows_.end());
    starts_.push_back(static_cast<std::uint32_t>(rows_.size()));
  }
  values_.assign((blocks + rows_.size()) * kReals, Real(0));
  largest_.resize(blocks);
  second_.assign((blocks - meeting_begin_ + rows_.size() - starts_[meeting_begin_]) * kReals, Real(0));
  scratch_.assign((2 * blocks - meeting_begin_) * kStride, Real(0));
}

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::clear() {
  std::fill(values_.begin(), values_.end(), Real(0));
}

template <typename Real, std::size_t Size>
std::size_t BlockCholeskyOf<Real, Size>::find(std::uint32_t row, std::uint32_t column) const {
  const auto begin = rows_.begin() + starts_[column], end = rows_.begin() + starts_[column + 1];
  return static_cast<std::size_t>(std::lower_bound(begin, end, row) - rows_.begin());
}

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::add_diagonal(std::uint32_t a, const double* block) {
  Real* to = pivot(position_[a]);
  for (std::size_t c = 0; c < kSize; ++c) {
    for (std::size_t r = 0; r < kSize; ++r) to[c * kStride + r] += static_cast<Real>(block[r * kSize + c]);
  }
}

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::add(std::uint32_t a, std::uint32_t b, const double* block) {
  const std::uint32_t pa = position_[a], pb = position_[b];
  Real* to = below(pa > pb ? find(pa, pb) : find(pb, pa));
  for (std::size_t c = 0; c < kSize; ++c) {
    for (std::size_t r = 0; r < kSize; ++r) {
      to[c * kStride + r] += static_cast<Real>(pa > pb ? block[r * kSize + c] : block[c * kSize + r]);
    }
  }
}

/// The lower factor of the pivot block, with the reciprocals of its diagonal (0 where the pivot was dropped).
template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::factor_pivot(std::size_t column) {
  Real* l = pivot(column);
  for (std::size_t j = 0; j < kSize; ++j) {
    Real d = l[j * kStride + j];
    for (std::size_t k = 0; k < j; ++k) d -= l[k * kStride + j] * l[k * kStride + j];
    const bool drop = !(d > kLeastPivot<Real> * largest_[column][j]);
    const Real inverse = drop ? Real(0) : 1 / std::sqrt(d);
    l[j * kStride + j] = inverse;
    for (std::size_t i = j + 1; i < kSize; ++i) {
      Real v = l[j * kStride + i];
      for (std::size_t k = 0; k < j; ++k) v -= l[k * kStride + i] * l[k * kStride + j];
      l[j * kStride + i] = v * inverse;
    }
    for (std::size_t i = 0; i < j; ++i) l[j * kStride + i] = 0;
  }
}

/// B ← B L⁻ᵀ for the blocks below the pivot.
template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::scale_below(std::size_t column) {
  const Real* l = pivot(column);
  for (std::size_t k = starts_[column]; k < starts_[column + 1]; ++k) {
    Real* b = below(k);
    for (std::size_t j = 0; j < kSize; ++j) {
      auto v = load_lanes<kStride>(b + j * kStride);
      for (std::size_t i = 0; i < j; ++i) v -= load_lanes<kStride>(b + i * kStride) * l[i * kStride + j];
      store_lanes(b + j * kStride, v * l[j * kStride + j]);
    }
  }
}

/// What is where the halves meet goes to the given pivots and blocks.
template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::update_right_of(std::size_t column, Real* meeting_pivots, Real* meeting_blocks) {
  for (std::size_t k = starts_[column]; k < starts_[column + 1]; ++k) {
    const std::uint32_t target = rows_[k];
    const bool meets = target >= meeting_begin_;
    Real* own = meets ? meeting_pivots + (target - meeting_begin_) * kReals : pivot(target);
    Real* blocks = meets ? meeting_blocks - starts_[meeting_begin_] * kReals : below(0);
    const SpreadBlock<Real, kSize, kStride> factor(below(k));
    factor.subtract_product(own, below(k));
    std::size_t at = starts_[target];
    for (std::size_t m = k + 1; m < starts_[column + 1]; ++m) {
      while (rows_[at] != rows_[m]) ++at;  // the fill is there: elimination joined them
      factor.subtract_product(blocks + at * kReals, below(m));
    }
  }
}

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::factor_columns(std::size_t begin, std::size_t end, Real* meeting_pivots,
                                                 Real* meeting_blocks) {
  for (std::size_t column = begin; column < end; ++column) {
    factor_pivot(column);
    scale_below(column);
    update_right_of(column, meeting_pivots, meeting_blocks);
  }
}

template <typename Real, std::size_t Size>
template <typename Body>
void BlockCholeskyOf<Real, Size>::for_halves(Workers* workers, Body&& body) const {
  const auto half = [&](std::size_t which, std::size_t) {
    which == 0 ? body(std::size_t{0}, second_begin_, which) : body(second_begin_, meeting_begin_, which);
  };
  if (workers && meeting_begin_ > second_begin_) {
    parallel_for(*workers, 2, 1, half);
  } else {
    half(0, 1), half(1, 2);
  }
}

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::factor(Workers* workers) {
  for (std::size_t column = 0; column < count_; ++column) {
    for (std::size_t j = 0; j < kSize; ++j) largest_[column][j] = std::abs(pivot(column)[j * kStride + j]);
  }
  Real* pivots = pivot(meeting_begin_);
  Real* blocks = below(starts_[meeting_begin_]);
  const std::size_t pivot_reals = (count_ - meeting_begin_) * kReals;
  std::fill(second_.begin(), second_.end(), Real(0));
  for_halves(workers, [&](std::size_t begin, std::size_t end, std::size_t which) {
    factor_columns(begin, end, which == 0 ? pivots : second_.data(),
                   which == 0 ? blocks : second_.data() + pivot_reals);
  });
  for (std::size_t k = 0; k < pivot_reals; ++k) pivots[k] += second_[k];
  for (std::size_t k = pivot_reals; k < second_.size(); ++k) blocks[k - pivot_reals] += second_[k];
  factor_columns(meeting_begin_, count_, pivots, blocks);
}

/// What goes to where the halves meet is taken from `meeting`.
template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::solve_forward(std::size_t begin, std::size_t end, std::size_t columns, Real* y,
                                                Real* meeting) const {
  const std::size_t width = columns * kStride;
  for (std::size_t column = begin; column < end; ++column) {
    const Real* l = pivot(column);
    Real* own = y + column * width;
    // Right-hand sides that act in a few places are zero almost everywhere.
    if (std::all_of(own, own + width, [](Real part) { return part == 0; })) continue;
    for (Real* v = own; v != own + width; v += kStride) {
      for (std::size_t j = 0; j < kSize; ++j) {
        v[j] *= l[j * kStride + j];
        for (std::size_t i = j + 1; i < kSize; ++i) v[i] -= l[j * kStride + i] * v[j];
      }
    }
    for (std::size_t k = starts_[column]; k < starts_[column + 1]; ++k) {
      const Real* b = below(k);
      Real* to = rows_[k] < meeting_begin_ ? y + rows_[k] * width : meeting + (rows_[k] - meeting_begin_) * width;
      for (const Real* v = own; v != own + width; v += kStride, to += kStride) {
        auto sum = load_lanes<kStride>(to);
        for (std::size_t j = 0; j < kSize; ++j) sum -= load_lanes<kStride>(b + j * kStride) * v[j];
        store_lanes(to, sum);
      }
    }
  }
}

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::solve_backward(std::size_t begin, std::size_t end, Real* y) const {
  for (std::size_t column = end; column-- > begin;) {
    const Real* l = pivot(column);
    Real* v = y + column * kStride;
    typename Lanes<Real, kStride>::Type dots[kSize] = {};
    for (std::size_t k = starts_[column]; k < starts_[column + 1]; ++k) {
      const auto from = load_lanes<kStride>(y + rows_[k] * kStride);
      const Real* b = below(k);
      for (std::size_t j = 0; j < kSize; ++j) dots[j] += load_lanes<kStride>(b + j * kStride) * from;
    }
    for (std::size_t j = kSize; j-- > 0;) {
      Real d = v[j] - sum_lanes<Real, kStride>(dots[j]);
      for (std::size_t i = j + 1; i < kSize; ++i) d -= l[j * kStride + i] * v[i];
      v[j] = d * l[j * kStride + j];
    }
  }
}

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::solve(Real* x, Workers* workers) const {
  Real* y = scratch_.data();
  Real* meeting = y + meeting_begin_ * kStride;
  Real* second = y + count_ * kStride;
  for (std::size_t i = 0; i < count_; ++i)
    store_lanes(y + position_[i] * kStride, load_lanes<kStride>(x + i * kStride));
  std::fill(second, y + scratch_.size(), Real(0));
  for_halves(workers, [&](std::size_t begin, std::size_t end, std::size_t which) {
    solve_forward(begin, end, 1, y, which == 0 ? meeting : second);
  });
  for (std::size_t k = 0; k < (count_ - meeting_begin_) * kStride; ++k) meeting[k] += second[k];
  solve_forward(meeting_begin_, count_, 1, y, meeting);
  solve_backward(meeting_begin_, count_, y);
  for_halves(workers, [&](std::size_t begin, std::size_t end, std::size_t) { solve_backward(begin, end, y); });
  for (std::size_t i = 0; i < count_; ++i)
    store_lanes(x + i * kStride, load_lanes<kStride>(y + position_[i] * kStride));
}

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::solve_lower(const Real* x, std::size_t columns, Real* y) const {
  const std::size_t width = columns * kStride;
  for (std::size_t i = 0; i < count_; ++i) std::copy_n(x + i * width, width, y + position_[i] * width);
  solve_forward(0, count_, columns, y, y + meeting_begin_ * width);
}

template <typename Real, std::size_t Size>
void BlockCholeskyOf<Real, Size>::solve_upper(Real* y, Real* x) const {
  solve_backward(0, count_, y);
  for (std::size_t i = 0; i < count_; ++i) std::copy_n(y + position_[i] * kStride, kStride, x + i * kStride);
}

template class BlockCholeskyOf<float>;
template class BlockCholeskyOf<double>;
template class BlockCholeskyOf<double, 3>;

}  // namespace pliant
