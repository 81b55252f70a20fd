// What a person can set and ask for in the window; the panel and the keys both write here, the viewer reads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pliant/defs.h"

#include "view/material_preview.h"
#include "view/overlay.h"
#include "view/quality.h"
#include "view/session.h"
#include "view/viewer.h"

namespace pliant {

/// Something to be done once.
enum class Action {
  TogglePlay,
  Step,
  Restart,
  ThrowBall,  ///< under the mouse, or in the middle of the picture
  Explode,
  Screenshot,
  ToggleRecord,
  ResetView,
  TogglePanel,
  Release,     ///< lets a quarantined body go
  TryMaterial  ///< shows a panel of it
};

/// What the left button does in the picture.
enum class Tool { Grab, Ball, Blast, Paint };

struct Controls {
  bool playing = true;
  float speed = 1;  ///< of what real time would be
  Tool tool = Tool::Grab;
  BallTool ball;
  Explosion blast;
  PaintTool brush;
  MaterialTrial trial;

  // What is shown.
  Coloring coloring = Coloring::Material;
  bool wireframe = false, contacts = false, cracks = false, bounds = false, grid = true;
  QualityChooser::Mode quality = QualityChooser::Mode::Automatic;
  bool panel = true;

  // Asked for since the last frame.
  std::vector<Action> actions;
  std::optional<std::size_t> chosen_scene;  ///< of the gallery

  void ask(Action action) { actions.push_back(action); }
};

/// Sizes that suit a scene seen from `distance` metres.
inline void fit_tools(Controls& controls, float distance) {
  controls.ball = {.radius = 0.025f * distance, .speed = std::max(5.0f, 1.5f * distance)};
  controls.blast = {.radius = 0.5f * distance, .impulse_per_area = 1000};
  controls.brush.radius = 0.03f * distance;
}

}  // namespace pliant
