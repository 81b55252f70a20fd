#include "rigid/bullet_contact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletCollision/CollisionShapes/btConcaveShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <BulletCollision/CollisionShapes/btTriangleShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>

#include "rigid/bullet_convert.h"
#include "rigid/bullet_face.h"

namespace pliant {
namespace {

/// Replaces a manifold's points by new ones. A point that was there already, on either body, keeps its impulses: a
/// corner that slides over a face is the same corner.
class PointReplacer {
 public:
  PointReplacer(btPersistentManifold& manifold, btScalar reach)
      : manifold_(manifold), reach_(reach), count_(manifold.getNumContacts()) {
    for (int i = 0; i < count_; ++i) before_[i] = manifold.getContactPoint(i);
    manifold.clearManifold();
  }

  void add(Vec3 normal, const ContactPoint& at) {
    const btVector3 on_a = to_bullet(at.on_a), on_b = to_bullet(at.on_b);
    btManifoldPoint point(manifold_.getBody0()->getWorldTransform().invXform(on_a),
                          manifold_.getBody1()->getWorldTransform().invXform(on_b), to_bullet(normal), at.distance);
    point.m_positionWorldOnA = on_a;
    point.m_positionWorldOnB = on_b;
    if (const int same = find_same(point); same >= 0) {
      taken_[same] = true;
      point.m_appliedImpulse = before_[same].m_appliedImpulse;
      point.m_appliedImpulseLateral1 = before_[same].m_appliedImpulseLateral1;
      point.m_appliedImpulseLateral2 = before_[same].m_appliedImpulseLateral2;
      point.m_contactPointFlags |= before_[same].m_contactPointFlags & kSolvedElsewhere;
      point.m_lifeTime = before_[same].m_lifeTime + 1;
    }
    manifold_.addManifoldPoint(point, true);
  }

 private:
  int find_same(const btManifoldPoint& point) const {
    int best = -1;
    btScalar best_distance = reach_ * reach_;
    for (int i = 0; i < count_; ++i) {
      if (taken_[i]) continue;
      const btScalar distance = std::min(before_[i].m_localPointA.distance2(point.m_localPointA),
                                         before_[i].m_localPointB.distance2(point.m_localPointB));
      if (distance < best_distance) best = i, best_distance = distance;
    }
    return best;
  }

  btPersistentManifold& manifold_;
  btScalar reach_;
  btManifoldPoint before_[MANIFOLD_CACHE_SIZE];
  bool taken_[MANIFOLD_CACHE_SIZE] = {};
  int count_;
};

/// What our algorithms share: a manifold of their own.
class OwnManifoldAlgorithm : public btActivatingCollisionAlgorithm {
 public:
  OwnManifoldAlgorithm(const btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* a,
                       const btCollisionObjectWrapper* b)
      : btActivatingCollisionAlgorithm(info, a, b),
        manifold_(m_dispatcher->getNewManifold(a->getCollisionObject(), b->getCollisionObject())) {}
  ~OwnManifoldAlgorithm() override { m_dispatcher->releaseManifold(manifold_); }

  btScalar calculateTimeOfImpact(btCollisionObject*, btCollisionObject*, const btDispatcherInfo&,
                                 btManifoldResult*) override {
    return 1;
  }
  void getAllContactManifolds(btManifoldArray& manifolds) override { manifolds.push_back(manifold_); }

 protected:
  btPersistentManifold& manifold() { return *manifold_; }

 private:
  btPersistentManifold* manifold_;
};

/// Pairs that touch in one patch.
class PatchAlgorithm : public OwnManifoldAlgorithm {
 public:
  using OwnManifoldAlgorithm::OwnManifoldAlgorithm;

  void processCollision(const btCollisionObjectWrapper* a, const btCollisionObjectWrapper* b, const btDispatcherInfo&,
                        btManifoldResult*) override {
    ContactPatch patch;
    const btScalar reach = manifold().getContactBreakingThreshold();
    find_patch(*a, *b, reach, patch);
    PointReplacer replacer(manifold(), reach);
    for (int i = 0; i < patch.count; ++i) replacer.add(patch.normal, patch.points[i]);
  }

