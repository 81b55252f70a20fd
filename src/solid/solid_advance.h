// Moving a free solid along its velocities for a time.
//
// Along straight lines, x += v dt, a body that turns grows by the factor √(1 + (ω dt)²): the stiffer it is, the more
// energy comes with it out of nowhere, and what yields flows. Here the turning of the body as a whole is taken out of
// the velocities and made exactly; only what is left goes straight. Momentum and spin stay as they are.
#pragma once

#include <vector>

#include "math/lane_vectors.h"

namespace pliant {

/// `scratch` keeps its memory between calls.
void advance_turning(const std::vector<float>& masses, LaneVectors& positions, LaneVectors& velocities, float dt,
                     LaneVectors& scratch);

}  // namespace pliant
