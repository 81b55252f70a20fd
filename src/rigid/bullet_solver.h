// Bullet's sequential impulse solver, made calm and isotropic.
//
// Three things differ from Bullet's own:
//
// * Friction obeys Coulomb's cone. Bullet bounds each of two directions by μλ on its own: a pyramid, up to 41 % too
//   strong along its diagonals. Here both share one bound, and the first direction points where the contact would
//   slide.
// * All impulses of the last step are the start of this one; Bullet forgets those of friction and joints.
// * Overlap and joint errors are pushed out by soft rows, and the push is then relaxed away (Catto, "Soft constraints",
//   GDC 2011, and "Solver2D", 2024): the first sweeps find the velocities that move the bodies, with the push; the rest
//   find those that remain, without it. Bullet's split impulses, tried first, lifted a stack of ten boxes by a
//   centimetre and set it swaying; pushing through the velocities themselves made it worse.
//
// It is also the place where other kinds of rows take their turn (document 004): a round of theirs, a few
// sweeps of Bullet's.
#pragma once

#include <vector>

#include <BulletCollision/NarrowPhaseCollision/btManifoldPoint.h>
#include <BulletDynamics/ConstraintSolver/btSequentialImpulseConstraintSolver.h>

#include "rigid/joint_forest.h"
#include "rigid/row_partner.h"

namespace pliant {

class BulletSolver : public btSequentialImpulseConstraintSolver {
 public:
  BT_DECLARE_ALIGNED_ALLOCATOR();

  /// Turns that the rows of a partner get; the rigid sweeps are shared out between them.
  static constexpr int kPartnerRounds = 2;

  /// Rows of all kinds in the last group solved.
  /// So many bodies with joints can be solved without allocation, in this solver's own code.
  void reserve_joints(std::size_t bodies, std::size_t joints);
  int row_count() const { return row_count_; }
  /// The next groups are solved in turn with the rows of a partner; `bodies` are those of its slots, all of them in the
  /// group. Null: alone.
  void set_partner(RowPartner* partner, std::span<btRigidBody* const> bodies) {
    partner_ = partner;
    partner_bodies_.assign(bodies.begin(), bodies.end());
  }

 protected:
  void convertJoints(btTypedConstraint** joints, int joint_count, const btContactSolverInfo& info) override;
  void convertContacts(btPersistentManifold** manifolds, int manifold_count, const btContactSolverInfo& info) override;
  btScalar solveGroupCacheFriendlyIterations(btCollisionObject** bodies, int body_count,
                                             btPersistentManifold** manifolds, int manifold_count,
                                             btTypedConstraint** joints, int joint_count,
                                             const btContactSolverInfo& info, btIDebugDraw* drawer) override;
  btScalar solveGroupCacheFriendlyFinish(btCollisionObject** bodies, int body_count,
                                         const btContactSolverInfo& info) override;

 private:
  /// What a row is when it no longer pushes.
  struct RelaxedRow {
    btScalar rhs, effective_mass;
  };

  /// Bullet leaves out rows of bodies of more than 1e7 kg. Those of joints are set up here; for those of contacts the
  /// bodies pass for light ones meanwhile.
  void set_up_heavy_row(btSolverConstraint& row, btScalar target);
  void lighten_heavy_bodies();
  void restore_heavy_bodies();
  void bounce(btSolverConstraint& row, const btManifoldPoint& point, const btContactSolverInfo& info);
  void soften_contact(btSolverConstraint& row, btScalar distance, btScalar dt);
  /// Of the smaller of the bodies that move, m.
  btScalar thickness(const btSolverConstraint& row) const;
  void relax_rows();
  /// Lets the partner change the velocities of its bodies.
  void take_turn(void (RowPartner::*turn)(std::span<RigidBodyMotion>));
  void sweep();
  void sweep_contacts();
  void sweep_friction();
  void sweep_rolling_friction();
  /// The two friction rows of a contact whose normal impulse allows `bound`.
  void solve_friction(btSolverConstraint* rows, btScalar bound);
  void solve_row(btSolverConstraint& row) {
    resolveSingleConstraintRowGeneric(m_tmpSolverBodyPool[row.m_solverBodyIdA],
                                      m_tmpSolverBodyPool[row.m_solverBodyIdB], row);
  }

  std::vector<RelaxedRow> relaxed_contacts_, relaxed_joints_;
  std::vector<JointForest::Joint> locked_;  ///< the rows of each joint that lock directions
  std::vector<int> motor_rows_;             ///< all other rows of joints: motors and limits
  JointForest forest_;
  struct HeavyBody {
    int body;
    btVector3 inverse_mass;
  };
  std::vector<HeavyBody> heavy_;
  int row_count_ = 0;
  RowPartner* partner_ = nullptr;
  std::vector<btRigidBody*> partner_bodies_;
  std::vector<RigidBodyMotion> motions_;
};

}  // namespace pliant
