// A shape made ready for Bullet: built once, when the body is added, and shared by its snapshots.
//
// Bullet wants every body centred on its mass and turned along its principal axes. pliant's users place the shape's own
// origin. `body_from_mass` takes one to the other; nobody outside rigid/ sees Bullet's frame.
#pragma once

#include <memory>

#include "pliant/defs.h"
#include "pliant/result.h"

namespace pliant {

/// Opaque outside rigid/; see bullet_shape.h.
class RigidShape;

/// Checks the def's shape and mass and builds what the engine needs. The error's field is relative to the def.
Result<std::shared_ptr<const RigidShape>> make_rigid_shape(const RigidDef& def);

/// kg; 0 for bodies that are not dynamic.
float mass_of(const RigidShape& shape);

}  // namespace pliant
