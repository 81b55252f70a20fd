#include "view/window.h"

#include <utility>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <fmt/format.h>

namespace pliant {
namespace {

std::string last_error() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text != nullptr ? text : "it gives no reason";
}

Error no_window(const std::string& why) {
  return {Error::Code::Unsupported,
          fmt::format("no window can be opened: {} (`pliant run SCENE --video FILE.mp4` needs no display)", why)};
}

std::pair<int, int> size_by(void (*ask)(GLFWwindow*, int*, int*), GLFWwindow* window) {
  int width = 0, height = 0;
  ask(window, &width, &height);
  return {width, height};
}

InputEvent make_event(GLFWwindow* window, InputEvent::Kind kind, int code, int mods) {
  double x = 0, y = 0;
  glfwGetCursorPos(window, &x, &y);
  InputEvent event;
  event.kind = kind;
  event.code = code;
  event.shift = (mods & GLFW_MOD_SHIFT) != 0;
  event.control = (mods & GLFW_MOD_CONTROL) != 0;
  event.alt = (mods & GLFW_MOD_ALT) != 0;
  event.position = {static_cast<float>(x), static_cast<float>(y)};
  return event;
}

std::vector<InputEvent>& events_of(GLFWwindow* window) {
  return *static_cast<std::vector<InputEvent>*>(glfwGetWindowUserPointer(window));
}

}  // namespace

Result<std::unique_ptr<Window>> Window::open(const std::string& title, int width, int height) {
  if (glfwInit() == GLFW_FALSE) return no_window("there is no display: " + last_error());
  std::unique_ptr<Window> out(new Window());
  out->started_ = true;
  glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  glfwWindowHint(GLFW_DEPTH_BITS, 0);  // pictures come with their own
  glfwWindowHint(GLFW_STENCIL_BITS, 0);
  std::string why;
  for (const int api : {GLFW_EGL_CONTEXT_API, GLFW_NATIVE_CONTEXT_API}) {
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, api);
    out->window_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
    if (out->window_ != nullptr) break;
    if (why.empty()) why = last_error();
  }
  if (out->window_ == nullptr) return no_window("the driver offers no OpenGL ES 3.0: " + why);
  glfwMakeContextCurrent(out->window_);
  glfwSwapInterval(1);
  glfwSetWindowSizeLimits(out->window_, 320, 240, GLFW_DONT_CARE, GLFW_DONT_CARE);
  out->install_callbacks();
  return out;
}

/// Own ones, as the user interface's polls once per frame: what happens within a frame would lose its order and place.
void Window::install_callbacks() {
  glfwSetWindowUserPointer(window_, &events_);
  glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int button, int action, int mods) {
    const InputEvent::Kind kind = action == GLFW_PRESS ? InputEvent::Kind::Press : InputEvent::Kind::Release;
    events_of(w).push_back(make_event(w, kind, button, mods));
    ImGui_ImplGlfw_MouseButtonCallback(w, button, action, mods);
  });
  glfwSetCursorPosCallback(window_, [](GLFWwindow* w, double x, double y) {
    InputEvent event = make_event(w, InputEvent::Kind::Move, 0, 0);
    event.position = {static_cast<float>(x), static_cast<float>(y)};
    events_of(w).push_back(event);
  });
  glfwSetScrollCallback(window_, [](GLFWwindow* w, double x, double y) {
    InputEvent event = make_event(w, InputEvent::Kind::Scroll, 0, 0);
    event.scroll = static_cast<float>(y);
    events_of(w).push_back(event);
    ImGui_ImplGlfw_ScrollCallback(w, x, y);
  });
  glfwSetKeyCallback(window_, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
    if (action != GLFW_RELEASE) events_of(w).push_back(make_event(w, InputEvent::Kind::Key, key, mods));
    ImGui_ImplGlfw_KeyCallback(w, key, scancode, action, mods);
  });
  glfwSetCharCallback(window_, ImGui_ImplGlfw_CharCallback);
  glfwSetWindowFocusCallback(window_, ImGui_ImplGlfw_WindowFocusCallback);
  glfwSetCursorEnterCallback(window_, ImGui_ImplGlfw_CursorEnterCallback);
}

Window::~Window() {
  if (window_ != nullptr) glfwDestroyWindow(window_);
  if (started_) glfwTerminate();
}

void Window::wait(double seconds) {
  if (seconds > 0) {
    glfwWaitEventsTimeout(seconds);
  } else {
    glfwPollEvents();
  }
}

std::vector<InputEvent> Window::take_events() { return std::exchange(events_, {}); }
void Window::swap() { glfwSwapBuffers(window_); }
bool Window::should_close() const { return glfwWindowShouldClose(window_) != 0; }
bool Window::minimised() const {
  return glfwGetWindowAttrib(window_, GLFW_ICONIFIED) != 0 || pixel_width() <= 0 || pixel_height() <= 0;
}
int Window::width() const { return size_by(glfwGetWindowSize, window_).first; }
int Window::height() const { return size_by(glfwGetWindowSize, window_).second; }
int Window::pixel_width() const { return size_by(glfwGetFramebufferSize, window_).first; }
int Window::pixel_height() const { return size_by(glfwGetFramebufferSize, window_).second; }

float Window::content_scale() const {
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  // Where window coordinates are coarser than pixels the scale is already in them.
  const float pixels = width() > 0 ? static_cast<float>(pixel_width()) / static_cast<float>(width()) : 1;
  return y > 0 && pixels > 0 ? y / pixels : 1;
}

Vec2 Window::mouse() const { return make_event(window_, InputEvent::Kind::Move, 0, 0).position; }
void Window::set_title(const std::string& title) { glfwSetWindowTitle(window_, title.c_str()); }

}  // namespace pliant
