// Four floats in one aligned place: a node's position or velocity and one more number that belongs to it.
#pragma once

#include "pliant/math.h"

namespace pliant {

struct alignas(16) Vec4 {
  float x = 0, y = 0, z = 0, w = 0;

  Vec3 xyz() const { return {x, y, z}; }
};

}  // namespace pliant
