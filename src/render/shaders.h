// The GLSL of the renderer, as text. Every source is joined to those it builds on by the renderer. Those that are part
// of light pictures take shortcuts where LIGHT is defined: powers and exponentials are what a CPU spends its time on.
#pragma once

namespace pliant::shader {

// Attributes of a surface; the numbers are those of `VertexLayout` in gpu_meshes.h.
extern const char* const kSurfaceVertex;
/// A triangle that covers the picture; gives `v_uv`.
extern const char* const kScreenVertex;

/// Sky, sun, ground and lamps: what light arrives from a direction or at a surface.
extern const char* const kLight;
/// Reflection at a surface (GGX) and the way from light to a picture's values.
extern const char* const kReflection;
/// Reading depth, the shadow map and the visibility picture.
extern const char* const kShadow;

/// The pixels of the visibility picture: share of the sun, share of the sky, and their distance.
extern const char* const kVisibilityPixel;
/// Where the surface of a pixel is, from its depth.
extern const char* const kPlaces;

extern const char* const kDepthFragment;       ///< the sun's view; TRANSPARENT: lets a share of the light through
extern const char* const kNormalFragment;      ///< flat normals and depth, before anything is shaded
extern const char* const kVisibilityFragment;  ///< share of the sun and of the sky that each pixel sees
extern const char* const kBlurFragment;        ///< smooths it without crossing edges
extern const char* const kSurfaceFragment;     ///< shades; GROUND: endless, with a grid; TRANSPARENT: sorted glass;
                                               ///< LIGHT: looks at the shadow map itself
extern const char* const kSkyFragment;
extern const char* const kLineFragment;
extern const char* const kCopyFragment;

}  // namespace pliant::shader
