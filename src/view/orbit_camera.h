// A camera that a hand moves: it turns about what it looks at, slides sideways, and comes nearer.
#pragma once

#include <limits>

#include "render/view.h"

namespace pliant {

class OrbitCamera {
 public:
  void set(const View& view) { view_ = view; }
  const View& view() const { return view_; }
  /// A height, m, that no hand can bring the eye below: seen from under the ground a scene is a riddle.
  void set_floor(float height) { floor_ = height; }

  /// Turns about the target by angles in radians: to the right, and upwards. Stops short of the poles.
  void orbit(float right, float up);
  /// Moves eye and target by metres along the picture's axes.
  void pan(float right, float up);
  /// Multiplies the distance to the target, within limits that keep numbers sound.
  void zoom(float factor);

 private:
  static constexpr float kNearest = 0.02f, kFarthest = 1e4f;  // m
  void stay_above_floor();

  View view_;
  float floor_ = -std::numeric_limits<float>::infinity();
};

}  // namespace pliant
