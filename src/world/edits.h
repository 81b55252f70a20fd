// Edits as plain data: queued by the public calls, carried out in order by `commit_edits`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "layered/layered_body.h"
#include "particle/particle_model.h"
#include "pliant/defs.h"
#include "pliant/ids.h"
#include "rigid/rigid_shape.h"
#include "solid/solid_body.h"

namespace pliant {
namespace edit {

struct AddBody {
  BodyId id{};
  std::shared_ptr<const RigidDef> def{};
  std::shared_ptr<const RigidShape> shape{};
};
struct AddSolid {
  BodyId id{};
  mutable std::unique_ptr<SolidBody> body{};  ///< made when the solid was added, taken when it is committed
};
struct AddParticle {
  BodyId id{};
  std::shared_ptr<const ParticleDef> def{};
  std::shared_ptr<const ParticleModel> model{};
};
struct AddLayered {
  BodyId id{};
  mutable std::unique_ptr<LayeredBody> body{};  ///< as `AddSolid`
};
struct AddAnchor {
  AnchorId id{};
  std::shared_ptr<const AnchorDef> def{};
  std::vector<std::uint32_t> nodes{};
  std::vector<std::uint32_t> to_nodes{};  ///< none: to a rigid body, to the world, or to any point
};
struct RemoveAnchor {
  std::uint32_t slot;
};
/// Something done to some nodes of a body.
struct Nodes {
  enum class What { Hold, Release, DriveTo, DriveAt, Force, SurfaceLoad, Strength };
  std::uint32_t slot;
  What what;
  Transform transform{};  ///< DriveTo: world_from_mesh
  Vec3 vector{};          ///< DriveAt: m/s; Force: N; SurfaceLoad: the traction, N/m²
  float number = 0;       ///< SurfaceLoad: the pressure, Pa; Strength: factor
  std::vector<std::uint32_t> nodes{};
};
struct SetNodes {
  std::uint32_t slot;
  std::vector<Vec3> positions{}, velocities{};
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
struct SetWind {
  Vec3 wind{};
};
struct SetAwake {
  std::uint32_t slot;
  bool awake;
};
struct Release {
  std::uint32_t slot;
};

}  // namespace edit

using Edit =
    std::variant<edit::AddBody, edit::AddSolid, edit::AddParticle, edit::AddLayered, edit::AddAnchor,
                 edit::RemoveAnchor, edit::Nodes, edit::SetNodes, edit::RemoveBody, edit::AddJoint, edit::RemoveJoint,
                 edit::SetTransform, edit::SetVelocity, edit::MoveTo, edit::Push, edit::Explode, edit::SetMotor,
                 edit::SetNumber, edit::SetFilter, edit::SetGravity, edit::SetWind, edit::SetAwake, edit::Release>;

}  // namespace pliant
