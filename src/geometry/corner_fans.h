// Which corners of a surface belong together: those of faces around a vertex that can be reached over its edges.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "geometry/adjacency.h"
#include "geometry/union_find.h"

namespace pliant {

/// Corner i of face f has the number 3 f + i. Faces are joined over the edges that `joins(face, corner)` lets pass,
/// from that corner to the next; `neighbors` are those of `face_neighbors`.
template <typename Joins>
UnionFind corner_fans(std::span<const Face> faces, const std::vector<std::array<std::uint32_t, 3>>& neighbors,
                      Joins&& joins) {
  UnionFind fans(3 * faces.size());
  for (std::uint32_t f = 0; f < faces.size(); ++f) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::uint32_t g = neighbors[f][i];
      if (g == kNoNeighbor || !joins(f, i)) continue;
      for (const std::uint32_t corner : {i, (i + 1) % 3}) {
        for (std::uint32_t k = 0; k < 3; ++k) {
          if (faces[g][k] == faces[f][corner]) fans.join(3 * f + corner, 3 * g + k);
        }
      }
    }
  }
  return fans;
}

}  // namespace pliant
