// Where the sun's camera stands: the smallest square that sees all that casts shadows into the picture.
#pragma once

#include <span>

#include "render/gpu_meshes.h"
#include "render/matrix.h"
#include "render/view.h"

namespace pliant {

struct SunShadow {
  Mat4 clip_from_world;  ///< for drawing the map
  Mat4 map_from_world;   ///< for reading it: 0 to 1 in all three
  float size = 1;        ///< m across
  float depth = 1;       ///< m from its nearest to its farthest point
  bool any = false;      ///< false: nothing casts a shadow
};

/// `resolution`: texels across. The square's size goes in steps and its place in whole texels, so that the edges of
/// shadows stay still while things move.
SunShadow fit_sun_shadow(std::span<const GpuMeshes::Ball> casters, Vec3 to_sun, const View& view, int resolution);

}  // namespace pliant
