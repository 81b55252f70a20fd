// Two boxes: the axis of least overlap, and the contact there.
#pragma once

#include "collide/contact_points.h"
#include "pliant/math.h"

namespace pliant {

/// A box anywhere in the world.
struct PlacedBox {
  Vec3 center;
  Vec3 axes[3];  ///< unit, at right angles
  Vec3 half;     ///< along each axis

  /// The face that looks most along `direction`.
  ContactFace face_towards(Vec3 direction) const;
};

/// The contact of two boxes no farther apart than `max_distance`; no points where they are. Separating axes for boxes
/// as in Gottschalk, Lin and Manocha 1996.
void collide_boxes(const PlacedBox& a, const PlacedBox& b, float max_distance, ContactPatch& patch);

}  // namespace pliant
