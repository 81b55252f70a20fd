#include "rigid/bullet_broadphase.h"

#include <BulletCollision/CollisionDispatch/btCollisionObject.h>

#include "rigid/bullet_convert.h"

namespace pliant {

void BulletBroadphase::set_filter(std::uint32_t slot, std::uint16_t category, std::uint16_t mask) {
  settings_[slot].filter = {category, mask};
}

void BulletBroadphase::set_static(std::uint32_t slot, bool is_static) { settings_[slot].is_static = is_static; }

btBroadphaseProxy* BulletBroadphase::createProxy(const btVector3& lower, const btVector3& upper, int, void* object,
                                                 int category, int mask, btDispatcher*) {
  const auto* collision_object = static_cast<btCollisionObject*>(object);
  const auto slot = static_cast<std::uint32_t>(collision_object->getUserIndex());
  if (proxies_.size() <= slot) {
    proxies_.resize(slot + 1);
    boxes_.resize(slot + 1);
    settings_.resize(slot + 1, {.is_active = false});
  }
  proxies_[slot] = new btBroadphaseProxy(lower, upper, object, category, mask);
  proxies_[slot]->m_uniqueId = static_cast<int>(slot);
  boxes_[slot] = {from_bullet(lower), from_bullet(upper)};
  settings_[slot] = {.filter = {static_cast<std::uint16_t>(category), static_cast<std::uint16_t>(mask)},
                     .is_static = collision_object->isStaticOrKinematicObject(),
                     .is_active = true};
  return proxies_[slot];
}

void BulletBroadphase::destroyProxy(btBroadphaseProxy* proxy, btDispatcher* dispatcher) {
  pairs_.removeOverlappingPairsContainingProxy(proxy, dispatcher);
  const auto slot = static_cast<std::size_t>(proxy->m_uniqueId);
  settings_[slot].is_active = false;
  proxies_[slot] = nullptr;
  delete proxy;
}

void BulletBroadphase::setAabb(btBroadphaseProxy* proxy, const btVector3& lower, const btVector3& upper,
                               btDispatcher*) {
  proxy->m_aabbMin = lower;
  proxy->m_aabbMax = upper;
  boxes_[static_cast<std::size_t>(proxy->m_uniqueId)] = {from_bullet(lower), from_bullet(upper)};
}

void BulletBroadphase::getAabb(btBroadphaseProxy* proxy, btVector3& lower, btVector3& upper) const {
  lower = proxy->m_aabbMin;
  upper = proxy->m_aabbMax;
}

void BulletBroadphase::rayTest(const btVector3& from, const btVector3& to, btBroadphaseRayCallback& callback,
                               const btVector3& lower, const btVector3& upper) {
  if (!lower.isZero() || !upper.isZero()) {  // a shape swept along the ray; its box is given relative to the ray
    Aabb swept{from_bullet(from), from_bullet(from)};
    swept.include(from_bullet(to));
    swept.lower += from_bullet(lower);
    swept.upper += from_bullet(upper);
    broad_phase_.for_each_overlap(swept, [&](std::uint32_t slot) { callback.process(proxies_[slot]); });
    return;
  }
  broad_phase_.cast_ray(from_bullet(from), from_bullet(to - from), 1, [&](std::uint32_t slot, float t) {
    callback.process(proxies_[slot]);
    return t;
  });
}

void BulletBroadphase::aabbTest(const btVector3& lower, const btVector3& upper, btBroadphaseAabbCallback& callback) {
  broad_phase_.for_each_overlap({from_bullet(lower), from_bullet(upper)},
                                [&](std::uint32_t slot) { callback.process(proxies_[slot]); });
}

void BulletBroadphase::update_boxes() { broad_phase_.update(boxes_, settings_); }

void BulletBroadphase::calculateOverlappingPairs(btDispatcher* dispatcher) {
  pairs_.replace(broad_phase_.update(boxes_, settings_), proxies_, dispatcher);
}

void BulletBroadphase::getBroadphaseAabb(btVector3& lower, btVector3& upper) const {
  lower.setValue(-BT_LARGE_FLOAT, -BT_LARGE_FLOAT, -BT_LARGE_FLOAT);
  upper.setValue(BT_LARGE_FLOAT, BT_LARGE_FLOAT, BT_LARGE_FLOAT);
}

}  // namespace pliant
