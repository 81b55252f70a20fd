#include "view/orbit_camera.h"

#include <algorithm>
#include <cmath>

namespace pliant {

void OrbitCamera::orbit(float right, float up) {
  if (!std::isfinite(right) || !std::isfinite(up)) return;
  constexpr float kSteepest = 0.49f * kPi;
  const Vec3 pole = normalized(view_.up, {0, 1, 0});
  Vec3 arm = view_.eye - view_.target;
  const float distance = view_.distance();
  const float climb = std::asin(std::clamp(dot(arm, pole) / distance, -1.0f, 1.0f));
  // A scene's own camera may stand steeper than a hand can bring it: it then stays until it is turned down.
  const float limit = std::max(kSteepest, std::abs(climb));
  const Vec3 side = view_.axes().right;
  arm = Quat::axis_angle(side, climb - std::clamp(climb + up, -limit, limit)).rotate(arm);
  arm = Quat::axis_angle(pole, right).rotate(arm);
  view_.eye = view_.target + arm;
  stay_above_floor();
}

void OrbitCamera::pan(float right, float up) {
  const Axes axes = view_.axes();
  const Vec3 by = right * axes.right + up * axes.up;
  if (!is_finite(by)) return;
  view_.eye += by;
  view_.target += by;
  stay_above_floor();
}

void OrbitCamera::zoom(float factor) {
  if (!(factor > 0) || !std::isfinite(factor)) return;
  const float distance = std::clamp(view_.distance() * factor, kNearest, kFarthest);
  view_.eye = view_.target + distance * view_.axes().back;
  stay_above_floor();
}

void OrbitCamera::stay_above_floor() {
  const float lowest = floor_ + 0.02f * view_.distance();
  if (view_.eye.y < lowest) view_.eye.y = lowest;
}

}  // namespace pliant
