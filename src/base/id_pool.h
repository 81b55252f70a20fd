// Hands out ids of the form {index, generation} and knows which are alive.
//
// Slots are used again last freed, first taken, so the same sequence of calls gives the same ids in every run; the pool
// is part of a world's state and is copied into snapshots.
#pragma once

#include <cstdint>
#include <vector>

#include "pliant/ids.h"

namespace pliant {

template <typename IdType>
class IdPool {
 public:
  IdType acquire() {
    std::uint32_t index;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(generations_.size());
      generations_.push_back(0);
    } else {
      index = free_.back();
      free_.pop_back();
    }
    // Odd generations are alive, even ones are not: one number says both.
    return {index, ++generations_[index]};
  }

  /// `id` must be alive.
  void release(IdType id) {
    ++generations_[id.index];
    // A slot whose generations are used up is retired rather than let an old id come back to life.
    if (generations_[id.index] < kLastGeneration) free_.push_back(id.index);
  }

  bool contains(IdType id) const {
    return id.index < generations_.size() && id.generation % 2 == 1 && generations_[id.index] == id.generation;
  }

  /// Whether the id was handed out once and its owner is gone, as opposed to an id that never was.
  bool was_released(IdType id) const {
    return id.index < generations_.size() && id.generation % 2 == 1 && generations_[id.index] > id.generation;
  }

  /// One more than the largest index ever handed out.
  std::size_t slots() const { return generations_.size(); }

  friend bool operator==(const IdPool& a, const IdPool& b) = default;

 private:
  static constexpr std::uint32_t kLastGeneration = 0xfffffffe;
  std::vector<std::uint32_t> generations_;
  std::vector<std::uint32_t> free_;
};

}  // namespace pliant
