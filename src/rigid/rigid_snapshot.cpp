// Snapshots of the engine: bodies, joints, and the contacts Bullet keeps from step to step.
//
// All that Bullet's next step depends on is written down here: full transforms (a quaternion would round), velocities,
// the list of pairs and the points of their manifolds. Restoring builds the bodies anew, makes the same pairs, lets
// Bullet make their algorithms, and then overwrites the contacts it found with those that were saved.
#include <algorithm>

#include "rigid/rigid_impl.h"

namespace pliant {

struct RigidSnapshot {
  struct SavedBody {
    BodyId id;
    RigidProperties properties;
    std::shared_ptr<const RigidShape> shape;
    btTransform transform, interpolation;
    btVector3 velocity, angular_velocity, force, torque;
    std::optional<btTransform> target;
    bool had_target;
    int activation;
  };
  struct SavedJoint {
    JointId id;
    JointDef def;
    btTransform a_from_joint, b_from_joint;
    std::array<float, BulletJoint::kMaxRows> impulses;
    btJointFeedback feedback;
  };
  struct SavedManifold {
    std::uint32_t pair;  ///< index into `pairs`
    std::uint64_t part;
    std::uint32_t first_point, point_count;
  };

  btVector3 gravity;
  std::vector<SavedBody> bodies;
  std::vector<SavedJoint> joints;
  std::vector<ProxyPair> pairs;
  std::vector<SavedManifold> manifolds;
  std::vector<btManifoldPoint> points;
};

namespace {

void save_manifolds(const BulletPairs& pairs, RigidSnapshot& out) {
  ManifoldCollector collector;
  std::vector<PairManifold> manifolds;
  for (const btBroadphasePair& pair : pairs.all()) {
    manifolds.clear();
    collector.collect(pair, manifolds);
    for (const PairManifold& entry : manifolds) {
      const auto count = static_cast<std::uint32_t>(entry.manifold->getNumContacts());
      if (count == 0) continue;
      out.manifolds.push_back({static_cast<std::uint32_t>(out.pairs.size()), entry.part,
                               static_cast<std::uint32_t>(out.points.size()), count});
      for (std::uint32_t i = 0; i < count; ++i) {
        out.points.push_back(entry.manifold->getContactPoint(static_cast<int>(i)));
      }
    }
    out.pairs.push_back(slots_of(pair));
  }
}

void restore_points(const RigidSnapshot& from, std::uint32_t pair, const PairManifold& to) {
  to.manifold->clearManifold();
  const auto key = [](const RigidSnapshot::SavedManifold& m) { return std::pair(m.pair, m.part); };
  const auto wanted = std::pair(pair, to.part);
  const auto saved = std::lower_bound(from.manifolds.begin(), from.manifolds.end(), wanted,
                                      [&](const auto& m, const auto& k) { return key(m) < k; });
  if (saved == from.manifolds.end() || key(*saved) != wanted) return;
  for (std::uint32_t i = 0; i < saved->point_count; ++i) {
    to.manifold->addManifoldPoint(from.points[saved->first_point + i], true);
  }
}

}  // namespace

std::shared_ptr<const RigidSnapshot> RigidEngine::snapshot() const {
  auto out = std::make_shared<RigidSnapshot>();
  impl_->update_slot_lists();
  out->gravity = impl_->gravity;
  for (const std::uint32_t slot : impl_->live_slots) {
    const RigidBody& body = impl_->body(slot);
    const btRigidBody& bullet = *body.bullet;
    out->bodies.push_back({body.id, body.properties, body.shape, bullet.getCenterOfMassTransform(),
                           bullet.getInterpolationWorldTransform(), bullet.getLinearVelocity(),
                           bullet.getAngularVelocity(), body.force, body.torque, body.target, body.had_target,
                           bullet.getActivationState()});
  }
  for (const std::uint32_t slot : impl_->live_joints) {
    const RigidJoint& joint = impl_->joints[slot];
    out->joints.push_back({joint.id, joint.def, joint.a_from_joint, joint.b_from_joint, joint.bullet->impulses,
                           joint.bullet->feedback()});
  }
  save_manifolds(impl_->broadphase.pairs(), *out);
  return out;
}

void RigidEngine::restore(const RigidSnapshot& from) {
  Impl& impl = *impl_;
  impl.remove_everything();
  impl.gravity = from.gravity;
  if (!from.bodies.empty()) impl.bodies.resize(from.bodies.back().id.index + 1);
  for (const RigidSnapshot::SavedBody& saved : from.bodies) {
    RigidBody& body = impl.bodies[saved.id.index];
    body.id = saved.id;
    body.properties = saved.properties;
    body.shape = saved.shape;
    impl.create_bullet_body(body, saved.transform);
    body.bullet->setInterpolationWorldTransform(saved.interpolation);
    body.bullet->setLinearVelocity(saved.velocity);
    body.bullet->setAngularVelocity(saved.angular_velocity);
    body.force = saved.force, body.torque = saved.torque;
    body.target = saved.target, body.had_target = saved.had_target;
    body.bullet->forceActivationState(ACTIVE_TAG);  // so that no pair below is passed over as asleep
  }
  if (!from.joints.empty()) impl.joints.resize(from.joints.back().id.index + 1);
  for (const RigidSnapshot::SavedJoint& saved : from.joints) {
    RigidJoint& joint = impl.joints[saved.id.index];
    joint.id = saved.id;
    joint.def = saved.def;
    joint.a_from_joint = saved.a_from_joint, joint.b_from_joint = saved.b_from_joint;
    impl.create_bullet_joint(joint);
    joint.bullet->impulses = saved.impulses;
    *joint.bullet->getJointFeedback() = saved.feedback;
  }
  impl.update_slot_lists();

  impl.broadphase.pairs().replace(from.pairs, impl.broadphase.proxies(), &impl.dispatcher);
  impl.dispatch_pairs();
  std::vector<PairManifold> manifolds;
  for (std::uint32_t i = 0; i < from.pairs.size(); ++i) {
    manifolds.clear();
    impl.collector.collect(impl.broadphase.pairs().all()[i], manifolds);
    for (const PairManifold& entry : manifolds) restore_points(from, i, entry);
  }
  for (const RigidSnapshot::SavedBody& saved : from.bodies) {
    impl.bodies[saved.id.index].bullet->forceActivationState(saved.activation);
  }
  impl.collect_manifolds();
}

}  // namespace pliant
