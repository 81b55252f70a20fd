// Quads of grids as two triangles each.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

/// Two triangles for the quad a, b, c, d (counter-clockwise), cut from a to c or from b to d. Cuts that change from
/// cell to cell of a grid let its triangles prefer no direction.
inline void add_quad(std::vector<Face>& faces, std::array<std::uint32_t, 4> q, bool cut_from_first) {
  if (cut_from_first) {
    faces.push_back({q[0], q[1], q[2]});
    faces.push_back({q[0], q[2], q[3]});
  } else {
    faces.push_back({q[1], q[2], q[3]});
    faces.push_back({q[1], q[3], q[0]});
  }
}

}  // namespace pliant
