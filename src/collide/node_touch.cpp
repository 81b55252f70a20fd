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

}  // namespace pliant
