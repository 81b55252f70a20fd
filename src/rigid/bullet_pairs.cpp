#include "rigid/bullet_pairs.h"

#include <algorithm>

#include <BulletCollision/BroadphaseCollision/btCollisionAlgorithm.h>
#include <BulletCollision/BroadphaseCollision/btDispatcher.h>

namespace pliant {

ProxyPair slots_of(const btBroadphasePair& pair) {
  return {static_cast<std::uint32_t>(pair.m_pProxy0->m_uniqueId),
          static_cast<std::uint32_t>(pair.m_pProxy1->m_uniqueId)};
}

void BulletPairs::replace(std::span<const ProxyPair> pairs, std::span<btBroadphaseProxy* const> proxies,
                          btDispatcher* dispatcher) {
  btBroadphasePairArray& before = current();
  btBroadphasePairArray& after = lists_[1 - current_];
  after.resizeNoInitialize(0);
  int old = 0;
  for (const ProxyPair& pair : pairs) {
    while (old < before.size() && slots_of(before[old]) < pair) cleanOverlappingPair(before[old++], dispatcher);
    if (old < before.size() && slots_of(before[old]) == pair) {
      after.push_back(before[old++]);
    } else {
      after.push_back(btBroadphasePair(*proxies[pair.a], *proxies[pair.b]));
    }
  }
  while (old < before.size()) cleanOverlappingPair(before[old++], dispatcher);
  before.resizeNoInitialize(0);
  current_ = 1 - current_;
}

void BulletPairs::cleanOverlappingPair(btBroadphasePair& pair, btDispatcher* dispatcher) {
  if (!pair.m_algorithm || !dispatcher) return;
  pair.m_algorithm->~btCollisionAlgorithm();
  dispatcher->freeCollisionAlgorithm(pair.m_algorithm);
  pair.m_algorithm = nullptr;
}

void BulletPairs::cleanProxyFromPairs(btBroadphaseProxy* proxy, btDispatcher* dispatcher) {
  for (btBroadphasePair& pair : all()) {
    if (pair.m_pProxy0 == proxy || pair.m_pProxy1 == proxy) cleanOverlappingPair(pair, dispatcher);
  }
}

void BulletPairs::removeOverlappingPairsContainingProxy(btBroadphaseProxy* proxy, btDispatcher* dispatcher) {
  btBroadphasePairArray& pairs = current();
  int kept = 0;
  for (int i = 0; i < pairs.size(); ++i) {
    if (pairs[i].m_pProxy0 == proxy || pairs[i].m_pProxy1 == proxy) {
      cleanOverlappingPair(pairs[i], dispatcher);
    } else {
      pairs[kept++] = pairs[i];
    }
  }
  pairs.resizeNoInitialize(kept);
}

void* BulletPairs::removeOverlappingPair(btBroadphaseProxy* proxy0, btBroadphaseProxy* proxy1,
                                         btDispatcher* dispatcher) {
  btBroadphasePair* pair = findPair(proxy0, proxy1);
  if (!pair) return nullptr;
  cleanOverlappingPair(*pair, dispatcher);
  btBroadphasePairArray& pairs = current();
  const int at = static_cast<int>(pair - &pairs[0]);
  for (int i = at + 1; i < pairs.size(); ++i) pairs[i - 1] = pairs[i];
  pairs.pop_back();
  return nullptr;
}

btBroadphasePair* BulletPairs::findPair(btBroadphaseProxy* proxy0, btBroadphaseProxy* proxy1) {
  const ProxyPair wanted = slots_of(btBroadphasePair(*proxy0, *proxy1));
  const auto found = std::lower_bound(all().begin(), all().end(), wanted,
                                      [](const btBroadphasePair& a, const ProxyPair& b) { return slots_of(a) < b; });
  return found != all().end() && slots_of(*found) == wanted ? &*found : nullptr;
}

void BulletPairs::processAllOverlappingPairs(btOverlapCallback* callback, btDispatcher*) {
  for (btBroadphasePair& pair : all()) callback->processOverlap(pair);
}

}  // namespace pliant
