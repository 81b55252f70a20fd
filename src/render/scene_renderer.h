// Pictures of a scene at work: the scene's camera and lights, the world's surfaces, drawn without a window.
//
//   Result<SceneRenderer> renderer = SceneRenderer::create(scene, {.width = 1280, .height = 720});
//   player.step();
//   Result<Image> image = renderer->render(player);
#pragma once

#include <memory>

#include "pliant/result.h"
#include "pliant/scene.h"
#include "render/image.h"
#include "render/renderer.h"

namespace pliant {

struct PictureSettings {
  int width = 1280, height = 720;
  ColorBy color_by = ColorBy::Material;
  bool wireframe = false;
  bool legend = true;                ///< where colours stand for values
  bool frame_automatically = false;  ///< instead of the scene's camera
};

class SceneRenderer {
 public:
  /// Errors: no driver, or a size that cannot be drawn.
  static Result<SceneRenderer> create(const Scene& scene, const PictureSettings& settings);
  SceneRenderer(SceneRenderer&&) noexcept;
  ~SceneRenderer();

  /// The world as it is now. The scale of values grows with what has been seen, so that a colour never changes its
  /// meaning back and forth.
  Result<Image> render(const ScenePlayer& player);

  /// Who draws, such as "llvmpipe (LLVM 15.0.6, 256 bits)".
  const std::string& driver() const;

 private:
  struct Impl;
  explicit SceneRenderer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
