// Dear ImGui in our window: its look, and the drawing of what it makes with OpenGL ES 3.0.
//
// Its own OpenGL back end, as Debian builds it, looks for the desktop's OpenGL; this one uses the context that is
// there.
#pragma once

#include <memory>

#include "pliant/result.h"

#include "view/window.h"

namespace pliant {

class Gui {
 public:
  /// The window's context must be current, then and always.
  static Result<std::unique_ptr<Gui>> create(const Window& window);
  Gui(const Gui&) = delete;
  ~Gui();

  void begin_frame();
  /// Draws what was made since `begin_frame` into the window.
  void draw();
  /// Height of a line of text against 15 pixels: all sizes follow it.
  float scale() const { return scale_; }

 private:
  struct Gl;
  Gui() = default;
  std::unique_ptr<Gl> gl_;
  float scale_ = 1;
};

}  // namespace pliant
