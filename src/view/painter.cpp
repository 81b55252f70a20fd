#include "view/painter.h"

#include <algorithm>
#include <cmath>

#include <GLES3/gl3.h>

#include "base/clock.h"
#include "render/color_map.h"

namespace pliant {
namespace {

constexpr double kRest = 0.6;  // s without a change, before a picture is refined

PixelSize scaled(PixelSize size, float by) {
  const auto side = [&](int x) {
    return std::max(Renderer::kMinSize, static_cast<int>(std::lround(by * static_cast<float>(x))));
  };
  return {side(size.width), side(size.height)};
}

}  // namespace

Result<Painter> Painter::create() {
  Result<Renderer> renderer = Renderer::create();
  if (!renderer) return renderer.error();
  return Painter(std::move(*renderer));
}

const char* Painter::driver() const {
  const GLubyte* name = glGetString(GL_RENDERER);
  return name != nullptr ? reinterpret_cast<const char*>(name) : "unknown driver";
}

void Painter::clear_window() const {
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glDisable(GL_SCISSOR_TEST);
  glClearColor(0.05f, 0.05f, 0.06f, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

Status Painter::draw(Session& session, const Controls& controls, const View& view, PixelSize size, bool exactly,
                     double now) {
  chooser_.set_mode(controls.quality);
  if (!(size == size_)) size_ = size, stale_ = true;
  if (!size.is_drawable()) return {};
  const QualityStep& step = chooser_.current();
  if (stale_) {
    changed_at_ = now, refined_ = false;
    const Stopwatch watch;
    if (const Status s = paint(session, controls, view, exactly ? size : scaled(size, step.scale), step.quality);
        !s.ok())
      return s;
    glFinish();
    seconds_ = 1e-3 * watch.ms();
    chooser_.note(seconds_);
    drawn_ = step.name;
    stale_ = false;
    return {};
  }
  const bool could_be_better = step.quality != Quality::Full && controls.quality == QualityChooser::Mode::Automatic;
  if (!could_be_better || refined_ || exactly || now - changed_at_ < kRest) return {};
  refined_ = true;
  drawn_ = QualityChooser::step(0).name;
  return paint(session, controls, view, size, Quality::Full);
}

Status Painter::paint(Session& session, const Controls& controls, const View& view, PixelSize size, Quality quality) {
  SceneContent& content = session.content();
  Look look;
  look.color_by = color_by(controls.coloring);
  content.show(look.color_by);
  content.update(session.player());
  content.measure();
  look.scale = content.scale();
  look.wireframe = controls.wireframe;
  look.grid = controls.grid;
  look.quality = quality;
  const std::vector<RenderSurface> surfaces = colored(content.surfaces(), session.world(), controls.coloring);
  return renderer_.draw({surfaces, content.rods(), view, content.lighting(), look}, size.width, size.height);
}

Image Painter::picture(const Session& session, const Controls& controls, const Overlay& overlay,
                       const ScreenRect& rect) const {
  Image image = renderer_.read();
  draw_strokes(image, overlay.strokes(), rect);
  if (color_by(controls.coloring) != ColorBy::Material) draw_legend(image, session.content().scale());
  return image;
}

Result<Image> Painter::portrait(Session& session, const Controls& controls, const View& view, PixelSize size,
                                const Overlay& overlay, const ScreenRect& rect) {
  if (const Status s = paint(session, controls, view, size, Quality::Full); !s.ok()) return s.error();
  stale_ = true;
  return picture(session, controls, overlay, rect);
}

}  // namespace pliant
