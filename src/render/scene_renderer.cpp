#include "render/scene_renderer.h"

#include <optional>

#include "render/offscreen_context.h"
#include "render/scene_content.h"

namespace pliant {

struct SceneRenderer::Impl {
  PictureSettings settings;
  OffscreenContext context;  // first, so that it is the last to go
  std::optional<Renderer> renderer;
  SceneContent content;
  CameraMan camera;
  Look look;

  Impl(const Scene& scene, const PictureSettings& wanted, OffscreenContext made)
      : settings(wanted), context(std::move(made)), content(scene, wanted.wireframe ? 24 : 0) {
    SceneCamera view = scene.camera;
    view.automatic = view.automatic || wanted.frame_automatically;
    camera = CameraMan(view, static_cast<float>(wanted.width) / static_cast<float>(wanted.height));
    look.color_by = wanted.color_by;
    look.wireframe = wanted.wireframe;
    content.show(wanted.color_by);
  }
};

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
  SceneContent& content = impl_->content;
  content.update(player);
  const bool by_value = impl_->look.color_by != ColorBy::Material;
  if (by_value) content.measure();
  impl_->look.scale = content.scale();
  const View view = impl_->camera.at(player.world().time(), content.surfaces());
  const PictureSettings& settings = impl_->settings;
  const Picture picture{content.surfaces(), content.rods(), view, content.lighting(), impl_->look};
  if (const Status s = impl_->renderer->draw(picture, settings.width, settings.height); !s.ok()) return s.error();
  Image image = impl_->renderer->read();
  if (by_value && settings.legend) draw_legend(image, impl_->look.scale);
  return image;
}

const std::string& SceneRenderer::driver() const { return impl_->context.renderer_name(); }

}  // namespace pliant
