// The rows of a body that has torn, from those that it had when it was whole and from where its faces are now.
#pragma once

#include <span>

#include "particle/tear.h"

namespace pliant {

/// Fills the lines, springs, bends and hinges of `model`, and `chain_rows`. `elements` are those of now.
void lay_rows(const TearRest& rest, std::span<const Face> elements, ParticleModel& model);

}  // namespace pliant
