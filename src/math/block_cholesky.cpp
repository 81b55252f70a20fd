#include "math/block_cholesky.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/simd.h"

namespace pliant {
namespace {

constexpr std::size_t kSize = BlockCholesky::kSize, kStride = BlockCholesky::kStride;
/// Of what stood on the diagonal before: sums of some hundred floats and their elimination leave that much rounding.
constexpr float kLeastPivot = 1e-5f;

using Neighbours = std::vector<std::set<std::uint32_t>>;

/// Eliminates the block with the fewest neighbours first; ties go to the lowest number. Fills `graph` in.
std::vector<std::uint32_t> minimum_degree_order(Neighbours& graph) {
  std::vector<std::uint32_t> order;
  std::set<std::pair<std::size_t, std::uint32_t>> queue;
  for (std::uint32_t i = 0; i < graph.size(); ++i) queue.insert({graph[i].size(), i});
  Neighbours eliminated(graph.size());
  while (!queue.empty()) {
    const std::uint32_t next = queue.begin()->second;
    queue.erase(queue.begin());
    order.push_back(next);
    for (const std::uint32_t a : graph[next]) {
      queue.erase({graph[a].size(), a});
      graph[a].erase(next);
      for (const std::uint32_t b : graph[next]) {
        if (b != a) graph[a].insert(b);
      }
      queue.insert({graph[a].size(), a});
    }
    eliminated[next] = std::move(graph[next]);
    graph[next].clear();
  }
  graph = std::move(eliminated);
  return order;
}

/// c −= a bᵀ, blocks by columns.
void subtract_product(float* c, const float* a, const float* b) {
  for (std::size_t column = 0; column < kSize; ++column) {
    Float8 sum = load8(c + column * kStride);
    for (std::size_t k = 0; k < kSize; ++k) sum -= load8(a + k * kStride) * b[k * kStride + column];
    store8(c + column * kStride, sum);
  }
}

}  // namespace

void BlockCholesky::analyze(std::size_t blocks, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  count_ = blocks;
  Neighbours graph(blocks);
  for (const auto& [a, b] : pairs) graph[a].insert(b), graph[b].insert(a);
  const std::vector<std::uint32_t> order = minimum_degree_order(graph);
  position_.resize(blocks);
  for (std::uint32_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
  starts_.assign(1, 0);
  rows_.clear();
  for (const std::uint32_t block : order) {
    for (const std::uint32_t neighbour : graph[block]) rows_.push_back(position_[neighbour]);
    std::sort(rows_.begin() + starts_.back(), rows_.end());
    starts_.push_back(static_cast<std::uint32_t>(rows_.size()));
  }
  values_.assign((blocks + rows_.size()) * kFloats, 0.0f);
  largest_.resize(blocks);
  scratch_.assign(blocks * kStride, 0.0f);
}

void BlockCholesky::clear() { std::fill(values_.begin(), values_.end(), 0.0f); }

std::size_t BlockCholesky::find(std::uint32_t row, std::uint32_t column) const {
  const auto begin = rows_.begin() + starts_[column], end = rows_.begin() + starts_[column + 1];
  return static_cast<std::size_t>(std::lower_bound(begin, end, row) - rows_.begin());
}

void BlockCholesky::add_diagonal(std::uint32_t a, const double* block) {
  float* to = pivot(position_[a]);
  for (std::size_t c = 0; c < kSize; ++c) {
    for (std::size_t r = 0; r < kSize; ++r) to[c * kStride + r] += static_cast<float>(block[r * kSize + c]);
  }
}

void BlockCholesky::add(std::uint32_t a, std::uint32_t b, const double* block) {
  const std::uint32_t pa = position_[a], pb = position_[b];
  float* to = below(pa > pb ? find(pa, pb) : find(pb, pa));
  for (std::size_t c = 0; c < kSize; ++c) {
    for (std::size_t r = 0; r < kSize; ++r) {
      to[c * kStride + r] += static_cast<float>(pa > pb ? block[r * kSize + c] : block[c * kSize + r]);
    }
  }
}

/// The lower factor of the pivot block, with the reciprocals of its diagonal (0 where the pivot was dropped).
void BlockCholesky::factor_pivot(std::size_t column) {
  float* l = pivot(column);
  for (std::size_t j = 0; j < kSize; ++j) {
    float d = l[j * kStride + j];
    for (std::size_t k = 0; k < j; ++k) d -= l[k * kStride + j] * l[k * kStride + j];
    const bool drop = !(d > kLeastPivot * largest_[column][j]);
    const float inverse = drop ? 0.0f : 1 / std::sqrt(d);
    l[j * kStride + j] = inverse;
    for (std::size_t i = j + 1; i < kSize; ++i) {
      float v = l[j * kStride + i];
      for (std::size_t k = 0; k < j; ++k) v -= l[k * kStride + i] * l[k * kStride + j];
      l[j * kStride + i] = v * inverse;
    }
    for (std::size_t i = 0; i < j; ++i) l[j * kStride + i] = 0;
  }
}

/// B ← B L⁻ᵀ for the blocks below the pivot.
void BlockCholesky::scale_below(std::size_t column) {
  const float* l = pivot(column);
  for (std::size_t k = starts_[column]; k < starts_[column + 1]; ++k) {
    float* b = below(k);
    for (std::size_t j = 0; j < kSize; ++j) {
      Float8 v = load8(b + j * kStride);
      for (std::size_t i = 0; i < j; ++i) v -= load8(b + i * kStride) * l[i * kStride + j];
      store8(b + j * kStride, v * l[j * kStride + j]);
    }
  }
}

void BlockCholesky::update_right_of(std::size_t column) {
  for (std::size_t k = starts_[column]; k < starts_[column + 1]; ++k) {
    const std::uint32_t target = rows_[k];
    subtract_product(pivot(target), below(k), below(k));
    std::size_t at = starts_[target];
    for (std::size_t m = k + 1; m < starts_[column + 1]; ++m) {
      while (rows_[at] != rows_[m]) ++at;  // the fill is there: elimination joined them
      subtract_product(below(at), below(m), below(k));
    }
  }
}

void BlockCholesky::factor() {
  for (std::size_t column = 0; column < count_; ++column) {
    for (std::size_t j = 0; j < kSize; ++j) largest_[column][j] = std::abs(pivot(column)[j * kStride + j]);
  }
  for (std::size_t column = 0; column < count_; ++column) {
    factor_pivot(column);
    scale_below(column);
    update_right_of(column);
  }
}

void BlockCholesky::solve(float* x) const {
  float* y = scratch_.data();
  for (std::size_t i = 0; i < count_; ++i) store8(y + position_[i] * kStride, load8(x + i * kStride));
  for (std::size_t column = 0; column < count_; ++column) {
    const float* l = pivot(column);
    float* v = y + column * kStride;
    for (std::size_t j = 0; j < kSize; ++j) {
      v[j] *= l[j * kStride + j];
      for (std::size_t i = j + 1; i < kSize; ++i) v[i] -= l[j * kStride + i] * v[j];
    }
    for (std::size_t k = starts_[column]; k < starts_[column + 1]; ++k) {
      const float* b = below(k);
      float* to = y + rows_[k] * kStride;
      Float8 sum = load8(to);
      for (std::size_t j = 0; j < kSize; ++j) sum -= load8(b + j * kStride) * v[j];
      store8(to, sum);
    }
  }
  for (std::size_t column = count_; column-- > 0;) {
    const float* l = pivot(column);
    float* v = y + column * kStride;
    Float8 dots[kSize] = {};
    for (std::size_t k = starts_[column]; k < starts_[column + 1]; ++k) {
      const Float8 from = load8(y + rows_[k] * kStride);
      const float* b = below(k);
      for (std::size_t j = 0; j < kSize; ++j) dots[j] += load8(b + j * kStride) * from;
    }
    for (std::size_t j = kSize; j-- > 0;) {
      float d = v[j] - sum(dots[j]);
      for (std::size_t i = j + 1; i < kSize; ++i) d -= l[j * kStride + i] * v[i];
      v[j] = d * l[j * kStride + j];
    }
  }
  for (std::size_t i = 0; i < count_; ++i) store8(x + i * kStride, load8(y + position_[i] * kStride));
}

}  // namespace pliant
