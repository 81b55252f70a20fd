#include "render/view.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr float kClearSky = 0.3f;  // the intensity of ambient light that stands for it
constexpr Vec3 kSunlight{3.1f, 2.95f, 2.7f};

Aabb bounds_of(const RenderSurface& surface) {
  Aabb box;
  for (std::size_t i = 0; i < surface.mesh->vertices.size(); ++i) {
    const Vec3 p = surface.vertex(i);
    if (is_finite(p)) box.include(p);
  }
  return box;
}

Aabb bounds_where(std::span<const RenderSurface> surfaces, bool moving_only) {
  Aabb box;
  for (const RenderSurface& surface : surfaces) {
    if (surface.endless || (moving_only && !surface.moves)) continue;
    const Aabb own = bounds_of(surface);
    if (!own.is_empty()) box.include(own);
  }
  return box;
}

}  // namespace

Aabb bounds_of_interest(std::span<const RenderSurface> surfaces) {
  Aabb box = bounds_where(surfaces, true);
  if (box.is_empty()) box = bounds_where(surfaces, false);
  return box.is_empty() ? Aabb{{-1, 0, -1}, {1, 2, 1}} : box;
}

View frame_bounds(const Aabb& bounds, float aspect, float fov_degrees) {
  View view;
  view.fov_degrees = fov_degrees;
  view.target = bounds.center();
  const Vec3 direction = normalized(Vec3{0.55f, 0.42f, 1});
  const Axes axes = Axes::looking(-direction, {0, 1, 0});
  const float tan_y = view.tan_half(), tan_x = tan_y * aspect;
  float distance = 0.01f;
  for (int i = 0; i < 8; ++i) {
    const Vec3 corner{i & 1 ? bounds.upper.x : bounds.lower.x, i & 2 ? bounds.upper.y : bounds.lower.y,
                      i & 4 ? bounds.upper.z : bounds.lower.z};
    const Vec3 c = axes.coordinates(corner, view.target);
    distance = std::max({distance, c.z + std::abs(c.x) / tan_x, c.z + std::abs(c.y) / tan_y});
  }
  view.eye = view.target + 1.12f * distance * direction;
  return view;
}

const RenderSurface* CameraMan::followed(std::span<const RenderSurface> surfaces) const {
  if (camera_.follow.empty()) return nullptr;
  const auto found =
      std::find_if(surfaces.begin(), surfaces.end(), [&](const RenderSurface& s) { return s.name == camera_.follow; });
  return found == surfaces.end() ? nullptr : &*found;
}

View CameraMan::at(double time, std::span<const RenderSurface> surfaces) {
  // A body that is gone leaves the camera where it was.
  if (const RenderSurface* body = followed(surfaces); body != nullptr && is_finite(body->center_of_mass)) {
    follow_now_ = body->center_of_mass;
    if (!started_) follow_start_ = follow_now_;
  }
  if (!started_ && camera_.automatic) {
    framed_ = frame_bounds(bounds_of_interest(surfaces), aspect_);
  } else if (!started_) {
    framed_ = {camera_.from, camera_.look_at, camera_.up, camera_.fov_degrees};
  }
  started_ = true;

  View view = framed_;
  const auto turn =
      static_cast<float>(std::fmod(double{camera_.orbit_degrees_per_second} * time, 360.0) * (double{kPi} / 180));
  view.eye = view.target + Quat::axis_angle(view.up, turn).rotate(view.eye - view.target);
  const Vec3 moved = follow_now_ - follow_start_;
  view.eye += moved;
  view.target += moved;
  return view;
}

Lighting lighting_of(std::span<const SceneLight> lights) {
  Lighting out;
  out.to_sun = normalized(out.to_sun);
  if (lights.empty()) return out;
  out.sun = {};
  out.sky = 0;
  const auto sun = std::find_if(lights.begin(), lights.end(), [&](const SceneLight& l) {
    const auto is_sun = [](const SceneLight& s) { return s.kind == SceneLight::Kind::Sun; };
    return is_sun(l) && (l.shadows || std::none_of(lights.begin(), lights.end(),
                                                   [&](const SceneLight& o) { return is_sun(o) && o.shadows; }));
  });
  for (auto light = lights.begin(); light != lights.end(); ++light) {
    const Vec3 color = light->intensity * light->color;
    if (light->kind == SceneLight::Kind::Ambient) {
      out.sky += light->intensity * std::max({light->color.x, light->color.y, light->color.z}) / kClearSky;
    } else if (light == sun) {
      out.to_sun = normalized(-light->direction, {0, 1, 0});
      out.sun = multiply_each(kSunlight, color);
      out.sun_casts_shadows = light->shadows;
    } else if (out.lamps.size() < Lighting::kMaxLamps) {
      const bool point = light->kind == SceneLight::Kind::Point;
      out.lamps.push_back({point, point ? light->position : normalized(-light->direction, {0, 1, 0}),
                           multiply_each(kSunlight, color) * (point ? 4.0f : 1.0f)});
    }
  }
  return out;
}

}  // namespace pliant
