// A free solid that turns.
//
// Along straight lines, x += v dt, a body that turns grows by the factor √(1 + (ω dt)²): the stiffer it is, the more
// energy comes with it out of nowhere, and what yields flows. Here the turning of the body as a whole is taken out of
// the velocities and made exactly, by Euler's equations; only what is left goes straight. Momentum and spin stay as
// they are. What the straight lines did besides, in a frame that turns with the body:
//
// - centrifugal force pulls its parts outwards: `add_centrifugal`, a force like any other;
// - Coriolis force turns velocities that change the shape, against the body and twice as fast. With the frame they turn
//   by the angle of the body, so in the world by the same angle backwards. Turned they keep their energy; as a force it
//   would feed a soft body that turns fast.
#pragma once

#include <vector>

#include "math/lane_vectors.h"

namespace pliant {

/// Moves a body along its velocities for a time. `scratch` keeps its memory between calls.
void advance_turning(const std::vector<float>& masses, LaneVectors& positions, LaneVectors& velocities, float dt,
                     LaneVectors& scratch);

/// Adds centrifugal forces, which have neither momentum nor spin, and returns the angular velocity, rad/s.
float add_centrifugal(const std::vector<float>& masses, const LaneVectors& positions, const LaneVectors& velocities,
                      LaneVectors& forces);

}  // namespace pliant
