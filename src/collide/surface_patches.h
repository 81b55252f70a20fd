// Which parts of a surface cannot touch themselves as long as they are nearly flat.
//
// A piece of surface whose normals all lie within a narrow cone, and whose outline does not cross itself, does not
// touch itself (Volino and Magnenat-Thalmann 1994). The test of the outline is replaced by one of the shape at rest,
// made once: the piece must be in one part, without holes, and compact, so that an outline that crosses itself would
// take more bending or stretching than the cone allows. Two pieces are looked at together if they meet along one
// unbroken line of edges; a common corner is not enough, for a pleat may end there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collide/surface_topology.h"

namespace pliant {

class SurfacePatches {
 public:
  SurfacePatches() = default;
  /// `leaf_of` is the leaf of each element in a balanced tree of `levels` levels whose nodes are numbered level by
  /// level.
  SurfacePatches(const SurfaceTopology& topology, std::span<const std::uint32_t> leaf_of, std::uint32_t levels);

  bool is_patch(std::uint32_t node) const { return is_patch_[node] != 0; }
  /// Whether two nodes of one level, a < b, are both patches and make one patch together.
  bool are_one_patch(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t* end = joined_.items.data() + joined_.offsets[a + 1];
    for (const std::uint32_t* n = joined_.items.data() + joined_.offsets[a]; n != end; ++n) {
      if (*n == b) return true;
    }
    return false;
  }

 private:
  std::vector<std::uint8_t> is_patch_;
  Csr joined_;
};

/// The normals of a piece of surface, as a box around their tips.
struct NormalBox {
  Vec3 lower{1, 1, 1}, upper{-1, -1, -1};

  static NormalBox all() { return {{-1, -1, -1}, {1, 1, 1}}; }
  static NormalBox join(const NormalBox& a, const NormalBox& b) {
    return {min_each(a.lower, b.lower), max_each(a.upper, b.upper)};
  }
  /// Whether all are within 45° of one direction.
  bool is_narrow() const {
    const Vec3 c = 0.5f * (lower + upper), half = 0.5f * (upper - lower);
    const float spread = half.x * std::abs(c.x) + half.y * std::abs(c.y) + half.z * std::abs(c.z);
    const float cc = dot(c, c), least = cc - spread;
    return least > 0 && least * least >= 0.5f * cc;
  }
};

}  // namespace pliant
