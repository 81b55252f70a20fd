// The part of a convex shape that faces a direction, for contact patches.
#pragma once

#include <BulletCollision/CollisionShapes/btConvexShape.h>

#include "collide/box_box.h"
#include "collide/contact_points.h"

namespace pliant {

/// A Bullet box, margin included, as our own; `shape` must be a box.
PlacedBox placed_box(const btCollisionShape& shape, const btTransform& world_from_shape);

/// The face (or edge, or point) of the shape that looks most along `direction` (world, unit), in world coordinates,
/// margin included.
ContactFace face_towards(const btConvexShape& shape, const btTransform& world_from_shape, const btVector3& direction);

/// Gives the clipper the points of the shape that a plane it lies on could touch when `direction` points down into the
/// plane: all corners of a polyhedron, the rims of round shapes.
void add_points_towards(const btConvexShape& shape, const btTransform& world_from_shape, const btVector3& direction,
                        PlaneClipper& clipper);

}  // namespace pliant
