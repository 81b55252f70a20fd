#include "solve/islands.h"

#include <algorithm>
#include <numeric>

namespace pliant {

void Islands::reset(std::size_t slots) {
  parent_.resize(slots);
  std::iota(parent_.begin(), parent_.end(), 0u);
  island_of_.resize(slots);
}

std::uint32_t Islands::root(std::uint32_t slot) {
  while (parent_[slot] != slot) {
    parent_[slot] = parent_[parent_[slot]];
    slot = parent_[slot];
  }
  return slot;
}

void Islands::link(std::uint32_t a, std::uint32_t b) {
  a = root(a), b = root(b);
  // The smaller slot is the root, so that roots do not depend on the order of the links.
  if (a < b) {
    parent_[b] = a;
  } else {
    parent_[a] = b;
  }
}

void Islands::finish(std::span<const std::uint32_t> members) {
  starts_.assign(1, 0);
  for (const std::uint32_t slot : members) {
    const std::uint32_t top = root(slot);
    if (top == slot) {  // members come in ascending order, so an island's root is seen before the rest of it
      island_of_[slot] = static_cast<std::uint32_t>(starts_.size() - 1);
      starts_.push_back(0);
    } else {
      island_of_[slot] = island_of_[top];
    }
    ++starts_[island_of_[slot] + 1];
  }
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  cursor_.assign(starts_.begin(), starts_.end());
  sorted_.resize(members.size());
  for (const std::uint32_t slot : members) sorted_[cursor_[island_of_[slot]]++] = slot;
}

}  // namespace pliant
