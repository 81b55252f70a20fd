#include "collide/surface_features.h"

#include <algorithm>

#include "geometry/primitives.h"

namespace pliant {
namespace {

constexpr int kMaxAdvances = 200;

float largest(const PairPoints& x) {
  float squared = 0;
  for (const Vec3& p : x) squared = std::max(squared, length_squared(p));
  return std::sqrt(squared);
}

}  // namespace

Separation find_separation(FeaturePair kind, const PairPoints& x) {
  const PairPoints p = around_first(x);
  Separation s;
  if (kind == FeaturePair::NodeFace) {
    const Vec3 w = closest_on_triangle(p[0], p[1], p[2], p[3]).weights;
    s.weights = {1, -w.x, -w.y, -w.z};
  } else {
    const SegmentPoints q = closest_of_segments(p[0], p[1], p[2], p[3]);
    s.weights = {1 - q.s, q.s, q.t - 1, -q.t};
  }
  s.offset = combine(s.weights, p);
  s.distance = length(s.offset);
  return s;
}

float relative_motion(FeaturePair kind, const PairPoints& m) {
  float squared = 0;
  const std::size_t first = kind == FeaturePair::NodeFace ? 1 : 2;
  for (std::size_t i = 0; i < first; ++i) {
    for (std::size_t j = first; j < 4; ++j) squared = std::max(squared, length_squared(m[i] - m[j]));
  }
  return std::sqrt(squared);
}

std::optional<float> find_impact(FeaturePair kind, const PairPoints& x, const PairPoints& m, float thickness) {
  const PairPoints from = around_first(x), way = around_first(m);
  const float motion = relative_motion(kind, way);
  const float tolerance = std::max(0.01f * thickness, 1e-5f * (largest(from) + motion));
  double t = 0;  // in float the last advances could be lost
  for (int advance = 0; advance < kMaxAdvances; ++advance) {
    const float left = find_separation(kind, moved(from, way, float(t))).distance - thickness;
    if (left <= tolerance) return float(t);
    t += 0.9 * double(left) / double(motion);
    if (!(t <= 1)) return std::nullopt;
  }
  return float(t);
}

}  // namespace pliant
