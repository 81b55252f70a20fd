#include "rigid/bullet_world.h"

#include <BulletCollision/CollisionDispatch/btCompoundCollisionAlgorithm.h>
#include <BulletCollision/CollisionShapes/btCompoundShape.h>

namespace pliant {
namespace {

/// Calls `visit(algorithm, part)` for the algorithms of a compound's parts that exist.
template <typename Visit>
void for_each_part(btCollisionAlgorithm* algorithm, const btCollisionShape* shape, Visit&& visit) {
  const auto* compound = static_cast<const btCompoundShape*>(shape);
  const auto* of_compound = static_cast<const btCompoundCollisionAlgorithm*>(algorithm);
  for (int i = 0; i < compound->getNumChildShapes(); ++i) {
    if (btCollisionAlgorithm* child = of_compound->getChildAlgorithm(i))
      visit(child, static_cast<std::uint64_t>(i) + 1);
  }
}

}  // namespace

void ManifoldCollector::collect(btCollisionAlgorithm* algorithm, std::uint64_t part,
                                std::vector<PairManifold>& manifolds) {
  found_.resizeNoInitialize(0);
  algorithm->getAllContactManifolds(found_);
  for (int i = 0; i < found_.size(); ++i) manifolds.push_back({found_[i], part});
}

void ManifoldCollector::collect(const btBroadphasePair& pair, std::vector<PairManifold>& manifolds) {
  if (!pair.m_algorithm) return;
  const btCollisionShape* a = static_cast<btCollisionObject*>(pair.m_pProxy0->m_clientObject)->getCollisionShape();
  const btCollisionShape* b = static_cast<btCollisionObject*>(pair.m_pProxy1->m_clientObject)->getCollisionShape();
  // The engine registers the plain compound algorithm for two compounds as well, so their parts nest.
  if (a->isCompound()) {
    for_each_part(pair.m_algorithm, a, [&](btCollisionAlgorithm* of_part, std::uint64_t i) {
      if (!b->isCompound()) return collect(of_part, i << 32, manifolds);
      for_each_part(of_part, b,
                    [&](btCollisionAlgorithm* leaf, std::uint64_t j) { collect(leaf, (i << 32) | j, manifolds); });
    });
  } else if (b->isCompound()) {
    for_each_part(pair.m_algorithm, b,
                  [&](btCollisionAlgorithm* of_part, std::uint64_t j) { collect(of_part, j, manifolds); });
  } else {
    collect(pair.m_algorithm, 0, manifolds);
  }
}

}  // namespace pliant
