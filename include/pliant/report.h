// What a step tells: its report, the events in it, and the contacts with their impulses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pliant/ids.h"
#include "pliant/math.h"
#include "pliant/result.h"

namespace pliant {

/// Where a body is and how it moves.
struct BodyState {
  Transform world_from_body{};  ///< the shape's origin
  Vec3 velocity{};              ///< of the centre of mass, m/s
  Vec3 angular_velocity{};      ///< world axes, rad/s
  Vec3 center_of_mass{};        ///< world, m
  Aabb bounds{};                ///< world, of the shape
  float mass = 0;               ///< kg; 0 for static and kinematic bodies
  bool awake = false;
  bool quarantined = false;
  float opacity = 1;  ///< less while a small piece fades (`SmallPieces`); a factor of the body's look
};

/// One point at which two bodies touched in a substep. A step of n substeps lists the contacts of all of them, so that
/// their impulses add up to what passed between the bodies.
struct Contact {
  BodyId a{}, b{};
  Vec3 position{};           ///< world, on the surface of b, m
  Vec3 normal{};             ///< unit, from b towards a
  float depth = 0;           ///< m; negative while there is still a gap
  float normal_impulse = 0;  ///< N s on a along `normal`, over the substep
  Vec3 friction_impulse{};   ///< N s on a, over the substep
};

/// Two bodies came to touch, or parted.
struct TouchEvent {
  BodyId a{}, b{};  ///< a < b
};
struct JointBreak {
  JointId joint{};
  float force = 0;  ///< N
};
/// Nodes of an anchor came loose.
struct AnchorBreak {
  AnchorId anchor{};
  float force = 0;        ///< N, on the node that was pulled most
  std::size_t nodes = 0;  ///< that let go
};
/// A cloth or rope tore at one place; a tear of several cells is as many of these.
struct Tear {
  BodyId body{};
  Vec3 position{};  ///< world, m
  float force = 0;  ///< N, of the yarn or rope that tore, averaged over the substep
};
/// A node of a solid came apart.
struct Crack {
  BodyId body{};
  Vec3 position{};   ///< world, m
  Vec3 normal{};     ///< unit, of the plane along which it split
  float area = 0;    ///< m², of the faces that opened, each counted once
  float energy = 0;  ///< J, elastic, in the tets around it when it split
};
/// A part of a solid came loose and is a body of its own from this step on.
struct BreakOff {
  BodyId body{};    ///< the new one
  BodyId parent{};  ///< what it was part of
  Vec3 position{};  ///< world, m, of its centre of mass
};
/// A small piece of a solid became a rigid body, or was taken away (`SmallPieces`). Its id is gone.
struct Retirement {
  BodyId piece{};
  BodyId rigid{};   ///< what it is from this step on; null where it was taken away
  Vec3 position{};  ///< world, m, of its centre of mass
};
/// A body became non-finite or left the simulable range; it was put back where the step began and frozen.
struct Quarantine {
  BodyId body{};
  std::string reason{};
};

/// Valid until the next step.
struct Events {
  std::span<const Contact> contacts{};
  std::span<const TouchEvent> touch_begins{};
  std::span<const TouchEvent> touch_ends{};
  std::span<const JointBreak> joint_breaks{};
  std::span<const AnchorBreak> anchor_breaks{};
  std::span<const Tear> tears{};
  std::span<const Crack> cracks{};
  std::span<const BreakOff> break_offs{};
  std::span<const Retirement> retirements{};
  std::span<const Quarantine> quarantines{};
  std::span<const BodyId> fell_asleep{};
  std::span<const BodyId> woke_up{};
};

/// The stages of `World::step`, in their order.
enum class Stage : std::uint8_t {
  CommitEdits,
  AdoptFragments,
  Predict,
  FindContacts,
  BuildRows,
  SolveIslands,
  Advance,
  SettleMaterials,
  Quarantine,
  RestIslands,
  Publish,
  Count
};
const char* stage_name(Stage stage);

struct StageTimes {
  double ms[static_cast<std::size_t>(Stage::Count)] = {};
  double total_ms = 0;
};

/// What happened in a step, in numbers.
struct StepReport {
  std::uint64_t step = 0;  ///< 1 for the first
  double time = 0;         ///< s, simulated, at the end of the step
  StageTimes times{};

  std::size_t bodies = 0, awake_bodies = 0;
  std::size_t nodes = 0, tets = 0;
  std::size_t rows = 0, contacts = 0, islands = 0;
  std::size_t fractures = 0;      ///< nodes of solids that came apart
  std::size_t cg_iterations = 0;  ///< of all solids, layered bodies and substeps
  /// Solves of solids and layered bodies that reached their limit of iterations before their tolerance.
  std::size_t unconverged_solids = 0;
  std::size_t quarantined = 0;  ///< bodies in quarantine now

  double kinetic_energy = 0, potential_energy = 0, elastic_energy = 0;  ///< J; potential relative to the origin
  double linear_momentum[3] = {}, angular_momentum[3] = {};             ///< kg m/s, kg m²/s about the origin
  float max_penetration = 0;                                            ///< m
  float max_stretch =
      0;  ///< the largest strain of a yarn or rope that is to keep its length; elastic ones do not count

  bool capacity_reached = false;  ///< some fixed capacity was full; nothing was dropped without saying so
  std::vector<Error> errors{};    ///< edits since the last step that were refused, whether or not the caller looked

  std::uint64_t hash = 0;  ///< of the whole state, equal for any number of threads
};

}  // namespace pliant
