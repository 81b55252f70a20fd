// What holding the held parts of a body takes.
#pragma once

#include <string>
#include <vector>

#include "pliant/world.h"

namespace pliant::app {

struct HeldForce {
  std::string part;  ///< its name, or `held[2]` for one without
  Vec3 force{};      ///< N, of the last substep, on the nodes of the part that are still held
};

/// Of a body as it was added and, where it has broken, of all its pieces; none for one that began without held parts.
std::vector<HeldForce> held_forces(const World& world, BodyId body);

}  // namespace pliant::app
