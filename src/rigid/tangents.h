#pragma once

#include <LinearMath/btVector3.h>

namespace pliant {

/// A fixed pair of tangents for each normal; friction impulses are kept along them from step to step.
struct Tangents {
  explicit Tangents(const btVector3& normal) { btPlaneSpace1(normal, first, second); }
  btVector3 first, second;
};

}  // namespace pliant
