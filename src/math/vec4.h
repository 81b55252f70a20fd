// Three coordinates and one number beside them, as wide as a register: nodes of particle bodies are kept so.
#pragma once

#include "pliant/math.h"

namespace pliant {

struct alignas(16) Vec4 {
  float x = 0, y = 0, z = 0, w = 0;

  Vec3 xyz() const { return {x, y, z}; }
};

}  // namespace pliant
