// What the mouse and the keys mean in the picture.
#pragma once

#include <optional>

#include "view/controls.h"
#include "view/orbit_camera.h"
#include "view/screen.h"
#include "view/session.h"
#include "view/window.h"

namespace pliant {

class Hand {
 public:
  /// `keyboard_is_taken`: someone types into a field. `on_panel`: something lies over the picture there. What begins in
  /// the picture goes on outside it, as a drag.
  void handle(const InputEvent& event, bool on_panel, bool keyboard_is_taken, const Screen& screen, Session& session,
              Controls& controls, OrbitCamera& camera);

  /// Where the mouse points into the world: through the picture's middle where it is not over it.
  Ray ray(const Screen& screen) const;
  /// Keeps what is held under the mouse while the camera moves; lets go of what is gone.
  void follow(const Screen& screen, Session& session);

  /// Whether the hand moved the camera since the last call.
  bool take_camera_moved();
  bool is_busy() const { return drag_ != Drag::None; }

 private:
  enum class Drag { None, Orbit, Pan, Body, Paint };

  void press(const InputEvent& event, const Screen& screen, Session& session, Controls& controls);
  void release(const Screen& screen, Session& session);
  void move(Vec2 to, const Screen& screen, Session& session, OrbitCamera& camera);
  void scroll(float notches, const Screen& screen, Session& session, OrbitCamera& camera);
  static void key(const InputEvent& event, Controls& controls);

  Drag drag_ = Drag::None;
  int button_ = 0;
  Vec2 mouse_{-1, -1}, pressed_{};
  bool moved_far_ = false, camera_moved_ = false;
  float depth_ = 1;  ///< m before the eye at which a body is held
  PaintTool brush_{};
};

}  // namespace pliant
