// The buffers that pictures are drawn in.
#pragma once

#include "render/gl_objects.h"

namespace pliant {

/// A framebuffer with what is attached to it.
struct ColorTarget {
  GlTexture color;
  GlFramebuffer framebuffer;
};

/// The buffers of one picture's size.
struct RenderTargets {
  int width = 0, height = 0;
  GlTexture depth;            ///< of the pass before shading
  ColorTarget normals;        ///< with `depth`
  ColorTarget visibility[2];  ///< rough and smooth
  GlRenderbuffer shaded_color, shaded_depth;
  int samples = 0;       ///< per pixel, wanted; 0: just one
  GlFramebuffer shaded;  ///< several samples per pixel
  ColorTarget picture;   ///< one, sRGB

  static Result<RenderTargets> create(int width, int height, int samples);
};

/// The sun's view.
struct ShadowMap {
  /// Finer maps cost more than they show: in software the sun's view of a deep pile takes longer than all else.
  static constexpr int kFullResolution = 2048, kLightResolution = 1024;
  int resolution = 0;
  GlTexture depth;
  GlFramebuffer framebuffer;
  GlSampler comparing, reading;

  static Result<ShadowMap> create(int resolution);
};

}  // namespace pliant
