// Rays, overlaps and closest points.
#include <algorithm>
#include <cmath>

#include <BulletCollision/CollisionShapes/btSphereShape.h>

#include "rigid/rigid_impl.h"

namespace pliant {
namespace {

bool is_seen(const RigidBody& body, const QueryFilter& filter) {
  return (body.properties.filter.category & filter.mask) != 0 && !(body.id == filter.ignore);
}

/// The first hit of each body the ray meets.
class RayCollector : public btCollisionWorld::RayResultCallback {
 public:
  RayCollector(const RigidEngine::Impl& engine, const QueryFilter& filter, bool all, std::vector<RayHit>& hits,
               const btVector3& from, const btVector3& to)
      : engine_(engine), filter_(filter), all_(all), hits_(hits), from_(from), to_(to) {}

  bool needsCollision(btBroadphaseProxy* proxy) const override {
    return is_seen(engine_.body(slot_of(static_cast<btCollisionObject*>(proxy->m_clientObject))), filter_);
  }

  btScalar addSingleResult(btCollisionWorld::LocalRayResult& result, bool normal_in_world) override {
    const btCollisionObject& object = *result.m_collisionObject;
    const btVector3 normal =
        normal_in_world ? result.m_hitNormalLocal : object.getWorldTransform().getBasis() * result.m_hitNormalLocal;
    const btVector3 position = from_.lerp(to_, result.m_hitFraction);
    const RayHit hit{.body = engine_.body(slot_of(&object)).id,
                     .position = from_bullet(position),
                     .normal = normalized(from_bullet(normal)),
                     .distance = result.m_hitFraction * (to_ - from_).length()};
    const auto same = std::find_if(hits_.begin(), hits_.end(), [&](const RayHit& h) { return h.body == hit.body; });
    if (same == hits_.end()) {
      hits_.push_back(hit);
    } else if (hit.distance < same->distance) {
      *same = hit;
    }
    if (all_) return 1;
    m_closestHitFraction = result.m_hitFraction;
    return result.m_hitFraction;
  }

 private:
  const RigidEngine::Impl& engine_;
  const QueryFilter& filter_;
  bool all_;
  std::vector<RayHit>& hits_;
  btVector3 from_, to_;
};

/// Hands on the points that Bullet finds between the query object and a body.
template <typename Visit>
class NearCollector : public btCollisionWorld::ContactResultCallback {
 public:
  NearCollector(const RigidEngine::Impl& engine, const btCollisionObject& query, float reach, Visit& visit)
      : engine_(engine), query_(query), visit_(visit) {
    m_closestDistanceThreshold = reach;
  }

  btScalar addSingleResult(btManifoldPoint& point, const btCollisionObjectWrapper* a, int, int,
                           const btCollisionObjectWrapper* b, int, int) override {
    const bool query_is_a = a->getCollisionObject() == &query_;
    const btCollisionObject* other = query_is_a ? b->getCollisionObject() : a->getCollisionObject();
    visit_(engine_.body(slot_of(other)), point, query_is_a);
    return 0;
  }

 private:
  const RigidEngine::Impl& engine_;
  const btCollisionObject& query_;
  Visit& visit_;
};

/// Lists the bodies whose boxes meet a box.
class BoxCollector : public btBroadphaseAabbCallback {
 public:
  BoxCollector(const RigidEngine::Impl& engine, const QueryFilter& filter) : engine_(engine), filter_(filter) {}

  bool process(const btBroadphaseProxy* proxy) override {
    auto* object = static_cast<btCollisionObject*>(proxy->m_clientObject);
    if (is_seen(engine_.body(slot_of(object)), filter_)) objects.push_back(object);
    return true;
  }
  std::vector<btCollisionObject*> objects;

 private:
  const RigidEngine::Impl& engine_;
  const QueryFilter& filter_;
};

/// Calls `visit(body, point, whether the query is the point's a)` for points within `reach` of the query object.
template <typename Visit>
void for_each_near(RigidEngine::Impl& engine, const QueryFilter& filter, btCollisionObject& query, float reach,
                   Visit&& visit) {
  btVector3 lower, upper;
  query.getCollisionShape()->getAabb(query.getWorldTransform(), lower, upper);
  BoxCollector boxes(engine, filter);
  const btVector3 by(reach, reach, reach);
  engine.broadphase.aabbTest(lower - by, upper + by, boxes);
  NearCollector collector(engine, query, reach, visit);
  for (btCollisionObject* object : boxes.objects) engine.world->contactPairTest(&query, object, collector);
}

}  // namespace

void RigidEngine::update_for_queries() {
  impl_->update_slot_lists();
  impl_->world->updateAabbs();
  impl_->broadphase.update_boxes();
}

void RigidEngine::ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter, bool all,
                           std::vector<RayHit>& hits) const {
  const btVector3 start = to_bullet(from);
  const btVector3 end = start + to_bullet(normalized(direction)) * max_distance;
  RayCollector collector(*impl_, filter, all, hits, start, end);
  impl_->world->rayTest(start, end, collector);
  std::sort(hits.begin(), hits.end(), [](const RayHit& a, const RayHit& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.body < b.body;
  });
  if (!all && hits.size() > 1) hits.resize(1);
}

void RigidEngine::overlap(const RigidShape& shape, const Transform& world_from_shape, const QueryFilter& filter,
                          std::vector<BodyId>& bodies) const {
  btCollisionObject query;
  query.setCollisionShape(shape.collision);
  query.setWorldTransform(to_bullet(world_from_shape) * shape.body_from_mass);
  const auto note = [&](const RigidBody& body, const btManifoldPoint& point, bool) {
    if (point.getDistance() <= 0) bodies.push_back(body.id);
  };
  for_each_near(*impl_, filter, query, 0, note);
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
}

std::optional<ClosestPoint> RigidEngine::closest_point(Vec3 point, float max_distance,
                                                       const QueryFilter& filter) const {
  // Bullet measures between shapes: the point is a sphere far smaller than anything that matters.
  const float radius = 1e-4f * std::min(1.0f, max_distance);
  btSphereShape sphere(radius);
  btCollisionObject query;
  query.setCollisionShape(&sphere);
  query.setWorldTransform(btTransform(btQuaternion::getIdentity(), to_bullet(point)));
  std::optional<ClosestPoint> best;
  const auto note = [&](const RigidBody& body, const btManifoldPoint& at, bool query_is_a) {
    const float distance = at.getDistance() + radius;
    if (distance > max_distance) return;
    if (best && (distance > best->distance || (distance == best->distance && !(body.id < best->body)))) return;
    // Bullet's normal points from its b to its a.
    const btVector3 normal = query_is_a ? at.m_normalWorldOnB : -at.m_normalWorldOnB;
    best = ClosestPoint{.body = body.id,
                        .position = from_bullet(query_is_a ? at.m_positionWorldOnB : at.m_positionWorldOnA),
                        .normal = from_bullet(normal),
                        .distance = distance};
  };
  for_each_near(*impl_, filter, query, max_distance, note);
  return best;
}

}  // namespace pliant
