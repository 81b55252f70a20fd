// Bullet's pair cache as a sorted list: what overlaps now, in the order of slots, whatever happened before.
//
// Bullet's own caches keep pairs in the order of a hash table's history. Here the list is replaced each substep by the
// sorted one from the broad phase; a pair that was there already keeps its collision algorithm and so its contacts.
#pragma once

#include <cstdint>
#include <span>

#include <BulletCollision/BroadphaseCollision/btOverlappingPairCache.h>

#include "collide/broad_phase.h"

namespace pliant {

/// The smaller slot first.
ProxyPair slots_of(const btBroadphasePair& pair);

class BulletPairs : public btOverlappingPairCache {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();

  /// `pairs` are sorted slots, the smaller first; `proxies` is indexed by slot.
  void replace(std::span<const ProxyPair> pairs, std::span<btBroadphaseProxy* const> proxies, btDispatcher* dispatcher);

  std::span<btBroadphasePair> all() {
    btBroadphasePairArray& pairs = current();
    return pairs.size() ? std::span(&pairs[0], static_cast<std::size_t>(pairs.size())) : std::span<btBroadphasePair>();
  }
  std::span<const btBroadphasePair> all() const { return const_cast<BulletPairs*>(this)->all(); }

  // What Bullet asks of a pair cache.
  btBroadphasePair* getOverlappingPairArrayPtr() override { return all().data(); }
  const btBroadphasePair* getOverlappingPairArrayPtr() const override { return all().data(); }
  btBroadphasePairArray& getOverlappingPairArray() override { return current(); }
  int getNumOverlappingPairs() const override { return static_cast<int>(all().size()); }
  void cleanOverlappingPair(btBroadphasePair& pair, btDispatcher* dispatcher) override;
  void cleanProxyFromPairs(btBroadphaseProxy* proxy, btDispatcher* dispatcher) override;
  void removeOverlappingPairsContainingProxy(btBroadphaseProxy* proxy, btDispatcher* dispatcher) override;
  void* removeOverlappingPair(btBroadphaseProxy* proxy0, btBroadphaseProxy* proxy1, btDispatcher* dispatcher) override;
  btBroadphasePair* addOverlappingPair(btBroadphaseProxy*, btBroadphaseProxy*) override { return nullptr; }
  btBroadphasePair* findPair(btBroadphaseProxy* proxy0, btBroadphaseProxy* proxy1) override;
  void processAllOverlappingPairs(btOverlapCallback* callback, btDispatcher* dispatcher) override;
  bool needsBroadphaseCollision(btBroadphaseProxy*, btBroadphaseProxy*) const override { return true; }
  btOverlapFilterCallback* getOverlapFilterCallback() override { return nullptr; }
  void setOverlapFilterCallback(btOverlapFilterCallback*) override {}
  bool hasDeferredRemoval() override { return false; }
  void setInternalGhostPairCallback(btOverlappingPairCallback*) override {}
  void sortOverlappingPairs(btDispatcher*) override {}

 private:
  btBroadphasePairArray& current() { return lists_[current_]; }

  btBroadphasePairArray lists_[2];  ///< the current list and room for the next
  int current_ = 0;
};

}  // namespace pliant
