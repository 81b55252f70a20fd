// How far apart two surfaces are as a whole, along the one direction that tells them apart best.
//
// Any direction bounds what can happen between two clouds of points: features are no nearer to each other than the gap
// between the clouds along it, and no point is deeper inside the other than they overlap along it. So most pairs of
// neighbours are done with here, at the price of a dot product for each node, and the others are searched no deeper
// than they can be inside each other.
#pragma once

#include "collide/surface_tree.h"

namespace pliant {

struct SurfaceParting {
  Vec3 axis{};        ///< of length 1, from the first surface to the second
  float gap = 0;      ///< m, along it now; negative by how much they overlap
  float gap_end = 0;  ///< m, at the end of the substep; in between they are no nearer than the smaller of the two
  /// m, how much nearer they get in the substep if one of the two is stopped and the other goes on; at least 0.
  float surprise = 0;
};

/// Along `axis`, of length 1. Nodes that are nowhere do not count.
SurfaceParting measure_parting(const SurfaceTree& a, const SurfaceTree& b, Vec3 axis);

/// Along an axis with a large gap or a small overlap, found from that of the last substep or, where `before` is zero,
/// from a few that are likely. Not the best one, but the same for the same input.
SurfaceParting find_parting(const SurfaceTree& a, const SurfaceTree& b, Vec3 before);

}  // namespace pliant
