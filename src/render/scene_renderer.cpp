#include "render/scene_renderer.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "render/offscreen_context.h"

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

/// An arm to be drawn: from an anchor in the world to a body that hangs on it.
struct Arm {
  std::string body, joint;
  Vec3 anchor;
  float radius = 0.01f;
};

/// Joints that hold a body from afar would leave it hanging in the air: they are shown. A joint that may break without
/// having a name by which it could be looked up is not, as its arm would outlive it.
std::vector<Arm> arms_of(const Scene& scene) {
  std::vector<Arm> arms;
  for (const SceneJoint& joint : scene.joints) {
    if (joint.a.empty() == joint.b.empty()) continue;
    if (joint.def.kind != JointKind::Ball && joint.def.kind != JointKind::Hinge) continue;
    if (joint.def.name.empty() && std::isfinite(joint.def.break_force)) continue;
    arms.push_back({joint.a.empty() ? joint.b : joint.a, joint.def.name, joint.def.anchor, 0});
  }
  return arms;
}

}  // namespace

struct SceneRenderer::Impl {
  PictureSettings settings;
  OffscreenContext context;  // first, so that it is the last to go
  std::optional<Renderer> renderer;
  SurfacePublisher publisher;
  CameraMan camera;
  Lighting lighting;
  Look look;
  std::vector<Arm> arms;

  Impl(const Scene& scene, const PictureSettings& wanted, OffscreenContext made)
      : settings(wanted),
        context(std::move(made)),
        publisher(wanted.wireframe ? 24 : detail_for(scene.bodies.size())),
        lighting(lighting_of(scene.lights)),
        arms(arms_of(scene)) {
    SceneCamera view = scene.camera;
    view.automatic = view.automatic || wanted.frame_automatically;
    camera = CameraMan(view, static_cast<float>(wanted.width) / static_cast<float>(wanted.height));
    look.color_by = wanted.color_by;
    look.scale = {"speed in m/s", 0, 1e-3f};
    look.wireframe = wanted.wireframe;
  }

  std::vector<Rod> rods_now(const ScenePlayer& player, std::span<const RenderSurface> surfaces) const;
};

std::vector<Rod> SceneRenderer::Impl::rods_now(const ScenePlayer& player,
                                               std::span<const RenderSurface> surfaces) const {
  std::vector<Rod> rods;
  for (const Arm& arm : arms) {
    if (!arm.joint.empty() && !player.world().contains(player.joint(arm.joint))) continue;
    const BodyId body = player.body(arm.body);
    const auto surface =
        std::find_if(surfaces.begin(), surfaces.end(), [&](const RenderSurface& s) { return s.body == body; });
    if (surface == surfaces.end() || !is_finite(surface->center_of_mass)) continue;
    const float reach = 0.5f * length(surface->mesh->bounds().size());
    if (length(surface->center_of_mass - arm.anchor) < reach) continue;
    rods.push_back({arm.anchor, surface->center_of_mass, 0.03f * reach});
  }
  return rods;
}

SceneRenderer::SceneRenderer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SceneRenderer::SceneRenderer(SceneRenderer&&) noexcept = default;
SceneRenderer::~SceneRenderer() = default;

Result<SceneRenderer> SceneRenderer::create(const Scene& scene, const PictureSettings& settings) {
  Result<OffscreenContext> context = OffscreenContext::create();
  if (!context) return context.error();
  auto impl = std::make_unique<Impl>(scene, settings, std::move(*context));
  Result<Renderer> renderer = Renderer::create();
  if (!renderer) return renderer.error();
  impl->renderer.emplace(std::move(*renderer));
  return SceneRenderer(std::move(impl));
}

Result<Image> SceneRenderer::render(const ScenePlayer& player) {
  const std::span<const RenderSurface> surfaces = impl_->publisher.update(player.world());
  const bool by_value = impl_->look.color_by != ColorBy::Material;
  for (const RenderSurface& surface : surfaces) {
    if (by_value && surface.moves) impl_->look.scale.include(top_speed(surface));
  }
  const std::vector<Rod> rods = impl_->rods_now(player, surfaces);
  const View view = impl_->camera.at(player.world().time(), surfaces);
  const PictureSettings& settings = impl_->settings;
  const Picture picture{surfaces, rods, view, impl_->lighting, impl_->look};
  if (const Status s = impl_->renderer->draw(picture, settings.width, settings.height); !s.ok()) return s.error();
  Image image = impl_->renderer->read();
  if (by_value && settings.legend) draw_legend(image, impl_->look.scale);
  return image;
}

const std::string& SceneRenderer::driver() const { return impl_->context.renderer_name(); }

}  // namespace pliant
