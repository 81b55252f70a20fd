// What happens to a world at given times: kinematic bodies along keyframes, forces, impulses, explosions, motors.
//
//   Timeline timeline;
//   timeline.add(BodyMotion{piston, {.keyframes = {{0, low}, {1, high}, {2, low}}, .loop = true}});
//   timeline.add(TimedExplosion{.at = 2, .explosion = {.center = {0, 1, 0}}});
//   while (…) timeline.apply(world, dt), world.step(dt);
//
// A timeline keeps no memory of what it has done: what it does follows from the world's time alone, so a restored
// snapshot replays the same way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pliant/defs.h"
#include "pliant/ids.h"
#include "pliant/math.h"
#include "pliant/result.h"
#include "pliant/solid.h"

namespace pliant {

class World;

/// How a path runs from one keyframe to the next.
enum class Interpolation : std::uint8_t {
  Linear,  ///< at constant speed, with a jerk at each keyframe
  Ease,    ///< starts and stops gently at every keyframe
  Smooth   ///< a smooth curve through all keyframes, gentle at both ends
};

struct Keyframe {
  double time = 0;  ///< s
  Transform world_from_body{};
};

/// From a time on the body moves so, until the next.
struct VelocityKey {
  double time = 0;          ///< s
  Vec3 velocity{};          ///< of the body's or the mesh's origin, m/s
  Vec3 angular_velocity{};  ///< about that origin, world axes, rad/s
};

/// Where a body is told to be at each time. Before the first keyframe it waits there, after the last it stays there, or
/// goes on at velocities.
struct MotionPath {
  /// At least one, times ascending. From one to the next a body takes the shorter turn, so half a turn is refused.
  std::vector<Keyframe> keyframes{};
  Interpolation interpolation = Interpolation::Linear;
  bool loop = false;  ///< begin again after the last keyframe, which must repeat the first one's place
  std::vector<VelocityKey> velocities{};  ///< times ascending, none before the last keyframe; not in a loop

  Transform at(double time) const;
  /// The error's field is relative to the path, such as `keyframes[2].time`.
  Status validate() const;
};

struct BodyMotion {
  BodyId body{};  ///< kinematic
  MotionPath path{};
};

/// Held nodes of a solid, cloth, rope or jelly that go along a path: it tells where the mesh at rest would be, and the
/// nodes are there.
struct NodeMotion {
  BodyId body{};
  NodeSelection nodes = AllNodes{};
  MotionPath path{};
};

/// A force that acts from one time to another; steps that it covers in part get their share of it.
struct TimedForce {
  double from = 0, to = 0;  ///< s
  BodyId body{};
  Vec3 force{};                 ///< N, world axes
  std::optional<Vec3> point{};  ///< where it acts, in the body's frame, m; else the centre of mass
  Vec3 torque{};                ///< N m, world axes
};

/// A force on each of some nodes of a body.
struct TimedNodeForce {
  double from = 0, to = 0;  ///< s
  BodyId body{};
  NodeSelection nodes = AllNodes{};
  Vec3 force{};  ///< N on each node, world axes
};

/// A pressure on those triangles of a body's surface all of whose nodes are selected.
struct TimedPressure {
  double from = 0, to = 0;  ///< s
  BodyId body{};
  NodeSelection nodes = AllNodes{};
  float pressure = 0;  ///< Pa, inward
};

/// A force per area on those triangles of a body's surface all of whose nodes are selected.
struct TimedTraction {
  double from = 0, to = 0;  ///< s
  BodyId body{};
  NodeSelection nodes = AllNodes{};
  Vec3 traction{};  ///< N/m², world axes
};

/// A kick in the step that begins at `at`.
struct TimedImpulse {
  double at = 0;  ///< s
  BodyId body{};
  Vec3 impulse{};               ///< N s, world axes
  std::optional<Vec3> point{};  ///< where it acts, in the body's frame, m; else the centre of mass
  Vec3 angular_impulse{};       ///< N m s, world axes
};

struct TimedExplosion {
  double at = 0;  ///< s
  Explosion explosion{};
};

struct TimedMotor {
  double at = 0;  ///< s
  JointId joint{};
  Motor motor{};
};

/// Takes a body, a joint or an anchor away.
struct TimedRemoval {
  double at = 0;  ///< s
  BodyId body{};
  JointId joint{};
  AnchorId anchor{};
};

/// See the top of this file. An event is due in the step during which its time begins; bodies and joints that are gone
/// by then are passed over.
class Timeline {
 public:
  // Each is checked: times must be finite and in order, numbers finite. A refused one is not added.
  Status add(BodyMotion motion);
  Status add(NodeMotion motion);
  Status add(const TimedForce& force);
  Status add(const TimedNodeForce& force);
  Status add(const TimedPressure& pressure);
  Status add(const TimedTraction& traction);
  Status add(const TimedImpulse& impulse);
  Status add(const TimedExplosion& explosion);
  Status add(const TimedMotor& motor);
  Status add(const TimedRemoval& removal);

  bool empty() const;
  /// Queues all that is due in the step of `dt` seconds that comes next.
  void apply(World& world, double dt) const;

 private:
  std::vector<BodyMotion> motions_;
  std::vector<NodeMotion> node_motions_;
  std::vector<TimedNodeForce> node_forces_;
  std::vector<TimedPressure> pressures_;
  std::vector<TimedTraction> tractions_;
  std::vector<TimedForce> forces_;
  std::vector<TimedImpulse> impulses_;
  std::vector<TimedExplosion> explosions_;
  std::vector<TimedMotor> motors_;
  std::vector<TimedRemoval> removals_;
};

}  // namespace pliant
