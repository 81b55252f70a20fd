// Rigid bodies and their contacts, as an island that another engine solves takes them and gives them back.
#pragma once

#include <cstdint>
#include <vector>

#include "math/rigid_body_motion.h"
#include "pliant/ids.h"
#include "pliant/math.h"

namespace pliant {

struct SharedRigid {
  std::uint32_t slot = 0;
  BodyId id{};
  RigidBodyMotion motion{};                           ///< as it would move alone; then, as it moves
  Vec3 velocity_before{}, angular_velocity_before{};  ///< when the substep began
};

/// What the rows of such an island gave a rigid body in a substep.
struct RigidPush {
  BodyId body;
  Vec3 impulse, moment;  ///< N s, N m s about its centre of mass
};

/// A point where two rigid bodies touch, of which at least one gives way.
struct SharedPoint {
  std::uint32_t a = 0, b = 0;             ///< slots
  bool a_moves = false, b_moves = false;  ///< by forces
  Vec3 position{}, normal{};              ///< world; the normal from b towards a
  Vec3 surface_velocity{};                ///< of the one that does not give way, there
  float gap = 0, friction = 0;
  float bounce = 0;                       ///< m/s, at which they part, for bodies that bounce
  Vec3 impulse{};                         ///< on a: of the last substep; then, of this one
  std::uint32_t manifold = 0, point = 0;  ///< where it came from
};

/// A row of a joint between two rigid bodies: the speed linear·(v_b − v_a) + angular_b·ω_b − angular_a·ω_a shall be
/// `target`, by an impulse between `least` and `most`.
struct SharedJointRow {
  std::uint32_t a = 0, b = 0;
  bool a_moves = false, b_moves = false;  ///< by forces
  Vec3 linear{}, angular_a{}, angular_b{};
  float target = 0;  ///< less what a body that does not give way moves along the row
  float least = 0, most = 0;
  float impulse = 0;                   ///< of the last substep; then, of this one
  std::uint32_t joint = 0, index = 0;  ///< where it came from
};

/// Rigid bodies of islands that another engine solves, with all that acts between them.
struct SharedRows {
  std::vector<SharedRigid> bodies;  ///< ascending slots
  std::vector<SharedPoint> points;
  std::vector<SharedJointRow> joints;
};

}  // namespace pliant
