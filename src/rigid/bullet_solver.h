// Bullet's sequential impulse solver with friction that obeys Coulomb's cone.
//
// Bullet bounds each of two friction directions by μλ on its own: a pyramid, up to 41 % too strong along its diagonals
// and not warm started. Here both share one bound, the first direction points where the contact would slide, and the
// impulses of the last step are the start of this one. It is also the place where later kinds of rows take their turn
// (document 004; DESIGN 6.5): one sweep of Bullet's rows, one sweep of ours.
#pragma once

#include <BulletDynamics/ConstraintSolver/btSequentialImpulseConstraintSolver.h>

namespace pliant {

class BulletSolver : public btSequentialImpulseConstraintSolver {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();

  /// Rows of all kinds in the last group solved.
  int row_count() const { return row_count_; }

 protected:
  void convertJoints(btTypedConstraint** joints, int joint_count, const btContactSolverInfo& info) override;
  void convertContacts(btPersistentManifold** manifolds, int manifold_count, const btContactSolverInfo& info) override;
  btScalar solveSingleIteration(int iteration, btCollisionObject** bodies, int body_count,
                                btPersistentManifold** manifolds, int manifold_count, btTypedConstraint** joints,
                                int joint_count, const btContactSolverInfo& info, btIDebugDraw* drawer) override;
  btScalar solveGroupCacheFriendlyFinish(btCollisionObject** bodies, int body_count,
                                         const btContactSolverInfo& info) override;

 private:
  btScalar sweep_joints(int iteration);
  btScalar sweep_contacts();
  btScalar sweep_friction();
  btScalar sweep_rolling_friction();
  btScalar solve_friction_row(btSolverConstraint& row, btScalar bound_squared, btScalar other_impulse);

  int row_count_ = 0;
};

}  // namespace pliant
