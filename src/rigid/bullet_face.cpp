#include "rigid/bullet_face.h"

#include <algorithm>
#include <cmath>

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btConeShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btConvexPolyhedron.h>
#include <BulletCollision/CollisionShapes/btCylinderShape.h>
#include <BulletCollision/CollisionShapes/btTriangleShape.h>

#include "rigid/bullet_convert.h"

namespace pliant {
namespace {

constexpr int kRimSegments = 12;
// A direction this close to an axis means the flat end; this far from it, the side.
constexpr float kAlong = 0.99f;
constexpr float kAcross = 0.14f;

/// A circle about the y axis at height y, seen from above when `up`, starting at the direction given, so that the
/// deepest point of a tilted rim is always one of its vertices.
template <typename Add>
void add_rim(float radius, float y, bool up, const btVector3& towards, Add&& add) {
  const float start = std::atan2(towards.z(), towards.x());
  for (int i = 0; i < kRimSegments; ++i) {
    const float step = 2 * kPi * static_cast<float>(i) / kRimSegments;
    const float angle = start + (up ? -step : step);
    add(btVector3(radius * std::cos(angle), y, radius * std::sin(angle)));
  }
}

/// The point of the circle of that radius at height y that lies farthest along `d`.
template <typename Add>
void add_rim_point(float radius, float y, const btVector3& d, Add&& add) {
  const float across = std::hypot(d.x(), d.z());
  const float x = across > 0 ? d.x() / across : 1, z = across > 0 ? d.z() / across : 0;
  add(btVector3(radius * x, y, radius * z));
}

/// A round solid with its margin: radius and height of its base at −y and the radius at +y (0 for a cone).
struct Frustum {
  float bottom, top, half;
};

template <typename Add>
void add_frustum_face(const Frustum& shape, const btVector3& d, Add&& add) {
  if (d.y() > kAlong && shape.top > 0) return add_rim(shape.top, shape.half, true, d, add);
  if (d.y() < -kAlong) return add_rim(shape.bottom, -shape.half, false, d, add);
  // The outward normal of the side leans up by the slope.
  const float slope = std::atan2(shape.bottom - shape.top, 2 * shape.half);
  const float lean = std::asin(std::clamp(d.y(), -1.0f, 1.0f));
  const float across = std::hypot(d.x(), d.z());
  const bool is_side = std::abs(lean - slope) < kAcross;
  const bool is_bottom = across * shape.bottom - d.y() * shape.half > across * shape.top + d.y() * shape.half;
  if (is_side || is_bottom) add_rim_point(shape.bottom, -shape.half, d, add);
  if (is_side || !is_bottom) add_rim_point(shape.top, shape.half, d, add);
}

Frustum frustum_of(const btCylinderShape& shape) {
  const btVector3 half = shape.getHalfExtentsWithMargin();
  return {half.x(), half.x(), half.y()};
}

/// The cone was shrunk by its margin when it was built; this grows it back (see bullet_shape.cpp).
Frustum frustum_of(const btConeShape& shape, float& shift) {
  const float radius = shape.getRadius(), height = shape.getHeight(), margin = shape.getMargin();
  const float slant = std::hypot(radius, height);
  const float grown = height + margin + margin * slant / radius;
  shift = (grown - height) / 2 - margin;
  return {radius * grown / height, 0, grown / 2};
}

template <typename Add>
void add_hull_face(const btConvexHullShape& shape, const btVector3& d, Add&& add) {
  const btConvexPolyhedron* polyhedron = shape.getConvexPolyhedron();
  if (!polyhedron || polyhedron->m_faces.size() == 0) return add(shape.localGetSupportingVertex(d));
  int best = 0;
  btScalar best_dot = -2;
  for (int i = 0; i < polyhedron->m_faces.size(); ++i) {
    const btScalar* plane = polyhedron->m_faces[i].m_plane;
    const btScalar along = d.dot(btVector3(plane[0], plane[1], plane[2]));
    if (along > best_dot) best = i, best_dot = along;
  }
  const btFace& face = polyhedron->m_faces[best];
  for (int i = 0; i < face.m_indices.size(); ++i) add(polyhedron->m_vertices[face.m_indices[i]]);
}

template <typename Add>
void add_capsule_side(const btCapsuleShape& shape, const btVector3& d, Add&& add) {
  const float radius = shape.getRadius(), half = shape.getHalfHeight();
  if (std::abs(d.y()) < kAcross) {
    add(btVector3(0, -half, 0) + d * radius);
    add(btVector3(0, half, 0) + d * radius);
  } else {
    add(btVector3(0, d.y() < 0 ? -half : half, 0) + d * radius);
  }
}

template <typename Add>
void add_face(const btConvexShape& shape, const btVector3& d, Add&& add) {
  switch (shape.getShapeType()) {
    case CONVEX_HULL_SHAPE_PROXYTYPE:
      return add_hull_face(static_cast<const btConvexHullShape&>(shape), d, add);
    case CYLINDER_SHAPE_PROXYTYPE:
      return add_frustum_face(frustum_of(static_cast<const btCylinderShape&>(shape)), d, add);
    case CONE_SHAPE_PROXYTYPE: {
      float shift = 0;
      const Frustum cone = frustum_of(static_cast<const btConeShape&>(shape), shift);
      return add_frustum_face(cone, d, [&](const btVector3& v) { add(v + btVector3(0, shift, 0)); });
    }
    case CAPSULE_SHAPE_PROXYTYPE:
      return add_capsule_side(static_cast<const btCapsuleShape&>(shape), d, add);
    case TRIANGLE_SHAPE_PROXYTYPE: {
      const auto& triangle = static_cast<const btTriangleShape&>(shape);
      // Both sides of a triangle can be touched; its face looks where the direction does.
      btVector3 normal;
      triangle.calcNormal(normal);
      const bool front = normal.dot(d) >= 0;
      for (int i = 0; i < 3; ++i) add(triangle.m_vertices1[front ? i : 2 - i]);
      return;
    }
    default:
      return add(shape.localGetSupportingVertex(d));
  }
}

}  // namespace

PlacedBox placed_box(const btCollisionShape& shape, const btTransform& world_from_shape) {
  PlacedBox box;
  box.center = from_bullet(world_from_shape.getOrigin());
  for (int i = 0; i < 3; ++i) box.axes[i] = from_bullet(world_from_shape.getBasis().getColumn(i));
  box.half = from_bullet(static_cast<const btBoxShape&>(shape).getHalfExtentsWithMargin());
  return box;
}

ContactFace face_towards(const btConvexShape& shape, const btTransform& world_from_shape, const btVector3& direction) {
  if (shape.getShapeType() == BOX_SHAPE_PROXYTYPE) {
    return placed_box(shape, world_from_shape).face_towards(from_bullet(direction));
  }
  ContactFace face;
  const btVector3 local = direction * world_from_shape.getBasis();
  add_face(shape, local, [&](const btVector3& v) { face.add(from_bullet(world_from_shape * v)); });
  return face;
}

void add_points_towards(const btConvexShape& shape, const btTransform& world_from_shape, const btVector3& direction,
                        PlaneClipper& clipper) {
  const btVector3 d = direction * world_from_shape.getBasis();
  const auto add = [&](const btVector3& v) { clipper.add(from_bullet(world_from_shape * v)); };
  switch (shape.getShapeType()) {
    case BOX_SHAPE_PROXYTYPE: {
      const btVector3 h = static_cast<const btBoxShape&>(shape).getHalfExtentsWithMargin();
      for (int i = 0; i < 8; ++i)
        add(btVector3(i & 1 ? h.x() : -h.x(), i & 2 ? h.y() : -h.y(), i & 4 ? h.z() : -h.z()));
      return;
    }
    case CONVEX_HULL_SHAPE_PROXYTYPE: {
      const btConvexPolyhedron* polyhedron = static_cast<const btConvexHullShape&>(shape).getConvexPolyhedron();
      for (int i = 0; i < polyhedron->m_vertices.size(); ++i) add(polyhedron->m_vertices[i]);
      return;
    }
    case CYLINDER_SHAPE_PROXYTYPE: {
      const Frustum f = frustum_of(static_cast<const btCylinderShape&>(shape));
      add_rim(f.bottom, -f.half, false, d, add);
      add_rim(f.top, f.half, true, d, add);
      return;
    }
    case CONE_SHAPE_PROXYTYPE: {
      float shift = 0;
      const Frustum f = frustum_of(static_cast<const btConeShape&>(shape), shift);
      add_rim(f.bottom, shift - f.half, false, d, add);
      add(btVector3(0, shift + f.half, 0));
      return;
    }
    case CAPSULE_SHAPE_PROXYTYPE: {
      const auto& capsule = static_cast<const btCapsuleShape&>(shape);
      add(btVector3(0, -capsule.getHalfHeight(), 0) + d * capsule.getRadius());
      add(btVector3(0, capsule.getHalfHeight(), 0) + d * capsule.getRadius());
      return;
    }
    default:
      add(shape.localGetSupportingVertex(d));
  }
}

}  // namespace pliant
