#include "collide/broad_phase.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace pliant {
namespace {

bool is_sound(const Aabb& box) {  // false for NaN too
  return box.lower.x <= box.upper.x && box.lower.y <= box.upper.y && box.lower.z <= box.upper.z;
}

Aabb nowhere() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return {{nan, nan, nan}, {nan, nan, nan}};
}

}  // namespace

BroadPhase::Place BroadPhase::place_of(const Aabb& box, const BroadPhaseProxy& proxy) {
  if (!proxy.is_active || !is_sound(box)) return Place::Nowhere;
  if (!is_finite(box.lower) || !is_finite(box.upper)) return Place::Unbounded;
  return proxy.is_static ? Place::Static : Place::Moving;
}

std::span<const ProxyPair> BroadPhase::update(std::span<const Aabb> boxes, std::span<const BroadPhaseProxy> proxies) {
  boxes_.assign(boxes.begin(), boxes.end());
  proxies_.assign(proxies.begin(), proxies.end());
  sort_out_slots();
  bring_up_to_date(moving_, Place::Moving);
  bring_up_to_date(static_, Place::Static);
  find_pairs();
  sort_pairs();
  return pairs_;
}

/// Notes where each slot belongs and lists those that are in no tree.
void BroadPhase::sort_out_slots() {
  const std::size_t count = boxes_.size();
  places_.resize(count);
  homes_.resize(count, Place::Nowhere);
  loose_.clear();
  endless_.clear();
  loose_.reserve(count);
  endless_.reserve(count);
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    const Place place = place_of(boxes_[slot], proxies_[slot]);
    places_[slot] = place;
    if (place == Place::Unbounded) {
      endless_.push_back(slot);
    } else if (place != Place::Nowhere && place != homes_[slot]) {
      loose_.push_back(slot);
    }
  }
}

void BroadPhase::refit(Tree& tree, Place place) {
  tree.left = 0;
  bool has_moved = false;
  for (std::size_t item = 0; item < tree.slots.size(); ++item) {
    const std::uint32_t slot = tree.slots[item];
    const bool is_here = slot < boxes_.size() && places_[slot] == place && homes_[slot] == place;
    if (!is_here) ++tree.left;
    const Aabb box = is_here ? boxes_[slot] : nowhere();
    if (std::memcmp(&box, &tree.boxes[item], sizeof box) == 0) continue;
    tree.boxes[item] = box;
    has_moved = true;
  }
  if (has_moved) tree.bvh.refit(tree.boxes);
}

void BroadPhase::bring_up_to_date(Tree& tree, Place place) {
  refit(tree, place);
  if (is_worn(tree, place)) rebuild(tree, place);
}

/// Whether building the tree again pays: searches have become much dearer than they were after the build, many items
/// have gone, or more newcomers wait than it is cheap to look at one by one.
bool BroadPhase::is_worn(const Tree& tree, Place place) const {
  const auto waiting =
      std::count_if(loose_.begin(), loose_.end(), [&](std::uint32_t slot) { return places_[slot] == place; });
  return tree.work > tree.work_when_built + tree.work_when_built / 2 + 64 || tree.left > 8 + tree.slots.size() / 4 ||
         std::size_t(waiting) > 8 + tree.slots.size() / 64;
}

void BroadPhase::rebuild(Tree& tree, Place place) {
  tree.slots.clear();
  tree.boxes.clear();
  tree.left = tree.work = tree.work_when_built = 0;
  tree.slots.reserve(boxes_.size());
  tree.boxes.reserve(boxes_.size());
  for (std::uint32_t slot = 0; slot < boxes_.size(); ++slot) {
    if (places_[slot] == place) {
      homes_[slot] = place;
      tree.slots.push_back(slot);
      tree.boxes.push_back(boxes_[slot]);
    } else if (homes_[slot] == place) {
      homes_[slot] = Place::Nowhere;
    }
  }
  tree.bvh.build(tree.boxes);
  std::erase_if(loose_, [&](std::uint32_t slot) { return homes_[slot] == places_[slot]; });
}

void BroadPhase::find_pairs() {
  found_.clear();
  moving_.work = moving_.bvh.for_each_self_pair(
      [&](std::uint32_t i, std::uint32_t j) { add_pair(moving_.slots[i], moving_.slots[j]); });
  static_.work = moving_.bvh.for_each_pair(
      static_.bvh, [&](std::uint32_t i, std::uint32_t j) { add_pair(moving_.slots[i], static_.slots[j]); });
  for (Tree* tree : {&moving_, &static_}) {
    if (tree->work_when_built == 0) tree->work_when_built = tree->work;
  }

  for (std::size_t i = 0; i < loose_.size(); ++i) {
    const std::uint32_t slot = loose_[i];
    for (const Tree* tree : {&moving_, &static_}) {
      tree->bvh.for_each_overlap(boxes_[slot], [&](std::uint32_t item) { add_pair(slot, tree->slots[item]); });
    }
    for (std::size_t j = i + 1; j < loose_.size(); ++j) {
      if (boxes_[slot].overlaps(boxes_[loose_[j]])) add_pair(slot, loose_[j]);
    }
  }
  for (const std::uint32_t slot : endless_) {
    for (std::uint32_t other = 0; other < boxes_.size(); ++other) {
      if (places_[other] == Place::Nowhere || other == slot) continue;
      if (places_[other] == Place::Unbounded && other < slot) continue;  // met already, from the other side
      if (boxes_[slot].overlaps(boxes_[other])) add_pair(slot, other);
    }
  }
}

/// Two counting sorts, by the second slot and then by the first, each of which keeps the order of equals: linear, and
/// without branches to guess wrong. A comparison sort took longer than finding the pairs.
void BroadPhase::sort_pairs() {
  pairs_.resize(found_.size());
  const auto sort_by = [&](std::uint32_t ProxyPair::*slot, const std::vector<ProxyPair>& from,
                           std::vector<ProxyPair>& to) {
    starts_.assign(boxes_.size() + 1, 0);
    for (const ProxyPair& pair : from) ++starts_[pair.*slot + 1];
    for (std::size_t i = 0; i < boxes_.size(); ++i) starts_[i + 1] += starts_[i];
    for (const ProxyPair& pair : from) to[starts_[pair.*slot]++] = pair;
  };
  sort_by(&ProxyPair::b, found_, pairs_);
  sort_by(&ProxyPair::a, pairs_, found_);
  pairs_.swap(found_);
}

}  // namespace pliant
