// Groups of about sixty neighbouring nodes: the coarse cells of a solid's preconditioner, and the order of its nodes.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pliant/math.h"

namespace pliant {

/// `group_of[node]` for groups 0 … count−1. Each is connected through `edges` and lies together in space.
struct Aggregates {
  std::vector<std::uint32_t> group_of;
  std::uint32_t count = 0;
};

/// Cuts the nodes in two along their longest extent, again and again, then splits what is not connected and joins what
/// is too small to a neighbour. METIS makes groups of the same quality in a hundred times the time.
///
/// Keeps its memory: once it has made groups of as many nodes it allocates nothing.
class AggregateMaker {
 public:
  using Edge = std::pair<std::uint32_t, std::uint32_t>;
  void make(std::span<const Vec3> nodes, std::span<const Edge> edges, std::uint32_t wanted_size, Aggregates& out);

 private:
  void bisect(std::span<const Vec3> nodes, std::span<std::uint32_t> part, std::size_t leaves);
  void list_neighbours(std::size_t nodes, std::span<const Edge> edges);
  void split_unconnected(std::vector<std::uint32_t>& group_of);
  void join_small(std::vector<std::uint32_t>& group_of);
  std::uint32_t closest_group(std::uint32_t part, const std::vector<std::uint32_t>& group_of);
  std::span<const std::uint32_t> neighbours(std::uint32_t node) const {
    return {neighbours_.data() + starts_[node], starts_[node + 1] - starts_[node]};
  }

  std::vector<std::uint32_t> order_, group_sizes_;  ///< nodes, group by group
  std::vector<std::uint32_t> starts_, neighbours_, next_neighbour_;
  /// The nodes of a part, from its first to its last, each with the one after it.
  struct Part {
    std::uint32_t first, last, size;
  };
  std::vector<Part> parts_;
  std::vector<std::uint32_t> after_;
  std::vector<std::uint8_t> is_seen_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links_;  ///< group, edges that lead to it
  std::vector<std::uint32_t> renamed_;
};

/// The same, once.
Aggregates make_aggregates(const std::vector<Vec3>& nodes, const std::vector<AggregateMaker::Edge>& edges,
                           std::uint32_t wanted_size);

}  // namespace pliant
