// Collision algorithms of our own in Bullet's dispatch table: contact patches instead of one point a step.
//
// Bullet finds one point a step for most pairs of shapes and relies on the points of earlier steps for the rest; a box
// that slides on a plane then stands on one corner at a time and sinks. Here boxes are tested against each other by
// their separating axes, other convex shapes by Bullet's GJK and EPA, and both times the faces that meet are clipped
// into a patch; meshes are taken triangle by triangle, without the false corners between them. Impulses of the last
// step carry over to the points that are the same.
#pragma once

#include <BulletCollision/BroadphaseCollision/btCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btActivatingCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btCollisionCreateFunc.h>
#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>

#include "collide/contact_points.h"

namespace pliant {

/// A flag of contact points beside Bullet's own: another engine found the impulse in the last substep.
constexpr int kSolvedElsewhere = 1 << 10;

/// Puts our algorithms into the dispatcher's table. The functions live as long as the program.
void register_contact_algorithms(btCollisionDispatcher& dispatcher);

}  // namespace pliant
