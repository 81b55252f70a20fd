// What a RigidShape is made of; for rigid/ only.
#pragma once

#include <memory>
#include <vector>

#include <BulletCollision/CollisionDispatch/btCollisionObject.h>
#include <BulletCollision/CollisionShapes/btCollisionShape.h>

#include "pliant/math.h"
#include "rigid/bullet_convert.h"
#include "rigid/rigid_shape.h"

class btStridingMeshInterface;

namespace pliant {

class RigidShape {
 public:
  btCollisionShape* collision = nullptr;  ///< in the mass frame; owned by `parts`
  btTransform body_from_mass = btTransform::getIdentity();
  btTransform mass_from_body = btTransform::getIdentity();
  float mass = 0;                  ///< kg; 0 unless dynamic
  btVector3 inertia{0, 0, 0};      ///< principal, kg m²
  float smallest_half_extent = 0;  ///< m, for continuous detection and the depth of contacts

  // Bullet's shapes refer to each other and to the arrays below by pointer; all of it lives and dies together.
  std::vector<std::unique_ptr<btCollisionShape>> parts;
  std::unique_ptr<btStridingMeshInterface> mesh_view;
  std::shared_ptr<const TriMesh> mesh;
  std::vector<float> heights;
};

/// Bullet's bodies carry their shape as user pointer.
inline const RigidShape& shape_of(const btCollisionObject& object) {
  return *static_cast<const RigidShape*>(object.getUserPointer());
}

/// The collision shape alone, placed in the mass frame by `mass_from_body`; the shape must be valid.
void build_collision_shape(const Shape& shape, const btTransform& mass_from_body, RigidShape& out);

}  // namespace pliant
