// Islands: groups of bodies that feel each other this step, through contacts, joints or rows of any kind.
//
// A union-find over body slots. The result depends on the set of links alone, not on their order: islands come in the
// order of their smallest slot, and list their bodies in ascending order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pliant {

class Islands {
 public:
  /// Forgets all links; slots run from 0 to `slots` − 1.
  void reset(std::size_t slots);
  void link(std::uint32_t a, std::uint32_t b);
  /// Groups `members` (ascending slots). Slots that are not members belong to no island.
  void finish(std::span<const std::uint32_t> members);

  std::size_t count() const { return starts_.empty() ? 0 : starts_.size() - 1; }
  std::span<const std::uint32_t> bodies(std::size_t island) const {
    return {sorted_.data() + starts_[island], starts_[island + 1] - starts_[island]};
  }
  /// Only for members.
  std::uint32_t island_of(std::uint32_t slot) const { return island_of_[slot]; }

 private:
  std::uint32_t root(std::uint32_t slot);

  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> island_of_;
  std::vector<std::uint32_t> starts_;  ///< of each island in `sorted_`, and the end
  std::vector<std::uint32_t> sorted_;
  std::vector<std::uint32_t> cursor_;
};

}  // namespace pliant
