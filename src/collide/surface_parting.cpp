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
};

/// Comparisons with what is not a number are false, so such nodes are passed over.
Extent extent_of(const SurfaceTree& tree, Vec3 axis) {
  Extent extent;
  const Vec4 *x = tree.positions().data(), *m = tree.motions().data();
  const std::size_t count = tree.positions().size();
  for (std::size_t i = 0; i < count; ++i) {
    const float at = x[i].x * axis.x + x[i].y * axis.y + x[i].z * axis.z;
    const float way = m[i].x * axis.x + m[i].y * axis.y + m[i].z * axis.z;
    extent.now = extent.now < at ? at : extent.now;
    extent.end = extent.end < at + way ? at + way : extent.end;
    extent.motion = extent.motion < way ? way : extent.motion;
  }
  const float drift = dot(tree.drift(), axis);
  extent.end += drift, extent.motion += drift;
  return extent;
}

/// The node farthest along an axis.
Vec3 support_of(const SurfaceTree& tree, Vec3 axis) {
  float farthest = -kInfinity;
  std::size_t best = 0;
  const std::span<const Vec4> x = tree.positions();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float at = dot(x[i].xyz(), axis);
    if (at > farthest) farthest = at, best = i;
  }
  return x[best].xyz();
}

Vec3 middle_of(const SurfaceTree& tree) {
  const Aabb box = tree.bounds();
  return box.is_empty() ? Vec3{} : 0.5f * (box.lower + box.upper);
}

/// The best of a few: between two bodies there is a good axis for each pair of sides that face each other, and steps
/// down lead only to the nearest.
SurfaceParting first_parting(const SurfaceTree& a, const SurfaceTree& b) {
  SurfaceParting best = measure_parting(a, b, normalized(middle_of(b) - middle_of(a), {0, 1, 0}));
  for (const Vec3 axis : {Vec3{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}) {
    const SurfaceParting next = measure_parting(a, b, axis);
    if (next.gap > best.gap) best = next;
  }
  return best;
}

}  // namespace

SurfaceParting measure_parting(const SurfaceTree& a, const SurfaceTree& b, Vec3 axis) {
  const Extent of_a = extent_of(a, axis), of_b = extent_of(b, -axis);
  return {axis, -of_b.now - of_a.now, -of_b.end - of_a.end, std::max({of_a.motion, of_b.motion, 0.0f})};
}

SurfaceParting find_parting(const SurfaceTree& a, const SurfaceTree& b, Vec3 before) {
  // The overlap along an axis is convex in it, with the way between the farthest nodes as its gradient: a few steps
  // down, each turning less than the one before. One is enough where the last substep had a good axis.
  constexpr float kTurns[] = {0.5f, 0.25f, 0.12f, 0.06f, 0.03f};
  constexpr float kSmallTurn = 0.03f;
  const bool is_new = before == Vec3{};
  SurfaceParting best = is_new ? first_parting(a, b) : measure_parting(a, b, before);
  const std::span<const float> turns = is_new ? std::span<const float>(kTurns) : std::span(&kSmallTurn, 1);
  for (const float turn : turns) {
    const Vec3 across = support_of(a, best.axis) - support_of(b, -best.axis);
    const Vec3 gradient = across - dot(across, best.axis) * best.axis;
    if (!(length_squared(gradient) > 0)) break;
    const Vec3 axis = normalized(best.axis - turn * normalized(gradient), best.axis);
    const SurfaceParting next = measure_parting(a, b, axis);
    if (next.gap > best.gap) best = next;
  }
  return best;
}

}  // namespace pliant
