// Which things belong together, as pairs of them are joined.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace pliant {

class UnionFind {
 public:
  explicit UnionFind(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }

  /// The smallest of all that i belongs with.
  std::uint32_t root(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t i, std::uint32_t j) {
    i = root(i), j = root(j);
    if (i < j) parent_[j] = i;
    if (j < i) parent_[i] = j;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace pliant
