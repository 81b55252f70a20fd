// Between pliant's and Bullet's small types.
#pragma once

#include <BulletDynamics/Dynamics/btRigidBody.h>

#include "math/rigid_body_motion.h"

namespace pliant {

inline btVector3 to_bullet(Vec3 v) { return {v.x, v.y, v.z}; }
inline btQuaternion to_bullet(Quat q) { return {q.x, q.y, q.z, q.w}; }
inline btTransform to_bullet(const Transform& t) { return btTransform(to_bullet(t.rotation), to_bullet(t.position)); }

inline Vec3 from_bullet(const btVector3& v) { return {v.x(), v.y(), v.z()}; }
inline Quat from_bullet(const btQuaternion& q) { return {q.x(), q.y(), q.z(), q.w()}; }
inline Transform from_bullet(const btTransform& t) {
  return {from_bullet(t.getOrigin()), from_bullet(t.getRotation())};
}

/// A body that has these velocities.
inline RigidBodyMotion motion_of(const btRigidBody& body, const btVector3& velocity,
                                 const btVector3& angular_velocity) {
  RigidBodyMotion motion{from_bullet(velocity),
                         from_bullet(angular_velocity),
                         from_bullet(body.getCenterOfMassPosition()),
                         body.getInvMass(),
                         {}};
  for (int row = 0; row < 3; ++row) {
    motion.inverse_inertia.rows[row] = from_bullet(body.getInvInertiaTensorWorld()[row]);
  }
  return motion;
}

}  // namespace pliant
