// Checking the fields of defs one by one.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/world_limits.h"
#include "pliant/math.h"
#include "pliant/result.h"
#include "pliant/selection.h"

namespace pliant {

constexpr float kShortestStep = 1e-6f, kLongestStep = 1;  ///< s, what a step may advance

/// Collects the first thing that is wrong.
class Check {
 public:
  void finite(const char* field, float value) {
    if (!std::isfinite(value)) fail(field, fmt::format("{} is not a finite number", value));
  }
  void finite(const char* field, Vec3 v) {
    if (!is_finite(v)) fail(field, fmt::format("({}, {}, {}) is not finite", v.x, v.y, v.z));
  }
  /// Where something is, or how fast, as far as a world reaches.
  void within(const char* field, Vec3 v, float most, const char* unit) {
    finite(field, v);
    that(length(v) <= most, field, fmt::format("({:g}, {:g}, {:g}) is more than {:g} {}", v.x, v.y, v.z, most, unit));
  }
  void place(Vec3 position, Quat orientation) {
    within("position", position, kMaxDistance, "m from the origin");
    rotation("rotation", orientation);
  }
  void motion(Vec3 velocity, Vec3 angular_velocity) {
    within("velocity", velocity, kMaxSpeed, "m/s");
    within("angular_velocity", angular_velocity, kMaxAngularSpeed, "rad/s");
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
  void rotation(const char* field, Quat q) {
    that(is_finite(q), field, "the quaternion is not finite");
    that(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w > 1e-12f, field, "the quaternion must not be zero");
  }
  /// Where a body is, how it moves, and what acts on it.
  template <typename Def>
  void placement(const Def& def) {
    place(def.position, def.rotation);
    motion(def.velocity, def.angular_velocity);
    not_negative("friction", def.friction);
    finite("gravity_scale", def.gravity_scale);
  }
  /// Motions and readings go by them.
  void held_names(const std::vector<HeldNodes>& held) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      for (std::size_t k = 0; k < i && !held[i].name.empty(); ++k) {
        that(held[i].name != held[k].name, fmt::format("held[{}].name", i).c_str(),
             fmt::format("held[{}] is named `{}` already", k, held[i].name));
      }
    }
  }
  /// What is wrong with a part.
  void within(const std::string& field, const Status& part) {
    if (!status_ || part) return;
    Error error = part.error();
    error.field = error.field.empty() ? field : field + "." + error.field;
    status_ = error;
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

}  // namespace pliant
