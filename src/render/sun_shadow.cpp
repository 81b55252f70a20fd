#include "render/sun_shadow.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// The next of a row of sizes that grow by an eighth.
float stepped(float size) { return std::exp2(std::ceil(8 * std::log2(std::max(size, 1e-6f))) / 8); }

}  // namespace

SunShadow fit_sun_shadow(std::span<const GpuMeshes::Ball> casters, Vec3 to_sun, const View& view, int resolution) {
  const Axes sun = Axes::looking(-to_sun, {0, 1, 0});
  const float reach = 6 * view.distance();  // what lies farther off is too small to see its shadow
  Aabb box;
  for (const GpuMeshes::Ball& ball : casters) {
    const float r = std::min(ball.radius, reach);
    if (!is_finite(ball.center) || length(ball.center - view.target) - r > reach) continue;
    const Vec3 c = sun.coordinates(ball.center, {0, 0, 0}), half{r, r, r};
    box.include(Aabb{max_each(c - half, sun.coordinates(view.target, {}) - Vec3{reach, reach, reach}),
                     min_each(c + half, sun.coordinates(view.target, {}) + Vec3{reach, reach, reach})});
  }
  SunShadow out;
  if (box.is_empty()) return out;
  out.any = true;
  out.size = stepped(1.04f * std::max({box.size().x, box.size().y, 1e-3f}));
  out.depth = stepped(1.02f * std::max(box.size().z, 1e-3f));
  const float texel = out.size / static_cast<float>(resolution);
  const auto snapped = [&](float x) { return std::round(x / texel) * texel; };
  const Vec3 center = box.center();
  const float top = box.upper.z + 0.01f * out.depth;
  const Vec3 eye = snapped(center.x) * sun.right + snapped(center.y) * sun.up + top * sun.back;
  out.clip_from_world = orthographic(0.5f * out.size, out.depth) * eye_from_world(sun, eye);
  Mat4 map_from_clip;
  for (int i = 0; i < 3; ++i) map_from_clip.at(i, i) = map_from_clip.at(i, 3) = 0.5f;
  out.map_from_world = map_from_clip * out.clip_from_world;
  return out;
}

}  // namespace pliant
