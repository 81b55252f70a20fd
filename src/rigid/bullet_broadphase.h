// Our broad phase in the form Bullet asks for. Proxies are numbered by body slot.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <BulletCollision/BroadphaseCollision/btBroadphaseInterface.h>

#include "collide/broad_phase.h"
#include "rigid/bullet_pairs.h"

namespace pliant {

class BulletBroadphase : public btBroadphaseInterface {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();

  void set_filter(std::uint32_t slot, std::uint16_t category, std::uint16_t mask);
  void set_static(std::uint32_t slot, bool is_static);
  /// Makes rays and boxes see where things are now, without looking for pairs to collide.
  void update_boxes();
  BulletPairs& pairs() { return pairs_; }
  const BulletPairs& pairs() const { return pairs_; }
  std::span<btBroadphaseProxy* const> proxies() const { return proxies_; }

  // What Bullet asks of a broad phase.
  btBroadphaseProxy* createProxy(const btVector3& lower, const btVector3& upper, int shape_type, void* object,
                                 int category, int mask, btDispatcher* dispatcher) override;
  void destroyProxy(btBroadphaseProxy* proxy, btDispatcher* dispatcher) override;
  void setAabb(btBroadphaseProxy* proxy, const btVector3& lower, const btVector3& upper,
               btDispatcher* dispatcher) override;
  void getAabb(btBroadphaseProxy* proxy, btVector3& lower, btVector3& upper) const override;
  void rayTest(const btVector3& from, const btVector3& to, btBroadphaseRayCallback& callback,
               const btVector3& lower = btVector3(0, 0, 0), const btVector3& upper = btVector3(0, 0, 0)) override;
  void aabbTest(const btVector3& lower, const btVector3& upper, btBroadphaseAabbCallback& callback) override;
  void calculateOverlappingPairs(btDispatcher* dispatcher) override;
  btOverlappingPairCache* getOverlappingPairCache() override { return &pairs_; }
  const btOverlappingPairCache* getOverlappingPairCache() const override { return &pairs_; }
  void getBroadphaseAabb(btVector3& lower, btVector3& upper) const override;
  void printStats() override {}

 private:
  BroadPhase broad_phase_;
  BulletPairs pairs_;
  // By slot.
  std::vector<btBroadphaseProxy*> proxies_;  ///< null where there is none; Bullet's bodies point to them
  std::vector<Aabb> boxes_;
  std::vector<BroadPhaseProxy> settings_;
};

}  // namespace pliant
