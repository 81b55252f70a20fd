#include "collide/node_touch.h"

#include <algorithm>

namespace pliant {

const NodeTouchMemory* find_touch(std::span<const NodeTouchMemory> memory, std::uint32_t slot, BodyId other) {
  const auto is_before = [&](const NodeTouchMemory& m, std::uint32_t) {
    return m.slot != slot ? m.slot < slot : m.other < other;
  };
  const auto found = std::lower_bound(memory.begin(), memory.end(), slot, is_before);
  return found != memory.end() && found->slot == slot && found->other == other ? &*found : nullptr;
}

void keep_side(std::span<const NodeTouchMemory> memory, std::uint32_t slot, NodeTouch& touch) {
  const NodeTouchMemory* before = find_touch(memory, slot, touch.other);
  if (!before || dot(before->normal, touch.normal) >= 0) return;
  touch.normal = before->normal;
  touch.gap = std::min(before->gap, 0.0f);
}

void look_ahead(const ShapeProbe& probe, Vec3 from, Vec3 way, float watched, ShapeDistance& near) {
  constexpr float kShallow = 0.1f, kMuchLess = 0.2f;
  const float barred = -(near.distance + dot(way, near.normal));
  if (barred <= 0) return;
  const auto there = probe.nearest(from + way, watched + length(way));
  const float shallow = std::max(kShallow * watched, kMuchLess * barred);
  if (!there || there->distance < -shallow) return;
  // A way that leads right through ends beyond a side that turns its back to where it began, and to the side that was
  // nearest there.
  constexpr float kOpposite = -0.2f;
  const float gap = dot(from - there->point, there->normal);
  if (gap < -shallow || (gap < 0 && dot(there->normal, near.normal) < kOpposite)) return;
  near = {gap, there->normal, there->point};
}

}  // namespace pliant
