#include "rigid/bullet_contact.h"

#include <algorithm>

#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>

#include "collide/box_box.h"
#include "rigid/bullet_convert.h"
#include "rigid/bullet_face.h"

namespace pliant {
namespace {

/// Replaces a manifold's points by those of a patch. A point that was there already, on either body, keeps its
/// impulses: a corner that slides over a face is the same corner.
void replace_points(btPersistentManifold& manifold, const ContactPatch& patch) {
  const btTransform& a = manifold.getBody0()->getWorldTransform();
  const btTransform& b = manifold.getBody1()->getWorldTransform();
  btManifoldPoint before[MANIFOLD_CACHE_SIZE];
  bool taken[MANIFOLD_CACHE_SIZE] = {};
  const int count_before = manifold.getNumContacts();
  for (int i = 0; i < count_before; ++i) before[i] = manifold.getContactPoint(i);
  const btScalar reach = manifold.getContactBreakingThreshold();

  manifold.clearManifold();
  for (int i = 0; i < patch.count; ++i) {
    const ContactPoint& at = patch.points[i];
    const btVector3 on_a = to_bullet(at.on_a), on_b = to_bullet(at.on_b);
    btManifoldPoint point(a.invXform(on_a), b.invXform(on_b), to_bullet(patch.normal), at.distance);
    point.m_positionWorldOnA = on_a;
    point.m_positionWorldOnB = on_b;
    int best = -1;
    btScalar best_distance = reach * reach;
    for (int k = 0; k < count_before; ++k) {
      if (taken[k]) continue;
      const btScalar distance = std::min(before[k].m_localPointA.distance2(point.m_localPointA),
                                         before[k].m_localPointB.distance2(point.m_localPointB));
      if (distance < best_distance) best = k, best_distance = distance;
    }
    if (best >= 0) {
      taken[best] = true;
      point.m_appliedImpulse = before[best].m_appliedImpulse;
      point.m_appliedImpulseLateral1 = before[best].m_appliedImpulseLateral1;
      point.m_appliedImpulseLateral2 = before[best].m_appliedImpulseLateral2;
      point.m_lifeTime = before[best].m_lifeTime + 1;
    }
    manifold.addManifoldPoint(point, true);
  }
}

/// What the three algorithms share: a manifold of their own, or one that Bullet lends (triangles of a mesh share one).
class PatchAlgorithm : public btActivatingCollisionAlgorithm {
 public:
  PatchAlgorithm(const btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* a,
                 const btCollisionObjectWrapper* b)
      : btActivatingCollisionAlgorithm(info, a, b), manifold_(info.m_manifold) {
    if (manifold_) return;
    owns_manifold_ = true;
    manifold_ = m_dispatcher->getNewManifold(a->getCollisionObject(), b->getCollisionObject());
  }
  ~PatchAlgorithm() override {
    if (owns_manifold_) m_dispatcher->releaseManifold(manifold_);
  }

  void processCollision(const btCollisionObjectWrapper* a, const btCollisionObjectWrapper* b, const btDispatcherInfo&,
                        btManifoldResult* result) override {
    ContactPatch patch;
    find_patch(*a, *b, manifold_->getContactBreakingThreshold(), patch);
    if (owns_manifold_) return replace_points(*manifold_, patch);
    result->setPersistentManifold(manifold_);
    for (int i = 0; i < patch.count; ++i) {
      const ContactPoint& at = patch.points[i];
      result->addContactPoint(to_bullet(patch.normal), to_bullet(at.on_b), at.distance);
    }
  }
  btScalar calculateTimeOfImpact(btCollisionObject*, btCollisionObject*, const btDispatcherInfo&,
                                 btManifoldResult*) override {
    return 1;
  }
  void getAllContactManifolds(btManifoldArray& manifolds) override {
    if (owns_manifold_) manifolds.push_back(manifold_);
  }

 protected:
  virtual void find_patch(const btCollisionObjectWrapper& a, const btCollisionObjectWrapper& b, float max_distance,
                          ContactPatch& patch) = 0;

