// From where a picture is taken, and by what light.
#pragma once

#include <span>
#include <vector>

#include "embed/render_surface.h"
#include "pliant/math.h"
#include "pliant/scene.h"
#include "render/matrix.h"

namespace pliant {

struct View {
  Vec3 eye{6, 4, 8}, target{0, 1, 0}, up{0, 1, 0};  ///< m
  float fov_degrees = 45;                           ///< of the picture's height

  // Near and far follow the distance to what is looked at, so that a scene of any size has the same depth steps.
  float distance() const { return std::max(length(target - eye), 1e-3f); }
  float near() const { return 0.02f * distance(); }
  float far() const { return 400 * distance(); }
  float tan_half() const { return std::tan(fov_degrees * kPi / 360); }
  Axes axes() const { return Axes::looking(target - eye, up); }
  Mat4 clip_from_world(float aspect) const {
    return perspective(tan_half(), aspect, near(), far()) * eye_from_world(axes(), eye);
  }
};

/// The bounds of what a picture is about: all that moves, or, if nothing does, all that is finite.
Aabb bounds_of_interest(std::span<const RenderSurface> surfaces);
/// A view that just holds `bounds`, from the front, a little from the right and above.
View frame_bounds(const Aabb& bounds, float aspect, float fov_degrees = 40);

/// Moves a scene's camera: turns it, lets it follow its body, or frames what moves where the scene has none.
class CameraMan {
 public:
  CameraMan() = default;
  CameraMan(const SceneCamera& camera, float aspect) : camera_(camera), aspect_(aspect) {}

  /// The view at `time`; `followed` is where the followed body is. The first call decides the framing.
  View at(double time, std::span<const RenderSurface> surfaces);

 private:
  const RenderSurface* followed(std::span<const RenderSurface> surfaces) const;

  SceneCamera camera_;
  float aspect_ = 1;
  bool started_ = false;
  View framed_;
  Vec3 follow_start_, follow_now_;
};

/// Lights as the renderer wants them.
struct Lighting {
  struct Lamp {
    bool point = false;
    Vec3 place;  ///< where it is, or the direction to it
    Vec3 color;  ///< irradiance at right angles, or that at 1 m
  };
  static constexpr std::size_t kMaxLamps = 4;

  Vec3 to_sun{0.4f, 1, 0.3f};
  Vec3 sun{3.1f, 2.95f, 2.7f};  ///< irradiance
  bool sun_casts_shadows = true;
  float sky = 1;
  std::vector<Lamp> lamps;  ///< those beyond the sun; they cast no shadows
};

/// The first sun with shadows becomes the sun; an `ambient` of 0.3 is the sky of a clear day. Without any lights: both.
Lighting lighting_of(std::span<const SceneLight> lights);

}  // namespace pliant
