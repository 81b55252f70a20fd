// On which side of each other the features of surfaces were: cloth has no inside that would tell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pliant/math.h"

namespace pliant {

/// Remembered of a pair that was so close that it could slip through before the next substep.
struct SideNote {
  std::uint64_t key;  ///< of the contact
  Vec3 normal;        ///< of the contact
  float side;         ///< of a node: 1 in front of the face, −1 behind it, 0 where one can get round; of edges 0

  friend bool operator<(const SideNote& a, const SideNote& b) { return a.key < b.key; }
};

/// The notes of one substep, sorted by key. Part of a world's state.
class SurfaceSides {
 public:
  /// Takes the place of all notes so far; `notes` may have any order.
  void assign(std::span<const SideNote> notes) {
    notes_.assign(notes.begin(), notes.end());
    std::sort(notes_.begin(), notes_.end());
  }
  void clear() { notes_.clear(); }
  std::span<const SideNote> notes() const { return notes_; }

  /// Those with first ≤ key ≤ last.
  std::span<const SideNote> between(std::uint64_t first, std::uint64_t last) const {
    const auto begin = std::lower_bound(notes_.begin(), notes_.end(), SideNote{first, {}, 0});
    auto end = begin;
    while (end != notes_.end() && end->key <= last) ++end;
    return {begin, end};
  }

 private:
  std::vector<SideNote> notes_;
};

}  // namespace pliant
