// How the materials of the library look, where nothing is said of it.
#pragma once

#include <string_view>

#include "pliant/defs.h"

namespace pliant {

/// Of a material of another name: as solids look by default.
Appearance look_of_material(std::string_view material);

}  // namespace pliant
