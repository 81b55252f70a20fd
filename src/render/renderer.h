// Draws surfaces of any body kind with a GLES 3.0 context, into a picture or a window.
//
// A picture takes five passes: the sun's view (shadow map), flat normals and depth, visibility of sun and sky per
// pixel, a blur of it that keeps edges, and the shaded surfaces with four samples per pixel. A light one takes two: a
// coarser shadow map, and the shaded surfaces with one sample per pixel.
//
// The renderer looks at surfaces only. It never touches a World.
#pragma once

#include <memory>
#include <span>

#include "embed/render_surface.h"
#include "pliant/result.h"
#include "render/color_map.h"
#include "render/image.h"
#include "render/view.h"

namespace pliant {

enum class Quality {
  Full,
  Light  ///< hard shadows, no ambient occlusion, jagged edges: for a window without a GPU
};

/// How things are shown.
struct Look {
  ColorBy color_by = ColorBy::Material;
  ColorScale scale{};      ///< for all but `Material`
  bool wireframe = false;  ///< the triangles' edges over the surfaces
  bool grid = true;        ///< on endless ground
  Quality quality = Quality::Full;
};

/// A straight bar that is drawn but is no body: the arm of a joint.
struct Rod {
  Vec3 a, b;  ///< m
  float radius = 0.01f;
};

/// All that a picture shows.
struct Picture {
  std::span<const RenderSurface> surfaces;
  std::span<const Rod> rods;
  View view;
  Lighting lighting;
  Look look;
};

class Renderer {
 public:
  static constexpr int kMinSize = 16, kMaxSize = 8192;

  /// Needs a current GLES 3.0 context (an `OffscreenContext` or a window's), then and always.
  static Result<Renderer> create();
  Renderer(Renderer&&) noexcept;
  ~Renderer();

  /// Draws a picture of that size into a buffer of the renderer's own.
  Status draw(const Picture& picture, int width, int height);
  /// The last picture drawn.
  Image read() const;
  /// Copies the last picture into a framebuffer (0: the window), scaled to the rectangle.
  void show(unsigned framebuffer, int x, int y, int width, int height) const;

 private:
  struct Impl;
  explicit Renderer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
