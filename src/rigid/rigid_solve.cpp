// The solve: islands in batches, friction frames, contacts with their impulses.
#include <algorithm>
#include <numeric>

#include "rigid/bullet_contact.h"
#include "rigid/rigid_impl.h"
#include "rigid/tangents.h"

namespace pliant {
namespace {

/// Small islands are solved together until they have so many manifolds and joints.
constexpr std::size_t kBatchRows = 128;

/// Of the square of the step times the stiffness; chains fly apart below 0.4.
constexpr btScalar kTautInertia = 1;

btVector3 velocity_with_forces(const btRigidBody& body, const btVector3& point, float dt) {
  const btVector3 linear = body.getLinearVelocity() + body.getTotalForce() * (body.getInvMass() * dt);
  const btVector3 angular = body.getAngularVelocity() + body.getInvInertiaTensorWorld() * body.getTotalTorque() * dt;
  return linear + angular.cross(point - body.getCenterOfMassPosition());
}

/// Sorts `items` by island, keeping their order within each: `order[starts[i] .. starts[i+1])` are those of island i.
template <typename IslandOf>
void sort_by_island(std::size_t count, std::size_t islands, IslandOf&& island_of, std::vector<std::uint32_t>& starts,
                    std::vector<std::uint32_t>& order) {
  starts.assign(islands + 2, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t island = island_of(i);
    if (island != RigidEngine::kNoIsland) ++starts[island + 2];
  }
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  order.resize(starts.back());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t island = island_of(i);
    if (island != RigidEngine::kNoIsland) order[starts[island + 1]++] = i;
  }
  starts.pop_back();
}

}  // namespace

void RigidEngine::Impl::enter_friction_frame(btPersistentManifold& manifold, float dt) {
  const auto& a = static_cast<const btRigidBody&>(*manifold.getBody0());
  const auto& b = static_cast<const btRigidBody&>(*manifold.getBody1());
  for (int i = 0; i < manifold.getNumContacts(); ++i) {
    btManifoldPoint& point = manifold.getContactPoint(i);
    const btVector3& normal = point.m_normalWorldOnB;
    const Tangents tangents(normal);
    // What a solid pressed through a light body onto others would throw it away once the solid is gone.
    if (point.m_contactPointFlags & kSolvedElsewhere) {
      point.m_appliedImpulse = point.m_appliedImpulseLateral1 = point.m_appliedImpulseLateral2 = 0;
      point.m_contactPointFlags &= ~kSolvedElsewhere;
    }
    const btVector3 impulse =
        tangents.first * point.m_appliedImpulseLateral1 + tangents.second * point.m_appliedImpulseLateral2;
    btVector3 slide =
        velocity_with_forces(a, point.m_positionWorldOnA, dt) - velocity_with_forces(b, point.m_positionWorldOnB, dt);
    slide -= normal * normal.dot(slide);
    const btScalar speed = slide.length();
    point.m_lateralFrictionDir1 = speed > 1e-6f ? slide / speed : tangents.first;
    point.m_lateralFrictionDir2 = point.m_lateralFrictionDir1.cross(normal);
    point.m_appliedImpulseLateral1 = impulse.dot(point.m_lateralFrictionDir1);
    point.m_appliedImpulseLateral2 = impulse.dot(point.m_lateralFrictionDir2);
    point.m_contactPointFlags |= BT_CONTACT_FLAG_LATERAL_FRICTION_INITIALIZED;
  }
}

void RigidEngine::Impl::leave_friction_frame(btPersistentManifold& manifold) {
  for (int i = 0; i < manifold.getNumContacts(); ++i) {
    btManifoldPoint& point = manifold.getContactPoint(i);
    const Tangents tangents(point.m_normalWorldOnB);
    const btVector3 impulse = point.m_lateralFrictionDir1 * point.m_appliedImpulseLateral1 +
                              point.m_lateralFrictionDir2 * point.m_appliedImpulseLateral2;
    point.m_appliedImpulseLateral1 = impulse.dot(tangents.first);
    point.m_appliedImpulseLateral2 = impulse.dot(tangents.second);
  }
}

void RigidEngine::Impl::sort_rows_by_island(const IslandList& islands) {
  const std::size_t island_count = islands.starts.size() - 1;
  island_has_kinematic.assign(island_count, false);
  const auto is_elsewhere = [&](const btCollisionObject& body) {
    return !islands.sharing.empty() && !body.isStaticOrKinematicObject() &&
           islands.sharing[slot_of(&body)] != Sharing::Own;
  };
  const auto island_of = [&](const btCollisionObject& a, const btCollisionObject& b) {
    if (is_elsewhere(a) || is_elsewhere(b)) return kNoIsland;
    std::uint32_t island = a.isStaticOrKinematicObject() ? kNoIsland : islands.island_of[slot_of(&a)];
    if (island == kNoIsland && !b.isStaticOrKinematicObject()) island = islands.island_of[slot_of(&b)];
    if (island != kNoIsland && (a.isKinematicObject() || b.isKinematicObject())) island_has_kinematic[island] = true;
    return island;
  };
  sort_by_island(
      touching.size(), island_count,
      [&](std::uint32_t i) { return island_of(*touching[i]->getBody0(), *touching[i]->getBody1()); }, manifold_starts,
      manifold_order);
  sort_by_island(
      live_joints.size(), island_count,
      [&](std::uint32_t i) {
        const BulletJoint& joint = *joints[live_joints[i]].bullet;
        return island_of(joint.getRigidBodyA(), joint.getRigidBodyB());
      },
      joint_starts, joint_order);
}

