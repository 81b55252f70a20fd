#include "collide/surface_parting.h"

#include <algorithm>
#include <limits>

namespace pliant {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// How far the nodes of a surface get along an axis.
struct Extent {
  float now = -kInfinity, end = -kInfinity;  ///< m, the farthest; where the substep begins and ends
  float motion = -kInfinity;                 ///< m, the most that one gets ahead
  std::size_t farthest = 0;                  ///< the node that is
};

/// Comparisons with what is not a number are false, so such nodes are passed over.
Extent extent_of(const SurfaceTree& tree, Vec3 axis) {
  Extent extent;
  const Vec4 *x = tree.positions().data(), *m = tree.motions().data();
  const std::size_t count = tree.positions().size();
  for (std::size_t i = 0; i < count; ++i) {
    const float at = x[i].x * axis.x + x[i].y * axis.y + x[i].z * axis.z;
    const float way = m[i].x * axis.x + m[i].y * axis.y + m[i].z * axis.z;
    if (extent.now < at) extent.now = at, extent.farthest = i;
    extent.end = extent.end < at + way ? at + way : extent.end;
    extent.motion = extent.motion < way ? way : extent.motion;
  }
  const float drift = dot(tree.drift(), axis);
  extent.end += drift, extent.motion += drift;
  return extent;
}

/// A parting with the nodes that are nearest to the other surface along its axis.
struct Measured {
  SurfaceParting parting;
  Vec3 of_a, of_b;
};

Measured measure(const SurfaceTree& a, const SurfaceTree& b, Vec3 axis) {
  const Extent of_a = extent_of(a, axis), of_b = extent_of(b, -axis);
  return {{axis, -of_b.now - of_a.now, -of_b.end - of_a.end, std::max({of_a.motion, of_b.motion, 0.0f})},
          a.positions()[of_a.farthest].xyz(),
          b.positions()[of_b.farthest].xyz()};
}

Vec3 middle_of(const SurfaceTree& tree) {
  const Aabb box = tree.bounds();
  return box.is_empty() ? Vec3{} : 0.5f * (box.lower + box.upper);
}

/// The best of a few: between two bodies there is a good axis for each pair of sides that face each other, and steps
/// down lead only to the nearest.
Measured first_parting(const SurfaceTree& a, const SurfaceTree& b) {
  Measured best = measure(a, b, normalized(middle_of(b) - middle_of(a), {0, 1, 0}));
  for (const Vec3 axis : {Vec3{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}) {
    const Measured next = measure(a, b, axis);
    if (next.parting.gap > best.parting.gap) best = next;
  }
  return best;
}

}  // namespace

SurfaceParting measure_parting(const SurfaceTree& a, const SurfaceTree& b, Vec3 axis) {
  return measure(a, b, axis).parting;
}

SurfaceParting find_parting(const SurfaceTree& a, const SurfaceTree& b, Vec3 before) {
  // The overlap along an axis is convex in it, with the way between the farthest nodes as its gradient: a few steps
  // down, each turning less than the one before. One is enough where the last substep had a good axis.
  constexpr float kTurns[] = {0.5f, 0.25f, 0.12f, 0.06f, 0.03f};
  constexpr float kSmallTurn = 0.03f;
  const bool is_new = before == Vec3{};
  Measured best = is_new ? first_parting(a, b) : measure(a, b, before);
  const std::span<const float> turns = is_new ? std::span<const float>(kTurns) : std::span(&kSmallTurn, 1);
  for (const float turn : turns) {
    const Vec3 along = best.parting.axis, across = best.of_a - best.of_b;
    const Vec3 gradient = across - dot(across, along) * along;
    if (!(length_squared(gradient) > 0)) break;
    const Measured next = measure(a, b, normalized(along - turn * normalized(gradient), along));
    if (next.parting.gap > best.parting.gap) best = next;
  }
  return best.parting;
}

}  // namespace pliant
