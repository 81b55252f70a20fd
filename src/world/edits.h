// Edits as plain data: queued by the public calls, carried out in order by `commit_edits`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "pliant/defs.h"
#include "pliant/ids.h"
#include "rigid/rigid_shape.h"

namespace pliant {
namespace edit {

struct AddBody {
  BodyId id{};
  std::shared_ptr<const RigidDef> def{};
  std::shared_ptr<const RigidShape> shape{};
};
struct RemoveBody {
  std::uint32_t slot;
};
struct AddJoint {
  JointId id{};
  std::shared_ptr<const JointDef> def{};
};
struct RemoveJoint {
  std::uint32_t slot;
};
struct SetTransform {
  std::uint32_t slot;
  Transform world_from_body{};
};
struct SetVelocity {
  std::uint32_t slot;
  Vec3 velocity{}, angular_velocity{};
};
struct MoveTo {
  std::uint32_t slot;
  Transform world_from_body{};
};
/// A force over the next step, or an impulse at once.
struct Push {
  std::uint32_t slot;
  Vec3 linear{}, angular{};
  std::optional<Vec3> point{};  ///< world; where `linear` acts, else the centre of mass
  bool is_impulse = false;
};
struct Explode {
  Explosion explosion{};
};
struct SetMotor {
  std::uint32_t joint_slot;
  Motor motor{};
};
struct SetNumber {
  enum class What { Friction, Restitution, GravityScale };
  std::uint32_t slot;
  What what;
  float value;
};
struct SetFilter {
  std::uint32_t slot;
  CollisionFilter filter{};
};
struct SetGravity {
  Vec3 gravity{};
};
struct SetAwake {
  std::uint32_t slot;
  bool awake;
};
struct Release {
  std::uint32_t slot;
};

}  // namespace edit

using Edit = std::variant<edit::AddBody, edit::RemoveBody, edit::AddJoint, edit::RemoveJoint, edit::SetTransform,
                          edit::SetVelocity, edit::MoveTo, edit::Push, edit::Explode, edit::SetMotor, edit::SetNumber,
                          edit::SetFilter, edit::SetGravity, edit::SetAwake, edit::Release>;

}  // namespace pliant