void RigidEngine::Impl::add_to_batch(const IslandList& islands, std::uint32_t island) {
  const std::size_t rows_before = batches.rows();
  for (std::uint32_t i = manifold_starts[island]; i < manifold_starts[island + 1]; ++i) {
    batches.manifolds.push_back(touching[manifold_order[i]]);
  }
  for (std::uint32_t i = joint_starts[island]; i < joint_starts[island + 1]; ++i) {
    batches.joints.push_back(joints[live_joints[joint_order[i]]].bullet.get());
  }
  const bool has_rows = batches.rows() > rows_before;
  for (std::uint32_t i = islands.starts[island]; i < islands.starts[island + 1]; ++i) {
    if (!has(islands.bodies[i])) continue;
    RigidBody& member = body(islands.bodies[i]);
    batches.bodies.push_back(member.bullet.get());
    member.touched = has_rows;
  }
}

void RigidEngine::Impl::make_batches(const IslandList& islands, std::span<const std::uint32_t> shared_slots) {
  sort_rows_by_island(islands);
  const auto island_count = static_cast<std::uint32_t>(islands.starts.size() - 1);
  island_is_shared.assign(island_count, false);
  for (const std::uint32_t slot : shared_slots) island_is_shared[islands.island_of[slot]] = true;
  batches.clear();
  // Bullet notes a solver index on every kinematic body it meets, so islands that touch any share the first batch and
  // with it one thread.
  batches.begin_batch();
  for (std::uint32_t island = 0; island < island_count; ++island) {
    if (island_has_kinematic[island] && !island_is_shared[island]) add_to_batch(islands, island);
  }
  batches.begin_batch();
  for (std::uint32_t island = 0; island < island_count; ++island) {
    if (island_has_kinematic[island] || island_is_shared[island]) continue;
    if (batches.rows() >= kBatchRows) batches.begin_batch();
    add_to_batch(islands, island);
  }
  // What is solved in turn with other rows comes last, all together.
  batches.begin_batch();
  for (std::uint32_t island = 0; island < island_count; ++island) {
    if (island_is_shared[island]) add_to_batch(islands, island);
  }
  batches.begin_batch();  // the end
  for (const std::uint32_t slot : shared_slots) body(slot).touched = true;
}

// A light link under tension T swings about its middle at √(12 T/(m L)), the faster the heavier what it carries; where
// that is too fast for the step, the chain flies apart, however exactly its joints are solved. There its inertia is
// raised to what the step can follow, from the forces of the last step (Andrews et al. 2017, "Geometric stiffness for
// real-time constrained multibody dynamics"). What swings slower is left as it is.
void RigidEngine::Impl::steady_taut_bodies(std::size_t batch, float dt) {
  const std::size_t begin = batches.starts[batch].joint, end = batches.starts[batch + 1].joint;
  const auto add = [&](const btRigidBody& bullet, const btVector3& arm, const btVector3& force) {
    if (bullet.isStaticOrKinematicObject()) return;
    const btMatrix3x3& axes = bullet.getCenterOfMassTransform().getBasis();
    const btVector3 local = force * axes;
    const btScalar along = arm.dot(local);
    body(&bullet).tautness += btVector3(along, along, along) - arm * local;
  };
  for (std::size_t i = begin; i < end; ++i) {
    const auto& joint = static_cast<const BulletJoint&>(*batches.joints[i]);
    add(joint.getRigidBodyA(), joint.arm_on_a(), joint.feedback().m_appliedForceBodyA);
    add(joint.getRigidBodyB(), joint.arm_on_b(), joint.feedback().m_appliedForceBodyB);
  }
  for (std::size_t i = batches.starts[batch].body; begin < end && i < batches.starts[batch + 1].body; ++i) {
    RigidBody& taut = body(batches.bodies[i]);
    btVector3 inertia = taut.shape->inertia;
    inertia.setMax(taut.tautness * (kTautInertia * dt * dt));
    if (inertia == taut.shape->inertia) continue;
    taut.bullet->setInvInertiaDiagLocal(btVector3(1, 1, 1) / inertia);
    taut.bullet->updateInertiaTensor();
  }
}