 protected:
  virtual void find_patch(const btCollisionObjectWrapper& a, const btCollisionObjectWrapper& b, float max_distance,
                          ContactPatch& patch) = 0;
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

class BoxBoxAlgorithm final : public PatchAlgorithm {
  using PatchAlgorithm::PatchAlgorithm;
  void find_patch(const btCollisionObjectWrapper& a, const btCollisionObjectWrapper& b, float max_distance,
                  ContactPatch& patch) override {
    collide_boxes(placed_box(*a.getCollisionShape(), a.getWorldTransform()),
                  placed_box(*b.getCollisionShape(), b.getWorldTransform()), max_distance, patch);
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
    PlaneClipper clipper(from_bullet(normal), origin.dot(normal), max_distance);
    add_points_towards(static_cast<const btConvexShape&>(*convex.getCollisionShape()), convex.getWorldTransform(),
                       -normal, clipper);
    clipper.finish(patch);
    if constexpr (Swapped) {  // the plane is Bullet's first body: its b is the convex one
      patch.normal = -patch.normal;
      for (int i = 0; i < patch.count; ++i) std::swap(patch.points[i].on_a, patch.points[i].on_b);
    }
  }
};

void find_convex_patch(const btConvexShape& shape_a, const btTransform& transform_a, const btConvexShape& shape_b,
                       const btTransform& transform_b, float max_distance, ContactPatch& patch) {
  btVoronoiSimplexSolver simplex;
  btGjkEpaPenetrationDepthSolver depth_solver;
  btGjkPairDetector detector(&shape_a, &shape_b, &simplex, &depth_solver);
  btGjkPairDetector::ClosestPointInput input;
  const btScalar reach = shape_a.getMargin() + shape_b.getMargin() + max_distance;
  input.m_maximumDistanceSquared = reach * reach;
  input.m_transformA = transform_a;
  input.m_transformB = transform_b;
  btPointCollector closest;
  detector.getClosestPoints(input, closest, nullptr);
  if (!closest.m_hasResult || closest.m_distance > max_distance) return;

  const Vec3 normal = from_bullet(closest.m_normalOnBInWorld);
  const ContactFace face_a = face_towards(shape_a, transform_a, -closest.m_normalOnBInWorld);
  const ContactFace face_b = face_towards(shape_b, transform_b, closest.m_normalOnBInWorld);
  if (clip_faces(face_a, face_b, normal, max_distance, patch)) return;
  const Vec3 on_b = from_bullet(closest.m_pointInWorld);
  patch.normal = normal;
  patch.count = 1;
  patch.points[0] = {on_b + normal * closest.m_distance, on_b, closest.m_distance};
}

class ConvexAlgorithm final : public PatchAlgorithm {
  using PatchAlgorithm::PatchAlgorithm;
  void find_patch(const btCollisionObjectWrapper& a, const btCollisionObjectWrapper& b, float max_distance,
                  ContactPatch& patch) override {
    find_convex_patch(static_cast<const btConvexShape&>(*a.getCollisionShape()), a.getWorldTransform(),
                      static_cast<const btConvexShape&>(*b.getCollisionShape()), b.getWorldTransform(), max_distance,
                      patch);
  }
};

struct TriangleTouch {
  ContactPatch patch;
  Vec3 plane_point, plane_normal;
  bool is_flat = false;
};

/// A convex shape against the triangles of a mesh or heightfield near it. The convex shape is a.
class TriangleCollector : public btTriangleCallback {
 public:
  TriangleCollector(const btConvexShape& convex, const btTransform& world_from_convex,
                    const btTransform& world_from_mesh, float max_distance, std::vector<TriangleTouch>& touches)
      : convex_(convex),
        world_from_convex_(world_from_convex),
        world_from_mesh_(world_from_mesh),
        max_distance_(max_distance),
        touches_(touches) {
    touches_.clear();
  }

  void processTriangle(btVector3* corners, int, int) override {
    btTriangleShape triangle(world_from_mesh_ * corners[0], world_from_mesh_ * corners[1],
                             world_from_mesh_ * corners[2]);
    triangle.setMargin(0);
    TriangleTouch touch;
    find_convex_patch(convex_, world_from_convex_, triangle, btTransform::getIdentity(), max_distance_, touch.patch);
    if (touch.patch.count == 0) return;
    touch.plane_point = from_bullet(triangle.m_vertices1[0]);
    btVector3 normal;
    triangle.calcNormal(normal);
    touch.plane_normal = from_bullet(normal);
    touch.is_flat = std::abs(dot(touch.plane_normal, touch.patch.normal)) > 0.999f;
    touches_.push_back(touch);
  }

  /// The points of all triangles but for the false ones. A body that lies flat on a mesh also touches, a little from
  /// the side, the edges of triangles next to the one beneath it; such an edge lies in the plane of a triangle that is
  /// touched flat, and is no corner at all.
  void finish(std::vector<std::pair<Vec3, ContactPoint>>& points) const {
    for (const TriangleTouch& touch : touches_) {
      for (int i = 0; i < touch.patch.count; ++i) {
        const ContactPoint& point = touch.patch.points[i];
        if (touch.is_flat || !is_in_flat_plane(point.on_b)) points.push_back({touch.patch.normal, point});
      }
    }
  }

 private:
  bool is_in_flat_plane(Vec3 point) const {
    return std::any_of(touches_.begin(), touches_.end(), [&](const TriangleTouch& touch) {
      return touch.is_flat && std::abs(dot(point - touch.plane_point, touch.plane_normal)) < 0.1f * max_distance_;
    });
  }

