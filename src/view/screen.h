// Where the picture lies in the window, and how the window's points and the world's belong together.
#pragma once

#include <optional>

#include "pliant/math.h"
#include "render/view.h"

namespace pliant {

struct Ray {
  Vec3 from{};
  Vec3 direction{0, 0, -1};  ///< unit
};

/// A rectangle in window coordinates: the origin is the window's upper left corner, y goes down.
struct ScreenRect {
  float x = 0, y = 0, width = 1, height = 1;

  float aspect() const { return width / height; }
  bool contains(Vec2 p) const { return p.x >= x && p.y >= y && p.x < x + width && p.y < y + height; }
  friend bool operator==(const ScreenRect& a, const ScreenRect& b) {
    return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
  }
};

/// The largest rectangle of that aspect within `outer`, in its middle.
inline ScreenRect fitted(const ScreenRect& outer, float aspect) {
  ScreenRect out = outer;
  if (outer.aspect() > aspect) {
    out.width = outer.height * aspect;
  } else {
    out.height = outer.width / aspect;
  }
  out.x += 0.5f * (outer.width - out.width), out.y += 0.5f * (outer.height - out.height);
  return out;
}

struct Screen {
  View view;
  ScreenRect rect;

  Ray ray_at(Vec2 p) const {
    const Axes axes = view.axes();
    const float x = 2 * (p.x - rect.x) / rect.width - 1, y = 1 - 2 * (p.y - rect.y) / rect.height;
    const Vec3 along = view.tan_half() * (x * rect.aspect() * axes.right + y * axes.up) - axes.back;
    return {view.eye, normalized(along, -axes.back)};
  }
  /// Nothing for what lies behind the eye or too near.
  std::optional<Vec2> place_of(Vec3 p) const {
    const Vec3 c = view.axes().coordinates(p, view.eye);
    if (!is_finite(c) || -c.z < view.near()) return std::nullopt;
    const float scale = 0.5f * rect.height / (view.tan_half() * -c.z);
    return Vec2{rect.x + 0.5f * rect.width + scale * c.x, rect.y + 0.5f * rect.height - scale * c.y};
  }
  /// At the depth of `p`, m.
  float pixel_size(Vec3 p) const {
    const float depth = std::max(-view.axes().coordinates(p, view.eye).z, view.near());
    return 2 * view.tan_half() * depth / rect.height;
  }
};

}  // namespace pliant
