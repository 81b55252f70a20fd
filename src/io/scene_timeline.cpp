#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pliant/timeline.h"
#include "pliant/world.h"

namespace pliant {
namespace {

// Times are compared this much early, so that an event at 1 s is due in the step that begins at 1 s, not in the one
// before it, though sixty floats of 1/60 are not quite 1.
constexpr double kTimeTolerance = 1e-5;

Error bad(std::string field, std::string message) {
  return {Error::Code::InvalidArgument, std::move(message), {}, std::move(field)};
}

bool due(double at, double t0, double t1) { return t0 <= at + kTimeTolerance && at + kTimeTolerance < t1; }

Status check_time(const char* field, double time) {
  if (std::isfinite(time) && time >= 0) return {};
  return bad(field, fmt::format("{} is not allowed; it must be at least 0 and finite", time));
}
Status check_vector(const char* field, Vec3 v) {
  return is_finite(v) ? Status() : Status(bad(field, "all three numbers must be finite"));
}
/// The first that failed.
Status first_of(std::initializer_list<Status> checks) {
  for (const Status& status : checks) {
    if (!status.ok()) return status;
  }
  return {};
}

Status check_span(double from, double to) {
  const Status status = first_of({check_time("from", from), check_time("to", to)});
  if (!status.ok() || to > from) return status;
  return bad("to", fmt::format("{} is not later than `from`, {}", to, from));
}

Quat negated(Quat q) { return {-q.x, -q.y, -q.z, -q.w}; }
double dot4(Quat a, Quat b) { return double{a.x} * b.x + double{a.y} * b.y + double{a.z} * b.z + double{a.w} * b.w; }
/// Of the two quaternions of a rotation the one nearer to `reference`.
Quat nearer(Quat q, Quat reference) { return dot4(q, reference) < 0 ? negated(q) : q; }

bool same_place(const Transform& a, const Transform& b) {
  return length(a.position - b.position) <= 1e-4f * (1 + length(a.position)) &&
         std::abs(dot4(a.rotation, b.rotation)) > 1 - 1e-5;
}

/// Weights of the cubic Hermite spline for the two values and the two slopes at share u.
struct HermiteWeights {
  explicit HermiteWeights(float u)
      : value0((1 + 2 * u) * (1 - u) * (1 - u)),
        slope0(u * (1 - u) * (1 - u)),
        value1(u * u * (3 - 2 * u)),
        slope1(u * u * (u - 1)) {}
  float value0, slope0, value1, slope1;
};

Quat sum(Quat a, float wa, Quat b, float wb) {
  return {wa * a.x + wb * b.x, wa * a.y + wb * b.y, wa * a.z + wb * b.z, wa * a.w + wb * b.w};
}

/// The slope at keyframe i, of both position and rotation, over the chord of its neighbours; 0 at the ends of a path
/// that does not loop, so that it starts and stops gently.
struct Slope {
  Vec3 position;
  Quat rotation{0, 0, 0, 0};
};
Slope slope_at(const MotionPath& path, std::size_t i) {
  const auto& keys = path.keyframes;
  const std::size_t last = keys.size() - 1;
  const bool end = i == 0 || i == last;
  if (end && !path.loop) return {};
  const Keyframe& before = keys[end ? last - 1 : i - 1];
  const Keyframe& after = keys[end ? 1 : i + 1];
  const double span = end ? (keys[last].time - before.time) + (after.time - keys[0].time) : after.time - before.time;
  const float rate = static_cast<float>(1 / span);
  const Quat here = keys[i].world_from_body.rotation;
  const Quat q0 = nearer(before.world_from_body.rotation, here), q1 = nearer(after.world_from_body.rotation, here);
  return {rate * (after.world_from_body.position - before.world_from_body.position), sum(q1, rate, q0, -rate)};
}

Transform smooth_between(const MotionPath& path, std::size_t i, float u) {
  const Keyframe &k0 = path.keyframes[i], &k1 = path.keyframes[i + 1];
  const auto span = static_cast<float>(k1.time - k0.time);
  const Slope s0 = slope_at(path, i);
  Slope s1 = slope_at(path, i + 1);
  const Quat q0 = k0.world_from_body.rotation, q1 = nearer(k1.world_from_body.rotation, q0);
  if (dot4(q1, k1.world_from_body.rotation) < 0) s1.rotation = negated(s1.rotation);
  const HermiteWeights w(u);
  const Quat q =
      sum(sum(q0, w.value0, q1, w.value1), 1, sum(s0.rotation, w.slope0 * span, s1.rotation, w.slope1 * span), 1);
  return {w.value0 * k0.world_from_body.position + w.value1 * k1.world_from_body.position +
              span * (w.slope0 * s0.position + w.slope1 * s1.position),
          q.normalized()};
}

Transform straight_between(const Transform& a, const Transform& b, float u) {
  return {a.position + u * (b.position - a.position), slerp(a.rotation, b.rotation, u)};
}

/// Where the velocities have taken the body since the last keyframe.
Transform moved_on(const MotionPath& path, double time) {
  const Transform& start = path.keyframes.back().world_from_body;
  double way[3] = {0, 0, 0};
  Quat rotation = start.rotation;
  for (std::size_t i = 0; i < path.velocities.size() && path.velocities[i].time < time; ++i) {
    const VelocityKey& key = path.velocities[i];
    const double end = i + 1 < path.velocities.size() ? std::min(time, path.velocities[i + 1].time) : time;
    for (std::size_t k = 0; k < 3; ++k) way[k] += (end - key.time) * double{key.velocity[k]};
    const float rate = length(key.angular_velocity);
    if (!(rate > 0)) continue;
    const double turn = std::fmod(double{rate} * (end - key.time), 2 * double{kPi});
    rotation = (Quat::axis_angle(key.angular_velocity / rate, static_cast<float>(turn)) * rotation).normalized();
  }
  const Vec3 moved{static_cast<float>(way[0]), static_cast<float>(way[1]), static_cast<float>(way[2])};
  return {start.position + moved, rotation};
}

/// Nearly half a turn apart: it could go either way round.
bool is_half_turn(const Keyframe& a, const Keyframe& b) {
  constexpr double kNearly = 1e-4;  // the cosine of half the angle
  return std::abs(dot4(a.world_from_body.rotation.normalized(), b.world_from_body.rotation.normalized())) < kNearly;
}

Status check_velocities(const MotionPath& path) {
  if (path.loop && !path.velocities.empty()) return bad("loop", "a loop never gets to its velocities; leave out one");
  double before = path.keyframes.back().time;
  for (std::size_t i = 0; i < path.velocities.size(); ++i) {
    const VelocityKey& key = path.velocities[i];
    const std::string field = fmt::format("velocities[{}]", i);
    if (const Status status = check_time((field + ".time").c_str(), key.time); !status.ok()) return status;
    if (i > 0 ? key.time <= before : key.time < before) {
      return bad(field + ".time", fmt::format("{} is not later than what comes before, at {}", key.time, before));
    }
    const Status status = first_of({check_vector((field + ".velocity").c_str(), key.velocity),
                                    check_vector((field + ".angular_velocity").c_str(), key.angular_velocity)});
    if (!status.ok()) return status;
    before = key.time;
  }
  return {};
}

}  // namespace

Transform MotionPath::at(double time) const {
  if (keyframes.empty()) return {};
  if (!velocities.empty() && time > keyframes.back().time) return moved_on(*this, time);
  const Keyframe &first = keyframes.front(), &last = keyframes.back();
  const double length = last.time - first.time;
  if (loop && time > first.time && length > 0) time = first.time + std::fmod(time - first.time, length);
  if (!(time > first.time)) return first.world_from_body;
  if (time >= last.time) return last.world_from_body;
  const auto next = std::upper_bound(keyframes.begin(), keyframes.end(), time,
                                     [](double t, const Keyframe& key) { return t < key.time; });
  const auto i = static_cast<std::size_t>(next - keyframes.begin()) - 1;
  const Keyframe &k0 = keyframes[i], &k1 = keyframes[i + 1];
  const auto u = static_cast<float>((time - k0.time) / (k1.time - k0.time));
  switch (interpolation) {
    case Interpolation::Smooth:
      return smooth_between(*this, i, u);
    case Interpolation::Ease:
      return straight_between(k0.world_from_body, k1.world_from_body, u * u * (3 - 2 * u));
    case Interpolation::Linear:
      break;
  }
  return straight_between(k0.world_from_body, k1.world_from_body, u);
}

Status MotionPath::validate() const {
  if (keyframes.empty()) return bad("keyframes", "a motion needs at least one keyframe");
  for (std::size_t i = 0; i < keyframes.size(); ++i) {
    const std::string field = fmt::format("keyframes[{}]", i);
    if (const Status status = check_time((field + ".time").c_str(), keyframes[i].time); !status.ok()) return status;
    if (!is_finite(keyframes[i].world_from_body)) return bad(field, "its place is not finite");
    if (i > 0 && keyframes[i].time <= keyframes[i - 1].time) {
      return bad(field + ".time", fmt::format("{} is not later than the keyframe before, at {}", keyframes[i].time,
                                              keyframes[i - 1].time));
    }
    if (i > 0 && is_half_turn(keyframes[i - 1], keyframes[i])) {
      return bad(field, "half a turn from the keyframe before could go either way round; put a keyframe between them");
    }
  }
  if (const Status status = check_velocities(*this); !status.ok()) return status;
  if (!loop) return {};
  if (keyframes.size() < 2) return bad("loop", "a loop needs at least two keyframes");
  if (!same_place(keyframes.front().world_from_body, keyframes.back().world_from_body)) {
    return bad(fmt::format("keyframes[{}]", keyframes.size() - 1),
               "the last keyframe of a loop must repeat the place of the first, or the body would jump");
  }
  return {};
}

Status Timeline::add(BodyMotion motion) {
  if (const Status status = motion.path.validate(); !status.ok()) return status;
  motions_.push_back(std::move(motion));
  return {};
}

Status Timeline::add(NodeMotion motion) {
  if (const Status status = motion.path.validate(); !status.ok()) return status;
  node_motions_.push_back(std::move(motion));
  return {};
}

Status Timeline::add(const TimedNodeForce& force) {
  const Status status = first_of({check_span(force.from, force.to), check_vector("force", force.force)});
  if (status.ok()) node_forces_.push_back(force);
  return status;
}

Status Timeline::add(const TimedPressure& pressure) {
  if (const Status status = check_span(pressure.from, pressure.to); !status.ok()) return status;
  if (!std::isfinite(pressure.pressure)) return bad("pressure", "it must be finite");
  pressures_.push_back(pressure);
  return {};
}

Status Timeline::add(const TimedTraction& traction) {
  const Status status = first_of({check_span(traction.from, traction.to), check_vector("traction", traction.traction)});
  if (status.ok()) tractions_.push_back(traction);
  return status;
}

Status Timeline::add(const TimedForce& force) {
  const Status status =
      first_of({check_span(force.from, force.to), check_vector("force", force.force),
                check_vector("torque", force.torque), check_vector("point", force.point.value_or(Vec3{}))});
  if (!status.ok()) return status;
  forces_.push_back(force);
  return {};
}

Status Timeline::add(const TimedImpulse& impulse) {
  const Status status = first_of({check_time("at", impulse.at), check_vector("impulse", impulse.impulse),
                                  check_vector("angular_impulse", impulse.angular_impulse),
                                  check_vector("point", impulse.point.value_or(Vec3{}))});
  if (status.ok()) impulses_.push_back(impulse);
  return status;
}

Status Timeline::add(const TimedExplosion& explosion) {
  const Status status = first_of({check_time("at", explosion.at), check_vector("center", explosion.explosion.center)});
  if (!status.ok()) return status;
  const Explosion& e = explosion.explosion;
  if (!(e.radius > 0) || !std::isfinite(e.radius)) return bad("radius", "it must be greater than 0 and finite");
  if (!std::isfinite(e.impulse_per_area)) return bad("impulse_per_area", "it must be finite");
  explosions_.push_back(explosion);
  return {};
}

Status Timeline::add(const TimedMotor& motor) {
  if (const Status status = check_time("at", motor.at); !status.ok()) return status;
  if (!std::isfinite(motor.motor.speed)) return bad("speed", "it must be finite");
  if (!(motor.motor.strength >= 0)) return bad("strength", "it must be at least 0");
  motors_.push_back(motor);
  return {};
}

Status Timeline::add(const TimedRemoval& removal) {
  const Status status = check_time("at", removal.at);
  if (status.ok()) removals_.push_back(removal);
  return status;
}

bool Timeline::empty() const {
  return motions_.empty() && node_motions_.empty() && node_forces_.empty() && pressures_.empty() &&
         tractions_.empty() && forces_.empty() && impulses_.empty() && explosions_.empty() && motors_.empty() &&
         removals_.empty();
}

void Timeline::apply(World& world, double dt) const {
  // What the world refuses stands in its next report: nothing is lost here by not looking at the answers.
  const double t0 = world.time(), t1 = t0 + dt;
  const auto world_point = [&](BodyId body, Vec3 point) { return world.state(body)->world_from_body * point; };

  for (const TimedRemoval& r : removals_) {
    if (!due(r.at, t0, t1)) continue;
    if (world.contains(r.body)) world.remove(r.body);
    if (world.contains(r.joint)) world.remove(r.joint);
    if (world.contains(r.anchor)) world.remove(r.anchor);
  }
  for (const TimedMotor& m : motors_) {
    if (due(m.at, t0, t1) && world.contains(m.joint)) world.set_motor(m.joint, m.motor);
  }
  for (const BodyMotion& m : motions_) {
    if (world.contains(m.body)) world.move_to(m.body, m.path.at(t1));
  }
  for (const NodeMotion& m : node_motions_) {
    if (world.contains(m.body)) world.drive(m.body, m.nodes, m.path.at(t1));
  }
  // The share of the step that an action covers; 0 where its body is gone.
  const auto share_of = [&](const auto& action) {
    const double share = (std::min(t1, action.to) - std::max(t0, action.from)) / dt;
    return world.contains(action.body) ? static_cast<float>(std::clamp(share, 0.0, 1.0)) : 0.0f;
  };
  for (const TimedNodeForce& f : node_forces_) {
    if (const float s = share_of(f); s > 0) world.apply_node_force(f.body, f.nodes, s * f.force);
  }
  for (const TimedPressure& p : pressures_) {
    if (const float s = share_of(p); s > 0) world.apply_pressure(p.body, s * p.pressure, p.nodes);
  }
  for (const TimedTraction& t : tractions_) {
    if (const float s = share_of(t); s > 0) world.apply_traction(t.body, s * t.traction, t.nodes);
  }
  for (const TimedForce& f : forces_) {
    const float s = share_of(f);
    if (!(s > 0)) continue;
    if (f.point) {
      world.apply_force(f.body, s * f.force, world_point(f.body, *f.point));
    } else if (!(f.force == Vec3{})) {
      world.apply_force(f.body, s * f.force);
    }
    if (!(f.torque == Vec3{})) world.apply_torque(f.body, s * f.torque);
  }
  for (const TimedImpulse& i : impulses_) {
    if (!due(i.at, t0, t1) || !world.contains(i.body)) continue;
    if (i.point) {
      world.apply_impulse(i.body, i.impulse, world_point(i.body, *i.point));
    } else if (!(i.impulse == Vec3{})) {
      world.apply_impulse(i.body, i.impulse);
    }
    if (!(i.angular_impulse == Vec3{})) world.apply_angular_impulse(i.body, i.angular_impulse);
  }
  for (const TimedExplosion& e : explosions_) {
    if (due(e.at, t0, t1)) world.explode(e.explosion);
  }
}

}  // namespace pliant
