#include "render/scene_content.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Segments of a circle: fine for few bodies, coarse for thousands, so that a picture stays near 100,000 triangles.
int detail_for(std::size_t bodies) { return bodies <= 60 ? 64 : bodies <= 300 ? 40 : 24; }

/// The greatest speed of any point of the surface.
float top_speed(const RenderSurface& surface) {
  float most = 0;
  for (std::size_t i = 0; i < surface.mesh->vertices.size(); ++i) {
    most = std::max(most, length_squared(surface.vertex_velocity(i)));
  }
  return std::sqrt(most);
}

}  // namespace

SceneContent::SceneContent(const Scene& scene, int detail)
    : publisher_(detail > 0 ? detail : detail_for(scene.bodies.size())),
      arms_(arms_of(scene)),
      lighting_(lighting_of(scene.lights)) {
  for (std::size_t i = 0; i < kColorByCount; ++i) scales_[i] = first_scale(static_cast<ColorBy>(i));
}

void SceneContent::show(ColorBy by) {
  by_ = by;
  publisher_.show(tet_value(by));
}

/// Joints that hold a body from afar would leave it hanging in the air: they are shown. A joint that may break without
/// having a name by which it could be looked up is not, as its arm would outlive it.
std::vector<SceneContent::Arm> SceneContent::arms_of(const Scene& scene) {
  std::vector<Arm> arms;
  for (const SceneJoint& joint : scene.joints) {
    if (joint.a.empty() == joint.b.empty()) continue;
    if (joint.def.kind != JointKind::Ball && joint.def.kind != JointKind::Hinge) continue;
    if (joint.def.name.empty() && std::isfinite(joint.def.break_force)) continue;
    arms.push_back({joint.a.empty() ? joint.b : joint.a, joint.def.name, joint.def.anchor});
  }
  return arms;
}

void SceneContent::update(const ScenePlayer& player) {
  surfaces_ = publisher_.update(player.world());
  find_rods(player);
}

void SceneContent::measure() {
  ColorScale& scale = scales_[static_cast<std::size_t>(by_)];
  for (const RenderSurface& surface : surfaces_) {
    if (by_ == ColorBy::Speed && surface.moves) scale.include(top_speed(surface));
    if (!tet_value(by_)) continue;
    for (const float value : surface.values) scale.include(value);
  }
}

const RenderSurface* SceneContent::surface(BodyId body) const {
  const auto found =
      std::find_if(surfaces_.begin(), surfaces_.end(), [&](const RenderSurface& s) { return s.body == body; });
  return found == surfaces_.end() ? nullptr : &*found;
}

void SceneContent::find_rods(const ScenePlayer& player) {
  rods_.clear();
  for (const Arm& arm : arms_) {
    if (!arm.joint.empty() && !player.world().contains(player.joint(arm.joint))) continue;
    const RenderSurface* body = surface(player.body(arm.body));
    if (body == nullptr || !is_finite(body->center_of_mass)) continue;
    const float reach = 0.5f * length(body->mesh->bounds().size());
    if (length(body->center_of_mass - arm.anchor) < reach) continue;
    rods_.push_back({arm.anchor, body->center_of_mass, 0.03f * reach});
  }
}

}  // namespace pliant
