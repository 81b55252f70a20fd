// What a def may hold. Every message says what is allowed.
#include <cmath>

#include <fmt/format.h>

#include "world/world_impl.h"

namespace pliant {
namespace {

/// Collects the first thing that is wrong.
class Check {
 public:
  void finite(const char* field, float value) {
    if (!std::isfinite(value)) fail(field, fmt::format("{} is not a finite number", value));
  }
  void finite(const char* field, Vec3 v) {
    if (!is_finite(v)) fail(field, fmt::format("({}, {}, {}) is not finite", v.x, v.y, v.z));
  }
  void positive(const char* field, float value) {
    if (!(value > 0) || !std::isfinite(value)) {
      fail(field, fmt::format("{} is not allowed; it must be greater than 0 and finite", value));
    }
  }
  void not_negative(const char* field, float value) {
    if (!(value >= 0) || !std::isfinite(value)) {
      fail(field, fmt::format("{} is not allowed; it must be 0 or more and finite", value));
    }
  }
  void range(const char* field, float value, float lower, float upper) {
    if (!(value >= lower && value <= upper)) {
      fail(field, fmt::format("{} is not allowed; it must be from {} to {}", value, lower, upper));
    }
  }
  void range(const char* field, int value, int lower, int upper) {
    if (value < lower || value > upper) {
      fail(field, fmt::format("{} is not allowed; it must be from {} to {}", value, lower, upper));
    }
  }
  void that(bool ok, const char* field, std::string message) {
    if (!ok) fail(field, std::move(message));
  }
  Status status() const { return status_; }

 private:
  void fail(const char* field, std::string message) {
    if (!status_) return;
    Error error;
    error.field = field;
    error.message = std::move(message);
    status_ = error;
  }
  Status status_;
};

bool needs_static(const Shape& shape) {
  return std::holds_alternative<Heightfield>(shape) || std::holds_alternative<Plane>(shape);
}

}  // namespace

Status check_def(const WorldDef& def) {
  Check check;
  check.finite("gravity", def.gravity);
  check.positive("dt", def.dt);
  check.range("dt", def.dt, 1e-6f, 1.0f);
  check.range("substeps", def.substeps, 1, 1000);
  check.range("iterations", def.iterations, 1, 10000);
  check.range("threads", def.threads, 0, 1024);
  check.not_negative("sleep_speed", def.sleep_speed);
  check.not_negative("sleep_angular_speed", def.sleep_angular_speed);
  check.not_negative("sleep_delay", def.sleep_delay);
  check.not_negative("bounce_threshold", def.bounce_threshold);
  return check.status();
}

Status check_def(const RigidDef& def) {
  Check check;
  check.finite("position", def.position);
  check.that(is_finite(def.rotation), "rotation", "the quaternion is not finite");
  const Quat& q = def.rotation;
  check.that(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w > 1e-12f, "rotation", "the quaternion must not be zero");
  check.finite("velocity", def.velocity);
  check.finite("angular_velocity", def.angular_velocity);
  if (def.motion == Motion::Dynamic && !def.mass_properties) {
    if (def.mass) {
      check.positive("mass", *def.mass);
    } else {
      check.positive("density", def.density);
    }
  }
  check.that(def.motion == Motion::Static || !needs_static(def.shape), "motion",
             fmt::format("a {} must be static", shape_name(def.shape)));
  check.that(def.motion != Motion::Dynamic || !std::holds_alternative<TriangleMesh>(def.shape), "motion",
             "a triangle_mesh must be static or kinematic; give a dynamic body a convex_hull or a compound");
  check.not_negative("friction", def.friction);
  check.not_negative("rolling_friction", def.rolling_friction);
  check.range("restitution", def.restitution, 0.0f, 1.0f);
  check.not_negative("linear_damping", def.linear_damping);
  check.not_negative("angular_damping", def.angular_damping);
  check.finite("gravity_scale", def.gravity_scale);
  return check.status();
}

Status check_def(const JointDef& def) {
  Check check;
  const bool has_axis = def.kind == JointKind::Hinge || def.kind == JointKind::Slider;
  check.that(!(def.a.is_null() && def.b.is_null()), "b", "a joint needs at least one body");
  check.that(!(def.a == def.b), "b", "a joint needs two different bodies");
  check.finite("anchor", def.anchor);
  check.finite("axis", def.axis);
  check.that(!has_axis || length(def.axis) > 1e-6f, "axis", "the axis must not be zero");
  check.that(has_axis || !def.limit, "limit", "only hinges and sliders have limits");
  check.that(has_axis || !def.motor, "motor", "only hinges and sliders have motors");
  if (def.limit) {
    const float most = def.kind == JointKind::Hinge ? kPi : 1e6f;
    check.range("limit.lower", def.limit->lower, -most, most);
    check.range("limit.upper", def.limit->upper, -most, most);
    check.that(def.limit->lower <= def.limit->upper, "limit", "the lower limit must not be above the upper one");
  }
  if (def.motor) {
    check.finite("motor.speed", def.motor->speed);
    check.that(def.motor->strength >= 0, "motor.strength", "the strength must be 0 or more");
  }
  check.that(def.break_force > 0, "break_force", "the breaking force must be greater than 0");
  return check.status();
}

}  // namespace pliant
