// A tree over triangles or tets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/bvh.h"

namespace pliant {

template <typename Element>
Bvh tree_over(std::span<const Element> elements, std::span<const Vec3> points) {
  std::vector<Aabb> boxes(elements.size());
  for (std::size_t e = 0; e < elements.size(); ++e) {
    for (const std::uint32_t i : elements[e]) boxes[e].include(points[i]);
  }
  Bvh bvh;
  bvh.build(boxes);
  return bvh;
}

}  // namespace pliant
