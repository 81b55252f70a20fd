#include "rigid/bullet_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/simd.h"
#include "rigid/bullet_convert.h"
#include "rigid/bullet_joint.h"
#include "rigid/bullet_shape.h"

namespace pliant {
namespace {

// A contact pushes like a spring of half the substep's rate with ten times the critical damping; with these two numbers
// fixed, so are the coefficients below, whatever the substep (Catto 2011): a₁ = 2ζ + hω, a₂ = hω a₁. Measured on a
// stack of ten boxes at 1/60 s: at a quarter of the rate they sink into each other by 2 % and buckle, at the whole rate
// they never come to rest, at half they stand with 0.3 % and fall asleep, for any damping from 2 to 20.
constexpr btScalar kStepTimesOmega = 2 * 3.14159265f * 0.5f;
constexpr btScalar kDampingRatio = 10;
constexpr btScalar kA1 = 2 * kDampingRatio + kStepTimesOmega;
constexpr btScalar kA2 = kStepTimesOmega * kA1;
constexpr btScalar kRecoveredPerStep = kStepTimesOmega / kA1;  // share of an overlap
constexpr btScalar kMassScale = kA2 / (1 + kA2);
constexpr btScalar kImpulseScale = 1 / (1 + kA2);
constexpr btScalar kFullySoft = 0.04f;  // m: thinner bodies have harder contacts
constexpr btScalar kMaxPushSpeed = 3;   // m/s: bodies that start inside each other part, they do not explode

void apply(btSolverBody& a, btSolverBody& b, const btSolverConstraint& row, btScalar impulse) {
  a.internalApplyImpulse(row.m_contactNormal1 * a.internalGetInvMass(), row.m_angularComponentA, impulse);
  b.internalApplyImpulse(row.m_contactNormal2 * b.internalGetInvMass(), row.m_angularComponentB, impulse);
}

// Bullet's vectors are four aligned floats; the fourth means nothing. The body that stands for everything fixed has no
// mass and zero rows, so it needs no special case.
Float4 load(const btVector3& v) { return load4(v.m_floats); }
void store(btVector3& to, Float4 v) { store4(to.m_floats, v); }

/// How fast an overlap, a negative distance, is pushed out.
btScalar push_speed(btScalar distance, btScalar dt) {
  return std::min(-distance * kRecoveredPerStep / dt, kMaxPushSpeed);
}

/// What a row measures of these velocities.
btScalar speed_along(const btSolverConstraint& row, const btVector3& linear_a, const btVector3& angular_a,
                     const btVector3& linear_b, const btVector3& angular_b) {
  return row.m_contactNormal1.dot(linear_a) + row.m_relpos1CrossNormal.dot(angular_a) +
         row.m_contactNormal2.dot(linear_b) + row.m_relpos2CrossNormal.dot(angular_b);
}

/// Calls `visit(joint, row, index of the row within its joint)` for the rows of all joints.
template <typename Visit>
void for_each_joint_row(btConstraintArray& rows, Visit&& visit) {
  const void* last = nullptr;
  std::size_t index = 0;
  for (int i = 0; i < rows.size(); ++i) {
    index = rows[i].m_originalContactPoint == last ? index + 1 : 0;
    last = rows[i].m_originalContactPoint;
    // The engine makes no other kind of constraint.
    auto& joint = *static_cast<BulletJoint*>(static_cast<btTypedConstraint*>(rows[i].m_originalContactPoint));
    visit(joint, rows[i], index);
  }
}

}  // namespace

/// Bullet does not set up rows that hardly move their bodies.
void BulletSolver::set_up_heavy_row(btSolverConstraint& row, btScalar target) {
  const btSolverBody& a = m_tmpSolverBodyPool[row.m_solverBodyIdA];
  const btSolverBody& b = m_tmpSolverBodyPool[row.m_solverBodyIdB];
  const btScalar response = speed_along(row, row.m_contactNormal1 * a.internalGetInvMass(), row.m_angularComponentA,
                                        row.m_contactNormal2 * b.internalGetInvMass(), row.m_angularComponentB);
  if (!(response > 0)) return;
  row.m_jacDiagABInv = 1 / response;
  row.m_rhs = row.m_jacDiagABInv * (target - speed_along(row, a.m_linearVelocity + a.m_externalForceImpulse,
                                                         a.m_angularVelocity + a.m_externalTorqueImpulse,
                                                         b.m_linearVelocity + b.m_externalForceImpulse,
                                                         b.m_angularVelocity + b.m_externalTorqueImpulse));
}

void BulletSolver::reserve_joints(std::size_t bodies, std::size_t joints) {
  constexpr std::size_t kMostRows = 6;
  relaxed_joints_.reserve(kMostRows * joints);
  motor_rows_.reserve(kMostRows * joints);
  locked_.reserve(joints);
  forest_.reserve(bodies + 1, joints);  // Bullet adds one for all that is fixed
}

void BulletSolver::convertJoints(btTypedConstraint** joints, int joint_count, const btContactSolverInfo& info) {
  btSequentialImpulseConstraintSolver::convertJoints(joints, joint_count, info);
  relaxed_joints_.clear(), locked_.clear(), motor_rows_.clear();
  int at = 0;
  for_each_joint_row(
      m_tmpSolverNonContactConstraintPool, [&](BulletJoint& joint, btSolverConstraint& row, std::size_t index) {
        if (row.m_jacDiagABInv == 0) set_up_heavy_row(row, joint.targets[index]);
        relaxed_joints_.push_back({row.m_rhs - joint.bias[index] * row.m_jacDiagABInv, row.m_jacDiagABInv});
        row.m_appliedImpulse = std::clamp(joint.impulses[index], row.m_lowerLimit, row.m_upperLimit);
        apply(m_tmpSolverBodyPool[row.m_solverBodyIdA], m_tmpSolverBodyPool[row.m_solverBodyIdB], row,
              row.m_appliedImpulse);
        if (index == 0) locked_.push_back({at, joint.locked_rows()});
        if (index >= static_cast<std::size_t>(joint.locked_rows())) motor_rows_.push_back(at);
        ++at;
      });
  forest_.factor(locked_, m_tmpSolverNonContactConstraintPool, m_tmpSolverBodyPool);
}

void BulletSolver::convertContacts(btPersistentManifold** manifolds, int manifold_count,
                                   const btContactSolverInfo& info) {
  // How bodies bounce and what they start from is set below.
  btContactSolverInfo quiet = info;
  quiet.m_restitutionVelocityThreshold = std::numeric_limits<btScalar>::max();
  quiet.m_solverMode &= ~SOLVER_USE_WARMSTARTING;
  lighten_heavy_bodies();
  btSequentialImpulseConstraintSolver::convertContacts(manifolds, manifold_count, quiet);
  restore_heavy_bodies();
  relaxed_contacts_.clear();
  for (int i = 0; i < m_tmpSolverContactConstraintPool.size(); ++i) {
    btSolverConstraint& contact = m_tmpSolverContactConstraintPool[i];
    const auto* point = static_cast<const btManifoldPoint*>(contact.m_originalContactPoint);
    contact.m_appliedImpulse = point->m_appliedImpulse;
    apply(m_tmpSolverBodyPool[contact.m_solverBodyIdA], m_tmpSolverBodyPool[contact.m_solverBodyIdB], contact,
          contact.m_appliedImpulse);
    if (point->m_combinedRestitution > 0) bounce(contact, *point, info);
    relaxed_contacts_.push_back({contact.m_rhs, contact.m_jacDiagABInv});
    if (point->getDistance() < 0) soften_contact(contact, point->getDistance(), info.m_timeStep);
    btSolverConstraint* rows = &m_tmpSolverContactFrictionConstraintPool[contact.m_frictionIndex];
    rows[0].m_appliedImpulse = point->m_appliedImpulseLateral1;
    rows[1].m_appliedImpulse = point->m_appliedImpulseLateral2;
    for (int k = 0; k < 2; ++k) {
      apply(m_tmpSolverBodyPool[rows[k].m_solverBodyIdA], m_tmpSolverBodyPool[rows[k].m_solverBodyIdB], rows[k],
            rows[k].m_appliedImpulse);
    }
  }
  row_count_ = m_tmpSolverNonContactConstraintPool.size() + m_tmpSolverContactConstraintPool.size() +
               m_tmpSolverContactFrictionConstraintPool.size() + m_tmpSolverContactRollingFrictionConstraintPool.size();
}

void BulletSolver::lighten_heavy_bodies() {
  heavy_.clear();
  for (int i = 0; i < m_tmpSolverBodyPool.size(); ++i) {
    btSolverBody& body = m_tmpSolverBodyPool[i];
    const btVector3 inverse_mass = body.internalGetInvMass();
    if (inverse_mass.x() == 0 || !inverse_mass.fuzzyZero()) continue;
    heavy_.push_back({i, inverse_mass});
    body.internalSetInvMass(btVector3(1, 1, 1));
  }
}

void BulletSolver::restore_heavy_bodies() {
  for (const HeavyBody& heavy : heavy_) m_tmpSolverBodyPool[heavy.body].internalSetInvMass(heavy.inverse_mass);
}

// Within a step a body falls on after it has met the other, or is turned back before it has; and it gains or loses
// speed on the way. What it hits with and leaves with is therefore counted where the surfaces meet: v² ± 2 a s. Bullet
// takes the speed at the end of the step, and a ball that should come back to where it fell from climbs higher every
// time.
void BulletSolver::bounce(btSolverConstraint& row, const btManifoldPoint& point, const btContactSolverInfo& info) {
  const btSolverBody& a = m_tmpSolverBodyPool[row.m_solverBodyIdA];
  const btSolverBody& b = m_tmpSolverBodyPool[row.m_solverBodyIdB];
  const btScalar approach =
      -speed_along(row, a.m_linearVelocity, a.m_angularVelocity, b.m_linearVelocity, b.m_angularVelocity);
  const btScalar gain = -speed_along(row, a.m_externalForceImpulse, a.m_externalTorqueImpulse, b.m_externalForceImpulse,
                                     b.m_externalTorqueImpulse);
  const btScalar dt = info.m_timeStep, acceleration = gain / dt, gap = point.getDistance();
  if (approach <= 0 || (approach + gain) * dt <= gap) return;  // leaves already, or does not arrive
  const btScalar impact_squared = approach * approach + 2 * acceleration * gap;
  const btScalar threshold = info.m_restitutionVelocityThreshold;
  if (impact_squared <= threshold * threshold) return;
  const btScalar leaving_squared = point.m_combinedRestitution * point.m_combinedRestitution * impact_squared;
  // The speed u that it has at the end of the step at gap₀ + u dt, where gap₀ is what is left of an overlap.
  const btScalar start = gap < 0 ? gap + dt * push_speed(gap, dt) : gap;
  const btScalar under_root = gain * gain + leaving_squared - 2 * acceleration * start;
  const btScalar target = std::sqrt(std::max(btScalar(0), under_root)) - gain;
  row.m_rhs = (std::max(btScalar(0), target) + approach + gain) * row.m_jacDiagABInv;
}

// At rest a contact gives way by the same depth whatever the bodies, 0.28 mm at 1/60 s. Thin bodies have less to give:
// theirs is a share of their thickness. Cutting softness down by the load as well, tried first, let a body of 100 times
// the mass lie on a light one with 100 iterations, but with 10 it was thrown off, which is worse than sinking in.
void BulletSolver::soften_contact(btSolverConstraint& row, btScalar distance, btScalar dt) {
  const btScalar push = push_speed(distance, dt);
  const btScalar yielding = kImpulseScale / kMassScale * std::min(btScalar(1), thickness(row) / kFullySoft);
  const btScalar mass_scale = 1 / (1 + yielding);
  row.m_rhs = mass_scale * (row.m_rhs + push * row.m_jacDiagABInv);
  row.m_jacDiagABInv *= mass_scale;
  row.m_cfm = yielding * mass_scale;
}

btScalar BulletSolver::thickness(const btSolverConstraint& row) const {
  btScalar least = std::numeric_limits<btScalar>::max();
  for (const int id : {row.m_solverBodyIdA, row.m_solverBodyIdB}) {
    const btSolverBody& body = m_tmpSolverBodyPool[id];
    if (body.m_originalBody && !body.m_originalBody->isStaticOrKinematicObject()) {
      least = std::min(least, 2 * shape_of(*body.m_originalBody).smallest_half_extent);
    }
  }
  return least;
}

void BulletSolver::relax_rows() {
  for (int i = 0; i < m_tmpSolverContactConstraintPool.size(); ++i) {
    btSolverConstraint& row = m_tmpSolverContactConstraintPool[i];
    row.m_rhs = relaxed_contacts_[static_cast<std::size_t>(i)].rhs;
    row.m_jacDiagABInv = relaxed_contacts_[static_cast<std::size_t>(i)].effective_mass;
    row.m_cfm = 0;
  }
  for (int i = 0; i < m_tmpSolverNonContactConstraintPool.size(); ++i) {
    m_tmpSolverNonContactConstraintPool[i].m_rhs = relaxed_joints_[static_cast<std::size_t>(i)].rhs;
  }
}

btScalar BulletSolver::solveGroupCacheFriendlyIterations(btCollisionObject**, int, btPersistentManifold**, int,
                                                         btTypedConstraint**, int, const btContactSolverInfo& info,
                                                         btIDebugDraw*) {
  const int relaxing = (info.m_numIterations + 2) / 3, pushing = info.m_numIterations - relaxing;
  if (partner_) {
    take_turn(&RowPartner::begin);
    const int sweeps = (pushing + kPartnerRounds - 1) / kPartnerRounds;
    for (int i = 0; i < kPartnerRounds * sweeps; ++i) {
      if (i % sweeps == 0) take_turn(&RowPartner::round);
      sweep();
    }
    take_turn(&RowPartner::end);
  } else {
    for (int i = 0; i < pushing; ++i) sweep();
  }
  // The difference between the velocities that move the bodies and those that remain goes where Bullet keeps its split
  // impulses: it is added to the positions when the solve ends.
  for (int i = 0; i < m_tmpSolverBodyPool.size(); ++i) {
    btSolverBody& body = m_tmpSolverBodyPool[i];
    body.internalGetPushVelocity() = body.internalGetDeltaLinearVelocity();
    body.internalGetTurnVelocity() = body.internalGetDeltaAngularVelocity();
  }
  relax_rows();
  for (int i = 0; i < relaxing; ++i) sweep();
  for (int i = 0; i < m_tmpSolverBodyPool.size(); ++i) {
    btSolverBody& body = m_tmpSolverBodyPool[i];
    body.internalGetPushVelocity() -= body.internalGetDeltaLinearVelocity();
    body.internalGetTurnVelocity() -= body.internalGetDeltaAngularVelocity();
  }
  return 0;
}

void BulletSolver::take_turn(void (RowPartner::*turn)(std::span<RigidBodyMotion>)) {
  motions_.resize(partner_bodies_.size());
  const auto solver_body = [&](std::size_t i) -> btSolverBody& {
    return m_tmpSolverBodyPool[partner_bodies_[i]->getCompanionId()];
  };
  for (std::size_t i = 0; i < motions_.size(); ++i) {
    btSolverBody& solved = solver_body(i);
    // Gravity and forces of this substep wait in the external impulses.
    motions_[i] =
        motion_of(*partner_bodies_[i],
                  solved.m_linearVelocity + solved.m_externalForceImpulse + solved.internalGetDeltaLinearVelocity(),
                  solved.m_angularVelocity + solved.m_externalTorqueImpulse + solved.internalGetDeltaAngularVelocity());
  }
  (partner_->*turn)(motions_);
  for (std::size_t i = 0; i < motions_.size(); ++i) {
    btSolverBody& solved = solver_body(i);
    solved.internalGetDeltaLinearVelocity() =
        to_bullet(motions_[i].velocity) - solved.m_linearVelocity - solved.m_externalForceImpulse;
    solved.internalGetDeltaAngularVelocity() =
        to_bullet(motions_[i].angular_velocity) - solved.m_angularVelocity - solved.m_externalTorqueImpulse;
  }
}

btScalar BulletSolver::solveGroupCacheFriendlyFinish(btCollisionObject** bodies, int body_count,
                                                     const btContactSolverInfo& info) {
  for_each_joint_row(m_tmpSolverNonContactConstraintPool,
                     [](BulletJoint& joint, btSolverConstraint& row, std::size_t index) {
                       joint.impulses[index] = row.m_appliedImpulse;
                     });
  return btSequentialImpulseConstraintSolver::solveGroupCacheFriendlyFinish(bodies, body_count, info);
}

void BulletSolver::sweep() {
  for (const int row : motor_rows_) solve_row(m_tmpSolverNonContactConstraintPool[row]);
  forest_.solve(m_tmpSolverNonContactConstraintPool, m_tmpSolverBodyPool);
  sweep_contacts();
  sweep_friction();
  sweep_rolling_friction();
}

void BulletSolver::sweep_contacts() {
  for (int i = 0; i < m_tmpSolverContactConstraintPool.size(); ++i) {
    const btSolverConstraint& row = m_tmpSolverContactConstraintPool[i];
    resolveSingleConstraintRowLowerLimit(m_tmpSolverBodyPool[row.m_solverBodyIdA],
                                         m_tmpSolverBodyPool[row.m_solverBodyIdB], row);
  }
}

void BulletSolver::solve_friction(btSolverConstraint* rows, btScalar bound) {
  btSolverBody& a = m_tmpSolverBodyPool[rows[0].m_solverBodyIdA];
  btSolverBody& b = m_tmpSolverBodyPool[rows[0].m_solverBodyIdB];
  // Both directions together, then back onto the cone along its radius. Bounding one by what the other leaves, tried
  // first, let opposite impulses sideways persist in a sliding box and weaken its friction by 1 %.
  Float4 linear_a = load(a.internalGetDeltaLinearVelocity()), angular_a = load(a.internalGetDeltaAngularVelocity());
  Float4 linear_b = load(b.internalGetDeltaLinearVelocity()), angular_b = load(b.internalGetDeltaAngularVelocity());
  btScalar wanted[2];
  for (int k = 0; k < 2; ++k) {
    const btSolverConstraint& row = rows[k];
    const Float4 speed = load(row.m_contactNormal1) * linear_a + load(row.m_relpos1CrossNormal) * angular_a +
                         load(row.m_contactNormal2) * linear_b + load(row.m_relpos2CrossNormal) * angular_b;
    wanted[k] = row.m_appliedImpulse + row.m_rhs - (speed[0] + speed[1] + speed[2]) * row.m_jacDiagABInv;
  }
  const btScalar size = std::sqrt(wanted[0] * wanted[0] + wanted[1] * wanted[1]);
  const btScalar scale = size > bound ? bound / size : 1;
  const Float4 inverse_mass_a = load(a.internalGetInvMass()), inverse_mass_b = load(b.internalGetInvMass());
  for (int k = 0; k < 2; ++k) {
    btSolverConstraint& row = rows[k];
    const btScalar impulse = scale * wanted[k];
    const btScalar change = impulse - row.m_appliedImpulse;
    row.m_appliedImpulse = impulse;
    linear_a += load(row.m_contactNormal1) * inverse_mass_a * change;
    angular_a += load(row.m_angularComponentA) * change;
    linear_b += load(row.m_contactNormal2) * inverse_mass_b * change;
    angular_b += load(row.m_angularComponentB) * change;
  }
  store(a.internalGetDeltaLinearVelocity(), linear_a), store(a.internalGetDeltaAngularVelocity(), angular_a);
  store(b.internalGetDeltaLinearVelocity(), linear_b), store(b.internalGetDeltaAngularVelocity(), angular_b);
}

void BulletSolver::sweep_friction() {
  for (int i = 0; i < m_tmpSolverContactConstraintPool.size(); ++i) {
    const btSolverConstraint& contact = m_tmpSolverContactConstraintPool[i];
    btSolverConstraint* rows = &m_tmpSolverContactFrictionConstraintPool[contact.m_frictionIndex];
    const btScalar bound = rows[0].m_friction * contact.m_appliedImpulse;
    if (bound > 0 || rows[0].m_appliedImpulse != 0 || rows[1].m_appliedImpulse != 0) solve_friction(rows, bound);
  }
}

void BulletSolver::sweep_rolling_friction() {
  for (int i = 0; i < m_tmpSolverContactRollingFrictionConstraintPool.size(); ++i) {
    btSolverConstraint& row = m_tmpSolverContactRollingFrictionConstraintPool[i];
    // Bullet's friction coefficient of these rows is a length: moment per normal force.
    const btScalar bound = row.m_friction * m_tmpSolverContactConstraintPool[row.m_frictionIndex].m_appliedImpulse;
    row.m_lowerLimit = -bound;
    row.m_upperLimit = bound;
    solve_row(row);
  }
}

}  // namespace pliant
