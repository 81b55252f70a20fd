// A material tried out: a panel of it in a steel frame, at which three balls are thrown, as in Figure 4 of Parker and
// O'Brien (2009).
#pragma once

#include "pliant/materials.h"
#include "pliant/scene.h"

namespace pliant {

/// What is tried out.
struct MaterialTrial {
  SolidMaterial material = material::oak();
  float thickness = 0.04f;    ///< m, of the panel, which is 16 times as wide and 13 times as high
  float ball_speed = 12;      ///< m/s
  float ball_radius = 0.06f;  ///< m, of steel
  float soften_to = 5e6f;     ///< Pa, see `material::softened`
};

/// Splinters and colours suit the material's name. Errors: a thickness of which no
/// panel can be made.
Result<Scene> material_preview(const MaterialTrial& trial);

}  // namespace pliant
