// Which bodies may touch: pairs of overlapping boxes.
//
// A slot is a body's place in the caller's arrays. The pairs found are a pure function of what `update` is given and
// never of what came before, so that a restored snapshot goes on as the original did. Trees that are refitted from step
// to step are only how it gets there: 1000 boxes in a pile take about a tenth of a millisecond.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/bvh.h"
#include "pliant/defs.h"
#include "pliant/math.h"

namespace pliant {

/// What the broad phase must know of a slot besides its box.
struct BroadPhaseProxy {
  CollisionFilter filter{};
  bool is_static = false;  ///< two static proxies never make a pair
  bool is_active = true;   ///< false: an empty slot
};

/// Two slots whose boxes overlap (touching counts) and whose filters agree; a < b.
struct ProxyPair {
  std::uint32_t a, b;

  friend bool operator==(ProxyPair x, ProxyPair y) { return x.a == y.a && x.b == y.b; }
  friend bool operator<(ProxyPair x, ProxyPair y) { return x.a != y.a ? x.a < y.a : x.b < y.b; }
};

class BroadPhase {
 public:
  /// Both spans have one entry per slot; slots may come, go and change in any way. Boxes may be endless (a plane's),
  /// and are never paired when they are empty or hold a NaN. The pairs are sorted and stay valid until the next update.
  /// No allocation once as many slots and pairs have been seen before.
  std::span<const ProxyPair> update(std::span<const Aabb> boxes, std::span<const BroadPhaseProxy> proxies);

  /// Those of the last update.
  std::span<const ProxyPair> pairs() const { return pairs_; }

  /// visit(slot) for active slots whose box of the last update overlaps `box`, in no particular order.
  template <typename Visit>
  void for_each_overlap(const Aabb& box, Visit&& visit) const;

  /// t = visit(slot, t) for active slots whose box of the last update meets the ray; see `Bvh::cast_ray`.
  template <typename Visit>
  void cast_ray(Vec3 origin, Vec3 direction, float t, Visit&& visit) const;

 private:
  enum class Place : std::uint8_t { Nowhere, Moving, Static, Unbounded };

  /// A tree over some of the slots. Those that left since it was built have NaN boxes, which overlap nothing.
  struct Tree {
    Bvh bvh;
    std::vector<std::uint32_t> slots;  ///< of each item
    std::vector<Aabb> boxes;           ///< of each item
    std::size_t work_when_built = 0;   ///< node pairs looked at by the first search after the build
    std::size_t work = 0;              ///< by the last one
    std::size_t left = 0;              ///< items that have gone
  };

  static Place place_of(const Aabb& box, const BroadPhaseProxy& proxy);
  void sort_out_slots();
  void bring_up_to_date(Tree& tree, Place place);
  void refit(Tree& tree, Place place);
  bool is_worn(const Tree& tree, Place place) const;
  void rebuild(Tree& tree, Place place);
  void find_pairs();
  void sort_pairs();
  bool may_collide(std::uint32_t a, std::uint32_t b) const {
    const BroadPhaseProxy &x = proxies_[a], &y = proxies_[b];
    return (x.filter.mask & y.filter.category) && (y.filter.mask & x.filter.category) && !(x.is_static && y.is_static);
  }
  void add_pair(std::uint32_t a, std::uint32_t b) {
    if (may_collide(a, b)) found_.push_back(a < b ? ProxyPair{a, b} : ProxyPair{b, a});
  }

  std::vector<Aabb> boxes_;
  std::vector<BroadPhaseProxy> proxies_;
  std::vector<Place> places_;           ///< where each slot belongs
  std::vector<Place> homes_;            ///< the tree that holds it: Moving, Static or Nowhere
  std::vector<std::uint32_t> loose_;    ///< bounded slots that no tree holds yet, ascending
  std::vector<std::uint32_t> endless_;  ///< slots without bounds, ascending
  Tree moving_, static_;
  std::vector<ProxyPair> found_, pairs_;
  std::vector<std::uint32_t> starts_;  ///< scratch of the sort
};

// Implementation ------------------------------------------------------------------------------------------------------

template <typename Visit>
void BroadPhase::for_each_overlap(const Aabb& box, Visit&& visit) const {
  for (const Tree* tree : {&moving_, &static_}) {
    tree->bvh.for_each_overlap(box, [&](std::uint32_t item) { visit(tree->slots[item]); });
  }
  for (const auto* list : {&loose_, &endless_}) {
    for (const std::uint32_t slot : *list) {
      if (boxes_[slot].overlaps(box)) visit(slot);
    }
  }
}

template <typename Visit>
void BroadPhase::cast_ray(Vec3 origin, Vec3 direction, float t, Visit&& visit) const {
  for (const auto* list : {&loose_, &endless_}) {
    for (const std::uint32_t slot : *list) {
      if (Bvh::ray_meets(boxes_[slot], origin, direction, t)) t = visit(slot, t);
    }
  }
  for (const Tree* tree : {&moving_, &static_}) {
    tree->bvh.cast_ray(origin, direction, t,
                       [&](std::uint32_t item, float end) { return t = visit(tree->slots[item], end); });
  }
}

}  // namespace pliant
