// A camera that a hand moves: it turns about what it looks at, slides sideways, and comes nearer.
#pragma once

#include "render/view.h"

namespace pliant {

class OrbitCamera {
 public:
  void set(const View& view) { view_ = view; }
  const View& view() const { return view_; }

  /// Turns about the target by angles in radians: to the right, and upwards. Stops short of the poles.
  void orbit(float right, float up);
  /// Moves eye and target by metres along the picture's axes.
  void pan(float right, float up);
  /// Multiplies the distance to the target, within limits that keep numbers sound.
  void zoom(float factor);

 private:
  static constexpr float kNearest = 0.02f, kFarthest = 1e4f;  // m
  View view_;
};

}  // namespace pliant