  const btConvexShape& convex_;
  const btTransform &world_from_convex_, &world_from_mesh_;
  float max_distance_;
  std::vector<TriangleTouch>& touches_;
};

/// Several contact points with normals of their own, cut down to a manifold's four: the deepest, then those that stand
/// farthest from what is taken already.
void reduce(std::vector<std::pair<Vec3, ContactPoint>>& points) {
  constexpr std::size_t kMost = MANIFOLD_CACHE_SIZE;
  for (std::size_t taken = 0; taken < std::min(points.size(), kMost); ++taken) {
    const auto score = [&](const ContactPoint& point) {
      if (taken == 0) return -point.distance;
      float nearest = std::numeric_limits<float>::max();
      for (std::size_t i = 0; i < taken; ++i)
        nearest = std::min(nearest, length_squared(point.on_b - points[i].second.on_b));
      return nearest;
    };
    const auto best = std::max_element(points.begin() + static_cast<std::ptrdiff_t>(taken), points.end(),
                                       [&](const auto& a, const auto& b) { return score(a.second) < score(b.second); });
    std::iter_swap(points.begin() + static_cast<std::ptrdiff_t>(taken), best);
  }
  if (points.size() > kMost) points.resize(kMost);
}

template <bool Swapped>
class MeshAlgorithm final : public OwnManifoldAlgorithm {
  using OwnManifoldAlgorithm::OwnManifoldAlgorithm;

 public:
  void processCollision(const btCollisionObjectWrapper* a, const btCollisionObjectWrapper* b, const btDispatcherInfo&,
                        btManifoldResult*) override {
    const btCollisionObjectWrapper& convex = Swapped ? *b : *a;
    const btCollisionObjectWrapper& mesh = Swapped ? *a : *b;
    const auto& shape = static_cast<const btConvexShape&>(*convex.getCollisionShape());
    const float max_distance = manifold().getContactBreakingThreshold();
    btVector3 lower, upper;
    shape.getAabb(mesh.getWorldTransform().inverse() * convex.getWorldTransform(), lower, upper);
    const btVector3 by(max_distance, max_distance, max_distance);
    TriangleCollector collector(shape, convex.getWorldTransform(), mesh.getWorldTransform(), max_distance, touches_);
    static_cast<const btConcaveShape*>(mesh.getCollisionShape())
        ->processAllTriangles(&collector, lower - by, upper + by);
    points_.clear();
    collector.finish(points_);
    reduce(points_);
    PointReplacer replacer(manifold(), max_distance);
    for (auto& [normal, point] : points_) {
      if constexpr (Swapped) {
        normal = -normal;
        std::swap(point.on_a, point.on_b);
      }
      replacer.add(normal, point);
    }
  }

 private:
  // The memory is kept with the pair, not with the thread: a thread that joins late would have to allocate its own.
  std::vector<TriangleTouch> touches_;
  std::vector<std::pair<Vec3, ContactPoint>> points_;
};

bool is_convex(int type) {
  return type == BOX_SHAPE_PROXYTYPE || type == SPHERE_SHAPE_PROXYTYPE || type == CAPSULE_SHAPE_PROXYTYPE ||
         type == CYLINDER_SHAPE_PROXYTYPE || type == CONE_SHAPE_PROXYTYPE || type == CONVEX_HULL_SHAPE_PROXYTYPE;
}

}  // namespace

void register_contact_algorithms(btCollisionDispatcher& dispatcher) {
  static CreateFunc<BoxBoxAlgorithm> box_box;
  static CreateFunc<ConvexAlgorithm> convex;
  static CreateFunc<PlaneAlgorithm<false>> plane;
  static CreateFunc<PlaneAlgorithm<true>> plane_swapped;
  static CreateFunc<MeshAlgorithm<false>> mesh;
  static CreateFunc<MeshAlgorithm<true>> mesh_swapped;
  for (int a = 0; a < MAX_BROADPHASE_COLLISION_TYPES; ++a) {
    if (!is_convex(a)) continue;
    dispatcher.registerCollisionCreateFunc(a, STATIC_PLANE_PROXYTYPE, &plane);
    dispatcher.registerCollisionCreateFunc(STATIC_PLANE_PROXYTYPE, a, &plane_swapped);
    for (const int type : {TRIANGLE_MESH_SHAPE_PROXYTYPE, TERRAIN_SHAPE_PROXYTYPE}) {
      dispatcher.registerCollisionCreateFunc(a, type, &mesh);
      dispatcher.registerCollisionCreateFunc(type, a, &mesh_swapped);
    }
    for (int b = 0; b < MAX_BROADPHASE_COLLISION_TYPES; ++b) {
      // Two spheres have one point, and Bullet a closed form for it.
      const bool is_simple = a == SPHERE_SHAPE_PROXYTYPE && b == SPHERE_SHAPE_PROXYTYPE;
      if (is_convex(b) && !is_simple) dispatcher.registerCollisionCreateFunc(a, b, &convex);
    }
  }
  dispatcher.registerCollisionCreateFunc(BOX_SHAPE_PROXYTYPE, BOX_SHAPE_PROXYTYPE, &box_box);
}

}  // namespace pliant