 private:
  btPersistentManifold* manifold_;
  bool owns_manifold_ = false;
};

template <typename Algorithm>
struct CreateFunc : btCollisionAlgorithmCreateFunc {
  btCollisionAlgorithm* CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info,
                                                 const btCollisionObjectWrapper* a,
                                                 const btCollisionObjectWrapper* b) override {
    void* memory = info.m_dispatcher1->allocateCollisionAlgorithm(sizeof(Algorithm));
    return new (memory) Algorithm(info, a, b);
  }
};

PlacedBox placed_box(const btCollisionObjectWrapper& wrapper) {
  const auto& box = static_cast<const btBoxShape&>(*wrapper.getCollisionShape());
  const btTransform& transform = wrapper.getWorldTransform();
  PlacedBox placed;
  placed.center = from_bullet(transform.getOrigin());
  for (int i = 0; i < 3; ++i) placed.axes[i] = from_bullet(transform.getBasis().getColumn(i));
  placed.half = from_bullet(box.getHalfExtentsWithMargin());
  return placed;
}

class BoxBoxAlgorithm final : public PatchAlgorithm {
  using PatchAlgorithm::PatchAlgorithm;
  void find_patch(const btCollisionObjectWrapper& a, const btCollisionObjectWrapper& b, float max_distance,
                  ContactPatch& patch) override {
    collide_boxes(placed_box(a), placed_box(b), max_distance, patch);
  }
};

/// The convex shape is a; `Swapped` when Bullet hands them the other way round.
template <bool Swapped>
class PlaneAlgorithm final : public PatchAlgorithm {
  using PatchAlgorithm::PatchAlgorithm;
  void find_patch(const btCollisionObjectWrapper& a, const btCollisionObjectWrapper& b, float max_distance,
                  ContactPatch& patch) override {
    const btCollisionObjectWrapper& convex = Swapped ? b : a;
    const btCollisionObjectWrapper& plane = Swapped ? a : b;
    const auto& shape = static_cast<const btStaticPlaneShape&>(*plane.getCollisionShape());
    const btVector3 normal = plane.getWorldTransform().getBasis() * shape.getPlaneNormal();
    const btVector3 origin = plane.getWorldTransform() * (shape.getPlaneNormal() * shape.getPlaneConstant());
    points_.clear();
    add_points_towards(static_cast<const btConvexShape&>(*convex.getCollisionShape()), convex.getWorldTransform(),
                       -normal, points_);
    clip_to_plane(points_.data(), points_.size(), from_bullet(normal), origin.dot(normal), max_distance, patch);
    if constexpr (Swapped) {  // the plane is Bullet's first body: its b is the convex one
      patch.normal = -patch.normal;
      for (int i = 0; i < patch.count; ++i) std::swap(patch.points[i].on_a, patch.points[i].on_b);
    }
  }
  std::vector<Vec3> points_;  ///< kept for its memory
};

class ConvexAlgorithm final : public PatchAlgorithm {
  using PatchAlgorithm::PatchAlgorithm;
  void find_patch(const btCollisionObjectWrapper& a, const btCollisionObjectWrapper& b, float max_distance,
                  ContactPatch& patch) override {
    const auto& shape_a = static_cast<const btConvexShape&>(*a.getCollisionShape());
    const auto& shape_b = static_cast<const btConvexShape&>(*b.getCollisionShape());
    btVoronoiSimplexSolver simplex;
    btGjkEpaPenetrationDepthSolver depth_solver;
    btGjkPairDetector detector(&shape_a, &shape_b, &simplex, &depth_solver);
    btGjkPairDetector::ClosestPointInput input;
    const btScalar reach = shape_a.getMargin() + shape_b.getMargin() + max_distance;
    input.m_maximumDistanceSquared = reach * reach;
    input.m_transformA = a.getWorldTransform();
    input.m_transformB = b.getWorldTransform();
    btPointCollector closest;
    detector.getClosestPoints(input, closest, nullptr);
    if (!closest.m_hasResult || closest.m_distance > max_distance) return;

    const Vec3 normal = from_bullet(closest.m_normalOnBInWorld);
    const ContactFace face_a = face_towards(shape_a, a.getWorldTransform(), -closest.m_normalOnBInWorld);
    const ContactFace face_b = face_towards(shape_b, b.getWorldTransform(), closest.m_normalOnBInWorld);
    if (clip_faces(face_a, face_b, normal, max_distance, patch)) return;
    const Vec3 on_b = from_bullet(closest.m_pointInWorld);
    patch.normal = normal;
    patch.count = 1;
    patch.points[0] = {on_b + normal * closest.m_distance, on_b, closest.m_distance};
  }
};

bool is_convex(int type) {
  return type == BOX_SHAPE_PROXYTYPE || type == SPHERE_SHAPE_PROXYTYPE || type == CAPSULE_SHAPE_PROXYTYPE ||
         type == CYLINDER_SHAPE_PROXYTYPE || type == CONE_SHAPE_PROXYTYPE || type == CONVEX_HULL_SHAPE_PROXYTYPE ||
         type == TRIANGLE_SHAPE_PROXYTYPE;
}

}  // namespace

void register_contact_algorithms(btCollisionDispatcher& dispatcher) {
  static CreateFunc<BoxBoxAlgorithm> box_box;
  static CreateFunc<ConvexAlgorithm> convex;
  static CreateFunc<PlaneAlgorithm<false>> plane;
  static CreateFunc<PlaneAlgorithm<true>> plane_swapped;
  for (int a = 0; a < MAX_BROADPHASE_COLLISION_TYPES; ++a) {
    if (!is_convex(a)) continue;
    dispatcher.registerCollisionCreateFunc(a, STATIC_PLANE_PROXYTYPE, &plane);
    dispatcher.registerCollisionCreateFunc(STATIC_PLANE_PROXYTYPE, a, &plane_swapped);
    for (int b = 0; b < MAX_BROADPHASE_COLLISION_TYPES; ++b) {
      // A sphere against a sphere or a triangle has one point, and Bullet a closed form for it.
      const bool is_simple = a == SPHERE_SHAPE_PROXYTYPE && b == SPHERE_SHAPE_PROXYTYPE;
      const bool is_sphere_triangle = (a == SPHERE_SHAPE_PROXYTYPE && b == TRIANGLE_SHAPE_PROXYTYPE) ||
                                      (b == SPHERE_SHAPE_PROXYTYPE && a == TRIANGLE_SHAPE_PROXYTYPE);
      if (is_convex(b) && !is_simple && !is_sphere_triangle) dispatcher.registerCollisionCreateFunc(a, b, &convex);
    }
  }
  dispatcher.registerCollisionCreateFunc(BOX_SHAPE_PROXYTYPE, BOX_SHAPE_PROXYTYPE, &box_box);
}

}  // namespace pliant
