// Bullet's world with its stages laid open, so that the engine can call them one by one in its own order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <BulletCollision/BroadphaseCollision/btCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btDefaultCollisionConfiguration.h>
#include <BulletDynamics/Dynamics/btDiscreteDynamicsWorld.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>

#include "rigid/bullet_broadphase.h"

namespace pliant {

class BulletWorld : public btDiscreteDynamicsWorld {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();
  using btDiscreteDynamicsWorld::btDiscreteDynamicsWorld;

  using btDiscreteDynamicsWorld::createPredictiveContactsInternal;
  using btDiscreteDynamicsWorld::integrateTransformsInternal;
  using btDiscreteDynamicsWorld::releasePredictiveContacts;

  std::span<btPersistentManifold*> predictive_manifolds() {
    return m_predictiveManifolds.size()
               ? std::span(&m_predictiveManifolds[0], static_cast<std::size_t>(m_predictiveManifolds.size()))
               : std::span<btPersistentManifold*>();
  }
};

/// One manifold of a pair. A pair of compounds has one for each pair of their parts; `part` tells which, so that the
/// same manifold can be found again after a snapshot.
struct PairManifold {
  btPersistentManifold* manifold;
  std::uint64_t part;
};

/// Lists the manifolds of pairs in the order of their parts.
class ManifoldCollector {
 public:
  /// Appends those of `pair`.
  void collect(const btBroadphasePair& pair, std::vector<PairManifold>& manifolds);

 private:
  void collect(btCollisionAlgorithm* algorithm, std::uint64_t part, std::vector<PairManifold>& manifolds);
  btManifoldArray found_;  ///< kept for its memory
};

inline std::uint32_t slot_of(const btCollisionObject* object) {
  return static_cast<std::uint32_t>(object->getUserIndex());
}

}  // namespace pliant
