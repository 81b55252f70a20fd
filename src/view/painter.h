// Draws the session into the window, no oftener and no better than needed: only when something changed, lightly while
// it moves and the machine is slow, and once more with full care when all is still.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/renderer.h"

#include "view/controls.h"
#include "view/overlay.h"
#include "view/quality.h"
#include "view/screen.h"
#include "view/session.h"

namespace pliant {

/// A size in pixels.
struct PixelSize {
  int width = 0, height = 0;
  friend bool operator==(PixelSize a, PixelSize b) { return a.width == b.width && a.height == b.height; }
  bool is_drawable() const {
    const auto fits = [](int x) { return x >= Renderer::kMinSize && x <= Renderer::kMaxSize; };
    return fits(width) && fits(height);
  }
};

class Painter {
 public:
  /// A context must be current, then and always.
  static Result<Painter> create();

  /// The picture is out of date.
  void touch() { stale_ = true; }
  bool is_stale() const { return stale_; }

  /// Draws if that is needed. `exactly`: in that size, without shrinking (for a film).
  Status draw(Session& session, const Controls& controls, const View& view, PixelSize size, bool exactly, double now);
  /// The last picture, with what lies over it.
  Image picture(const Session& session, const Controls& controls, const Overlay& overlay, const ScreenRect& rect) const;
  /// A picture with full care.
  Result<Image> portrait(Session& session, const Controls& controls, const View& view, PixelSize size,
                         const Overlay& overlay, const ScreenRect& rect);
  /// Copies the last picture into the window: pixels, from the lower left corner.
  void show(int x, int y, int width, int height) const { renderer_.show(0, x, y, width, height); }

  void clear_window() const;
  const char* driver() const;
  /// How the last picture was drawn.
  std::string quality() const { return drawn_; }
  /// Seconds that a picture takes at present.
  double seconds() const { return seconds_; }

 private:
  explicit Painter(Renderer renderer) : renderer_(std::move(renderer)) {}
  Status paint(Session& session, const Controls& controls, const View& view, PixelSize size, Quality quality);

  Renderer renderer_;
  QualityChooser chooser_;
  bool stale_ = true, refined_ = false;
  double changed_at_ = 0, seconds_ = 0.02;
  PixelSize size_{};
  std::string drawn_;
};

}  // namespace pliant
