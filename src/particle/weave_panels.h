// The flat panels of which a surface is sewn, and where they are sewn together.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pliant/particle.h"

namespace pliant {

/// A part of a mesh with a place in the plane for each corner of its faces.
struct WeavePanel {
  std::vector<std::uint32_t> faces;          ///< of the mesh
  std::vector<std::array<Vec2, 3>> pattern;  ///< m, by face of the panel
};

/// An edge of one panel, at the rim of it, that lies on an edge of a rim: of another panel, or elsewhere of the same.
struct WeaveSeam {
  struct Side {
    std::uint32_t panel;
    Vec2 from, to;  ///< m, in its pattern
  };
  Side a, b;  ///< `from` of both is one place, and `to`
};

struct WeavePattern {
  std::vector<WeavePanel> panels;
  std::vector<WeaveSeam> seams;
};

WeavePattern find_pattern(const ClothWeave& weave);

}  // namespace pliant
