#include "rigid/bullet_joint.h"

#include <algorithm>
#include <cmath>

#include <BulletDynamics/Dynamics/btRigidBody.h>

namespace pliant {
namespace {

constexpr btScalar kFollowedTurn = 0.2f;  ///< radians in a step
constexpr btScalar kUnbounded = 1e18f;    ///< larger than any impulse, and its square is still finite

int axis_rows(const std::optional<Limit>& limit, const std::optional<Motor>& motor) {
  return (limit ? 2 : 0) + (motor ? 1 : 0);
}

/// How far b is turned about the joint's z axis relative to a, in (−π, π].
btScalar turn_about_z(const btMatrix3x3& a, const btMatrix3x3& b) {
  const btVector3 x = b.getColumn(0);
  return std::atan2(x.dot(a.getColumn(1)), x.dot(a.getColumn(0)));
}

/// The rotation that takes a to b as axis times angle, world axes.
btVector3 rotation_from_to(const btMatrix3x3& a, const btMatrix3x3& b) {
  btQuaternion q;
  (b * a.transpose()).getRotation(q);
  if (q.w() < 0) q = -q;
  const btVector3 v(q.x(), q.y(), q.z());
  const btScalar sine = v.length();
  return sine < 1e-6f ? 2 * v : v * (2 * std::atan2(sine, q.w()) / sine);
}

/// The mean speed within `dt` that the end of an arm has because it goes along a circle, not along its tangent.
/// Without it every step takes (turn of the step)² of a pendulum's energy. Turns that the step cannot follow get less
/// of it: all of it keeps the energy of such a chain too, and then some, until links whirl.
btVector3 bend_of(const btVector3& arm, const btVector3& angular_velocity, btScalar dt) {
  const btScalar rate = angular_velocity.length(), angle = rate * dt;
  if (angle < 1e-4f) return btVector3(0, 0, 0);
  const btVector3 along = angular_velocity.cross(arm), inwards = angular_velocity.cross(along);
  const btScalar share = 1 / (1 + angle * angle / (kFollowedTurn * kFollowedTurn));
  return share * (along * (std::sin(angle) / angle - 1) + inwards * ((1 - std::cos(angle)) / (angle * rate)));
}

}  // namespace

/// Writes rows into Bullet's arrays. A row says: (velocity of b − velocity of a) along it shall be `target`.
struct BulletJoint::Rows {
  btConstraintInfo2& info;
  const btVector3& origin_a;
  const btVector3& origin_b;
  std::array<float, kMaxRows>&targets, &bias;
  int count = 0;

