// All four joints as rows of Bullet's solver.
//
// Bullet's own joints differ in their signs, measure angles backwards, bounce at limits and forget their impulses from
// one step to the next. One class of our own has the same conventions for all: positions and speeds are those of b
// relative to a, limits are met exactly (a joint may approach its limit but not pass it within a step), and the solver
// starts from the impulses of the last step.
#pragma once

#include <array>
#include <optional>

#include <BulletDynamics/ConstraintSolver/btTypedConstraint.h>

#include "pliant/defs.h"

namespace pliant {

class BulletJoint : public btTypedConstraint {
 public:
  static constexpr int kMaxRows = 8;  ///< five locked directions, a motor, two limits; or six locked directions

  /// The joint's frame (its origin at the anchor, its z axis along the axis) in each body's mass frame.
  BulletJoint(const JointDef& def, btRigidBody& a, btRigidBody& b, const btTransform& a_from_joint,
              const btTransform& b_from_joint);

  /// rad (within ± π) or m, of b relative to a along the axis; 0 for joints without one.
  float position() const;
  float speed() const;
  /// Where the joint acts on b, world; b's centre of mass for a fixed joint.
  btVector3 anchor_on_b() const;

  /// From each body's centre of mass to where the joint holds it, in its own mass frame.
  const btVector3& arm_on_a() const { return a_from_joint_.getOrigin(); }
  const btVector3& arm_on_b() const { return b_from_joint_.getOrigin(); }

  void set_motor(const Motor& motor) { motor_ = motor; }
  const std::optional<Motor>& motor() const { return motor_; }

  /// The first so many of its rows lock directions; the rest are a motor and limits.
  int locked_rows() const;

  /// Impulses of the last solve, row by row.
  std::array<float, kMaxRows> impulses{};
  /// Each row's target speed, and the part of it that only mends an error; set by `getInfo2`.
  std::array<float, kMaxRows> targets{}, bias{};

  void getInfo1(btConstraintInfo1* info) override;
  void getInfo2(btConstraintInfo2* info) override;
  void setParam(int, btScalar, int) override {}
  btScalar getParam(int, int) const override { return 0; }

 private:
  struct Rows;
  void add_point_rows(Rows& rows, const btTransform& joint_a, const btTransform& joint_b);
  void add_slide_rows(Rows& rows, const btTransform& joint_a, const btTransform& joint_b);
  void add_alignment_rows(Rows& rows, const btTransform& joint_a, const btTransform& joint_b);
  void add_axis_rows(Rows& rows, const btTransform& joint_a, const btTransform& joint_b);

  JointKind kind_;
  std::optional<Limit> limit_;
  std::optional<Motor> motor_;
  btTransform a_from_joint_, b_from_joint_;
  btJointFeedback feedback_;

 public:
  const btJointFeedback& feedback() const { return feedback_; }
  void clear_feedback();
  /// What a row pushes its bodies with, for a solver that is not Bullet's.
  void add_feedback(const btVector3& linear, const btVector3& angular_a, const btVector3& angular_b, btScalar force);
};

}  // namespace pliant
