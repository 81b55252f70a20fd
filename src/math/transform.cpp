#include <algorithm>

#include "pliant/math.h"

namespace pliant {

Quat slerp(Quat a, Quat b, float t) {
  float c = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  if (c < 0) {  // q and −q are the same rotation: take the nearer one
    b = {-b.x, -b.y, -b.z, -b.w};
    c = -c;
  }
  float wa = 1 - t, wb = t;
  if (c < 0.9995f) {  // nearer than that, sin(angle) is too small to divide by and the chord is as good as the arc
    const float angle = std::acos(std::min(c, 1.0f));
    wa = std::sin((1 - t) * angle) / std::sin(angle);
    wb = std::sin(t * angle) / std::sin(angle);
  }
  return Quat{wa * a.x + wb * b.x, wa * a.y + wb * b.y, wa * a.z + wb * b.z, wa * a.w + wb * b.w}.normalized();
}

}  // namespace pliant