void RigidEngine::Impl::release_taut_bodies(std::size_t batch) {
  if (batches.starts[batch].joint == batches.starts[batch + 1].joint) return;
  for (std::size_t i = batches.starts[batch].body; i < batches.starts[batch + 1].body; ++i) {
    RigidBody& taut = body(batches.bodies[i]);
    taut.tautness.setZero();
    taut.bullet->setInvInertiaDiagLocal(btVector3(1, 1, 1) / taut.shape->inertia);
    taut.bullet->updateInertiaTensor();
  }
}

void RigidEngine::Impl::solve_batch(BulletSolver& solver, std::size_t batch, float dt) {
  const SolveBatches::Start &begin = batches.starts[batch], &end = batches.starts[batch + 1];
  if (begin.body == end.body) return;
  for (std::size_t i = begin.manifold; i < end.manifold; ++i) enter_friction_frame(*batches.manifolds[i], dt);
  const auto count = [](std::size_t from, std::size_t to) { return static_cast<int>(to - from); };
  steady_taut_bodies(batch, dt);
  solver.solveGroup(batches.bodies.data() + begin.body, count(begin.body, end.body),
                    batches.manifolds.data() + begin.manifold, count(begin.manifold, end.manifold),
                    batches.joints.data() + begin.joint, count(begin.joint, end.joint), world->getSolverInfo(), nullptr,
                    &dispatcher);
  release_taut_bodies(batch);
  rows += static_cast<std::size_t>(solver.row_count());
}

/// Any solver may get any batch.
void RigidEngine::Impl::reserve_for_joints() {
  std::size_t most_bodies = 0, most_joints = 0;
  for (std::size_t batch = 0; batch < batches.count(); ++batch) {
    const SolveBatches::Start &begin = batches.starts[batch], &end = batches.starts[batch + 1];
    if (begin.joint == end.joint) continue;
    most_bodies = std::max(most_bodies, end.body - begin.body);
    most_joints = std::max(most_joints, end.joint - begin.joint);
  }
  for (const std::unique_ptr<BulletSolver>& solver : solvers) solver->reserve_joints(most_bodies, most_joints);
}

void RigidEngine::solve(const IslandList& islands, float dt, RowPartner* partner) {
  Impl& impl = *impl_;
  impl.make_batches(islands, partner ? partner->slots() : std::span<const std::uint32_t>());
  impl.reserve_for_joints();
  const std::size_t shared_batch = impl.batches.count() - 1;
  std::atomic<std::size_t> next{0};
  // Which thread takes which batch does not matter: batches share no body.
  parallel_for(impl.workers, impl.solvers.size(), 1, [&](std::size_t thread, std::size_t) {
    for (std::size_t batch = next++; batch < shared_batch; batch = next++) {
      impl.solve_batch(*impl.solvers[thread], batch, dt);
    }
  });
  if (partner) impl.solve_with_partner(*partner, shared_batch, dt);
  for (btPersistentManifold* manifold : impl.batches.manifolds) {
    impl.note_contacts(*manifold);
    impl.leave_friction_frame(*manifold);
  }
}

void RigidEngine::Impl::solve_with_partner(RowPartner& partner, std::size_t batch, float dt) {
  if (partner.slots().empty()) {
    // Nobody to take turns with, so nothing to wait for.
    partner.begin({});
    for (int i = 0; i < BulletSolver::kPartnerRounds; ++i) partner.round({});
    return partner.end({});
  }
  partner_bodies.clear();
  for (const std::uint32_t slot : partner.slots()) partner_bodies.push_back(body(slot).bullet.get());
  BulletSolver& solver = *solvers[0];
  solver.set_partner(&partner, partner_bodies);
  solve_batch(solver, batch, dt);
  solver.set_partner(nullptr, {});
}

void RigidEngine::Impl::note_contacts(const btPersistentManifold& manifold) {
  for (int i = 0; i < manifold.getNumContacts(); ++i) note_contact(manifold, manifold.getContactPoint(i));
}

void RigidEngine::Impl::note_contact(const btPersistentManifold& manifold, const btManifoldPoint& point) {
  const btVector3 friction = point.m_lateralFrictionDir1 * point.m_appliedImpulseLateral1 +
                             point.m_lateralFrictionDir2 * point.m_appliedImpulseLateral2;
  contacts.push_back({.a = body(manifold.getBody0()).id,
                      .b = body(manifold.getBody1()).id,
                      .position = from_bullet(point.m_positionWorldOnB),
                      .normal = from_bullet(point.m_normalWorldOnB),
                      .depth = -point.m_distance1,
                      .normal_impulse = point.m_appliedImpulse,
                      .friction_impulse = from_bullet(friction)});
}

std::span<const Contact> RigidEngine::contacts() const { return impl_->contacts; }
std::size_t RigidEngine::row_count() const { return impl_->rows; }

}  // namespace pliant
