// A window with an OpenGL ES 3.0 context, and what hands do in it, in the order in which they did it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pliant/math.h"
#include "pliant/result.h"

struct GLFWwindow;

namespace pliant {

struct InputEvent {
  enum class Kind { Press, Release, Move, Scroll, Key };
  Kind kind = Kind::Move;
  int code = 0;  ///< GLFW's number of the button or key
  bool shift = false, control = false, alt = false;
  Vec2 position{};   ///< of the mouse, window coordinates
  float scroll = 0;  ///< notches, away from the hand
};

class Window {
 public:
  /// Errors: no display, or no driver for OpenGL ES 3.0.
  static Result<std::unique_ptr<Window>> open(const std::string& title, int width, int height);
  Window(const Window&) = delete;
  ~Window();

  /// Waits for events up to `seconds`; with 0 it only looks.
  void wait(double seconds);
  std::vector<InputEvent> take_events();
  void swap();

  bool should_close() const;
  bool minimised() const;
  /// In window coordinates, and in pixels; both may be 0 while it is minimised.
  int width() const, height() const, pixel_width() const, pixel_height() const;
  /// How much larger than usual text should be: 2 on a display with tiny pixels.
  float content_scale() const;
  Vec2 mouse() const;
  void set_title(const std::string& title);
  GLFWwindow* handle() const { return window_; }

 private:
  Window() = default;
  void install_callbacks();

  GLFWwindow* window_ = nullptr;
  bool started_ = false;
  std::vector<InputEvent> events_;
};

}  // namespace pliant