  /// Adds to the target of the row added last what is there only to mend an error.
  void correct(btScalar speed) {
    bias[static_cast<std::size_t>(count - 1)] = speed;
    targets[static_cast<std::size_t>(count - 1)] += speed;
    info.m_constraintError[(count - 1) * info.rowskip] += speed;
  }
  void add(const btVector3& linear, const btVector3& angular_a, const btVector3& angular_b, btScalar target,
           btScalar least, btScalar most) {
    targets[static_cast<std::size_t>(count)] = target;
    const int at = count++ * info.rowskip;
    for (int i = 0; i < 3; ++i) {
      info.m_J1linearAxis[at + i] = -linear[i];
      info.m_J2linearAxis[at + i] = linear[i];
      info.m_J1angularAxis[at + i] = -angular_a[i];
      info.m_J2angularAxis[at + i] = angular_b[i];
    }
    info.m_constraintError[at] = target;
    info.m_lowerLimit[at] = least;
    info.m_upperLimit[at] = most;
  }
  /// Points of a and b that are at one place in the world when the joint is intact.
  void add_point(const btVector3& direction, const btVector3& on_a, const btVector3& on_b, btScalar target,
                 btScalar least = -kUnbounded, btScalar most = kUnbounded) {
    add(direction, (on_a - origin_a).cross(direction), (on_b - origin_b).cross(direction), target, least, most);
  }
  void add_turn(const btVector3& axis, btScalar target, btScalar least = -kUnbounded, btScalar most = kUnbounded) {
    add(btVector3(0, 0, 0), axis, axis, target, least, most);
  }
};

BulletJoint::BulletJoint(const JointDef& def, btRigidBody& a, btRigidBody& b, const btTransform& a_from_joint,
                         const btTransform& b_from_joint)
    : btTypedConstraint(D6_CONSTRAINT_TYPE, a, b),
      kind_(def.kind),
      limit_(def.limit),
      motor_(def.motor),
      a_from_joint_(a_from_joint),
      b_from_joint_(b_from_joint) {
  clear_feedback();
  setJointFeedback(&feedback_);
}

void BulletJoint::clear_feedback() {
  feedback_.m_appliedForceBodyA = feedback_.m_appliedForceBodyB = btVector3(0, 0, 0);
  feedback_.m_appliedTorqueBodyA = feedback_.m_appliedTorqueBodyB = btVector3(0, 0, 0);
}

void BulletJoint::add_feedback(const btVector3& linear, const btVector3& angular_a, const btVector3& angular_b,
                               btScalar force) {
  feedback_.m_appliedForceBodyA -= linear * force, feedback_.m_appliedForceBodyB += linear * force;
  feedback_.m_appliedTorqueBodyA -= angular_a * force, feedback_.m_appliedTorqueBodyB += angular_b * force;
}

float BulletJoint::position() const {
  const btTransform joint_a = m_rbA.getCenterOfMassTransform() * a_from_joint_;
  const btTransform joint_b = m_rbB.getCenterOfMassTransform() * b_from_joint_;
  if (kind_ == JointKind::Hinge) return turn_about_z(joint_a.getBasis(), joint_b.getBasis());
  if (kind_ == JointKind::Slider) return joint_a.getBasis().getColumn(2).dot(joint_b.getOrigin() - joint_a.getOrigin());
  return 0;
}

float BulletJoint::speed() const {
  const btTransform joint_a = m_rbA.getCenterOfMassTransform() * a_from_joint_;
  const btVector3 axis = joint_a.getBasis().getColumn(2);
  if (kind_ == JointKind::Hinge) return axis.dot(m_rbB.getAngularVelocity() - m_rbA.getAngularVelocity());
  if (kind_ != JointKind::Slider) return 0;
  const btVector3 on_b = anchor_on_b();
  return axis.dot(m_rbB.getVelocityInLocalPoint(on_b - m_rbB.getCenterOfMassPosition()) -
                  m_rbA.getVelocityInLocalPoint(on_b - m_rbA.getCenterOfMassPosition()));
}

btVector3 BulletJoint::anchor_on_b() const { return m_rbB.getCenterOfMassTransform() * b_from_joint_.getOrigin(); }

int BulletJoint::locked_rows() const {
  switch (kind_) {
    case JointKind::Ball:
      return 3;
    case JointKind::Hinge:
    case JointKind::Slider:
      return 5;
    case JointKind::Fixed:
      return 6;
  }
  return 0;
}

void BulletJoint::getInfo1(btConstraintInfo1* info) {
  const bool has_axis = kind_ == JointKind::Hinge || kind_ == JointKind::Slider;
  info->m_numConstraintRows = locked_rows() + (has_axis ? axis_rows(limit_, motor_) : 0);
  info->nub = 6 - info->m_numConstraintRows;
}

void BulletJoint::getInfo2(btConstraintInfo2* info) {
  const btTransform& a = m_rbA.getCenterOfMassTransform();
  const btTransform& b = m_rbB.getCenterOfMassTransform();
  const btTransform joint_a = a * a_from_joint_;
  const btTransform joint_b = b * b_from_joint_;
  bias.fill(0);
  Rows rows{*info, a.getOrigin(), b.getOrigin(), targets, bias};
  if (kind_ == JointKind::Slider) {
    add_slide_rows(rows, joint_a, joint_b);
  } else {
    add_point_rows(rows, joint_a, joint_b);
  }
  if (kind_ != JointKind::Ball) add_alignment_rows(rows, joint_a, joint_b);
  if (kind_ == JointKind::Hinge || kind_ == JointKind::Slider) add_axis_rows(rows, joint_a, joint_b);
}

void BulletJoint::add_point_rows(Rows& rows, const btTransform& joint_a, const btTransform& joint_b) {
  const btScalar rate = rows.info.fps * rows.info.erp;
  const btVector3 apart = joint_b.getOrigin() - joint_a.getOrigin();
  const btScalar dt = 1 / rows.info.fps;
  const btVector3 bend = bend_of(joint_b.getOrigin() - rows.origin_b, m_rbB.getAngularVelocity(), dt) -
                         bend_of(joint_a.getOrigin() - rows.origin_a, m_rbA.getAngularVelocity(), dt);
  for (int i = 0; i < 3; ++i) {
    btVector3 direction(0, 0, 0);
    direction[i] = 1;
    rows.add_point(direction, joint_a.getOrigin(), joint_b.getOrigin(), -bend[i]);
    rows.correct(-rate * apart[i]);
  }
}

void BulletJoint::add_slide_rows(Rows& rows, const btTransform& joint_a, const btTransform& joint_b) {
  const btScalar rate = rows.info.fps * rows.info.erp;
  const btVector3 apart = joint_b.getOrigin() - joint_a.getOrigin();
  for (int i = 0; i < 2; ++i) {
    const btVector3 direction = joint_a.getBasis().getColumn(i);
    rows.add_point(direction, joint_b.getOrigin(), joint_b.getOrigin(), 0);
    rows.correct(-rate * direction.dot(apart));
  }
}

void BulletJoint::add_alignment_rows(Rows& rows, const btTransform& joint_a, const btTransform& joint_b) {
  const btScalar rate = rows.info.fps * rows.info.erp;
  const bool free_about_axis = kind_ == JointKind::Hinge;
  // A hinge may have turned by any angle: only what tilts its axis counts.
  const btVector3 error = free_about_axis ? joint_a.getBasis().getColumn(2).cross(joint_b.getBasis().getColumn(2))
                                          : rotation_from_to(joint_a.getBasis(), joint_b.getBasis());
  for (int i = 0; i < (free_about_axis ? 2 : 3); ++i) {
    const btVector3 axis = joint_a.getBasis().getColumn(i);
    rows.add_turn(axis, 0);
    rows.correct(-rate * axis.dot(error));
  }
}

void BulletJoint::add_axis_rows(Rows& rows, const btTransform& joint_a, const btTransform& joint_b) {
  const btVector3 axis = joint_a.getBasis().getColumn(2);
  const auto add = [&](btScalar target, btScalar least, btScalar most) {
    if (kind_ == JointKind::Hinge) {
      rows.add_turn(axis, target, least, most);
    } else {
      rows.add_point(axis, joint_b.getOrigin(), joint_b.getOrigin(), target, least, most);
    }
  };
  if (motor_) {
    const btScalar most = std::min(kUnbounded, motor_->strength / rows.info.fps);
    add(motor_->speed, -most, most);
  }
  if (limit_) {
    const btScalar at = position();
    // Inside the range: no faster than would just reach the limit. Outside: back by a part of the error.
    const auto add_limit = [&](btScalar distance, bool is_inside, btScalar least, btScalar most) {
      add(is_inside ? distance * rows.info.fps : 0, least, most);
      if (!is_inside) rows.correct(distance * rows.info.fps * rows.info.erp);
    };
    add_limit(limit_->lower - at, at > limit_->lower, 0, kUnbounded);
    add_limit(limit_->upper - at, at < limit_->upper, -kUnbounded, 0);
  }
}

}  // namespace pliant
