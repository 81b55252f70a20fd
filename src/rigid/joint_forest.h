// The locked directions of all joints of an island at once, exactly.
//
// Solved one by one, the joints of a chain with a heavy end pull each other's rows apart again: each sweep carries an
// impulse one link further, and a chain of twenty needs hundreds of sweeps. But joints and bodies form a tree, but for
// a few loops, and a tree is solved exactly in one pass from its leaves to its root and back (Featherstone 1987; in
// this form, with rows instead of joint coordinates, Baraff 1996). What hangs on a joint then acts as one articulated
// inertia, and neither the masses nor the number of the links matter.
//
// A joint that closes a loop is solved after the trees, by itself, its rows together.
#pragma once

#include <array>
#include <vector>

#include <BulletDynamics/ConstraintSolver/btSolverBody.h>
#include <BulletDynamics/ConstraintSolver/btSolverConstraint.h>

#include "math/cholesky6.h"

namespace pliant {

class JointForest {
 public:
  /// Rows [first, first + count) of the solver's, those of one joint that lock directions; count is 1 to 6.
  struct Joint {
    int first, count;
  };

  /// So many can be solved without allocation.
  void reserve(std::size_t bodies, std::size_t joints);
  /// Before each solve: `joints` in the order of their rows.
  void factor(const std::vector<Joint>& joints, const btConstraintArray& rows,
              const btAlignedObjectArray<btSolverBody>& bodies);
  /// Brings all joints of the trees to their targets, whatever the bodies' velocities, then loops one by one.
  void solve(btConstraintArray& rows, btAlignedObjectArray<btSolverBody>& bodies);

 private:
  /// What a joint's rows measure of the motion of one body, row by row.
  using Jacobian = std::array<Vector6, 6>;

  static constexpr int kNone = -1;

  /// A joint as an edge of a tree, or one that closes a loop.
  struct Edge {
    Joint joint{};
    int child = 0, parent = 0;  ///< solver bodies; kNone: fixed
    bool child_is_leaf = true;
    Jacobian on_child{}, on_parent{};
    Jacobian answers{};  ///< how the child, and all that hangs on it, moves for a unit impulse of each row
    Cholesky6 factor{};
    Vector6 residual{};
  };
  struct Body {
    int first_joint = 0;  ///< into `joints_of_`, up to where those of the next body begin
    bool is_placed = false;
    Cholesky6 inertia;  ///< of the body and all that hangs on it, about its centre of mass; then its factor
    Vector6 impulse, change;
  };

  void list_joints(const std::vector<Joint>& joints, const btConstraintArray& rows,
                   const btAlignedObjectArray<btSolverBody>& bodies);
  void grow_trees(const std::vector<Joint>& joints, const btConstraintArray& rows);
  void add_edge(const std::vector<Joint>& joints, const btConstraintArray& rows, int joint, int child);
  void grow_tree(const std::vector<Joint>& joints, const btConstraintArray& rows, std::size_t first_edge, int root);
  void factor_trees(const btAlignedObjectArray<btSolverBody>& bodies);
  void factor_loop(Edge& edge, const btConstraintArray& rows, const btAlignedObjectArray<btSolverBody>& bodies);
  Edge make_edge(Joint joint, const btConstraintArray& rows, int child, int parent) const;
  int body_of(int solver_body) const { return is_dynamic_[std::size_t(solver_body)] ? solver_body : kNone; }

  std::vector<Body> bodies_;  ///< by solver body
  std::vector<bool> is_dynamic_, is_used_;
  std::vector<int> joints_of_;
  std::vector<Edge> edges_;  ///< of the trees, those nearer to a root first
  std::vector<int> roots_;   ///< bodies that hang on nothing
  std::vector<Edge> loops_;
};

}  // namespace pliant
