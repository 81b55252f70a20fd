#include "view/hand.h"

#include <cmath>
#include <utility>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace pliant {
namespace {

constexpr float kRadiansPerPixel = 0.006f, kZoomPerNotch = 0.88f;
constexpr float kClick = 4;  // pixels that a click may wander

float distance(Vec2 a, Vec2 b) { return std::hypot(a.x - b.x, a.y - b.y); }
float depth_of(const View& view, Vec3 p) { return -view.axes().coordinates(p, view.eye).z; }

}  // namespace

void Hand::handle(const InputEvent& event, bool on_panel, bool keyboard_is_taken, const Screen& screen,
                  Session& session, Controls& controls, OrbitCamera& camera) {
  using Kind = InputEvent::Kind;
  const bool in_picture = !on_panel && screen.rect.contains(event.position);
  if (event.kind == Kind::Press && in_picture && drag_ == Drag::None) press(event, screen, session, controls);
  if (event.kind == Kind::Release && drag_ != Drag::None && event.code == button_) release(screen, session);
  if (event.kind == Kind::Move) move(event.position, screen, session, camera);
  if (event.kind == Kind::Scroll && in_picture) scroll(event.scroll, screen, session, camera);
  if (event.kind == Kind::Key && !keyboard_is_taken) key(event, controls);
}

Ray Hand::ray(const Screen& screen) const {
  const Vec2 middle{screen.rect.x + 0.5f * screen.rect.width, screen.rect.y + 0.5f * screen.rect.height};
  return screen.ray_at(screen.rect.contains(mouse_) ? mouse_ : middle);
}

bool Hand::take_camera_moved() { return std::exchange(camera_moved_, false); }

void Hand::press(const InputEvent& event, const Screen& screen, Session& session, Controls& controls) {
  mouse_ = pressed_ = event.position;
  button_ = event.code;
  moved_far_ = false;
  if (event.code != GLFW_MOUSE_BUTTON_LEFT || event.shift) {
    drag_ = Drag::Pan;
  } else if (event.alt || event.control) {
    drag_ = Drag::Orbit;
  } else if (controls.tool == Tool::Paint) {
    brush_ = controls.brush;
    drag_ = session.paint(screen.ray_at(event.position), brush_) ? Drag::Paint : Drag::Orbit;
  } else if (controls.tool != Tool::Grab) {
    controls.ask(controls.tool == Tool::Ball ? Action::ThrowBall : Action::Explode);
  } else if (session.grab(screen.ray_at(event.position))) {
    drag_ = Drag::Body;
    depth_ = depth_of(screen.view, session.grabbed()->target());
  } else {
    drag_ = Drag::Orbit;
  }
}

void Hand::release(const Screen& screen, Session& session) {
  if (!moved_far_ && button_ == GLFW_MOUSE_BUTTON_LEFT) {
    const std::optional<RayHit> hit = session.hit(screen.ray_at(mouse_));
    session.pick(hit ? hit->body : BodyId{});
  }
  session.release();
  drag_ = Drag::None;
}

void Hand::move(Vec2 to, const Screen& screen, Session& session, OrbitCamera& camera) {
  const float dx = to.x - mouse_.x, dy = to.y - mouse_.y;
  mouse_ = to;
  if (drag_ == Drag::None) return;
  moved_far_ = moved_far_ || distance(to, pressed_) > kClick;
  if (drag_ == Drag::Body) return follow(screen, session);
  if (drag_ == Drag::Paint) return void(session.paint(screen.ray_at(to), brush_));
  if (drag_ == Drag::Orbit) {
    camera.orbit(-kRadiansPerPixel * dx, kRadiansPerPixel * dy);
  } else {
    const float pixel = screen.pixel_size(screen.view.target);
    camera.pan(-pixel * dx, pixel * dy);
  }
  camera_moved_ = true;
}

void Hand::scroll(float notches, const Screen& screen, Session& session, OrbitCamera& camera) {
  if (drag_ == Drag::Body) {
    depth_ = std::max(depth_ / std::pow(kZoomPerNotch, notches), 2 * screen.view.near());
    return follow(screen, session);
  }
  camera.zoom(std::pow(kZoomPerNotch, notches));
  camera_moved_ = true;
}

void Hand::follow(const Screen& screen, Session& session) {
  if (drag_ != Drag::Body) return;
  Grab* grab = session.grabbed();
  if (grab == nullptr) {
    drag_ = Drag::None;
    return;
  }
  const Ray ray = screen.ray_at(mouse_);
  const float along = dot(ray.direction, -screen.view.axes().back);
  if (along > 0.05f) grab->pull_to(ray.from + (depth_ / along) * ray.direction);
}

void Hand::key(const InputEvent& event, Controls& controls) {
  if (event.control || event.alt) return;
  const auto toggle = [](bool& value) { value = !value; };
  switch (event.code) {
    case GLFW_KEY_SPACE:
      return controls.ask(Action::TogglePlay);
    case GLFW_KEY_N:
    case GLFW_KEY_RIGHT:
      return controls.ask(Action::Step);
    case GLFW_KEY_R:
      return controls.ask(Action::Restart);
    case GLFW_KEY_B:
      return controls.ask(Action::ThrowBall);
    case GLFW_KEY_E:
      return controls.ask(Action::Explode);
    case GLFW_KEY_F:
      return controls.ask(Action::ResetView);
    case GLFW_KEY_P:
      return controls.ask(Action::Screenshot);
    case GLFW_KEY_V:
      return controls.ask(Action::ToggleRecord);
    case GLFW_KEY_TAB:
      return controls.ask(Action::TogglePanel);
    case GLFW_KEY_C:
      return toggle(controls.contacts);
    case GLFW_KEY_K:
      return toggle(controls.cracks);
    case GLFW_KEY_X:
      return toggle(controls.bounds);
    case GLFW_KEY_W:
      return toggle(controls.wireframe);
    case GLFW_KEY_G:
      return toggle(controls.grid);
    default:
      if (event.code >= GLFW_KEY_1 && event.code < GLFW_KEY_1 + kColoringCount) {
        controls.coloring = static_cast<Coloring>(event.code - GLFW_KEY_1);
      }
  }
}

}  // namespace pliant
